// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define TEXT_BLOCK 1024 /* bytes per call of read_text() */

int http_describe(struct MHD_Response *response, const char *type, const char *policy)
{
	const char *const headers[][2] = {
		{MHD_HTTP_HEADER_CONTENT_TYPE, type},
		{MHD_HTTP_HEADER_CONNECTION, "close"},
		{MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"X-Frame-Options", "DENY"}, /* for browsers that do not know frame-ancestors */
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Referrer-Policy", "no-referrer"},
		{"Content-Security-Policy", policy ? policy : "default-src 'none'; frame-ancestors 'none'"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		if (MHD_add_response_header(response, headers[i][0], headers[i][1]) != MHD_YES)
			return -ENOMEM;
	return 0;
}

enum MHD_Result http_send(struct MHD_Connection *connection, unsigned int status,
			  struct MHD_Response *response)
{
	enum MHD_Result sent = MHD_queue_response(connection, status, response);

	MHD_destroy_response(response);
	return sent;
}

/* An MHD_ContentReaderCallback. */
static ssize_t read_text(void *userdata, uint64_t at, char *buffer, size_t room)
{
	const char *text = userdata;
	size_t length = strlen(text + at);

	if (length > room)
		length = room;
	memcpy(buffer, text + at, length);
	return length > 0 ? (ssize_t)length : MHD_CONTENT_READER_END_OF_STREAM;
}

/*
 * Uses a reader callback instead of a buffer. The library sends buffers with sendmsg(), which this process
 * must not use if it could pass on descriptors (http_confine.h).
 */
struct MHD_Response *http_text(const char *type, const char *policy, const char *text)
{
	char *copy = strdup(text);
	struct MHD_Response *response =
		copy ? MHD_create_response_from_callback(strlen(copy), TEXT_BLOCK, read_text, copy, free)
		     : NULL;

	if (!response) {
		free(copy);
		return NULL;
	}
	if (http_describe(response, type, policy) < 0) {
		MHD_destroy_response(response);
		return NULL;
	}
	return response;
}

enum MHD_Result http_send_text(struct MHD_Connection *connection, unsigned int status, const char *text)
{
	struct MHD_Response *response = http_text("text/plain; charset=utf-8", NULL, text);

	return response ? http_send(connection, status, response) : MHD_NO;
}

enum MHD_Result http_send_not_allowed(struct MHD_Connection *connection, const char *allowed)
{
	_cleanup_free_ char *text = NULL;
	struct MHD_Response *response;

	if (asprintf(&text, "This page supports only %s.\n", allowed) < 0) {
		text = NULL;
		return MHD_NO;
	}
	response = http_text("text/plain; charset=utf-8", NULL, text);
	if (!response)
		return MHD_NO;
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allowed);
	return http_send(connection, MHD_HTTP_METHOD_NOT_ALLOWED, response);
}

enum MHD_Result http_send_later(struct MHD_Connection *connection, unsigned int seconds, const char *text)
{
	struct MHD_Response *response = http_text("text/plain; charset=utf-8", NULL, text);
	char number[16];

	if (!response)
		return MHD_NO;
	(void)snprintf(number, sizeof(number), "%u", seconds);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, number);
	return http_send(connection, MHD_HTTP_SERVICE_UNAVAILABLE, response);
}
