// SPDX-License-Identifier: GPL-2.0
/* A crowd of slow HTTP clients of one user, in a process of its own. */
#ifndef PEBSD_HTTP_CROWD_H
#define PEBSD_HTTP_CROWD_H

#include <sys/types.h>

#include "pebsd/types.h"

enum http_crowd_kind {
	HTTP_CROWD_SILENT, /* connects and says nothing */
	HTTP_CROWD_DRIP,   /* sends a byte of its request each half second */
	HTTP_CROWD_DEAF,   /* requests /metrics and does not read */
	HTTP_CROWD_SIP,    /* requests /metrics and reads a byte each half second */
	HTTP_CROWD_KINDS,
};

struct http_crowd_settings {
	u16 port;                         /* of loopback */
	unsigned int n[HTTP_CROWD_KINDS]; /* clients of each kind */
	uid_t user;                       /* 0: the caller's */
};

struct http_crowd {
	pid_t pid;
	int line; /* to its process */
};

/* "silent", ... */
const char *http_crowd_name(enum http_crowd_kind kind);

/* Starts the process, which keeps all clients connected: one whose connection ends connects again at once.
 * Returns 0 or -errno. */
int http_crowd_start(const struct http_crowd_settings *settings, struct http_crowd *ret);

/* Waits until each client has had a connection once, at most `wait_ms`. Returns how many have. */
unsigned int http_crowd_wait(struct http_crowd *crowd, int wait_ms);

/* Ends it. Returns how many connections the server has ended; 0 if that is not known. */
unsigned long http_crowd_stop(struct http_crowd *crowd);

#endif
