// SPDX-License-Identifier: GPL-2.0
/*
 * Reading hot tables (pebsd/hot.h): the sums of a chosen cgroup's code addresses and data cache lines over
 * all CPUs, for one event. Pure over memory.
 */
#ifndef PEBSD_HOT_PLACES_H
#define PEBSD_HOT_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/hot.h"

/*
 * One code address, or one data cache line (its first address). Its true weight lies between `weight` -
 * `weight_error` and `weight`, its true number of samples between `samples` - `samples_error` and `samples`.
 * The weight is latency in cycles if the event has latency, else samples.
 */
struct hot_place {
	u64 address;
	u64 weight, weight_error;
	u64 samples, samples_error;
	u64 hitm;      /* lines only: HITM samples while the line was in the table; a lower bound */
	u32 hitm_cpus; /* CPUs with samples that `hitm` counts */
	u32 cpus;      /* CPUs whose tables contain the item */
	u32 pid;       /* a process that accessed it (tgid); 0: not known, as in the model or a recording */
};

struct hot_places {
	enum hot_kind kind;
	bool latency;        /* weights are cycles */
	bool cpus_known;     /* else `cpus` and `hitm_cpus` are 0: the CPU of a sample is unknown */
	u64 weight, samples; /* of all samples that the tables counted */
	u64 absent_weight;   /* an upper bound for each item that is not listed */
	u64 absent_samples;
	size_t n;
	struct hot_place *places; /* sorted by weight, then samples, both descending, then address */
};

void hot_places_done(struct hot_places *places);

/*
 * Sums `n` tables of one cgroup path and event, all with the same seed. Writers may add to them during the
 * call. `cpus`: number of CPUs, or 0 if the CPU of a sample is unknown, as for injected samples. If several
 * cgroups have the path, each CPU has a table for each of these cgroups, and `tables` lists the tables of one
 * CPU together. Returns 0 or -ENOMEM. The caller frees the result with hot_places_done().
 */
int hot_places_read(const struct hot_table *const *tables, size_t n, u32 cpus, enum hot_kind kind,
		    bool latency, struct hot_places *ret);

/* The reason why a cgroup has tables, and the time that the tables cover. */
struct hot_choice {
	bool configured; /* chosen by `hot` in [cgroups] */
	u64 since_ns;    /* CLOCK_MONOTONIC: start of the time that the tables cover */
	u64 until_ns;    /* end of a request; 0 if configured */
};

#endif
