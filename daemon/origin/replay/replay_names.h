// SPDX-License-Identifier: GPL-2.0
/*
 * Assigns recorded samples to cgroups. A cgroup is identified by its name: its path, "cgroup:ID" or "comm:NAME".
 * The same name in two recordings is one cgroup. The same id with two names is two cgroups, because ids belong to
 * one boot of one machine, and recordings may come from several.
 */
#ifndef PEBSD_REPLAY_NAMES_H
#define PEBSD_REPLAY_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/number_map.h"

struct replay_name {
	char *text;
	u64 id; /* the id under which its samples are delivered; 0 before the first sample */
};

/* Set in ids assigned by the replay. A recorded id is an inode number, which never gets this large. */
#define REPLAY_SYNTHETIC_ID (1ULL << 63)

/* All names of a replay. All zero is an empty set. */
struct replay_names {
	void *by_text; /* tsearch(3) */
	struct replay_name *list;
	size_t n;
	size_t capacity;
	size_t bytes;
	u64 n_synthetic;
	struct number_map ids; /* delivered ids that are in use */
};

/* The tasks and cgroups of one recording at one time. Names are indexes. All zero is an empty machine. */
struct replay_machine {
	u32 *comms; /* by tid: 1 + the index of the name; 0 if it is not known */
	size_t n_comms;
	struct number_map cgroups; /* index of the name by recorded id */
};

void replay_names_clear(struct replay_names *names);
void replay_machine_clear(struct replay_machine *machine);

/*
 * Limits for the names that a hostile recording can make the replay store: more than any machine has had, and
 * some 100 MiB. The kernel truncates a comm (TASK_COMM_LEN) and never reports a path of PATH_MAX bytes or
 * more.
 */
#define REPLAY_NAMES_BYTES_MAX ((size_t)64 << 20)
#define REPLAY_NAME_OVERHEAD   200 /* bytes that a name takes besides its text */
#define REPLAY_CGROUPS_MAX     ((size_t)1 << 19)
#define REPLAY_TID_MAX         (1U << 22) /* PID_MAX_LIMIT, include/linux/threads.h */
#define REPLAY_COMM_MAX        15

/*
 * Returns the index of the name made of `prefix` and `text`, which is not terminated. Adds the name if it is
 * new. Returns 0, -ENOMEM, or -E2BIG if all names together take more than REPLAY_NAMES_BYTES_MAX.
 */
int replay_names_index(struct replay_names *names, const char *prefix, const char *text, size_t length,
		       u32 *ret);

/*
 * Returns the index of "comm:NAME", with NAME truncated as the kernel does. Returns like
 * replay_names_index().
 */
int replay_names_comm(struct replay_names *names, const char *comm, size_t length, u32 *ret);

/*
 * Assigns an id to a name that has none yet. *ret_new is true if it had none. The id is `recorded`, the one in the
 * recording, if that is not 0, not synthetic, and not used by another name. Otherwise the id is synthetic. Returns
 * 0 or -ENOMEM.
 */
int replay_names_id(struct replay_names *names, u32 index, u64 recorded, bool *ret_new);

/*
 * Set the name of a task or a cgroup. They return 0, -ENOMEM, or -E2BIG for more than REPLAY_CGROUPS_MAX
 * cgroups.
 */
int replay_machine_set_comm(struct replay_machine *machine, u32 tid, u32 name);
int replay_machine_set_path(struct replay_machine *machine, u64 id, u32 name);

/* Adds a new task, which has its parent's comm until it gets its own. Returns 0 or -ENOMEM. */
int replay_machine_fork(struct replay_machine *machine, u32 tid, u32 parent_tid);

/*
 * Return the name of a sample's cgroup, by the recorded id or by its task. They return like
 * replay_names_index().
 */
int replay_machine_cgroup(const struct replay_machine *machine, struct replay_names *names, u64 id, u32 *ret);
int replay_machine_comm(const struct replay_machine *machine, struct replay_names *names, u32 tid, u32 *ret);

#endif
