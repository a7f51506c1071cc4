// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/perf/perf_diagnose.h"

#define CAP(capability) (1ULL << (capability))
#define ROOT            (CAP(CAP_SYS_ADMIN) | CAP(CAP_PERFMON) | CAP(CAP_BPF))

static const struct event_spec spec = {
	.event = {.role = EVENT_LOADS, .pmu = "cpu", .ldlat = 30},
	.type = 4,
	.config = 0x1cd,
	.config1 = 0x1e,
	.precise_ip = 2,
};

/* The facts of a root process on a machine with PEBS. Each test changes some of them. */
static struct perf_facts sound(void)
{
	return (struct perf_facts){
		.paranoid_known = true,
		.paranoid = 2,
		.capabilities_known = true,
		.capabilities = ROOT,
		.has_btf = true,
		.has_core_pmu = true,
		.max_precise_known = true,
		.max_precise = 3,
	};
}

/* Expects a message that names the failed action and its event, with `words` in it and without `never`. */
static struct perf_facts facts;

static void setup(void)
{
	facts = sound();
}

TestSuite(perf_diagnose, .init = setup);

static void expect(int error, const char *words, const char *never)
{
	_cleanup_free_ char *message = perf_diagnose_open(error, &spec, 5, &facts);

	cr_assert_not_null(message);
	cr_expect_eq(strncmp(message, "cannot open loads on PMU cpu, CPU 5", 35), 0, "%s", message);
	cr_expect_not_null(strstr(message, "config 0x1cd"), "%s", message);
	cr_expect_not_null(strstr(message, strerror(-error)), "%s", message);
	cr_expect_not_null(strstr(message, words), "%s", message);
	if (never)
		cr_expect_null(strstr(message, never), "%s", message);
}

Test(perf_diagnose, each_paranoid_level_names_the_needed_capability)
{
	facts.capabilities = 0;
	facts.paranoid = 1;
	expect(-EACCES, "perf_event_paranoid is 1, and this process has neither CAP_PERFMON", NULL);
	facts.paranoid = 2;
	expect(-EACCES, "give it CAP_PERFMON and CAP_BPF", "requires CAP_SYS_ADMIN");
	facts.capabilities_known = false;
	expect(-EACCES, "CAP_PERFMON", "this process has neither");
	facts.paranoid_known = false;
	expect(-EACCES, "CAP_PERFMON", "paranoid is");
}

Test(perf_diagnose, debian_above_level_2_needs_sys_admin)
{
	facts.paranoid = 3;
	facts.capabilities = CAP(CAP_PERFMON) | CAP(CAP_BPF);
	facts.debian_kernel = true;
	expect(-EACCES, "above 2, Debian's kernel requires CAP_SYS_ADMIN (CAP_PERFMON is not enough)", NULL);
	(void)snprintf(facts.opener, sizeof(facts.opener), "the opener hung up");
	expect(-EACCES, "CAP_BPF. Opening it through pebsd-opener failed too: the opener hung up", NULL);
	facts.user_namespace = true;
	expect(-EACCES, "user namespace", "opener");
	facts.user_namespace = false;
	facts.opener[0] = '\0';
	facts.debian_kernel = false;
	expect(-EACCES, "some distributions' kernels", "Debian");
	facts.paranoid = 2;
	expect(-EACCES, "security module", "CAP_SYS_ADMIN");
}

Test(perf_diagnose, ubuntu_from_level_4_on_needs_sys_admin)
{
	facts.ubuntu_kernel = true;
	facts.capabilities = CAP(CAP_PERFMON) | CAP(CAP_BPF);
	facts.paranoid = 4;
	expect(-EACCES, "perf_event_paranoid is 4, and from 4 on, Ubuntu's kernel requires CAP_SYS_ADMIN",
	       "Debian");
	facts.paranoid = 3;
	expect(-EACCES, "some distributions' kernels", "Ubuntu");
	facts.paranoid = 2;
	facts.capabilities = 0;
	expect(-EACCES, "neither CAP_PERFMON nor CAP_SYS_ADMIN", "Ubuntu");
	facts.capabilities = ROOT;
	facts.paranoid = 4;
	expect(-EACCES, "security module", "Ubuntu");
}

Test(perf_diagnose, a_refusal_despite_privileges_names_the_likely_cause)
{
	expect(-EACCES, "security module", "seccomp filter");
	facts.seccomp_filter = true;
	expect(-EPERM, "seccomp filter", NULL);
	expect(-EACCES, "security module", NULL);
	facts.user_namespace = true;
	expect(-EPERM, "user namespace", NULL);
	facts = sound();
	facts.capabilities = 0;
	facts.paranoid = 0;
	expect(-EACCES, "security module", "give it CAP_PERFMON");
}

Test(perf_diagnose, a_missing_pmu_or_event_is_explained)
{
	expect(-ENOENT, "does not have this PMU or event on this CPU", NULL);
	facts.has_core_pmu = false;
	expect(-ENOENT, "does not know this CPU", "virtual machine");
	facts.hypervisor = true;
	expect(-ENOENT, "a virtual machine without a virtual PMU", NULL);

	facts = sound();
	expect(-EOPNOTSUPP, "caps/max_precise", "this is a virtual machine");
	facts.max_precise = 0;
	expect(-EOPNOTSUPP, "microcode", "this is a virtual machine");
	facts.hypervisor = true;
	expect(-EOPNOTSUPP, "whose virtual PMU has no PEBS (caps/max_precise is 0)", NULL);
	facts.max_precise_known = false;
	expect(-EOPNOTSUPP, "this is a virtual machine", "is 0");
}

Test(perf_diagnose, too_old_microcode_is_explained)
{
	facts.max_precise = 0;
	facts.microcode_wanted = 0x28;
	facts.microcode = 0x17;
	expect(-EOPNOTSUPP, "has microcode 0x17, and below 0x28 the kernel switches PEBS off",
	       "virtual machine");
	facts.microcode = 0x28;
	expect(-EOPNOTSUPP, "max_precise is 0", "below 0x28");
	facts.microcode = 0; /* unknown */
	expect(-EOPNOTSUPP, "max_precise is 0", "below 0x28");
}

Test(perf_diagnose, other_errors_have_their_own_explanation)
{
	expect(-EMFILE, "LimitNOFILE=", "fs.file-max");
	expect(-ENFILE, "fs.file-max", "LimitNOFILE=");
	expect(-ENODEV, "offline", NULL);
	expect(-EBUSY, "the counters are reserved by", NULL);
	expect(-ENODATA, "leader", NULL);
	expect(-EINVAL, "ldlat = 30", NULL);
	expect(-ENOMEM, "memory", NULL);
	expect(-ENXIO, "virtual PMU lacks it", NULL);
	expect(-EIO, "pebsd does not know what causes this error", NULL);
	expect(-ENOSYS, "CONFIG_PERF_EVENTS", "seccomp");
	facts.seccomp_filter = true;
	expect(-ENOSYS, "seccomp", "CONFIG_PERF_EVENTS");
}

/* An off-core counter has neither ldlat nor PEBS. */
Test(perf_diagnose, a_refused_counter_does_not_mention_ldlat_or_pebs)
{
	const struct event_spec counter = {.event = {.role = EVENT_OFFCORE, .pmu = "cpu"}, .type = 4};
	_cleanup_free_ char *refused = perf_diagnose_open(-EINVAL, &counter, 0, &facts);
	_cleanup_free_ char *taken = NULL;

	facts.hypervisor = true;
	taken = perf_diagnose_open(-EOPNOTSUPP, &counter, 0, &facts);
	cr_expect_null(strstr(refused, "ldlat"), "%s", refused);
	cr_expect_null(strstr(taken, "PEBS"), "%s", taken);
}

Test(perf_diagnose, a_failed_attach_is_explained)
{
	_cleanup_free_ char *exists = perf_diagnose_attach(-EEXIST, &spec, 0, &facts);
	_cleanup_free_ char *stacks = perf_diagnose_attach(-EPROTO, &spec, 0, &facts);

	cr_expect_not_null(strstr(exists, "cannot attach the BPF program to loads on PMU cpu, CPU 0"), "%s",
			   exists);
	cr_expect_not_null(strstr(exists, "already attached"), "%s", exists);
	cr_expect_not_null(strstr(stacks, "stacks"), "%s", stacks);
}

/* NULL: no message is expected. */
static void expect_words(const char *message, const char *words)
{
	if (words)
		cr_expect(message && strstr(message, words), "%s", message);
	else
		cr_expect_null(message, "%s", message);
}

static void expect_bpf(const char *words)
{
	_cleanup_free_ char *message = NULL;

	cr_assert_eq(perf_diagnose_bpf(&facts, &message), 0);
	expect_words(message, words);
}

Test(perf_diagnose, missing_privileges_for_loading_programs_are_named)
{
	expect_bpf(NULL);
	facts.capabilities = CAP(CAP_PERFMON) | CAP(CAP_BPF);
	expect_bpf(NULL);
	facts.capabilities = CAP(CAP_PERFMON);
	expect_bpf("lacks CAP_BPF or CAP_PERFMON");
	facts.capabilities = CAP(CAP_BPF);
	expect_bpf("lacks CAP_BPF or CAP_PERFMON");
	facts.capabilities_known = false; /* unknown capabilities are not an obstacle */
	expect_bpf(NULL);
	facts = sound();
	facts.user_namespace = true;
	expect_bpf("user namespace");
	facts.has_btf = false;
	expect_bpf("/sys/kernel/btf/vmlinux");
}

Test(perf_diagnose, lockdown_is_mentioned)
{
	_cleanup_free_ char *none = NULL;
	_cleanup_free_ char *remark = NULL;

	cr_assert_eq(perf_diagnose_remark(&facts, &none), 0);
	cr_expect_null(none);
	facts.lockdown_confidential = true;
	cr_assert_eq(perf_diagnose_remark(&facts, &remark), 0);
	cr_assert_not_null(remark);
	cr_expect_not_null(strstr(remark, "bpf_cast_to_kern_ctx"));
}

static void expect_permission(int error, const char *words)
{
	_cleanup_free_ char *message = NULL;

	cr_assert_eq(perf_diagnose_permission(error, &facts, &message), 0);
	expect_words(message, words);
	if (words)
		expect_words(message, strerror(-error));
}

Test(perf_diagnose, obstacles_to_all_events_are_named)
{
	expect_permission(-EMFILE, NULL);
	expect_permission(-EACCES, "security module");
	facts.seccomp_filter = true;
	expect_permission(-EPERM, "seccomp");
	expect_permission(-ENOSYS, "this process has a seccomp filter, which hides perf_event_open");
	facts.seccomp_filter = false;
	expect_permission(-ENOSYS, "CONFIG_PERF_EVENTS");
	facts.capabilities = 0;
	expect_permission(-EACCES, "neither CAP_PERFMON");
}

/*
 * Expects these words in the message about too few descriptors; NULL: no message. `blocks` are the
 * descriptors of the slot table's second block. DESCRIPTORS_SPARE contains those of the first.
 */
static void expect_descriptors(const char *words)
{
	const struct perf_wanted wanted = {.cpus = 200, .descriptors = 300, .before = 96, .blocks = 4};
	_cleanup_free_ char *message = NULL;

	cr_assert_eq(perf_diagnose_descriptors(&facts, &wanted, &message), 0);
	if (!words) {
		cr_expect_null(message, "%s", message);
		return;
	}
	cr_assert_not_null(message);
	cr_expect_not_null(strstr(message, "events on 200 CPUs need up to 300"), "%s", message);
	cr_expect_not_null(strstr(message, words), "%s", message);
}

/* 300 wanted, 96 before, 4 for the second block, 128 spare and 10 used are 538. */
Test(perf_diagnose, too_few_descriptors_are_explained)
{
	facts.descriptors_used = 10;
	expect_descriptors(NULL); /* the limit is unknown */
	facts.descriptors_max = 538;
	expect_descriptors(NULL);
	facts.descriptors_max = 537;
	expect_descriptors("the hard limit is 537; raise LimitNOFILE=");

	facts.descriptors_max = 524288;
	facts.files_used = 1000;
	facts.files_max = 1527;
	expect_descriptors(NULL); /* CAP_SYS_ADMIN may exceed fs.file-max */
	facts.capabilities = CAP(CAP_PERFMON);
	expect_descriptors("fs.file-max is 1527, and 1000 are in use; raise it: sysctl fs.file-max=");
	facts.files_max = 1528;
	expect_descriptors(NULL);
}

Test(perf_diagnose, indistinguishable_cgroups_are_explained)
{
	_cleanup_free_ char *used = NULL;
	_cleanup_free_ char *unknown = NULL;
	_cleanup_free_ char *none_yet = NULL;
	_cleanup_free_ char *missing = NULL;
	_cleanup_free_ char *v1 = NULL;

	cr_assert_eq(perf_diagnose_cgroups(&facts, &unknown), 0);
	cr_expect_null(unknown);
	facts.cgroups = PERF_CGROUPS_USED;
	cr_assert_eq(perf_diagnose_cgroups(&facts, &used), 0);
	cr_expect_null(used);
	facts.cgroups = PERF_CGROUPS_NONE_YET;
	cr_assert_eq(perf_diagnose_cgroups(&facts, &none_yet), 0);
	cr_expect_null(none_yet);
	facts.cgroups = PERF_CGROUPS_NO_MOUNT;
	cr_assert_eq(perf_diagnose_cgroups(&facts, &missing), 0);
	cr_expect_not_null(strstr(missing, "mount -t cgroup2"), "%s", missing);
	facts.cgroups = PERF_CGROUPS_V1_ONLY;
	cr_assert_eq(perf_diagnose_cgroups(&facts, &v1), 0);
	cr_expect_not_null(strstr(v1, "v1 hierarchies"), "%s", v1);
	cr_expect_not_null(strstr(v1, "systemd.unified_cgroup_hierarchy=1"), "%s", v1);
}

Test(perf_facts, the_distribution_is_that_of_the_kernel_not_of_the_compiler)
{
	cr_expect(perf_facts_debian_kernel(
		"Linux version 6.1.0-21-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC Debian 6.1.90-1 (2024-05-03)"));
	cr_expect_not(perf_facts_debian_kernel(
		"Linux version 6.9.0 (me@here) (gcc (Debian 12.2.0-14) 12.2.0) #1 SMP PREEMPT_DYNAMIC"));
}

Test(perf_facts, an_ubuntu_kernel_is_recognized_by_its_build)
{
	cr_expect(perf_facts_ubuntu_kernel(
		"Linux version 5.15.0-153-generic (buildd@lcy02-amd64-092) (gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0, GNU ld (GNU Binutils for Ubuntu) 2.38) #163-Ubuntu SMP Thu Aug 7 16:37:18 UTC 2025"));
	cr_expect(perf_facts_ubuntu_kernel("Linux version 6.8.0 (x) (gcc) #21~22.04.1-Ubuntu SMP"));
	cr_expect_not(perf_facts_ubuntu_kernel(
		"Linux version 6.9.0 (me@here) (gcc (Ubuntu 11.4.0-1ubuntu1) 11.4.0) #1 SMP PREEMPT_DYNAMIC"));
	cr_expect_not(perf_facts_ubuntu_kernel("Linux version 6.9.0"));
}

Test(perf_facts, the_microcode_that_pebs_needs_is_known)
{
	cr_expect_eq(perf_facts_microcode_wanted(6, 0x2a, 7), 0x28);
	cr_expect_eq(perf_facts_microcode_wanted(6, 0x2d, 6), 0x618);
	cr_expect_eq(perf_facts_microcode_wanted(6, 0x2d, 7), 0x70c);
	cr_expect_eq(perf_facts_microcode_wanted(6, 0x2d, 5), 0);
	cr_expect_eq(perf_facts_microcode_wanted(6, 0x55, 7), 0);
	cr_expect_eq(perf_facts_microcode_wanted(15, 0x2a, 7), 0);
}

Test(perf_facts, lines_of_cpuinfo_are_parsed)
{
	static const char cpuinfo[] =
		"processor\t: 0\ncpu family\t: 6\nmodel\t\t: 42\nmodel name\t: Intel(R) "
		"Core(TM)\nstepping\t: 7\nmicrocode\t: 0x2f\n";
	u64 value = 0;

	cr_assert(perf_facts_status(cpuinfo, "model", 10, &value));
	cr_expect_eq(value, 42);
	cr_assert(perf_facts_status(cpuinfo, "cpu family", 10, &value));
	cr_expect_eq(value, 6);
	cr_assert(perf_facts_status(cpuinfo, "microcode", 16, &value));
	cr_expect_eq(value, 0x2f);
	cr_expect_not(perf_facts_status(cpuinfo, "cpu", 10, &value));
}

Test(perf_facts, lines_of_status_are_parsed)
{
	static const char status[] =
		"Name:\tpebsd\nCapEff:\t000001ffffffffff\nNoSeccomp:\t7\nSeccomp:\t2\nUid:\tx\n";
	u64 value = 0;

	cr_assert(perf_facts_status(status, "CapEff", 16, &value));
	cr_expect_eq(value, 0x1ffffffffffULL);
	cr_assert(perf_facts_status(status, "Seccomp", 10, &value));
	cr_expect_eq(value, 2);
	cr_expect_not(perf_facts_status(status, "Uid", 10, &value));
	cr_expect_not(perf_facts_status(status, "Cap", 16, &value));
	cr_expect_not(perf_facts_status("", "Cap", 16, &value));
}

Test(perf_facts, namespaces_are_recognized)
{
	cr_expect(perf_facts_initial_namespace("         0          0 4294967295"));
	cr_expect_not(perf_facts_initial_namespace("         0       1000          1"));
	cr_expect_not(perf_facts_initial_namespace(""));
}
