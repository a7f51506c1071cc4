// SPDX-License-Identifier: GPL-2.0
#include "format/format_waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/figure.h"
#include "machine/cpu_list.h"

static const struct {
	const char *name, *head, *sort;
	double unit; /* of the column */
} shown[SHOWN_WAITS] = {
	[SHOWN_WAIT] = {"wait", "WAIT%", "wait", 100},
	[SHOWN_LOST] = {"cores_lost", "CORES", "cores-lost", 1},
	[SHOWN_USED] = {"cores_used", "USED", NULL, 1},
	[SHOWN_CPI] = {"cpi", "CPI", "cpi", 1},
	[SHOWN_MISSES] = {"misses_per_thousand", "MISS", "misses", 1},
	[SHOWN_TRAFFIC] = {"traffic", "B/S", "traffic", 1},
};

const char waits_legend[] =
	"CORES lost to memory, of those USED; MISS: misses per thousand instructions; B/S: bytes a second";

static const json_object *figure_of(const json_object *object, enum shown_wait which)
{
	return json_get_object(json_get_object(object, "waits"), shown[which].name);
}

bool waits_shown(const json_object *object, enum shown_wait which, double *ret)
{
	if (!json_get_double(figure_of(object, which), "value", ret))
		return false;
	*ret *= shown[which].unit;
	return true;
}

const char *waits_head(enum shown_wait which)
{
	return shown[which].head;
}

const char *waits_sort(enum shown_wait which)
{
	return shown[which].sort;
}

bool waits_wide_bounds(const json_object *object, enum shown_wait which)
{
	const json_object *figure = figure_of(object, which);
	double value, low, high;

	if (!json_get(json_get_object(object, "waits"), "confidence") ||
	    !json_get_double(figure, "value", &value))
		return false;
	return !json_get_double(figure, "low", &low) || !json_get_double(figure, "high", &high) ||
	       (value > 0 && high - low > value);
}

/* A figure with wide bounds has a digit or two less, which makes room for the mark. */
static void wide_text(enum shown_wait which, double value, char ret[TEXT_NUMBER_MAX])
{
	char number[TEXT_NUMBER_MAX], *unit = "";

	if (which == SHOWN_TRAFFIC) {
		text_short_count(value, number);
		value = strtod(number, &unit);
	}
	(void)snprintf(ret, TEXT_NUMBER_MAX, "%.*f%.4s" FIGURE_FEW_MARK, value > 0 && value < 9.95, value,
		       unit);
}

void waits_text(enum shown_wait which, bool known, bool wide, double value, char ret[TEXT_NUMBER_MAX])
{
	int decimals = which == SHOWN_WAIT ? 1 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;

	if (!known)
		(void)snprintf(ret, TEXT_NUMBER_MAX, "-");
	else if (wide)
		wide_text(which, value, ret);
	else if (which == SHOWN_TRAFFIC)
		text_short_count(value, ret);
	else if (value > 0 && value < 0.5 * pow(10, -decimals))
		(void)snprintf(ret, TEXT_NUMBER_MAX, decimals == 1 ? "<0.1" : "<0.01");
	else
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%.*f", decimals, value);
}

static void put_value(enum shown_wait which, double value, char ret[static TEXT_NUMBER_MAX])
{
	if (which == SHOWN_TRAFFIC)
		line_byte_rate(value, ret);
	else if (which == SHOWN_WAIT)
		line_percent(value, 100, ret);
	else
		line_rate(value, ret);
}

/* Writes the value, and its bounds if there are any: "62.5% (bounds 55.3% to 70.6%)". */
#define BOUNDED_MAX (3 * TEXT_NUMBER_MAX + 32)
static bool put_bounded(const json_object *object, enum shown_wait which, char ret[static BOUNDED_MAX])
{
	const json_object *figure = figure_of(object, which);
	char text[TEXT_NUMBER_MAX], low_text[TEXT_NUMBER_MAX], high_text[TEXT_NUMBER_MAX];
	double value, low, high;

	if (!waits_shown(object, which, &value))
		return false;
	put_value(which, value, text);
	if (!json_get_double(figure, "low", &low)) {
		(void)snprintf(ret, BOUNDED_MAX, "%s%s", text,
			       json_get(json_get_object(object, "waits"), "confidence") ? " (no bounds)"
											: "");
		return true;
	}
	put_value(which, low * shown[which].unit, low_text);
	if (json_get_double(figure, "high", &high)) {
		put_value(which, high * shown[which].unit, high_text);
		(void)snprintf(ret, BOUNDED_MAX, "%s (bounds %s to %s)", text, low_text, high_text);
	} else {
		(void)snprintf(ret, BOUNDED_MAX, "%s (bounds above %s)", text, low_text);
	}
	return true;
}

/* Returns the number of CPUs on which cycles or stalls are counted; 0: not known. */
static size_t count_cpus(const json_object *status)
{
	json_object *events = json_get_object(status, "events");
	struct cpu_list all = {0}, cpus;

	if (!events)
		return 0;
	json_object_object_foreach (events, key, event) {
		const char *role = json_get_text(event, "role"), *list = json_get_text(event, "cpus");

		(void)key;
		if (role && list && (strcmp(role, "cycles") == 0 || strcmp(role, "stalls") == 0) &&
		    cpu_list_parse(list, &cpus) == 0)
			cpu_list_add_all(&all, &cpus);
	}
	return cpu_list_count(&all);
}

bool waits_cores_lost(const json_object *status, const json_object *object, char *ret, size_t size)
{
	size_t cpus = count_cpus(status);
	char number[TEXT_NUMBER_MAX];
	double lost;

	if (!waits_shown(object, SHOWN_LOST, &lost))
		return false;
	line_rate(lost, number);
	if (cpus)
		(void)snprintf(ret, size, "%s of %zu cores lost to memory", number, cpus);
	else
		(void)snprintf(ret, size, "%s cores lost to memory", number);
	return true;
}

void format_waits_total(FILE *out, const struct format_style *style, json_object *status,
			const json_object *object, double seconds)
{
	static const struct {
		enum shown_wait which;
		const char *before, *after;
	} parts[] = {{SHOWN_USED, "", " used"},
		     {SHOWN_WAIT, "wait ", ""},
		     {SHOWN_CPI, "CPI ", ""},
		     {SHOWN_MISSES, "", " misses per thousand instructions"},
		     {SHOWN_TRAFFIC, "traffic ", ""}};
	char text[256], number[TEXT_NUMBER_MAX], span[TEXT_NUMBER_MAX];
	size_t length = 0;
	double value;

	text[0] = '\0';
	if (waits_cores_lost(status, object, text, sizeof(text)))
		length = strlen(text);
	for (size_t i = 0; i < ARRAY_SIZE(parts) && length < sizeof(text); i++) {
		if (!waits_shown(object, parts[i].which, &value))
			continue;
		put_value(parts[i].which, value, number);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s%s%s",
					   length ? ", " : "", parts[i].before, number, parts[i].after);
	}
	if (!length)
		return;
	text_span(seconds, span);
	line_put(out, style, "Waiting", "%s%s%s", text, seconds > 0 ? "; in the last " : "",
		 seconds > 0 ? span : "");
}

/* Says what the stalls of this machine are. */
static void put_meaning(FILE *out, const struct format_style *style, json_object *status)
{
	json_object *events = json_get_object(status, "events");

	if (!events)
		return;
	json_object_object_foreach (events, key, event) {
		const char *role = json_get_text(event, "role");
		_cleanup_free_ char *shown_key = NULL;

		if (role && strcmp(role, "stalls") == 0 && waits_counted(event))
			line_put(out, style, "", "%s: %s", line_visible(key, &shown_key),
				 waits_counted(event));
	}
}

/* Adds up the weighted latency of the loads of all PMUs by group. Returns false if there is none. */
static bool latency_groups(json_object *status, json_object *cgroup, double ret[FIGURE_GROUPS])
{
	json_object *described = json_get_object(status, "events");
	json_object *events = json_get_object(cgroup, "events");
	double all = 0;

	memset(ret, 0, FIGURE_GROUPS * sizeof(*ret));
	if (!events)
		return false;
	json_object_object_foreach (events, key, event) {
		const char *role = json_get_text(json_get_object(described, key), "role");
		double groups[FIGURE_GROUPS], sum, weighted;

		if (!role || strcmp(role, "loads") != 0 || !figure_latency_groups(event, groups) ||
		    !json_get_double(json_get_object(event, "latency"), "sum", &sum) || !(sum > 0) ||
		    !figure_latency_sum(event, &weighted))
			continue;
		/* The reply has the weighted latency only of all sources together. */
		for (size_t i = 0; i < FIGURE_GROUPS; i++) {
			ret[i] += groups[i] * weighted / sum;
			all += groups[i] * weighted / sum;
		}
	}
	for (size_t i = 0; i < FIGURE_GROUPS; i++)
		ret[i] = all > 0 ? ret[i] / all : 0;
	return all > 0;
}

void format_waits_split(FILE *out, const struct format_style *style, json_object *status, json_object *cgroup)
{
	static const char *const names[FIGURE_GROUPS] = {"L1",         "LFB",    "L2",   "L3",
							 "local DRAM", "remote", "other"};
	double groups[FIGURE_GROUPS];
	char text[FIGURE_GROUPS * 32] = "", percent[TEXT_NUMBER_MAX];
	size_t length = 0;

	if (!latency_groups(status, cgroup, groups))
		return;
	for (size_t i = 0; i < FIGURE_GROUPS; i++) {
		if (!(groups[i] > 0))
			continue;
		line_percent(groups[i], 1, percent);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s %s",
					   length ? ", " : "", names[i], percent);
	}
	line_put(out, style, "By source", "%s; an estimate, from the weighted latency of its sampled loads",
		 text);
}

void format_waits(FILE *out, const struct format_style *style, json_object *status, json_object *cgroup)
{
	const char *label = "Waiting";
	char text[BOUNDED_MAX], more[BOUNDED_MAX], used[TEXT_NUMBER_MAX];
	double value, confidence;

	if (!json_get_object(cgroup, "waits"))
		return;
	if (put_bounded(cgroup, SHOWN_WAIT, text)) {
		line_put(out, style, label,
			 "%s of its cycles are stalled on memory: an upper bound of what memory costs", text);
		label = "";
	}
	if (put_bounded(cgroup, SHOWN_LOST, text)) {
		if (waits_shown(cgroup, SHOWN_USED, &value))
			put_value(SHOWN_USED, value, used);
		else
			used[0] = '\0';
		line_put(out, style, label, "cores lost to memory: %s%s%s%s", text, *used ? ", of " : "",
			 used, *used ? " that it uses" : "");
		label = "";
	} else if (put_bounded(cgroup, SHOWN_USED, text)) {
		line_put(out, style, label, "cores used: %s", text);
		label = "";
	}
	if (put_bounded(cgroup, SHOWN_CPI, text)) {
		line_put(out, style, label, "cycles per instruction: %s", text);
		label = "";
	}
	if (put_bounded(cgroup, SHOWN_MISSES, more)) {
		line_put(out, style, label, "misses per thousand instructions: %s", more);
		label = "";
	}
	if (put_bounded(cgroup, SHOWN_TRAFFIC, text))
		line_put(
			out, style, label,
			"traffic: %s, as misses x 64 bytes; it leaves out prefetches that are not counted as misses, and lines that are written back",
			text);
	put_meaning(out, style, status);
	if (json_get_double(json_get_object(cgroup, "waits"), "confidence", &confidence))
		line_put(out, style, "", "each bound at %g%% confidence", 100 * confidence);
	if (waits_shown(cgroup, SHOWN_WAIT, &value))
		format_waits_split(out, style, status, cgroup);
}

const char *waits_counted(const json_object *described)
{
	static const struct {
		const char *role, *counts, *words;
	} all[] = {
		{"stalls", "load", "cycles in which nothing executes while a load is outstanding"},
		{"stalls", "l1_miss",
		 "cycles in which nothing executes while a load that missed L1 is outstanding, or on efficiency cores, cycles that are stalled on such a load"},
		{"stalls", "retire",
		 "cycles in which nothing retires while the oldest operation waits for the data of a load"},
		{"stalls", NULL, "cycles that are stalled on memory"},
		{"misses", "l3", "requests that missed L3, with prefetches into L1 and L2"},
		{"misses", "l2", "requests that missed L2, with prefetches into L1"},
		{"misses", "fills", "lines that came from memory into the L1 data cache"},
		{"misses", "demand_fills",
		 "lines that came from memory into the L1 data cache, without those of hardware prefetches"},
		{"misses", NULL, "misses of the last cache"},
		{"cycles", NULL, "core cycles"},
		{"instructions", NULL, "retired instructions"},
	};
	const char *role = json_get_text(described, "role"), *counts = json_get_text(described, "counts");

	if (!role || !figure_is_count(described))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (strcmp(role, all[i].role) == 0 &&
		    (!all[i].counts || (counts && strcmp(counts, all[i].counts) == 0)))
			return all[i].words;
	return NULL;
}
