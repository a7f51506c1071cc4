// SPDX-License-Identifier: GPL-2.0
/*
 * Whose a recorded sample is. A cgroup is known by its name: its path, "cgroup:ID" or "comm:NAME". The same
 * name in two recordings is one cgroup, and the same id under two names is two: ids are those of a machine
 * and its boot, and recordings may be of several.
 */
#ifndef PEBSD_REPLAY_NAMES_H
#define PEBSD_REPLAY_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "origin/replay/number_map.h"

struct replay_name {
	char *text;
	u64 id; /* under which its samples are delivered; 0 until the first */
};

/* Set in the ids that are ours: a cgroup's own is an inode number, which never comes near it. */
#define REPLAY_SYNTHETIC_ID (1ULL << 63)

/* All names of a replay. All zero is an empty one. */
struct replay_names {
	void *by_text; /* tsearch(3) */
	struct replay_name *list;
	size_t n;
	size_t capacity;
	size_t bytes;
	u64 n_synthetic;
	struct number_map ids; /* delivered ids that are taken */
};

/* The tasks and cgroups of one recording at one time, by index of their names. All zero is an empty one. */
struct replay_machine {
	u32 *comms; /* by tid: 1 + the name's index, 0 where it is not known */
	size_t n_comms;
	struct number_map cgroups; /* by recorded id */
};

void replay_names_clear(struct replay_names *names);
void replay_machine_clear(struct replay_machine *machine);

/*
 * Bounds on what a hostile recording makes us remember: more than any machine has had, and some 100 MiB. The
 * kernel cuts a comm (TASK_COMM_LEN) and gives no path of PATH_MAX or more.
 */
#define REPLAY_NAMES_BYTES_MAX ((size_t)64 << 20)
#define REPLAY_NAME_OVERHEAD   200 /* bytes that a name takes besides its text */
#define REPLAY_CGROUPS_MAX     ((size_t)1 << 19)
#define REPLAY_TID_MAX         (1U << 22) /* PID_MAX_LIMIT, include/linux/threads.h */
#define REPLAY_COMM_MAX        15

/*
 * The index of the name `prefix` and `text` (not terminated); a new one is added. Returns 0, -ENOMEM, or
 * -E2BIG where all names take more than REPLAY_NAMES_BYTES_MAX together.
 */
int replay_names_index(struct replay_names *names, const char *prefix, const char *text, size_t length,
		       u32 *ret);

/* The index of "comm:NAME", NAME cut where the kernel cuts it. Returns as above. */
int replay_names_comm(struct replay_names *names, const char *comm, size_t length, u32 *ret);

/*
 * Gives a name its id where it has none yet, in which case *ret_new is set: `recorded`, its id in the
 * recording, where that is not 0, not synthetic, and no other name has it, else a synthetic one. Returns 0 or
 * -ENOMEM.
 */
int replay_names_id(struct replay_names *names, u32 index, u64 recorded, bool *ret_new);

/* A task or a cgroup has a name. Returns 0, -ENOMEM, or -E2BIG for more than REPLAY_CGROUPS_MAX cgroups. */
int replay_machine_set_comm(struct replay_machine *machine, u32 tid, u32 name);
int replay_machine_set_path(struct replay_machine *machine, u64 id, u32 name);

/* A new task: it goes by its parent's comm until it has one of its own. Returns 0 or -ENOMEM. */
int replay_machine_fork(struct replay_machine *machine, u32 tid, u32 parent_tid);

/* The name of a sample's cgroup, by the id that was recorded with it, or by its task. Returns as
 * replay_names_index(). */
int replay_machine_cgroup(const struct replay_machine *machine, struct replay_names *names, u64 id, u32 *ret);
int replay_machine_comm(const struct replay_machine *machine, struct replay_names *names, u32 tid, u32 *ret);

#endif
