// SPDX-License-Identifier: GPL-2.0
/*
 * One Varlink call as a client sent it (https://varlink.org/Method-Call): a JSON object, ended by a NUL byte
 * that is no part of it. Pure.
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
	const char *method;      /* "INTERFACE.METHOD": not empty on either side of the last point */
	size_t interface_length; /* bytes of `method` before that point */
	json_object *parameters; /* an object, or NULL where there are none */
	bool oneway;             /* wants no reply at all */
	bool more;               /* takes several replies */
	bool upgrade;            /* wants to leave Varlink after the reply */
};

/*
 * Returns 0, -EBADMSG where `text` is no JSON, -EPROTO where it is but is no call, or -ENOMEM. Release with
 * varlink_message_done(), which takes a zeroed one too.
 */
int varlink_message_parse(const char *text, size_t length, struct varlink_message *ret);
void varlink_message_done(struct varlink_message *message);

#endif
