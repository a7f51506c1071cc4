// SPDX-License-Identifier: GPL-2.0
#include "varlink_peer.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PATIENCE_US   2000000
#define MESSAGE_BYTES (8U << 20)

int peer_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	cr_assert(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "%s: %s", path,
		  strerror(errno));
	return fd;
}

void peer_send(sd_event *event, int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

		if (sent > 0) {
			bytes += sent;
			length -= (size_t)sent;
			continue;
		}
		cr_assert_eq(errno, EAGAIN, "send: %s", strerror(errno));
		cr_assert_geq(sd_event_run(event, PATIENCE_US), 0);
	}
}

void peer_call(sd_event *event, int fd, const char *text)
{
	peer_send(event, fd, text, strlen(text) + 1);
}

char *peer_receive(sd_event *event, int fd, int *ret_closed)
{
	char *message = malloc(MESSAGE_BYTES);
	size_t length = 0;
	int idle = 0;

	cr_assert_not_null(message);
	if (ret_closed)
		*ret_closed = 0;
	while (length < MESSAGE_BYTES) {
		ssize_t got;
		char *end;

		/* Read only the bytes of this message; the following bytes stay in the socket. */
		got = recv(fd, message + length, MESSAGE_BYTES - length, MSG_PEEK);
		if (got > 0) {
			end = memchr(message + length, '\0', (size_t)got);
			got = recv(fd, message + length,
				   end ? (size_t)(end - message) + 1 - length : (size_t)got, 0);
			length += (size_t)got;
			if (end)
				return message;
			continue;
		}
		if (got == 0 || errno != EAGAIN) {
			if (ret_closed)
				*ret_closed = 1;
			break;
		}
		if (idle)
			break;
		idle = sd_event_run(event, PATIENCE_US) == 0;
	}
	free(message);
	return NULL;
}

void peer_settle(sd_event *event)
{
	while (sd_event_run(event, 0) > 0)
		;
}
