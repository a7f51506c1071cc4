// SPDX-License-Identifier: GPL-2.0
/* The TCP socket that a server listens on. */
#ifndef PEBSD_LISTEN_H
#define PEBSD_LISTEN_H

#include <netinet/in.h>
#include <sys/socket.h>

struct listen_address {
	struct sockaddr_storage socket;
	socklen_t length;
};

/*
 * "127.0.0.1:9754", "[::1]:9754", "[fe80::1%eth0]:9754": a numeric address, no name; port 0 takes a free one.
 * Pure but for the lookup of an interface's name. Returns 0 or -EINVAL.
 */
int listen_parse(const char *text, struct listen_address *ret);

/*
 * Opens a non-blocking listening socket there. Returns 0, and the caller closes *ret_fd; or -errno, and
 * *ret_message (the caller frees it; NULL without memory) says what failed and what to do.
 */
int listen_open(const char *text, int *ret_fd, char **ret_message);

/* The port that `fd` is bound to, or -errno. */
int listen_port(int fd);

#endif
