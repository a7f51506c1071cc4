// SPDX-License-Identifier: GPL-2.0
/*
 * Decides which cgroups have hot tables. Each of the few sets of tables serves one cgroup after another: it is
 * chosen, released, rests until no program can still write to it, and is then cleared.
 */
#ifndef PEBSD_HOT_CHOICES_H
#define PEBSD_HOT_CHOICES_H

#include "hot/hot_places.h"
#include "kernel/kernel.h"

struct hot_choices;

/* Returns 0 or -ENOMEM. `kernel` outlives the choices. */
int hot_choices_new(struct kernel *kernel, struct hot_choices **ret);
struct hot_choices *hot_choices_free(struct hot_choices *choices);
DEFINE_CLEANUP(struct hot_choices *, hot_choices_free)

/*
 * Chooses the slot of a living cgroup. `path` is the cgroup's path. `until_ns` is CLOCK_MONOTONIC; 0 means that
 * the configuration chooses it. If the slot is already chosen, the later end applies. Returns 0; -ENOSPC: no
 * tables are free; -EOPNOTSUPP: there are no hot tables; else -errno: the tables could not be created.
 */
int hot_choices_choose(struct hot_choices *choices, u32 slot, const char *path, u64 until_ns, u64 now_ns);

/* Releases the tables of a slot that was retired, if it has any. */
void hot_choices_release(struct hot_choices *choices, u32 slot, u64 now_ns);

/* Ends the configuration's choice of a slot, if there is one. While a request runs, the slot keeps its tables. */
void hot_choices_unconfigure(struct hot_choices *choices, u32 slot, u64 now_ns);

/*
 * Releases tables whose time is over, and clears those that have rested. Returns true if tables became free since the
 * last call: other cgroups can have those that hot_choices_choose() did not take meanwhile.
 */
bool hot_choices_tend(struct hot_choices *choices, u64 now_ns);

/* Returns true if some tables are at rest: they will soon be free. */
bool hot_choices_resting(const struct hot_choices *choices);

/* Returns true if the slot has tables. Sets *ret_configured to whether the configuration chose it. */
bool hot_choices_has(const struct hot_choices *choices, u32 slot, bool *ret_configured);

/*
 * Returns true if cgroups of the path have tables. Then sets `ret` to the earliest start and the latest end of
 * their choices.
 */
bool hot_choices_find(const struct hot_choices *choices, const char *path, struct hot_choice *ret);

/* The path of a choice, by index from 0; NULL after the last. */
const char *hot_choices_nth(const struct hot_choices *choices, size_t index);

/* Same as engine_hot_places(), for a path that has tables. Returns -ENODATA for others. */
int hot_choices_places(const struct hot_choices *choices, const char *path, unsigned event,
		       enum hot_kind kind, struct hot_places *ret);

#endif
