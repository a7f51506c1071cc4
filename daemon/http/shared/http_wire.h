// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between pebsd and the process that speaks HTTP. Each is one packet of a SOCK_SEQPACKET socket.
 * pebsd refuses every message that does not have exactly this form, because an attacker may control the other
 * process. Both are one program on one machine, so numbers have the byte order of the machine. Pure
 * functions.
 */
#ifndef PEBSD_HTTP_WIRE_H
#define PEBSD_HTTP_WIRE_H

#include <sys/types.h>

#include "http/shared/http_view.h"
#include "pebsd/types.h"

#define HTTP_PROFILES_MAX 4 /* maximum number of clients that wait for a profile */

/*
 * Maximum number of clients that wait for a profile or are being sent one. Each of them has a profile of its
 * own.
 */
#define HTTP_PROFILES_HELD_MAX 8

/*
 * Maximum number of clients of one owner (http_places.h) that wait for a profile or are being sent one, and of
 * those that wait. So other owners also get profiles.
 */
#define HTTP_PROFILES_OWNER_MAX         4
#define HTTP_PROFILES_OWNER_WAITING_MAX 3

/*
 * Size limit of a profile. It is equal to the limit of the data that the profile is written from
 * (PROFILE_BYTES_MAX).
 */
#define HTTP_PROFILE_BYTES_MAX (48UL << 20)

/*
 * Maximum number of clients that wait for a view (http_view.h) or are being sent one, of all owners and of one. pebsd
 * is asked for few at a time, and for one of each owner. One whose client has left counts until pebsd answers. The
 * other requests wait in the process that speaks HTTP.
 */
#define HTTP_VIEWS_HELD_MAX        8
#define HTTP_VIEWS_OWNER_MAX       6 /* as many connections as a browser opens */
#define HTTP_VIEWS_ASKED_MAX       4
#define HTTP_VIEWS_OWNER_ASKED_MAX 1

/* Size limit of a view. */
#define HTTP_VIEW_BYTES_MAX (4UL << 20)

/* The answer to a request for a profile of a cgroup that cannot exist. */
#define HTTP_NO_SUCH_PATH "No cgroup has this path."

/* The answer to a request for a profile if profiles are not served. */
#define HTTP_PROFILES_NOT_SERVED \
	"Profiles are not served. `profiles = yes` in [export] serves them to every client that can connect. pebsctl profile also makes them."

/* The same for /zoom.json, which is also served if the samples are modelled. */
#define HTTP_ZOOMS_NOT_SERVED \
	"Zooms are not served. `profiles = yes` in [export] serves them to every client that can connect. pebsctl zoom also shows them."

/*
 * The kernel's buffers of a connection, for bytes that the client has not acknowledged and bytes that are not
 * read. The kernel doubles both values for its own bookkeeping (socket(7)). The last one is the time after
 * which unacknowledged data ends the connection.
 */
#define HTTP_SOCKETS_SENDING   (64 << 10)
#define HTTP_SOCKETS_RECEIVING (16 << 10)
#define HTTP_SOCKETS_LINGER_MS 10000

/* Both buffers after they are doubled, and the last piece that was sent, which may exceed its buffer. */
#define HTTP_SOCKETS_KERNEL_BYTES (192UL * 1024)

enum http_message_type {
	/* Questions, up to HTTP_LEAVE. */
	HTTP_ASK_BODY, /* `form`; `value`: the generation that the requester has already, 0: none */
	HTTP_ASK_HEALTH,
	/*
	 * `number`: chosen by the requester, `form`: enum http_profile_form, `value`: seconds, `text`: the cgroup's
	 * path
	 */
	HTTP_ASK_PROFILE,
	HTTP_ASK_VIEW, /* `number` as above, `value`: enum http_view_kind, `text`: its parameters (http_view.h) */
	/*
	 * `number`: nobody waits for this profile or view any more. A view is still answered when pebsd has a place for
	 * another one; a profile is not.
	 */
	HTTP_LEAVE,
	/* Answers, in the order of the questions, except those on profiles and views. */
	/* Answers no question. `value`: HTTP_SETTING_*; `text`: the origin, a newline, hosts. */
	HTTP_TELL_SETTINGS,
	HTTP_TELL_SAME,   /* `form`: the body that the requester has is current */
	HTTP_TELL_BODY,   /* `form`; `value`: its generation; `size` bytes in a descriptor */
	HTTP_TELL_FAILED, /* `form`, `error` */
	/* `error` 0: pebsd samples; otherwise `text` says why not, and `value` is 1 if pebsd itself works, or 0. */
	HTTP_TELL_HEALTH,
	HTTP_TELL_READY,   /* `number` of a profile or view; `size` bytes in a descriptor */
	HTTP_TELL_REFUSED, /* `number` of a profile or view, `error`, `text` */
	/* Answers no question: accept no more connections, answer the current ones, then end. */
	HTTP_TELL_LAST,
	HTTP_MESSAGE_TYPES,
};

#define HTTP_SETTING_PROFILES 1U /* profiles are served */
#define HTTP_SETTING_ZOOMS    2U /* /zoom.json is served */

enum http_profile_form {
	HTTP_PROFILE_PPROF,
	HTTP_PROFILE_FLAME, /* JSON for the page */
	HTTP_PROFILE_FORMS,
};

/* The documents that the daemon makes once per collection. */
enum http_document {
	HTTP_DOCUMENT_TEXT,        /* /metrics, text format 0.0.4 */
	HTTP_DOCUMENT_OPENMETRICS, /* /metrics, OpenMetrics */
	HTTP_DOCUMENT_TOP,         /* /top.json */
	HTTP_DOCUMENT_ALERTS,      /* /alerts.json */
	HTTP_DOCUMENTS,
};

/* A form is a document, plain or compressed. */
#define HTTP_FORM_GZIP      1U
#define HTTP_FORM(document) ((u32)(document) << 1)
#define HTTP_FORMS          (2U * HTTP_DOCUMENTS)

static inline enum http_document http_form_document(u32 form)
{
	return (enum http_document)(form >> 1);
}

/* Bytes including the final NUL. A longer text is not sent. */
#define HTTP_WIRE_TEXT_MAX 8192

#define HTTP_PROFILE_SECONDS_MAX 300

struct http_message {
	enum http_message_type type;
	u32 form;
	u32 number;
	u32 error; /* an errno */
	u64 value;
	u64 size;
	const char *text; /* NULL is received as ""; a received text is in the packet */
};

#define HTTP_WIRE_HEAD 40
#define HTTP_WIRE_MAX  (HTTP_WIRE_HEAD + HTTP_WIRE_TEXT_MAX)

/* Returns the number of bytes written, or 0 if the text is too long. */
size_t http_wire_write(const struct http_message *message, u8 buffer[static HTTP_WIRE_MAX]);

/*
 * Parses a whole packet. Returns 0 or -EBADMSG. The form and the error are in range in every message, and the
 * form and the seconds of HTTP_ASK_PROFILE and the kind of HTTP_ASK_VIEW are valid.
 */
int http_wire_read(const void *packet, size_t size, struct http_message *ret);

#endif
