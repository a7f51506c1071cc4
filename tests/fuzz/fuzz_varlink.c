// SPDX-License-Identifier: GPL-2.0
/*
 * Whatever a client sends: parsed, and run through the dispatch of a service, as the control socket does with
 * each message. Every answer must be JSON again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
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

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct varlink_message message = {0};
	struct varlink_buffer out = {0};
	const struct ucred peer = {.pid = 1};
	struct varlink_call call = {.message = &message, .peer = &peer, .out = &out};
	_cleanup_json_ json_object *answer = NULL;

	if (varlink_message_parse((const char *)data, size, &message) < 0)
		return 0;
	if (varlink_call_dispatch(&call, &service) < 0 || !call.answered)
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
