// SPDX-License-Identifier: GPL-2.0
/* Packets with descriptors beside them, for either side of opener_wire.h. */
#ifndef PEBSD_OPENER_SOCKET_H
#define PEBSD_OPENER_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

/* Where pebsd-opener.socket listens. */
#define OPENER_SOCKET "/run/pebsd-opener.sock"

/* Sends one packet; never waits, and never raises SIGPIPE. The descriptors stay the caller's. Returns 0 or
 * -errno. */
int opener_socket_send(int socket, const void *bytes, size_t size, const int *fds, size_t n_fds);

/*
 * Takes the next packet, without waiting (-EAGAIN). `fds` has room for OPENER_FDS_MAX; what came is the
 * caller's, and close-on-exec. Returns its bytes; 0: the other side is gone; -EBADMSG: it was larger than
 * `room`, or came with more descriptors; or -errno. Only with a positive number there are descriptors.
 */
ssize_t opener_socket_receive(int socket, void *bytes, size_t room, int *fds, size_t *ret_n_fds);

#endif
