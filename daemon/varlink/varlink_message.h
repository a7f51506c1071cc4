// SPDX-License-Identifier: GPL-2.0
/*
 * One Varlink call as a client sent it (https://varlink.org/Method-Call): a JSON object. A NUL byte ends each
 * message; the text here does not include it. Pure functions.
 */
#ifndef PEBSD_VARLINK_MESSAGE_H
#define PEBSD_VARLINK_MESSAGE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#define VARLINK_MESSAGE_MAX 65536 /* bytes, without the NUL */
#define VARLINK_DEPTH_MAX   16

struct varlink_message {
	json_object *root;       /* owns the rest */
	const char *method;      /* "INTERFACE.METHOD", with text on both sides of the last dot */
	size_t interface_length; /* bytes of `method` before the last dot */
	json_object *parameters; /* an object, or NULL if there are none */
	bool oneway;             /* the client wants no reply */
	bool more;               /* the client accepts several replies */
	bool upgrade;            /* the client wants to leave Varlink after the reply */
};

/*
 * Returns 0, -EBADMSG if `text` is not JSON, -EPROTO if it is JSON but not a call, or -ENOMEM. Release with
 * varlink_message_done(), which also accepts a zeroed struct.
 */
int varlink_message_parse(const char *text, size_t length, struct varlink_message *ret);
void varlink_message_done(struct varlink_message *message);

#endif
