// SPDX-License-Identifier: GPL-2.0
/*
 * The contents of an event set, shared by sampling (perf.c), its counts (perf_counts.c) and taking over the
 * events of the previous process (perf_restore.c).
 */
#ifndef PEBSD_PERF_INTERNAL_H
#define PEBSD_PERF_INTERNAL_H

#include "origin/perf/perf.h"
#include "origin/perf/perf_cpu.h"
#include "origin/perf/perf_facts.h"
#include "origin/perf/perf_save.h"

struct perf_event_set {
	struct event_spec spec;
	char *online_path;
	struct cpu_list members_as_of; /* the online CPUs when the spec's members were last updated */
	int program_fd;                /* owned by the caller; -1 until started */
	bool paused;
	u64 paused_seen_ns;     /* the counts include the pause up to this time */
	struct perf_save *save; /* NULL: nothing outlives the process */
	unsigned number;        /* index of this set in `save` */
	u64 configured_period;  /* the period that the configuration asks for; another may be in force */
	struct cpu_list cpus;
	size_t n;
	struct perf_cpu *events;
	/*
	 * Counts of each CPU, in ascending order. `closed` has those of closed events. `totals` adds those of
	 * the open events, as of the last perf_count().
	 */
	size_t n_cpus;
	struct cpu_counts *closed;
	struct cpu_counts *totals;
};

/* Returns the entry of a CPU in `list`, which has `n` entries in ascending order; NULL if there is none. */
struct cpu_counts *perf_counts_of_cpu(struct cpu_counts *list, size_t n, int cpu);

/*
 * Makes sure that a CPU has an entry in both arrays, so that saving its counts later cannot fail. Returns 0
 * or -ENOMEM.
 */
int perf_add_cpu(struct perf_event_set *set, int cpu);

/* Adds the elapsed time of the pause to each wanted CPU. Returns 0 or -ENOMEM. */
int perf_enter_pause(struct perf_event_set *set, const struct cpu_list *wanted);

/* Like perf_cpu_set_period(), but also saves the event's new period for the next process. */
int perf_change_period(struct perf_event_set *set, struct perf_cpu *event, u64 period);

/*
 * Returns `error`, and sets `ret_message` to the explanation that `diagnose` gives. Does not look for an
 * explanation if `ret_message` is NULL.
 */
int perf_diagnosed(int error,
		   char *(*diagnose)(int, const struct event_spec *, int, const struct perf_facts *),
		   const struct event_spec *spec, int cpu, char **ret_message);

/* Sets the counts of closed events on a CPU, which must have an entry. */
void perf_restore_closed(struct perf_event_set *set, int cpu, const struct cpu_counts *closed);

/*
 * Both functions are for a set that is saved. perf_set_put_new() stores the descriptors of a new event, and
 * perf_set_write_new() writes its counts to the handover. If storing fails, which is logged, the event samples
 * anyway, and the next process opens it again.
 */
void perf_set_put_new(struct perf_event_set *set, const struct perf_cpu *event, struct perf_saved_cpu *ret);
void perf_set_write_new(struct perf_event_set *set, const struct perf_cpu *event,
			struct perf_saved_cpu *saved);

/* Does nothing for a set that is not saved. Otherwise saves the counts of an open event so far. */
void perf_set_save_counts(struct perf_event_set *set, const struct perf_cpu *event);

/* Like perf_set_save_counts(), for the counts of closed events of a CPU on which no event is open now. */
void perf_set_save_closed(struct perf_event_set *set, int cpu);

/*
 * Does nothing for a set that is not saved. Otherwise saves the period in force for CPUs on which no event is open. In
 * a pause, nothing else passes it on to the next process.
 */
void perf_set_save_closed_period(struct perf_event_set *set);

/*
 * Saves a new event of a saved set: stores it and writes its counts, before it is enabled. If that fails,
 * which is logged, the event samples anyway.
 */
void perf_set_save_new(struct perf_event_set *set, const struct perf_cpu *event);

/*
 * Does nothing for a set that is not saved. Otherwise saves how the set was opened, and whether it is paused.
 */
void perf_set_save(struct perf_event_set *set);

#endif
