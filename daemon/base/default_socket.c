// SPDX-License-Identifier: GPL-2.0
#include "base/default_socket.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *default_socket_below(const char *runtime, char own[DEFAULT_SOCKET_MAX])
{
	int length;

	if (!runtime || runtime[0] != '/')
		return DEFAULT_SOCKET;
	length = snprintf(own, DEFAULT_SOCKET_MAX, "%s/pebsd/control.sock", runtime);
	return length > 0 && length < DEFAULT_SOCKET_MAX ? own : DEFAULT_SOCKET;
}

/* Whether the service manager made the service's directory: it lists those that it made (systemd.exec(5)). */
static bool is_the_service(void)
{
	const char *made = getenv("RUNTIME_DIRECTORY");
	const size_t length = strlen(DEFAULT_SOCKET_DIRECTORY);

	while (made && *made) {
		const size_t here = strcspn(made, ":");

		if (here == length && strncmp(made, DEFAULT_SOCKET_DIRECTORY, length) == 0)
			return true;
		made += here + (made[here] == ':');
	}
	return false;
}

const char *default_socket_to_serve(char own[DEFAULT_SOCKET_MAX])
{
	if (geteuid() == 0 || is_the_service() || access(DEFAULT_SOCKET_DIRECTORY, W_OK | X_OK) == 0)
		return DEFAULT_SOCKET;
	return default_socket_below(getenv("XDG_RUNTIME_DIR"), own);
}

/* To connect, a process must be allowed to write to the socket (unix(7)). */
const char *default_socket_to_ask(char own[DEFAULT_SOCKET_MAX])
{
	const char *user = default_socket_below(getenv("XDG_RUNTIME_DIR"), own);

	/* A shell of root may have the directory of the user before. */
	if (geteuid() == 0)
		return DEFAULT_SOCKET;
	return access(DEFAULT_SOCKET, W_OK) < 0 && access(user, W_OK) == 0 ? user : DEFAULT_SOCKET;
}
