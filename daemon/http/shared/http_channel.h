// SPDX-License-Identifier: GPL-2.0
/* Messages of http_wire.h through a socket, with a descriptor beside some. Nothing here pending. */
#ifndef PEBSD_HTTP_LINE_H
#define PEBSD_HTTP_LINE_H

#include "http/shared/http_wire.h"

/* `passed` -1: none. 0 or -errno: -EAGAIN where the other side takes no more now, -EMSGSIZE for a text that
 * is too long. */
int http_channel_send(int fd, const struct http_message *message, int passed);

/*
 * The next message; its text is `packet`'s. `ret_passed` NULL: no descriptor is taken in. Returns 1; 0: the
 * other side is gone; -EAGAIN: there is none now; -EBADMSG; -errno. With 1 the caller closes *ret_passed,
 * which is -1 where none came.
 */
int http_channel_receive(int fd, u8 packet[static HTTP_WIRE_MAX], struct http_message *ret, int *ret_passed);

#endif
