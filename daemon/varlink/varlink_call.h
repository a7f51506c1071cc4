// SPDX-License-Identifier: GPL-2.0
/* One call on its way through a service: who called, what, and where the answer goes. Knows no socket. */
#ifndef PEBSD_VARLINK_CALL_H
#define PEBSD_VARLINK_CALL_H

#include "varlink/varlink.h"
#include "varlink/varlink_buffer.h"
#include "varlink/varlink_message.h"

struct varlink_call {
	const struct varlink_message *message; /* NULL for what could not be read as a call */
	const struct ucred *peer;
	const gid_t *groups; /* the peer's supplementary ones */
	size_t n_groups;
	struct varlink_buffer *out; /* gets the answer */
	bool answered;              /* out */
	bool subscribed;            /* out */
	size_t begin;               /* where varlink_reply_begin() put the reply in `out` */
	bool too_large;             /* the reply that was begun is larger than VARLINK_REPLY_MAX */
};

/*
 * Runs the method that the message names, or answers with the error of org.varlink.service that says why not.
 * Returns 0, or -errno of the method or -ENOMEM.
 */
int varlink_call_dispatch(struct varlink_call *call, const struct varlink_service *service);

/* Appends {"parameters": parameters, "continues": true} to `ret`. Returns 0 or -ENOMEM. */
int varlink_encode_item(json_object *parameters, struct varlink_buffer *ret);

#endif
