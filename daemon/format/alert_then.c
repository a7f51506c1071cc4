// SPDX-License-Identifier: GPL-2.0
#include "format/alert_then.h"

#include <stdbool.h>
#include <string.h>

#include "base/json_get.h"
#include "base/text.h"

/* Members that belong to the state that was stored last. */
static const char *const later[] = {
	"held",
	"unknown",
	"value",
	"worst",
	"low",
	"high",
	"samples",
	"second_samples",
	"worth",
	"firing",
	"end",
	"base_samples",
	"window_s",
	"held_s",
	"resolved",
	"frequency",
	"sentences",
	"cores_used",
	"subtree_without_slot",
};

static bool is_after(const json_object *alert, const char *key, time_t until)
{
	const char *text = json_get_text(alert, key);
	time_t at;

	return text && text_parse_time(text, &at) == 0 && at > until;
}

/* Changes the alert to an earlier state, which began at the time that `since` has. */
static json_object *change(json_object *alert, const char *state, const char *since)
{
	json_object *began = json_get(alert, since);

	for (size_t i = 0; i < ARRAY_SIZE(later); i++)
		json_object_object_del(alert, later[i]);
	if (json_object_object_add(alert, "state", json_object_new_string(state)) < 0 ||
	    (began && json_object_object_add(alert, "since", json_object_get(began)) < 0))
		return NULL;
	return json_object_get(alert);
}

json_object *alert_then(json_object *alert, time_t until)
{
	const char *state = json_get_text(alert, "state");
	json_object *firing = json_get_object(alert, "firing");
	const bool fired = json_get(alert, "fired") && !is_after(alert, "fired", until);

	if (!fired && (json_get(alert, "fired") ||
		       (state && strcmp(state, "inactive") == 0 && is_after(alert, "since", until)))) {
		json_object_object_del(alert, "fired");
		json_object_object_del(alert, "alert");
		return change(alert, "pending", "breached");
	}
	if (fired && (!json_get(alert, "resolved") || is_after(alert, "resolved", until))) {
		if (firing)
			return json_object_get(firing);
		if (json_get(alert, "resolved"))
			return change(alert, "firing", "fired");
	}
	json_object_object_del(alert, "firing");
	return json_object_get(alert);
}
