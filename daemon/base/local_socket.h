// SPDX-License-Identifier: GPL-2.0
/* A listening UNIX socket in the file system, for its owner and a group. */
#ifndef PEBSD_LOCAL_SOCKET_H
#define PEBSD_LOCAL_SOCKET_H

#include <sys/types.h>

struct local_socket {
	char *path;
	dev_t device; /* device and inode of the file that this process created */
	ino_t inode;
};

/* Words for messages. */
struct local_socket_words {
	const char *what;  /* "control socket" */
	const char *other; /* what to do to use another path, as in "give another --socket" */
};

/*
 * Creates the socket and the directories above it, and replaces a stale socket that nobody listens on. The
 * owner and the members of `group` (NULL: no group) may connect. Returns 0 or -errno. On an error,
 * `*ret_message` says what failed and what to do (NULL if memory ran out). The caller frees it. `*ret_fd` is
 * a non-blocking listening socket that the caller owns.
 */
int local_socket_listen(const struct local_socket_words *words, const char *path, const char *group,
			struct local_socket *ret, int *ret_fd, char **ret_message);

/* Removes the file if it is still the one that this process created. Accepts a zeroed struct, too. */
void local_socket_remove(struct local_socket *socket);

#endif
