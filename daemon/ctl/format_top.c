// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "ctl/figure.h"
#include "ctl/format_event.h"

/* From here on the shares of sources fit as numbers; below, as a bar of letters. */
#define WIDTH_OF_SHARES 100
#define WIDTH_OF_NAMES  12
#define BAR_CELLS       12

static const char bar_letters[FIGURE_GROUPS] = {'1', 'F', '2', '3', 'D', 'R', 'o'};

static const char bar_legend[] = "SOURCES: 1 L1  F LFB  2 L2  3 L3  D local DRAM  R remote  o other";

/* Whole percents: "0" is none at all, "<1" some. */
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
	char text[TEXT_NUMBER_MAX] = "-";

	if (figure_quantile(event, name, &quantile)) {
		text_short_count(quantile.value, text + quantile.over);
		if (quantile.over)
			text[0] = '>';
	}
	(void)fprintf(out, " %6s", text);
}

static void put_sources(FILE *out, const json_object *event, bool wide)
{
	u64 groups[FIGURE_GROUPS] = {0};
	bool known = figure_source_groups(event, groups);
	u32 cells[FIGURE_GROUPS];
	u64 samples = 0;

	for (size_t i = 0; i < FIGURE_GROUPS; i++)
		samples += groups[i];
	if (wide) {
		static const int widths[FIGURE_GROUPS] = {3, 3, 3, 3, 5, 6, 5};

		for (size_t i = 0; i < FIGURE_GROUPS; i++)
			put_share(out, widths[i], known, groups[i], samples);
		return;
	}
	(void)fputc(' ', out);
	text_divide(groups, FIGURE_GROUPS, BAR_CELLS, cells);
	for (size_t i = 0; i < FIGURE_GROUPS; i++)
		for (u32 cell = 0; cell < cells[i]; cell++)
			(void)fputc(bar_letters[i], out);
	if (samples == 0)
		(void)fprintf(out, "%-*s", BAR_CELLS, "-");
}

static void put_name(FILE *out, const struct format_style *style, const char *name, size_t width)
{
	_cleanup_free_ char *visible = text_visible(name);
	_cleanup_free_ char *fitting = visible ? text_tail(visible, width, style->utf8) : NULL;
	const char *text = fitting ? fitting : "?";
	size_t columns = text_width(text);

	(void)fprintf(out, "%s%*s", text, (int)(columns < width ? width - columns : 0), "");
}

static void put_row(FILE *out, const struct format_style *style, const char *name, size_t name_width,
		    bool wide, const json_object *event, double latency_of_all)
{
	char number[TEXT_NUMBER_MAX] = "-";
	u64 samples = 0, hitm = 0;
	double value;
	bool known;

	put_name(out, style, name, name_width);
	if (figure_samples(event, &samples))
		text_short_count((double)samples, number);
	(void)fprintf(out, " %7s", number);
	(void)snprintf(number, sizeof(number), "-");
	if (figure_latency_sum(event, &value) && latency_of_all > 0)
		(void)snprintf(number, sizeof(number), "%.1f", 100 * value / latency_of_all);
	(void)fprintf(out, " %5s", number);
	(void)snprintf(number, sizeof(number), "-");
	if (figure_mean(event, &value))
		text_short_count(value, number);
	(void)fprintf(out, " %6s", number);
	put_quantile(out, event, "p50");
	put_quantile(out, event, "p99");
	put_sources(out, event, wide);
	known = figure_result(event, "snoop", "hitm", &hitm);
	put_share(out, 5, known, hitm, samples);
	(void)fputc('\n', out);
}

static json_object *event_of(const json_object *cgroup, const char *key)
{
	return json_get_object(json_get_object(cgroup, "events"), key);
}

static size_t widest_name(json_object *cgroups, const char *key)
{
	size_t widest = WIDTH_OF_NAMES;

	for (size_t i = 0; i < json_object_array_length(cgroups); i++) {
		const json_object *cgroup = json_object_array_get_idx(cgroups, i);
		const char *name = json_get_text(cgroup, "cgroup");
		_cleanup_free_ char *visible = name && event_of(cgroup, key) ? text_visible(name) : NULL;
		size_t width = visible ? text_width(visible) : 0;

		if (width > widest)
			widest = width;
	}
	return widest;
}

static void format_table(FILE *out, const struct format_style *style, json_object *top, const char *key,
			 const json_object *total)
{
	static const char numbers[] = " SAMPLES  LAT%   MEAN    P50    P99";
	static const char shares[] = "  L1 LFB  L2  L3 LOCAL REMOTE OTHER";
	static const char bar[] = " SOURCES     ";
	static const char last[] = " HITM%";
	bool wide = style->width == 0 || style->width >= WIDTH_OF_SHARES;
	size_t others = strlen(numbers) + strlen(last) + (wide ? strlen(shares) : strlen(bar));
	json_object *cgroups = json_get_array(top, "cgroups");
	size_t name_width = cgroups ? widest_name(cgroups, key) : WIDTH_OF_NAMES;
	char head[256];
	double all = 0;

	if (style->width && name_width + others > style->width)
		name_width = style->width > others + WIDTH_OF_NAMES ? style->width - others : WIDTH_OF_NAMES;
	(void)figure_latency_sum(total, &all);

	(void)fputc('\n', out);
	(void)fprintf(out, style->bold ? "\033[1mCGROUP%*s" : "CGROUP%*s",
		      (int)(name_width - strlen("CGROUP")), "");
	(void)snprintf(head, sizeof(head), "%s%s%s%s", numbers, wide ? shares : bar, last,
		       style->bold ? "\033[0m" : "");
	(void)fprintf(out, "%s\n", head);
	for (size_t i = 0; cgroups && i < json_object_array_length(cgroups); i++) {
		const json_object *cgroup = json_object_array_get_idx(cgroups, i);
		const char *name = json_get_text(cgroup, "cgroup");
		const json_object *event = event_of(cgroup, key);

		if (name && event)
			put_row(out, style, name, name_width, wide, event, all);
	}
}

void format_top(FILE *out, json_object *status, json_object *top, const struct format_style *style)
{
	json_object *events = json_get_object(json_get_object(top, "total"), "events");
	json_object *described = json_get_object(status, "events");
	bool wide = style->width == 0 || style->width >= WIDTH_OF_SHARES;
	bool first = true;
	double seconds = 0;

	(void)json_get_double(top, "window_s", &seconds);
	format_origin(out, style, "Origin", top);
	format_samples(out, style, json_get_object(top, "samples"), seconds);
	if (!events)
		return;
	json_object_object_foreach (events, key, total) {
		u64 samples = 0;

		if (!first)
			(void)fputc('\n', out);
		first = false;
		format_event(out, style, "Event", key, json_get_object(described, key));
		if (figure_samples(total, &samples) && samples > 0 && !figure_is_weighted(total))
			line_put(out, style, "", "LAT%% is of unweighted latency: the periods are not known");
		if (!wide)
			line_put(out, style, "", "%s", bar_legend);
		format_table(out, style, top, key, total);
	}
}

void format_item(FILE *out, json_object *item)
{
	_cleanup_free_ char *time = NULL;
	_cleanup_free_ char *event = NULL;
	_cleanup_free_ char *text = NULL;

	(void)fprintf(out, "%s %-7s %s\n", line_visible(json_get_text(item, "time"), &time),
		      line_visible(json_get_text(item, "event"), &event),
		      line_visible(json_get_text(item, "text"), &text));
}
