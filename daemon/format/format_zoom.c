// SPDX-License-Identifier: GPL-2.0
/* The text of `pebsctl zoom`. */
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/figure.h"
#include "format/format_event.h"
#include "format/line.h"
#include "format/location.h"
#include "format/verdict.h"

/* -- the cache lines that CPUs contend for, as perf c2c shows them -- */

/* The quantity of which shares are printed. */
struct zoom_weight {
	bool latency;
	const char *key; /* key of an item: "latency" or "samples" */
	double all;
	bool stores; /* stores were sampled, so their number is known */
};

#define ACCESS_LEFT (6 + 6 + 8 + 7 + 5 + 1)
#define INDENT      7
#define NAME_LEAST  12

static bool is_shared(const json_object *line)
{
	return json_get_text(line, "sharing");
}

static const char *sharing_of(const json_object *line)
{
	const char *sharing = json_get_text(line, "sharing");

	if (!sharing)
		return NULL;
	return strcmp(sharing, "false") == 0  ? "false sharing (candidate): CPUs at different offsets"
	       : strcmp(sharing, "true") == 0 ? "true sharing: CPUs at one offset"
					      : NULL;
}

static void put_access(FILE *out, const struct format_style *style, const struct zoom_weight *weight,
		       json_object *access)
{
	char offset[TEXT_NUMBER_MAX] = "-";
	u64 value;

	if (json_get_u64(access, "offset", &value))
		(void)snprintf(offset, sizeof(offset), "0x%02llx", (unsigned long long)value);
	(void)fprintf(out, "%*s%6s", INDENT, "", offset);
	location_put_count(out, 5, access, "hitm");
	location_put_count(out, 7, access, "samples");
	if (weight->stores)
		location_put_count(out, 6, access, "stores");
	else
		(void)fprintf(out, " %6s", "-");
	location_put_count(out, 4, access, "cpus");
	(void)fputc(' ', out);
	location_put_function(out, style, access, "function", false,
			      location_rest(style, INDENT + ACCESS_LEFT, NAME_LEAST));
}

/* "counters+0x40 (in /usr/bin/x), process 812". */
static void put_line_object(FILE *out, const struct format_style *style, const json_object *line)
{
	_cleanup_free_ char *object = NULL, *text = NULL;
	char process[64] = "";
	u64 pid;

	if (json_get_u64(line, "pid", &pid) && pid > 0)
		(void)snprintf(process, sizeof(process), ", process %llu", (unsigned long long)pid);
	if (asprintf(&text, "%s%s", line_visible(json_get_text(line, "object"), &object), process) < 0)
		text = NULL;
	(void)fprintf(out, "%*s", INDENT, "");
	location_put_start(out, text ? text : "?", location_rest(style, INDENT, NAME_LEAST));
	(void)fputc('\n', out);
}

static void put_line(FILE *out, const struct format_style *style, const struct zoom_weight *weight,
		     json_object *line)
{
	json_object *accesses = json_get_array(line, "accesses");
	_cleanup_free_ char *address = NULL;
	const char *sharing = sharing_of(line);
	char cpus[TEXT_NUMBER_MAX] = "-";
	double part = 0;
	bool known = json_get_double(line, weight->key, &part);
	u64 count, total;

	if (json_get_u64(line, "hitm_cpus", &count) && json_get_u64(line, "cpus", &total))
		(void)snprintf(cpus, sizeof(cpus), "%llu/%llu", (unsigned long long)count,
			       (unsigned long long)total);
	location_put_share(out, known, part, weight->all);
	location_put_count(out, 7, line, "samples");
	location_put_count(out, 5, line, "hitm");
	(void)fprintf(out, " %7s ", cpus);
	(void)fprintf(out, "%s\n", line_visible(json_get_text(line, "address"), &address));
	put_line_object(out, style, line);
	if (sharing)
		(void)fprintf(out, "%*s%s\n", INDENT, "", sharing);
	for (size_t i = 0; accesses && i < json_object_array_length(accesses); i++) {
		if (i == 0)
			(void)fprintf(out, "%*sOFFSET  HITM SAMPLES STORES CPUS CODE\n", INDENT, "");
		put_access(out, style, weight, json_object_array_get_idx(accesses, i));
	}
}

/* Prints only contended lines: the others are part of the table of data. */
static void format_zoom_lines(FILE *out, const struct format_style *style, json_object *lines,
			      const struct zoom_weight *weight)
{
	bool first = true;

	for (size_t i = 0; lines && i < json_object_array_length(lines); i++) {
		json_object *line = json_object_array_get_idx(lines, i);

		if (!is_shared(line))
			continue;
		if (first)
			location_put_head(
				out, style,
				weight->latency
					? "  LAT% SAMPLES  HITM ON CPUS CACHE LINE THAT CPUS CONTEND FOR"
					: "SHARE% SAMPLES  HITM ON CPUS CACHE LINE THAT CPUS CONTEND FOR");
		else
			(void)fputc('\n', out);
		first = false;
		put_line(out, style, weight, line);
	}
}

/* Columns to the left of the names in the tables. */
#define FUNCTION_LEFT (6 + 7 + 8 + 1 + LOCATION_BAR + 1)
#define OBJECT_LEFT   (6 + 8 + 6 + 1 + LOCATION_BAR + 1)

/* If a larger share of the stacks ends early, the text blames missing frame pointers. */
#define EARLY_MUCH 0.1

/* The name of an event begins with what it samples. Its PMU follows if several PMUs sample the same. */
static bool samples_stores(json_object *zoom)
{
	json_object *events = json_get_array(zoom, "events");

	for (size_t i = 0; events && i < json_object_array_length(events); i++) {
		const char *event = json_object_get_string(json_object_array_get_idx(events, i));

		if (event && strncmp(event, "stores", strlen("stores")) == 0)
			return true;
	}
	return false;
}

/* Explains the columns of contended lines that are not known from perf. */
static void put_legend_of_lines(FILE *out, const struct format_style *style, json_object *lines,
				const struct zoom_weight *weight)
{
	bool shared = false;

	for (size_t i = 0; lines && i < json_object_array_length(lines); i++)
		shared = shared || is_shared(json_object_array_get_idx(lines, i));
	if (!shared)
		return;
	line_put(out, style, "",
		 "ON CPUS: CPUs that found the line modified by another CPU (HITM) / CPUs that accessed it");
	if (!weight->stores)
		line_put(out, style, "", "STORES: not known, because the zoom sampled no stores");
}

static bool is_state(const json_object *zoom, const char *state)
{
	const char *is = json_get_text(zoom, "state");

	return is && strcmp(is, state) == 0;
}

static void put_events(FILE *out, const struct format_style *style, json_object *zoom)
{
	_cleanup_free_ char *events = line_list(json_get_array(zoom, "events"), ", ");
	char number[TEXT_NUMBER_MAX], period[TEXT_NUMBER_MAX + 16] = "";
	const char *text = events ? events : "?";
	u64 value;

	if (json_get_u64(zoom, "period", &value)) {
		text_count(value, number);
		(void)snprintf(period, sizeof(period), ", period %s", number);
	}
	if (json_get_u64(zoom, "rate", &value)) {
		text_count(value, number);
		line_put(out, style, "Event", "%s%s; at most %s samples a second", text, period, number);
	} else {
		line_put(out, style, "Event", "%s%s", text, period);
	}
}

/* Prints ", 12 over the limit" if the count is above 0. */
static void put_part(FILE *out, json_object *samples, const char *key, const char *what)
{
	char number[TEXT_NUMBER_MAX];
	u64 count;

	if (!json_get_u64(samples, key, &count) || count == 0)
		return;
	text_count(count, number);
	(void)fprintf(out, ", %s %s", number, what);
}

static void put_samples(FILE *out, const struct format_style *style, json_object *zoom)
{
	json_object *samples = json_get_object(zoom, "samples");
	char taken_text[TEXT_NUMBER_MAX] = "-", seen_text[TEXT_NUMBER_MAX] = "-";
	_cleanup_fclose_ FILE *rest = NULL;
	_cleanup_free_ char *text = NULL;
	u64 taken = 0, seen = 0, throttles;
	size_t length;
	double running;

	rest = open_memstream(&text, &length);
	if (!rest)
		return;
	put_part(rest, samples, "limited", "over the limit");
	put_part(rest, samples, "lost", "lost (ring buffer full)");
	put_part(rest, samples, "malformed", "malformed");
	put_part(rest, samples, "dropped", "taken but dropped for lack of memory");
	if (fclose(TAKE_PTR(rest)) != 0)
		return;
	if (json_get_u64(samples, "taken", &taken))
		text_count(taken, taken_text);
	if (json_get_u64(samples, "seen", &seen) && seen != taken) {
		text_count(seen, seen_text);
		line_put(out, style, "Samples", "%s of %s seen%s", taken_text, seen_text, text);
	} else {
		line_put(out, style, "Samples", "%s%s", taken_text, text);
	}
	if (json_get_u64(zoom, "throttles", &throttles) && throttles > 0) {
		text_count(throttles, seen_text);
		line_put(out, style, "Throttled", "%s time%s, for sampling a CPU too often", seen_text,
			 throttles == 1 ? "" : "s");
	}
	if (json_get_double(zoom, "running_ratio", &running) && running < 0.995) {
		line_percent(running, 1, seen_text);
		line_put(out, style, "Counting", "%s of the time in which the cgroup's tasks ran", seen_text);
	}
}

static void put_stacks(FILE *out, const struct format_style *style, json_object *zoom)
{
	json_object *stacks = json_get_object(zoom, "stacks");
	char share[TEXT_NUMBER_MAX], number[TEXT_NUMBER_MAX];
	_cleanup_free_ char *by = NULL;
	const char *how = json_get_text(stacks, "by");
	u64 user, early;

	if (!json_get_u64(stacks, "user", &user) || !json_get_u64(stacks, "early", &early) || user == 0)
		return;
	text_count(user, number);
	line_percent((double)early, (double)user, share);
	line_put(out, style, "Stacks", "by %s; %s of %s user stacks end early%s",
		 how && strcmp(how, "lbr") == 0 ? "the CPU's branch records (LBR)" : line_visible(how, &by),
		 share, number,
		 (double)early > EARLY_MUCH * (double)user && !(how && strcmp(how, "lbr") == 0)
			 ? ": probably code built without frame pointers (-fno-omit-frame-pointer keeps them)"
			 : "");
}

void format_zoom_samples(FILE *out, json_object *zoom, const struct format_style *style)
{
	put_samples(out, style, zoom);
	put_stacks(out, style, zoom);
}

static void put_state(FILE *out, const struct format_style *style, json_object *zoom, time_t now)
{
	char began[LINE_TIME_MAX], ran[TEXT_NUMBER_MAX] = "-", requested[TEXT_NUMBER_MAX] = "-";
	_cleanup_free_ char *reason = NULL, *note = NULL;
	double ran_s = 0, seconds = 0;
	u64 id = 0;

	(void)json_get_u64(zoom, "zoom", &id);
	if (json_get_double(zoom, "ran_s", &ran_s))
		text_span(ran_s, ran);
	if (json_get_double(zoom, "seconds", &seconds))
		text_span(seconds, requested);
	(void)line_since(style, json_get_text(zoom, "began"), is_state(zoom, "running") ? 0 : now, began);
	if (is_state(zoom, "running"))
		line_put(out, style, "Zoom", "%llu, still running: %s of %s, since %s",
			 (unsigned long long)id, ran, requested, began);
	else if (ran_s < 0.95 * seconds)
		line_put(out, style, "Zoom", "%llu, for %s of the requested %s, from %s",
			 (unsigned long long)id, ran, requested, began);
	else
		line_put(out, style, "Zoom", "%llu, for %s from %s", (unsigned long long)id, ran, began);
	if (json_get_text(zoom, "reason"))
		line_put(out, style, "Reason", "%s", line_visible(json_get_text(zoom, "reason"), &reason));
	if (json_get_text(zoom, "note"))
		line_put(out, style, "Note", "%s", line_visible(json_get_text(zoom, "note"), &note));
}

static void put_function(FILE *out, const struct format_style *style, const struct zoom_weight *weight,
			 json_object *function)
{
	double self = 0, total = 0;
	bool has_self = json_get_double(function, weight->key, &self);
	bool has_total =
		json_get_double(function, weight->latency ? "total_latency" : "total_samples", &total);

	location_put_share(out, has_self, self, weight->all);
	(void)fputc(' ', out);
	location_put_share(out, has_total, total, weight->all);
	location_put_count(out, 7, function, "samples");
	location_put_sources(out, json_get_object(function, "sources"));
	(void)fputc(' ', out);
	location_put_function(out, style, function, "name", false,
			      location_rest(style, FUNCTION_LEFT, NAME_LEAST));
}

static void put_object(FILE *out, const struct format_style *style, const struct zoom_weight *weight,
		       json_object *object)
{
	double part = 0;
	bool known = json_get_double(object, weight->key, &part);

	location_put_share(out, known, part, weight->all);
	location_put_count(out, 7, object, "samples");
	location_put_count(out, 5, object, "hitm");
	location_put_sources(out, json_get_object(object, "sources"));
	(void)fputc(' ', out);
	location_put_function(out, style, object, "name", false,
			      location_rest(style, OBJECT_LEFT, NAME_LEAST));
}

static void put_node(FILE *out, const struct zoom_weight *weight, json_object *node)
{
	char number[TEXT_NUMBER_MAX] = "?";
	u64 samples = 0, remote = 0, value;
	double part = 0;
	bool known = json_get_double(node, weight->key, &part);

	if (json_get_u64(node, "node", &value))
		text_count(value, number);
	location_put_share(out, known, part, weight->all);
	location_put_count(out, 7, node, "samples");
	(void)fputc(' ', out);
	known = json_get_u64(node, "samples", &samples) && json_get_u64(node, "remote", &remote);
	location_put_share(out, known, (double)remote, (double)samples);
	location_put_count(out, 6, node, "pages");
	(void)fprintf(out, " %s\n", number);
}

static bool any(json_object *array)
{
	return array && json_object_array_length(array) > 0;
}

/* Prints how many of the last items of each list the reply lacks: the daemon shortens very long lists. */
static void put_left_out(FILE *out, const struct format_style *style, json_object *reply)
{
	static const struct {
		const char *key, *one, *more;
	} lists[] = {{"functions", "function", "functions"},
		     {"objects", "data object", "data objects"},
		     {"lines", "cache line", "cache lines"}};
	json_object *left_out = json_get_object(reply, "left_out");

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		char number[TEXT_NUMBER_MAX];
		u64 n;

		if (!json_get_u64(left_out, lists[i].key, &n))
			continue;
		text_count(n, number);
		line_put(out, style, "Left out",
			 "%s %s at the end of the list, because the reply would be too long", number,
			 n == 1 ? lists[i].one : lists[i].more);
	}
}

static void put_tables(FILE *out, const struct format_style *style, json_object *reply,
		       const struct zoom_weight *weight)
{
	json_object *functions = json_get_array(reply, "functions");
	json_object *objects = json_get_array(reply, "objects");
	json_object *nodes = json_get_array(reply, "nodes");

	if (any(functions)) {
		location_put_head(out, style,
				  weight->latency ? "  LAT%  TOTAL SAMPLES SOURCES      FUNCTION"
						  : "SHARE%  TOTAL SAMPLES SOURCES      FUNCTION");
		for (size_t i = 0; i < json_object_array_length(functions); i++)
			put_function(out, style, weight, json_object_array_get_idx(functions, i));
	}
	if (any(objects)) {
		location_put_head(out, style,
				  weight->latency ? "  LAT% SAMPLES  HITM SOURCES      DATA"
						  : "SHARE% SAMPLES  HITM SOURCES      DATA");
		for (size_t i = 0; i < json_object_array_length(objects); i++)
			put_object(out, style, weight, json_object_array_get_idx(objects, i));
	}
	format_zoom_lines(out, style, json_get_array(reply, "lines"), weight);
	if (any(nodes)) {
		location_put_head(out, style,
				  weight->latency ? "  LAT% SAMPLES REMOTE  PAGES NODE OF THE DATA"
						  : "SHARE% SAMPLES REMOTE  PAGES NODE OF THE DATA");
		for (size_t i = 0; i < json_object_array_length(nodes); i++)
			put_node(out, weight, json_object_array_get_idx(nodes, i));
	}
}

void format_zoom(FILE *out, json_object *reply, time_t now, const struct format_style *style)
{
	json_object *zoom = json_get_object(reply, "zoom");
	struct zoom_weight weight = {.key = "samples"};
	_cleanup_free_ char *origin = NULL;
	char number[TEXT_NUMBER_MAX];
	u64 unnamed, taken = 0, seen = 0;

	(void)json_get_bool(zoom, "latency", &weight.latency);
	(void)json_get_u64(json_get_object(zoom, "samples"), "taken", &taken);
	(void)json_get_u64(json_get_object(zoom, "samples"), "seen", &seen);
	weight.all = (double)taken;
	if (weight.latency) {
		weight.key = "latency";
		weight.all = 0;
		(void)json_get_double(zoom, "latency_sum", &weight.all);
	}
	line_put_cgroup(out, style, zoom, "");
	line_put(out, style, "Origin", "%s", format_origin_name(reply, &origin));
	put_state(out, style, zoom, now);
	put_events(out, style, zoom);
	format_zoom_samples(out, zoom, style);
	if (json_get_u64(reply, "unnamed", &unnamed) && unnamed > 0) {
		text_count(unnamed, number);
		line_put(out, style, "Names",
			 "%s address%s not named yet: run `pebsctl zoom --last CGROUP` soon", number,
			 unnamed == 1 ? " is" : "es are");
	}
	if (taken == 0) {
		line_put(
			out, style, "Result",
			is_state(zoom, "running") ? "no sample yet"
			: seen > 0
				? "no sample: none of the samples seen could be recorded"
				: "no sample: the cgroup's tasks did not run long enough, or made no access that the event samples");
		return;
	}
	weight.stores = samples_stores(zoom);
	line_put(out, style, "", "%s", figure_legend);
	put_legend_of_lines(out, style, json_get_array(reply, "lines"), &weight);
	put_left_out(out, style, reply);
	put_tables(out, style, reply, &weight);
}

void format_zoomed(FILE *out, json_object *zooms, json_object *cgroup, time_t now,
		   const struct format_style *style)
{
	json_object *list = json_get_array(zooms, "zooms");
	const char *name = json_get_text(cgroup, "cgroup");

	/* The list is ordered newest first. */
	for (size_t i = 0; name && list && i < json_object_array_length(list); i++) {
		json_object *zoom = json_object_array_get_idx(list, i);
		const char *of = json_get_text(zoom, "cgroup");
		char ago[TEXT_NUMBER_MAX], samples[TEXT_NUMBER_MAX] = "-", ran[TEXT_NUMBER_MAX] = "-";
		char began[TEXT_NUMBER_MAX + 16] = "";
		_cleanup_free_ char *kept = NULL;
		double seconds;
		u64 taken;

		if (!of || strcmp(of, name) != 0)
			continue;
		verdict_age(zoom, "began", now, ago);
		if (strcmp(ago, "-") != 0)
			(void)snprintf(began, sizeof(began), "began %s ago and ", ago);
		if (json_get_u64(json_get_object(zoom, "samples"), "taken", &taken))
			text_count(taken, samples);
		if (json_get_double(zoom, "ran_s", &seconds))
			text_span(seconds, ran);
		(void)fputc('\n', out);
		if (is_state(zoom, "running"))
			line_put(
				out, style, "Detail",
				"a zoom has been running for %s: %s samples so far; see `pebsctl zoom --last %s`",
				ran, samples, line_cgroup(style, cgroup, &kept));
		else
			line_put(out, style, "Detail",
				 "the last zoom %sran for %s: %s samples; see `pebsctl zoom --last %s`",
				 began, ran, samples, line_cgroup(style, cgroup, &kept));
		return;
	}
}
