// SPDX-License-Identifier: GPL-2.0
/*
 * The engine: all the code that counts samples, without an event loop. It has the kernel side, the
 * collection, the sums of the collections (totals, window, series), and snapshots of them. The modes of
 * main.c and the tests drive it.
 */
#ifndef PEBSD_ENGINE_H
#define PEBSD_ENGINE_H

#include "base/monotonic.h"
#include "collect/collect.h"
#include "hot/hot_places.h"
#include "origin/event.h"
#include "origin/event_counts.h"
#include "series/series.h"
#include "snapshot/snapshot.h"
#include "store/handover.h"
#include "window/readings.h"
#include "window/trend.h"
#include "window/window.h"

struct state;

struct engine_settings {
	const char *origin; /* "perf", "replay", "model"; a constant */
	size_t n_events;
	struct event events[EVENTS_MAX];
	u32 slots;        /* number of slots at the start */
	u64 memory_max;   /* see kernel_settings: slots are added as cgroups need them; 0: none are added */
	bool memory_auto; /* see kernel_settings */
	u32 offcore_cpus; /* this and `hot_max`: see kernel_settings */
	u64 offcore_hash; /* identifies the PMUs of off-core counts, and their order; 0: none are counted */
	u32 hot_max;
	enum kernel_account account;
	bool births;           /* follow the running kernel's cgroups */
	bool hardware;         /* load the perf_event programs */
	bool counts_inherited; /* `count` and `count_cpus` continue the counts of the previous process */
	bool same_maps;        /* `kernel` has the maps that `state` describes */
	const struct stripes *stripes; /* see kernel_settings; must outlive the engine */
	size_t top;
	u64 interval_ns;    /* between collections */
	size_t trend_bytes; /* limit for trends (window/trend.h); 0: no trends */
	/*
	 * Returns true if a path may have a series. Called once for each entry of the totals, again after
	 * engine_exports_changed(), and for each cgroup that finds no free slot in a walk.
	 */
	bool (*exported)(const char *path, void *userdata);
	bool (*synthetic)(u64 id); /* see snapshot_build.h; may be NULL */
	void *userdata;            /* for `exported` and `hot` */
	/* Fills in the origin's counts of its events: `counted` and EVENT_COUNT_MEMBERS. May be NULL. */
	void (*count)(struct reading readings[EVENTS_MAX], void *userdata);
	/*
	 * Returns the same counts by CPU, as of the last call of count(), for every CPU that ever had the
	 * event. The origin owns them. May be NULL.
	 */
	const struct cpu_counts *(*count_cpus)(unsigned event, size_t *ret_n, void *userdata);
	/* Called after each collection with the derived losses (reading_count_losses()). May be NULL. */
	void (*settled)(const struct reading readings[EVENTS_MAX], void *userdata);
	void *count_userdata; /* for `count`, `count_cpus`, `settled`, `offcore_collect` and `adopt` */
	/*
	 * Settles the off-core counts of running tasks (perf_offcore.h). Called before the slots are read.
	 * May be NULL.
	 */
	void (*offcore_collect)(void *userdata);
	/*
	 * Gives slots to cgroups that have none (engine_adopting()). Also called between collections. May be
	 * NULL.
	 */
	void (*adopt)(void *userdata);
	/*
	 * The engine restores its counters from this state and saves them to it (state/state.h). Outlives the
	 * engine. NULL: nothing is saved.
	 */
	struct state *state;
	/* already open: engine_open() takes ownership; NULL: the engine opens one */
	struct kernel *kernel;
	/* see engine_set_hot(); applies from the start; may be NULL */
	bool (*hot)(const char *path, void *userdata);
	struct collect_listener listener;
	struct handover *handover; /* stores maps and links for the next process; NULL: they are not stored */
	u64 measured;              /* see kernel_settings */
};

struct engine;

/*
 * Opens the engine. On failure returns -errno and a message that the caller frees, as kernel_open() does. If
 * the state has counters of another process, the engine continues them: with the slots of the same maps, or
 * with new ones. An invalid state is discarded with a warning.
 */
int engine_open(const struct engine_settings *settings, struct engine **ret, char **ret_message);
/*
 * The settings with which engine_open() opens the kernel side. They are for callers that open the kernel side
 * before the engine.
 */
void engine_kernel_settings(const struct engine_settings *settings, struct kernel_settings *ret);

/*
 * The version of the records in a state, for state_new() and state_inherit(). It changes with STATE_RECORDS and with
 * the list of counters that the records contain.
 */
u32 engine_records(void);

/*
 * The state, for other modules that save records in it. They must restore their records before the first
 * collection. NULL: nothing is saved.
 */
struct state *engine_state(const struct engine *engine);

/* Returns true if the state has counters to continue. */
bool engine_has_before(const struct engine_settings *settings);

struct engine *engine_free(struct engine *engine);
DEFINE_CLEANUP(struct engine *, engine_free)

/* The kernel side, for the origin. Owned by the engine. */
struct kernel *engine_kernel(const struct engine *engine);

/*
 * Gives a slot and a path to a cgroup that is not one of the running kernel; see kernel_adopt(),
 * names_add_path(). Returns 0 or -errno.
 */
int engine_adopt(struct engine *engine, u64 cgroup_id, const char *path);

/*
 * Runs one collection. It invalidates pointers of earlier snapshots, and entries of cgroups that were removed
 * long ago. Returns 0 or -ENOMEM. After -ENOMEM, the next collection reads the slots that were not read. The series
 * may lack the deltas of this collection forever.
 */
int engine_collect(struct engine *engine);

/* The final collection: see collect_last(). */
int engine_collect_last(struct engine *engine);

/*
 * A snapshot of the counters as of the last collection: for the whole time (`window_seconds` not known), or
 * for the last `window_seconds`, as far back as the window reaches. Owned by the engine, valid until the next
 * call, collection or engine_reclaim(). Returns 0, -ENODATA before the first collection or if the window has
 * none, or -ENOMEM.
 */
int engine_snapshot(struct engine *engine, const struct maybe_double *window_seconds,
		    const struct snapshot **ret);

/* Frees the last snapshot of a window. */
void engine_release_window(struct engine *engine);

/*
 * A snapshot of the whole time, without the figures of cgroups (snapshot_build_summary()). It is for a
 * scrape, which uses the series. Owned by the engine, valid until the next collection or engine_reclaim().
 * Returns the same as engine_snapshot().
 */
int engine_summary(struct engine *engine, const struct snapshot **ret);

/* Returns the memory limit of the window in bytes, if `active` pairs of cgroup and event are active. */
size_t engine_window_bytes(double active);

/* Time of the last collection (CLOCK_MONOTONIC), or when the engine was opened if there was none. */
u64 engine_collected_ns(const struct engine *engine);

/*
 * The start of the time that the first collection of this engine covers. If the engine continues the counters of
 * another process, this is the last collection of that process, if the saved state has its time. Otherwise it is
 * the opening of the engine. `realtime_us` is CLOCK_REALTIME at the opening, minus the monotonic time from the start
 * to the opening.
 */
struct clocks engine_began(const struct engine *engine);

/*
 * CLOCK_MONOTONIC: where windows begin. If the maps are those of the previous process, the deltas of the first
 * collection have all samples since the last collection of that process, so this is engine_began(). Otherwise it is the
 * opening of the engine.
 */
u64 engine_windows_began_ns(const struct engine *engine);

/*
 * `collected` is called at the end of each collection, when deltas, readings and head are those of this
 * collection, except `collection_seconds` of the head, which is that of the previous one. It must not call the engine
 * to collect.
 */
void engine_on_collected(struct engine *engine, void (*collected)(void *userdata), void *userdata);

/* The deltas of the last collection, including those of `unattributed`. */
const struct delta *engine_deltas(const struct engine *engine, size_t *ret_n);

/*
 * Returns true if an entry may have a series (`exported` of the settings). Always false for `unattributed`.
 */
bool engine_exports(const struct engine *engine, struct totals_entry *entry);

/* Call this at a reload: `exported` may return other values from now on. */
void engine_exports_changed(struct engine *engine);

/*
 * The descriptor becomes readable when free slots run short; -1: they cannot run short. Then call engine_reclaim(),
 * between two collections. It reclaims slots, with the results of collect_reclaim_now(). It also adds slots if they
 * are still short, and gives free slots to cgroups without one.
 */
int engine_slots_short_fd(const struct engine *engine);
int engine_reclaim(struct engine *engine, u64 *ret_again_ns);

/*
 * Returns true if slots were short at the last collection or call of engine_reclaim(); see
 * kernel_slots_short_fd().
 */
bool engine_slots_short(const struct engine *engine);

/* The counts of an event as a whole, as of the last collection. */
struct reading engine_reading(const struct engine *engine, unsigned event);

/* The exported series. Owned by the engine, valid until the next collection. */
const struct series *const *engine_series(const struct engine *engine, size_t *ret_n);

/* A cgroup's entry by its path, owned by the engine. NULL: no cgroup of the path had a sample yet. */
const struct totals_entry *engine_find(const struct engine *engine, const char *path);

/*
 * All entries except `other` and `unattributed`, by ascending number. Owned by the engine, valid until the
 * next collection or engine_reclaim().
 */
struct totals_entry *const *engine_entries(const struct engine *engine, size_t *ret_n);

/*
 * The window of the last minutes. Its entries are the numbers of the totals' entries. Owned by the engine.
 * The next collection changes it.
 */
const struct window *engine_window(const struct engine *engine);

/* The readings of the events at the collections of the same time. Owned by the engine. */
const struct readings *engine_readings(const struct engine *engine);

/*
 * Hot tables of a few chosen cgroups. Chooses the cgroup of a path until `until_ns` (CLOCK_MONOTONIC), or
 * extends an earlier choice to that time. The first collection after that time ends the choice. Returns 0;
 * -ENOENT: no cgroup of that path has a slot; -ENOSPC: all tables are in use (engine_hot_max()); -EOPNOTSUPP:
 * there are no hot tables.
 */
int engine_hot_choose(struct engine *engine, const char *path, u64 until_ns);

/* Returns true if the path is chosen, and then sets `ret` to the choice. */
bool engine_hot_choice(const struct engine *engine, const char *path, struct hot_choice *ret);

/* The paths of chosen cgroups by index from 0; NULL after the last. Owned by the engine. */
const char *engine_hot_nth(const struct engine *engine, size_t index);
size_t engine_hot_max(const struct engine *engine);

/*
 * From the next collection on, chooses the cgroups of these paths, as far as tables are free. Call it at a
 * reload, and before the first sample. `chosen` may be NULL.
 */
void engine_set_hot(struct engine *engine, bool (*chosen)(const char *path, void *userdata), void *userdata);

/*
 * The items that an event found in the path's hot tables. The caller frees `ret` with hot_places_done().
 * Returns 0; -ENOENT: no such cgroup; -ENODATA: it is not chosen; -EOPNOTSUPP: the event has no such
 * addresses; -ENOMEM.
 */
int engine_hot_places(const struct engine *engine, const char *path, unsigned event, enum hot_kind kind,
		      struct hot_places *ret);

/*
 * The part of a snapshot that describes the daemon itself. The caller may change it; the engine fills in the
 * rest.
 */
struct snapshot *engine_head(struct engine *engine);

/*
 * From the next collection on, marks the cgroups of these ids (ascending) as holding virtual machines. Takes
 * ownership of `ids`, which was allocated with malloc(3). Marks are permanent.
 */
void engine_mark_guests(struct engine *engine, u64 *ids, size_t n);

/* Changes the number of exported cgroups at a reload. */
void engine_set_top(struct engine *engine, size_t top);

/* Returns true if a cgroup found no free slot, in the last walk or at its birth since then. */
bool engine_slots_missing(const struct engine *engine);

/*
 * For a walk over the cgroup tree that gives slots to cgroups without one. Call engine_adopting() before the walk,
 * engine_found_without_slot() for each cgroup that finds no free slot, and engine_adopted() after the walk, with
 * the number of such cgroups. engine_found_without_slot() returns 0 or -ENOMEM.
 */
void engine_adopting(struct engine *engine);
int engine_found_without_slot(struct engine *engine, const char *path);
void engine_adopted(struct engine *engine, u64 without_slot);

#endif
