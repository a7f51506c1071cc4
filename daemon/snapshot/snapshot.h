// SPDX-License-Identifier: GPL-2.0
/*
 * A snapshot: all counters as of one collection, for the whole time or for a window. The engine builds it when it is
 * requested, and keeps it until the next collection. It is plain data. The figures of cgroups are computed when they
 * are read, one cgroup at a time (snapshot_counters.h), because they take 5 KB for each event.
 *
 * A scrape gets a snapshot without cgroups (engine_summary()). Its counters of cgroups are those of the series
 * (series/series.h), because the sums of a window may decrease.
 */
#ifndef PEBSD_SNAPSHOT_H
#define PEBSD_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "cgroup/container_label.h"
#include "collect/counters.h"
#include "collect/no_slot.h"
#include "collect/offcore_counts.h"
#include "govern/governor.h"
#include "origin/event.h"
#include "origin/perf/counter_users.h"
#include "origin/recording.h"

/* A count or a time that may be unknown. Unknown values are not printed. */
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
	bool online;                           /* the event is open there; else these are its last values */
	bool in_error;                         /* open, but another pinned event holds the counter */
	u64 expected;                          /* samples: event count / period; may be off by one */
	struct maybe_u64 seen;                 /* samples; known if no other CPU writes to its stripe */
	struct maybe_u64 filtered;             /* as in struct snapshot_event; known if `seen` is */
	struct maybe_double running_ratio;     /* as in struct snapshot_event */
	struct maybe_double throttled_seconds; /* as in struct snapshot_event */
};

/* Duration of an interrupt at one rate of samples. */
struct snapshot_interrupt {
	bool known;
	double ns;
	double per_second; /* samples, on one CPU */
};

/* The cost of sampling an event, and the state of its governor; see govern/governor.h. */
struct snapshot_cost {
	/*
	 * Share of the busiest CPU's time over the last interval. Does not include the slowdown of the other
	 * thread of a core, the daemon's own time, or exits to a hypervisor.
	 */
	struct maybe_double ratio;
	struct maybe_double budget;       /* the event's share of the budget; not known: it has none */
	struct maybe_double interrupt_ns; /* per sample at the present rate, from `dense` and `sparse` */
	struct snapshot_interrupt dense;  /* calibrated at the start, with frequent samples */
	struct snapshot_interrupt sparse; /* with rare samples; not known: the costs are lower bounds */
	struct maybe_double program_ns;   /* per sample, measured for some samples */
	const char *state;                /* "steady", "over budget", ...; NULL: not governed */
	u64 changes[GOVERNOR_REASONS];    /* of the period by the governor since the start, by reason */
};

/* The state of one event, with the same index as in `events` of the snapshot. */
struct snapshot_event {
	struct event event;
	char key[EVENT_KEY_MAX]; /* see event_key() */
	char cpus[2048]; /* CPUs on which it is open, as "0-3,8", truncated if too long; "" for a replay */
	u64 n_cpus;      /* number of these CPUs */
	struct counters total; /* all cgroups and `unattributed` */
	u64 unattributed;      /* samples of slot 0 */
	struct maybe_u64 lost_malformed;
	struct maybe_u64
		lost_unexplained; /* expected, but neither seen, filtered nor malformed: see reading_count_losses() */
	struct maybe_double multiplexed_seconds;              /* enabled but not running, summed over CPUs */
	struct maybe_double running_ratio;                    /* running / enabled time, 0 to 1 */
	struct maybe_double enabled_seconds, running_seconds; /* summed over CPUs */
	struct maybe_double throttled_seconds; /* stopped for too many samples, summed over CPUs */
	struct maybe_u64 throttles;            /* number of stops for too many samples */
	struct maybe_u64 rearmed;              /* number of times that a silent event was rearmed on a CPU */
	struct maybe_double paused_seconds;    /* in a requested pause, summed over CPUs */
	struct maybe_u64 filtered; /* samples of operations that the event excludes; not part of `total` */
	struct snapshot_cost cost;
	struct maybe_double frequency_hz;   /* of cycles: the running frequency of its CPUs */
	bool multiplexed;                   /* not pinned: another event of pebsd needs the same counter */
	size_t n_per_cpu;                   /* 0: not known by CPU, or a window */
	const struct snapshot_cpu *per_cpu; /* ascending; owned by the engine */
};

struct snapshot_cgroup {
	const char
		*path; /* below the cgroup2 root; "comm:NAME" or "cgroup:ID" in a replay, "model:WORKLOAD" */
	u64 id;        /* 0 if there is none */
	bool alive;
	bool guest_not_sampled; /* the cgroup holds a virtual machine, whose guest mode is not sampled */
	const struct counters *counters[EVENTS_MAX]; /* existing ones; read all with snapshot_counters_of() */
	const void *made_of; /* source of those that are not in `counters`; owned by the snapshot */
	u32 entry;           /* the cgroup's number in the window and the trend */
	/* For the sum of a subtree (snapshot_view.h): the cgroups in it. Else none. */
	const struct snapshot_cgroup *const *members;
	size_t n_members;
	u64 without_slot;                     /* for such a sum: snapshot_view_without_slot() of its path */
	const struct offcore_counts *offcore; /* NULL: nothing counted */
};

/* State and cost of counting off-core responses, since the start. */
struct snapshot_offcore {
	size_t n_pmus;
	struct {
		char name[EVENT_PMU_MAX];
		u32 kinds;                 /* kinds that the PMU counts: 1 << enum offcore_kind */
		u64 errors[OFFCORE_KINDS]; /* failed readings, all CPUs and cgroups */
	} pmus[OFFCORE_PMUS_MAX];
	u64 cpus;     /* number of CPUs that count now */
	u64 switches; /* task switches on the CPUs that count */
	u64 settles;  /* readings of the counters: at switches between cgroups, and at collections */
	struct maybe_double settle_ns;  /* per reading, measured for one of OFFCORE_TIMED_EVERY */
	struct maybe_double cost_ratio; /* share of the time of the CPUs that count, over the last interval */
};

/* Detailed observation of cgroups: zooms, hot tables, symbols. */
struct detail_counts {
	u64 zooms_running, zooms_held; /* zooms_held includes the running ones */
	u64 zoom_bytes;
	u64 taken, limited, lost, dropped; /* samples of zooms since the start; see struct zooms_counts */
	const char *const *hot;            /* paths of the chosen cgroups, NULL-terminated */
	u64 hot_max;
	struct {
		u64 asked, answered, unknown, lost, late, starts, bytes,
			own_bytes; /* see struct symbols_counts */
	} symbols;
};

struct trend;
struct window;

struct snapshot {
	const char *origin;                 /* "perf", "replay", "model" */
	u64 sequence;                       /* number of the collection; grows */
	struct timespec since;              /* CLOCK_REALTIME at the start of the covered time */
	struct timespec taken;              /* CLOCK_REALTIME of the collection */
	struct maybe_double window_seconds; /* not known: everything since `since` */

	size_t n_events;
	struct snapshot_event events[EVENTS_MAX];
	struct maybe_double nominal_hz; /* of the machine; of its fastest cores if there are several kinds */
	/*
	 * Only in a view of one event, else 0. Bits: the other events from which the cost of waiting is computed
	 * (snapshot_waits.h). Cgroups have their figures, but the figures are not listed themselves.
	 */
	u32 unlisted;

	bool offcore_known;          /* off-core responses are counted, and the members below are valid */
	const char *offcore_refusal; /* why a requested count is impossible; else NULL. Owned by the origin */
	struct snapshot_offcore offcore;
	const struct offcore_counts *offcore_total;        /* all cgroups and `unattributed`; NULL: nothing */
	const struct offcore_counts *offcore_unattributed; /* NULL: nothing */

	/*
	 * Cgroups with at least one sample or count. Sorted by weighted latency sum, then by samples of
	 * each kind in the order of enum snapshot_samples (these decide if no event has latency), all
	 * descending, then by path. `unattributed` is not included: see struct snapshot_event.
	 */
	size_t n_cgroups;
	struct snapshot_cgroup *cgroups;
	/*
	 * Computes a cgroup's counters of an event; false: the cgroup has no sample of it. NULL: nothing to
	 * compute.
	 */
	bool (*make_counters)(const struct snapshot_cgroup *cgroup, unsigned event, struct counters *ret);

	/* The collections that a snapshot of a window sums up, for bounds. NULL: the whole time. Owned by the engine */
	const struct window *window;
	const struct trend *trend; /* of the last hour, for any window; NULL: no trend. Owned by the engine */

	/* The daemon itself. */
	u64 cgroups_alive; /* with a slot */
	u64 slots;         /* in the table */
	u64 slots_limit;   /* maximum */
	u64 slots_free;
	u64 stripes;       /* of a slot */
	u64 stripe_caches; /* number of caches whose CPUs share stripes; 0: stripes are not shared */
	bool in_process;   /* samples are accounted in this process, without BPF maps */
	u64 map_bytes;     /* memory of the existing BPF maps */
	u64 map_bytes_max; /* limit for adding slots; 0: none are added */
	struct maybe_u64 anonymous_bytes;      /* the daemon's own memory (RssAnon) at the collection */
	struct maybe_u64 anonymous_peak_bytes; /* peak of RssAnon during the start, if measured */
	u64 births_without_slot;
	u64 without_slot;              /* cgroups without a slot now, as far as known */
	const struct no_slot *no_slot; /* paths of those that may be exported; NULL: not known */
	double collection_seconds;     /* duration of the last collection */
	double interval_seconds;
	bool slots_missing;   /* a cgroup may be without a slot now */
	bool config_reloaded; /* the last reload was successful (or there was none) */
	struct timespec config_time;
	const char *const *config_files; /* files that were read, NULL-terminated; NULL: none */
	const char *opened_by;           /* perf_backend_by_opener(): "pebsd", "opener"; NULL: no events */
	const struct counter_users *counter_users; /* owned by the origin; NULL: it uses no counters */
	bool paused;                               /* every counter is free for other tools */
	struct timespec paused_until;              /* CLOCK_REALTIME; 0: until it is resumed */
	bool replay_done;                          /* all recordings were read to their end */
	const struct detail_counts *detail; /* NULL: none, as in `--once`; owned by the engine's caller */
	const char *const
		*notes; /* for the reader, for example about a truncated recording; NULL-terminated */
	const struct recording *recordings; /* the replayed recordings; NULL: none */
	size_t n_recordings;
	const struct container_lookup *containers; /* NULL: of cgroups only paths are known */
};

#endif
