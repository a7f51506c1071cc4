// SPDX-License-Identifier: GPL-2.0
/* What pebsd says to the process that speaks HTTP: figures, health, settings, that it ends. */
#ifndef PEBSD_HTTP_TOLD_H
#define PEBSD_HTTP_TOLD_H

#include "http/shared/http_wire.h"

struct http_server;

/*
 * Takes in one message, and the descriptor that came with it (-1: none); requests that waited for it go on.
 * 0; -EBADMSG: it is none that pebsd sends; -errno: nothing can be served any more.
 */
int http_told(struct http_server *server, const struct http_message *message, int fd);

#endif
