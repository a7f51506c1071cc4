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
	const struct event_spec *specs;
	size_t n_specs; /* at most ZOOM_EVENTS_MAX */
	u32 rate;       /* maximum samples a second on all CPUs together */
	bool lbr;       /* try the LBR's call stack */
	bool physical;  /* try physical addresses */
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

struct zoom_source;

/*
 * Opens and starts the events. They are a source of samples: see zoom_source.h for its methods. `drain` calls back the
 * oldest record of a CPU first, and makes no system call. Returns 0 or -errno. On an error, `*ret_message`, which the
 * caller frees, says what failed. It is NULL if only the error is known. -EOPNOTSUPP means that the kernel or the CPU
 * does not have the event, or has no perf_event for cgroups of this hierarchy, as with cgroup v1. -EMFILE means too
 * few file descriptors.
 */
int zoom_events_open(const struct zoom_events_settings *settings, struct zoom_source **ret,
		     char **ret_message);
struct zoom_source *zoom_events_free(struct zoom_source *source);
DEFINE_CLEANUP(struct zoom_source *, zoom_events_free)

#endif
