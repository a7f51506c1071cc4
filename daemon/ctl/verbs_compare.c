// SPDX-License-Identifier: GPL-2.0
/* The verb that compares two times or two cgroups. */
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "ctl/call/call.h"
#include "ctl/call/call_failure.h"
#include "ctl/call/call_style.h"
#include "ctl/call/call_when.h"
#include "ctl/verbs.h"
#include "format/format.h"

/* Long enough for bounds of rare latencies, and short enough for a moment such as a deploy. */
#define DEFAULT_SECONDS 600

/* A side: a range of the past, or the last seconds. */
struct side {
	const char *cgroup;
	bool past;
	struct call_range range;
	double window_seconds;
};

static double length_of(const struct ctl_options *options)
{
	return options->window == WINDOW_SECONDS ? options->window_seconds : DEFAULT_SECONDS;
}

/*
 * Two cgroups at the same time; or one cgroup before and after --at; or in the time from --since to --until, compared
 * with the one that begins at --with, or with the same length just before it. Returns NULL; or, if the options name no
 * such sides, what is wrong.
 */
static const char *choose_sides(const struct ctl_options *options, char *const *arguments,
				struct side sides[static 2])
{
	struct call_range range = call_range(options, length_of(options)), other = range;
	time_t length;

	sides[0] = sides[1] = (struct side){
		.cgroup = arguments[0], .past = call_is_past(options), .window_seconds = length_of(options)};
	if (arguments[1]) {
		sides[1].cgroup = arguments[1];
		sides[0].range = sides[1].range = range;
		return options->has_with
			       ? "--with compares two times of one cgroup: remove it, or the second cgroup"
			       : NULL;
	}
	if (!sides[0].past)
		return "compare needs two times or two cgroups: give --at TIME (such as a deploy), --since TIME, or a second CGROUP";
	if (options->has_at) {
		other = range;
		range.since = options->at;
		range.until = options->at + (time_t)ceil(length_of(options));
		if (range.until > options->now)
			range.until = options->now;
	}
	length = range.until - range.since;
	if (options->has_with)
		other = (struct call_range){options->with, options->with + length};
	else if (!options->has_at)
		other = (struct call_range){range.since - length, range.since};
	sides[0].range = other;
	sides[1].range = range;
	return length > 0 ? NULL : "--at must be before now: compare needs a time after it, too";
}

/* Both times, unless --with names one that may be far away. */
struct call_range verb_compare_time(const struct ctl_options *options, char *const *arguments)
{
	struct side sides[2];
	struct call_range range;

	if (choose_sides(options, arguments, sides))
		return call_range(options, length_of(options));
	range = sides[1].range;
	if (!options->has_with && sides[0].range.since < range.since)
		range.since = sides[0].range.since;
	return range;
}

static json_object *side_parameters(const struct side *side)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();
	bool added = call_add_name(parameters, "cgroup", side->cgroup);

	if (added && side->past)
		added = call_add_range(parameters, &side->range);
	else if (added)
		added = json_object_object_add(parameters, "window_s",
					       json_object_new_double(side->window_seconds)) == 0;
	return added ? TAKE_PTR(parameters) : NULL;
}

/* Returns {"a": ..., "b": ...}; NULL: no memory. */
static json_object *compare_parameters(const struct side sides[static 2])
{
	static const char *const names[] = {"a", "b"};
	_cleanup_json_ json_object *parameters = json_object_new_object();

	for (size_t i = 0; i < 2; i++) {
		json_object *side = side_parameters(&sides[i]);

		if (!parameters || !side || json_object_object_add(parameters, names[i], side) < 0) {
			json_object_put(side);
			return NULL;
		}
	}
	return TAKE_PTR(parameters);
}

bool verb_compare_is_of_files(char *const *arguments)
{
	struct stat file;

	for (size_t i = 0; i < 2; i++)
		if (!arguments[i] || stat(arguments[i], &file) < 0 || !S_ISREG(file.st_mode))
			return false;
	return true;
}

enum ctl_exit verb_compare(const struct ctl_options *options, char *const *arguments)
{
	const struct format_style style = call_style(options);
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_json_ json_object *reply = NULL;
	_cleanup_free_ char *text = NULL;
	struct side sides[2];
	const char *wrong;
	json_object *parameters;
	enum ctl_exit result;
	size_t length;
	FILE *stream;

	wrong = choose_sides(options, arguments, sides);
	if (wrong) {
		(void)fprintf(stderr, "pebsctl: %s; see `pebsctl compare --help`\n", wrong);
		return CTL_USAGE;
	}
	result = call_open(options, &client);
	if (result != CTL_DONE)
		return result;
	parameters = compare_parameters(sides);
	result = parameters ? call(options, client, "io.pebsd.Compare", parameters, &reply)
			    : failure_of_memory();
	if (result != CTL_DONE)
		return result;
	if (options->json)
		return call_print_json(reply);
	stream = open_memstream(&text, &length);
	if (!stream)
		return failure_of_memory();
	format_compare(stream, reply, &style);
	return call_print_text(stream, &text, &length);
}
