// SPDX-License-Identifier: GPL-2.0
/* Sends and receives the messages of http_wire.h on a socket, some with a descriptor. Nothing here blocks. */
#ifndef PEBSD_HTTP_CHANNEL_H
#define PEBSD_HTTP_CHANNEL_H

#include "http/shared/http_wire.h"

/*
 * `passed` -1: no descriptor. Returns 0 or -errno: -EAGAIN if the other side does not read, -EMSGSIZE if the
 * text is too long.
 */
int http_channel_send(int fd, const struct http_message *message, int passed);

/*
 * Receives the next message; its text is in `packet`. `ret_passed` NULL: no descriptor is accepted. Returns
 * 1; 0 if the other side is gone; -EAGAIN if there is no message now; -EBADMSG if it is invalid; or another
 * -errno. With 1 the caller closes *ret_passed, which is -1 if no descriptor came.
 */
int http_channel_receive(int fd, u8 packet[static HTTP_WIRE_MAX], struct http_message *ret, int *ret_passed);

#endif
