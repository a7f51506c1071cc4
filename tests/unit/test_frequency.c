// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>

#include "base/cleanup.h"
#include "govern/frequency.h"

#define S     NSEC_PER_SEC
#define TICKS 100

/* Two CPUs, ten seconds, cycles at 2.5 GHz: CPU 0 was busy for 4 s, CPU 1 for 1 s. The event always ran. */
static struct frequency_times times_before[2], times_now[2];
static struct cpu_counts counts_before[2], counts_now[2];
static struct frequency_look before, now;
static double hz;

static void setup(void)
{
	for (int cpu = 0; cpu < 2; cpu++) {
		times_before[cpu] = (struct frequency_times){.cpu = cpu, .all = 500000, .idle = 300000};
		times_now[cpu] = times_before[cpu];
		times_now[cpu].all += 1000;
		times_now[cpu].idle += cpu ? 900 : 600;
		counts_before[cpu] = (struct cpu_counts){
			.cpu = cpu,
			.open = true,
			.count = 7000000000,
			.enabled_ns = 100 * S,
			.running_ns = 100 * S,
			.throttled_ns = 5,
			.paused_ns = 6,
			.rearmed = 1,
		};
		counts_now[cpu] = counts_before[cpu];
		counts_now[cpu].count += cpu ? 2500000000 : 10000000000;
		counts_now[cpu].enabled_ns += 10 * S;
		counts_now[cpu].running_ns += 10 * S;
	}
	before = (struct frequency_look){1000 * S, times_before, 2, counts_before, 2};
	now = (struct frequency_look){1010 * S, times_now, 2, counts_now, 2};
	hz = 0;
}

TestSuite(frequency, .init = setup);

static enum frequency_result look(u64 period)
{
	return frequency_of(&before, &now, period, TICKS, &hz);
}

Test(frequency, cycles_over_busy_time_is_the_frequency)
{
	cr_expect_eq(look(1000000), FREQUENCY_KNOWN);
	cr_expect_float_eq(hz, 2.5e9, 1);
}

/* The event had a counter for a quarter of the time. */
Test(frequency, cycles_of_a_multiplexed_event_are_scaled)
{
	for (int cpu = 0; cpu < 2; cpu++) {
		counts_now[cpu].count = 7000000000 + (cpu ? 625000000 : 2500000000);
		counts_now[cpu].running_ns = 100 * S + 5 * S / 2;
	}
	cr_expect_eq(look(1000000), FREQUENCY_KNOWN);
	cr_expect_float_eq(hz, 2.5e9, 1);
}

/* CPU 0 would make the frequency too low. CPU 1 alone has 2.5 GHz. */
#define LEAVES_OUT(name, change)                              \
	Test(frequency, name)                                 \
	{                                                     \
		counts_now[0].count = 7000000000 + 100;       \
		change;                                       \
		cr_expect_eq(look(1000000), FREQUENCY_KNOWN); \
		cr_expect_float_eq(hz, 2.5e9, 1);             \
	}

LEAVES_OUT(a_throttled_cpu_is_left_out, counts_now[0].throttled_ns += 1)
LEAVES_OUT(a_cpu_that_was_paused_is_left_out, counts_now[0].paused_ns += 1)
LEAVES_OUT(a_cpu_whose_event_was_rearmed_is_left_out, counts_now[0].rearmed += 1)
LEAVES_OUT(a_cpu_without_an_open_event_is_left_out, counts_now[0].open = false)
LEAVES_OUT(a_cpu_whose_event_was_not_open_is_left_out, counts_before[0].open = false)
LEAVES_OUT(a_cpu_in_error_is_left_out, counts_now[0].in_error = true)
LEAVES_OUT(a_cpu_whose_event_hardly_ran_is_left_out, counts_now[0].running_ns = 100 * S + S / 100)
LEAVES_OUT(a_cpu_that_was_offline_for_a_part_is_left_out, times_now[0].all = 500700)
LEAVES_OUT(a_cpu_whose_idle_time_decreased_is_left_out, times_now[0].idle = 299999)

Test(frequency, a_cpu_that_came_online_is_left_out)
{
	counts_now[0].count = 7000000100;
	before.counts = counts_before + 1;
	before.n_counts = 1;
	cr_expect_eq(look(1000000), FREQUENCY_KNOWN);
	cr_expect_float_eq(hz, 2.5e9, 1);
	setup();
	counts_now[0].count = 7000000100;
	before.times = times_before + 1;
	before.n_times = 1;
	cr_expect_eq(look(1000000), FREQUENCY_KNOWN);
	cr_expect_float_eq(hz, 2.5e9, 1);
}

/* A PMU of some of the CPUs. */
Test(frequency, busy_time_of_cpus_without_the_event_does_not_count)
{
	before.n_counts = now.n_counts = 1;
	cr_expect_eq(look(1000000), FREQUENCY_KNOWN);
	cr_expect_float_eq(hz, 2.5e9, 1);
}

/* CPU 0 had no sample, so its page has not changed since the first look. */
Test(frequency, an_idle_cpu_without_a_sample_counts_as_without_cycles)
{
	counts_now[0] = counts_before[0];
	times_now[0].idle = times_before[0].idle + 1000;
	cr_expect_eq(look(1000000), FREQUENCY_KNOWN);
	cr_expect_float_eq(hz, 2.5e9, 1);
}

Test(frequency, less_than_half_a_second_of_busy_time_is_too_little)
{
	times_now[0].idle = times_before[0].idle + 980;
	times_now[1].idle = times_before[1].idle + 971;
	cr_expect_eq(look(1), FREQUENCY_TOO_LITTLE);
	times_now[1].idle = times_before[1].idle + 965;
	counts_now[0].count = 7500000000;
	counts_now[1].count = 7875000000;
	cr_expect_eq(look(1), FREQUENCY_KNOWN);
	cr_expect_float_eq(hz, 2.5e9, 1e3);
}

/* 12.5 thousand million cycles are 11.3 periods: 8 for each root of 2. */
Test(frequency, fewer_than_eight_periods_are_too_little)
{
	cr_expect_eq(look(1104000000), FREQUENCY_KNOWN);
	cr_expect_eq(look(1105000000), FREQUENCY_TOO_LITTLE);
}

Test(frequency, an_impossible_frequency_is_not_known)
{
	counts_now[0].count += 40000000000;
	cr_expect_eq(look(1000000), FREQUENCY_NOTHING);
	setup();
	counts_now[0].count = counts_now[1].count = 7100000000;
	cr_expect_eq(look(1000000), FREQUENCY_NOTHING);
	cr_expect_float_eq(hz, 0, 0);
}

Test(frequency, without_a_common_cpu_or_time_nothing_is_known)
{
	before.n_counts = 0;
	cr_expect_eq(look(1000000), FREQUENCY_NOTHING);
	setup();
	now.at_ns = before.at_ns;
	cr_expect_eq(look(1000000), FREQUENCY_NOTHING);
}

/* From a KVM host. User time includes the guests' time, and nice includes guest_nice. */
Test(frequency, busy_times_of_cpus_are_read_from_proc_stat)
{
	static const char text[] = "cpu  1305180 806969 259778 1095957 7890 0 5692 3400 30 3\n"
				   "cpu0 632845 401734 133656 567769 1966 7 2272 1711 20 2\n"
				   "cpu3 672334 405235 126122 528188 5923 0 3420 1688 10 1\n"
				   "intr 18408032 0 0 0\n"
				   "ctxt 69320754\n";
	_cleanup_free_ struct frequency_times *times = NULL;
	size_t n;

	cr_assert_eq(frequency_times_parse(text, &times, &n), 0);
	cr_assert_eq(n, 2);
	cr_expect_eq(times[0].cpu, 0);
	cr_expect_eq(times[0].all, 632845 + 401734 + 133656 + 567769 + 1966 + 7 + 2272 + 1711);
	cr_expect_eq(times[0].idle, 567769 + 1966 + 1711 + 20 + 2);
	cr_expect_eq(times[1].cpu, 3);
	cr_expect_eq(times[1].idle, 528188 + 5923 + 1688 + 10 + 1);
}

Test(frequency, invalid_texts_are_refused)
{
	static const char *const texts[] = {
		"",
		"cpu  1 2 3 4 5 6 7 8 9 10\n",
		"cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4\nintr 1\n",
		"cpu  1 2 3 4 5 6 7 8 9 10\ncpux 1 2 3 4 5 6 7 8 9 10\n",
		"cpu  1 2 3 4 5 6 7 8 9 10\ncpu1 1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct frequency_times *times;
		size_t n;

		cr_expect_eq(frequency_times_parse(texts[i], &times, &n), -EINVAL, "%zu", i);
	}
}
