// SPDX-License-Identifier: GPL-2.0
/* The replies of pebsd to requests for profiles and views, which come later than the request. */
#ifndef PEBSD_HTTP_REPLY_H
#define PEBSD_HTTP_REPLY_H

#include <stddef.h>

#include "http/shared/http_wire.h"

/* Sends messages to the process that speaks HTTP. The caller of `send` still owns `passed`; -1: no descriptor. */
struct http_replies {
	void (*send)(void *userdata, const struct http_message *message, int passed);
	void *userdata;
};

/* Sends HTTP_TELL_REFUSED with this -errno. `text` NULL: that of the error. A text that is too long is cut. */
void http_reply_refuse(const struct http_replies *replies, u32 number, int error, const char *text);

/* Sends HTTP_TELL_READY with a copy of the data in sealed memory. Returns 0; or -errno, and then nothing is sent. */
int http_reply_ready(const struct http_replies *replies, u32 number, const void *data, size_t size);

#endif
