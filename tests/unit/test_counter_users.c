// SPDX-License-Identifier: GPL-2.0
/* The other users of the counters, from trees that stand for the machine. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/perf/counter_users.h"
#include "tree.h"

static void expect_watchdog(const char *on, const char *cmdline, const char *config,
			    enum counter_watchdog wanted, u64 wanted_raw)
{
	u64 raw = 1;

	cr_expect_eq(counter_users_watchdog(on, cmdline, config, &raw), wanted, "%s, %s, %s", on, cmdline,
		     config);
	cr_expect_eq(raw, wanted_raw, "%#llx", (unsigned long long)raw);
}

Test(counter_users, the_nmi_watchdog_uses_a_counter)
{
	const char *perf = "CONFIG_X=y\nCONFIG_HARDLOCKUP_DETECTOR_PERF=y\n";
	const char *buddy =
		"# CONFIG_HARDLOCKUP_DETECTOR_PERF is not set\nCONFIG_HARDLOCKUP_DETECTOR_BUDDY=y";

	expect_watchdog(NULL, NULL, NULL, COUNTER_WATCHDOG_OFF, 0);
	expect_watchdog("0", "", perf, COUNTER_WATCHDOG_OFF, 0);
	expect_watchdog("10", "", perf, COUNTER_WATCHDOG_OFF, 0);
	expect_watchdog("1", "", NULL, COUNTER_WATCHDOG_MAYBE, 0);
	expect_watchdog("1", "", "no configuration", COUNTER_WATCHDOG_MAYBE, 0);
	expect_watchdog("1", "", "CONFIG_HARDLOCKUP_DETECTOR_PERF=yes", COUNTER_WATCHDOG_MAYBE, 0);
	expect_watchdog("1", NULL, perf, COUNTER_WATCHDOG_CYCLES, 0);
	expect_watchdog("1", "quiet nmi_watchdog=1", perf, COUNTER_WATCHDOG_CYCLES, 0);
	expect_watchdog("1", "", buddy, COUNTER_WATCHDOG_OFF, 0);
}

Test(counter_users, the_command_line_can_name_a_raw_event_of_the_watchdog)
{
	const char *perf = "CONFIG_HARDLOCKUP_DETECTOR_PERF=y";

	expect_watchdog("1", "nmi_watchdog=r300", perf, COUNTER_WATCHDOG_RAW, 0x300);
	expect_watchdog("1", "a=b nmi_watchdog=panic,r3c quiet", perf, COUNTER_WATCHDOG_RAW, 0x3c);
	expect_watchdog("1", "nmi_watchdog=r300,panic\n", perf, COUNTER_WATCHDOG_RAW, 0x300);
	expect_watchdog("1", "nmi_watchdog=r1 nmi_watchdog=r2", perf, COUNTER_WATCHDOG_RAW, 2);
	expect_watchdog("1", "nmi_watchdog=r300x", perf, COUNTER_WATCHDOG_CYCLES, 0);
	expect_watchdog("1", "nmi_watchdog=r", perf, COUNTER_WATCHDOG_CYCLES, 0);
	expect_watchdog("1", "nmi_watchdog=rfffffffffffffffff", perf, COUNTER_WATCHDOG_CYCLES, 0);
	expect_watchdog("1", "xnmi_watchdog=r300 nmi_watchdog=,,", perf, COUNTER_WATCHDOG_CYCLES, 0);
}

Test(counter_users, processes_with_most_events_are_named)
{
	struct counter_users users = {0};

	for (u32 pid = 1; pid <= 10; pid++)
		counter_users_add(&users, &(struct counter_user){.pid = pid, .events = pid});
	cr_assert_eq(users.n, COUNTER_USERS_MAX);
	cr_expect_eq(users.users[0].pid, 10);
	cr_expect_eq(users.users[7].pid, 3);
	cr_expect_eq(users.more, 2);
	cr_expect_eq(users.more_events, 3);
	counter_users_add(&users, &(struct counter_user){.pid = 11, .events = 1});
	cr_expect_eq(users.users[7].pid, 3);
	cr_expect_eq(users.more, 3);
	cr_expect_eq(users.more_events, 4);
}

static void add_descriptor(const char *root, const char *process, unsigned number, const char *target)
{
	_cleanup_free_ char *path = NULL;

	cr_assert_gt(asprintf(&path, "%s/proc/%s/fd", root, process), 0);
	cr_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
	free(path);
	cr_assert_gt(asprintf(&path, "%s/proc/%s/fd/%u", root, process, number), 0);
	cr_assert_eq(symlink(target, path), 0);
}

static char *tree_of_processes(void)
{
	char *root = tree_new();

	tree_write(root, "proc/1/comm", "systemd\n");
	add_descriptor(root, "1", 0, "/dev/null");
	tree_write(root, "proc/20/comm", "perf\n");
	for (unsigned i = 3; i < 7; i++)
		add_descriptor(root, "20", i, "anon_inode:[perf_event]");
	add_descriptor(root, "20", 7, "anon_inode:[perf_event] and more");
	tree_write(root, "proc/30/comm", "pebsd\n");
	add_descriptor(root, "30", 3, "anon_inode:[perf_event]");
	tree_write(root, "proc/40/comm", "a\nb");
	add_descriptor(root, "40", 3, "anon_inode:kvm-vm");
	add_descriptor(root, "40", 4, "anon_inode:[perf_event]");
	tree_write(root, "proc/self/comm", "not a process");
	add_descriptor(root, "self", 3, "anon_inode:[perf_event]");
	tree_write(root, "proc/50x/comm", "not a process");
	return root;
}

Test(counter_users, this_process_is_not_counted)
{
	_cleanup_(tree_removep) char *root = tree_of_processes();
	struct counter_users users;

	counter_users_gather(root, 30, COUNTER_USERS_LOOK_PROBE, &users);
	cr_assert_eq(users.n, 2);
	cr_expect_eq(users.users[0].pid, 20);
	cr_expect_eq(users.users[0].events, 4);
	cr_expect_str_eq(users.users[0].name, "perf");
	cr_expect_eq(users.users[1].pid, 40);
	cr_expect_str_eq(users.users[1].name, "a");
	cr_expect_eq(users.machines, 1);
	cr_expect_not(users.hidden);
	cr_expect_not(users.cut);
	cr_expect_eq(users.unread, 0);
	counter_users_gather(root, 30, 3, &users);
	cr_expect(users.cut);
}

/* Thousands of processes, such as threads of the kernel, may have no descriptor. Each takes time all the same. */
Test(counter_users, a_search_ends_at_its_limit_of_processes)
{
	static const char *const comms[] = {"proc/1/comm", "proc/2/comm", "proc/3/comm", "proc/4/comm"};
	_cleanup_(tree_removep) char *root = tree_new();
	struct counter_users users;

	for (size_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++)
		tree_write(root, comms[i], "kthread");
	counter_users_gather(root, 99, 4, &users);
	cr_expect_not(users.cut);
	counter_users_gather(root, 99, 3, &users);
	cr_expect(users.cut);
}

Test(counter_users, without_process_1_proc_does_not_show_all_processes)
{
	char *root = tree_new();
	struct counter_users users;

	tree_write(root, "proc/20/comm", "perf\n");
	counter_users_gather(root, 1, COUNTER_USERS_LOOK_PROBE, &users);
	cr_expect(users.hidden);
	tree_write(root, "proc/1/comm", "init\n");
	counter_users_gather(root, 1, COUNTER_USERS_LOOK_PROBE, &users);
	cr_expect_not(users.hidden);
	/* Any other inode than that of the initial namespace. */
	tree_write(root, "proc/self/ns/pid", "");
	counter_users_gather(root, 1, COUNTER_USERS_LOOK_PROBE, &users);
	cr_expect(users.hidden);
	tree_remove(root);
	counter_users_gather("/nonexistent", 1, COUNTER_USERS_LOOK_PROBE, &users);
	cr_expect(users.hidden);
	cr_expect_eq(users.n, 0);
}

Test(counter_users, the_kernels_configuration_says_which_watchdog)
{
	_cleanup_(tree_removep) char *root = tree_new();
	struct counter_users users;

	tree_write(root, "proc/sys/kernel/nmi_watchdog", "1\n");
	tree_write(root, "proc/sys/kernel/osrelease", "6.12.1-test\n");
	counter_users_gather(root, 1, 0, &users);
	cr_expect_eq(users.watchdog, COUNTER_WATCHDOG_MAYBE);
	tree_write(root, "boot/config-6.12.1-test", "CONFIG_HARDLOCKUP_DETECTOR_PERF=y\n");
	counter_users_gather(root, 1, 0, &users);
	cr_expect_eq(users.watchdog, COUNTER_WATCHDOG_CYCLES);
	tree_write(root, "proc/cmdline", "ro nmi_watchdog=r300\n");
	counter_users_gather(root, 1, 0, &users);
	cr_expect_eq(users.watchdog, COUNTER_WATCHDOG_RAW);
	cr_expect_eq(users.watchdog_config, 0x300);
	tree_write(root, "proc/sys/kernel/osrelease", "../../boot/config-6.12.1-test\n");
	counter_users_gather(root, 1, 0, &users);
	cr_expect_eq(users.watchdog, COUNTER_WATCHDOG_MAYBE, "a path is not a release");
}

Test(counter_users, virtual_pmus_of_kvm_are_counted)
{
	_cleanup_(tree_removep) char *root = tree_new();
	struct counter_users users;

	tree_write(root, "sys/module/kvm_amd/parameters/nested", "1\n");
	counter_users_gather(root, 1, 0, &users);
	cr_expect_not(users.kvm_pmu, "no /dev/kvm");
	tree_write(root, "dev/kvm", "");
	counter_users_gather(root, 1, 0, &users);
	cr_expect(users.kvm_pmu, "before Linux 5.17");
	tree_write(root, "sys/module/kvm/parameters/enable_pmu", "N\n");
	counter_users_gather(root, 1, 0, &users);
	cr_expect_not(users.kvm_pmu);
	tree_write(root, "sys/module/kvm/parameters/enable_pmu", "Y\n");
	counter_users_gather(root, 1, 0, &users);
	cr_expect(users.kvm_pmu);
}
