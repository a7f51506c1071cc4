// SPDX-License-Identifier: GPL-2.0
/*
 * Saves the events of the perf origin for the next process. Their descriptors go to the service manager's
 * store, and the counts of each event to the handover, so that the next process continues both. A saved event
 * keeps sampling while no process runs.
 *
 * The counts are written before a new event is enabled, and after an old one was disabled. If the process is
 * killed in between, the next one finds an event that stands still, reads its last count, and opens another.
 */
#ifndef PEBSD_PERF_SAVE_H
#define PEBSD_PERF_SAVE_H

#include "kernel/inherited.h"
#include "origin/perf/perf_cpu.h"
#include "store/handover.h"

struct perf_save;

/* The members of struct perf_cpu with which the next process continues. */
struct perf_saved_counts {
	u64 period;
	u64 counted_before;
	u64 expected_before;
	struct perf_reading last;
	struct perf_outage outage;
	struct perf_throttle throttle;
	struct perf_throttle leader_throttle;
	u64 rearmed;
};

/* A saved event on one CPU. */
struct perf_saved_cpu {
	u32 number; /* part of the names of the descriptors, if these could be stored; 0: no event is open */
	u32 epoch;  /* identifies the program that the event runs: kernel_epoch() */
	u32 changing; /* the period was being changed, so it is not known which one is in force */
	u32 has_leader;
	u64 id; /* PERF_EVENT_IOC_ID; unique since boot */
	u64 leader_id;
	struct perf_saved_counts counts;
	struct cpu_counts closed; /* counts of earlier openings */
	u32 known;                /* the event was open on this CPU at some time */
};

/* A saved event as a whole. */
struct perf_saved_set {
	struct event_spec spec; /* with the requested period, not the one in force */
	u32 known;
	u32 paused;
	u64 paused_seen_ns; /* as in struct perf_event_set */
};

struct perf_save_settings {
	struct handover *handover; /* must outlive the perf_save */
	enum inherited inherited;  /* whether the kernel side continues: kernel_inherited() */
	u32 epoch;                 /* of the programs of this process: kernel_epoch() */
	size_t n_sets;
	bool stay_paused; /* events stay paused */
};

/*
 * Returns a number made of the sizes of the saved data of one set and of one CPU. Saved data with another
 * number must not be read.
 */
u64 perf_save_layout(void);

/* Returns false if the previous process saved data whose size is not what `n_sets` events need. */
bool perf_save_fits(const struct handover *handover, size_t n_sets);

/* Returns 0 or -errno. The caller frees `ret`. */
int perf_save_new(const struct perf_save_settings *settings, struct perf_save **ret);
struct perf_save *perf_save_free(struct perf_save *save);
DEFINE_CLEANUP(struct perf_save *, perf_save_free)

const struct perf_save_settings *perf_save_settings(const struct perf_save *save);

/*
 * Read the saved data of a set, and of the event on one CPU, from the handover. Return false if there are
 * none.
 */
bool perf_save_read_set(const struct perf_save *save, unsigned set, struct perf_saved_set *ret);
bool perf_save_read_cpu(const struct perf_save *save, unsigned set, int cpu, struct perf_saved_cpu *ret);

void perf_save_write_set(struct perf_save *save, unsigned set, const struct perf_saved_set *saved);
void perf_save_write_cpu(struct perf_save *save, unsigned set, int cpu, const struct perf_saved_cpu *saved);

/* Returns the highest CPU number in the handover plus 1. */
int perf_save_cpus(const struct perf_save *save);

/* Returns true if two specs sample the same in the same way, apart from the period. Pure. */
bool perf_save_same(const struct event_spec *a, const struct event_spec *b);

/*
 * Takes the descriptors and counts of a saved event. Maps nothing. The caller closes `ret` with
 * perf_cpu_close(). -ENOENT means that a descriptor is missing, -EBADF that it belongs to another event than
 * the handover says.
 */
int perf_save_take(struct perf_save *save, unsigned set, int cpu, const struct perf_saved_cpu *saved,
		   struct perf_cpu *ret);

/*
 * Returns true if the event's enabled time grows, or if it is in error and can be enabled again. The time of
 * an event stands still if it was disabled or if the kernel detached it from its CPU. Calls read(2) at most twice.
 */
bool perf_save_runs(const struct perf_cpu *event);

/*
 * Stores the descriptors of an event under a new number. Fills in `ret` except for its `closed`, also if
 * storing fails: the next process then finds no descriptor, and inherits only the saved counts. Returns 0 or
 * -errno.
 */
int perf_save_put(struct perf_save *save, unsigned set, const struct perf_cpu *event,
		  struct perf_saved_cpu *ret);

/* Removes the descriptors of `saved` from the store. */
void perf_save_drop(struct perf_save *save, unsigned set, int cpu, const struct perf_saved_cpu *saved);

/*
 * perf_save_counts() returns the counts of an event as they are saved. perf_save_restore() returns an event with
 * saved counts, without descriptors and mappings. Pure.
 */
void perf_save_counts(const struct perf_cpu *event, struct perf_saved_counts *ret);
struct perf_cpu perf_save_restore(int cpu, const struct perf_saved_counts *counts);

#endif
