// SPDX-License-Identifier: GPL-2.0
#include "ctl/verbs.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "base/text.h"
#include "ctl/call/call.h"
#include "ctl/call/call_failure.h"
#include "ctl/call/call_style.h"
#include "ctl/call/call_when.h"
#include "ctl/top/top_live.h"
#include "ctl/top/top_request.h"
#include "format/format.h"
#include "format/line.h"
#include "format/output.h"

/* The trend of `show`: one cell per minute. */
#define TREND_CELLS   60
#define TREND_SECONDS 3600

#define DEFAULT_SECONDS 10 /* of a moment of the past */
#define TREND_LEAST     60

static enum ctl_exit get_status(const struct ctl_options *options, struct client *client, json_object **ret)
{
	const struct call_range range = call_stored_range(options, DEFAULT_SECONDS);
	json_object *parameters = json_object_new_object();

	if (!parameters || (call_is_past(options) && !call_add_range(parameters, &range))) {
		json_object_put(parameters);
		return failure_of_memory();
	}
	return call(options, client, "io.pebsd.GetStatus", parameters, ret);
}

static enum ctl_exit get_top(const struct ctl_options *options, struct client *client, double seconds,
			     bool has_limit, u64 limit, json_object **ret)
{
	json_object *parameters = top_request_parameters(&(struct top_request){
		.window_seconds = seconds,
		.past = call_is_past(options),
		.range = call_stored_range(options,
					   options->window == WINDOW_SECONDS ? seconds : DEFAULT_SECONDS),
		.sort = options->sort,
		.has_limit = has_limit,
		.limit = limit,
		.filter = options->filter,
		.sums = options->has_depth,
		.depth = options->depth,
	});

	return parameters ? call_pages(options, client, "io.pebsd.GetTop", parameters, "cgroups", ret)
			  : failure_of_memory();
}

enum ctl_exit verb_status(const struct ctl_options *options, char *const *arguments)
{
	const struct format_style style = call_style(options);
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *recent = NULL;
	_cleanup_free_ char *text = NULL;
	enum ctl_exit result;
	double seconds;
	size_t length;
	FILE *stream;

	(void)arguments;
	result = call_open(options, &client);
	if (result == CTL_DONE)
		result = get_status(options, client, &status);
	if (result != CTL_DONE)
		return result;
	if (options->json)
		return call_print_json(status);
	seconds = top_text_window(options, status);
	if (seconds > 0)
		result = get_top(options, client, seconds, true, 0, &recent);
	if (result != CTL_DONE)
		return result;
	stream = open_memstream(&text, &length);
	if (!stream)
		return failure_of_memory();
	format_status(stream, status, recent, &style);
	return call_print_text(stream, &text, &length);
}

/* Makes the text of `top` from the replies of GetStatus and GetTop. The caller frees *ret_text. */
static enum ctl_exit top_page(const struct ctl_options *options, struct client *client, char **ret_text,
			      size_t *ret_length)
{
	const struct format_style style = call_style(options);
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *top = NULL;
	enum ctl_exit result;
	FILE *stream;

	result = get_status(options, client, &status);
	if (result == CTL_DONE)
		result = get_top(options, client, top_text_window(options, status), options->has_limit,
				 options->limit, &top);
	if (result != CTL_DONE)
		return result;
	stream = open_memstream(ret_text, ret_length);
	if (!stream)
		return failure_of_memory();
	format_top(stream, status, top, &style);
	return fclose(stream) == 0 ? CTL_DONE : failure_of_memory();
}

/*
 * Makes one call before the screen is taken over, so that errors appear on the normal screen. Returns -ENODEV
 * if the terminal cannot show a live screen.
 */
static int live_top(const struct ctl_options *options, struct client **client, enum ctl_exit *ret)
{
	_cleanup_json_ json_object *parameters = top_request_parameters(&(struct top_request){
		.sort = options->sort,
		.has_limit = true,
		.filter = options->filter,
		.sums = options->has_depth,
		.depth = options->depth,
		.trend = 1,
		.trend_seconds = 1,
	});
	_cleanup_json_ json_object *top = NULL;

	*ret = parameters ? call(options, *client, "io.pebsd.GetTop", TAKE_PTR(parameters), &top)
			  : failure_of_memory();
	return *ret == CTL_DONE ? top_live(options, client, ret) : 0;
}

enum ctl_exit verb_top(const struct ctl_options *options, char *const *arguments)
{
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *top = NULL;
	_cleanup_free_ char *text = NULL;
	enum ctl_exit result;
	size_t length;

	(void)arguments;
	result = call_open(options, &client);
	if (result != CTL_DONE)
		return result;
	if (options->json) {
		result = get_top(options, client, top_json_window(options), options->has_limit,
				 options->limit, &top);
		return result == CTL_DONE ? call_print_json(top) : result;
	}
	if (output_is_screen() && live_top(options, &client, &result) != -ENODEV)
		return result;
	result = top_page(options, client, &text, &length);
	return result == CTL_DONE ? failure_of_output(output_write(text, length)) : result;
}

struct call_range verb_show_time(const struct ctl_options *options, char *const *arguments)
{
	(void)arguments;
	return call_stored_range(options, options->window == WINDOW_SECONDS ? options->window_seconds
									    : DEFAULT_SECONDS);
}

static enum ctl_exit get_cgroup(const struct ctl_options *options, struct client *client, const char *path,
				double seconds, size_t trend, json_object **ret)
{
	const bool past = call_is_past(options);
	const struct call_range range = verb_show_time(options, NULL);
	const double reach = past ? (double)(range.until - range.since) : TREND_SECONDS;
	/* A short time of the past has few panes. */
	const size_t cells = past && reach < TREND_LEAST ? 0
			     : past                      ? MIN(trend, (size_t)(reach / DEFAULT_SECONDS))
							 : trend;
	json_object *parameters = top_window_parameters(past ? 0 : seconds);

	if (!call_add_name(parameters, "cgroup", path) || (past && !call_add_range(parameters, &range)) ||
	    !top_add_trend(parameters, cells, past ? 0 : reach)) {
		json_object_put(parameters);
		return failure_of_memory();
	}
	return call(options, client, "io.pebsd.GetCgroup", parameters, ret);
}

enum ctl_exit verb_show(const struct ctl_options *options, char *const *arguments)
{
	const struct format_style style = call_style(options);
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *status = NULL;
	_cleanup_json_ json_object *cgroup = NULL;
	_cleanup_json_ json_object *whole = NULL;
	_cleanup_json_ json_object *zooms = NULL;
	_cleanup_free_ char *text = NULL;
	enum ctl_exit result;
	double seconds;
	size_t length;
	FILE *stream;

	result = call_open(options, &client);
	if (result != CTL_DONE)
		return result;
	if (options->json) {
		result = get_cgroup(options, client, arguments[0], top_json_window(options), 0, &cgroup);
		return result == CTL_DONE ? call_print_json(cgroup) : result;
	}
	result = get_status(options, client, &status);
	seconds = top_text_window(options, status);
	if (result == CTL_DONE)
		result = get_cgroup(options, client, arguments[0], seconds, TREND_CELLS, &cgroup);
	if (result == CTL_DONE && seconds > 0 && !call_is_past(options))
		result = get_cgroup(options, client, arguments[0], 0, 0, &whole);
	if (result == CTL_DONE && !call_is_past(options))
		result = call_if_possible(options, client, "io.pebsd.GetZooms", NULL, &zooms);
	if (result != CTL_DONE)
		return result;
	stream = open_memstream(&text, &length);
	if (!stream)
		return failure_of_memory();
	format_cgroup(stream, status, cgroup, whole, &style);
	if (zooms)
		format_zoomed(stream, zooms, cgroup, time(NULL), &style);
	return call_print_text(stream, &text, &length);
}

static enum ctl_exit print_item(const struct ctl_options *options, json_object *item)
{
	const struct format_style style = call_style(options);
	_cleanup_free_ char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (!stream)
		return failure_of_memory();
	if (options->json)
		(void)fprintf(stream, "%s\n",
			      json_object_to_json_string_ext(item, JSON_C_TO_STRING_PLAIN |
									   JSON_C_TO_STRING_NOSLASHESCAPE));
	else
		format_item(stream, item, &style);
	if (fclose(stream) != 0)
		return failure_of_memory();
	return failure_of_output(output_write(text, length));
}

/* Runs until it is interrupted, the reader of its output closes the pipe, or the daemon ends. */
enum ctl_exit verb_watch(const struct ctl_options *options, char *const *arguments)
{
	_cleanup_(client_closep) struct client *client = NULL;
	enum ctl_exit result;
	int r;

	(void)arguments;
	result = call_open(options, &client);
	if (result != CTL_DONE)
		return result;
	r = client_stream(client, "io.pebsd.Watch");
	while (r >= 0) {
		struct client_reply reply = {0};

		r = client_next(client, STDOUT_FILENO, &reply);
		if (r < 0)
			break;
		result = reply.error ? failure_of_call(options, &reply)
				     : print_item(options, reply.parameters);
		if (reply.error || result != CTL_DONE)
			r = -ECANCELED;
		json_object_put(reply.root);
	}
	if (r == -ECANCELED)
		return result;
	return r == -EPIPE ? CTL_DONE : failure_of_connection(options, r);
}

static enum ctl_exit print_line(const char *line)
{
	return failure_of_output(output_write(line, strlen(line)));
}

enum ctl_exit verb_pause(const struct ctl_options *options, char *const *arguments)
{
	const struct format_style style = call_style(options);
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *parameters = json_object_new_object();
	_cleanup_json_ json_object *reply = NULL;
	char time[LINE_TIME_MAX];
	_cleanup_free_ char *line = NULL;
	enum ctl_exit result;
	const char *until;

	(void)arguments;
	if (!parameters ||
	    (options->has_for &&
	     json_object_object_add(parameters, "for_s", json_object_new_double(options->for_seconds)) < 0))
		return failure_of_memory();
	result = call_open(options, &client);
	if (result == CTL_DONE)
		result = call(options, client, "io.pebsd.Pause", TAKE_PTR(parameters), &reply);
	if (result != CTL_DONE)
		return result;
	if (options->json)
		return call_print_json(reply);
	until = json_get_text(reply, "paused_until");
	if (!until)
		return print_line("Paused until `pebsctl resume`: all counters are free for other tools.\n");
	if (asprintf(&line, "Paused until %s, or `pebsctl resume`: all counters are free for other tools.\n",
		     line_time(&style, until, time)) < 0) {
		line = NULL;
		return failure_of_memory();
	}
	return print_line(line);
}

enum ctl_exit verb_resume(const struct ctl_options *options, char *const *arguments)
{
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *reply = NULL;
	enum ctl_exit result;
	bool was_paused;

	(void)arguments;
	result = call_open(options, &client);
	if (result == CTL_DONE)
		result = call(options, client, "io.pebsd.Resume", NULL, &reply);
	if (result != CTL_DONE)
		return result;
	if (options->json)
		return call_print_json(reply);
	return print_line(json_get_bool(reply, "was_paused", &was_paused) && was_paused
				  ? "The pause has ended; `pebsctl status` shows what is sampled.\n"
				  : "Sampling was not paused.\n");
}

enum ctl_exit verb_reload(const struct ctl_options *options, char *const *arguments)
{
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *reply = NULL;
	_cleanup_free_ char *text = NULL;
	json_object *remarks;
	enum ctl_exit result;
	size_t length;
	FILE *stream;

	(void)arguments;
	result = call_open(options, &client);
	if (result == CTL_DONE)
		result = call(options, client, "io.pebsd.Reload", NULL, &reply);
	if (result != CTL_DONE)
		return result;
	if (options->json)
		return call_print_json(reply);
	stream = open_memstream(&text, &length);
	if (!stream)
		return failure_of_memory();
	remarks = json_get_array(reply, "remarks");
	(void)fprintf(stream, "The configuration was read again%s\n",
		      remarks && json_object_array_length(remarks) > 0 ? ":" : "; nothing has changed.");
	for (size_t i = 0; remarks && i < json_object_array_length(remarks); i++) {
		const char *remark = json_object_get_string(json_object_array_get_idx(remarks, i));
		_cleanup_free_ char *visible = remark ? text_visible(remark) : NULL;

		(void)fprintf(stream, "  %s\n", visible ? visible : "?");
	}
	return call_print_text(stream, &text, &length);
}
