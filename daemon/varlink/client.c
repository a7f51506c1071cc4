// SPDX-License-Identifier: GPL-2.0
#include "varlink/client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/json_get.h"

#define REPLY_MAX   (256U << 20)
#define READ_BYTES  65536
#define REPLY_DEPTH 32

struct client {
	int fd;
	char *bytes; /* received and not yet parsed */
	size_t length, capacity;
	client_wait wait; /* NULL: the socket's own timeout */
	void *userdata;
};

int client_connect(const char *path, struct client **ret)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timeval patience = {.tv_sec = CLIENT_PATIENCE_SECONDS};
	_cleanup_close_ int fd = -1;
	struct client *client;

	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	(void)stpcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0 ||
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	client = calloc(1, sizeof(*client));
	if (!client)
		return -ENOMEM;
	client->fd = TAKE_FD(fd);
	*ret = client;
	return 0;
}

struct client *client_close(struct client *client)
{
	if (!client)
		return NULL;
	(void)close(client->fd);
	free(client->bytes);
	free(client);
	return NULL;
}

void client_set_wait(struct client *client, client_wait wait, void *userdata)
{
	client->wait = wait;
	client->userdata = userdata;
}

static int send_call(const struct client *client, const char *method, json_object *parameters, bool more)
{
	_cleanup_json_ json_object *owned = parameters;
	_cleanup_json_ json_object *call = json_object_new_object();
	const char *text;
	size_t length;

	if (!call || json_object_object_add(call, "method", json_object_new_string(method)) < 0 ||
	    (more && json_object_object_add(call, "more", json_object_new_boolean(1)) < 0) ||
	    (owned && json_object_object_add(call, "parameters", json_object_get(owned)) < 0))
		return -ENOMEM;
	text = json_object_to_json_string_length(call, JSON_C_TO_STRING_PLAIN, &length);
	if (!text)
		return -ENOMEM;
	for (length++; length > 0;) {
		ssize_t sent = send(client->fd, text, length, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN ? -ETIMEDOUT : errno == EPIPE ? -ECONNRESET : -errno;
		text += sent;
		length -= (size_t)sent;
	}
	return 0;
}

static int receive_more(struct client *client)
{
	ssize_t got;

	if (client->capacity - client->length < READ_BYTES) {
		size_t capacity = client->capacity ? 2 * client->capacity : 2 * (size_t)READ_BYTES;
		char *bytes;

		if (capacity > REPLY_MAX)
			return -EPROTO;
		bytes = realloc(client->bytes, capacity);
		if (!bytes)
			return -ENOMEM;
		client->bytes = bytes;
		client->capacity = capacity;
	}
	if (client->wait) {
		int r = client->wait(client->fd, client->userdata);

		if (r < 0)
			return r;
	}
	do
		got = recv(client->fd, client->bytes + client->length, READ_BYTES, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (got == 0)
		return -ECONNRESET;
	client->length += (size_t)got;
	return 0;
}

static bool has_message(const struct client *client, size_t from, size_t *ret_length)
{
	const char *end =
		client->length > from ? memchr(client->bytes + from, '\0', client->length - from) : NULL;

	if (end)
		*ret_length = (size_t)(end - client->bytes);
	return end;
}

static int parse_reply(const char *text, size_t length, struct client_reply *ret)
{
	_cleanup_json_ json_object *root = NULL;
	int r;

	r = json_parse(text, length, REPLY_DEPTH, &root);
	if (r < 0)
		return r == -ENOMEM ? r : -EPROTO;
	if (!json_object_is_type(root, json_type_object))
		return -EPROTO;
	ret->error = json_get_text(root, "error");
	if (!ret->error && json_get(root, "error"))
		return -EPROTO;
	ret->parameters = json_get_object(root, "parameters");
	ret->root = TAKE_PTR(root);
	return 0;
}

static int take_reply(struct client *client, struct client_reply *ret)
{
	size_t searched = 0;
	size_t length;
	int r;

	while (!has_message(client, searched, &length)) {
		searched = client->length;
		r = receive_more(client);
		if (r < 0)
			return r;
	}
	r = parse_reply(client->bytes, length, ret);
	client->length -= length + 1;
	memmove(client->bytes, client->bytes + length + 1, client->length);
	return r;
}

int client_call(struct client *client, const char *method, json_object *parameters, struct client_reply *ret)
{
	int r = send_call(client, method, parameters, false);

	return r < 0 ? r : take_reply(client, ret);
}

int client_stream(struct client *client, const char *method)
{
	return send_call(client, method, NULL, true);
}

int client_next(struct client *client, int output, struct client_reply *ret)
{
	struct pollfd fds[] = {{.fd = client->fd, .events = POLLIN}, {.fd = output}};
	size_t length;

	while (!has_message(client, 0, &length) && !fds[0].revents) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents)
			return -EPIPE;
	}
	return take_reply(client, ret);
}
