// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_requests.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/http_host.h"
#include "base/monotonic.h"
#include "http/server/http_answer.h"
#include "http/server/http_page.h"
#include "http/server/http_profile.h"
#include "http/server/http_server_internal.h"
#include "http/server/http_target.h"
#include "http/server/http_view_request.h"
#include "http/server/negotiate.h"

static struct http_connection *connection_of(struct MHD_Connection *library)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(library, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* An MHD_RequestCompletedCallback. `*state` is the body that was sent, or NULL. */
void http_requests_completed(void *userdata, struct MHD_Connection *connection, void **state,
			     enum MHD_RequestTerminationCode why)
{
	(void)userdata;
	(void)connection;
	(void)why;
	http_cache_release(*state);
	*state = NULL;
}

static enum MHD_Result ask(struct http_server *server, struct http_connection *connection, u32 kind, u64 had)
{
	int r = http_questions_ask(&server->questions, &connection->requester, kind, had, monotonic_ns());

	if (r < 0) {
		/* pebsd has ended, or it does not read its socket and will end this process. */
		http_server_end(server, r);
		return MHD_NO;
	}
	connection->asks = true;
	MHD_suspend_connection(connection->library);
	return MHD_YES;
}

static enum MHD_Result send_too_late(struct MHD_Connection *library)
{
	return http_send_later(library, HTTP_ANSWER_SECONDS,
			       "pebsd does not answer now: it is stopped or very busy.\n");
}

static enum MHD_Result send_failed(struct MHD_Connection *library, int error)
{
	_cleanup_free_ char *text = NULL;

	if (error == ETIMEDOUT)
		return send_too_late(library);
	if (asprintf(&text, "pebsd cannot render this page: %s. The log of pebsd may say more.\n",
		     strerror(error)) < 0) {
		text = NULL;
		return MHD_NO;
	}
	return http_send_text(library, MHD_HTTP_INTERNAL_SERVER_ERROR, text);
}

/* `*state` keeps the body until the request is completed. */
static enum MHD_Result send_body(struct http_server *server, struct http_connection *connection,
				 enum http_document document, void **state)
{
	struct MHD_Connection *library = connection->library;
	u32 form = HTTP_FORM(document) | (negotiate_gzip(MHD_lookup_connection_value(
						  library, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING))
						  ? HTTP_FORM_GZIP
						  : 0);
	struct http_cache_body *body = http_cache_current(&server->cache, form);

	if (!connection->answered && !http_cache_full(&server->cache, form))
		return ask(server, connection, form, body ? body->generation : 0);
	if (connection->error)
		return send_failed(library, connection->error);
	if (!body)
		return send_failed(library, EIO);
	http_cache_hold(body);
	*state = body;
	return MHD_queue_response(library, MHD_HTTP_OK, body->response);
}

static enum MHD_Result send_metrics(struct http_server *server, struct http_connection *connection,
				    void **state)
{
	bool openmetrics = negotiate_openmetrics(
		MHD_lookup_connection_value(connection->library, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));

	return send_body(server, connection, openmetrics ? HTTP_DOCUMENT_OPENMETRICS : HTTP_DOCUMENT_TEXT,
			 state);
}

/* `samples`: the answer is about sampling (/readyz), otherwise only about the daemon (/healthz). */
static enum MHD_Result send_health(struct http_server *server, struct http_connection *connection,
				   bool samples)
{
	_cleanup_free_ char *text = NULL;

	if (!connection->answered)
		return ask(server, connection, HTTP_QUESTION_HEALTH, 0);
	if (connection->error)
		return send_too_late(connection->library);
	if (samples ? !server->unready : server->works)
		return http_send_text(connection->library, MHD_HTTP_OK, "ok\n");
	if (asprintf(&text, "%s\n", server->reason ? server->reason : strerror(server->unready)) < 0) {
		text = NULL;
		return MHD_NO;
	}
	return http_send_text(connection->library, MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

/* An MHD_KeyValueIteratorN. */
static enum MHD_Result read_parameter(void *userdata, enum MHD_ValueKind kind, const char *key,
				      size_t key_size, const char *value, size_t value_size)
{
	(void)kind;
	(void)key_size;
	(void)value_size;
	http_view_parameter(userdata, key, value);
	return MHD_YES;
}

static enum MHD_Result refuse_view(struct MHD_Connection *library, unsigned int status, const char *sentence)
{
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "%s\n", sentence) < 0) {
		text = NULL;
		return MHD_NO;
	}
	return http_send_text(library, status, text);
}

/* Like http_profile_begin(), for a view. A zoom is refused if zooms are not served. */
static enum MHD_Result begin_view(struct http_server *server, struct http_connection *connection,
				  enum http_view_kind kind)
{
	static const struct http_pending_type view_type = {HTTP_PENDING_VIEW, HTTP_JSON_TYPE, NULL};
	static const struct http_pending_type zoom_type = {HTTP_PENDING_PROFILE, HTTP_JSON_TYPE, NULL};
	struct MHD_Connection *library = connection->library;
	const struct http_pending_type *type = &view_type;
	struct http_view_request request;
	struct http_message question;
	char text[HTTP_VIEW_TEXT_MAX];

	if (kind == HTTP_VIEW_ZOOM && !server->zooms)
		return refuse_view(library, MHD_HTTP_FORBIDDEN, HTTP_ZOOMS_NOT_SERVED);
	http_view_begin(&request, kind);
	(void)MHD_get_connection_values_n(library, MHD_GET_ARGUMENT_KIND, read_parameter, &request);
	if (!http_view_complete(&request, (u64)time(NULL)))
		return refuse_view(library, MHD_HTTP_BAD_REQUEST, request.mistake);
	if (request.seconds) {
		type = &zoom_type;
		question = (struct http_message){.type = HTTP_ASK_PROFILE,
						 .form = HTTP_PROFILE_FLAME,
						 .value = request.seconds,
						 .text = request.view.cgroup};
	} else {
		http_view_write(&request.view, text);
		question = (struct http_message){.type = HTTP_ASK_VIEW, .value = (u64)kind, .text = text};
	}
	return http_pending_begin(server->pending, type, library, connection->fd, connection->owner,
				  &question, &connection->waiting);
}

/* Begins a request that waits for a profile or a view. */
static enum MHD_Result begin_pending(struct http_server *server, struct http_connection *connection,
				     const enum http_view_kind *view)
{
	if (view)
		return begin_view(server, connection, *view);
	return http_profile_begin(server->pending, server->profiles, connection->library, connection->fd,
				  connection->owner, &connection->waiting);
}

/*
 * `view` NULL: a profile. When the request no longer waits, its deadline starts again, for sending the answer.
 */
static enum MHD_Result send_pending(struct http_server *server, struct http_connection *connection,
				    const enum http_view_kind *view)
{
	enum MHD_Result result = connection->waiting
					 ? http_pending_answer(connection->library, &connection->waiting)
					 : begin_pending(server, connection, view);

	if (!connection->waiting) {
		http_server_begin(connection);
		TAILQ_REMOVE(&server->connections, connection, entry);
		TAILQ_INSERT_TAIL(&server->connections, connection, entry);
	}
	return result;
}

/* An MHD_KeyValueIterator. */
static enum MHD_Result count_host(void *userdata, enum MHD_ValueKind kind, const char *key, const char *value)
{
	size_t *n = userdata;

	(void)kind;
	(void)value;
	*n += strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0;
	return MHD_YES;
}

/*
 * `authority`: the authority of the request target. If it is not empty, it replaces the value of the Host
 * header. Only an HTTP/1.0 request may then lack the header (RFC 9112, 3.2.2).
 */
static enum http_host check_host(const struct http_server *server, const struct http_connection *connection,
				 const char *version, const char *authority)
{
	union {
		struct sockaddr any;
		struct sockaddr_storage room;
	} arrived = {0};
	socklen_t length = sizeof(arrived);
	struct http_host_asked asked = {
		.host = MHD_lookup_connection_value(connection->library, MHD_HEADER_KIND,
						    MHD_HTTP_HEADER_HOST),
		.may_be_absent = strcmp(version, MHD_HTTP_VERSION_1_0) == 0,
		.arrived = &arrived.any,
		.names = server->hosts,
	};

	if (getsockname(connection->fd, &arrived.any, &length) < 0)
		return HTTP_HOST_WRONG;
	(void)MHD_get_connection_values(connection->library, MHD_HEADER_KIND, count_host, &asked.n);
	if (*authority && !asked.host && asked.may_be_absent)
		asked.n = 1;
	if (*authority && asked.n > 0)
		asked.host = authority;
	return http_host_check(&asked);
}

static bool has_parameter(struct MHD_Connection *library, const char *key)
{
	return MHD_lookup_connection_value_n(library, MHD_GET_ARGUMENT_KIND, key, strlen(key), NULL, NULL) ==
	       MHD_YES;
}

/* Two paths are views only with a parameter. Without it, they are documents about the present. */
static bool is_view(struct MHD_Connection *library, const char *path, enum http_view_kind *ret)
{
	if (!http_view_of_path(path, ret))
		return false;
	if (*ret == HTTP_VIEW_TOP)
		return has_parameter(library, "match");
	return *ret != HTTP_VIEW_ALERTS || has_parameter(library, "since") || has_parameter(library, "until");
}

/* An MHD_AccessHandlerCallback. NOLINTBEGIN(readability-non-const-parameter) */
enum MHD_Result http_requests_answer(void *userdata, struct MHD_Connection *library, const char *target,
				     const char *method, const char *version, const char *upload,
				     size_t *upload_length, void **state)
/* NOLINTEND(readability-non-const-parameter) */
{
	struct http_connection *connection = connection_of(library);
	struct http_server *server = userdata;
	char authority[HTTP_AUTHORITY_MAX];
	enum http_view_kind view;
	const char *path;

	(void)upload;
	(void)upload_length;
	if (!connection)
		return MHD_NO;
	if (!http_target_split(target, &path, authority))
		return http_send_text(
			library, MHD_HTTP_BAD_REQUEST,
			"The target of a request must be a path or a complete http:// address.\n");
	switch (check_host(server, connection, version, authority)) {
	case HTTP_HOST_RIGHT:
		break;
	case HTTP_HOST_MALFORMED:
		return http_send_text(library, MHD_HTTP_BAD_REQUEST,
				      "The request must have exactly one valid Host header.\n");
	case HTTP_HOST_WRONG:
		return http_send_text(
			library, MHD_HTTP_MISDIRECTED_REQUEST,
			"Nothing is served for this Host. Use the address of this machine, or add the name to `hosts` in [export] of pebsd.conf.\n");
	}
	/* Answer before a request body is read: no page here uses one. */
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return http_send_not_allowed(library, "GET, HEAD");
	if (strcmp(path, "/metrics") == 0)
		return send_metrics(server, connection, state);
	if (strcmp(path, "/healthz") == 0)
		return send_health(server, connection, false);
	if (strcmp(path, "/readyz") == 0)
		return send_health(server, connection, true);
	if (strcmp(path, HTTP_PROFILE_PATH) == 0)
		return strcmp(method, MHD_HTTP_METHOD_GET) == 0 ? send_pending(server, connection, NULL)
								: http_send_not_allowed(library, "GET");
	if (is_view(library, path, &view))
		return strcmp(method, MHD_HTTP_METHOD_GET) == 0 ? send_pending(server, connection, &view)
								: http_send_not_allowed(library, "GET");
	if (strcmp(path, "/top.json") == 0)
		return send_body(server, connection, HTTP_DOCUMENT_TOP, state);
	if (strcmp(path, "/alerts.json") == 0)
		return send_body(server, connection, HTTP_DOCUMENT_ALERTS, state);
	if (strcmp(path, "/") == 0)
		return http_page_send(library, server->origin, server->profiles);
	return http_send_text(
		library, MHD_HTTP_NOT_FOUND,
		server->profiles
			? "No page has this name. The pages are /, /metrics, /top.json, /alerts.json, /timeline.json, /range.json, /explain.json, /zoom.json, /healthz, /readyz and " HTTP_PROFILE_PATH
			  ".\n"
			: "No page has this name. The pages are /, /metrics, /top.json, /alerts.json, /timeline.json, /range.json, /explain.json, /zoom.json, /healthz and /readyz.\n");
}
