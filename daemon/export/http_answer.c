// SPDX-License-Identifier: GPL-2.0
#include "export/http_answer.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

enum MHD_Result http_send(struct MHD_Connection *connection, unsigned int status,
			  struct MHD_Response *response)
{
	enum MHD_Result sent = MHD_queue_response(connection, status, response);

	MHD_destroy_response(response);
	return sent;
}

struct MHD_Response *http_text(const char *type, const char *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);

	if (!response)
		return NULL;
	if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) != MHD_YES ||
	    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") != MHD_YES) {
		MHD_destroy_response(response);
		return NULL;
	}
	return response;
}

enum MHD_Result http_send_text(struct MHD_Connection *connection, unsigned int status, const char *text)
{
	struct MHD_Response *response = http_text("text/plain; charset=utf-8", text);

	return response ? http_send(connection, status, response) : MHD_NO;
}

enum MHD_Result http_send_not_allowed(struct MHD_Connection *connection, const char *allowed)
{
	_cleanup_free_ char *text = NULL;
	struct MHD_Response *response;

	if (asprintf(&text, "Only %s: nothing else is served here.\n", allowed) < 0) {
		text = NULL;
		return MHD_NO;
	}
	response = http_text("text/plain; charset=utf-8", text);
	if (!response)
		return MHD_NO;
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allowed);
	return http_send(connection, MHD_HTTP_METHOD_NOT_ALLOWED, response);
}

enum MHD_Result http_send_later(struct MHD_Connection *connection, unsigned int seconds, const char *text)
{
	struct MHD_Response *response = http_text("text/plain; charset=utf-8", text);
	char number[16];

	if (!response)
		return MHD_NO;
	(void)snprintf(number, sizeof(number), "%u", seconds);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, number);
	return http_send(connection, MHD_HTTP_SERVICE_UNAVAILABLE, response);
}
