// SPDX-License-Identifier: GPL-2.0
/* The text of `pebsctl neighbours`. */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/format_event.h"
#include "format/format_past.h"
#include "format/verdict.h"

#define WIDTH_OF_NAMES 12
#define ROWS_MAX       20 /* further rows only for named cgroups */

static const char head_right[] = " NAMED STRENGTH NEEDED    LAG  BINS  SLOW/s  FAST/s";

static bool is_named(const json_object *neighbour)
{
	bool named;

	return json_get_bool(neighbour, "named", &named) && named;
}

static size_t count_named(json_object *list)
{
	size_t named = 0;

	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		named += is_named(json_object_array_get_idx(list, i));
	return named;
}

static void put_strength(const json_object *object, const char *key, char ret[TEXT_NUMBER_MAX])
{
	double value;

	/* A value outside of -1 to 1 is not a correlation. */
	if (verdict_member(object, key, &value) && fabs(value) <= 1)
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%.2f", value);
	else
		(void)snprintf(ret, TEXT_NUMBER_MAX, "-");
}

static void put_number(const json_object *object, const char *key, const char *unit,
		       char ret[VERDICT_TEXT_MAX])
{
	double value;

	if (verdict_member(object, key, &value))
		verdict_quantity(value, unit, VERDICT_SHORT, ret);
	else
		(void)snprintf(ret, VERDICT_TEXT_MAX, "-");
}

static void put_verdict(FILE *out, const struct format_style *style, json_object *reply)
{
	const char *verdict = json_get_text(reply, "verdict");
	size_t named = count_named(json_get_array(reply, "neighbours"));
	char count[TEXT_NUMBER_MAX], bins[TEXT_NUMBER_MAX + 8] = "no";
	char self[TEXT_NUMBER_MAX], number[TEXT_NUMBER_MAX];
	_cleanup_free_ char *kept = NULL;
	u64 n = 0;

	if (json_get_u64(reply, "bins", &n) && n > 0) {
		text_count(n, count);
		(void)snprintf(bins, sizeof(bins), "only %s", count);
	}
	put_strength(reply, "self_strength", self);
	text_count(named, number);
	if (!verdict)
		line_put(out, style, "Verdict", "not known");
	else if (strcmp(verdict, "named") == 0)
		line_put(
			out, style, "Verdict",
			"%s named: %s traffic rose when this cgroup's latency rose, by more than chance and this cgroup's own traffic explain",
			number, named == 1 ? "its" : "their");
	else if (strcmp(verdict, "self") == 0)
		line_put(
			out, style, "Verdict",
			"none named: the cgroup's own traffic explains its latency (strength %s) better than any neighbour's does",
			self);
	else if (strcmp(verdict, "nobody") == 0)
		line_put(
			out, style, "Verdict",
			"none named: there is enough evidence, but no neighbour's traffic follows this latency closely enough, or rises enough with it");
	else if (strcmp(verdict, "thin") == 0)
		line_put(
			out, style, "Verdict",
			"none named: the evidence is thin, because %s %s enough samples for a latency; try again after some minutes of load, or sample more (lower `period`, or raise `budget`, in pebsd.conf)",
			bins, n <= 1 ? "bin has" : "bins have");
	else if (strcmp(verdict, "episode") == 0)
		line_put(
			out, style, "Verdict",
			"none named: the latency and the traffic of the strongest cgroup changed in too few episodes for their correlation to be evidence, so its NEEDED is -; ask for a longer time, in which the latency rose and fell several times");
	else if (strcmp(verdict, "steady") == 0)
		line_put(
			out, style, "Verdict",
			"none named: the latency hardly changed, or changed no more than by chance, so there is no rise to explain; try again after a rise");
	else
		line_put(out, style, "Verdict", "%s", line_visible(verdict, &kept));
}

static void put_latency(FILE *out, const struct format_style *style, json_object *reply)
{
	const json_object *latency = json_get_object(reply, "latency");
	char slow[VERDICT_TEXT_MAX], fast[VERDICT_TEXT_MAX], self[TEXT_NUMBER_MAX];
	double value;

	if (latency) {
		put_number(latency, "slow", "cycles", slow);
		put_number(latency, "fast", "cycles", fast);
		line_put(out, style, "Latency",
			 "mean %s in the slowest quarter of the bins, %s in the fastest half", slow, fast);
	}
	if (verdict_member(reply, "self_strength", &value)) {
		put_strength(reply, "self_strength", self);
		line_put(out, style, "Own traffic", "its correlation with the latency is %s", self);
	}
}

/* Says how many cgroups could be the cause, and why some of them are not in the list. */
static void put_candidates(FILE *out, const struct format_style *style, json_object *reply)
{
	json_object *list = json_get_array(reply, "neighbours");
	const size_t listed = list ? json_object_array_length(list) : 0;
	char number[TEXT_NUMBER_MAX], unlisted[TEXT_NUMBER_MAX];
	u64 n;

	if (!json_get_u64(reply, "candidates", &n))
		return;
	text_count(n, number);
	/* The list may be the first of several pages. */
	if (listed == 0 || n <= listed || json_get(reply, "next")) {
		line_put(out, style, "Candidates", "%s cgroup%s with traffic", number, n == 1 ? "" : "s");
		return;
	}
	text_count(n - listed, unlisted);
	line_put(
		out, style, "Candidates",
		"%s cgroups with traffic; %s of them %s not listed, because steady traffic, or traffic in few bins, explains no change of the latency",
		number, unlisted, n - listed == 1 ? "is" : "are");
}

static void put_basis(FILE *out, const struct format_style *style, json_object *reply)
{
	_cleanup_free_ char *event = NULL;
	char bins[TEXT_NUMBER_MAX] = "-", bin[TEXT_NUMBER_MAX] = "-", window[TEXT_NUMBER_MAX] = "-";
	char number[TEXT_NUMBER_MAX];
	double seconds;
	bool known;
	u64 n = 0;

	if (json_get_u64(reply, "bins", &n))
		text_count(n, bins);
	if (verdict_member(reply, "bin_s", &seconds))
		text_span(seconds, bin);
	if (verdict_member(reply, "window_s", &seconds))
		text_span(seconds, window);
	line_put(out, style, "Event", "%s: %s bin%s of %s with a latency, of %s%s",
		 line_visible(json_get_text(reply, "event"), &event), bins, n == 1 ? "" : "s", bin,
		 format_is_past(reply) ? "" : "the last ", window);
	format_past(out, style, reply);
	if (json_get_bool(reply, "nodes_known", &known) && !known)
		line_put(out, style, "Nodes",
			 "not known here, so every other cgroup with traffic is a candidate");
	put_candidates(out, style, reply);
	if (json_get_u64(reply, "apart", &n) && n > 0) {
		text_count(n, number);
		line_put(out, style, "Left out",
			 "%s cgroup%s, whose CPUs share no NUMA node with those of this cgroup", number,
			 n == 1 ? "" : "s");
	}
	if (json_get_u64(reply, "beyond", &n) && n > 0) {
		text_count(n, number);
		line_put(out, style, "Left out",
			 "%s cgroup%s, with less traffic than the cgroups that were compared", number,
			 n == 1 ? "" : "s");
	}
}

static void put_row(FILE *out, const struct format_style *style, const json_object *neighbour, size_t width)
{
	const json_object *traffic = json_get_object(neighbour, "traffic");
	const char *name = line_cgroup_text(style, neighbour);
	_cleanup_free_ char *visible = text_visible(name ? name : "-");
	_cleanup_free_ char *fitting = visible ? text_tail(visible, width, style->utf8) : NULL;
	const char *text = fitting ? fitting : "?";
	char strength[TEXT_NUMBER_MAX], needed[TEXT_NUMBER_MAX], lag[TEXT_NUMBER_MAX] = "-",
								 bins[TEXT_NUMBER_MAX] = "-";
	char slow[VERDICT_TEXT_MAX], fast[VERDICT_TEXT_MAX];
	size_t columns = text_width(text);
	double seconds;
	u64 n;

	/* A named cgroup must be identifiable: a name that is too long for its column gets a line of its own. */
	if (is_named(neighbour) && visible && text_width(visible) > width) {
		_cleanup_free_ char *line = text_tail(visible, style->width, style->utf8);

		(void)fprintf(out, "%s\n", line ? line : "?");
		text = "";
		columns = 0;
	}
	put_strength(neighbour, "strength", strength);
	put_strength(neighbour, "needed", needed);
	if (verdict_member(neighbour, "lag_s", &seconds))
		text_span(seconds, lag);
	if (json_get_u64(neighbour, "bins", &n))
		text_short_count((double)n, bins);
	put_number(traffic, "slow", NULL, slow);
	put_number(traffic, "fast", NULL, fast);
	(void)fprintf(out, "%s%*s %5s %8s %6s %6s %5s %7s %7s\n", text,
		      (int)(columns < width ? width - columns : 0), "", is_named(neighbour) ? "yes" : "no",
		      strength, needed, lag, bins, slow, fast);
}

static size_t choose_width(const struct format_style *style, json_object *list)
{
	size_t most = style->width > sizeof(head_right) - 1 ? style->width - (sizeof(head_right) - 1) : 0;
	size_t width = WIDTH_OF_NAMES;

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const char *name = line_cgroup_text(style, json_object_array_get_idx(list, i));
		_cleanup_free_ char *visible = text_visible(name ? name : "-");
		size_t columns = visible ? text_width(visible) : 0;

		if (columns > width)
			width = columns;
	}
	if (style->width && width > most)
		width = most > WIDTH_OF_NAMES ? most : WIDTH_OF_NAMES;
	return width;
}

static void put_table(FILE *out, const struct format_style *style, json_object *list)
{
	size_t width = choose_width(style, list), left_out = 0;
	char number[TEXT_NUMBER_MAX];

	(void)fprintf(out, style->bold ? "\n\033[1mCGROUP%*s%s\033[0m\n" : "\nCGROUP%*s%s\n",
		      (int)(width - strlen("CGROUP")), "", head_right);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const json_object *neighbour = json_object_array_get_idx(list, i);

		if (i < ROWS_MAX || is_named(neighbour))
			put_row(out, style, neighbour, width);
		else
			left_out++;
	}
	if (left_out) {
		text_count(left_out, number);
		(void)fputc('\n', out);
		line_put(out, style, NULL, "%s weaker %s not shown; --json lists all", number,
			 left_out == 1 ? "cgroup, not named, is" : "cgroups, none of them named, are");
	}
}

static void put_traffic(FILE *out, const struct format_style *style, const char *from)
{
	if (from && strcmp(from, "misses") == 0)
		line_put(
			out, style, "Traffic",
			"SLOW/s and FAST/s: misses of the last level cache times 64 bytes, in bytes a second, in the slow bins and in the fast bins of this cgroup; prefetches that are not counted, and write-backs, are not included");
	else
		line_put(
			out, style, "Traffic",
			"SLOW/s and FAST/s: weighted samples a second from L3 and beyond, in the slow bins and in the fast bins of this cgroup");
}

void format_neighbours(FILE *out, json_object *neighbours, const struct format_style *style)
{
	json_object *list = json_get_array(neighbours, "neighbours");
	_cleanup_free_ char *origin = NULL;

	line_put_cgroup(out, style, neighbours, "");
	line_put(out, style, "Origin", "%s", format_origin_name(neighbours, &origin));
	put_basis(out, style, neighbours);
	put_latency(out, style, neighbours);
	put_verdict(out, style, neighbours);
	if (list && json_object_array_length(list) > 0) {
		put_traffic(out, style, json_get_text(neighbours, "traffic_from"));
		line_put(
			out, style, "Hint",
			"a correlation does not prove a cause; move or pause the suspected cgroup, and see whether the latency falls");
		put_table(out, style, list);
	}
}
