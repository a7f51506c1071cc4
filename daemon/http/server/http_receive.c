// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_receive.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "http/server/http_server_internal.h"

static void answer_all(struct http_requesters *requesters, int error)
{
	struct http_requester *requester;

	while ((requester = TAILQ_FIRST(requesters))) {
		TAILQ_REMOVE(requesters, requester, entry);
		http_server_resume(requester, error);
	}
}

static int receive_metrics(struct http_server *server, const struct http_message *message, int fd)
{
	_cleanup_close_ int passed = fd;
	const struct http_cache_body *body;
	struct http_requesters requesters;
	int r = 0, error = (int)message->error;

	if (message->type == HTTP_TELL_FAILED && !error)
		error = EIO;
	if (message->type == HTTP_TELL_BODY && passed < 0)
		return -EBADMSG;
	/* -ENOSPC: clients get the body that is already served. */
	if (message->type == HTTP_TELL_BODY)
		r = http_cache_put(&server->cache, message->form, message->value, TAKE_FD(passed),
				   message->size);
	if (r < 0 && r != -ENOSPC)
		error = -r;
	body = http_cache_current(&server->cache, message->form);
	r = http_questions_answered(&server->questions, message->form, body ? body->generation : 0,
				    &requesters);
	answer_all(&requesters, error);
	return r;
}

static int receive_health(struct http_server *server, const struct http_message *message)
{
	struct http_requesters requesters;
	int r = http_questions_answered(&server->questions, HTTP_QUESTION_HEALTH, 0, &requesters);

	free(server->reason);
	server->reason = strdup(message->text);
	server->unready = (int)message->error;
	server->works = message->error == 0 || message->value != 0;
	answer_all(&requesters, 0);
	return r;
}

static int receive_settings(struct http_server *server, const struct http_message *message)
{
	size_t length = strcspn(message->text, "\n");
	char *origin = strndup(message->text, length);
	char *hosts = strdup(message->text + length + (message->text[length] != '\0'));

	if (!origin || !hosts) {
		free(origin);
		free(hosts);
		return -ENOMEM;
	}
	free(server->origin);
	free(server->hosts);
	server->origin = origin;
	server->hosts = hosts;
	server->profiles = message->value & HTTP_SETTING_PROFILES;
	server->zooms = message->value & HTTP_SETTING_ZOOMS;
	if (!server->configured)
		http_server_let_in(server, true);
	server->configured = true;
	return 0;
}

int http_receive(struct http_server *server, const struct http_message *message, int fd)
{
	_cleanup_close_ int passed = fd;

	switch (message->type) {
	case HTTP_TELL_SAME:
	case HTTP_TELL_BODY:
	case HTTP_TELL_FAILED:
		return receive_metrics(server, message, TAKE_FD(passed));
	case HTTP_TELL_HEALTH:
		return receive_health(server, message);
	case HTTP_TELL_READY:
	case HTTP_TELL_REFUSED:
		http_pending_receive(server->pending, message, TAKE_FD(passed));
		return 0;
	case HTTP_TELL_SETTINGS:
		return receive_settings(server, message);
	case HTTP_TELL_LAST:
		server->last = true;
		http_server_let_in(server, false);
		return 0;
	default:
		return -EBADMSG;
	}
}
