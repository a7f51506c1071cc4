// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_profile.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "http/server/http_answer.h"
#include "http/server/http_target.h"
#include "http/shared/http_wire.h"

#define PATH_PARAMETER    "cgroup"
#define SECONDS_PARAMETER "seconds"

/* The same headers as Go's net/http/pprof. */
static const struct http_pending_type type = {HTTP_PENDING_PROFILE, "application/octet-stream",
					      "attachment; filename=\"profile\""};

struct request {
	const char *path;
	u64 seconds;
	char mistake[200]; /* "": none */
};

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
	if (!*ret->mistake && (!ret->path || (*ret->path != '/' && strncmp(ret->path, "model:", 6) != 0)))
		(void)snprintf(
			ret->mistake, sizeof(ret->mistake),
			"cgroup: expected the path of a cgroup, which begins with /, such as /system.slice");
	if (ret->seconds == 0)
		ret->seconds = HTTP_PROFILE_SECONDS_DEFAULT;
}

enum MHD_Result http_profile_begin(struct http_pending *pending, bool enabled,
				   struct MHD_Connection *connection, int fd, struct http_owner owner,
				   struct http_pending_request **ret)
{
	struct request request;

	if (!enabled)
		return http_send_text(connection, MHD_HTTP_NOT_FOUND, HTTP_PROFILES_NOT_SERVED "\n");
	read_request(connection, &request);
	/* As in http_zooms.c. The wire may not have room for a longer one. */
	if (!*request.mistake && strlen(request.path) >= PATH_MAX)
		return http_send_text(connection, MHD_HTTP_NOT_FOUND, HTTP_NO_SUCH_PATH "\n");
	if (*request.mistake) {
		_cleanup_free_ char *text = NULL;

		if (asprintf(&text, "%s\n", request.mistake) < 0) {
			text = NULL;
			return MHD_NO;
		}
		return http_send_text(connection, MHD_HTTP_BAD_REQUEST, text);
	}
	return http_pending_begin(pending, &type, connection, fd, owner,
				  &(struct http_message){.type = HTTP_ASK_PROFILE,
							 .form = HTTP_PROFILE_PPROF,
							 .value = request.seconds,
							 .text = request.path},
				  ret);
}
