// SPDX-License-Identifier: GPL-2.0
/*
 * Decides who may call methods that do more than read counters. The mode of the socket already limits who can
 * connect.
 */
#ifndef PEBSD_PERMISSION_H
#define PEBSD_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum permission_level {
	PERMISSION_ROOT, /* only root and `own`: Reload, perf.data; also the level of a method that sets none */
	/*
	 * root, and the user or group that `detail` in [control] names: pause, resume, zooms, profiles and hot
	 * tables
	 */
	PERMISSION_DETAIL,
	PERMISSION_ASK, /* every client that could connect: counters, rules and alerts */
};

/* Who has a level besides root. All zero: nobody. */
struct permission {
	char name[256]; /* `detail` in [control] */
	bool has_user;  /* there is a user of this name; `user` */
	bool has_group; /* there is a group of this name; `group` */
	uid_t user;
	gid_t group;
	/* The user who runs the daemon has every level, if the daemon has no privileges that this user lacks. */
	bool has_own;
	uid_t own;
};

/* The caller's credentials, recorded by the kernel at connect(2). */
struct permission_peer {
	const struct ucred *credentials;
	const gid_t *groups; /* supplementary groups */
	size_t n_groups;
};

/*
 * Looks up the user and the group of this name; if both exist, both are permitted. Logs a warning if neither
 * exists. The name "root" permits nobody else: the user root has every level already, and the group root gets none.
 * Leaves `has_own` and `own` as they are.
 */
void permission_resolve(const char *name, struct permission *ret);

/* Returns true if the caller has the level. Pure. */
bool permission_grants(const struct permission *permission, enum permission_level level,
		       const struct permission_peer *peer);

/*
 * Says who has the level: "root alone", "root and the group NAME" and so on, to follow "permits this to".
 * Pure. The caller frees it; NULL: no memory.
 */
char *permission_text(const struct permission *permission, enum permission_level level);

#endif
