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

Test(perf_notes, where_all_is_well_there_is_none)
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

Test(perf_notes, an_event_in_error_names_its_cpus_and_who_may_hold_the_counter)
{
	expect_note(
		perf_note_in_error("loads:cpu_core", troubled, 5, PERF_WATCHDOG_UNKNOWN),
		"loads:cpu_core does not count on CPUs 2-3: another pinned event holds the counter that it "
		"needs: most often the NMI watchdog (sysctl kernel.nmi_watchdog=0 frees its counter) or "
		"another profiler, such as perf; it is tried again each interval");
	expect_note(
		perf_note_in_error("stores", troubled, 5, PERF_WATCHDOG_ON),
		"stores does not count on CPUs 2-3: another pinned event holds the counter that it needs: "
		"most often the NMI watchdog, which is on (sysctl kernel.nmi_watchdog=0 frees its counter), "
		"or another profiler, such as perf; it is tried again each interval");
	expect_note(perf_note_in_error("stores", troubled, 5, PERF_WATCHDOG_OFF),
		    "stores does not count on CPUs 2-3: another pinned event holds the counter that it "
		    "needs: another profiler, such as perf (the NMI watchdog is off); it is tried again each "
		    "interval");
}

Test(perf_notes, an_event_that_takes_turns_tells_its_share)
{
	expect_note(perf_note_turns("stores", 2000, 960, PERF_WATCHDOG_OFF),
		    "stores counted 48% of the time: it takes turns on its counter, with another event of "
		    "pebsd, or with somebody else, another profiler, such as perf (the NMI watchdog is off); "
		    "its figures are of that part of the time");
	cr_expect_null(perf_note_turns("stores", 2000, 1990, PERF_WATCHDOG_ON));
	cr_expect_null(perf_note_turns("stores", 0, 0, PERF_WATCHDOG_ON), "not started");
	expect_note(
		perf_note_turns("stores", 2000, 0, PERF_WATCHDOG_ON),
		"stores counted 0% of the time: it takes turns on its counter, with another event of "
		"pebsd, or with somebody else, most often the NMI watchdog, which is on (sysctl "
		"kernel.nmi_watchdog=0 frees its counter), or another profiler, such as perf; its figures "
		"are of that part of the time");
}

Test(perf_notes, a_throttled_event_is_named_with_its_cpus_and_the_remedy)
{
	expect_note(
		perf_note_throttled("loads", troubled, 5, 100000),
		"loads was throttled on CPUs 0-1, 412 times since the start, for 2s of CPU time: the kernel "
		"stops an event that samples a CPU more often a second than "
		"kernel.perf_event_max_sample_rate (100000); raise `period` in [sampling], or that sysctl");
	expect_note(
		perf_note_throttled("loads", &troubled[1], 1, 0),
		"loads was throttled on CPUs 1, 12 times since the start, for 500ms of CPU time: the kernel "
		"stops an event that samples a CPU more often a second than "
		"kernel.perf_event_max_sample_rate; raise `period` in [sampling], or that sysctl");
}

Test(perf_notes, an_event_that_was_armed_again_says_where_and_why)
{
	static const struct cpu_counts cpus[] = {
		{.cpu = 0, .open = true, .rearmed = 11},
		{.cpu = 1, .open = true},
		{.cpu = 2, .rearmed = 1},
	};

	cr_expect_null(perf_note_rearmed("loads", calm, 2));
	expect_note(
		perf_note_rearmed("loads", cpus, 3),
		"loads was silent on CPUs 0,2 until it was armed again, 12 times since the start; the "
		"samples that it missed are lost as unexplained; most likely, as on machines before Skylake, "
		"records of two events that overflowed together are dropped, and the kernel leaves the "
		"counter unarmed: another PEBS user, such as perf record -e cycles:pp, or two events of "
		"pebsd; a larger `period` in [sampling] makes it rarer");
	expect_note(
		perf_note_rearmed("stores", &cpus[2], 1),
		"stores was silent on CPUs 2 until it was armed again, 1 time since the start; the "
		"samples that it missed are lost as unexplained; most likely, as on machines before Skylake, "
		"records of two events that overflowed together are dropped, and the kernel leaves the "
		"counter unarmed: another PEBS user, such as perf record -e cycles:pp, or two events of "
		"pebsd; a larger `period` in [sampling] makes it rarer");
}

Test(perf_notes, a_sysctl_that_fell_says_from_where)
{
	expect_note(
		perf_note_rate(100000, 63000),
		"kernel.perf_event_max_sample_rate fell from 100000 to 63000 since the start; the kernel "
		"lowers it where sampling interrupts took too long (its log says so): an event that samples "
		"a CPU more often a second is throttled; raise `period` in [sampling], or set it back: "
		"sysctl kernel.perf_event_max_sample_rate=100000");
	cr_expect_gt(perf_note_read_rate(), 0);
}

Test(perf_notes, those_that_stay_come_last_and_are_not_without_end)
{
	struct perf_notes notes = {0};
	size_t n = 0;

	perf_notes_add(&notes, strdup("a"));
	perf_notes_add(&notes, strdup("b"));
	cr_expect_eq(perf_notes_set(&notes, PERF_NOTE_RATE, strdup("rate")), PERF_NOTE_CAME);
	cr_expect_eq(perf_notes_set(&notes, PERF_NOTE_OF(EVENTS_MAX - 1, PERF_NOTE_TURNS), strdup("turns")),
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
	perf_notes_done(&notes);
}

Test(perf_notes, what_comes_is_told_once_and_stands_until_it_goes)
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
