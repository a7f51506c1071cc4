// SPDX-License-Identifier: GPL-2.0
/* The process that speaks HTTP: `pebsd --http`, which pebsd itself starts. */
#ifndef PEBSD_HTTP_WORKER_H
#define PEBSD_HTTP_WORKER_H

/*
 * Serves on the listening sockets from descriptor CHILD_PASSED_FIRST on, until pebsd is gone. If a socket to
 * look up users (http_owner.h) follows them, uses it to tell users apart. `channel` is the socket to pebsd.
 * Returns an exit code.
 */
int http_worker(int channel);

#endif
