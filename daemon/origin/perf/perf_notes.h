// SPDX-License-Identifier: GPL-2.0
/*
 * Notes about running events that a reader of their counts must know, such as events that do not count or are
 * throttled. Pure functions, except those that read from the system.
 */
#ifndef PEBSD_PERF_NOTES_H
#define PEBSD_PERF_NOTES_H

#include <stddef.h>

#include "origin/event_counts.h"
#include "origin/pmu/pmu.h"
#include "pebsd/sample.h"

/*
 * The state of kernel.nmi_watchdog. If it is on, it may hold a counter on each CPU. PERF_WATCHDOG_APART: it
 * never holds a counter of the event's PMU, for example of ibs_op.
 */
enum perf_watchdog { PERF_WATCHDOG_UNKNOWN, PERF_WATCHDOG_OFF, PERF_WATCHDOG_ON, PERF_WATCHDOG_APART };

enum perf_watchdog perf_note_read_watchdog(void);

/* The samples that an event lost since the start, as of the last collection. */
struct perf_note_losses {
	u64 expected;          /* samples; 0: not known */
	u64 lost;              /* samples lost for no known reason: `unexplained` of readings.h */
	const char *colliding; /* the text of perf_note_colliding() */
};

/*
 * Each of these functions returns a sentence that says what happens, why, and what to do. The caller frees
 * it. NULL means that there is nothing to say, or no memory. `key` is the event's name for users, `cpus` has
 * its `n` CPUs, and `rate` is kernel.perf_event_max_sample_rate, 0 if it is not known.
 */
char *perf_note_in_error(const char *key, const struct cpu_counts *cpus, size_t n,
			 enum perf_watchdog watchdog);
char *perf_note_throttled(const char *key, const struct cpu_counts *cpus, size_t n, u64 rate);
char *perf_note_rearmed(const char *key, const struct cpu_counts *cpus, size_t n,
			const struct perf_note_losses *losses);

/*
 * Returns words for the specs that make the kernel drop records of the spec with the index `event`: "loads and
 * stores collide with each other and with the interrupts of cycles". NULL: there are none, or no memory. The caller
 * frees it.
 */
char *perf_note_colliding(const struct event_spec *const *specs, const char *const *keys, size_t n,
			  size_t event);

/* The counts of an event at two earlier collections, a minute apart; zeroed at the start. */
struct perf_multiplexing {
	u64 since_ns; /* time of `newer` */
	struct {
		u64 enabled_ns, running_ns;
	} older, newer;
};

/*
 * The note for an event that is multiplexed: the share of the last minute or two in which it counted, over all
 * its CPUs. The first call returns NULL, because the times until then may be those of previous processes.
 * `enabled_ns` and `running_ns` are since the event was first opened; `now_ns` is the time of the collection,
 * CLOCK_MONOTONIC.
 */
char *perf_note_multiplexing(const char *key, struct perf_multiplexing *multiplexing, u64 now_ns,
			     u64 enabled_ns, u64 running_ns, enum perf_watchdog watchdog);

/*
 * The note for an event that only counts, and that counted less than a quarter of the last minute or two, so that
 * rules about it are unknown. The parameters are those of perf_note_multiplexing().
 */
char *perf_note_waiting(const char *key, struct perf_multiplexing *multiplexing, u64 now_ns, u64 enabled_ns,
			u64 running_ns, enum perf_watchdog watchdog);

/*
 * Returns the note that kernel.perf_event_max_sample_rate fell from `start`, its value at the start, to
 * `now`. 0 stands for an unknown value.
 */
char *perf_note_rate(u64 start, u64 now);

/* Returns the present value of kernel.perf_event_max_sample_rate; 0 if it cannot be read. */
u64 perf_note_read_rate(void);

/*
 * The kinds of notes that exist for each event. PERF_NOTE_RATE is one note for all events. The notes from
 * PERF_NOTES_STAYING on are made at the start and stay.
 */
enum perf_note {
	PERF_NOTE_IN_ERROR,
	PERF_NOTE_THROTTLED,
	PERF_NOTE_REARMED,
	PERF_NOTE_MULTIPLEXING,
	PERF_NOTE_HELD,      /* written by the governor: see governor_note() */
	PERF_NOTE_INTERRUPT, /* written by sampling_govern: the cost of an interrupt is not known */
	PERF_NOTES_AN_EVENT
};

#define PERF_NOTE_OF(event, note) ((size_t)(event)*PERF_NOTES_AN_EVENT + (note))
#define PERF_NOTE_RATE            ((size_t)EVENTS_MAX * PERF_NOTES_AN_EVENT)
#define PERF_NOTES_STAYING        (PERF_NOTE_RATE + 1) /* index of the first note that stays */
#define PERF_NOTES_STAYING_MAX    16
#define PERF_NOTES_MAX            (PERF_NOTES_STAYING + PERF_NOTES_STAYING_MAX)

/* The current notes. {0} has none. */
struct perf_notes {
	char *texts[PERF_NOTES_MAX];
	const char *list[PERF_NOTES_MAX + 1]; /* the texts that are not NULL, then NULL */
};

enum perf_note_change { PERF_NOTE_STAYS, PERF_NOTE_CAME, PERF_NOTE_WENT };

/* Takes ownership of `text` (NULL: no note), which replaces the note at `index`. Updates `list`. */
enum perf_note_change perf_notes_set(struct perf_notes *notes, size_t index, char *text);

/* Adds a note that stays. Takes ownership of `text`, and frees it if there are too many notes. */
void perf_notes_add(struct perf_notes *notes, char *text);

void perf_notes_done(struct perf_notes *notes);

#endif
