// SPDX-License-Identifier: GPL-2.0
#include "export/profile/zoom_flame.h"

#include <errno.h>
#include <string.h>

#include "export/json/json_flame.h"
#include "profile/hidden_names.h"

int zoom_flame(const struct zoom *zoom, bool addresses, u8 **ret, size_t *ret_size)
{
	static const struct report_settings settings = {
		.lines = JSON_FLAME_LINES_MAX, .accesses = JSON_FLAME_ACCESSES_MAX, .by_cpu = true};
	struct json_zoom about = {.zoom = zoom, .about = zoom_recording_about_const(zoom->recording)};
	struct profile_report report;
	struct hidden_names hidden;
	struct profile_names names = hidden_names(&hidden, &zoom->names);
	json_object *object = NULL;
	struct flame flame;
	const char *text;
	int r = profile_report(zoom->profile, &names, &settings, &report);

	if (r < 0)
		return r;
	about.totals = report.totals;
	r = flame_make(zoom->profile, &names, JSON_FLAME_NODES_MAX, &flame);
	if (r == 0) {
		object = json_flame(&about, &flame, &report, addresses);
		text = object ? json_object_to_json_string_length(
					object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
					ret_size)
			      : NULL;
		*ret = text ? (u8 *)strdup(text) : NULL;
		r = *ret ? 0 : -ENOMEM;
		json_object_put(object);
		flame_done(&flame);
	}
	profile_report_done(&report);
	return r;
}
