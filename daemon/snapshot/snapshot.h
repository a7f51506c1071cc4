// SPDX-License-Identifier: GPL-2.0
/*
 * What every exporter reads: the state of the books at one collection, for the whole time or for a window.
 * Plain data, but that cgroups' figures are made one cgroup at a time, when they are read
 * (snapshot_figures.h): they take 5 KB for each event. It is built by the collection and never changed after;
 * exporters take nothing from anywhere else.
 */
#ifndef PEBSD_SNAPSHOT_H
#define PEBSD_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "cgroup/container_label.h"
#include "collect/figures.h"
#include "collect/no_slot.h"
#include "collect/offcore_figures.h"
#include "govern/governor.h"
#include "origin/event.h"

/* A count or a time that may not be known. What is not known is not printed. */
struct maybe_u64 {
	bool known;
	u64 value;
};

struct maybe_double {
	bool known;
	double value;
};

/* An event on one CPU, since the start. */
struct snapshot_cpu {
	int cpu;
	bool online;                       /* the event is open there; else these are the figures it left */
	bool in_error;                     /* open, and another pinned event holds the counter */
	u64 expected;                      /* samples: event count / period; uncertain by one */
	struct maybe_u64 seen;             /* samples; known where no other CPU writes to its stripe */
	struct maybe_u64 filtered;         /* as of the event; known as `seen` is */
	struct maybe_double running_ratio; /* as of the event */
	struct maybe_double throttled_seconds; /* as of the event */
};

/* What an interrupt takes at one rate. */
struct snapshot_interrupt {
	bool known;
	double ns;
	double per_second; /* samples, on one CPU */
};

/* What sampling an event costs, and what the governor made of it; see govern/governor.h. */
struct snapshot_cost {
	/* Share of the busiest CPU's time, over the last interval. It leaves out what samples take from the
	 * other thread of a core, the daemon's own time, and a hypervisor's exits. */
	struct maybe_double ratio;
	struct maybe_double budget;       /* the event's share of the budget; not known: it has none */
	struct maybe_double interrupt_ns; /* of a sample at the present rate, by the two calibrated ones */
	struct snapshot_interrupt dense;  /* as calibrated at the start, where samples come often */
	struct snapshot_interrupt
		sparse;                 /* and rarely; not known: `ratio` and `interrupt_ns` are the least */
	struct maybe_double program_ns; /* of a sample, as timed in some of them */
	const char *state;              /* "steady", "over budget", ...; NULL: nobody governs it */
	u64 changes[GOVERNOR_REASONS];  /* of the period by the governor since the start, by reason */
};

/* The state of one event. Index: as in `events` of the snapshot. */
struct snapshot_event {
	struct event event;
	char key[EVENT_KEY_MAX]; /* see event_key() */
	char cpus[2048]; /* CPUs it is open on, as a list "0-3,8", cut where it is longer; "" for a replay */
	u64 n_cpus;      /* how many they are */
	struct figures total; /* all cgroups and `unattributed` */
	u64 unattributed;     /* samples of slot 0 */
	u64 lost_malformed;
	struct maybe_u64 lost_unexplained; /* event count / period - seen - lost, where the count is known */
	struct maybe_double multiplexed_seconds; /* enabled but not running, summed over CPUs */
	struct maybe_double running_ratio;       /* running / enabled time, 0 to 1 */
	struct maybe_double
		throttled_seconds;          /* stopped by the kernel for coming too often, summed over CPUs */
	struct maybe_u64 throttles;         /* how often it was */
	struct maybe_u64 rearmed;           /* how often it was silent on a CPU until it was armed again */
	struct maybe_double paused_seconds; /* a pause was asked for; summed over CPUs */
	struct maybe_u64
		filtered; /* samples of operations that the event is not about; seen beside `total` */
	struct snapshot_cost cost;
	bool takes_turns;                   /* not pinned: another event of ours needs the same counter */
	size_t n_per_cpu;                   /* 0: not known by CPU, or of a window */
	const struct snapshot_cpu *per_cpu; /* ascending; the engine's */
};

struct snapshot_cgroup {
	const char
		*path; /* below the cgroup2 root; "comm:NAME" or "cgroup:ID" in a replay, "model:WORKLOAD" */
	u64 id;        /* 0 where there is none */
	bool alive;
	bool guest_not_sampled; /* it holds a virtual machine: what that does in guest mode is not sampled */
	const struct figures *figures[EVENTS_MAX]; /* read by snapshot_figures(); those that are not made */
	const void *made_of;                       /* and what the others are made of; the snapshot's */
	u32 entry;                                 /* its number in window and trend */
	/* A sum of subtrees (snapshot_view.h): whose; else none. */
	const struct snapshot_cgroup *const *members;
	size_t n_members;
	const struct offcore_figures *offcore; /* NULL: nothing counted */
};

/* The counting of off-core responses, since the start. */
struct snapshot_offcore {
	size_t n_pmus;
	struct {
		char name[EVENT_PMU_MAX];
		u32 kinds;                 /* 1 << enum offcore_kind, those counted on it */
		u64 errors[OFFCORE_KINDS]; /* readings that failed, all CPUs and cgroups */
	} pmus[OFFCORE_PMUS_MAX];
	u64 cpus;     /* that count now */
	u64 switches; /* of tasks on these */
	u64 settles;  /* at which the counters were read: switches between cgroups, and collections */
	struct maybe_double settle_ns;  /* what one takes, as timed in one of OFFCORE_TIMED_EVERY */
	struct maybe_double cost_ratio; /* share of the time of these CPUs, over the last collection */
};

/* Looking closer at cgroups: zooms, hot tables, names of addresses. */
struct detail_figures {
	u64 zooms_running, zooms_held; /* held: those that run among them */
	u64 zoom_bytes;
	u64 taken, limited, lost, dropped; /* samples of zooms since the start; see struct zoom_figures */
	const char *const *hot;            /* paths of the cgroups that are chosen; NULL-terminated */
	u64 hot_max;
	struct {
		u64 asked, answered, unknown, lost, late, starts, bytes,
			own_bytes; /* see struct symbols_figures */
	} symbols;
};

struct trend;

struct snapshot {
	const char *origin;                 /* "perf", "replay", "model" */
	u64 sequence;                       /* number of the collection; grows */
	struct timespec since;              /* CLOCK_REALTIME of the first moment covered */
	struct timespec taken;              /* CLOCK_REALTIME of the collection */
	struct maybe_double window_seconds; /* not known: everything since `since` */

	size_t n_events;
	struct snapshot_event events[EVENTS_MAX];

	bool offcore_known;          /* off-core responses are counted: what follows is there */
	const char *offcore_refusal; /* asked for and not to be had: why; else NULL. The engine's */
	struct snapshot_offcore offcore;
	const struct offcore_figures *offcore_total; /* all cgroups and `unattributed`; NULL: nothing */
	const struct offcore_figures *offcore_unattributed; /* NULL: nothing */

	/* By descending weighted latency sum, then by samples of loads, of stores, of instructions (which
	 * decide where no event has latency), then by path; each with at least one sample or something
	 * counted. Without `unattributed`, which stands in the events. */
	size_t n_cgroups;
	struct snapshot_cgroup *cgroups;
	/* Makes a cgroup's figures of an event; false: no sample of it. NULL: none are made. */
	bool (*make_figures)(const struct snapshot_cgroup *cgroup, unsigned event, struct figures *ret);

	const struct trend
		*trend; /* of the last hour, whatever the window; NULL: none is kept. The engine's */

	/* The daemon itself. */
	u64 cgroups_alive; /* with a slot */
	u64 slots;         /* in the table */
	u64 slots_limit;   /* as many as there can be */
	u64 slots_free;
	u64 stripes;                           /* of a slot */
	u64 stripe_caches;                     /* that CPUs which share stripes have; 0: none shares */
	u64 map_bytes;                         /* memory of the BPF maps that there are */
	u64 map_bytes_max;                     /* up to which slots are added; 0: none are */
	struct maybe_u64 anonymous_bytes;      /* the daemon's own memory (RssAnon) at the collection */
	struct maybe_u64 anonymous_peak_bytes; /* the most of that at its start, as far as it was looked at */
	u64 births_without_slot;
	u64 without_slot;              /* cgroups that have none now, as far as is known */
	const struct no_slot *no_slot; /* the paths of those that may be exported; NULL: not known */
	double collection_seconds;     /* how long the last collection took */
	double interval_seconds;
	bool slots_missing;   /* some cgroup may have no slot now */
	bool config_reloaded; /* the last reload was successful (or there was none) */
	struct timespec config_time;
	const char *const *config_files; /* that it was read from, NULL-terminated; NULL: from none */
	const char *opened_by;        /* who opened the last event: "pebsd", "opener"; NULL: there are none */
	bool paused;                  /* every counter is free for another tool */
	struct timespec paused_until; /* CLOCK_REALTIME; 0: until it is resumed */
	bool replay_done;             /* every recording was read to its end */
	const struct detail_figures *detail; /* NULL: there is none, as in `--once`; the engine's caller's */
	const char *const
		*notes; /* what a reader must know, e.g. a recording that was cut; NULL-terminated */
	const struct container_lookup *containers; /* NULL: nothing is told of cgroups but their paths */
};

#endif
