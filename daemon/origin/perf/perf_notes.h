// SPDX-License-Identifier: GPL-2.0
/* What a reader of the figures must know of events that run: which do not count, and which are throttled.
 * Pure. */
#ifndef PEBSD_PERF_NOTES_H
#define PEBSD_PERF_NOTES_H

#include <stddef.h>

#include "origin/cpu_counts.h"
#include "origin/pmu/pmu.h"
#include "pebsd/sample.h"

/* Whether kernel.nmi_watchdog is on, and may have a counter of each CPU. */
enum perf_watchdog { PERF_WATCHDOG_UNKNOWN, PERF_WATCHDOG_OFF, PERF_WATCHDOG_ON };

enum perf_watchdog perf_note_read_watchdog(void);

/* What an event lost since the start, as of the last collection. */
struct perf_note_losses {
	u64 expected;          /* samples; 0: not known */
	u64 lost;              /* of these, as unexplained */
	const char *colliding; /* perf_note_colliding() */
};

/*
 * Each is a sentence that says what happens, why, and what to do; the caller frees. NULL where there is
 * nothing to say, or no memory. `key`: the event's, as users see it; `cpus`: its `n` CPUs; `rate`:
 * kernel.perf_event_max_sample_rate, 0 where it is not known.
 */
char *perf_note_in_error(const char *key, const struct cpu_counts *cpus, size_t n,
			 enum perf_watchdog watchdog);
char *perf_note_throttled(const char *key, const struct cpu_counts *cpus, size_t n, u64 rate);
char *perf_note_rearmed(const char *key, const struct cpu_counts *cpus, size_t n,
			const struct perf_note_losses *losses);

/*
 * "loads, stores and instructions": the keys of those of `openings` whose records collide with those of
 * `event`, itself among them; NULL: none do, or no memory. The caller's to free.
 */
char *perf_note_colliding(const struct pmu_opening *const *openings, const char *const *keys, size_t n,
			  size_t event);

/* Of an event that takes turns, all its CPUs together: that it did not count all the time. */
char *perf_note_turns(const char *key, u64 enabled_ns, u64 running_ns, enum perf_watchdog watchdog);

/* That the sysctl fell since the start, when it was `start`; 0: not known. */
char *perf_note_rate(u64 start, u64 now);

/* The sysctl's value now; 0 where it cannot be read. */
u64 perf_note_read_rate(void);

/* Which notes there can be: some of each event, one of all, and some that are made at the start and stay. */
enum perf_note {
	PERF_NOTE_IN_ERROR,
	PERF_NOTE_THROTTLED,
	PERF_NOTE_REARMED,
	PERF_NOTE_TURNS,
	PERF_NOTE_HELD,      /* the governor's: see governor_note() */
	PERF_NOTE_INTERRUPT, /* sampling_govern's: what one takes is not known */
	PERF_NOTES_AN_EVENT
};

#define PERF_NOTE_OF(event, note) ((size_t)(event)*PERF_NOTES_AN_EVENT + (note))
#define PERF_NOTE_RATE            ((size_t)EVENTS_MAX * PERF_NOTES_AN_EVENT)
#define PERF_NOTES_STAYING        (PERF_NOTE_RATE + 1) /* the first of them */
#define PERF_NOTES_STAYING_MAX    16
#define PERF_NOTES_MAX            (PERF_NOTES_STAYING + PERF_NOTES_STAYING_MAX)

/* The notes that stand. {0} holds none. */

struct perf_notes {
	char *texts[PERF_NOTES_MAX];
	const char *list[PERF_NOTES_MAX + 1]; /* those that are not NULL, then NULL */
};

enum perf_note_change { PERF_NOTE_STAYS, PERF_NOTE_CAME, PERF_NOTE_WENT };

/* Takes `text` (NULL: none) in the place of what stood at `index`. `list` changes with it. */
enum perf_note_change perf_notes_set(struct perf_notes *notes, size_t index, char *text);

/* One that stays. Takes `text`, which is dropped where there are too many. */
void perf_notes_add(struct perf_notes *notes, char *text);

void perf_notes_done(struct perf_notes *notes);

#endif
