// SPDX-License-Identifier: GPL-2.0
/* Many slow HTTP clients of one user, in a process of their own. */
#ifndef PEBSD_HTTP_CROWD_H
#define PEBSD_HTTP_CROWD_H

#include <sys/types.h>

#include "pebsd/types.h"

enum http_crowd_kind {
	HTTP_CROWD_SILENT, /* connects and sends nothing */
	HTTP_CROWD_DRIP,   /* sends a byte of its request every half second */
	HTTP_CROWD_DEAF,   /* requests /metrics and does not read */
	HTTP_CROWD_SIP,    /* requests /metrics and reads a byte every half second */
	HTTP_CROWD_KINDS,
};

struct http_crowd_settings {
	u16 port;                         /* on loopback */
	unsigned int n[HTTP_CROWD_KINDS]; /* clients of each kind */
	uid_t user;                       /* 0: the caller's */
};

struct http_crowd {
	pid_t pid;
	int line; /* socket to the process */
};

/* Returns the kind's name, such as "silent". */
const char *http_crowd_name(enum http_crowd_kind kind);

/*
 * Starts the process. It keeps all clients connected: a client whose connection ends connects again
 * immediately. Returns 0 or -errno.
 */
int http_crowd_start(const struct http_crowd_settings *settings, struct http_crowd *ret);

/*
 * Waits at most `wait_ms` until each client has been connected once. Returns the number of clients, or 0 on a
 * timeout.
 */
unsigned int http_crowd_wait(struct http_crowd *crowd, int wait_ms);

/* Ends the process. Returns how many connections the server has closed, or 0 if that is unknown. */
unsigned long http_crowd_stop(struct http_crowd *crowd);

#endif
