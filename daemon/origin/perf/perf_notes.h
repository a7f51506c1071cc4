// SPDX-License-Identifier: GPL-2.0
/* What a reader of the figures must know of events that run: which do not count, and which are throttled.
 * Pure. */
#ifndef PEBSD_PERF_NOTES_H
#define PEBSD_PERF_NOTES_H

#include <stddef.h>

#include "origin/cpu_counts.h"
#include "pebsd/sample.h"

/*
 * Each is a sentence that says what happens, why, and what to do; the caller frees. NULL where there is
 * nothing to say, or no memory. `key`: the event's, as users see it; `cpus`: its `n` CPUs; `rate`:
 * kernel.perf_event_max_sample_rate, 0 where it is not known.
 */
char *perf_note_in_error(const char *key, const struct cpu_counts *cpus, size_t n);
char *perf_note_throttled(const char *key, const struct cpu_counts *cpus, size_t n, u64 rate);

/* That the sysctl fell since the start, when it was `start`; 0: not known. */
char *perf_note_rate(u64 start, u64 now);

/* The sysctl's value now; 0 where it cannot be read. */
u64 perf_note_read_rate(void);

/* The notes that stand: at most two an event, and one of them all. {0} holds none. */
#define PERF_NOTES_MAX (2 * EVENTS_MAX + 1)

struct perf_notes {
	char *texts[PERF_NOTES_MAX];
	const char *list[PERF_NOTES_MAX + 1]; /* those that are not NULL, then NULL */
};

enum perf_note_change { PERF_NOTE_STAYS, PERF_NOTE_CAME, PERF_NOTE_WENT };

/* Takes `text` (NULL: none) in the place of what stood at `index`. `list` changes with it. */
enum perf_note_change perf_notes_set(struct perf_notes *notes, size_t index, char *text);
void perf_notes_done(struct perf_notes *notes);

#endif
