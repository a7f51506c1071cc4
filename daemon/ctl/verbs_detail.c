// SPDX-License-Identifier: GPL-2.0
/* The verbs that look closer at one cgroup: zoom and hot. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/json_get.h"
#include "ctl/call/call_failure.h"
#include "ctl/call/call_style.h"
#include "ctl/progress.h"
#include "ctl/verbs.h"
#include "ctl/zoom_wait.h"
#include "format/format.h"
#include "format/line.h"
#include "format/output.h"

#define DEFAULT_ROWS        20
#define DEFAULT_HOT_SECONDS 10
/* The time for which the daemon keeps hot tables by default. A longer time has to be requested. */
#define HOT_KEPT_SECONDS 600
#define HOT_SECONDS_MAX  86400
/* Wait at most two seconds for symbols: they usually arrive within some tenths of a second. */
#define NAMES_TRIES 8
#define POLL_MS     250

static enum ctl_exit print_report(const struct ctl_options *options, struct client *client, u64 id,
				  const char *cgroup)
{
	const struct format_style style = call_style(options);
	u64 limit = options->has_limit ? options->limit : options->json ? 0 : DEFAULT_ROWS;
	_cleanup_json_ json_object *report = NULL;
	_cleanup_free_ char *text = NULL;
	enum ctl_exit result;
	size_t length;
	FILE *stream;

	result = zoom_get(options, client, id, cgroup, limit, &report);
	if (result != CTL_DONE)
		return result;
	if (options->json)
		return call_print_json(report);
	stream = open_memstream(&text, &length);
	if (!stream)
		return failure_of_memory();
	format_zoom(stream, report, time(NULL), &style);
	return call_print_text(stream, &text, &length);
}

static enum ctl_exit print_begun(const struct ctl_options *options, json_object *begun, const char *cgroup)
{
	const struct format_style style = call_style(options);
	_cleanup_free_ char *text = NULL, *name = NULL, *note = NULL;
	char until[LINE_TIME_MAX];
	size_t length;
	FILE *stream;

	if (options->json)
		return call_print_json(begun);
	stream = open_memstream(&text, &length);
	if (!stream)
		return failure_of_memory();
	line_put(stream, &style, NULL, "The zoom runs until %s; `pebsctl zoom --last %s` prints its result.",
		 line_time(&style, json_get_text(begun, "until"), until), line_visible(cgroup, &name));
	if (json_get_text(begun, "note"))
		line_put(stream, &style, NULL, "%s", line_visible(json_get_text(begun, "note"), &note));
	return call_print_text(stream, &text, &length);
}

/* Ends the newest zoom of the cgroup if it is running, waits for the names, and prints its report. */
static enum ctl_exit stop(const struct ctl_options *options, struct client *client, const char *cgroup)
{
	_cleanup_json_ json_object *report = NULL, *reply = NULL, *zoom = NULL;
	json_object *parameters;
	enum ctl_exit result;
	bool ended = false;
	u64 id = 0;

	result = zoom_get(options, client, 0, cgroup, 1, &report);
	if (result != CTL_DONE)
		return result;
	(void)json_get_u64(json_get_object(report, "zoom"), "zoom", &id);
	parameters = json_object_new_object();
	if (!parameters || json_object_object_add(parameters, "zoom", json_object_new_uint64(id)) < 0) {
		json_object_put(parameters);
		return failure_of_memory();
	}
	result = call(options, client, "io.pebsd.EndZoom", parameters, &reply);
	if (result != CTL_DONE)
		return result;
	(void)json_get_bool(reply, "ended", &ended);
	if (!ended && !options->json)
		(void)fprintf(stderr, "pebsctl: the zoom had already ended; this is its result\n");
	result = zoom_wait(options, client, id, cgroup, &zoom);
	return result == CTL_DONE ? print_report(options, client, id, NULL) : result;
}

static enum ctl_exit wrong_usage(const char *what)
{
	(void)fprintf(stderr, "pebsctl: %s; see `pebsctl --help`\n", what);
	return CTL_USAGE;
}

enum ctl_exit verb_zoom(const struct ctl_options *options, char *const *arguments)
{
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *begun = NULL, *zoom = NULL;
	enum ctl_exit result;
	u64 id = 0;

	if (options->last + options->stop + options->no_wait > 1)
		return wrong_usage("--no-wait, --last and --stop cannot be used together");
	if ((options->last || options->stop) && (options->has_for || options->has_rate))
		return wrong_usage(
			"--for and --rate are for a new zoom: they cannot be used with --last or --stop");
	if (options->has_limit && options->limit > OPTIONS_ZOOM_LIMIT_MAX)
		return wrong_usage("invalid --limit: a table of a zoom has at most 10000 rows");
	result = call_open(options, &client);
	if (result != CTL_DONE)
		return result;
	if (options->last)
		return print_report(options, client, 0, arguments[0]);
	if (options->stop)
		return stop(options, client, arguments[0]);
	result = zoom_begin(options, client, arguments[0], &begun);
	if (result != CTL_DONE)
		return result;
	if (options->no_wait)
		return print_begun(options, begun, arguments[0]);
	(void)json_get_u64(begun, "zoom", &id);
	result = zoom_wait(options, client, id, arguments[0], &zoom);
	return result == CTL_DONE ? print_report(options, client, id, NULL) : result;
}

static enum ctl_exit get_hot(const struct ctl_options *options, struct client *client, const char *path,
			     json_object **ret)
{
	json_object *parameters = json_object_new_object();
	u64 limit = options->has_limit ? options->limit : DEFAULT_ROWS;
	double seconds = options->for_seconds + HOT_KEPT_SECONDS;

	if (!call_add_name(parameters, "cgroup", path) ||
	    ((options->has_limit || !options->json) &&
	     json_object_object_add(parameters, "limit", json_object_new_uint64(limit)) < 0) ||
	    (options->has_for && seconds > 2 * HOT_KEPT_SECONDS &&
	     json_object_object_add(
		     parameters, "seconds",
		     json_object_new_double(seconds < HOT_SECONDS_MAX ? seconds : HOT_SECONDS_MAX)) < 0)) {
		json_object_put(parameters);
		return failure_of_memory();
	}
	json_object_put(*ret);
	*ret = NULL;
	return call(options, client, "io.pebsd.GetHot", parameters, ret);
}

/* Returns the number of seconds that the tables still need before they are shown; 0 or less: none. */
static double still_to_wait(const struct ctl_options *options, json_object *hot)
{
	json_object *chosen = json_get_object(hot, "chosen");
	const char *by = json_get_text(chosen, "by");
	double wanted = options->has_for ? options->for_seconds : DEFAULT_HOT_SECONDS, has;

	if (!json_get_double(chosen, "for_s", &has) ||
	    (by && strcmp(by, "configuration") == 0 && !options->has_for))
		return 0;
	return wanted - has;
}

/*
 * Polls until the tables have collected samples for long enough. Then polls until all addresses have names, at
 * most NAMES_TRIES times.
 */
static enum ctl_exit wait_for_hot(const struct ctl_options *options, struct client *client,
				  const char *cgroup, json_object **ret)
{
	_cleanup_(progress_closep) struct progress *progress = NULL;
	enum ctl_exit result;
	unsigned int tries = 0;
	int r;

	r = progress_open(&progress);
	if (r < 0) {
		(void)fprintf(stderr, "pebsctl: cannot wait for the hot tables: %s\n", strerror(-r));
		return CTL_FAILED;
	}
	for (;;) {
		char left[TEXT_NUMBER_MAX], line[TEXT_NUMBER_MAX + 64];
		double seconds;
		u64 unnamed = 0;

		progress_clear(progress);
		result = get_hot(options, client, cgroup, ret);
		if (result != CTL_DONE)
			return result;
		seconds = still_to_wait(options, *ret);
		(void)json_get_u64(*ret, "unnamed", &unnamed);
		if (seconds <= 0 && (unnamed == 0 || tries++ == NAMES_TRIES))
			return CTL_DONE;
		text_span(floor(seconds + 1), left);
		(void)snprintf(line, sizeof(line),
			       seconds > 0 ? "collecting hot code and data, %s left" : "looking up names%.0s",
			       left);
		progress_show(progress, line);
		if (progress_wait(progress, seconds > 0 && seconds * 1000 < POLL_MS
						    ? (int)(seconds * 1000) + 1
						    : POLL_MS)) {
			_cleanup_free_ char *kept = NULL;

			progress_close(TAKE_PTR(progress));
			(void)fprintf(
				stderr,
				"pebsctl: interrupted: collection continues for at least 10 minutes; `pebsctl hot %s` shows the result\n",
				line_visible(cgroup, &kept));
			return CTL_FAILED;
		}
	}
}

enum ctl_exit verb_hot(const struct ctl_options *options, char *const *arguments)
{
	const struct format_style style = call_style(options);
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *hot = NULL;
	_cleanup_free_ char *text = NULL;
	enum ctl_exit result;
	size_t length;
	FILE *stream;

	result = call_open(options, &client);
	if (result == CTL_DONE)
		result = wait_for_hot(options, client, arguments[0], &hot);
	if (result == CTL_DONE && options->json)
		return call_print_json(hot);
	if (result == CTL_DONE)
		result = call(options, client, "io.pebsd.GetStatus", NULL, &status);
	if (result != CTL_DONE)
		return result;
	stream = open_memstream(&text, &length);
	if (!stream)
		return failure_of_memory();
	format_hot(stream, status, hot, &style);
	return call_print_text(stream, &text, &length);
}
