// SPDX-License-Identifier: GPL-2.0
/* The attributes of a zoom's events, the rate of its limiter, and the messages about refusals. */
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "pebsd/zoom.h"
#include "zoom/zoom_attr.h"
#include "zoom/zoom_diagnose.h"
#include "zoom/zoom_limit.h"

static const struct event_spec sapphire_rapids = {
	.event = {.role = EVENT_LOADS,
		  .pmu = "cpu",
		  .period = 10007,
		  .settings = {.has_latency = 1, .has_source = 1, .has_address = 1, .weight_struct = 1}},
	.type = 4,
	.config = 0x1cd,
	.config1 = 30,
	.precise_ip = 2,
	.pinned = true,
	.exclude_guest = true,
	.has_leader = true,
	.leader_config = 0x8203,
};

static const struct zoom_ways all_ways = {.lbr = true, .physical = true, .build_ids = true};

Test(zoom_attr, a_zoom_extends_the_always_on_event)
{
	struct perf_event_attr attr;

	zoom_attr(&sapphire_rapids, &all_ways, true, &attr);
	cr_expect_eq(attr.type, 4);
	cr_expect_eq(attr.config, 0x1cd);
	cr_expect_eq(attr.config1, 30);
	cr_expect_eq(attr.sample_period, 10007);
	cr_expect_eq(attr.precise_ip, 2);
	cr_expect_eq(attr.exclude_guest, 1);
	cr_expect_eq(attr.disabled, 1);
	cr_expect_eq(attr.sample_type,
		     PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			     PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
			     PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
			     PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP);
	cr_expect(attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
	cr_expect(attr.sample_id_all && attr.mmap && attr.mmap2 && attr.comm && attr.comm_exec && attr.task &&
		  attr.build_id);
	cr_expect(attr.use_clockid);
	cr_expect_eq(attr.clockid, CLOCK_MONOTONIC);
	/* The call chain includes the kernel and user space. */
	cr_expect_not(attr.exclude_callchain_kernel || attr.exclude_callchain_user);
	/* The always-on events take precedence for the counters. */
	cr_expect_not(attr.pinned);
}

/*
 * Unless the attributes set `freq`, or `wakeup_events` without `watermark`, the hardware reloads its counter,
 * and records come without an interrupt (intel_pmu_hw_config()).
 */
Test(zoom_attr, every_record_is_an_overflow_and_wakes_nobody)
{
	struct perf_event_attr attr;

	zoom_attr(&sapphire_rapids, &all_ways, true, &attr);
	cr_expect(attr.freq || (attr.wakeup_events && !attr.watermark));
	cr_expect_gt(attr.wakeup_events, 1U << 30);
	cr_expect_leq(attr.wakeup_events, 0x7fffffffU, "the kernel holds it in an int");
}

Test(zoom_attr, one_event_of_a_ring_reports_tasks)
{
	struct perf_event_attr attr;

	zoom_attr(&sapphire_rapids, &all_ways, false, &attr);
	cr_expect_not(attr.mmap || attr.mmap2 || attr.comm || attr.comm_exec || attr.task || attr.build_id);
	zoom_attr_leader(&sapphire_rapids, &attr);
	cr_expect_eq(attr.config, 0x8203);
	cr_expect_eq(attr.sample_period, 0);
	cr_expect_not(attr.pinned || attr.mmap || attr.task);
	/*
	 * The parser uses the attributes of the leader's sampling event for the leader's records, too. So
	 * both need the same trailer.
	 */
	cr_expect(attr.sample_id_all);
	cr_expect_eq(attr.sample_type,
		     PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU);
	cr_expect_eq(attr.clockid, CLOCK_MONOTONIC);
}

Test(zoom_attr, without_addresses_no_physical_addresses_are_requested)
{
	struct event_spec instructions = {.event = {.role = EVENT_INSTRUCTIONS, .period = 1}};
	struct perf_event_attr attr;

	zoom_attr(&instructions, &all_ways, true, &attr);
	cr_expect_not(attr.sample_type & (PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |
					  PERF_SAMPLE_WEIGHT_TYPE));
}

Test(zoom_attr, attributes_are_weakened_step_by_step)
{
	struct zoom_ways ways = all_ways;

	cr_expect_not(zoom_attr_weaken(-EMFILE, &ways));
	cr_expect_not(zoom_attr_weaken(-ENODEV, &ways));
	cr_expect_not(zoom_attr_weaken(-ENOENT, &ways));
	cr_expect(ways.lbr && ways.build_ids && ways.physical);
	cr_expect(zoom_attr_weaken(-EOPNOTSUPP, &ways));
	cr_expect(!ways.lbr && ways.build_ids && ways.physical);
	cr_expect(zoom_attr_weaken(-EINVAL, &ways));
	cr_expect(!ways.build_ids && ways.physical);
	cr_expect(zoom_attr_weaken(-EACCES, &ways));
	cr_expect(!ways.physical);
	cr_expect_not(zoom_attr_weaken(-EACCES, &ways));
}

/*
 * Does what bpf/zoom.bpf.c does. Returns how many of an endless stream of samples pass within `ns` from any
 * moment on.
 */
static u64 let_through(u32 rate, u64 ns)
{
	const u64 spacing = zoom_limit_spacing(rate);
	u64 due = 0, taken = 0;

	for (u64 now = NSEC_PER_SEC; now < NSEC_PER_SEC + ns; now += 5000) {
		if (due > now + ZOOM_BURST_NS)
			continue;
		due = (due > now ? due : now) + spacing;
		taken++;
	}
	return taken;
}

Test(zoom_limit, the_rate_is_limited_in_every_second)
{
	static const u32 rates[] = {1, 2, 20, 997, 1000, 20000};

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		u64 taken = let_through(rates[i], NSEC_PER_SEC);

		cr_expect_leq(taken, rates[i], "%llu at %u", taken, rates[i]);
		cr_expect_geq(taken * 100, (u64)rates[i] * 99, "%llu at %u", taken, rates[i]);
		/* The samples of a second do not all come at its start, either. */
		taken = let_through(rates[i], 100 * NSEC_PER_MSEC);
		cr_expect_leq(taken, rates[i] / 8 + 2, "%llu at %u", taken, rates[i]);
	}
}

Test(zoom_diagnose, cgroup_v1_is_recognized_by_its_controllers)
{
	cr_expect(zoom_facts_v1("3:cpuset:/\n2:net_cls,perf_event:/a\n0::/\n"));
	cr_expect(zoom_facts_v1("4:perf_event:/"));
	cr_expect_not(zoom_facts_v1("3:cpuset:/\n1:name=perf_event:/\n0::/x:perf_event:/\n"));
	cr_expect_not(zoom_facts_v1("0::/perf_event\n"));
	cr_expect_not(zoom_facts_v1(""));
	cr_expect_not(zoom_facts_v1("perf_event"));
}

static void expect_enable(const char *controllers, const char *enabled, const char *expected)
{
	char command[ZOOM_ENABLE_MAX];

	zoom_facts_enable("/sys/fs/cgroup", controllers, enabled, command);
	cr_expect_str_eq(command, expected, "%s", controllers);
}

Test(zoom_diagnose, without_a_controller_the_message_says_to_enable_one)
{
	char long_path[2 * ZOOM_ENABLE_MAX];
	char command[ZOOM_ENABLE_MAX];

	expect_enable("cpuset cpu io memory hugetlb pids rdma", "",
		      "echo +pids > /sys/fs/cgroup/cgroup.subtree_control");
	expect_enable("pids", "", "echo +pids > /sys/fs/cgroup/cgroup.subtree_control");
	expect_enable("hugetlb xpids", "", "echo +hugetlb > /sys/fs/cgroup/cgroup.subtree_control");
	expect_enable("cpuset cpu io memory pids", "memory pids", "");
	expect_enable("", "", "");
	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	zoom_facts_enable(long_path, "pids", "", command);
	cr_expect_str_eq(command, "", "half a command is none");
}

static void expect_said(int error, const char *pmu, struct zoom_facts facts, int expected, const char *words)
{
	_cleanup_free_ char *message = NULL;
	struct event event = {.role = EVENT_LOADS};

	(void)snprintf(event.pmu, sizeof(event.pmu), "%s", pmu);
	cr_expect_eq(zoom_diagnose_open(error, &event, 3, &facts, &message), expected, "%s", words);
	cr_assert_not_null(message);
	cr_expect_not_null(strstr(message, words), "%s", message);
	/* The caller's message states the purpose of the event. */
	cr_expect_null(strstr(message, "cannot zoom"), "%s", message);
}

Test(zoom_diagnose, each_refusal_is_explained)
{
	const struct zoom_facts none = {0};

	expect_said(-ENOENT, "cpu", (struct zoom_facts){.v1 = true}, -EOPNOTSUPP, "cgroup v1");
	expect_said(-ENOENT, "cpu", (struct zoom_facts){.gone = true}, -ENOENT, "the cgroup is gone");
	expect_said(-ENOENT, "cpu", (struct zoom_facts){.enable = "echo +pids > /x"}, -EOPNOTSUPP,
		    "the cgroup does not have the perf_event controller");
	expect_said(-ENOENT, "cpu", (struct zoom_facts){.enable = "echo +pids > /x"}, -EOPNOTSUPP,
		    "enable one: echo +pids > /x");
	expect_said(-ENOENT, "cpu", (struct zoom_facts){.gone = true, .enable = "echo +pids > /x"}, -ENOENT,
		    "the cgroup is gone");
	expect_said(-EMFILE, "cpu", (struct zoom_facts){.enable = "echo +pids > /x"}, -EMFILE,
		    "LimitNOFILE=");
	expect_said(-EBADF, "cpu", (struct zoom_facts){.gone = true}, -EBADF,
		    "the cgroup's path is not a directory of a cgroup");
	expect_said(-ENOENT, "cpu", none, -EOPNOTSUPP, "cgroup_disable=");
	expect_said(-EINVAL, "cpu", none, -EINVAL, "CONFIG_CGROUP_PERF");
	expect_said(-EMFILE, "cpu", none, -EMFILE, "LimitNOFILE=");
	expect_said(-EACCES, "cpu", none, -EACCES, "CAP_PERFMON");
	expect_said(-EINVAL, "ibs_op", none, -EINVAL, "before 6.2");
	expect_said(-EINVAL, "cpu", none, -EINVAL, "the event loads on PMU cpu, CPU 3, for the cgroup");
	/* The message includes the reason of the opener. EMFILE is not blamed on cgroup v1. */
	expect_said(-EACCES, "cpu", (struct zoom_facts){.opener = "the opener hung up"}, -EACCES,
		    "CAP_SYS_ADMIN; the opener hung up");
	expect_said(-EMFILE, "cpu", (struct zoom_facts){.v1 = true}, -EMFILE, "LimitNOFILE=");
}
