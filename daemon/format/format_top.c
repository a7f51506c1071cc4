// SPDX-License-Identifier: GPL-2.0
/* The text of `pebsctl top` without a screen, and of an item of `pebsctl watch`. */
#include <string.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/figure.h"
#include "format/format_event.h"
#include "format/format_waits.h"
#include "format/verdict.h"

/* From this width on shares of sources are numbers. On narrower terminals they are a bar of letters. */
#define WIDTH_OF_SHARES 100
#define WIDTH_OF_NAMES  12
#define BAR_CELLS       12
#define HEAD_MAX        128
/* The columns of waiting are left out if they would cut names to fewer columns than this. */
#define WIDTH_FOR_WAITS 20
#define GUEST_MARK      "*"
#define SUM_MARK        "+"

/* Prints whole percents: "0" means none, "<1" means some. */
static void put_share(FILE *out, int width, bool known, u64 part, u64 whole)
{
	char text[TEXT_NUMBER_MAX] = "-";
	double percent = whole ? 100 * (double)part / (double)whole : 0;

	if (known && part > 0 && percent < 0.5)
		(void)snprintf(text, sizeof(text), "<1");
	else if (known)
		(void)snprintf(text, sizeof(text), "%.0f", percent);
	(void)fprintf(out, " %*s", width, text);
}

static void put_quantile(FILE *out, const json_object *event, const char *name)
{
	struct figure_quantile quantile;
	char text[FIGURE_QUANTILE_MAX] = "-";

	if (figure_quantile(event, name, &quantile))
		figure_quantile_text(&quantile, text);
	(void)fprintf(out, " %6s", text);
}

/* The name of a virtual machine's cgroup is marked: its samples are only those of the host's side. */
static bool is_guest(const json_object *cgroup)
{
	bool guest;

	return json_get_bool(cgroup, "guest_not_sampled", &guest) && guest;
}

static bool is_sum(const json_object *cgroup)
{
	return json_get(cgroup, "subtree");
}

static const char *marks_of(const json_object *cgroup)
{
	if (is_sum(cgroup))
		return is_guest(cgroup) ? SUM_MARK GUEST_MARK : SUM_MARK;
	return is_guest(cgroup) ? GUEST_MARK : "";
}

static void put_name(FILE *out, const struct format_style *style, const json_object *cgroup, size_t width)
{
	const char *mark = marks_of(cgroup);
	_cleanup_free_ char *visible = text_visible(line_cgroup_text(style, cgroup));
	_cleanup_free_ char *fitting = visible ? text_tail(visible, width - strlen(mark), style->utf8) : NULL;
	const char *text = fitting ? fitting : "?";
	size_t columns = text_width(text) + strlen(mark);

	(void)fprintf(out, "%s%s%*s", text, mark, (int)(columns < width ? width - columns : 0), "");
}

/* The columns of an event's table. Values that were not measured have no column. */
struct columns {
	bool latency;
	bool sources;
	bool wide;  /* sources as numbers, otherwise as a bar of letters */
	bool waits; /* the share of cycles that wait, and the cores lost */
	size_t name_width;
	bool shown[FIGURE_GROUPS]; /* groups that have a column, if `wide` */
	double all;                /* the sum that LAT% or SHARE% relates to */
};

static const struct {
	const char *head;
	int width;
} group_columns[FIGURE_GROUPS] = {
	[FIGURE_L1] = {"L1", 3},       [FIGURE_LFB] = {"LFB", 3},     [FIGURE_L2] = {"L2", 3},
	[FIGURE_L3] = {"L3", 3},       [FIGURE_LOCAL] = {"LOCAL", 5}, [FIGURE_REMOTE] = {"REMOTE", 6},
	[FIGURE_OTHER] = {"OTHER", 5},
};

static void put_bar(FILE *out, const u64 groups[FIGURE_GROUPS], u64 samples)
{
	u32 cells[FIGURE_GROUPS];

	(void)fputc(' ', out);
	text_divide(groups, FIGURE_GROUPS, BAR_CELLS, cells);
	for (size_t i = 0; i < FIGURE_GROUPS; i++)
		for (u32 cell = 0; cell < cells[i]; cell++)
			(void)fputc(figure_letters[i], out);
	if (samples == 0)
		(void)fprintf(out, "%-*s", BAR_CELLS, "-");
}

static void put_sources(FILE *out, const json_object *event, const struct columns *columns)
{
	u64 groups[FIGURE_GROUPS] = {0};
	bool known = figure_source_groups(event, groups);
	u64 samples = 0;

	for (size_t i = 0; i < FIGURE_GROUPS; i++)
		samples += groups[i];
	if (!columns->wide) {
		put_bar(out, groups, samples);
		return;
	}
	for (size_t i = 0; i < FIGURE_GROUPS; i++)
		if (columns->shown[i])
			put_share(out, group_columns[i].width, known, groups[i], samples);
}

static void put_latency(FILE *out, const json_object *event, double latency_of_all)
{
	char number[TEXT_NUMBER_MAX] = "-";
	double value;

	if (figure_latency_sum(event, &value) && latency_of_all > 0)
		(void)snprintf(number, sizeof(number), "%.1f", 100 * value / latency_of_all);
	(void)fprintf(out, " %5s", number);
	(void)snprintf(number, sizeof(number), "-");
	if (figure_mean(event, &value))
		text_short_count(value, number);
	(void)fprintf(out, " %6s", number);
	put_quantile(out, event, "p50");
	put_quantile(out, event, "p99");
}

static void put_weight(FILE *out, const json_object *event, double weight_of_all)
{
	char number[TEXT_NUMBER_MAX] = "-";
	double value;

	if (figure_weight(event, &value) && weight_of_all > 0)
		(void)snprintf(number, sizeof(number), "%.1f", 100 * value / weight_of_all);
	(void)fprintf(out, " %6s", number);
}

static void put_wait(FILE *out, const json_object *cgroup, enum shown_wait which)
{
	char text[TEXT_NUMBER_MAX];
	double value = 0;
	bool known = waits_shown(cgroup, which, &value);

	waits_text(which, known, waits_wide_bounds(cgroup, which), value, text);
	(void)fprintf(out, " %*s", WAITS_WIDTH, text);
}

static void put_row(FILE *out, const struct format_style *style, const struct columns *columns,
		    const json_object *cgroup, const json_object *event)
{
	char number[TEXT_NUMBER_MAX] = "-";
	u64 samples = 0, part = 0;
	bool known;

	put_name(out, style, cgroup, columns->name_width);
	if (figure_samples(event, &samples))
		text_short_count((double)samples, number);
	(void)fprintf(out, " %7s", number);
	if (columns->latency)
		put_latency(out, event, columns->all);
	else
		put_weight(out, event, columns->all);
	for (enum shown_wait which = SHOWN_WAIT; columns->waits && which <= SHOWN_LOST; which++)
		put_wait(out, cgroup, which);
	if (columns->sources) {
		put_sources(out, event, columns);
		known = columns->latency ? figure_result(event, "snoop", "hitm", &part)
					 : figure_walks(event, &part);
		put_share(out, 5, known, part, samples);
	}
	if (columns->sources && !columns->latency) {
		known = json_get_u64(event, "locked", &part);
		put_share(out, 5, known, part, samples);
	}
	(void)fputc('\n', out);
}

static json_object *event_of(const json_object *cgroup, const char *key)
{
	return json_get_object(json_get_object(cgroup, "events"), key);
}

static bool has_waits(const json_object *cgroup)
{
	return json_get_object(cgroup, "waits") != NULL;
}

/* `key` NULL: of the cgroups with figures of waiting. */
static size_t widest_name(const struct format_style *style, json_object *cgroups, const char *key)
{
	size_t widest = WIDTH_OF_NAMES;

	for (size_t i = 0; i < json_object_array_length(cgroups); i++) {
		const json_object *cgroup = json_object_array_get_idx(cgroups, i);
		const char *name = line_cgroup_text(style, cgroup);
		bool listed = key ? event_of(cgroup, key) != NULL : has_waits(cgroup);
		_cleanup_free_ char *visible = name && listed ? text_visible(name) : NULL;
		size_t width = visible ? text_width(visible) + strlen(marks_of(cgroup)) : 0;

		if (width > widest)
			widest = width;
	}
	return widest;
}

/* Writes the heads of the columns to the right of the name. */
static void choose_head(const struct columns *columns, char ret[HEAD_MAX])
{
	size_t length = (size_t)snprintf(ret, HEAD_MAX, " SAMPLES%s%s",
					 columns->latency ? "  LAT%   MEAN    P50    P99" : " SHARE%",
					 columns->waits ? " WAIT% CORES" : "");

	if (!columns->sources)
		return;
	if (!columns->wide)
		length += (size_t)snprintf(ret + length, HEAD_MAX - length, " %-*s", BAR_CELLS, "SOURCES");
	for (size_t i = 0; columns->wide && i < FIGURE_GROUPS; i++)
		if (columns->shown[i])
			length += (size_t)snprintf(ret + length, HEAD_MAX - length, " %*s",
						   group_columns[i].width, group_columns[i].head);
	(void)snprintf(ret + length, HEAD_MAX - length, "%s", columns->latency ? " HITM%" : " WALK% LOCK%");
}

/*
 * An event with latency has a column for each group. Stores without latency distinguish only the first level from
 * all others, so the other groups have a column only if they occur.
 */
static void choose_groups(const json_object *total, struct columns *columns)
{
	u64 groups[FIGURE_GROUPS] = {0};

	(void)figure_source_groups(total, groups);
	for (size_t i = 0; i < FIGURE_GROUPS; i++)
		columns->shown[i] = columns->latency || i == FIGURE_L1 || i == FIGURE_OTHER || groups[i] > 0;
}

static bool any_is(json_object *cgroups, bool (*is)(const json_object *cgroup))
{
	for (size_t i = 0; cgroups && i < json_object_array_length(cgroups); i++)
		if (is(json_object_array_get_idx(cgroups, i)))
			return true;
	return false;
}

static bool has_wait(const json_object *cgroup)
{
	double value;

	return waits_shown(cgroup, SHOWN_WAIT, &value) || waits_shown(cgroup, SHOWN_LOST, &value);
}

static struct columns choose_columns(const struct format_style *style, json_object *described,
				     const json_object *total)
{
	struct columns columns = {
		.latency = figure_measures(described, "latency"),
		.sources = figure_measures(described, "source"),
		.wide = style->width == 0 || style->width >= WIDTH_OF_SHARES,
	};

	if (columns.latency)
		(void)figure_latency_sum(total, &columns.all);
	else
		(void)figure_weight(total, &columns.all);
	choose_groups(total, &columns);
	return columns;
}

static void format_table(FILE *out, const struct format_style *style, json_object *cgroups, const char *key,
			 struct columns *columns)
{
	char head[HEAD_MAX];

	columns->name_width = cgroups ? widest_name(style, cgroups, key) : WIDTH_OF_NAMES;
	columns->waits = any_is(cgroups, has_wait);
	choose_head(columns, head);
	if (columns->waits && style->width &&
	    strlen(head) + MIN(columns->name_width, WIDTH_FOR_WAITS) > style->width) {
		columns->waits = false;
		choose_head(columns, head);
	}
	if (style->width && columns->name_width + strlen(head) > style->width)
		columns->name_width = style->width > strlen(head) + WIDTH_OF_NAMES
					      ? style->width - strlen(head)
					      : WIDTH_OF_NAMES;

	(void)fputc('\n', out);
	(void)fprintf(out, style->bold ? "\033[1mCGROUP%*s" : "CGROUP%*s",
		      (int)(columns->name_width - strlen("CGROUP")), "");
	(void)fprintf(out, "%s%s\n", head, style->bold ? "\033[0m" : "");
	for (size_t i = 0; cgroups && i < json_object_array_length(cgroups); i++) {
		const json_object *cgroup = json_object_array_get_idx(cgroups, i);
		const json_object *event = event_of(cgroup, key);

		if (json_get_text(cgroup, "cgroup") && event)
			put_row(out, style, columns, cgroup, event);
	}
}

/* Returns true if one of the quantiles that the table shows has too few samples. */
static bool has_few(const json_object *cgroup)
{
	json_object *events = json_get_object(cgroup, "events");
	struct figure_quantile quantile;

	if (!events)
		return false;
	json_object_object_foreach (events, key, event) {
		(void)key;
		if ((figure_quantile(event, "p50", &quantile) && quantile.few) ||
		    (figure_quantile(event, "p99", &quantile) && quantile.few))
			return true;
	}
	return false;
}

static bool has_wide_bounds(const json_object *cgroup)
{
	for (enum shown_wait which = 0; which < SHOWN_WAITS; which++)
		if (waits_wide_bounds(cgroup, which))
			return true;
	return false;
}

static void format_marks(FILE *out, const struct format_style *style, json_object *cgroups)
{
	bool sums = any_is(cgroups, is_sum), guests = any_is(cgroups, is_guest);
	bool few = any_is(cgroups, has_few), wide = any_is(cgroups, has_wide_bounds);

	if (sums || guests || few || wide)
		(void)fputc('\n', out);
	if (few)
		line_put(out, style, NULL, "%s", FIGURE_FEW_MARK " too few samples for this quantile");
	if (wide)
		line_put(out, style, NULL, "%s",
			 FIGURE_FEW_MARK
			 " at WAIT% and the figures after it: wide bounds; `pebsctl show` prints them");
	if (sums)
		line_put(out, style, NULL, "%s",
			 SUM_MARK
			 " the sum of a subtree, which can contain other sums: do not add up their shares");
	if (guests)
		line_put(out, style, NULL, "%s",
			 GUEST_MARK " a virtual machine: guest not sampled, only the host's side of it");
}

static void format_one(FILE *out, const struct format_style *style, const char *key, json_object *described,
		       json_object *total, json_object *cgroups, bool *legend_printed)
{
	struct columns columns = choose_columns(style, described, total);
	u64 samples = 0;

	format_event(out, style, "Event", key, described);
	if (figure_samples(total, &samples) && samples == 0) {
		line_put(out, style, "", "no sample in this window");
		return;
	}
	if (!cgroups || json_object_array_length(cgroups) == 0) {
		line_put(out, style, "", "no matching cgroup has a sample in this window");
		return;
	}
	/* All counts together have one table: format_waits_table(). */
	if (figure_is_count(described) && any_is(cgroups, has_waits))
		return;
	if (columns.latency && samples > 0 && !figure_is_weighted(total))
		line_put(out, style, "", "LAT%% uses unweighted latency, because the periods are not known");
	if (columns.sources && !columns.wide && !*legend_printed) {
		line_put(out, style, "", "%s", figure_legend);
		*legend_printed = true;
	}
	format_table(out, style, cgroups, key, &columns);
}

/* Prints the figures that are made of all counts together, in the order of the reply. */
static void format_waits_table(FILE *out, const struct format_style *style, json_object *cgroups)
{
	const size_t columns = (size_t)SHOWN_WAITS * (1 + WAITS_WIDTH);
	size_t width;

	if (!any_is(cgroups, has_waits))
		return;
	width = widest_name(style, cgroups, NULL);
	if (style->width && width + columns > style->width)
		width = MAX(style->width > columns ? style->width - columns : 0, WIDTH_OF_NAMES);
	(void)fputc('\n', out);
	line_put(out, style, "", "%s", waits_legend);
	(void)fprintf(out, style->bold ? "\n\033[1mCGROUP%*s" : "\nCGROUP%*s",
		      (int)(width - strlen("CGROUP")), "");
	for (enum shown_wait which = 0; which < SHOWN_WAITS; which++)
		(void)fprintf(out, " %*s", WAITS_WIDTH, waits_head(which));
	(void)fprintf(out, "%s\n", style->bold ? "\033[0m" : "");
	for (size_t i = 0; i < json_object_array_length(cgroups); i++) {
		const json_object *cgroup = json_object_array_get_idx(cgroups, i);

		if (!has_waits(cgroup) || !json_get_text(cgroup, "cgroup"))
			continue;
		put_name(out, style, cgroup, width);
		for (enum shown_wait which = 0; which < SHOWN_WAITS; which++)
			put_wait(out, cgroup, which);
		(void)fputc('\n', out);
	}
}

void format_top(FILE *out, json_object *status, json_object *top, const struct format_style *style)
{
	json_object *events = json_get_object(json_get_object(top, "total"), "events");
	json_object *described = json_get_object(status, "events");
	json_object *cgroups = json_get_array(top, "cgroups");
	bool first = true, after_count = false, legend_printed = false;
	double seconds = 0;

	(void)json_get_double(top, "window_s", &seconds);
	format_origin(out, style, "Origin", top);
	format_recordings(out, style, status);
	format_pause(out, style, status);
	format_waits_total(out, style, status, top, 0);
	format_samples(out, style, json_get_object(top, "samples"), seconds);
	(void)format_no_slot(out, style, top);
	if (!events)
		return;
	json_object_object_foreach (events, key, total) {
		bool count = figure_is_count(json_get_object(described, key));

		/* Events of counts have no tables between them. */
		if (!first && !(count && after_count))
			(void)fputc('\n', out);
		first = false;
		after_count = count && any_is(cgroups, has_waits);
		format_one(out, style, key, json_get_object(described, key), total, cgroups, &legend_printed);
	}
	format_waits_table(out, style, cgroups);
	format_marks(out, style, cgroups);
}

/*
 * Prints the text of an item, with the cgroup's name instead of its path. Times are converted, except in the name,
 * which may look like one.
 */
static void print_item_text(FILE *out, const json_object *item, const struct format_style *style)
{
	const char *text = json_get_text(item, "text"), *path = json_get_text(item, "cgroup");
	const char *at = text && path && *path ? strstr(text, path) : NULL;
	_cleanup_free_ char *before = at ? strndup(text, (size_t)(at - text)) : NULL;
	_cleanup_free_ char *first = NULL, *name = NULL, *last = NULL;

	if (!before) {
		(void)fputs(line_sentence(style, text, &first), out);
		return;
	}
	(void)fprintf(out, "%s%s%s", line_sentence(style, before, &first),
		      line_visible(line_cgroup_text(style, item), &name),
		      line_sentence(style, at + strlen(path), &last));
}

void format_item(FILE *out, json_object *item, const struct format_style *style)
{
	const char *at = json_get_text(item, "time");
	_cleanup_free_ char *time = NULL, *event = NULL;
	_cleanup_free_ char *alert = verdict_transition(style, item);

	(void)fprintf(out, "%s %-7s ", line_sentence(style, at, &time),
		      line_visible(json_get_text(item, "event"), &event));
	if (alert)
		(void)fputs(alert, out);
	else
		print_item_text(out, item, style);
	(void)fputc('\n', out);
}
