// SPDX-License-Identifier: GPL-2.0
/* Sends a descriptor with a packet over a UNIX socket, and receives one (unix(7), SCM_RIGHTS). */
#ifndef PEBSD_PASSED_H
#define PEBSD_PASSED_H

#include <stddef.h>
#include <sys/socket.h>

/* Room for the control message of one descriptor. */
union passed_control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

/* Sends the packet with the descriptor, without blocking. Returns 0 or -errno. */
int passed_send(int fd, const void *packet, size_t size, int passed);

/*
 * Returns the descriptor that came with a received message, or -1. If several came, returns the last and closes
 * the others.
 */
int passed_take(struct msghdr *message);

#endif
