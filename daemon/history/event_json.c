// SPDX-License-Identifier: GPL-2.0
#include "history/event_json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"

/* Nominal frequencies above this are not believed. */
#define NOMINAL_HZ_MAX 1e12

/* The fields of struct event_settings that are flags, and their names in the text. */
#define EVENT_FLAGS(X)                                    \
	X(has_latency, "latency")                         \
	X(has_instruction_latency, "instruction_latency") \
	X(has_source, "source")                           \
	X(has_address, "address")                         \
	X(has_code_address, "code_address")               \
	X(weight_struct, "weight_struct")

static int put(json_object *object, const char *key, json_object *value)
{
	if (value && json_object_object_add(object, key, value) == 0)
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

static int put_text(json_object *object, const char *key, const char *text)
{
	return text ? put(object, key, json_object_new_string(text)) : 0;
}

static int put_number(json_object *object, const char *key, u64 number)
{
	return number ? put(object, key, json_object_new_uint64(number)) : 0;
}

static int put_all(json_object *object, const struct event *event, const char *origin)
{
	int r = put_text(object, "role", event_role_name(event->role));

	if (r == 0)
		r = put_text(object, "origin", origin);
	if (r == 0)
		r = put_text(object, "pmu", event->pmu[0] ? event->pmu : NULL);
	if (r == 0)
		r = put_number(object, "ldlat", event->ldlat);
	if (r == 0)
		r = put_text(object, "latency_kind", event_latency_kind_name(event->latency_kind));
	if (r == 0)
		r = put_text(object, "count_kind", event_count_kind_name(event->count_kind));
	if (r == 0)
		r = put_number(object, "nominal_hz", (u64)llround(event->nominal_hz));
	if (r == 0)
		r = put_number(object, "operations", event->settings.operations);
#define PUT(member, key)                      \
	if (r == 0 && event->settings.member) \
		r = put(object, key, json_object_new_boolean(true));
	EVENT_FLAGS(PUT)
#undef PUT
	return r;
}

int event_json_write(const struct event *event, const char *origin, char *ret)
{
	_cleanup_json_ json_object *object = json_object_new_object();
	const char *text;
	size_t length;
	int r;

	if (!object)
		return -ENOMEM;
	r = put_all(object, event, origin);
	if (r < 0)
		return r;
	text = json_object_to_json_string_length(object, JSON_C_TO_STRING_PLAIN, &length);
	if (!text)
		return -ENOMEM;
	if (length >= EVENT_JSON_MAX)
		return -EINVAL;
	memcpy(ret, text, length + 1);
	return 0;
}

/* Gets an optional number; returns false if it is not a number up to `most`. */
static bool get_number(const json_object *object, const char *key, u64 most, u64 *ret)
{
	*ret = 0;
	return !json_get(object, key) || (json_get_u64(object, key, ret) && *ret <= most);
}

static bool get_role(const json_object *object, struct event *event)
{
	const char *name = json_get_text(object, "role");

	for (event->role = 0; name && event->role < EVENT_ROLES; event->role++)
		if (strcmp(name, event_role_name(event->role)) == 0)
			return true;
	return false;
}

static const char *get_origin(const json_object *object)
{
	static const char *const origins[] = {"perf", "replay", "model"};
	const char *origin = json_get_text(object, "origin");

	for (size_t i = 0; origin && i < ARRAY_SIZE(origins); i++)
		if (strcmp(origin, origins[i]) == 0)
			return origins[i];
	return NULL;
}

static bool get_kinds(const json_object *object, struct event *event)
{
	const char *latency = json_get_text(object, "latency_kind"),
		   *count = json_get_text(object, "count_kind");
	const char *name;

	if ((json_get(object, "latency_kind") && !latency) || (json_get(object, "count_kind") && !count))
		return false;
	event->latency_kind = LATENCY_NONE;
	while (latency) {
		name = event_latency_kind_name(++event->latency_kind);
		if (!name)
			return false;
		if (strcmp(name, latency) == 0)
			break;
	}
	event->count_kind = COUNT_NONE;
	while (count) {
		name = event_count_kind_name(++event->count_kind);
		if (!name)
			return false;
		if (strcmp(name, count) == 0)
			break;
	}
	return true;
}

static bool get_pmu(const json_object *object, struct event *event)
{
	const char *pmu = json_get_text(object, "pmu");

	if (!pmu)
		return !json_get(object, "pmu");
	if (strlen(pmu) >= sizeof(event->pmu))
		return false;
	(void)stpcpy(event->pmu, pmu);
	return true;
}

static bool get_flags(const json_object *object, struct event_settings *settings)
{
	bool yes;

#define GET(member, key)                                                \
	yes = false;                                                    \
	if (json_get(object, key) && !json_get_bool(object, key, &yes)) \
		return false;                                           \
	settings->member = yes;
	EVENT_FLAGS(GET)
#undef GET
	return true;
}

int event_json_read(const char *text, struct event *ret, const char **ret_origin)
{
	_cleanup_json_ json_object *object = NULL;
	u64 ldlat, nominal, operations;
	size_t length = strlen(text);
	int r;

	*ret = (struct event){0};
	if (length >= EVENT_JSON_MAX)
		return -EBADMSG;
	r = json_parse(text, length, 4, &object);
	if (r < 0)
		return r == -ENOMEM ? r : -EBADMSG;
	*ret_origin = get_origin(object);
	if (!*ret_origin || !get_role(object, ret) || !get_kinds(object, ret) || !get_pmu(object, ret) ||
	    !get_flags(object, &ret->settings) || !get_number(object, "ldlat", UINT32_MAX, &ldlat) ||
	    !get_number(object, "nominal_hz", (u64)NOMINAL_HZ_MAX, &nominal) ||
	    !get_number(object, "operations", UINT8_MAX, &operations))
		return -EBADMSG;
	ret->ldlat = (u32)ldlat;
	ret->nominal_hz = (double)nominal;
	ret->settings.operations = (u8)operations;
	return 0;
}

bool event_json_same(const struct event *a, const struct event *b)
{
	return a->role == b->role && a->ldlat == b->ldlat && a->latency_kind == b->latency_kind &&
	       a->count_kind == b->count_kind && strcmp(a->pmu, b->pmu) == 0 &&
	       a->settings.has_latency == b->settings.has_latency &&
	       a->settings.has_instruction_latency == b->settings.has_instruction_latency &&
	       a->settings.has_source == b->settings.has_source &&
	       a->settings.operations == b->settings.operations;
}
