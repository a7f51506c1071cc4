// SPDX-License-Identifier: GPL-2.0
/* What the process that speaks HTTP gives up before it lets anybody in. */
#ifndef PEBSD_HTTP_CONFINE_H
#define PEBSD_HTTP_CONFINE_H

#include <stdbool.h>

#define HTTP_CONFINE_DATA  (32ULL << 20)  /* bytes of memory of its own (RLIMIT_DATA) */
#define HTTP_CONFINE_SPACE (512ULL << 20) /* of addresses (RLIMIT_AS) */
#define HTTP_CONFINE_FILES 384            /* descriptors: connections, bodies, and its own few */

/*
 * Of the calling process, for good. It has no capability, opens no file and no socket, starts nothing, and has
 * limits; what it may do is take connections, keep them, read and write, and take in what pebsd passes. Sockets
 * up to the descriptor `last_listener` it shares with whoever comes after it, so that it may do nothing to them
 * but accept(): not shut them down, nor set an option. Nor does it give descriptors away where `any_local`:
 * where one can connect by a UNIX socket. 0, or -errno where it is not confined so: then it must not serve.
 */
int http_confine(int last_listener, bool any_local);

#endif
