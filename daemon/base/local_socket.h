// SPDX-License-Identifier: GPL-2.0
/* A listening UNIX socket in the file system, for its owner and a group. */
#ifndef PEBSD_LOCAL_SOCKET_H
#define PEBSD_LOCAL_SOCKET_H

#include <sys/types.h>

struct local_socket {
	char *path;
	dev_t device; /* of the file that this process made */
	ino_t inode;
};

/* For messages. */
struct local_socket_words {
	const char *what;  /* "control socket" */
	const char *other; /* what to give in its place: "another --socket" */
};

/* Makes the directories above it, and takes the place of one that nobody answers on. Owner and `group` (NULL:
 * none) may connect. 0; or -errno, and *ret_message (the caller frees it; NULL without memory): what failed,
 * and what to do. `ret_fd` listens and does not block; it is the caller's. */
int local_socket_listen(const struct local_socket_words *words, const char *path, const char *group,
			struct local_socket *ret, int *ret_fd, char **ret_message);

/* Removes the file, where it is still the one that was made. Takes a zeroed one too. */
void local_socket_remove(struct local_socket *socket);

#endif
