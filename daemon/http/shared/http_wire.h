// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between pebsd and the process that speaks HTTP for it, one in a packet of a socket that keeps
 * their bounds (SOCK_SEQPACKET). pebsd refuses whatever is not exactly of this form: who asks speaks with
 * anybody, and may have been taken over. Both are one program on one machine: numbers are as it has them.
 * Pure.
 */
#ifndef PEBSD_HTTP_WIRE_H
#define PEBSD_HTTP_WIRE_H

#include <stdbool.h>
#include <sys/types.h>

#include "pebsd/types.h"

#define HTTP_PROFILES_MAX 4 /* clients that wait for one, at most */

/* Told to who asks for one where none is served. */
#define HTTP_PROFILES_NOT_SERVED                                                                   \
	"Profiles are not served: `profiles = yes` in [export] would have them served to whoever " \
	"can connect. pebsctl profile makes them, too."

/* What the kernel holds of a connection: what was sent and not taken, what came and is not read, each
 * twice as much with its own bookkeeping (socket(7)); and for how long after the end. */
#define HTTP_SOCKETS_SENDING   (64 * 1024)
#define HTTP_SOCKETS_RECEIVING (16 * 1024)
#define HTTP_SOCKETS_LINGER_MS 10000

/* What that comes to, with the last piece that was sent, which may go beyond it. */
#define HTTP_SOCKETS_KERNEL_BYTES (192UL * 1024)

enum http_message_type {
	/* Questions. */
	HTTP_ASK_BODY, /* `form`; `value`: the generation that is had of it, 0: none */
	HTTP_ASK_HEALTH,
	HTTP_ASK_PROFILE, /* `number` of the requester's choice, `value`: seconds, `text`: the cgroup's path */
	HTTP_LEAVE_PROFILE, /* `number`: it is wanted no more; without an answer */
	/* Answers, in the order of the questions but for profiles. */
	HTTP_TELL_SETTINGS, /* to no question: `value`: HTTP_SETTING_*; `text`: the origin, a newline, hosts
			     */
	HTTP_TELL_SAME,     /* `form`: what is had is what there is */
	HTTP_TELL_BODY,     /* `form`; `value`: its generation; `size` bytes in a descriptor */
	HTTP_TELL_FAILED,   /* `form`, `error` */
	HTTP_TELL_HEALTH,   /* `error` 0: healthy; else `text` says why not */
	HTTP_TELL_PROFILE,  /* `number`; `size` bytes in a descriptor */
	HTTP_TELL_REFUSED,  /* `number` of a profile, `error`, `text` */
	HTTP_TELL_LAST, /* to no question: nobody is let in any more, and who was is answered; then it ends */
	HTTP_MESSAGE_TYPES,
};

#define HTTP_SETTING_PROFILES 1U /* they are served */

/* What there is to be served, as the daemon makes it once a collection. */
enum http_document {
	HTTP_DOCUMENT_TEXT,        /* /metrics, text format 0.0.4 */
	HTTP_DOCUMENT_OPENMETRICS, /* and OpenMetrics */
	HTTP_DOCUMENT_TOP,         /* /top.json */
	HTTP_DOCUMENT_ALERTS,      /* /alerts.json */
	HTTP_DOCUMENTS,
};

/* Forms: a document, plain or compressed. */
#define HTTP_FORM_GZIP      1U
#define HTTP_FORM(document) ((u32)(document) << 1)
#define HTTP_FORMS          (2U * HTTP_DOCUMENTS)

static inline enum http_document http_form_document(u32 form)
{
	return (enum http_document)(form >> 1);
}

/* Bytes with their 0. A longer text is not sent. */
#define HTTP_WIRE_TEXT_MAX 8192

#define HTTP_PROFILE_SECONDS_MAX 300

struct http_message {
	enum http_message_type type;
	u32 form;
	u32 number;
	u32 error; /* an errno */
	u64 value;
	u64 size;
	const char *text; /* NULL is "" to who reads it, in the packet */
};

#define HTTP_WIRE_HEAD 40
#define HTTP_WIRE_MAX  (HTTP_WIRE_HEAD + HTTP_WIRE_TEXT_MAX)

/* Returns the bytes written, or 0 where the text is too long. */
size_t http_wire_write(const struct http_message *message, u8 buffer[static HTTP_WIRE_MAX]);

/* A whole packet: 0, or -EBADMSG. Each field is in its range, whichever the type: the seconds of a profile
 * are 1 to HTTP_PROFILE_SECONDS_MAX. */
int http_wire_read(const void *packet, size_t size, struct http_message *ret);

/* Whether it is one that the process that speaks HTTP may send. */
bool http_wire_asks(const struct http_message *message);

#endif
