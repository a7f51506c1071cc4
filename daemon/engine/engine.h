// SPDX-License-Identifier: GPL-2.0
/*
 * Everything that counts, without an event loop: the kernel side, the collection over it, what the
 * collections add up to (ledger, window, series), and snapshots of it. main.c's modes and the tests drive it.
 */
#ifndef PEBSD_ENGINE_H
#define PEBSD_ENGINE_H

#include "collect/collect.h"
#include "collect/hot_places.h"
#include "collect/no_slot.h"
#include "collect/series.h"
#include "origin/cpu_counts.h"
#include "origin/event.h"
#include "snapshot/snapshot.h"
#include "store/handover.h"
#include "store/store.h"
#include "window/readings.h"
#include "window/trend.h"
#include "window/window.h"

struct state;

struct engine_settings {
	const char *origin; /* "perf", "replay", "model"; a constant */
	size_t n_events;
	struct event events[EVENTS_MAX];
	u32 slots;        /* at the start */
	u64 memory_max;   /* see kernel_settings: slots are added as cgroups need them; 0: none are */
	bool memory_auto; /* likewise */
	u32 offcore_cpus; /* see kernel_settings; the next, too */
	u32 hot_max;
	bool births;      /* follow the running kernel's cgroups */
	bool hardware;    /* load the perf_event programs */
	bool counts_kept; /* what `count` and `count_cpus` tell goes on from the process before */
	bool same_kernel; /* `kernel` is the one that `state` is of */
	const struct stripes *stripes; /* see kernel_settings; they outlive the engine */
	size_t top;
	u64 interval_ns;    /* between collections */
	size_t trend_bytes; /* what trends may take (window/trend.h); 0: none are kept */
	/* Whether a path may have a series; asked once of each, and again after engine_exports_changed(). */
	bool (*exported)(const char *path, void *userdata);
	bool (*synthetic)(u64 id); /* see snapshot_build.h; may be NULL */
	void *userdata;            /* of `exported` and `hot` */
	/* Fills in what the origin counts of its events: `counted` and what follows it. May be NULL. */
	void (*count)(struct reading readings[EVENTS_MAX], void *userdata);
	/* The same by CPU, as of that call, every CPU that ever had the event: the origin's. May be NULL. */
	const struct cpu_counts *(*count_cpus)(unsigned event, size_t *ret_n, void *userdata);
	/* After each collection, with what it found missing (reading_settle()). May be NULL. */
	void (*settled)(const struct reading readings[EVENTS_MAX], void *userdata);
	void *count_userdata; /* of all of these, and the next two */
	/* Settles what runs (perf_offcore.h), called before the slots are read. NULL: none are counted. */
	void (*offcore_collect)(void *userdata);
	/* Gives slots to cgroups that have none (engine_adopting()), between collections too. NULL: none can. */
	void (*adopt)(void *userdata);
	/*
	 * What is counted is kept here beyond the process, and gone on from (state/state.h). Outlives the
	 * engine. NULL: it is not.
	 */
	struct state *state;
	struct kernel *kernel; /* opened already; the engine's then. NULL: it opens one */
	bool (*hot)(const char *path,
		    void *userdata); /* as engine_set_hot(), from the start on; may be NULL */
	struct collect_listener listener;
	struct store *store;       /* as sampling_settings */
	struct handover *handover; /* what the kernel side leaves to the next process; NULL: nothing */
	u64 measured;              /* see kernel_settings */
};

struct engine;

/*
 * Like kernel_open(): -errno and a message that the caller frees. Where the state has what another process
 * counted the engine goes on from there: with the slots of the same kernel side, or with new ones. What makes
 * no sense is forgotten, with a warning.
 */
int engine_open(const struct engine_settings *settings, struct engine **ret, char **ret_message);
/* What engine_open() opens the kernel side by; for who opens it before. */
void engine_kernel_settings(const struct engine_settings *settings, struct kernel_settings *ret);

/* What it keeps its books in, for others who keep theirs there: by the first collection they have taken back
 * what they left. NULL: nothing is kept. */
struct state *engine_state(const struct engine *engine);

/* Whether the state has books to go on from. */
bool engine_has_before(const struct engine_settings *settings);

struct engine *engine_free(struct engine *engine);
DEFINE_CLEANUP(struct engine *, engine_free)

/* The kernel side and the names, for the origin. The engine's. */
struct kernel *engine_kernel(const struct engine *engine);
struct names *engine_names(const struct engine *engine);

/* Gives a cgroup that is not the running kernel's a slot and a path; see kernel_adopt(), names_add_path(). 0
 * or -errno. */
int engine_adopt(struct engine *engine, u64 cgroup_id, const char *path);

/* One collection. Pointers of earlier snapshots end, and entries of cgroups long gone. 0, or -ENOMEM with
 * some of it left to the next. */
int engine_collect(struct engine *engine);

/* The last one of all: see collect_last(). */
int engine_collect_last(struct engine *engine);

/*
 * The books as of the last collection, for the whole time (`window_seconds` not known) or the last so many
 * seconds, as far back as is held. The engine's, valid until the next call or collection. 0, -ENODATA before
 * the first collection, -ENOMEM.
 */
int engine_snapshot(struct engine *engine, const struct maybe_double *window_seconds,
		    const struct snapshot **ret);

/* The last snapshot of a window is not needed any more, and its memory goes back. */
void engine_release_window(struct engine *engine);

/*
 * The same of the whole time without cgroups' figures (snapshot_build_summary()): for a scrape, which has the
 * series. The engine's, valid until the next collection.
 */
int engine_summary(struct engine *engine, const struct snapshot **ret);

/* What the window of the last minutes may take, where so many cgroups and events are active. */
size_t engine_window_bytes(double active);

/* When the last collection was (CLOCK_MONOTONIC); before the first, when the engine was opened. */
u64 engine_collected_ns(const struct engine *engine);

/* The differences of the last collection, those of `unattributed` among them. */
const struct difference *engine_differences(const struct engine *engine, size_t *ret_n);

/* Whether an entry may have a series (`exported` of the settings); `unattributed` may not. */
bool engine_exports(const struct engine *engine, struct ledger_entry *entry);

/* For a reload: `exported` may answer otherwise from now on. */
void engine_exports_changed(struct engine *engine);

/*
 * Free slots run short, between two collections: as collect_make_room(); then slots are added if they still are,
 * and cgroups without one are given some. engine_slots_short_fd() is readable then; -1: slots can't run short.
 */
int engine_slots_short_fd(const struct engine *engine);
int engine_make_room(struct engine *engine, u64 *ret_again_ns);

/* Whether they are short, as of the last collection or room made: see kernel_slots_short_fd(). */
bool engine_slots_short(const struct engine *engine);

/* An event's figures as a whole, as of the last collection. */
struct reading engine_reading(const struct engine *engine, unsigned event);

/* The exported series. The engine's, valid until the next collection. */
const struct series *const *engine_series(const struct engine *engine, size_t *ret_n);

/* A cgroup's entry by its path; NULL where it is not known (or had no sample). The engine's. */
const struct ledger_entry *engine_find(const struct engine *engine, const char *path);

/* All entries but `other` and `unattributed`, by ascending number. The engine's, valid until the next
 * collection. */
struct ledger_entry *const *engine_entries(const struct engine *engine, size_t *ret_n);

/* The differences of the last minutes, by those numbers. The engine's, changed by the next collection. */
const struct window *engine_window(const struct engine *engine);

/*
 * Tables of hot code and data, of a few chosen cgroups. Chooses the cgroup of a path until `until_ns`
 * (CLOCK_MONOTONIC), or lets an earlier choice last so long; a collection ends it then. 0; -ENOENT: no cgroup
 * of that path has a slot; -ENOSPC: all tables are taken (engine_hot_max()); -EOPNOTSUPP: there are none.
 */
int engine_hot_choose(struct engine *engine, const char *path, u64 until_ns);

/* Whether it is chosen; how, in `ret`. */
bool engine_hot_choice(const struct engine *engine, const char *path, struct hot_choice *ret);

/* The cgroups that are chosen: paths by index from 0, NULL at the end. The engine's. */
const char *engine_hot_nth(const struct engine *engine, size_t index);
size_t engine_hot_max(const struct engine *engine);

/* From the next collection on cgroups of these paths are chosen as far as there are tables; for a reload, and
 * before the first sample. `chosen` may be NULL. */
void engine_set_hot(struct engine *engine, bool (*chosen)(const char *path, void *userdata), void *userdata);

/*
 * What an event found there. The caller frees `ret` with hot_places_done(). -ENOENT: no such cgroup;
 * -ENODATA: it is not chosen; -EOPNOTSUPP: the event has no such addresses; -ENOMEM.
 */
int engine_hot_places(const struct engine *engine, const char *path, unsigned event, enum hot_kind kind,
		      struct hot_places *ret);

/* What a snapshot says of the daemon itself; the engine fills in the rest. The engine's to change by the
 * caller. */
struct snapshot *engine_head(struct engine *engine);

/* From the next collection on, marks the cgroups of these ids, ascending, as holding virtual machines; takes
 * `ids`, which were malloc'ed. Marks stay. */
void engine_mark_guests(struct engine *engine, u64 *ids, size_t n);

/* For a reload. */
void engine_set_top(struct engine *engine, size_t top);

/* Whether a cgroup found no slot, at its birth or in the last walk. */
bool engine_slots_missing(const struct engine *engine);

/*
 * Whether adopting anew is worth a walk: slots are missing, and some are free now. Around the walk call
 * engine_adopting(), and engine_adopted(): how many cgroups found no slot, and which these are, which it takes
 * (NULL: not known).
 */
bool engine_should_adopt(const struct engine *engine);
void engine_adopting(struct engine *engine);
void engine_adopted(struct engine *engine, u64 without_slot, struct no_slot *no_slot);

/*
 * Adds slots if they are short, or if `missing` cgroups have none, up to `memory_max`. Logs what it added, and
 * once that it can add no more. Returns the number of slots added. A failure is logged, returns 0, and is tried
 * again after ENGINE_GROW_PAUSE_NS.
 */
#define ENGINE_GROW_PAUSE_NS (10 * NSEC_PER_SEC)
u32 engine_grow(struct engine *engine, u64 missing);

#endif
