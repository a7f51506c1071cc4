// SPDX-License-Identifier: GPL-2.0
/*
 * The path of the control socket if nobody gives one: that of the service, or that of a daemon which an ordinary user
 * runs, in the user's own runtime directory.
 */
#ifndef PEBSD_DEFAULT_SOCKET_H
#define PEBSD_DEFAULT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#define DEFAULT_SOCKET_DIRECTORY "/run/pebsd"
#define DEFAULT_SOCKET           DEFAULT_SOCKET_DIRECTORY "/control.sock"
#define DEFAULT_SOCKET_MAX       108 /* bytes, as in struct sockaddr_un */

/*
 * Returns the socket below `runtime`, a user's runtime directory (XDG_RUNTIME_DIR), in `own`; or DEFAULT_SOCKET if
 * `runtime` is NULL, is not absolute, or is too long. Pure.
 */
const char *default_socket_below(const char *runtime, char own[DEFAULT_SOCKET_MAX]);

/*
 * Returns the socket on which this process serves: the user's own, unless the process may write to the service's
 * directory.
 */
const char *default_socket_to_serve(char own[DEFAULT_SOCKET_MAX]);

/* Returns the socket to connect to: the service's, unless only the user's own is there and may be used. */
const char *default_socket_to_ask(char own[DEFAULT_SOCKET_MAX]);

#endif
