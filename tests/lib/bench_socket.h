// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to programs on this machine, without a client library, so that the client's own work is not
 * measured.
 */
#ifndef PEBSD_BENCH_SOCKET_H
#define PEBSD_BENCH_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pebsd/types.h"

/* Returns a free TCP port of loopback, or 0 if there is none. */
u16 bench_free_port(void);

struct bench_scrape {
	size_t bytes;  /* size of the body as it was received */
	size_t series; /* lines of the body that are values; 0 for a compressed body */
};

/*
 * Gets /metrics once from a port of loopback. `gzip` allows a compressed answer. Returns 0 or -errno.
 * -EPROTO: the answer is not HTTP/1.x with status 200.
 */
int bench_scrape(u16 port, bool gzip, struct bench_scrape *ret);

/* Same as bench_scrape() without gzip, but retries for 10 s while the connection is refused. */
int bench_scrape_wait(u16 port, struct bench_scrape *ret);

/* Connects to a UNIX socket in the file system. Returns the descriptor or -errno. */
int bench_socket_connect(const char *path);

/*
 * Makes one Varlink call, and returns the number of bytes of the reply or -errno. -EPROTO: the reply is an
 * error.
 */
ssize_t bench_varlink(int fd, const char *call);

#endif
