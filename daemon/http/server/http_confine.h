// SPDX-License-Identifier: GPL-2.0
/* The privileges that the process that speaks HTTP drops before it accepts connections. */
#ifndef PEBSD_HTTP_CONFINE_H
#define PEBSD_HTTP_CONFINE_H

#include <stdbool.h>

#define HTTP_CONFINE_DATA  (32ULL << 20)  /* bytes of private memory (RLIMIT_DATA) */
#define HTTP_CONFINE_SPACE (512ULL << 20) /* bytes of address space (RLIMIT_AS) */
#define HTTP_CONFINE_FILES 384            /* descriptors: connections, bodies, and a few of its own */

/*
 * Confines the calling process for good. It then has no capabilities, cannot open files or sockets, cannot
 * start programs, and has resource limits. It can accept connections, read and write them, and receive
 * messages and descriptors from pebsd.
 *
 * Descriptors up to `last_listener` are the listening sockets. A restarted HTTP process uses them again, so this
 * process can only accept connections on them: it cannot write to them, shut them down or set options.
 *
 * If `any_local` is true, clients can connect by a UNIX socket, and the process cannot send descriptors to them.
 * Returns 0, or -errno if a restriction failed: then it must not serve.
 */
int http_confine(int last_listener, bool any_local);

#endif
