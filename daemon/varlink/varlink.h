// SPDX-License-Identifier: GPL-2.0
/*
 * A Varlink service of one interface on a listening UNIX stream socket, in an sd-event loop.
 *
 * No client can block the loop or make it grow. Clients can send calls without an end, so one call of all
 * connections is answered in a turn of the loop, and everything else has its turn before the next. The calls of
 * a connection are answered one at a time, and the next one only after the reply is sent. Calls and replies have
 * a largest size, and the connections are limited. What one user and all users have not read yet is bounded
 * (varlink_budget.h): a call waits for memory before it is answered. A client that takes too few bytes is let go,
 * at once if another one needs its memory.
 */
#ifndef PEBSD_VARLINK_H
#define PEBSD_VARLINK_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>

#define VARLINK_CONNECTIONS_MAX 64
#define VARLINK_QUEUE_MAX       (1U << 20) /* bytes of items that a subscribed connection has not read */
#define VARLINK_REPLY_MAX       (1U << 20) /* a larger one is replaced by the error ReplyTooLarge */

/* What the kernel holds of a reply that its client has not taken, with the kernel's own bookkeeping. */
#define VARLINK_KERNEL_BYTES (208U << 10)

#define VARLINK_INVALID_PARAMETER "org.varlink.service.InvalidParameter"
#define VARLINK_PERMISSION_DENIED "org.varlink.service.PermissionDenied"

/* A call being answered. Lives until the method returns. */
struct varlink_call;

/*
 * Answers with exactly one of varlink_reply(), varlink_error() and varlink_subscribe(), and returns what that
 * returned. A negative return closes the connection. `parameters` is an object or NULL.
 */
typedef int (*varlink_handler)(struct varlink_call *call, json_object *parameters, void *userdata);

struct varlink_method {
	const char *name; /* without its interface */
	varlink_handler handle;
	bool needs_more; /* is refused with ExpectedMore without `more` */
	int rights;      /* what its caller must have, in the service's own terms */
};

/* Must live as long as the server. */
struct varlink_service {
	const char *vendor, *product, *version, *url;
	const char *interface;
	const char *description; /* the interface in Varlink's own language */
	const struct varlink_method *methods;
	size_t n_methods;
	/*
	 * Asked before each of the methods, and before anything is looked at that its caller sent along.
	 * Whether the call was answered with a refusal, and in `ret` what that returned. NULL: everybody may
	 * call all of them.
	 */
	bool (*refuses)(struct varlink_call *call, const struct varlink_method *method, void *userdata,
			int *ret);
	void *userdata;
};

struct varlink_server;

/*
 * Serves on `fd`, which listens and does not block; the server closes it when freed. Returns 0 or -errno,
 * then `fd` is still the caller's.
 */
int varlink_server_new(sd_event *event, int fd, const struct varlink_service *service,
		       struct varlink_server **ret);
struct varlink_server *varlink_server_free(struct varlink_server *server);

/* Sends `parameters`, which stay the caller's, to every subscribed connection. Drops those that do not read.
 */
void varlink_server_publish(struct varlink_server *server, json_object *parameters);

/* Connections that are subscribed; of no server (NULL) none. */
size_t varlink_server_subscribers(const struct varlink_server *server);

/* Bytes of memory that replies and items hold which their clients have not taken. */
size_t varlink_server_held(const struct varlink_server *server);

/* Both take `parameters` (NULL: none) and return 0 or -ENOMEM. A `oneway` call gets nothing. */
int varlink_reply(struct varlink_call *call, json_object *parameters);
int varlink_error(struct varlink_call *call, const char *error, json_object *parameters);

/*
 * A reply whose parameters come as the text of an object, in parts: begin, any number of texts, end. Each
 * returns 0 or -ENOMEM; the handler that ends in between returns a failure, which closes the connection.
 */
int varlink_reply_begin(struct varlink_call *call);
int varlink_reply_text(struct varlink_call *call, const char *text, size_t length);
int varlink_reply_end(struct varlink_call *call);

/* The usual error: the parameter of that name is missing, of the wrong type, out of range or not known. */
int varlink_invalid_parameter(struct varlink_call *call, const char *parameter);

/* The first member of `parameters` (may be NULL) that is not in `known`, which ends with NULL; or NULL. */
const char *varlink_surplus_parameter(json_object *parameters, const char *const *known);

/* The connection gets what is published from now on, until it is closed. Only for methods that need `more`.
 */
int varlink_subscribe(struct varlink_call *call);

/* Who connected, as the kernel vouches for it (SO_PEERCRED), and which groups it was in beside the first one
 * then (SO_PEERGROUPS): the call's, `ret_n` of them. */
const struct ucred *varlink_peer(const struct varlink_call *call);
const gid_t *varlink_peer_groups(const struct varlink_call *call, size_t *ret_n);

#endif
