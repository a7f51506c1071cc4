// SPDX-License-Identifier: GPL-2.0
/*
 * Connects to the symbolizer if it is a unit of its own, pebsd-symbols.service. Reading the mappings of other
 * processes needs privileges, which pebsd itself then does not need. The unit's side is symbols_unit.h.
 */
#ifndef PEBSD_SYMBOLS_SOCKET_H
#define PEBSD_SYMBOLS_SOCKET_H

#include <sys/types.h>

#include "child/child.h"

/*
 * The socket of pebsd-symbols.socket. Its directory is root's, so that no other user can put a socket there.
 */
#define SYMBOLS_SOCKET "/run/pebsd-symbols/socket"

/*
 * Connects without waiting. Returns 0 or -errno:
 * - -ENOENT, -ECONNREFUSED: nobody listens.
 * - -EACCES: this user may not connect.
 * - -EAGAIN: too many connections wait.
 * - -EPERM: the listener is another user than root (SO_PEERCRED, unix(7)), so it is not the unit.
 */
int symbols_socket_connect(const char *path, struct child *ret);

/*
 * Returns whether this process lacks CAP_SYS_PTRACE, which the unit has. Without the unit, this process can
 * then name addresses only in programs of its own user.
 */
bool symbols_socket_is_needed(void);

/* recv(2), which also stores the sender's pid. Call it instead of recv() until `child->pid` is known. */
ssize_t symbols_socket_receive(struct child *child, void *packet, size_t size);

/*
 * Asks the unit for the name and the executable mappings of a process (process_code.h), over a separate
 * connection. Opens `connection` if it is closed, and closes it on failure. Blocks: at most a minute for the
 * unit to start, then at most SYMBOLS_QUERY_S for the answer. The caller frees `ret_text`. Returns 0 or
 * -errno, such as -ETIMEDOUT.
 */
int symbols_socket_code(const char *path, struct child *connection, u32 pid, char **ret_text);

#endif
