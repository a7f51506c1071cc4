// SPDX-License-Identifier: GPL-2.0
/*
 * One call of a client while a service handles it: the caller, the message, and the buffer for the answer.
 * Does not use the socket.
 */
#ifndef PEBSD_VARLINK_CALL_H
#define PEBSD_VARLINK_CALL_H

#include "varlink/varlink.h"
#include "varlink/varlink_buffer.h"
#include "varlink/varlink_message.h"

struct varlink_call {
	const struct varlink_message *message; /* NULL if the message could not be parsed as a call */
	const struct ucred *peer;
	const gid_t *groups; /* supplementary groups of the peer */
	size_t n_groups;
	struct varlink_buffer *out; /* the answer is appended here */
	bool answered;
	bool subscribed;    /* set by varlink_subscribe() */
	bool waiting;       /* set by varlink_wait() */
	bool waited_enough; /* the call has waited for VARLINK_WAIT_SECONDS */
	size_t begin;       /* offset in `out` of the reply that varlink_reply_begin() began */
	bool too_large;     /* the reply in parts exceeds VARLINK_REPLY_MAX */
};

/*
 * Runs the method that the message names, or answers with an error of org.varlink.service. Returns 0,
 * -ENOMEM, or the -errno of the method.
 */
int varlink_call_dispatch(struct varlink_call *call, const struct varlink_service *service);

/*
 * Appends {"parameters": parameters, "continues": true} to `ret`. Returns 0, -ENOMEM, or -EMSGSIZE if that is
 * larger than VARLINK_REPLY_MAX.
 */
int varlink_encode_item(json_object *parameters, struct varlink_buffer *ret);

#endif
