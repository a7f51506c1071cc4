// SPDX-License-Identifier: GPL-2.0
#include "export/http_profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/number.h"
#include "export/http_answer.h"

/* How often it is looked whether a profile is ready. */
#define LOOK_EVERY_US     200000
#define LOOK_ACCURACY_US  20000
#define PATH_PARAMETER    "cgroup"
#define SECONDS_PARAMETER "seconds"

/* Beside its own time one may wait for who joins it, and for names. */
#define WAIT_SLACK_SECONDS (HTTP_PROFILE_SECONDS_MAX + 30)

struct http_waiting {
	TAILQ_ENTRY(http_waiting) entry;
	struct http_profile *owner;
	struct MHD_Connection *connection;
	sd_event_source *hangup;
	u64 id;
	u64 deadline_ns;
	enum http_profile_state state;
	bool resumed;
	bool left; /* the client hung up */
};

struct http_profile {
	struct http_profiles profiles;
	void (*resumed)(void *userdata);
	void *userdata;
	sd_event *event; /* not owned */
	sd_event_source *timer;
	TAILQ_HEAD(, http_waiting) waiting;
	size_t n_waiting;
};

struct request {
	const char *path;
	u64 seconds;
	char mistake[200]; /* "": none */
};

static u64 now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

bool http_profile_enabled(const struct http_profile *profile)
{
	return profile->profiles.enabled && profile->profiles.enabled(profile->profiles.userdata);
}

/* An MHD_KeyValueIteratorN. */
static enum MHD_Result read_parameter(void *userdata, enum MHD_ValueKind kind, const char *key,
				      size_t key_size, const char *value, size_t value_size)
{
	struct request *request = userdata;

	(void)kind;
	if (value && strlen(value) != value_size)
		(void)snprintf(request->mistake, sizeof(request->mistake),
			       "a parameter has a NUL byte in it");
	else if (key_size == strlen(PATH_PARAMETER) && strcmp(key, PATH_PARAMETER) == 0 && !request->path &&
		 value)
		request->path = value;
	else if (key_size == strlen(SECONDS_PARAMETER) && strcmp(key, SECONDS_PARAMETER) == 0 &&
		 request->seconds == 0) {
		if (!value || number_parse(value, 1, HTTP_PROFILE_SECONDS_MAX, &request->seconds) < 0)
			(void)snprintf(request->mistake, sizeof(request->mistake),
				       "seconds: give a whole number from 1 to %d", HTTP_PROFILE_SECONDS_MAX);
	} else
		(void)snprintf(request->mistake, sizeof(request->mistake),
			       "there are the parameters cgroup and seconds, each once");
	return *request->mistake ? MHD_NO : MHD_YES;
}

static void read_request(struct MHD_Connection *connection, struct request *ret)
{
	*ret = (struct request){0};
	(void)MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, read_parameter, ret);
	if (!*ret->mistake && (!ret->path || *ret->path != '/'))
		(void)snprintf(ret->mistake, sizeof(ret->mistake),
			       "cgroup: give a path below the root of the cgroups that begins with /");
	if (ret->seconds == 0)
		ret->seconds = HTTP_PROFILE_SECONDS_DEFAULT;
}

static void resume(struct http_waiting *waiting)
{
	if (waiting->resumed)
		return;
	waiting->resumed = true;
	MHD_resume_connection(waiting->connection);
	waiting->owner->resumed(waiting->owner->userdata);
}

static bool somebody_waits_for(const struct http_profile *profile, u64 id)
{
	const struct http_waiting *waiting;

	TAILQ_FOREACH (waiting, &profile->waiting, entry)
		if (waiting->id == id && !waiting->left)
			return true;
	return false;
}

/* Not later than the connection's end. The last of a profile tells its source. */
static void forget(struct http_waiting *waiting)
{
	struct http_profile *profile = waiting->owner;
	bool told = waiting->left;
	u64 id = waiting->id;

	TAILQ_REMOVE(&profile->waiting, waiting, entry);
	profile->n_waiting--;
	sd_event_source_disable_unref(waiting->hangup);
	free(waiting);
	if (!told && !somebody_waits_for(profile, id))
		profile->profiles.leave(profile->profiles.userdata, id);
}

void http_profile_closed(struct http_profile *profile, struct http_waiting **waiting)
{
	(void)profile;
	if (*waiting)
		forget(*waiting);
	*waiting = NULL;
}

/* The library does not look at a suspended connection. One whose client will send no more, as after close(),
 * is taken for left: until something is sent to it the two are the same. */
static int on_hangup(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct http_waiting *waiting = userdata;
	struct http_profile *profile = waiting->owner;

	(void)source;
	(void)fd;
	(void)events;
	waiting->hangup = sd_event_source_disable_unref(waiting->hangup);
	waiting->left = true;
	if (!somebody_waits_for(profile, waiting->id))
		profile->profiles.leave(profile->profiles.userdata, waiting->id);
	resume(waiting);
	return 0;
}

static void look(struct http_profile *profile)
{
	struct http_waiting *waiting;
	u64 now = now_ns();

	TAILQ_FOREACH (waiting, &profile->waiting, entry) {
		if (waiting->resumed)
			continue;
		waiting->state = profile->profiles.state(profile->profiles.userdata, waiting->id);
		if (waiting->state != HTTP_PROFILE_UNDER_WAY || now >= waiting->deadline_ns)
			resume(waiting);
	}
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct http_profile *profile = userdata;

	(void)usec;
	if (profile->n_waiting == 0)
		return 0;
	look(profile);
	(void)sd_event_source_set_time_relative(source, LOOK_EVERY_US);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int http_profile_new(sd_event *event, const struct http_profiles *profiles, void (*resumed)(void *userdata),
		     void *userdata, struct http_profile **ret)
{
	struct http_profile *profile = calloc(1, sizeof(*profile));
	int r;

	if (!profile)
		return -ENOMEM;
	TAILQ_INIT(&profile->waiting);
	profile->profiles = *profiles;
	profile->resumed = resumed;
	profile->userdata = userdata;
	profile->event = event;
	r = sd_event_add_time_relative(event, &profile->timer, CLOCK_MONOTONIC, 0, LOOK_ACCURACY_US, on_timer,
				       profile);
	if (r >= 0)
		r = sd_event_source_set_enabled(profile->timer, SD_EVENT_OFF);
	if (r < 0) {
		http_profile_free(profile);
		return r;
	}
	(void)sd_event_source_set_description(profile->timer, "http-profile");
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
	if (!profile)
		return NULL;
	sd_event_source_disable_unref(profile->timer);
	free(profile);
	return NULL;
}

static int wait_for(struct http_profile *profile, struct MHD_Connection *connection, int fd, u64 id,
		    u64 seconds, struct http_waiting **ret)
{
	struct http_waiting *waiting = calloc(1, sizeof(*waiting));
	int r;

	if (!waiting)
		return -ENOMEM;
	waiting->owner = profile;
	waiting->connection = connection;
	waiting->id = id;
	waiting->deadline_ns = now_ns() + (seconds + WAIT_SLACK_SECONDS) * NSEC_PER_SEC;
	r = sd_event_add_io(profile->event, &waiting->hangup, fd, EPOLLRDHUP, on_hangup, waiting);
	if (r >= 0)
		r = sd_event_source_set_time_relative(profile->timer, LOOK_EVERY_US);
	if (r >= 0)
		r = sd_event_source_set_enabled(profile->timer, SD_EVENT_ONESHOT);
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

	if (asprintf(&text, "%s\n", message ? message : strerror(-error)) < 0) {
		text = NULL;
		return MHD_NO;
	}
	if (error == -ENOENT)
		return http_send_text(connection, MHD_HTTP_NOT_FOUND, text);
	return http_send_later(connection, HTTP_PROFILE_RETRY_SECONDS, text);
}

static enum MHD_Result begin(struct http_profile *profile, struct MHD_Connection *connection, int fd,
			     struct http_waiting **ret)
{
	const struct http_profiles *profiles = &profile->profiles;
	_cleanup_free_ char *message = NULL;
	struct request request;
	u64 id;
	int r;

	if (!http_profile_enabled(profile))
		return http_send_text(connection, MHD_HTTP_NOT_FOUND,
				      "Profiles are not served: `profiles = yes` in [export] would have them "
				      "served to whoever can connect. pebsctl profile makes them, too.\n");
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
		return refuse(connection, -EBUSY, "As many wait for a profile as may at a time.");
	r = profiles->begin(profiles->userdata, request.path, (double)request.seconds, &id, &message);
	if (r < 0)
		return refuse(connection, r, message);
	r = wait_for(profile, connection, fd, id, request.seconds, ret);
	if (r < 0) {
		if (!somebody_waits_for(profile, id))
			profiles->leave(profiles->userdata, id);
		return refuse(connection, r, NULL);
	}
	MHD_suspend_connection(connection);
	return MHD_YES;
}

static enum MHD_Result send_profile(struct http_profile *profile, struct MHD_Connection *connection, u64 id)
{
	struct MHD_Response *response;
	size_t size;
	u8 *data;
	int r = profile->profiles.write(profile->profiles.userdata, id, &data, &size);

	if (r < 0) {
		(void)log_warning(r, "cannot write a profile for a client of the HTTP endpoint");
		return http_send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
				      "The profile could not be written; the daemon's log says why.\n");
	}
	response = MHD_create_response_from_buffer(size, data, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(data);
		return MHD_NO;
	}
	/* As Go's net/http/pprof answers. */
	if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/octet-stream") !=
		    MHD_YES ||
	    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION,
				    "attachment; filename=\"profile\"") != MHD_YES ||
	    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff") != MHD_YES ||
	    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") != MHD_YES) {
		MHD_destroy_response(response);
		return MHD_NO;
	}
	return http_send(connection, MHD_HTTP_OK, response);
}

enum MHD_Result http_profile_answer(struct http_profile *profile, struct MHD_Connection *connection, int fd,
				    struct http_waiting **waiting)
{
	enum MHD_Result result = MHD_NO;

	if (!*waiting)
		return begin(profile, connection, fd, waiting);
	if (!(*waiting)->left) {
		if ((*waiting)->state == HTTP_PROFILE_READY)
			result = send_profile(profile, connection, (*waiting)->id);
		else
			result = refuse(connection, -EBUSY,
					(*waiting)->state == HTTP_PROFILE_GONE
						? "The profile made room for another."
						: "It took too long.");
	}
	http_profile_closed(profile, waiting);
	return result;
}
