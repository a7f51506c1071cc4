// SPDX-License-Identifier: GPL-2.0
/* The client's end of a Varlink connection, in the process and event loop of the tested server. */
#ifndef PEBSD_VARLINK_PEER_H
#define PEBSD_VARLINK_PEER_H

#include <stddef.h>
#include <systemd/sd-event.h>

/* Connects to a UNIX socket without blocking. Fails the test on error. */
int peer_connect(const char *path);

/* Sends all bytes, and runs the loop while the socket is full. */
void peer_send(sd_event *event, int fd, const char *bytes, size_t length);

/* Sends a text and its NUL. */
void peer_call(sd_event *event, int fd, const char *text);

/*
 * Runs the loop until one complete message has arrived. Returns it (the caller frees it). Returns NULL if the
 * server closed the connection or nothing arrived for two seconds; `ret_closed` (may be NULL) tells which.
 */
char *peer_receive(sd_event *event, int fd, int *ret_closed);

/* Makes a call and expects exactly this answer. */
#define peer_expect(event, fd, call, answer)                           \
	do {                                                           \
		char *_got;                                            \
		peer_call(event, fd, call);                            \
		_got = peer_receive(event, fd, NULL);                  \
		cr_expect_str_eq(_got ? _got : "(no answer)", answer); \
		free(_got);                                            \
	} while (0)

/* Runs the loop until it has nothing more to do immediately. */
void peer_settle(sd_event *event);

#endif
