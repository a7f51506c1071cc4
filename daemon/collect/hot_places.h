// SPDX-License-Identifier: GPL-2.0
/*
 * Reading hot tables (pebsd/hot.h): what a chosen cgroup's code addresses and data cache lines came to on all
 * CPUs together, for one event. Pure over memory.
 */
#ifndef PEBSD_HOT_PLACES_H
#define PEBSD_HOT_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/hot.h"

/*
 * One code address, or one data cache line (its first address). What really came of its weight lies between
 * `weight` - `weight_error` and `weight`, of its samples between `samples` - `samples_error` and `samples`.
 * The weight is latency in cycles where the event has one, else samples.
 */
struct hot_place {
	u64 address;
	u64 weight, weight_error;
	u64 samples, samples_error;
	u64 hitm;      /* of a line: samples that met a modified copy while it was in the table: at least */
	u32 hitm_cpus; /* CPUs that did */
	u32 cpus;      /* in whose tables it is */
	u32 pid;       /* a process that had it (tgid); 0: not known, as for the model's and a recording's */
};

struct hot_places {
	enum hot_kind kind;
	bool latency;        /* weights are cycles */
	bool cpus_known;     /* else `cpus` and `hitm_cpus` are 0: nobody told which CPU a sample is of */
	u64 weight, samples; /* all that came to the tables */
	u64 absent_weight;   /* what is not listed has no more than that, each */
	u64 absent_samples;
	size_t n;
	struct hot_place *places; /* most weight first, then samples, then by address */
};

void hot_places_done(struct hot_places *places);

/*
 * What `n` tables with one seed hold together, which may be written to meanwhile; of one cgroup and event, on
 * `cpus` CPUs (0: it is not known on which, as of samples that were handed over). Where several cgroups had
 * one path each CPU has as many, and they stand together. 0 or -ENOMEM.
 */
int hot_places_read(const struct hot_table *const *tables, size_t n, u32 cpus, enum hot_kind kind,
		    bool latency, struct hot_places *ret);

/* How a cgroup came to have tables. */
struct hot_choice {
	bool configured; /* [cgroups] hot: until a reload */
	u64 since_ns;    /* CLOCK_MONOTONIC: what the tables hold is from then on */
	u64 until_ns;    /* somebody asked; 0 where it is configured */
};

#endif
