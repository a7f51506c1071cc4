// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <stdint.h>

#include "govern/inputs.h"

#define S NSEC_PER_SEC

static struct cpu_counts before[4], now[4];
static struct governor_input input;

/* Four CPUs during one second: 1, 2, 3 and 4 million events at a period of 10,000. */
static void setup(void)
{
	for (int cpu = 0; cpu < 4; cpu++) {
		before[cpu] = (struct cpu_counts){
			.cpu = cpu,
			.open = true,
			.throttle_known = true,
			.count = 5000000,
			.expected = 500,
			.enabled_ns = 10 * S,
			.running_ns = 10 * S,
			.throttles = 7,
		};
		now[cpu] = before[cpu];
		now[cpu].count += 1000000 * (u64)(cpu + 1);
		now[cpu].expected += 100 * (u64)(cpu + 1);
		now[cpu].enabled_ns += S;
		now[cpu].running_ns += S;
	}
	input = (struct governor_input){.period = 10000};
}

TestSuite(govern_inputs, .init = setup);

static void take(void)
{
	govern_busiest(1, before, 4, now, 4, &input);
}

Test(govern_inputs, the_busiest_cpu_decides)
{
	take();
	cr_expect(input.known);
	cr_expect_float_eq(input.events_per_second, 4e6, 1e-3);
	cr_expect_float_eq(input.samples, 400, 1e-9);
	cr_expect_float_eq(input.active, 1, 1e-12);
	cr_expect_eq(input.cpus, 4);
	cr_expect_eq(input.throttles, 0);
}

/* CPU 1 was stopped for half of the second, so its rate is twice its count. */
Test(govern_inputs, throttled_time_is_not_counted)
{
	now[0].throttled_ns += S / 4;
	now[0].throttles += 200;
	now[1].throttled_ns += S / 2;
	now[1].throttles += 100;
	now[1].count += 3000000;
	now[2].throttles += 1;
	take();
	cr_expect_float_eq(input.events_per_second, 10e6, 1e-3);
	cr_expect_float_eq(input.active, 0.5, 1e-12);
	cr_expect_float_eq(input.throttled, 0.5, 1e-12);
	cr_expect_eq(input.throttles, 100, "those of the CPU that was stopped for longest");
	now[1].throttled_ns = 20 * S;
	take();
	cr_expect_float_eq(input.active, 0.01, 1e-12, "by other clocks it was throttled longer than enabled");
	cr_expect_float_eq(input.throttled, 1, 1e-12);
}

/* Each of four CPUs is throttled for a hundredth of the time: the largest share counts, not the sum. */
Test(govern_inputs, throttlings_of_different_cpus_do_not_add_up)
{
	for (size_t i = 0; i < 4; i++) {
		now[i].throttled_ns += S / 100;
		now[i].throttles += 5;
	}
	take();
	cr_expect_float_eq(input.throttled, 0.01, 1e-12);
	cr_expect_eq(input.throttles, 5);
}

Test(govern_inputs, an_unchanged_page_means_no_sample)
{
	now[3] = before[3];
	take();
	cr_expect(input.known);
	cr_expect_float_eq(input.events_per_second, 3e6, 1e-3);
	for (size_t i = 0; i < 4; i++)
		now[i] = before[i];
	take();
	cr_expect(input.known);
	cr_expect_eq(input.events_per_second, 0);
	cr_expect_eq(input.samples, 0);
}

/* One sample came in ten seconds, and the page reports it only now. */
Test(govern_inputs, samples_after_many_intervals_are_divided_by_their_time)
{
	for (size_t i = 0; i < 4; i++)
		now[i] = before[i];
	now[2].count += 10000;
	now[2].expected++;
	now[2].enabled_ns += 10 * S;
	take();
	cr_expect_float_eq(input.events_per_second, 1000, 1e-6);
	cr_expect_float_eq(input.samples, 1, 1e-12);
}

/*
 * The last sample of the previous interval came at its end, and the first sample of this one a moment later.
 * The times of the page alone would give a thousand samples a second.
 */
Test(govern_inputs, two_close_samples_do_not_make_a_high_rate)
{
	for (size_t i = 0; i < 4; i++)
		now[i] = before[i];
	now[2].count += 10000;
	now[2].expected++;
	now[2].enabled_ns += S / 1000;
	take();
	cr_expect_float_eq(input.events_per_second, 10000, 1e-6);
	cr_expect_float_eq(input.active, 1, 1e-12);
}

Test(govern_inputs, a_multiplexed_event_is_scaled_by_its_running_time)
{
	now[3].running_ns -= S / 2;
	take();
	cr_expect_float_eq(input.events_per_second, 4e6, 1e-3);
}

Test(govern_inputs, cpus_that_came_went_or_are_in_error_do_not_count)
{
	now[3].open = false;
	now[2].in_error = true;
	before[1].open = false;
	take();
	cr_expect(input.known);
	cr_expect_eq(input.cpus, 1);
	cr_expect_float_eq(input.events_per_second, 1e6, 1e-3);
	now[0].open = false;
	take();
	cr_expect_not(input.known, "paused");
}

Test(govern_inputs, readings_are_matched_by_cpu)
{
	const struct cpu_counts came[] = {before[0], before[2]};

	govern_busiest(1, came, 2, now, 4, &input);
	cr_expect_eq(input.cpus, 2);
	cr_expect_float_eq(input.events_per_second, 3e6, 1e-3);
	govern_busiest(1, before, 4, &now[1], 1, &input);
	cr_expect_eq(input.cpus, 1);
	cr_expect_float_eq(input.events_per_second, 2e6, 1e-3);
	govern_busiest(1, NULL, 0, now, 4, &input);
	cr_expect_not(input.known);
	govern_busiest(1, before, 4, NULL, 0, &input);
	cr_expect_not(input.known);
}

Test(govern_inputs, counts_that_decreased_are_ignored)
{
	now[3].count = 1;
	take();
	cr_expect_eq(input.cpus, 3);
	cr_expect_float_eq(input.events_per_second, 3e6, 1e-3);
}

Test(govern_inputs, period_bounds_are_the_pmus_and_a_share_of_the_default)
{
	struct event_spec spec = {.period_min = 1, .period_step = 1};

	govern_bounds(&spec, 10007, &input);
	cr_expect_eq(input.least_period, 312);
	cr_expect_eq(input.greatest_period, INT32_MAX);
	spec.period_min = 1000;
	govern_bounds(&spec, 10007, &input);
	cr_expect_eq(input.least_period, 1000);
	spec = (struct event_spec){.period_min = 0x90, .period_step = 16};
	govern_bounds(&spec, 1048336, &input);
	cr_expect_eq(input.least_period, 32760);
	cr_expect_eq(input.greatest_period, 134217712);
	cr_expect_eq(input.period_step, 16);
	spec = (struct event_spec){0};
	govern_bounds(&spec, 1, &input);
	cr_expect_eq(input.least_period, 1);
	cr_expect_eq(input.period_step, 1);
}

Test(govern_inputs, events_whose_records_collide_keep_at_least_the_default_period)
{
	const struct event_spec spec = {.period_min = 1, .period_step = 1, .collides = true};

	govern_bounds(&spec, 1000003, &input);
	cr_expect_eq(input.least_period, 1000003);
	cr_expect_eq(input.greatest_period, INT32_MAX);
}

Test(govern_inputs, events_on_the_same_cpus_are_one_class)
{
	struct event_spec big = {.has_members = true}, small = {.has_members = true}, all = {0};
	const struct event_spec *hybrid[] = {&small, &big, &small, &big};
	const struct event_spec *joined[] = {&small, &big, &all};
	u32 classes[EVENTS_MAX];

	for (int cpu = 0; cpu < 8; cpu++)
		cpu_list_add(cpu < 4 ? &big.members : &small.members, cpu);
	govern_classes(hybrid, 4, classes);
	cr_expect_eq(classes[0], classes[2]);
	cr_expect_eq(classes[1], classes[3]);
	cr_expect_neq(classes[0], classes[1]);
	govern_classes(joined, 3, classes);
	cr_expect_eq(classes[0], classes[1], "by what is on the CPUs of both");
	cr_expect_eq(classes[0], classes[2]);
}
