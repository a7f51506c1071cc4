// SPDX-License-Identifier: GPL-2.0
/* What an event's set holds, for sampling (perf.c), for its counts (perf_counts.c) and for taking over the events
 * of the process before (perf_kept.c). */
#ifndef PEBSD_PERF_PARTS_H
#define PEBSD_PERF_PARTS_H

#include "origin/perf/perf.h"
#include "origin/perf/perf_cpu.h"
#include "origin/perf/perf_facts.h"
#include "origin/perf/perf_keep.h"

struct perf_event_set {
	struct pmu_opening opening;
	char *online_path;
	int program_fd; /* the caller's; -1 until started */
	bool paused;
	u64 paused_seen_ns;     /* until when the pause is in the books */
	struct perf_keep *keep; /* NULL: nothing outlives the process */
	unsigned number;        /* of the set, there */
	u64 asked_period;       /* what the kept ones were asked for; the one in force may be another */
	struct cpu_list cpus;
	size_t n;
	struct perf_cpu *events;
	/* By CPU, ascending: of events that were closed, and with the open ones as of the last perf_count().
	 */
	size_t n_books;
	struct cpu_counts *closed;
	struct cpu_counts *books;
};

/* The entry of a CPU in one of the books; NULL: it has none. */
struct cpu_counts *perf_book_of(struct cpu_counts *books, size_t n, int cpu);

/* Makes sure that a CPU has an entry: from then on keeping its figures cannot fail. 0 or -ENOMEM. */
int perf_add_book(struct perf_event_set *set, int cpu);

/* Enters what of the pause has gone by, for each CPU that would be sampled. 0 or -ENOMEM. */
int perf_enter_pause(struct perf_event_set *set, const struct cpu_list *wanted);

/* As perf_cpu_set_period(); the next process has to know which period it has. */
int perf_change_period(struct perf_event_set *set, struct perf_cpu *event, u64 period);

/* Returns `error`, with what `diagnose` says of it in `ret_message`. */
int perf_diagnosed(int error,
		   char *(*diagnose)(int, const struct pmu_opening *, int, const struct perf_facts *),
		   const struct pmu_opening *opening, int cpu, char **ret_message);

/* The counts of closed events on a CPU that has an entry. */
void perf_set_book(struct perf_event_set *set, int cpu, const struct cpu_counts *closed);

/*
 * Of a set that is kept: stores an event, which is not in the books yet, and enters it there. Where storing fails,
 * which is logged, the event samples all the same, and the next process opens it again.
 */
void perf_set_put_new(struct perf_event_set *set, const struct perf_cpu *event, struct perf_kept_cpu *ret);
void perf_set_write_new(struct perf_event_set *set, const struct perf_cpu *event, struct perf_kept_cpu *kept);

/* For a set that is not kept these do nothing. What an open event has counted by now is in the books. */
void perf_set_keep_counts(struct perf_event_set *set, const struct perf_cpu *event);

/* What was counted by openings that have ended; none is open on the CPU now. */
void perf_set_keep_closed(struct perf_event_set *set, int cpu);

/* An event is stored, and in the books, before it is enabled. Where that fails, which is told, it samples all
 * the same. */
void perf_set_keep_new(struct perf_event_set *set, const struct perf_cpu *event);

/* How it was opened, and whether it is paused. */
void perf_set_keep(struct perf_event_set *set);

#endif
