// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_alert_then.h"

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

/* Returns true if the alert ended before `until`, with the time that is stored, and not because it resolved. */
static bool was_left(const json_object *alert, time_t until)
{
	u64 to_us;

	return json_get_u64(alert, "to_us", &to_us) && !json_get(alert, "resolved") &&
	       (time_t)(to_us / 1000000) <= until;
}

/* An alert that was open when the figures end may have ended since. */
static json_object *make_unknown(json_object *alert, const char *reason)
{
	const char *state = json_get_text(alert, "state");
	json_object *held;

	if (!state || (strcmp(state, "firing") != 0 && strcmp(state, "pending") != 0))
		return alert;
	held = json_object_new_string(state);
	if (json_object_object_add(alert, "held", held) < 0 ||
	    json_object_object_add(alert, "state", json_object_new_string("unknown")) < 0 ||
	    json_object_object_add(alert, "unknown", json_object_new_string(reason)) < 0) {
		json_object_put(alert);
		return NULL;
	}
	return alert;
}

/* Like json_alert_then() with `measured`. */
static json_object *earlier(json_object *alert, time_t until)
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

json_object *json_alert_then(json_object *alert, time_t until, bool measured)
{
	const char *reason = !measured ? "gap" : was_left(alert, until) ? "restart" : NULL;
	json_object *then;

	json_object_object_del(alert, "to_us");
	then = earlier(alert, until);
	return then && reason ? make_unknown(then, reason) : then;
}
