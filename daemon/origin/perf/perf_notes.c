// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_notes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/text_file.h"
#include "machine/cpu_list.h"

#define RATE          "kernel.perf_event_max_sample_rate"
#define RATE_PATH     "/proc/sys/kernel/perf_event_max_sample_rate"
#define WATCHDOG_PATH "/proc/sys/kernel/nmi_watchdog"

static const char *plural_cpus(const struct cpu_list *list)
{
	return cpu_list_count(list) == 1 ? "" : "s";
}

static const char *holders(enum perf_watchdog watchdog)
{
	switch (watchdog) {
	case PERF_WATCHDOG_ON:
		return "usually the NMI watchdog, which is on (sysctl kernel.nmi_watchdog=0 frees its "
		       "counter), or another profiler, such as perf";
	case PERF_WATCHDOG_OFF:
		return "another profiler, such as perf (the NMI watchdog is off)";
	case PERF_WATCHDOG_APART:
		return "another profiler, such as perf";
	case PERF_WATCHDOG_UNKNOWN:
		break;
	}
	return "usually the NMI watchdog (sysctl kernel.nmi_watchdog=0 frees its counter) or another "
	       "profiler, such as perf";
}

char *perf_note_in_error(const char *key, const struct cpu_counts *cpus, size_t n,
			 enum perf_watchdog watchdog)
{
	_cleanup_free_ char *names = NULL;
	struct cpu_list list = {0};
	char *text;

	for (size_t i = 0; i < n; i++)
		if (cpus[i].in_error)
			cpu_list_add(&list, cpus[i].cpu);
	if (cpu_list_count(&list) == 0)
		return NULL;
	names = cpu_list_format(&list);
	if (!names ||
	    asprintf(
		    &text,
		    "the event %s does not count on CPU%s %s: its counter is held by another pinned event, %s; pebsd tries again each interval",
		    key, plural_cpus(&list), names, holders(watchdog)) < 0)
		return NULL;
	return text;
}

/* Not 1: an event is enabled for moments without being on its counter, while it is opened and started. */
#define MULTIPLEXED_SHARE 0.99

#define MULTIPLEXING_NS (60 * NSEC_PER_SEC)

/* Returns the share of the last minute or two in which the event counted, and notes the times. */
static double share_of(struct perf_multiplexing *multiplexing, u64 now_ns, u64 enabled_ns, u64 running_ns)
{
	double enabled, running;

	/* The times so far may be those of previous processes. */
	if (multiplexing->since_ns == 0) {
		multiplexing->since_ns = now_ns;
		multiplexing->newer.enabled_ns = enabled_ns;
		multiplexing->newer.running_ns = running_ns;
		multiplexing->older = multiplexing->newer;
	}
	enabled = (double)(enabled_ns - MIN(multiplexing->older.enabled_ns, enabled_ns));
	running = (double)(running_ns - MIN(multiplexing->older.running_ns, running_ns));
	if (now_ns - multiplexing->since_ns >= MULTIPLEXING_NS) {
		multiplexing->since_ns = now_ns;
		multiplexing->older = multiplexing->newer;
		multiplexing->newer.enabled_ns = enabled_ns;
		multiplexing->newer.running_ns = running_ns;
	}
	return enabled > 0 ? running / enabled : 1;
}

char *perf_note_multiplexing(const char *key, struct perf_multiplexing *multiplexing, u64 now_ns,
			     u64 enabled_ns, u64 running_ns, enum perf_watchdog watchdog)
{
	const double share = share_of(multiplexing, now_ns, enabled_ns, running_ns);
	char *text;

	if (share >= MULTIPLEXED_SHARE)
		return NULL;
	if (asprintf(
		    &text,
		    "the event %s counted %.0f%% of the time in the last minutes, and its counts cover only that part: loads and stores take turns on one counter of this CPU; if both together counted less than 100%%, another event used that counter for the rest of the time: %s",
		    key, share * 100, holders(watchdog)) < 0)
		return NULL;
	return text;
}

/* Rules need an event to count for at least this share of a window (UNKNOWN_MULTIPLEXED of policy/decide.h). */
#define WAITING_SHARE 0.25

char *perf_note_waiting(const char *key, struct perf_multiplexing *multiplexing, u64 now_ns, u64 enabled_ns,
			u64 running_ns, enum perf_watchdog watchdog)
{
	const double share = share_of(multiplexing, now_ns, enabled_ns, running_ns);
	char *text;

	if (share >= WAITING_SHARE)
		return NULL;
	if (asprintf(
		    &text,
		    "the event %s counted only %.0f%% of the time in the last minutes, because it yields its counter to others, and other events use the counters: %s; set fewer `events` in [sampling], or stop other tools that use counters",
		    key, share * 100, holders(watchdog)) < 0)
		return NULL;
	return text;
}

/* Returns the key of [sampling] that sets the period of an event. The event's key begins with its role. */
static const char *period_key(const char *key)
{
	static const struct {
		enum event_role role;
		const char *period;
	} periods[] = {{EVENT_INSTRUCTIONS, "instructions-period"},
		       {EVENT_CYCLES, "cycles-period"},
		       {EVENT_STALLS, "stalls-period"},
		       {EVENT_MISSES, "misses-period"}};

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		const char *role = event_role_name(periods[i].role);

		if (strncmp(key, role, strlen(role)) == 0)
			return periods[i].period;
	}
	return "period";
}

char *perf_note_throttled(const char *key, const struct cpu_counts *cpus, size_t n, u64 rate)
{
	_cleanup_free_ char *names = NULL;
	struct cpu_list list = {0};
	char span[TEXT_NUMBER_MAX], times[TEXT_NUMBER_MAX], value[TEXT_NUMBER_MAX + 4] = "";
	u64 ns = 0, throttles = 0;
	char *text;

	for (size_t i = 0; i < n; i++) {
		if (cpus[i].throttles == 0)
			continue;
		cpu_list_add(&list, cpus[i].cpu);
		ns += cpus[i].throttled_ns;
		throttles += cpus[i].throttles;
	}
	if (throttles == 0)
		return NULL;
	names = cpu_list_format(&list);
	text_span((double)ns / (double)NSEC_PER_SEC, span);
	text_count(throttles, times);
	if (rate)
		(void)snprintf(value, sizeof(value), " (%llu)", (unsigned long long)rate);
	if (!names ||
	    asprintf(
		    &text,
		    "the event %s was throttled on CPU%s %s, %s time%s since the start, for %s of CPU time: the kernel stops an event until the next tick once its samples in a tick reach that tick's part of " RATE
		    "%s; set a longer `%s` in [sampling], or raise that sysctl",
		    key, plural_cpus(&list), names, times, throttles == 1 ? "" : "s", span, value,
		    period_key(key)) < 0)
		return NULL;
	return text;
}

/* Events that are not pinned take turns, so their records do not collide. */
static bool collide(const struct event_spec *one, const struct event_spec *other)
{
	return one == other || (one->collides && other->collides && (one->pinned || other->pinned) &&
				strcmp(one->event.pmu, other->event.pmu) == 0);
}

/* Returns true if the interrupt of `other`, which only counts, can come before the record of `one`. */
static bool interrupts(const struct event_spec *one, const struct event_spec *other)
{
	return one->collides && event_is_count(&other->event) &&
	       strcmp(one->event.pmu, other->event.pmu) == 0;
}

/* Prints the keys of the specs that `belongs` to `one`: "loads, stores and instructions". */
static void print_keys(const struct event_spec *one, const struct event_spec *const *specs,
		       const char *const *keys, size_t n,
		       bool (*belongs)(const struct event_spec *one, const struct event_spec *other),
		       FILE *out)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		left += belongs(one, specs[i]);
	for (size_t i = 0; i < n; i++)
		if (belongs(one, specs[i])) {
			left--;
			(void)fprintf(out, "%s%s", keys[i], left > 1 ? ", " : left == 1 ? " and " : "");
		}
}

char *perf_note_colliding(const struct event_spec *const *specs, const char *const *keys, size_t n,
			  size_t event)
{
	const struct event_spec *one = specs[event];
	char *text = NULL;
	size_t size, records = 0, counts = 0;
	FILE *stream;

	for (size_t i = 0; i < n; i++) {
		records += collide(one, specs[i]);
		counts += interrupts(one, specs[i]);
	}
	stream = records + counts > 1 ? open_memstream(&text, &size) : NULL;
	if (!stream)
		return NULL;
	print_keys(one, specs, keys, n, collide, stream);
	(void)fprintf(stream, " collide with %s%s", records > 1 ? "each other" : "",
		      counts == 0   ? ""
		      : records > 1 ? " and with the interrupts of "
				    : "the interrupts of ");
	print_keys(one, specs, keys, n, interrupts, stream);
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

/* Nobody would set a period that is longer by more than this factor. */
#define LONGER_MOST 1000

/*
 * Returns the factor by which all periods must be longer so that only a tenth of the samples is lost. Returns
 * 0 if it is not known, or if fewer are lost now. An event produces samples for a time T from when it is
 * armed to the next collision. It is then silent for a time S until it is armed again. The samples seen
 * relate to the samples lost as T to S. S depends only on pebsd. Collisions come as often as the product of
 * two rates, so with periods k times as long, T is k^2 times as long.
 */
static double longer_periods(const struct perf_note_losses *losses)
{
	const double seen = losses->expected > losses->lost ? (double)(losses->expected - losses->lost) : 0;

	if (seen <= 0 || (double)losses->lost * 10 <= (double)losses->expected)
		return 0;
	return fmin(ceil(sqrt(9 * (double)losses->lost / seen)), LONGER_MOST);
}

static char *collision_advice(const struct perf_note_losses *losses)
{
	const double longer = losses->colliding ? longer_periods(losses) : 0;
	char more[120] = "", *text;

	if (longer > 0)
		(void)snprintf(more, sizeof(more),
			       ", and with periods about %.0f times as long only a tenth of the samples "
			       "would be lost",
			       longer);
	if (losses->colliding
		    ? asprintf(
			      &text,
			      "here %s, or with an event of another program, such as perf record; to lose fewer samples, set longer periods (`period`, `instructions-period` and so on in [sampling]) or fewer `events`: doubled periods have a quarter of the collisions%s",
			      losses->colliding, more) < 0
		    : asprintf(
			      &text,
			      "here the event most likely collides with an event of another program, such as perf record; set a longer period in [sampling] to lose fewer samples") <
			      0)
		return NULL;
	return text;
}

char *perf_note_rearmed(const char *key, const struct cpu_counts *cpus, size_t n,
			const struct perf_note_losses *losses)
{
	_cleanup_free_ char *names = NULL;
	_cleanup_free_ char *advice = NULL;
	struct cpu_list list = {0};
	char times[TEXT_NUMBER_MAX], lost[TEXT_NUMBER_MAX], expected[TEXT_NUMBER_MAX], share[160] = "";
	u64 rearmed = 0;
	char *text;

	for (size_t i = 0; i < n; i++)
		if (cpus[i].rearmed > 0) {
			cpu_list_add(&list, cpus[i].cpu);
			rearmed += cpus[i].rearmed;
		}
	/* If no loss was counted yet, wait for the next collection, which shows how many samples were lost. */
	if (rearmed == 0 || (losses->expected > 0 && losses->lost == 0))
		return NULL;
	names = cpu_list_format(&list);
	advice = collision_advice(losses);
	text_count(rearmed, times);
	if (losses->expected > 0) {
		text_count(losses->lost, lost);
		text_count(losses->expected, expected);
		(void)snprintf(share, sizeof(share),
			       ", and lost %s of %s samples (%.0f%%), which count "
			       "as unexplained",
			       lost, expected, 100 * (double)losses->lost / (double)losses->expected);
	}
	if (!names || !advice ||
	    asprintf(
		    &text,
		    "the event %s stopped on CPU%s %s until pebsd armed it again, %s time%s since the start%s: on CPUs before Skylake, the record of a PEBS event is dropped if another PEBS event overflows together with it, or often if the interrupt of any other event comes before the record, and the kernel leaves the counter stopped; %s",
		    key, plural_cpus(&list), names, times, rearmed == 1 ? "" : "s", share, advice) < 0)
		return NULL;
	return text;
}

char *perf_note_rate(u64 start, u64 now)
{
	char *text;

	if (now == 0 || now >= start)
		return NULL;
	if (asprintf(
		    &text,
		    RATE
		    " fell from %llu to %llu since the start: the kernel lowers it when sampling interrupts take too long (see the kernel log), and stops an event until the next tick once its samples in a tick reach that tick's part of it; set a longer `period` in [sampling], or set it back: sysctl " RATE
		    "=%llu",
		    (unsigned long long)start, (unsigned long long)now, (unsigned long long)start) < 0)
		return NULL;
	return text;
}

enum perf_watchdog perf_note_read_watchdog(void)
{
	_cleanup_free_ char *text = NULL;

	if (text_file_read(WATCHDOG_PATH, &text) < 0)
		return PERF_WATCHDOG_UNKNOWN;
	return strcmp(text, "0") == 0 ? PERF_WATCHDOG_OFF : PERF_WATCHDOG_ON;
}

u64 perf_note_read_rate(void)
{
	_cleanup_free_ char *text = NULL;
	char *end;
	u64 rate;

	if (text_file_read(RATE_PATH, &text) < 0)
		return 0;
	rate = strtoull(text, &end, 10);
	return end != text && *text != '-' ? rate : 0;
}

enum perf_note_change perf_notes_set(struct perf_notes *notes, size_t index, char *text)
{
	char *before = notes->texts[index];
	bool had = before != NULL;
	size_t n = 0;

	notes->texts[index] = text;
	for (size_t i = 0; i < PERF_NOTES_MAX; i++)
		if (notes->texts[i])
			notes->list[n++] = notes->texts[i];
	notes->list[n] = NULL;
	free(before);
	if (had == (text != NULL))
		return PERF_NOTE_STAYS;
	return text ? PERF_NOTE_CAME : PERF_NOTE_WENT;
}

void perf_notes_add(struct perf_notes *notes, char *text)
{
	for (size_t i = PERF_NOTES_STAYING; i < PERF_NOTES_MAX; i++)
		if (!notes->texts[i]) {
			(void)perf_notes_set(notes, i, text);
			return;
		}
	free(text);
}

void perf_notes_done(struct perf_notes *notes)
{
	for (size_t i = 0; i < PERF_NOTES_MAX; i++)
		free(notes->texts[i]);
	*notes = (struct perf_notes){0};
}
