// SPDX-License-Identifier: GPL-2.0
#include "base/default_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *default_socket_below(const char *runtime, char own[DEFAULT_SOCKET_MAX])
{
	int length;

	if (!runtime || runtime[0] != '/')
		return DEFAULT_SOCKET;
	length = snprintf(own, DEFAULT_SOCKET_MAX, "%s/pebsd/control.sock", runtime);
	return length > 0 && length < DEFAULT_SOCKET_MAX ? own : DEFAULT_SOCKET;
}

/* Only the service has RUNTIME_DIRECTORY: the service manager sets it (systemd.exec(5)). */
const char *default_socket_to_serve(char own[DEFAULT_SOCKET_MAX])
{
	if (geteuid() == 0 || getenv("RUNTIME_DIRECTORY") ||
	    access(DEFAULT_SOCKET_DIRECTORY, W_OK | X_OK) == 0)
		return DEFAULT_SOCKET;
	return default_socket_below(getenv("XDG_RUNTIME_DIR"), own);
}

/* To connect, a process must be allowed to write to the socket (unix(7)). */
const char *default_socket_to_ask(char own[DEFAULT_SOCKET_MAX])
{
	const char *user = default_socket_below(getenv("XDG_RUNTIME_DIR"), own);

	return access(DEFAULT_SOCKET, W_OK) < 0 && access(user, W_OK) == 0 ? user : DEFAULT_SOCKET;
}
