// SPDX-License-Identifier: GPL-2.0
/* The listening socket of the control interface in the file system. */
#ifndef PEBSD_CONTROL_SOCKET_H
#define PEBSD_CONTROL_SOCKET_H

#include <sys/types.h>

struct control_socket {
	char *path;
	dev_t device; /* of the file that this process made */
	ino_t inode;
};

/* As control_new() says. `ret_fd` listens and does not block; it is the caller's. */
int control_socket_listen(const char *path, const char *group, struct control_socket *ret, int *ret_fd,
			  char **ret_message);

/* Removes the file, where it is still the one that was made. Takes a zeroed one too. */
void control_socket_remove(struct control_socket *socket);

#endif
