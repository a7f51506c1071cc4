// SPDX-License-Identifier: GPL-2.0
/*
 * What outlives the process of the perf origin's events: their descriptors, in the service manager's store,
 * and in the books what each has counted, so that the next process goes on with both. An event that is stored
 * samples on while there is no process.
 *
 * The books are written before an event that is new to them is enabled, and after one that goes was disabled:
 * when the process is ended in between, the next one finds an event that stands still, reads the last of it,
 * and opens another.
 */
#ifndef PEBSD_PERF_KEEP_H
#define PEBSD_PERF_KEEP_H

#include "kernel/kept.h"
#include "origin/perf/perf_cpu.h"
#include "store/handover.h"

struct perf_keep;

/* As of a perf_cpu, all but its descriptors and mappings. */
struct perf_kept_counts {
	u64 period;
	u64 counted_before;
	u64 due_before;
	struct perf_reading last;
	struct perf_outage outage;
	struct perf_throttle throttle;
	struct perf_throttle leader_throttle;
	u64 rearmed;
};

/* An event on a CPU. */
struct perf_kept_cpu {
	u32 number;   /* of the descriptors' names; 0: none is open */
	u32 epoch;    /* of the program that it runs */
	u32 changing; /* its period was being changed: which one it has is not known */
	u32 has_leader;
	u64 id; /* PERF_EVENT_IOC_ID; no two events since boot have the same */
	u64 leader_id;
	struct perf_kept_counts counts;
	struct cpu_counts closed; /* of earlier openings */
	u32 known;                /* it was open there at some time */
};

/* An event as a whole. */
struct perf_kept_set {
	struct pmu_opening opening; /* its period is what was asked for, not what is in force */
	u32 known;
	u32 paused;
	u64 paused_seen_ns; /* as of perf_event_set */
};

struct perf_keep_settings {
	struct handover *handover; /* outlive what is kept */
	enum kept kept;            /* of the kernel side: kernel_kept() */
	u32 epoch;                 /* and this: kernel_epoch() */
	size_t n_sets;
	bool stay_paused; /* what was paused is not to run */
};

/* Bytes of what is left of one CPU and of a set: with others what was left is not to be read. */
u64 perf_keep_layout(void);

/* Whether so many events can be gone on with: what the process before left of its own has their size. */
bool perf_keep_fits(const struct handover *handover, size_t n_sets);

/* 0 or -errno. */
int perf_keep_new(const struct perf_keep_settings *settings, struct perf_keep **ret);
struct perf_keep *perf_keep_free(struct perf_keep *keep);
DEFINE_CLEANUP(struct perf_keep *, perf_keep_free)

const struct perf_keep_settings *perf_keep_settings(const struct perf_keep *keep);

/* As they are in the handover. False: nothing is known of it. */
bool perf_keep_set(const struct perf_keep *keep, unsigned set, struct perf_kept_set *ret);
bool perf_keep_cpu(const struct perf_keep *keep, unsigned set, int cpu, struct perf_kept_cpu *ret);

void perf_keep_write_set(struct perf_keep *keep, unsigned set, const struct perf_kept_set *kept);
void perf_keep_write_cpu(struct perf_keep *keep, unsigned set, int cpu, const struct perf_kept_cpu *kept);

/* CPU numbers lie below this in the handover. */
int perf_keep_cpus(const struct perf_keep *keep);

/* Whether two openings sample the same in the same way, whatever their periods are. Pure. */
bool perf_keep_same(const struct pmu_opening *a, const struct pmu_opening *b);

/*
 * Takes a kept event's descriptors, which the caller closes with perf_cpu_close(), and what it had counted.
 * Nothing is mapped. -ENOENT: they are not there; -EBADF: they are others than the books say.
 */
int perf_keep_take(struct perf_keep *keep, unsigned set, int cpu, const struct perf_kept_cpu *kept,
		   struct perf_cpu *ret);

/* Whether its time goes on (or it is in error, from which it can be brought back): an event that was
 * disabled, or that the kernel took off its CPU, stands still. Two read(2). */
bool perf_keep_runs(const struct perf_cpu *event);

/* Stores an event's descriptors under a new number, and fills in what the books have to say of it but for
 * `closed`. 0 or -errno. */
int perf_keep_put(struct perf_keep *keep, unsigned set, const struct perf_cpu *event,
		  struct perf_kept_cpu *ret);

/* Has the descriptors of a number removed from the store. */
void perf_keep_drop(struct perf_keep *keep, unsigned set, int cpu, const struct perf_kept_cpu *kept);

void perf_keep_counts(const struct perf_cpu *event, struct perf_kept_counts *ret);

#endif
