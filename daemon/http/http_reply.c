// SPDX-License-Identifier: GPL-2.0
#include "http/http_reply.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/sealed.h"

void http_reply_refuse(const struct http_replies *replies, u32 number, int error, const char *text)
{
	/* The text may contain a long path. */
	_cleanup_free_ char *cut = text ? strndup(text, HTTP_WIRE_TEXT_MAX - 1) : NULL;

	replies->send(replies->userdata,
		      &(struct http_message){.type = HTTP_TELL_REFUSED,
					     .number = number,
					     .error = (u32)-error,
					     .text = cut ? cut : strerror(-error)},
		      -1);
}

int http_reply_ready(const struct http_replies *replies, u32 number, const void *data, size_t size)
{
	_cleanup_close_ int fd = -1;
	int r = sealed_new("pebsd-http", data, size, &fd);

	if (r < 0)
		return r;
	replies->send(replies->userdata,
		      &(struct http_message){.type = HTTP_TELL_READY, .number = number, .size = size}, fd);
	return 0;
}
