// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes from a client: they are parsed and dispatched as the control socket does with each message. A
 * call of a method of the control socket goes to its real handler, with a small policy. Every answer must be
 * JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "collect/packed.h"
#include "example_policy.h"
#include "example_snapshot.h"
#include "export/control/control_call.h"
#include "export/control/control_methods.h"
#include "history/event_json.h"
#include "history/shared/history_wire.h"
#include "varlink/varlink_call.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static int echo(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *surplus =
		varlink_surplus_parameter(parameters, (const char *const[]){"text", "number", NULL});
	double number;
	u64 count;

	(void)userdata;
	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (json_get(parameters, "number") && !json_get_u64(parameters, "number", &count) &&
	    !json_get_double(parameters, "number", &number))
		return varlink_invalid_parameter(call, "number");
	if (!json_get_text(parameters, "text"))
		return varlink_error(call, VARLINK_PERMISSION_DENIED, NULL);
	return varlink_reply(call, json_object_get(parameters));
}

static int listen_in(struct varlink_call *call, json_object *parameters, void *userdata)
{
	(void)parameters;
	(void)userdata;
	return varlink_subscribe(call);
}

static const struct varlink_method methods[] = {
	{.name = "Echo", .handle = echo},
	{.name = "Listen", .handle = listen_in, .needs_more = true},
};

static const struct varlink_service service = {
	.vendor = "v",
	.product = "p",
	.version = "1",
	.url = "",
	.interface = "a.b",
	.description = "interface a.b\n",
	.methods = methods,
	.n_methods = ARRAY_SIZE(methods),
};

static int snapshot(void *userdata, const struct maybe_double *window_seconds, const struct snapshot **ret)
{
	static time_t passed;
	struct snapshot *example = example_several();

	(void)userdata;
	example->window_seconds = *window_seconds;
	/*
	 * Time passes, so that the names of cgroups are made again after a while. Until then each cgroup in a reply
	 * gets one, and other functions of this example accept any cgroup.
	 */
	example->taken.tv_sec += passed++;
	*ret = example;
	return 0;
}

/* Stands in for the daemon: hot tables with two places for each event that can have such tables. */
static int hot_choose(void *userdata, const char *path, double seconds)
{
	(void)userdata;
	if (*path == '\0' || !(seconds > 0 && seconds <= 86400))
		abort();
	return strlen(path) % 2 ? 0 : -ENOSPC;
}

static bool hot_choice(void *userdata, const char *path, struct hot_choice *ret)
{
	(void)userdata;
	*ret = (struct hot_choice){.configured = strlen(path) % 3 == 0, .since_ns = 1, .until_ns = 2};
	return true;
}

static int hot_places(void *userdata, const char *path, unsigned event, enum hot_kind kind,
		      struct hot_places *ret)
{
	(void)userdata;
	(void)path;
	if (event % 2)
		return -EOPNOTSUPP;
	*ret = (struct hot_places){.kind = kind, .latency = true, .weight = 9, .samples = 2, .n = 2};
	ret->places = calloc(2, sizeof(*ret->places));
	if (!ret->places)
		return -ENOMEM;
	ret->places[0] = (struct hot_place){.address = 0xffffffff81000000, .weight = 5, .samples = 1};
	ret->places[1] = (struct hot_place){.address = 0x401000, .weight = 4, .samples = 1, .pid = 1};
	return 0;
}

static const struct symbol *find_name(void *userdata, const struct symbol_query *query)
{
	static struct symbol_frame frame = {.name = (char *)"work", .offset = 4};
	static const struct symbol symbol = {
		.region = SYMBOL_FILE, .module = (char *)"/bin/x", .n_frames = 1, .frames = &frame};

	(void)userdata;
	return query->address % 3 ? &symbol : NULL;
}

/* Stands in for the daemon's zoom: a finished one with two samples. */
static struct zoom zoom = {.id = 1,
			   .state = ZOOM_DONE,
			   .seconds = 30,
			   .reason = (char *)"asked for by uid 0",
			   .names = {.find = find_name}};

static bool make_zoom(void)
{
	struct zoom_about about = {
		.cgroup = (char *)"/batch",
		.began_ns = 1,
		.ended_ns = 2,
		.began_real_ns = 1795240800 * NSEC_PER_SEC,
		.rate = 1000,
		.n_events = 1,
		.events = {{.role = EVENT_LOADS, .settings = {.has_latency = true}}},
		.origin = "perf",
	};
	struct zoom_sample sample = {
		.pid = 1, .tid = 1, .of = {.code_address = 0x401000, .address = 0x7000, .latency = 80}};

	if (zoom_recording_new(&about, 1 << 20, &zoom.recording) < 0 || profile_new(true, &zoom.profile) < 0)
		return false;
	for (int i = 0; i < 2; i++, sample.of.code_address++)
		if (profile_add(zoom.profile, &sample) < 0)
			return false;
	return true;
}

int zooms_begin(struct zooms *zooms, const struct zoom_request *request, u64 *ret_id, char **ret_message)
{
	static const int errors[] = {0, -ENOENT, -EBUSY, -EOPNOTSUPP, -EMFILE};

	(void)zooms;
	if (!(request->seconds > 0 && request->seconds <= ZOOM_SECONDS_MAX) || request->rate > ZOOM_RATE_MAX)
		abort();
	*ret_message = NULL;
	*ret_id = 1;
	return errors[strlen(request->path) % ARRAY_SIZE(errors)];
}

bool zooms_end(struct zooms *zooms, u64 id)
{
	(void)zooms;
	return id == 1;
}

const struct zoom *zooms_find(struct zooms *zooms, const char *path)
{
	(void)zooms;
	return strcmp(path, "/batch") == 0 ? &zoom : NULL;
}

const struct zoom *zooms_get(struct zooms *zooms, u64 id)
{
	(void)zooms;
	return id == 1 ? &zoom : NULL;
}

const struct zoom *zooms_nth(struct zooms *zooms, size_t i)
{
	(void)zooms;
	return i == 0 ? &zoom : NULL;
}

const struct symbol *symbols_find(struct symbols *symbols, const struct symbol_query *query)
{
	(void)symbols;
	return find_name(NULL, query);
}

static struct zooms *zooms_of(void *userdata)
{
	return userdata;
}

static struct symbols *symbols_of(void *userdata)
{
	return userdata;
}

static int reload(void *userdata, char ***ret_lines)
{
	(void)userdata;
	*ret_lines = NULL;
	return -EINVAL;
}

static int pause_nothing(void *userdata, const struct maybe_double *seconds)
{
	(void)userdata;
	if (seconds->known && !(seconds->value > 0 && seconds->value <= CONTROL_PAUSE_SECONDS_MAX))
		abort();
	return -EOPNOTSUPP;
}

static bool resume(void *userdata)
{
	(void)userdata;
	return false;
}

static const struct policy *policy_of(void *userdata)
{
	return userdata;
}

static int neighbours(void *userdata, const char *path, struct neighbours_report **ret)
{
	(void)userdata;
	(void)path;
	*ret = example_neighbours();
	return *ret ? 0 : -ENOMEM;
}

/*
 * Stands in for the history: ten panes with a cgroup, of which a question gets some. The answers to some questions are
 * not there yet, or are errors.
 */
static struct past *past;

static int get_past(void *userdata, u64 since_us, u64 until_us, u32 bins, const char *path, bool subtree,
		    const struct past **ret)
{
	static const struct event loads = {.role = EVENT_LOADS,
					   .ldlat = 30,
					   .period = 1009,
					   .latency_kind = LATENCY_USE,
					   .settings = {.has_latency = 1, .has_source = 1},
					   .pmu = "cpu"};
	static struct history_cgroup cgroup = {.path = "/batch", .labels = ""};
	static struct counters counters = {.samples = {9, 1}, .weight = {9, 1}, .latency = {[30] = 10}};
	static struct history_pane panes[10];
	static struct history_event events[10];
	static struct history_row rows[10];
	static char settings[EVENT_JSON_MAX];
	static u8 packed[PACKED_MAX];
	static const int errors[] = {0, 0, 0, -EAGAIN, -ENODATA, -EOPNOTSUPP, -E2BIG, -EIO};
	const struct past_settings range = {.range = {since_us, until_us}};
	int r = errors[since_us / 1000000 % ARRAY_SIZE(errors)];

	(void)userdata;
	(void)path;
	(void)subtree;
	if (since_us >= until_us || bins > HISTORY_PANES_MAX)
		abort();
	if (event_json_write(&loads, "perf", settings) < 0)
		return -ENOMEM;
	for (u64 i = 0; i < ARRAY_SIZE(panes); i++) {
		events[i] = (struct history_event){
			.key = "loads", .settings = settings, .period = 1009, .seen = 10, .counted = true};
		rows[i] = (struct history_row){.size = (u32)packed_of(&counters, packed), .packed = packed};
		panes[i] = (struct history_pane){.start_us = since_us + i * 10000000,
						 .end_us = since_us + (i + 1) * 10000000,
						 .covered_ns = 10 * NSEC_PER_SEC,
						 .n_events = 1,
						 .events = &events[i],
						 .n_cgroups = 1,
						 .cgroups = &cgroup,
						 .n_rows = 1,
						 .rows = &rows[i]};
	}
	past = past_free(past);
	r = r < 0 ? r : past_new(&range, panes, 1 + until_us / 1000000 % ARRAY_SIZE(panes), &past);
	*ret = past;
	return r;
}

static int get_past_alerts(void *userdata, u64 since_us, u64 until_us, const char *cgroup, const char *rule,
			   const char **ret_json)
{
	static const char *const texts[] = {
		"[]", "[{\"rule\":\"a\",\"fired\":\"2026-11-21T06:00:00Z\",\"firing\":{}},7,null]", "{}",
		"["};

	(void)userdata;
	(void)cgroup;
	(void)rule;
	if (since_us >= until_us)
		abort();
	*ret_json = texts[since_us / 1000000 % ARRAY_SIZE(texts)];
	return until_us / 1000000 % 5 == 4 ? -EAGAIN : 0;
}

static int get_past_neighbours(void *userdata, const struct past *of, const char *path,
			       struct neighbours_report **ret)
{
	(void)of;
	return neighbours(userdata, path, ret);
}

static void get_history(void *userdata, struct history_state *ret)
{
	(void)userdata;
	*ret = (struct history_state){.on = true, .kept = {.oldest_us = 1, .newest_us = ~0ULL}};
}

/* Made once and kept until the process ends. */
static const struct varlink_service *control_service(void)
{
	static struct control control;

	if (!control.service.methods) {
		control.backend = (struct control_backend){
			.snapshot = snapshot,
			.hot_choose = hot_choose,
			.hot_choice = hot_choice,
			.hot_places = hot_places,
			.zooms = zooms_of,
			.symbols = symbols_of,
			.reload = reload,
			.pause = pause_nothing,
			.resume = resume,
			.policy = policy_of,
			.neighbours = neighbours,
			.past = get_past,
			.past_alerts = get_past_alerts,
			.past_neighbours = get_past_neighbours,
			.history = get_history,
			.userdata = example_policy(),
		};
		if (!make_zoom())
			return NULL;
		control.service = service;
		control.service.interface = CONTROL_INTERFACE;
		control.service.methods = control_methods;
		control.service.n_methods = control_n_methods;
		control.service.userdata = &control;
	}
	return control.backend.userdata && zoom.profile ? &control.service : NULL;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct varlink_message message = {0};
	struct varlink_buffer out = {0};
	const struct ucred peer = {.pid = 1}; /* root, who may call every method */
	const struct varlink_service *called = &service;
	struct varlink_call call = {.message = &message, .peer = &peer, .out = &out};
	_cleanup_json_ json_object *answer = NULL;

	if (varlink_message_parse((const char *)data, size, &message) < 0)
		return 0;
	if (strncmp(message.method, CONTROL_INTERFACE ".", strlen(CONTROL_INTERFACE) + 1) == 0)
		called = control_service();
	if (!called || varlink_call_dispatch(&call, called) < 0 || !call.answered)
		abort();
	if ((message.oneway || call.subscribed || call.waiting) != (out.length == 0))
		abort();
	if (out.length > 0 && (varlink_buffer_data(&out)[out.length - 1] != '\0' ||
			       json_parse(varlink_buffer_data(&out), out.length - 1, 32, &answer) < 0))
		abort();
	varlink_buffer_done(&out);
	varlink_message_done(&message);
	return 0;
}
