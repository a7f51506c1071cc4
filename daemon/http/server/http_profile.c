// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "http/server/http_answer.h"
#include "http/server/http_target.h"
#include "http/shared/http_channel.h"

#define PATH_PARAMETER    "cgroup"
#define SECONDS_PARAMETER "seconds"

/* Bytes per call of read_profile(): as many as the send buffer is set to. */
#define PIECE_BYTES HTTP_SOCKETS_SENDING

struct http_waiting {
	TAILQ_ENTRY(http_waiting) entry;
	struct http_profile *profile;
	struct http_owner owner;
	struct MHD_Connection *connection;
	sd_event_source *hangup;
	u32 number;
	bool resumed;
	bool left;  /* HTTP_LEAVE_PROFILE was sent: the client no longer waits */
	int fd;     /* the profile; -1: not received */
	u64 size;   /* size of the profile, in bytes */
	u32 error;  /* an errno if there is no profile; EALREADY: it is being sent; 0: else */
	char *text; /* the reason as a text */
};

struct http_profile {
	sd_event *event; /* not owned */
	int line;        /* not owned */
	bool enabled;
	u32 last_number;
	TAILQ_HEAD(, http_waiting) waiting;
	size_t n_waiting;
	LIST_HEAD(, sent) sent;
	size_t n_sent;
};

/* A profile that is being sent to a client. */
struct sent {
	LIST_ENTRY(sent) entry;
	struct http_profile *profile;
	struct http_owner owner;
	int fd;
};

struct request {
	const char *path;
	u64 seconds;
	char mistake[200]; /* "": none */
};

void http_profile_enable(struct http_profile *profile, bool enabled)
{
	profile->enabled = enabled;
}

bool http_profile_enabled(const struct http_profile *profile)
{
	return profile->enabled;
}

/* An MHD_KeyValueIteratorN. */
static enum MHD_Result read_parameter(void *userdata, enum MHD_ValueKind kind, const char *key,
				      size_t key_size, const char *value, size_t value_size)
{
	struct request *request = userdata;

	(void)kind;
	(void)value_size;
	/*
	 * An encoded NUL is still "%00" (HTTP_TARGET_NUL) here. So a text that really contains these three
	 * characters is also refused.
	 */
	if (value && strstr(value, HTTP_TARGET_NUL))
		(void)snprintf(request->mistake, sizeof(request->mistake), "a parameter contains a NUL byte");
	else if (key_size == strlen(PATH_PARAMETER) && strcmp(key, PATH_PARAMETER) == 0 && !request->path &&
		 value)
		request->path = value;
	else if (key_size == strlen(SECONDS_PARAMETER) && strcmp(key, SECONDS_PARAMETER) == 0 &&
		 request->seconds == 0) {
		if (!value || number_parse(value, 1, HTTP_PROFILE_SECONDS_MAX, &request->seconds) < 0)
			(void)snprintf(request->mistake, sizeof(request->mistake),
				       "seconds: expected a whole number from 1 to %d",
				       HTTP_PROFILE_SECONDS_MAX);
	} else
		(void)snprintf(request->mistake, sizeof(request->mistake),
			       "expected only the parameters cgroup and seconds, each once");
	return *request->mistake ? MHD_NO : MHD_YES;
}

static void read_request(struct MHD_Connection *connection, struct request *ret)
{
	*ret = (struct request){0};
	(void)MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, read_parameter, ret);
	if (!*ret->mistake && (!ret->path || *ret->path != '/'))
		(void)snprintf(
			ret->mistake, sizeof(ret->mistake),
			"cgroup: expected the path of a cgroup, which begins with /, such as /system.slice");
	if (ret->seconds == 0)
		ret->seconds = HTTP_PROFILE_SECONDS_DEFAULT;
}

/* The library wakes itself up and answers the request in its next run. */
static void resume(struct http_waiting *waiting)
{
	if (waiting->resumed)
		return;
	waiting->resumed = true;
	MHD_resume_connection(waiting->connection);
}

/* If there is no answer yet, tells pebsd that the client no longer waits for it. */
static void leave(struct http_waiting *waiting)
{
	if (waiting->left || waiting->fd >= 0 || waiting->error)
		return;
	waiting->left = true;
	(void)http_channel_send(waiting->profile->line,
				&(struct http_message){.type = HTTP_LEAVE_PROFILE, .number = waiting->number},
				-1);
}

/* Removes a waiting request. Call this before its connection is freed. */
static void forget(struct http_waiting *waiting)
{
	struct http_profile *profile = waiting->profile;

	leave(waiting);
	TAILQ_REMOVE(&profile->waiting, waiting, entry);
	profile->n_waiting--;
	sd_event_source_disable_unref(waiting->hangup);
	if (waiting->fd >= 0)
		(void)close(waiting->fd);
	free(waiting->text);
	free(waiting);
}

void http_profile_closed(struct http_waiting **waiting)
{
	if (*waiting)
		forget(*waiting);
	*waiting = NULL;
}

/*
 * The library ignores suspended connections, so this callback detects clients that hung up. A client that
 * only shut down its sending side counts as gone: until pebsd sends something, it looks the same as one that
 * closed its socket.
 */
static int on_hangup(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct http_waiting *waiting = userdata;

	(void)source;
	(void)fd;
	(void)events;
	waiting->hangup = sd_event_source_disable_unref(waiting->hangup);
	leave(waiting);
	resume(waiting);
	return 0;
}

void http_profile_receive(struct http_profile *profile, const struct http_message *message, int fd)
{
	_cleanup_close_ int passed = fd;
	struct http_waiting *waiting;

	TAILQ_FOREACH (waiting, &profile->waiting, entry) {
		if (waiting->number != message->number || waiting->left || waiting->fd >= 0 || waiting->error)
			continue;
		waiting->size = message->size;
		if (message->type == HTTP_TELL_PROFILE && passed >= 0)
			waiting->fd = TAKE_FD(passed);
		else
			waiting->error = message->error ? message->error : EIO;
		waiting->text = strdup(message->text);
		resume(waiting);
		return;
	}
}

int http_profile_new(sd_event *event, int line, struct http_profile **ret)
{
	struct http_profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return -ENOMEM;
	TAILQ_INIT(&profile->waiting);
	profile->event = event;
	profile->line = line;
	*ret = profile;
	return 0;
}

void http_profile_resume_all(struct http_profile *profile)
{
	struct http_waiting *waiting;

	if (!profile)
		return;
	TAILQ_FOREACH (waiting, &profile->waiting, entry)
		resume(waiting);
}

struct http_profile *http_profile_free(struct http_profile *profile)
{
	free(profile);
	return NULL;
}

static int wait_for(struct http_profile *profile, struct MHD_Connection *connection, int fd,
		    struct http_owner owner, const struct request *request, struct http_waiting **ret)
{
	struct http_waiting *waiting = calloc(1, sizeof(*waiting));
	int r;

	if (!waiting)
		return -ENOMEM;
	*waiting = (struct http_waiting){.profile = profile,
					 .owner = owner,
					 .connection = connection,
					 .number = ++profile->last_number,
					 .fd = -1};
	r = sd_event_add_io(profile->event, &waiting->hangup, fd, EPOLLRDHUP, on_hangup, waiting);
	if (r >= 0)
		r = http_channel_send(profile->line,
				      &(struct http_message){.type = HTTP_ASK_PROFILE,
							     .number = waiting->number,
							     .value = request->seconds,
							     .text = request->path},
				      -1);
	if (r < 0) {
		sd_event_source_disable_unref(waiting->hangup);
		free(waiting);
		return r;
	}
	TAILQ_INSERT_TAIL(&profile->waiting, waiting, entry);
	profile->n_waiting++;
	*ret = waiting;
	return 0;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, int error, const char *message)
{
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "%s\n", message && *message ? message : strerror(-error)) < 0) {
		text = NULL;
		return MHD_NO;
	}
	if (error == -ENOENT)
		return http_send_text(connection, MHD_HTTP_NOT_FOUND, text);
	if (error == -EIO)
		return http_send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, text);
	return http_send_later(connection, HTTP_PROFILE_RETRY_SECONDS, text);
}

/*
 * Returns whether an owner has the maximum number of clients that wait for a profile, or of clients that wait
 * for a profile or are being sent one.
 */
static bool owner_is_full(const struct http_profile *profile, struct http_owner owner)
{
	const struct http_waiting *waiting;
	const struct sent *sent;
	size_t n_waiting = 0, n_sent = 0;

	TAILQ_FOREACH (waiting, &profile->waiting, entry)
		n_waiting += http_owner_is_same(&waiting->owner, &owner);
	LIST_FOREACH (sent, &profile->sent, entry)
		n_sent += http_owner_is_same(&sent->owner, &owner);
	return n_waiting >= HTTP_PROFILES_OWNER_WAITING_MAX || n_waiting + n_sent >= HTTP_PROFILES_OWNER_MAX;
}

static enum MHD_Result begin(struct http_profile *profile, struct MHD_Connection *connection, int fd,
			     struct http_owner owner, struct http_waiting **ret)
{
	struct request request;
	int r;

	if (!profile->enabled)
		return http_send_text(connection, MHD_HTTP_NOT_FOUND, HTTP_PROFILES_NOT_SERVED "\n");
	read_request(connection, &request);
	if (*request.mistake) {
		_cleanup_free_ char *text = NULL;

		if (asprintf(&text, "%s\n", request.mistake) < 0) {
			text = NULL;
			return MHD_NO;
		}
		return http_send_text(connection, MHD_HTTP_BAD_REQUEST, text);
	}
	if (profile->n_waiting >= HTTP_PROFILES_MAX)
		return refuse(connection, -EBUSY,
			      "The maximum number of clients is waiting for profiles. Try again later.");
	if (owner_is_full(profile, owner))
		return refuse(
			connection, -EBUSY,
			"The maximum number of clients of this user or address is waiting for profiles or receiving them. Try again later.");
	if (profile->n_waiting + profile->n_sent >= HTTP_PROFILES_HELD_MAX)
		return refuse(
			connection, -EBUSY,
			"The maximum number of clients is waiting for profiles or receiving them. Try again later.");
	r = wait_for(profile, connection, fd, owner, &request, ret);
	if (r < 0)
		return refuse(connection, r, NULL);
	MHD_suspend_connection(connection);
	return MHD_YES;
}

/* An MHD_ContentReaderCallback. */
static ssize_t read_profile(void *userdata, uint64_t at, char *to, size_t size)
{
	const struct sent *sent = userdata;
	ssize_t n = pread(sent->fd, to, size, (off_t)at);

	return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

/* An MHD_ContentReaderFreeCallback: the profile is sent, or the connection has ended. */
static void free_sent(void *userdata)
{
	struct sent *sent = userdata;

	LIST_REMOVE(sent, entry);
	sent->profile->n_sent--;
	(void)close(sent->fd);
	free(sent);
}

static struct MHD_Response *respond(struct http_waiting *waiting)
{
	struct sent *sent = calloc(1, sizeof(*sent));
	struct MHD_Response *response;

	if (!sent)
		return NULL;
	response =
		MHD_create_response_from_callback(waiting->size, PIECE_BYTES, read_profile, sent, free_sent);
	if (!response) {
		free(sent);
		return NULL;
	}
	*sent = (struct sent){
		.profile = waiting->profile, .owner = waiting->owner, .fd = TAKE_FD(waiting->fd)};
	LIST_INSERT_HEAD(&sent->profile->sent, sent, entry);
	sent->profile->n_sent++;
	waiting->error = EALREADY;
	return response;
}

static enum MHD_Result send_profile(struct MHD_Connection *connection, struct http_waiting *waiting)
{
	struct MHD_Response *response = respond(waiting);

	if (!response)
		return MHD_NO;
	/* The same headers as Go's net/http/pprof. */
	if (http_describe(response, "application/octet-stream", NULL) < 0 ||
	    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION,
				    "attachment; filename=\"profile\"") != MHD_YES) {
		MHD_destroy_response(response);
		return MHD_NO;
	}
	return http_send(connection, MHD_HTTP_OK, response);
}

enum MHD_Result http_profile_answer(struct http_profile *profile, struct MHD_Connection *connection, int fd,
				    struct http_owner owner, struct http_waiting **waiting)
{
	enum MHD_Result result = MHD_NO;

	if (!*waiting)
		return begin(profile, connection, fd, owner, waiting);
	if ((*waiting)->fd >= 0)
		result = send_profile(connection, *waiting);
	else if ((*waiting)->error)
		result = refuse(connection, -(int)(*waiting)->error, (*waiting)->text);
	http_profile_closed(waiting);
	return result;
}
