// SPDX-License-Identifier: GPL-2.0
/*
 * Which cgroups have hot tables. The few sets of tables there are pass from one to the next: chosen,
 * released, at rest until no program can still write to them, cleared.
 */
#ifndef PEBSD_COLLECT_HOT_CHOICES_H
#define PEBSD_COLLECT_HOT_CHOICES_H

#include "collect/hot_places.h"
#include "kernel/kernel.h"

struct hot_choices;

/* 0 or -ENOMEM. `kernel` outlives it. */
int hot_choices_new(struct kernel *kernel, struct hot_choices **ret);
struct hot_choices *hot_choices_free(struct hot_choices *choices);
DEFINE_CLEANUP(struct hot_choices *, hot_choices_free)

/*
 * Chooses the slot of a path, which is a living cgroup's: until a time (CLOCK_MONOTONIC), or with `until_ns`
 * 0 by the configuration. One that is chosen already is so for the later of both. 0; -ENOSPC: no tables are
 * free; -EOPNOTSUPP: there are none; else -errno: they could not be made.
 */
int hot_choices_choose(struct hot_choices *choices, u32 slot, const char *path, u64 until_ns, u64 now_ns);

/* The slot's cgroup is no longer found, or not to be looked at any more. */
void hot_choices_release(struct hot_choices *choices, u32 slot, u64 now_ns);

/* Takes back what the configuration chose; nothing for a slot that it did not. */
void hot_choices_unconfigure(struct hot_choices *choices, u32 slot, u64 now_ns);

/* Ends what has lasted as long as was asked for, and clears what has rested. Returns whether tables became
 * free, which cgroups without any may have. */
bool hot_choices_tend(struct hot_choices *choices, u64 now_ns);

/* Whether some are at rest: who finds none may have those soon. */
bool hot_choices_resting(const struct hot_choices *choices);

/* Whether the slot has tables; and by `configured`, whether the configuration says so. */
bool hot_choices_has(const struct hot_choices *choices, u32 slot, bool *ret_configured);

/* Whether a cgroup of the path has tables; since when and until when, in `ret`. */
bool hot_choices_find(const struct hot_choices *choices, const char *path, struct hot_choice *ret);

/* By index from 0; NULL at the end. */
const char *hot_choices_nth(const struct hot_choices *choices, size_t index);

/* As engine_hot_places(), for a path that has tables, else -ENODATA. */
int hot_choices_places(const struct hot_choices *choices, const char *path, unsigned event,
		       enum hot_kind kind, struct hot_places *ret);

#endif
