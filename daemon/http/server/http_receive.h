// SPDX-License-Identifier: GPL-2.0
/*
 * Handles the messages that pebsd sends to the process that speaks HTTP: bodies, health, profiles, settings
 * and the coming end of pebsd.
 */
#ifndef PEBSD_HTTP_RECEIVE_H
#define PEBSD_HTTP_RECEIVE_H

#include "http/shared/http_wire.h"

struct http_server;

/*
 * Handles one message, and takes the descriptor that came with it (-1: none). Requests that waited for it are
 * resumed. Returns 0; -EBADMSG if pebsd never sends such a message; or another -errno if nothing more can be
 * served.
 */
int http_receive(struct http_server *server, const struct http_message *message, int fd);

#endif
