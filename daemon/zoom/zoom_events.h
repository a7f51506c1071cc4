// SPDX-License-Identifier: GPL-2.0
/*
 * The events of one zoom: opened for one cgroup and what is below it (PERF_FLAG_PID_CGROUP) on each CPU, with
 * stacks, data address, source and latency, and with mappings, names, forks and exits of its tasks, into a
 * ring of each CPU that wakes nobody. A BPF program lets no more than so many samples a second through, and
 * counts those that it does not.
 */
#ifndef PEBSD_ZOOM_EVENTS_H
#define PEBSD_ZOOM_EVENTS_H

#include <linux/perf_event.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu.h"
#include "zoom/zoom_sample.h"

#define ZOOM_EVENTS_MAX 8

/* Bytes of all rings of a zoom together, at most; but a CPU has so many at least, be there ever so many. */
#define ZOOM_RINGS_BYTES    (16U << 20)
#define ZOOM_RING_BYTES_MIN (64U << 10)

struct zoom_events_settings {
	int cgroup_fd;                      /* the directory; the caller's, may be closed after opening */
	const struct pmu_opening *openings; /* as opened for the always-on sampling: relaxed; `period` and
					     * ldlat are those; each on its own CPUs */
	size_t n_openings;                  /* at most ZOOM_EVENTS_MAX */
	u32 rate;                           /* samples a second on all CPUs together, at most */
	bool lbr;                           /* try the LBR's call stack */
	bool physical;                      /* try physical addresses */
};

struct zoom_counts {
	u64 seen;                   /* samples that the program saw */
	u64 limited;                /* of these, over the limit: left out */
	u64 lost;                   /* let through, and found no room in a ring (also other records) */
	u64 malformed;              /* records that could not be read */
	u64 throttles;              /* how often the kernel stopped an event for coming too often */
	u64 count;                  /* the events' own count, on all CPUs */
	u64 enabled_ns, running_ns; /* summed over the CPUs, of time in which a task of the cgroup ran */
};

struct zoom_events;

/*
 * Opens and starts. Returns 0, or -errno with `ret_message`, the caller's, set (NULL: no memory):
 * -EOPNOTSUPP where the kernel has cgroups of this hierarchy not in perf_event (cgroup v1), -EMFILE, ...
 */
int zoom_events_open(const struct zoom_events_settings *settings, struct zoom_events **ret,
		     char **ret_message);
struct zoom_events *zoom_events_free(struct zoom_events *events);
DEFINE_CLEANUP(struct zoom_events *, zoom_events_free)

/* Calls back for each record that is there, oldest first within a CPU. No system call. Stops at the
 * first that `callback` does not return 0 for, and returns that; 0. */
int zoom_events_drain(struct zoom_events *events,
		      int (*callback)(void *userdata, const struct zoom_record *record), void *userdata);

/* No more samples come; what is in the rings can be drained. */
void zoom_events_stop(struct zoom_events *events);

void zoom_events_counts(struct zoom_events *events, struct zoom_counts *ret);

/* As opened: what was asked of each event's samples. The events'. */
size_t zoom_events_n(const struct zoom_events *events);
const struct perf_event_attr *zoom_events_attr(const struct zoom_events *events, size_t index);
const struct event *zoom_events_event(const struct zoom_events *events, size_t index);
bool zoom_events_has_lbr(const struct zoom_events *events);
bool zoom_events_has_physical(const struct zoom_events *events);

/* The number of its cgroup, as samples have it. */
u64 zoom_events_cgroup_id(const struct zoom_events *events);

/* Whether its cgroup was removed: nothing more comes, and one that has its path now is another. */
bool zoom_events_gone(const struct zoom_events *events);

/* Bytes of rings and maps. */
u64 zoom_events_bytes(const struct zoom_events *events);

#endif
