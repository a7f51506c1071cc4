// SPDX-License-Identifier: GPL-2.0
/* Questions to programs on this machine, asked without a library: the asker's own work is not measured. */
#ifndef PEBSD_BENCH_SOCKET_H
#define PEBSD_BENCH_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pebsd/types.h"

/* A TCP port of loopback that nobody has now; 0: there is none. */
u16 bench_free_port(void);

struct bench_scrape {
	size_t bytes;  /* of the body, as it came */
	size_t series; /* lines of it that are values; 0 of a compressed one */
};

/* Gets /metrics from a port of loopback, once; `gzip` says that it may be compressed. 0 or -errno: -EPROTO
 * for an answer that is none. */
int bench_scrape(u16 port, bool gzip, struct bench_scrape *ret);

/* The same until it answers, for some seconds. */
int bench_scrape_wait(u16 port, struct bench_scrape *ret);

/* Connects to a socket of the file system. The descriptor or -errno. */
int bench_socket_connect(const char *path);

/* One Varlink call and its answer, whose bytes are returned; -errno, -EPROTO where it is an error. */
ssize_t bench_varlink(int fd, const char *call);

#endif
