// SPDX-License-Identifier: GPL-2.0
/* The process that speaks HTTP: `pebsd --http`, which pebsd runs by itself. */
#ifndef PEBSD_HTTP_WORKER_H
#define PEBSD_HTTP_WORKER_H

/* Serves on the listening sockets from CHILD_PASSED_FIRST on, and tells users apart by the socket after them if
 * there is one (http_owner.h), until pebsd is gone. `line` is the socket to it.
 * Returns an exit code. */
int http_worker(int line);

#endif
