// SPDX-License-Identifier: GPL-2.0
#include "varlink/varlink_call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"

#define SERVICE_INTERFACE "org.varlink.service"

/*
 * Appends one message and its NUL; takes ownership of `message`. Returns -EMSGSIZE if it is larger than
 * VARLINK_REPLY_MAX.
 */
static int queue(struct varlink_buffer *out, json_object *message)
{
	_cleanup_json_ json_object *owned = message;
	const char *text;
	size_t length;

	text = json_object_to_json_string_length(
		owned, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
	if (!text)
		return -ENOMEM;
	return length < VARLINK_REPLY_MAX ? varlink_buffer_append(out, text, length + 1) : -EMSGSIZE;
}

/* Returns {"KEY": VALUE}; takes ownership of `value`. NULL: no memory. */
static json_object *object_of(const char *key, json_object *value)
{
	json_object *object = json_object_new_object();

	if (object && value && json_object_object_add(object, key, value) == 0)
		return object;
	json_object_put(value);
	json_object_put(object);
	return NULL;
}

int varlink_encode_item(json_object *parameters, struct varlink_buffer *ret)
{
	_cleanup_json_ json_object *message = object_of("parameters", json_object_get(parameters));

	if (!message || json_object_object_add(message, "continues", json_object_new_boolean(1)) < 0)
		return -ENOMEM;
	return queue(ret, TAKE_PTR(message));
}

/*
 * Sends the error ReplyTooLarge of the interface that was called. A client sees it if a large result cannot
 * be requested in pages.
 */
static int reply_too_large(struct varlink_call *call)
{
	_cleanup_free_ char *error = NULL;

	if (asprintf(&error, "%.*s.ReplyTooLarge", (int)call->message->interface_length,
		     call->message->method) < 0) {
		error = NULL;
		return -ENOMEM;
	}
	return varlink_error(call, error, NULL);
}

int varlink_reply(struct varlink_call *call, json_object *parameters)
{
	json_object *message;
	int r;

	call->answered = true;
	if (call->message->oneway) {
		json_object_put(parameters);
		return 0;
	}
	message = object_of("parameters", parameters ? parameters : json_object_new_object());
	r = message ? queue(call->out, message) : -ENOMEM;
	return r == -EMSGSIZE ? reply_too_large(call) : r;
}

int varlink_reply_text(struct varlink_call *call, const char *text, size_t length)
{
	if (call->message->oneway || call->too_large)
		return 0;
	if (call->out->length - call->begin + length > VARLINK_REPLY_MAX) {
		call->too_large = true;
		return 0;
	}
	return varlink_buffer_append(call->out, text, length);
}

int varlink_reply_begin(struct varlink_call *call)
{
	static const char head[] = "{\"parameters\":";

	call->answered = true;
	call->begin = call->out->length;
	return varlink_reply_text(call, head, strlen(head));
}

int varlink_reply_end(struct varlink_call *call)
{
	int r = varlink_reply_text(call, "}", strlen("}") + 1);

	if (!call->too_large)
		return r;
	call->out->length = call->begin;
	return reply_too_large(call);
}

int varlink_error(struct varlink_call *call, const char *error, json_object *parameters)
{
	_cleanup_json_ json_object *owned = parameters;
	_cleanup_json_ json_object *message = NULL;

	call->answered = true;
	if (call->message && call->message->oneway)
		return 0;
	message = object_of("error", json_object_new_string(error));
	if (!message)
		return -ENOMEM;
	if (owned) {
		if (json_object_object_add(message, "parameters", owned) < 0)
			return -ENOMEM;
		(void)TAKE_PTR(owned);
	}
	return queue(call->out, TAKE_PTR(message));
}

static int error_about(struct varlink_call *call, const char *error, const char *key, const char *value)
{
	json_object *parameters = object_of(key, json_object_new_string(value));

	return parameters ? varlink_error(call, error, parameters) : -ENOMEM;
}

int varlink_invalid_parameter(struct varlink_call *call, const char *parameter)
{
	return error_about(call, VARLINK_INVALID_PARAMETER, "parameter", parameter);
}

const char *varlink_surplus_parameter(json_object *parameters, const char *const *known)
{
	if (!parameters)
		return NULL;
	json_object_object_foreach (parameters, name, value) {
		size_t i = 0;

		(void)value;
		while (known[i] && strcmp(known[i], name) != 0)
			i++;
		if (!known[i])
			return name;
	}
	return NULL;
}

int varlink_subscribe(struct varlink_call *call)
{
	call->answered = true;
	if (!call->message->oneway)
		call->subscribed = true;
	return 0;
}

int varlink_wait(struct varlink_call *call)
{
	if (call->waited_enough)
		return -ETIME;
	call->answered = true;
	/* Nobody waits for the reply of a oneway call. */
	call->waiting = !call->message->oneway;
	return 0;
}

const struct ucred *varlink_peer(const struct varlink_call *call)
{
	return call->peer;
}

const gid_t *varlink_peer_groups(const struct varlink_call *call, size_t *ret_n)
{
	*ret_n = call->n_groups;
	return call->groups;
}

static int get_info(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const struct varlink_service *service = userdata;
	const char *const texts[][2] = {{"vendor", service->vendor},
					{"product", service->product},
					{"version", service->version},
					{"url", service->url}};
	const char *const interfaces[] = {SERVICE_INTERFACE, service->interface};
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){NULL});
	_cleanup_json_ json_object *info = object_of("interfaces", json_object_new_array());

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!info)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (json_object_object_add(info, texts[i][0], json_object_new_string(texts[i][1])) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(interfaces); i++)
		if (json_object_array_add(json_get_array(info, "interfaces"),
					  json_object_new_string(interfaces[i])) < 0)
			return -ENOMEM;
	return varlink_reply(call, TAKE_PTR(info));
}

static const char service_description[] =
	"# The methods of every Varlink service.\n"
	"interface " SERVICE_INTERFACE "\n"
	"\n"
	"method GetInfo() -> (vendor: string, product: string, version: string, url: string,\n"
	"	interfaces: []string)\n"
	"method GetInterfaceDescription(interface: string) -> (description: string)\n"
	"\n"
	"error InterfaceNotFound (interface: string)\n"
	"error MethodNotFound (method: string)\n"
	"error MethodNotImplemented (method: string)\n"
	"error InvalidParameter (parameter: string)\n"
	"error PermissionDenied ()\n"
	"error ExpectedMore ()\n";

static int get_interface_description(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const struct varlink_service *service = userdata;
	const char *surplus = varlink_surplus_parameter(parameters, (const char *const[]){"interface", NULL});
	const char *name = json_get_text(parameters, "interface");
	const char *description;
	json_object *reply;

	if (surplus)
		return varlink_invalid_parameter(call, surplus);
	if (!name)
		return varlink_invalid_parameter(call, "interface");
	if (strcmp(name, service->interface) == 0)
		description = service->description;
	else if (strcmp(name, SERVICE_INTERFACE) == 0)
		description = service_description;
	else
		return error_about(call, SERVICE_INTERFACE ".InterfaceNotFound", "interface", name);
	reply = object_of("description", json_object_new_string(description));
	return reply ? varlink_reply(call, reply) : -ENOMEM;
}

static const struct varlink_method service_methods[] = {
	{.name = "GetInfo", .handle = get_info},
	{.name = "GetInterfaceDescription", .handle = get_interface_description},
};

int varlink_call_dispatch(struct varlink_call *call, const struct varlink_service *service)
{
	const struct varlink_message *message = call->message;
	const char *name = message->method + message->interface_length + 1;
	_cleanup_free_ char *interface = strndup(message->method, message->interface_length);
	const struct varlink_method *methods;
	void *userdata;
	int refused;
	size_t n;

	if (!interface)
		return -ENOMEM;
	if (strcmp(interface, service->interface) == 0) {
		methods = service->methods;
		n = service->n_methods;
		userdata = service->userdata;
	} else if (strcmp(interface, SERVICE_INTERFACE) == 0) {
		methods = service_methods;
		n = ARRAY_SIZE(service_methods);
		userdata = (void *)service;
	} else {
		return error_about(call, SERVICE_INTERFACE ".InterfaceNotFound", "interface", interface);
	}

	for (size_t i = 0; i < n; i++) {
		if (strcmp(name, methods[i].name) != 0)
			continue;
		if (methods == service->methods && service->refuses &&
		    service->refuses(call, &methods[i], userdata, &refused))
			return refused;
		if (!methods[i].handle)
			return error_about(call, SERVICE_INTERFACE ".MethodNotImplemented", "method",
					   message->method);
		if (message->upgrade)
			return varlink_invalid_parameter(call, "upgrade");
		if (methods[i].needs_more && !message->more)
			return varlink_error(call, SERVICE_INTERFACE ".ExpectedMore", NULL);
		return methods[i].handle(call, message->parameters, userdata);
	}
	return error_about(call, SERVICE_INTERFACE ".MethodNotFound", "method", message->method);
}
