// SPDX-License-Identifier: GPL-2.0
/*
 * The symbolizer as a unit of its own, pebsd-symbols.service, asked through its socket: reading what other
 * processes have mapped takes rights that pebsd itself then does without. The unit's side is symbols_unit.h.
 */
#ifndef PEBSD_SYMBOLS_SOCKET_H
#define PEBSD_SYMBOLS_SOCKET_H

#include <sys/types.h>

#include "child/child.h"

/* pebsd-symbols.socket. Its directory is root's, so that nobody else puts a socket there. */
#define SYMBOLS_SOCKET "/run/pebsd-symbols/socket"

/*
 * Connects, without waiting. 0; -ENOENT, -ECONNREFUSED: nobody listens there; -EACCES: this user may not;
 * -EAGAIN: too many wait; -EPERM: it was not root who listened there first (SO_PEERCRED, unix(7)), so that it
 * is not the unit; or another -errno.
 */
int symbols_socket_connect(const char *path, struct child *ret);

/* Whether this process has not the rights itself that the unit has: names of its own user's programs alone
 * are to be had without it. */
bool symbols_socket_is_needed(void);

/* recv(2), and takes note of who sent it: to be called until `child->pid` is known. */
ssize_t symbols_socket_receive(struct child *child, void *packet, size_t size);

/*
 * What a process executes from (process_code.h), asked over a connection of its own: `connection` is opened
 * where it is closed, and closed where it fails. Waits: for the unit to start a minute at most, then for the
 * answer SYMBOLS_QUESTION_S. `ret_text` is the caller's. 0 or -errno; -ETIMEDOUT.
 */
int symbols_socket_code(const char *path, struct child *connection, u32 pid, char **ret_text);

#endif
