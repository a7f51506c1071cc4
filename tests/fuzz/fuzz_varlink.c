// SPDX-License-Identifier: GPL-2.0
/*
 * Whatever a client sends: parsed, and run through the dispatch of a service, as the control socket does with
 * each message: that of the control socket itself, over a small policy at work, where it calls one of its
 * methods. Every answer must be JSON again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "example_policy.h"
#include "example_snapshot.h"
#include "export/control_call.h"
#include "export/control_methods.h"
#include "export/varlink_call.h"

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
	struct snapshot *example = example_several();

	(void)userdata;
	example->window_seconds = *window_seconds;
	*ret = example;
	return 0;
}

/* Nothing is found. */
static int hot(void *userdata, const char *path, unsigned number, struct hot_list *ret)
{
	(void)userdata;
	(void)path;
	(void)number;
	*ret = (struct hot_list){0};
	return 0;
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

/* Made once, and kept for as long as the process lives. */
static const struct varlink_service *control_service(void)
{
	static struct control control;

	if (!control.service.methods) {
		control.backend = (struct control_backend){
			.snapshot = snapshot,
			.hot = hot,
			.reload = reload,
			.pause = pause_nothing,
			.resume = resume,
			.policy = policy_of,
			.neighbours = neighbours,
			.userdata = example_policy(),
		};
		control.service = service;
		control.service.interface = CONTROL_INTERFACE;
		control.service.methods = control_methods;
		control.service.n_methods = control_n_methods;
		control.service.userdata = &control;
	}
	return control.backend.userdata ? &control.service : NULL;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct varlink_message message = {0};
	struct varlink_buffer out = {0};
	const struct ucred peer = {.pid = 1}; /* root: every method is permitted */
	const struct varlink_service *called = &service;
	struct varlink_call call = {.message = &message, .peer = &peer, .out = &out};
	_cleanup_json_ json_object *answer = NULL;

	if (varlink_message_parse((const char *)data, size, &message) < 0)
		return 0;
	if (strncmp(message.method, CONTROL_INTERFACE ".", strlen(CONTROL_INTERFACE) + 1) == 0)
		called = control_service();
	if (!called || varlink_call_dispatch(&call, called) < 0 || !call.answered)
		abort();
	if ((message.oneway || call.subscribed) != (out.length == 0))
		abort();
	if (out.length > 0 && (varlink_buffer_data(&out)[out.length - 1] != '\0' ||
			       json_parse(varlink_buffer_data(&out), out.length - 1, 32, &answer) < 0))
		abort();
	varlink_buffer_done(&out);
	varlink_message_done(&message);
	return 0;
}
