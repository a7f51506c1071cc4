// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/perf/perf_notes.h"

static const struct cpu_counts calm[] = {
	{.cpu = 0, .open = true, .throttle_known = true},
	{.cpu = 1, .open = true, .throttle_known = true},
};

static const struct cpu_counts troubled[] = {
	{.cpu = 0, .open = true, .throttle_known = true, .throttles = 400, .throttled_ns = 1500000000},
	{.cpu = 1, .open = true, .throttle_known = true, .throttles = 12, .throttled_ns = 500000000},
	{.cpu = 2, .open = true, .in_error = true, .throttle_known = true},
	{.cpu = 3, .open = true, .in_error = true},
	{.cpu = 9, .open = false, .throttle_known = true},
};

static void expect_note(char *note, const char *expected)
{
	cr_expect_str_eq(note, expected);
	free(note);
}

Test(perf_notes, healthy_events_have_no_note)
{
	cr_expect_null(perf_note_in_error("loads", calm, 2, PERF_WATCHDOG_ON));
	cr_expect_null(perf_note_throttled("loads", calm, 2, 100000));
	cr_expect_null(perf_note_in_error("loads", NULL, 0, PERF_WATCHDOG_ON));
	cr_expect_null(perf_note_throttled("loads", NULL, 0, 0));
	cr_expect_null(perf_note_rate(100000, 100000));
	cr_expect_null(perf_note_rate(63000, 100000));
	cr_expect_null(perf_note_rate(100000, 0), "a value that cannot be read did not fall");
	cr_expect_null(perf_note_rate(0, 100000));
}

Test(perf_notes, a_note_on_an_event_in_error_names_cpus_and_likely_holders)
{
	expect_note(
		perf_note_in_error("loads:cpu_core", troubled, 5, PERF_WATCHDOG_UNKNOWN),
		"the event loads:cpu_core does not count on CPUs 2-3: its counter is held by another pinned event, usually the NMI watchdog (sysctl kernel.nmi_watchdog=0 frees its counter) or another profiler, such as perf; pebsd tries again each interval");
	expect_note(
		perf_note_in_error("stores", troubled, 5, PERF_WATCHDOG_ON),
		"the event stores does not count on CPUs 2-3: its counter is held by another pinned event, usually the NMI watchdog, which is on (sysctl kernel.nmi_watchdog=0 frees its counter), or another profiler, such as perf; pebsd tries again each interval");
	expect_note(
		perf_note_in_error("stores", troubled, 5, PERF_WATCHDOG_OFF),
		"the event stores does not count on CPUs 2-3: its counter is held by another pinned event, another profiler, such as perf (the NMI watchdog is off); pebsd tries again each interval");
	expect_note(
		perf_note_in_error("loads", troubled, 5, PERF_WATCHDOG_APART),
		"the event loads does not count on CPUs 2-3: its counter is held by another pinned event, another profiler, such as perf; pebsd tries again each interval");
}

Test(perf_notes, a_note_on_a_multiplexed_event_has_its_share)
{
	struct perf_multiplexing multiplexing = {0};

	cr_expect_null(perf_note_multiplexing("stores", &multiplexing, 1, 0, 0, PERF_WATCHDOG_OFF),
		       "the first call");
	expect_note(
		perf_note_multiplexing("stores", &multiplexing, 1, 2000, 960, PERF_WATCHDOG_OFF),
		"the event stores counted 48% of the time in the last minutes, and its counts cover only that part: loads and stores take turns on one counter of this CPU; if both together counted less than 100%, another event used that counter for the rest of the time: another profiler, such as perf (the NMI watchdog is off)");
	cr_expect_null(perf_note_multiplexing("stores", &multiplexing, 1, 2000, 1990, PERF_WATCHDOG_ON));
	cr_expect_null(perf_note_multiplexing("stores", &multiplexing, 1, 0, 0, PERF_WATCHDOG_ON),
		       "not started");
	expect_note(
		perf_note_multiplexing("stores", &multiplexing, 1, 2000, 0, PERF_WATCHDOG_ON),
		"the event stores counted 0% of the time in the last minutes, and its counts cover only that part: loads and stores take turns on one counter of this CPU; if both together counted less than 100%, another event used that counter for the rest of the time: usually the NMI watchdog, which is on (sysctl kernel.nmi_watchdog=0 frees its counter), or another profiler, such as perf");
}

Test(perf_notes, a_note_says_that_a_count_rarely_gets_a_counter)
{
	struct perf_multiplexing multiplexing = {0};

	cr_expect_null(perf_note_waiting("stalls", &multiplexing, 1, 0, 0, PERF_WATCHDOG_OFF),
		       "the first call");
	expect_note(
		perf_note_waiting("stalls", &multiplexing, 1, 2000, 480, PERF_WATCHDOG_OFF),
		"the event stalls counted only 24% of the time in the last minutes, because it yields its counter to others, and other events use the counters: another profiler, such as perf (the NMI watchdog is off); set fewer `events` in [sampling], or stop other tools that use counters");
	cr_expect_null(perf_note_waiting("stalls", &multiplexing, 1, 2000, 500, PERF_WATCHDOG_OFF));
	cr_expect_null(perf_note_waiting("stalls", &multiplexing, 1, 0, 0, PERF_WATCHDOG_OFF), "not started");
}

/* An event of the previous process continues with its counts, which may be weeks old. */
Test(perf_notes, counts_from_before_the_start_are_not_those_of_the_last_minutes)
{
	const u64 week = 7ULL * 24 * 3600 * NSEC_PER_SEC;
	struct perf_multiplexing multiplexing = {0};

	for (u64 second = 1; second <= 300; second++) {
		char *note = perf_note_multiplexing("stores", &multiplexing, second * NSEC_PER_SEC,
						    week + second * NSEC_PER_SEC,
						    week / 2 + second * NSEC_PER_SEC, PERF_WATCHDOG_ON);

		cr_expect_null(note, "after %llu s: %s", (unsigned long long)second, note);
		free(note);
	}
}

/* The note is about the present: it ends about two minutes after the other event ended, at the latest. */
Test(perf_notes, a_note_on_multiplexing_ends_with_it)
{
	struct perf_multiplexing multiplexing = {0};
	u64 enabled = 0, running = 0;

	for (u64 second = 1; second <= 600; second++) {
		char *note;

		enabled += 1000;
		running += second <= 300 ? 500 : 1000;
		note = perf_note_multiplexing("stores", &multiplexing, second * NSEC_PER_SEC, enabled,
					      running, PERF_WATCHDOG_ON);
		if (second > 1 && second <= 300)
			cr_expect_not_null(note, "after %llu s", (unsigned long long)second);
		if (second > 422)
			cr_expect_null(note, "after %llu s: %s", (unsigned long long)second, note);
		free(note);
	}
}

Test(perf_notes, a_throttled_event_is_named_with_its_cpus_and_the_remedy)
{
	expect_note(
		perf_note_throttled("loads", troubled, 5, 100000),
		"the event loads was throttled on CPUs 0-1, 412 times since the start, for 2s of CPU time: the kernel stops an event until the next tick once its samples in a tick reach that tick's part of kernel.perf_event_max_sample_rate (100000); set a longer `period` in [sampling], or raise that sysctl");
	expect_note(
		perf_note_throttled("loads", &troubled[1], 1, 0),
		"the event loads was throttled on CPU 1, 12 times since the start, for 500ms of CPU time: the kernel stops an event until the next tick once its samples in a tick reach that tick's part of kernel.perf_event_max_sample_rate; set a longer `period` in [sampling], or raise that sysctl");
	expect_note(
		perf_note_throttled("instructions:cpu_core", &troubled[1], 1, 0),
		"the event instructions:cpu_core was throttled on CPU 1, 12 times since the start, for 500ms of CPU time: the kernel stops an event until the next tick once its samples in a tick reach that tick's part of kernel.perf_event_max_sample_rate; set a longer `instructions-period` in [sampling], or raise that sysctl");
}

Test(perf_notes, each_role_is_throttled_by_its_own_period)
{
	static const char *const cases[][2] = {{"stores", "`period`"},
					       {"instructions", "`instructions-period`"},
					       {"cycles:cpu_atom", "`cycles-period`"},
					       {"stalls", "`stalls-period`"},
					       {"misses:cpu_core", "`misses-period`"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *note = perf_note_throttled(cases[i][0], &troubled[1], 1, 0);

		cr_assert_not_null(note);
		cr_expect_not_null(strstr(note, cases[i][1]), "%s", note);
		free(note);
	}
}

static const struct cpu_counts silent[] = {
	{.cpu = 0, .open = true, .rearmed = 11},
	{.cpu = 1, .open = true},
	{.cpu = 2, .rearmed = 1},
};

Test(perf_notes, a_note_on_a_rearmed_event_has_cpus_and_cause)
{
	const struct perf_note_losses nothing = {0}, unsettled = {.expected = 4000},
				      some = {.expected = 4000, .lost = 1000};

	cr_expect_null(perf_note_rearmed("loads", calm, 2, &some));
	cr_expect_null(perf_note_rearmed("loads", silent, 3, &unsettled), "what it missed is known later");
	expect_note(
		perf_note_rearmed("loads", silent, 3, &some),
		"the event loads stopped on CPUs 0,2 until pebsd armed it again, 12 times since the start, and lost 1,000 of 4,000 samples (25%), which count as unexplained: on CPUs before Skylake, the record of a PEBS event is dropped if another PEBS event overflows together with it, or often if the interrupt of any other event comes before the record, and the kernel leaves the counter stopped; here the event most likely collides with an event of another program, such as perf record; set a longer period in [sampling] to lose fewer samples");
	expect_note(
		perf_note_rearmed("stores", &silent[2], 1, &nothing),
		"the event stores stopped on CPU 2 until pebsd armed it again, 1 time since the start: on CPUs before Skylake, the record of a PEBS event is dropped if another PEBS event overflows together with it, or often if the interrupt of any other event comes before the record, and the kernel leaves the counter stopped; here the event most likely collides with an event of another program, such as perf record; set a longer period in [sampling] to lose fewer samples");
}

/* The numbers were measured on Haswell with three events and a period of 1,009. */
Test(perf_notes, a_note_on_collisions_has_the_loss_with_longer_periods)
{
	const struct perf_note_losses stores = {
		.expected = 731636,
		.lost = 692081,
		.colliding = "loads, stores and instructions collide with each other"};

	expect_note(
		perf_note_rearmed("stores", silent, 3, &stores),
		"the event stores stopped on CPUs 0,2 until pebsd armed it again, 12 times since the start, and lost 692,081 of 731,636 samples (95%), which count as unexplained: on CPUs before Skylake, the record of a PEBS event is dropped if another PEBS event overflows together with it, or often if the interrupt of any other event comes before the record, and the kernel leaves the counter stopped; here loads, stores and instructions collide with each other, or with an event of another program, such as perf record; to lose fewer samples, set longer periods (`period`, `instructions-period` and so on in [sampling]) or fewer `events`: doubled periods have a quarter of the collisions, and with periods about 13 times as long only a tenth of the samples would be lost");
}

Test(perf_notes, with_little_or_total_loss_no_period_is_suggested)
{
	const struct perf_note_losses losses[] = {
		{.expected = 1000, .lost = 100, .colliding = "loads and stores collide with each other"},
		{.expected = 1000, .lost = 1000, .colliding = "loads and stores collide with each other"},
		{.expected = 0, .lost = 0, .colliding = "loads and stores collide with each other"},
	};

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		_cleanup_free_ char *text = perf_note_rearmed("loads", silent, 1, &losses[i]);

		cr_expect(strstr(text, "a quarter of the collisions") && !strstr(text, "times as long"), "%s",
			  text);
	}
}

Test(perf_notes, only_events_of_one_pmu_collide)
{
	const struct event_spec loads = {.event.pmu = "cpu", .pinned = true, .collides = true};
	const struct event_spec other = {.event.pmu = "other", .pinned = true, .collides = true};
	const struct event_spec stores = loads, instructions = loads;
	const struct event_spec plain = {.event.pmu = "cpu", .pinned = true};
	const struct event_spec *const specs[] = {&loads, &other, &stores, &plain, &instructions};
	const char *const keys[] = {"loads", "of another", "stores", "plain", "instructions"};
	_cleanup_free_ char *three = perf_note_colliding(specs, keys, 5, 2);
	_cleanup_free_ char *two = perf_note_colliding(specs, keys, 4, 0);

	cr_expect_str_eq(three, "loads, stores and instructions collide with each other");
	cr_expect_str_eq(two, "loads and stores collide with each other");
	cr_expect_null(perf_note_colliding(specs, keys, 5, 1), "alone");
	cr_expect_null(perf_note_colliding(specs, keys, 5, 3));
}

/* On Sandy Bridge, loads and stores take turns, so they do not collide with each other. */
Test(perf_notes, records_can_collide_with_interrupts_of_counts)
{
	const struct event_spec loads = {.event.pmu = "cpu", .collides = true}, stores = loads;
	const struct event_spec precise = {.event.pmu = "cpu", .pinned = true, .collides = true};
	const struct event_spec cycles = {.event = {.role = EVENT_CYCLES, .pmu = "cpu"}};
	const struct event_spec misses = {.event = {.role = EVENT_MISSES, .pmu = "cpu"}};
	const struct event_spec elsewhere = {.event = {.role = EVENT_CYCLES, .pmu = "other"}};
	const struct event_spec *const specs[] = {&loads, &stores, &elsewhere, &cycles, &misses, &precise};
	const char *const keys[] = {"loads", "stores", "cycles:other", "cycles", "misses", "instructions"};
	_cleanup_free_ char *one = perf_note_colliding(specs, keys, 4, 0);
	_cleanup_free_ char *more = perf_note_colliding(specs, keys, 5, 1);
	_cleanup_free_ char *both = perf_note_colliding(specs, keys, 6, 0);

	cr_expect_str_eq(one, "loads collide with the interrupts of cycles");
	cr_expect_str_eq(more, "stores collide with the interrupts of cycles and misses");
	cr_expect_str_eq(
		both,
		"loads and instructions collide with each other and with the interrupts of cycles and misses");
	cr_expect_null(perf_note_colliding(specs, keys, 3, 0), "turns, and another PMU");
	cr_expect_null(perf_note_colliding(specs, keys, 5, 3), "a count has no record");
}

Test(perf_notes, a_note_on_a_lowered_sysctl_has_its_former_value)
{
	expect_note(
		perf_note_rate(100000, 63000),
		"kernel.perf_event_max_sample_rate fell from 100000 to 63000 since the start: the kernel lowers it when sampling interrupts take too long (see the kernel log), and stops an event until the next tick once its samples in a tick reach that tick's part of it; set a longer `period` in [sampling], or set it back: sysctl kernel.perf_event_max_sample_rate=100000");
	cr_expect_gt(perf_note_read_rate(), 0);
}

Test(perf_notes, lasting_notes_come_last_and_are_bounded)
{
	_cleanup_(perf_notes_done) struct perf_notes notes = {0};
	size_t n = 0;

	perf_notes_add(&notes, strdup("a"));
	perf_notes_add(&notes, strdup("b"));
	cr_expect_eq(perf_notes_set(&notes, PERF_NOTE_RATE, strdup("rate")), PERF_NOTE_CAME);
	cr_expect_eq(
		perf_notes_set(&notes, PERF_NOTE_OF(EVENTS_MAX - 1, PERF_NOTE_MULTIPLEXING), strdup("turns")),
		PERF_NOTE_CAME);
	cr_expect_str_eq(notes.list[0], "turns");
	cr_expect_str_eq(notes.list[1], "rate");
	cr_expect_str_eq(notes.list[2], "a");
	cr_expect_str_eq(notes.list[3], "b");
	for (int i = 0; i < 50; i++)
		perf_notes_add(&notes, strdup("more"));
	while (notes.list[n])
		n++;
	cr_expect_eq(n, 2 + PERF_NOTES_STAYING_MAX);
}

Test(perf_notes, a_note_is_reported_once_and_shown_until_it_ends)
{
	struct perf_notes notes = {0};

	cr_expect_eq(perf_notes_set(&notes, 3, NULL), PERF_NOTE_STAYS);
	cr_expect_null(notes.list[0]);
	cr_expect_eq(perf_notes_set(&notes, 3, strdup("a")), PERF_NOTE_CAME);
	cr_expect_eq(perf_notes_set(&notes, 3, strdup("a, changed")), PERF_NOTE_STAYS);
	cr_expect_eq(perf_notes_set(&notes, 0, strdup("b")), PERF_NOTE_CAME);
	cr_expect_str_eq(notes.list[0], "b");
	cr_expect_str_eq(notes.list[1], "a, changed");
	cr_expect_null(notes.list[2]);
	cr_expect_eq(perf_notes_set(&notes, 0, NULL), PERF_NOTE_WENT);
	cr_expect_str_eq(notes.list[0], "a, changed");
	cr_expect_null(notes.list[1]);
	perf_notes_done(&notes);
	cr_expect_null(notes.list[0]);
}
