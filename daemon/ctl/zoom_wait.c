// SPDX-License-Identifier: GPL-2.0
#include "ctl/zoom_wait.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/json_get.h"
#include "ctl/call/call_failure.h"
#include "ctl/call/call_style.h"
#include "ctl/progress.h"
#include "format/line.h"

#define POLL_MS 250

enum ctl_exit zoom_begin(const struct ctl_options *options, struct client *client, const char *cgroup,
			 json_object **ret)
{
	json_object *parameters = json_object_new_object();

	if (!call_add_name(parameters, "cgroup", cgroup) ||
	    (options->has_for && json_object_object_add(parameters, "seconds",
							json_object_new_double(options->for_seconds)) < 0) ||
	    (options->has_rate &&
	     json_object_object_add(parameters, "rate", json_object_new_uint64(options->rate)) < 0)) {
		json_object_put(parameters);
		return failure_of_memory();
	}
	return call(options, client, "io.pebsd.Zoom", parameters, ret);
}

enum ctl_exit zoom_get(const struct ctl_options *options, struct client *client, u64 id, const char *cgroup,
		       u64 limit, json_object **ret)
{
	json_object *parameters = json_object_new_object();
	bool fine = parameters;

	if (id)
		fine = fine && json_object_object_add(parameters, "zoom", json_object_new_uint64(id)) == 0;
	else
		fine = fine && call_add_name(parameters, "cgroup", cgroup);
	if (limit)
		fine = fine &&
		       json_object_object_add(parameters, "limit", json_object_new_uint64(limit)) == 0;
	if (!fine) {
		json_object_put(parameters);
		return failure_of_memory();
	}
	return call(options, client, "io.pebsd.GetZoom", parameters, ret);
}

/* Returns the zoom with that number, borrowed; NULL: the daemon has it no longer. */
static json_object *find_zoom(json_object *zooms, u64 id)
{
	json_object *list = json_get_array(zooms, "zooms");

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		json_object *zoom = json_object_array_get_idx(list, i);
		u64 number;

		if (json_get_u64(zoom, "zoom", &number) && number == id)
			return zoom;
	}
	return NULL;
}

static void show(struct progress *progress, json_object *zoom, const char *cgroup)
{
	const char *state = json_get_text(zoom, "state");
	char ran[TEXT_NUMBER_MAX] = "-", requested[TEXT_NUMBER_MAX] = "-", samples[TEXT_NUMBER_MAX] = "-";
	_cleanup_free_ char *kept = NULL, *text = NULL;
	double seconds;
	u64 taken;

	if (json_get_double(zoom, "ran_s", &seconds))
		text_span(floor(seconds), ran);
	if (json_get_double(zoom, "seconds", &seconds))
		text_span(seconds, requested);
	if (json_get_u64(json_get_object(zoom, "samples"), "taken", &taken))
		text_count(taken, samples);
	if (asprintf(&text,
		     state && strcmp(state, "naming") == 0
			     ? "ended after %s of %s: %s samples; looking up the names of addresses (%s)"
			     : "zooming in, %s of %s: %s samples; Ctrl-C leaves the zoom running (%s)",
		     ran, requested, samples, line_visible(cgroup, &kept)) < 0) {
		text = NULL;
		return;
	}
	progress_show(progress, text);
}

static enum ctl_exit interrupted(const struct ctl_options *options, json_object *zoom, const char *cgroup)
{
	const char *until = json_get_text(zoom, "until");
	_cleanup_free_ char *kept = NULL;
	char time[LINE_TIME_MAX];
	const struct format_style style = call_style(options);

	(void)line_visible(cgroup, &kept);
	/* A zoom has no `until` after its end, while names are looked up. */
	if (!until)
		(void)fprintf(
			stderr,
			"pebsctl: interrupted: the zoom has ended; `pebsctl zoom --last %s` prints its result\n",
			kept ? kept : "CGROUP");
	else
		(void)fprintf(
			stderr,
			"pebsctl: interrupted: the zoom continues until %s; `pebsctl zoom --last %s` prints its result, and `pebsctl zoom --stop %s` ends it\n",
			line_time(&style, until, time), kept ? kept : "CGROUP", kept ? kept : "CGROUP");
	return CTL_FAILED;
}

enum ctl_exit zoom_wait(const struct ctl_options *options, struct client *client, u64 id, const char *cgroup,
			json_object **ret)
{
	_cleanup_(progress_closep) struct progress *progress = NULL;
	int r = progress_open(&progress);

	if (r < 0) {
		(void)fprintf(stderr, "pebsctl: cannot wait for the zoom: %s\n", strerror(-r));
		return CTL_FAILED;
	}
	for (;;) {
		_cleanup_json_ json_object *zooms = NULL;
		enum ctl_exit result;
		json_object *zoom;
		const char *state;

		/* A failure is printed on a line of its own. */
		progress_clear(progress);
		result = call(options, client, "io.pebsd.GetZooms", NULL, &zooms);
		zoom = find_zoom(zooms, id);
		state = json_get_text(zoom, "state");

		if (result == CTL_DONE && !state) {
			(void)fprintf(
				stderr,
				"pebsctl: the daemon no longer keeps zoom %llu: newer zooms took its place, or it ended more than an hour ago; zoom again\n",
				(unsigned long long)id);
			return CTL_FAILED;
		}
		if (result != CTL_DONE)
			return result;
		if (strcmp(state, "done") == 0) {
			*ret = json_object_get(zoom);
			return CTL_DONE;
		}
		show(progress, zoom, cgroup);
		if (progress_wait(progress, POLL_MS)) {
			progress_close(TAKE_PTR(progress));
			return interrupted(options, zoom, cgroup);
		}
	}
}
