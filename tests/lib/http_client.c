// SPDX-License-Identifier: GPL-2.0
#include "http_client.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

#define RECEIVED_MAX 65536 /* bytes per call */

int http_client_connect(const struct endpoint *server)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(endpoint_port(server)),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	cr_assert_geq(fd, 0);
	cr_assert(connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ||
		  errno == EINPROGRESS);
	return fd;
}

void http_client_send(struct endpoint *server, const struct http_client *client, const char *text)
{
	size_t length = strlen(text);

	while (length) {
		ssize_t sent = send(client->fd, text, length, MSG_NOSIGNAL);

		if (sent < 0 && errno != EAGAIN && errno != ENOTCONN)
			return; /* the server has closed the connection, which is an answer, too */
		if (sent > 0) {
			text += sent;
			length -= (size_t)sent;
		}
		endpoint_turn(server);
	}
}

bool http_client_receive(struct http_client *client)
{
	ssize_t got;

	if (client->allocated < client->length + RECEIVED_MAX + 1) {
		client->allocated = 2 * client->length + RECEIVED_MAX + 1;
		client->data = realloc(client->data, client->allocated);
		cr_assert_not_null(client->data);
	}
	got = recv(client->fd, client->data + client->length, RECEIVED_MAX, MSG_DONTWAIT);
	if (got == 0 || (got < 0 && errno != EAGAIN))
		client->ended = true;
	if (got > 0)
		client->length += (size_t)got;
	client->data[client->length] = '\0';
	return got != -1 || client->ended;
}

void http_client_receive_all(struct endpoint *server, struct http_client *client)
{
	while (!client->ended) {
		endpoint_turn(server);
		(void)http_client_receive(client);
	}
}

void http_client_done(struct http_client *client)
{
	(void)close(client->fd);
	free(client->data);
}

struct http_client http_client_exchange(struct endpoint *server, const char *format, ...)
{
	struct http_client client = {.fd = http_client_connect(server)};
	_cleanup_free_ char *request = NULL;
	va_list arguments;

	va_start(arguments, format);
	cr_assert_geq(vasprintf(&request, format, arguments), 0);
	va_end(arguments);
	http_client_send(server, &client, request);
	http_client_receive_all(server, &client);
	return client;
}

struct http_client http_client_get(struct endpoint *server, const char *path, const char *headers)
{
	return http_client_exchange(server, "GET %s HTTP/1.1\r\nHost: test\r\n%s\r\n", path, headers);
}

int http_client_status(const struct http_client *client)
{
	static const char version[] = "HTTP/1.1 ";

	if (!client->data || strncmp(client->data, version, strlen(version)) != 0)
		return 0;
	return (int)strtol(client->data + strlen(version), NULL, 10);
}

const char *http_client_body(const struct http_client *client, size_t *ret_length)
{
	const char *end = client->data ? strstr(client->data, "\r\n\r\n") : NULL;

	cr_assert_not_null(end, "no head in %.100s", client->data ? client->data : "");
	*ret_length = client->length - (size_t)(end + 4 - client->data);
	return end + 4;
}
