// SPDX-License-Identifier: GPL-2.0
/* Sends and receives packets with descriptors, for both sides of opener_wire.h. */
#ifndef PEBSD_OPENER_SOCKET_H
#define PEBSD_OPENER_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

/* The socket of pebsd-opener.socket. */
#define OPENER_SOCKET "/run/pebsd-opener.sock"

/*
 * Sends one packet. Never waits and never raises SIGPIPE. The caller keeps the descriptors. Returns 0 or
 * -errno.
 */
int opener_socket_send(int socket, const void *bytes, size_t size, const int *fds, size_t n_fds);

/*
 * Receives the next packet without waiting (-EAGAIN). `fds` has space for OPENER_FDS_MAX descriptors. The
 * caller owns those received, which are close-on-exec. Returns the size of the packet; 0 if the other side
 * has closed the connection; -EBADMSG if the packet was larger than `room` or had too many descriptors;
 * -EMFILE if this process had no descriptor left for those of the packet, which is then lost; or another
 * -errno. Descriptors are returned only with a positive size.
 */
ssize_t opener_socket_receive(int socket, void *bytes, size_t room, int *fds, size_t *ret_n_fds);

#endif
