// SPDX-License-Identifier: GPL-2.0
#include "ctl/top/top_request.h"

#include <string.h>

#include "base/json_get.h"
#include "ctl/call/call.h"

#define DEFAULT_WINDOW_SECONDS 10

double top_text_window(const struct ctl_options *options, const json_object *status)
{
	const char *origin = json_get_text(status, "origin");

	if (options->window == WINDOW_SECONDS)
		return options->window_seconds;
	if (options->window == WINDOW_ALL || (origin && strcmp(origin, "replay") == 0))
		return 0;
	return DEFAULT_WINDOW_SECONDS;
}

double top_json_window(const struct ctl_options *options)
{
	return options->window == WINDOW_SECONDS ? options->window_seconds : 0;
}

json_object *top_window_parameters(double seconds)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();

	if (!parameters || (seconds > 0 && json_object_object_add(parameters, "window_s",
								  json_object_new_double(seconds)) < 0))
		return NULL;
	return TAKE_PTR(parameters);
}

static bool add_u64(json_object *parameters, const char *key, u64 value)
{
	return json_object_object_add(parameters, key, json_object_new_uint64(value)) == 0;
}

static bool add_text(json_object *parameters, const char *key, const char *text)
{
	return !text || !*text || json_object_object_add(parameters, key, json_object_new_string(text)) == 0;
}

bool top_add_trend(json_object *parameters, size_t bins, double seconds)
{
	return bins == 0 || (add_u64(parameters, "trend", bins) &&
			     (seconds <= 0 || json_object_object_add(parameters, "trend_s",
								     json_object_new_double(seconds)) == 0));
}

json_object *top_request_parameters(const struct top_request *request)
{
	_cleanup_json_ json_object *parameters =
		top_window_parameters(request->past ? 0 : request->window_seconds);

	if (!parameters || (request->past && !call_add_range(parameters, &request->range)) ||
	    !add_text(parameters, "sort", request->sort) || !add_text(parameters, "event", request->event) ||
	    (request->has_limit && !add_u64(parameters, "limit", request->limit)) ||
	    (request->offset && !add_u64(parameters, "offset", request->offset)) ||
	    (request->sums && !add_u64(parameters, "depth", request->depth)) ||
	    (request->filter && *request->filter && !call_add_name(parameters, "filter", request->filter)) ||
	    !top_add_trend(parameters, request->trend, request->trend_seconds))
		return NULL;
	return TAKE_PTR(parameters);
}

int top_request_rows(const struct top_request *request, top_ask ask, void *userdata, json_object **ret)
{
	_cleanup_json_ json_object *all = NULL, *last = NULL;
	struct top_request page = *request;
	json_object *rows;
	u64 next;
	int r = ask(userdata, top_request_parameters(&page), &all);

	if (r < 0)
		return r;
	rows = json_get_array(all, "cgroups");
	last = json_object_get(all);
	while (rows && json_get_u64(last, "next", &next) && next > page.offset) {
		size_t n = json_object_array_length(rows);

		if (page.has_limit && n >= request->limit)
			break;
		page.offset = next;
		page.limit = request->limit - n;
		json_object_put(TAKE_PTR(last));
		r = ask(userdata, top_request_parameters(&page), &last);
		if (r == 0 && call_is_same_moment(last, all))
			r = call_append(rows, json_get_array(last, "cgroups"));
		if (r <= 0)
			break;
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(all);
	return 0;
}
