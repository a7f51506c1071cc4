// SPDX-License-Identifier: GPL-2.0
/* The method GetHot. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "base/monotonic.h"
#include "export/control/control_detail.h"
#include "export/control/control_methods.h"
#include "export/json/json.h"
#include "export/json/json_hot.h"
#include "export/json/json_names.h"
#include "symbols/symbols.h"

#define SECONDS_DEFAULT 600.0
#define SECONDS_MAX     86400.0

struct hot_request {
	const char *shown;
	double seconds;
	u64 limit;
};

/*
 * Only the origin can name an address that belongs to neither a process nor the kernel: the symbolizer knows
 * only the processes and the kernel of this machine.
 */
static const struct symbol *find_name(void *userdata, const struct symbol_query *query)
{
	const struct control_backend *backend = userdata;

	if (query->pid != 0 || SYMBOL_IS_KERNEL(query->address))
		return symbols_find(backend->symbols(backend->userdata), query);
	return backend->name ? backend->name(backend->userdata, query) : NULL;
}

#define NAMED_MAX 8

/*
 * Returns a text that says that all hot tables are in use, and by which cgroups (the first NAMED_MAX). The
 * caller frees the text; NULL: no memory.
 */
static char *text_of_full(const char *const *hot)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	(void)fputs("all hot tables are in use", out);
	for (size_t i = 0; hot && hot[i] && i <= NAMED_MAX; i++)
		(void)fprintf(out, "%s%s", i ? ", " : " (by ", i < NAMED_MAX ? hot[i] : "...");
	(void)fprintf(out, "%s; wait until one is free, or raise `hot-max` in [cgroups] and restart pebsd",
		      hot && hot[0] ? ")" : "");
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int reply_full(struct varlink_call *call, const struct control *control)
{
	const struct snapshot *snapshot;
	_cleanup_json_ json_object *shown = NULL;
	_cleanup_free_ char *text = NULL;
	bool known = control_snapshot(control, &(struct maybe_double){0}, &snapshot) >= 0 && snapshot->detail;

	text = text_of_full(known ? snapshot->detail->hot : NULL);
	shown = text ? json_name(text) : NULL;
	return shown ? control_not_measured_why(call, "hot", json_object_get_string(shown)) : -ENOMEM;
}

static int reply_failure(struct varlink_call *call, const struct control *control,
			 const struct hot_request *request, int error)
{
	switch (error) {
	case -ENOENT:
		return control_no_samples(call, control, "hot", request->shown);
	case -ENOSPC:
		return reply_full(call, control);
	case -EOPNOTSUPP:
		return control_not_measured_why(
			call, "hot",
			"there are no hot tables: either `hot-max` in [cgroups] is 0 (raise it and restart pebsd), or no sampled event has addresses");
	case -ENODATA:
		return control_not_measured_why(
			call, "hot", "the time of the cgroup's hot tables has just ended; ask again");
	default:
		return error;
	}
}

/*
 * Fills `places` and points `events` to them. A pointer stays NULL if the event has no addresses of that kind
 * (code or data).
 */
static int take_places(const struct control *control, size_t n_events, const char *path,
		       struct hot_places places[EVENTS_MAX][HOT_KINDS], struct json_hot_event *events)
{
	const struct control_backend *backend = &control->backend;

	for (unsigned event = 0; event < n_events; event++)
		for (enum hot_kind kind = 0; kind < HOT_KINDS; kind++) {
			int r = backend->hot_places(backend->userdata, path, event, kind,
						    &places[event][kind]);

			if (r == -EOPNOTSUPP)
				continue;
			if (r < 0)
				return r;
			events[event].places[kind] = &places[event][kind];
		}
	return 0;
}

static int reply_hot(struct varlink_call *call, struct control *control, const struct hot_request *request,
		     const char *path, const struct hot_choice *choice)
{
	struct hot_places places[EVENTS_MAX][HOT_KINDS] = {0};
	struct json_hot_event events[EVENTS_MAX] = {0};
	const struct snapshot_cgroup *cgroup;
	const struct snapshot *snapshot;
	int r = control_snapshot(control, &(struct maybe_double){0}, &snapshot);

	if (r < 0)
		return control_not_measured(call, r);
	r = take_places(control, snapshot->n_events, path, places, events);
	if (r >= 0) {
		struct control_backend backend = control->backend;
		struct json_hot hot = {
			.path = path,
			.choice = *choice,
			.events = events,
			.names = {.find = find_name, .userdata = &backend},
			.limit = request->limit,
			.kernel_addresses = varlink_peer(call)->uid == 0,
		};

		cgroup = json_find_cgroup(snapshot, request->shown);
		hot.id = cgroup ? cgroup->id : 0;
		hot.now_ns = monotonic_ns();
		(void)clock_gettime(CLOCK_REALTIME, &hot.now);
		r = control_reply_named(call, control, json_hot(snapshot, &hot));
	} else {
		r = reply_failure(call, control, request, r);
	}
	for (size_t event = 0; event < EVENTS_MAX; event++)
		for (size_t kind = 0; kind < HOT_KINDS; kind++)
			hot_places_done(&places[event][kind]);
	return r;
}

/* Returns true if a replay has read its recording to the end: new tables would stay empty. */
static bool is_read(const struct control *control)
{
	const struct snapshot *snapshot;

	return control_snapshot(control, &(struct maybe_double){0}, &snapshot) >= 0 && snapshot->replay_done;
}

static int choose_and_reply(struct varlink_call *call, struct control *control,
			    const struct hot_request *request)
{
	const struct control_backend *backend = &control->backend;
	_cleanup_free_ char *path = NULL;
	struct hot_choice choice = {0};
	int r = control_cgroup_path(control, request->shown, &path);

	bool chosen = r >= 0 && backend->hot_choice(backend->userdata, path, &choice);

	if (r >= 0 && !chosen && is_read(control))
		return control_not_measured_why(
			call, "hot",
			"the recording was read to its end, and hot tables hold only samples that are read after their cgroup was chosen; add the cgroup to `hot` in [cgroups] and replay again");
	if (r >= 0 && !(chosen && choice.configured))
		r = backend->hot_choose(backend->userdata, path, request->seconds);
	if (r >= 0 && !backend->hot_choice(backend->userdata, path, &choice))
		r = -ENODATA;
	return r < 0 ? reply_failure(call, control, request, r)
		     : reply_hot(call, control, request, path, &choice);
}

int control_get_hot(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus = varlink_surplus_parameter(
		parameters, (const char *const[]){"cgroup", "limit", "seconds", NULL});
	struct hot_request request = {
		.shown = json_get_text(parameters, "cgroup"), .seconds = SECONDS_DEFAULT, .limit = ~0ULL};

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!request.shown)
		return varlink_invalid_parameter(call, "cgroup");
	if (json_get(parameters, "limit") && !json_get_u64(parameters, "limit", &request.limit))
		return varlink_invalid_parameter(call, "limit");
	if (json_get(parameters, "seconds") && (!json_get_double(parameters, "seconds", &request.seconds) ||
						!(request.seconds > 0 && request.seconds <= SECONDS_MAX)))
		return varlink_invalid_parameter(call, "seconds");
	return choose_and_reply(call, userdata, &request);
}
