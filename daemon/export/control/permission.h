// SPDX-License-Identifier: GPL-2.0
/*
 * Who may have more done than to be told figures. Who may connect at all is decided by the socket's mode, and
 * comes before this.
 */
#ifndef PEBSD_PERMISSION_H
#define PEBSD_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum permission_level {
	PERMISSION_ROOT,   /* root alone: reload. What names no other level has this one */
	PERMISSION_DETAIL, /* root, and whom `detail` in [control] names: pause, resume, what looks closer */
	PERMISSION_ASK,    /* whoever could connect: figures of cgroups, rules and alerts */
};

/* Whom `detail` names. All zero: nobody. */
struct permission {
	bool has_user; /* there is a user of the name */
	bool has_group;
	uid_t user;
	gid_t group;
	char name[256];
};

/* Who calls, as the kernel vouches for it: as of the connection. */
struct permission_peer {
	const struct ucred *credentials;
	const gid_t *groups; /* supplementary ones */
	size_t n_groups;
};

/*
 * Finds out who has the name: a user, a group or both, which may then both. "root" is the user alone. A
 * warning is told where there is neither; then, as with "root", nobody is named.
 */
void permission_resolve(const char *name, struct permission *ret);

/* Pure. */
bool permission_grants(const struct permission *permission, enum permission_level level,
		       const struct permission_peer *peer);

/* "root alone", "root and the group NAME" and so on, to stand after "permits this to". Pure. The caller
 * frees; NULL: no memory. */
char *permission_text(const struct permission *permission, enum permission_level level);

#endif
