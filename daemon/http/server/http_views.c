// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_views.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "http/server/http_answer.h"
#include "http/server/http_cache.h"
#include "http/server/http_view_request.h"

static const struct http_wait_type view_type = {HTTP_WAIT_VIEW, HTTP_JSON_TYPE, NULL};
static const struct http_wait_type zoom_type = {HTTP_WAIT_PROFILE, HTTP_JSON_TYPE, NULL};

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

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned int status, const char *sentence)
{
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "%s\n", sentence) < 0) {
		text = NULL;
		return MHD_NO;
	}
	return http_send_text(connection, status, text);
}

enum MHD_Result http_views_begin(struct http_waits *waits, enum http_view_kind kind, bool zooms,
				 struct MHD_Connection *connection, int fd, struct http_owner owner,
				 struct http_waiting **ret)
{
	struct http_view_request request;
	char text[HTTP_VIEW_TEXT_MAX];

	if (kind == HTTP_VIEW_ZOOM && !zooms)
		return refuse(connection, MHD_HTTP_FORBIDDEN, HTTP_ZOOMS_NOT_SERVED);
	http_view_begin(&request, kind);
	(void)MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, read_parameter, &request);
	if (!http_view_complete(&request, (u64)time(NULL)))
		return refuse(connection, MHD_HTTP_BAD_REQUEST, request.mistake);
	if (request.seconds)
		return http_waits_begin(waits, &zoom_type, connection, fd, owner,
					&(struct http_message){.type = HTTP_ASK_PROFILE,
							       .form = HTTP_PROFILE_FLAME,
							       .value = request.seconds,
							       .text = request.view.cgroup},
					ret);
	http_view_write(&request.view, text);
	return http_waits_begin(
		waits, &view_type, connection, fd, owner,
		&(struct http_message){.type = HTTP_ASK_VIEW, .value = (u64)kind, .text = text}, ret);
}
