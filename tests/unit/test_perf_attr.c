// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <time.h>

#include <criterion/criterion.h>

#include "origin/pmu/perf_attr.h"

static const struct event_spec skylake = {
	.event = {.role = EVENT_LOADS,
		  .pmu = "cpu",
		  .ldlat = 30,
		  .latency_kind = LATENCY_USE,
		  .settings = {.has_latency = 1, .has_source = 1, .has_address = 1, .weight_struct = 1}},
	.type = 4,
	.config = 0x1cd,
	.config1 = 30,
	.config2 = 7,
	.precise_ip = 2,
	.pinned = true,
	.exclude_guest = true,
};

/*
 * Returns true if the kernel does not run the program for each record (intel_pmu_hw_config, Linux 6.1). The
 * result must never be true.
 */
static bool large_pebs(const struct perf_event_attr *attr)
{
	return !(attr->freq || (attr->wakeup_events && !attr->watermark));
}

Test(perf_attr, every_record_runs_the_program)
{
	struct perf_event_attr attr;

	perf_attr(&skylake, 10007, &attr);
	cr_expect_not(large_pebs(&attr));
	cr_expect_eq(attr.wakeup_events, 1);
	cr_expect_eq(attr.watermark, 0);
	cr_expect_eq(attr.freq, 0);
	cr_expect_eq(attr.sample_period, 10007);
	/* Nothing requires an unwinder or registers, and no more is recorded than pebsd reads. */
	cr_expect_eq(attr.sample_type, PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT_STRUCT);
	cr_expect_eq(attr.inherit, 0);
	cr_expect_eq(attr.mmap, 0);
	cr_expect_eq(attr.comm, 0);
}

/* Records of throttling have no trailer, and their times can be compared with the reader's own clock. */
Test(perf_attr, the_ring_holds_bare_records_with_monotonic_times)
{
	struct perf_event_attr attr;

	perf_attr(&skylake, 10007, &attr);
	cr_expect_eq(attr.sample_id_all, 0);
	cr_expect_eq(attr.use_clockid, 1);
	cr_expect_eq(attr.clockid, CLOCK_MONOTONIC);
	perf_attr_leader(&skylake, &attr);
	cr_expect_eq(attr.sample_id_all, 0);
	cr_expect_eq(attr.use_clockid, 1, "a group has one clock");
	cr_expect_eq(attr.clockid, CLOCK_MONOTONIC);
}

Test(perf_attr, attributes_describe_the_planned_event)
{
	struct perf_event_attr attr;

	perf_attr(&skylake, 10007, &attr);
	cr_expect_eq(attr.type, 4);
	cr_expect_eq(attr.size, sizeof(attr));
	cr_expect_eq(attr.config, 0x1cd);
	cr_expect_eq(attr.config1, 30);
	cr_expect_eq(attr.config2, 7);
	cr_expect_eq(attr.precise_ip, 2);
	cr_expect_eq(attr.disabled, 1);
	cr_expect_eq(attr.pinned, 1);
	cr_expect_eq(attr.exclusive, 0);
	cr_expect_eq(attr.exclude_guest, 1);
	cr_expect_eq(attr.exclude_kernel, 0);
	cr_expect_eq(attr.exclude_user, 0);
	cr_expect_eq(attr.read_format, PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
}

Test(perf_attr, only_the_leader_of_a_group_is_pinned)
{
	struct event_spec spec = skylake;
	struct perf_event_attr attr;

	spec.has_leader = true;
	spec.leader_config = 0x8203;
	perf_attr(&spec, 10007, &attr);
	cr_expect_eq(attr.pinned, 0);
	cr_expect_not(large_pebs(&attr));
	perf_attr_leader(&spec, &attr);
	cr_expect_eq(attr.type, 4);
	cr_expect_eq(attr.size, sizeof(attr));
	cr_expect_eq(attr.config, 0x8203);
	cr_expect_eq(attr.config1, 0);
	cr_expect_eq(attr.pinned, 1);
	cr_expect_eq(attr.disabled, 1);
	cr_expect_eq(attr.sample_period, 0);
	cr_expect_eq(attr.sample_type, 0);
	cr_expect_eq(attr.precise_ip, 0);
	cr_expect_eq(attr.exclude_guest, 1);
	cr_expect_eq(attr.read_format, PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
}

Test(perf_attr, multiplexed_events_are_not_pinned)
{
	struct event_spec spec = skylake;
	struct perf_event_attr attr;

	spec.pinned = false;
	perf_attr(&spec, 10007, &attr);
	cr_expect_eq(attr.pinned, 0);
	spec.has_leader = true;
	perf_attr(&spec, 10007, &attr);
	cr_expect_eq(attr.pinned, 0);
	perf_attr_leader(&spec, &attr);
	cr_expect_eq(attr.pinned, 0);
}

Test(perf_attr, guests_are_left_out_as_planned)
{
	struct event_spec spec = skylake;
	struct perf_event_attr attr;

	spec.exclude_guest = false;
	perf_attr(&spec, 10007, &attr);
	cr_expect_eq(attr.exclude_guest, 0);
	perf_attr_leader(&spec, &attr);
	cr_expect_eq(attr.exclude_guest, 0);
}

/*
 * The probe opens the same events as the daemon. Those of a PMU exclude guests, because they would otherwise
 * fail on a host with a mediated virtual PMU.
 */
Test(perf_attr, counters_leave_out_guests_and_sample_nothing)
{
	struct pmu_counter counter = {.type = 4, .config = 0x1b7, .config1 = 0x3f803c0001};
	struct perf_event_attr attr;

	perf_attr_counter(&counter, &attr);
	cr_expect_eq(attr.type, 4);
	cr_expect_eq(attr.config, 0x1b7);
	cr_expect_eq(attr.config1, 0x3f803c0001);
	cr_expect_eq(attr.disabled, 1);
	cr_expect_eq(attr.exclude_guest, 1);
	cr_expect_eq(attr.sample_period, 0);
	counter.type = PERF_TYPE_SOFTWARE;
	perf_attr_counter(&counter, &attr);
	cr_expect_eq(attr.exclude_guest, 0);
}

/*
 * An event with PDist must not record the weight (rwc_get_event_constraints, Linux 6.12). The address is in
 * the registers.
 */
Test(perf_attr, instructions_request_no_fields_and_run_the_program_each_time)
{
	const struct event_spec spec = {
		.event = {.role = EVENT_INSTRUCTIONS, .pmu = "cpu", .settings = {.has_code_address = 1}},
		.type = 4,
		.config = 0xc0,
		.precise_ip = 3,
		.pinned = true,
		.exclude_guest = true,
	};
	struct perf_event_attr attr;

	perf_attr(&spec, 10000019, &attr);
	cr_expect_not(large_pebs(&attr));
	cr_expect_eq(attr.sample_type, 0);
	cr_expect_eq(attr.precise_ip, 3);
	cr_expect_eq(attr.sample_period, 10000019);
	cr_expect_eq(attr.pinned, 1);
}

Test(perf_attr, precise_distribution_falls_step_by_step)
{
	const struct event_spec planned = {
		.event = {.role = EVENT_INSTRUCTIONS, .pmu = "cpu", .settings = {.has_code_address = 1}},
		.config = 0xc0,
		.precise_ip = 3,
	};
	struct event_spec spec = planned;

	cr_expect_not(perf_attr_relax(&planned, -ENODATA, &spec));
	cr_assert(perf_attr_relax(&planned, -EOPNOTSUPP, &spec));
	cr_expect_eq(spec.precise_ip, 2);
	cr_assert(perf_attr_relax(&planned, -EINVAL, &spec));
	cr_expect_eq(spec.precise_ip, 1);
	cr_expect_not(perf_attr_relax(&planned, -EINVAL, &spec));
	cr_expect_eq(spec.event.settings.weight_struct, 0);
	cr_expect_eq(spec.event.settings.has_instruction_latency, 0);
	cr_expect_eq(spec.event.settings.has_code_address, 1);
	cr_expect_not(spec.has_leader);
}

Test(perf_attr, without_pebs_instructions_are_counted_only_if_allowed)
{
	const struct event_spec planned = {
		.event = {.role = EVENT_INSTRUCTIONS, .pmu = "cpu", .settings = {.has_code_address = 1}},
		.config = 0xc0,
		.precise_ip = 1,
		.pinned = true,
		.exclude_guest = true,
		.only_counter = 33,
		.may_count = true,
	};
	struct event_spec spec = planned;

	cr_expect_not(perf_attr_relax(&planned, -EINVAL, &spec));
	cr_assert(perf_attr_relax(&planned, -EOPNOTSUPP, &spec));
	cr_expect(event_is_count(&spec.event));
	cr_expect_eq(spec.precise_ip, 0);
	cr_expect_eq(spec.config, 0xc0);
	cr_expect_eq(spec.only_counter, 0);
	cr_expect_not(spec.pinned);
	cr_expect(spec.exclude_guest);
	cr_expect_not(perf_attr_relax(&planned, -EOPNOTSUPP, &spec));
	spec = planned;
	spec.may_count = false;
	cr_expect_not(perf_attr_relax(&planned, -EOPNOTSUPP, &spec));
}

Test(perf_attr, unmeasured_fields_are_not_requested)
{
	struct event_spec spec = skylake;
	struct perf_event_attr attr;

	spec.event.settings = (struct event_settings){0};
	perf_attr(&spec, 1, &attr);
	cr_expect_eq(attr.sample_type, 0);
	spec.event.settings = (struct event_settings){.has_latency = 1};
	perf_attr(&spec, 1, &attr);
	cr_expect_eq(attr.sample_type, PERF_SAMPLE_WEIGHT);
}

Test(perf_attr, a_leader_is_added_if_the_kernel_requires_it)
{
	struct event_spec spec = skylake;

	cr_assert(perf_attr_relax(&skylake, -ENODATA, &spec));
	cr_expect(spec.has_leader);
	cr_expect_eq(spec.leader_config, 0x8203);
	cr_expect_eq(spec.event.latency_kind, LATENCY_CACHE);
	cr_expect_eq(spec.event.settings.has_instruction_latency, 1);
	cr_expect_not(perf_attr_relax(&skylake, -ENODATA, &spec));
}

Test(perf_attr, weight_struct_goes_before_precision)
{
	struct event_spec planned = skylake;
	struct event_spec spec;

	planned.event.latency_kind = LATENCY_CACHE;
	planned.event.settings.has_instruction_latency = 1;
	spec = planned;
	cr_assert(perf_attr_relax(&planned, -EINVAL, &spec));
	cr_expect_eq(spec.event.settings.weight_struct, 0);
	cr_expect_eq(spec.event.settings.has_instruction_latency, 0);
	cr_expect_eq(spec.precise_ip, 2);
	cr_assert(perf_attr_relax(&planned, -EINVAL, &spec));
	cr_expect_eq(spec.event.settings.weight_struct, 1);
	cr_expect_eq(spec.event.settings.has_instruction_latency, 1);
	cr_expect_eq(spec.precise_ip, 1);
	cr_assert(perf_attr_relax(&planned, -EINVAL, &spec));
	cr_expect_eq(spec.event.settings.weight_struct, 0);
	cr_expect_eq(spec.precise_ip, 1);
	cr_expect_not(perf_attr_relax(&planned, -EINVAL, &spec));
}

Test(perf_attr, precision_never_falls_to_0)
{
	struct event_spec spec = skylake;

	cr_assert(perf_attr_relax(&skylake, -EOPNOTSUPP, &spec));
	cr_expect_eq(spec.precise_ip, 1);
	cr_expect_eq(spec.event.settings.weight_struct, 1);
	cr_expect_not(perf_attr_relax(&skylake, -EOPNOTSUPP, &spec));
}

Test(perf_attr, other_refusals_are_final)
{
	static const int errors[] = {-EACCES, -EPERM, -ENOENT, -ENODEV, -EMFILE, -EBUSY, -ENOSYS};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct event_spec spec = skylake;

		cr_expect_not(perf_attr_relax(&skylake, errors[i], &spec));
		cr_expect_eq(memcmp(&spec, &skylake, sizeof(spec)), 0);
	}
}
