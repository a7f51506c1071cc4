// SPDX-License-Identifier: GPL-2.0
/*
 * A Varlink service of one interface on a listening UNIX stream socket, in an sd-event loop.
 *
 * No client can block the loop or make its memory grow without bound. Clients can send an endless series of
 * calls, so each turn of the loop answers only one call across all connections. All other event sources run
 * before the next call. The calls of a connection are answered one at a time, and the next one only after the
 * reply has been sent. The sizes of calls and replies and the number of connections are limited. The unread
 * replies of one user, and of all users, are limited as well: a call waits for memory before it is answered.
 *
 * A client that reads less than VARLINK_PERIOD_BYTES in VARLINK_PERIOD_SECONDS loses its connection. If a
 * call waits for memory, the slowest client whose reply has waited for at least VARLINK_BUDGET_US loses its
 * connection at once (varlink_budget.h says of which user).
 */
#ifndef PEBSD_VARLINK_H
#define PEBSD_VARLINK_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>

#define VARLINK_CONNECTIONS_MAX 64
#define VARLINK_QUEUE_MAX       (1U << 20) /* bytes of items that a subscribed client has not read */
#define VARLINK_REPLY_MAX       (1U << 20) /* a larger reply is replaced by the error ReplyTooLarge */
#define VARLINK_WAIT_SECONDS    10         /* limit of varlink_wait() for one call */

/*
 * Bytes that the kernel holds for a client that does not read its reply, including the kernel's own
 * bookkeeping.
 */
#define VARLINK_KERNEL_BYTES (208U << 10)

#define VARLINK_INVALID_PARAMETER "org.varlink.service.InvalidParameter"
#define VARLINK_PERMISSION_DENIED "org.varlink.service.PermissionDenied"

/* A call that is being answered. The struct lives until the method returns. */
struct varlink_call;

/*
 * Answers with exactly one of varlink_reply(), varlink_error() and varlink_subscribe(), or in parts
 * (varlink_reply_begin()), or not yet (varlink_wait()), and returns the result of that function. A negative return
 * closes the connection. `parameters` is an object or NULL.
 */
typedef int (*varlink_handler)(struct varlink_call *call, json_object *parameters, void *userdata);

struct varlink_method {
	const char *name; /* without its interface */
	varlink_handler handle;
	bool needs_more; /* without `more` the call is refused with ExpectedMore */
	int rights;      /* the permission that the caller needs; the service defines its values */
};

/* Must live as long as the server. */
struct varlink_service {
	const char *vendor, *product, *version, *url;
	const char *interface;
	const char *description; /* the interface in the Varlink interface definition language */
	const struct varlink_method *methods;
	size_t n_methods;
	/*
	 * Decides whether a caller may call a method. It is called before the method, and so before the
	 * values of the parameters are looked at. Returns true if it refused the call and sent the error;
	 * `ret` then has the result of sending it. NULL: everybody may call every method.
	 */
	bool (*refuses)(struct varlink_call *call, const struct varlink_method *method, void *userdata,
			int *ret);
	void *userdata;
};

struct varlink_server;

/*
 * Serves on `fd`, a listening, non-blocking socket. The server owns `fd` and closes it when freed. Returns 0
 * or -errno; on error the caller still owns `fd`.
 */
int varlink_server_new(sd_event *event, int fd, const struct varlink_service *service,
		       struct varlink_server **ret);
struct varlink_server *varlink_server_free(struct varlink_server *server);

/*
 * Sends `parameters`, which the caller still owns, to every subscribed connection. Closes connections that do
 * not read, and slow ones if there is not enough memory.
 */
void varlink_server_publish(struct varlink_server *server, json_object *parameters);

/* Number of subscribed connections; 0 if `server` is NULL. */
size_t varlink_server_subscribers(const struct varlink_server *server);

/* Bytes of memory held by replies and items that clients have not read. */
size_t varlink_server_held(const struct varlink_server *server);

/*
 * varlink_reply() and varlink_error() take ownership of `parameters` (NULL means none) and return 0 or
 * -ENOMEM. Nothing is sent for a `oneway` call.
 */
int varlink_reply(struct varlink_call *call, json_object *parameters);
int varlink_error(struct varlink_call *call, const char *error, json_object *parameters);

/*
 * Sends a reply whose parameters come as the text of a JSON object, in parts: begin, any number of texts,
 * end. Each function returns 0 or -ENOMEM. A handler that stops before the end returns an error, which closes
 * the connection.
 */
int varlink_reply_begin(struct varlink_call *call);
int varlink_reply_text(struct varlink_call *call, const char *text, size_t length);
int varlink_reply_end(struct varlink_call *call);

/* Sends the InvalidParameter error: `parameter` is missing, of the wrong type, out of range or unknown. */
int varlink_invalid_parameter(struct varlink_call *call, const char *parameter);

/*
 * Returns the first member of `parameters` (may be NULL) that is not in `known`, a list that ends with NULL;
 * or NULL.
 */
const char *varlink_surplus_parameter(json_object *parameters, const char *const *known);

/*
 * The answer needs something that is not known yet: the handler runs again, with the same parameters, after
 * varlink_server_retry(). The call stays the first one of its connection, and the calls behind it wait as well. The
 * calls of other connections do not. A client that hangs up ends its waiting call. Call this function before
 * any part of a reply is made. Returns 0; or -ETIME if the call has waited for VARLINK_WAIT_SECONDS: the handler
 * then answers with an error.
 */
int varlink_wait(struct varlink_call *call);

/* Runs the handlers of all waiting calls again, in the next turns of the loop. */
void varlink_server_retry(struct varlink_server *server);

/*
 * Subscribes the connection to everything that is published until it is closed. Only for methods with
 * `needs_more`.
 */
int varlink_subscribe(struct varlink_call *call);

/*
 * The caller's credentials (SO_PEERCRED) and supplementary groups (SO_PEERGROUPS), recorded by the kernel
 * when the client connected. The groups belong to the call; `ret_n` gets their number.
 */
const struct ucred *varlink_peer(const struct varlink_call *call);
const gid_t *varlink_peer_groups(const struct varlink_call *call, size_t *ret_n);

#endif
