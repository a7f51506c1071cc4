// SPDX-License-Identifier: GPL-2.0
/*
 * The events of one zoom. They are opened for one cgroup and its descendants (PERF_FLAG_PID_CGROUP) on each
 * CPU. Samples have stacks, data address, source and latency. The events also log mappings, names, forks and
 * exits of the cgroup's tasks. Each CPU has one ring, which wakes no reader. A BPF program limits the samples
 * per second and counts the samples that exceed the limit.
 */
#ifndef PEBSD_ZOOM_EVENTS_H
#define PEBSD_ZOOM_EVENTS_H

#include <linux/perf_event.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu.h"
#include "zoom/zoom_sample.h"

#define ZOOM_EVENTS_MAX 8

/*
 * Maximum size of all rings of a zoom together. Each CPU still gets ZOOM_RING_BYTES_MIN, even if that is more
 * in total on a machine with many CPUs.
 */
#define ZOOM_RINGS_BYTES    (16U << 20)
#define ZOOM_RING_BYTES_MIN (64U << 10)

struct zoom_events_settings {
	int cgroup_fd; /* the directory, duplicated: the caller may close it after opening */
	/*
	 * The events to open, as the always-on sampling opened them: after perf_attr_relax(), with the same
	 * `period` and ldlat. Each is opened on its own CPUs.
	 */
	const struct pmu_opening *openings;
	size_t n_openings; /* at most ZOOM_EVENTS_MAX */
	u32 rate;          /* maximum samples a second on all CPUs together */
	bool lbr;          /* try the LBR's call stack */
	bool physical;     /* try physical addresses */
};

struct zoom_counts {
	u64 seen;                   /* samples of the events, within the limit or over it */
	u64 limited;                /* samples of `seen` left out because they were over the limit */
	u64 lost;                   /* records, samples and others, for which a ring had no room */
	u64 malformed;              /* records that could not be parsed */
	u64 throttles;              /* number of times that the kernel throttled an event */
	u64 count;                  /* the events' own count, summed over events and CPUs */
	u64 enabled_ns, running_ns; /* while tasks of the cgroup ran, summed over events and CPUs */
};

struct zoom_events;
struct zoom_source;

/*
 * Opens and starts the events. Returns 0 or -errno. On an error, `*ret_message`, which the caller frees, says
 * what failed. It is NULL if only the error is known. -EOPNOTSUPP means that the kernel or the CPU does not
 * have the event, or has no perf_event for cgroups of this hierarchy, as with cgroup v1. -EMFILE means too
 * few file descriptors.
 */
int zoom_events_open(const struct zoom_events_settings *settings, struct zoom_events **ret,
		     char **ret_message);
struct zoom_events *zoom_events_free(struct zoom_events *events);
DEFINE_CLEANUP(struct zoom_events *, zoom_events_free)

/* Returns the events as a source (zoom_source.h), and the events of such a source. The same memory. */
struct zoom_source *zoom_events_source(struct zoom_events *events);
struct zoom_events *zoom_events_of(struct zoom_source *source);

/*
 * Calls `callback` for each record that is available, oldest first within a CPU. Makes no system call. Stops
 * when `callback` returns a value other than 0, and returns that value. Returns 0 otherwise.
 */
int zoom_events_drain(struct zoom_events *events,
		      int (*callback)(void *userdata, const struct zoom_record *record), void *userdata);

/* Stops sampling. Records that are still in the rings can be drained. */
void zoom_events_stop(struct zoom_events *events);

void zoom_events_counts(struct zoom_events *events, struct zoom_counts *ret);

/* The events' attributes and descriptions, as opened. `events` owns them. */
size_t zoom_events_n(const struct zoom_events *events);
const struct perf_event_attr *zoom_events_attr(const struct zoom_events *events, size_t index);
const struct event *zoom_events_event(const struct zoom_events *events, size_t index);
bool zoom_events_has_lbr(const struct zoom_events *events);
bool zoom_events_has_physical(const struct zoom_events *events);

/* Returns the cgroup's id, as samples carry it. */
u64 zoom_events_cgroup_id(const struct zoom_events *events);

/*
 * Returns whether the cgroup was removed. No more samples come then, and a cgroup that has its path now is a
 * different one.
 */
bool zoom_events_gone(const struct zoom_events *events);

/* Memory of the zoom's events in bytes: rings, maps, and the struct itself. */
u64 zoom_events_bytes(const struct zoom_events *events);

#endif
