// SPDX-License-Identifier: GPL-2.0
/*
 * The source of a zoom's samples: events of this machine's PMU (zoom_events.h), or the model. A source delivers
 * records until it is stopped, and knows what it delivers.
 */
#ifndef PEBSD_ZOOM_SOURCE_H
#define PEBSD_ZOOM_SOURCE_H

#include "machine/memory_nodes.h"
#include "zoom/zoom_recording.h"

/* The NUMA nodes that the samples' physical addresses and CPUs belong to. */
struct zoom_nodes {
	const struct node_range *ranges;
	size_t n_ranges;
	const int *of_cpu; /* by CPU number; -1: not known */
	size_t n_cpus;
};

struct zoom_source;

struct zoom_source_methods {
	/*
	 * Calls `callback` for each record that is available. Stops when `callback` returns a value other than 0,
	 * and returns that value. Returns 0 otherwise.
	 */
	int (*drain)(struct zoom_source *source,
		     int (*callback)(void *userdata, const struct zoom_record *record), void *userdata);
	/* Stops sampling. Records that are available can still be drained. */
	void (*stop)(struct zoom_source *source);
	void (*counts)(struct zoom_source *source, struct zoom_counts *ret);
	/* Sets the id of the cgroup, the events, their attributes and the ways in which they sample. */
	void (*describe)(const struct zoom_source *source, struct zoom_about *ret);
	/* Returns whether the cgroup was removed. NULL: it never is. */
	bool (*gone)(const struct zoom_source *source);
	/* Returns the memory of the source in bytes. */
	u64 (*bytes)(const struct zoom_source *source);
	/* The nodes, which outlive the source and its zoom. NULL: those of this machine. */
	const struct zoom_nodes *(*nodes)(const struct zoom_source *source);
};

/* The first member of each source. */
struct zoom_source {
	const struct zoom_source_methods *methods;
};

static inline bool zoom_source_gone(const struct zoom_source *source)
{
	return source->methods->gone && source->methods->gone(source);
}

#endif
