// SPDX-License-Identifier: GPL-2.0
#include "http/http_zooms.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cgroup/plain_path.h"
#include "export/profile/zoom_flame.h"
#include "export/profile/zoom_output.h"

static const char reason[] = "asked for over HTTP";

static bool is_enabled(void *userdata, enum http_profile_form form)
{
	const struct http_zooms *requests = userdata;

	return *requests->enabled || (form == HTTP_PROFILE_FLAME && requests->modelled);
}

/* A zoom of somebody else cannot be shared: it would end later or earlier than this request needs. */
static int refuse(const struct zoom *running, char **ret_message)
{
	if (asprintf(ret_message, "Another zoom of this cgroup is running (%s). Try again when it has ended.",
		     running->reason) < 0)
		*ret_message = NULL;
	return -EBUSY;
}

static void remember(struct http_zooms *requests, u64 id)
{
	const struct zoom *zoom = zooms_get(requests->zooms, id);
	size_t place = HTTP_PROFILES_MAX;

	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++)
		if (requests->begun[i].id == id ||
		    (requests->begun[i].id == 0 && place == HTTP_PROFILES_MAX)) {
			place = i;
			if (requests->begun[i].id == id)
				break;
		}
	if (!zoom || place == HTTP_PROFILES_MAX)
		return;
	requests->begun[place].id = id;
	requests->begun[place].seconds = zoom->seconds;
}

static int begin(void *userdata, const char *path, double seconds, u64 *ret_id, char **ret_message)
{
	struct http_zooms *requests = userdata;
	const struct zoom *before;
	int r;

	*ret_message = NULL;
	/* No cgroup has such a path: refuse it for good, not with -EBUSY. */
	if ((!plain_path(path) && !requests->modelled) || strlen(path) >= PATH_MAX) {
		*ret_message = strdup(HTTP_NO_SUCH_PATH);
		return -ENOENT;
	}
	before = zooms_find(requests->zooms, path);
	if (before && before->state == ZOOM_RUNNING && strcmp(before->reason, reason) != 0)
		return refuse(before, ret_message);
	r = zooms_begin(requests->zooms,
			&(struct zoom_request){.path = path, .seconds = seconds, .reason = reason}, ret_id,
			ret_message);
	if (r >= 0)
		remember(requests, *ret_id);
	return r;
}

static enum http_profile_state state(void *userdata, u64 id)
{
	const struct http_zooms *requests = userdata;
	const struct zoom *zoom = zooms_get(requests->zooms, id);

	if (!zoom)
		return HTTP_PROFILE_GONE;
	return zoom->state == ZOOM_DONE ? HTTP_PROFILE_READY : HTTP_PROFILE_UNDER_WAY;
}

static int write_profile(void *userdata, u64 id, enum http_profile_form form, u8 **ret, size_t *ret_size)
{
	const struct http_zooms *requests = userdata;
	const struct zoom *zoom = zooms_get(requests->zooms, id);

	if (!zoom)
		return -ENODATA;
	return form == HTTP_PROFILE_FLAME ? zoom_flame(zoom, requests->modelled, ret, ret_size)
					  : zoom_output(zoom, ZOOM_PPROF, false, ret, ret_size);
}

/* Ends the zoom if it is still running, unless somebody else has prolonged it in the meantime. */
static void leave(void *userdata, u64 id)
{
	struct http_zooms *requests = userdata;
	const struct zoom *zoom = zooms_get(requests->zooms, id);

	for (size_t i = 0; i < HTTP_PROFILES_MAX; i++) {
		if (requests->begun[i].id != id)
			continue;
		if (zoom && zoom->state == ZOOM_RUNNING && zoom->seconds <= requests->begun[i].seconds)
			(void)zooms_end(requests->zooms, id);
		requests->begun[i].id = 0;
	}
}

struct http_profiles http_zooms_profiles(struct http_zooms *requests)
{
	return (struct http_profiles){
		.userdata = requests,
		.enabled = is_enabled,
		.begin = begin,
		.state = state,
		.write = write_profile,
		.leave = leave,
	};
}
