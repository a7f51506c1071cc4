// SPDX-License-Identifier: GPL-2.0
#include "ctl/top/top_pane.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/format_waits.h"
#include "format/line.h"

#define LEVELS       8  /* of a block character */
#define AXIS         7  /* columns left of the timeline */
#define RANGE        15 /* columns of "131073 - 262144" */
#define COUNT        7  /* a blank and a share */
#define HALF_MIN     38 /* columns for a histogram beside a timeline */
#define TALL         20 /* lines from which on the timeline is below the histogram */
#define TIMELINE_MAX 8  /* lines of its graph */
#define TIMELINE_MIN 2

#define BOLD   "\033[1m"
#define NORMAL "\033[0m"

/* Caches from near to far green, cyan and blue; line fill buffers magenta; memory yellow; other nodes red. */
const char *const top_group_colours[FIGURE_GROUPS] = {
	[FIGURE_L1] = "\033[42m",    [FIGURE_LFB] = "\033[45m",   [FIGURE_L2] = "\033[46m",
	[FIGURE_L3] = "\033[44m",    [FIGURE_LOCAL] = "\033[43m", [FIGURE_REMOTE] = "\033[41m",
	[FIGURE_OTHER] = "\033[47m",
};

static void read_buckets(struct top_pane *pane, json_object *list, enum figure_group group)
{
	u64 le, samples;

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		const json_object *bucket = json_object_array_get_idx(list, i);

		if (!json_get_u64(bucket, "le", &le) || le > ~0U ||
		    !json_get_u64(bucket, "samples", &samples) || samples == 0)
			continue;
		pane->fine[histogram_fine_index((u32)le)][group] += samples;
		pane->has_histogram = true;
	}
}

static void read_histogram(struct top_pane *pane, json_object *event)
{
	json_object *sources = json_get_object(event, "sources");

	if (sources) {
		json_object_object_foreach (sources, name, source)
			read_buckets(pane, json_get_array(source, "histogram"), figure_group_of(name));
	}
	pane->octaves = pane->has_histogram;
	if (!pane->has_histogram)
		read_buckets(pane, json_get_array(event, "histogram"), FIGURE_OTHER);
}

static void add_figure(struct top_pane *pane, const char *name, const char *value)
{
	size_t length = strlen(pane->figures);

	(void)snprintf(pane->figures + length, sizeof(pane->figures) - length, "%s%s %s", length ? "  " : "",
		       name, value);
}

static void read_figures(struct top_pane *pane, json_object *cgroup, json_object *event)
{
	static const char *const quantiles[] = {"p50", "p90", "p99"};
	char number[TEXT_NUMBER_MAX];
	double value;
	u64 samples;

	if (figure_samples(event, &samples)) {
		text_short_count((double)samples, number);
		add_figure(pane, "samples", number);
	}
	if (figure_mean(event, &value)) {
		text_short_count(value, number);
		add_figure(pane, "mean", number);
	}
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
		struct figure_quantile quantile;
		char text[FIGURE_QUANTILE_MAX];

		if (!figure_quantile(event, quantiles[i], &quantile))
			continue;
		figure_quantile_text(&quantile, text);
		add_figure(pane, quantiles[i], text);
	}
	for (enum shown_wait which = SHOWN_WAIT; which <= SHOWN_LOST; which++) {
		if (!waits_shown(cgroup, which, &value))
			continue;
		waits_text(which, true, waits_wide_bounds(cgroup, which), value, number);
		add_figure(pane, waits_head(which), number);
	}
}

int top_pane_read(json_object *status, json_object *cgroup, const char *key, struct top_pane *ret)
{
	json_object *event = key ? json_get_object(json_get_object(cgroup, "events"), key) : NULL;
	json_object *described = key ? json_get_object(json_get_object(status, "events"), key) : NULL;
	const char *path = json_get_text(cgroup, "cgroup"), *name = json_get_text(cgroup, "name");
	bool latency = figure_measures(described, "latency");
	struct top_pane pane = {.cgroup = strdup(path ? path : ""),
				.visible = text_visible(name   ? name
							: path ? path
							       : "-"),
				.path = text_visible(path ? path : "-")};

	if (!pane.cgroup || !pane.visible || !pane.path) {
		top_pane_done(&pane);
		return -ENOMEM;
	}
	if (event) {
		if (latency)
			read_histogram(&pane, event);
		read_figures(&pane, cgroup, event);
		pane.has_trend = trend_line_read(event, latency, &pane.trend);
	}
	pane.latency = latency;
	*ret = pane;
	return 0;
}

/* Reads the times between which the figures of a bin were counted. They may begin before the bin. */
static bool read_times(const json_object *bin, time_t *ret_since, time_t *ret_until)
{
	const char *since = json_get_text(bin, "since"), *until = json_get_text(bin, "until");

	return since && until && text_parse_time(since, ret_since) == 0 &&
	       text_parse_time(until, ret_until) == 0;
}

void top_pane_read_history(struct top_pane *pane, json_object *history, const char *key, size_t bins,
			   double seconds, time_t until)
{
	json_object *list = json_get_array(history, "bins");
	time_t from = until - (time_t)seconds, begin, end;
	double covered, value;
	u64 samples;

	pane->trend = (struct trend_line){
		.n = bins, .latency = pane->latency, .bin_seconds = seconds / (double)bins};
	for (size_t i = 0; i < bins; i++)
		pane->trend.values[i] = NAN;
	pane->past = pane->has_trend = true;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		json_object *bin = json_object_array_get_idx(list, i);
		const json_object *event = json_get_object(json_get_object(bin, "events"), key);

		if (!read_times(bin, &begin, &end) || !json_get_double(bin, "covered_s", &covered) ||
		    !(covered > 0))
			continue;
		if (pane->latency ? !figure_mean(event, &value) : !figure_samples(event, &samples))
			continue;
		if (!pane->latency)
			value = (double)samples / covered;
		for (size_t j = 0; j < bins; j++) {
			double middle = (double)from + ((double)j + 0.5) * pane->trend.bin_seconds;

			if (middle >= (double)begin && middle < (double)end)
				pane->trend.values[j] = value;
		}
	}
}

void top_pane_done(struct top_pane *pane)
{
	free(pane->cgroup);
	free(pane->visible);
	free(pane->path);
	*pane = (struct top_pane){0};
}

/* The columns of the first `length` bytes without "\033[Nm". */
static size_t columns_of(const char *line, size_t length)
{
	_cleanup_free_ char *plain = calloc(1, length + 1);
	size_t n = 0;

	for (size_t i = 0; plain && i < length; i++) {
		if (line[i] == '\033')
			while (i < length && line[i] != 'm')
				i++;
		else
			plain[n++] = line[i];
	}
	return plain ? text_width(plain) : 0;
}

void top_beside(FILE *out, const char *left, size_t width, const char *between, const char *right,
		size_t lines)
{
	for (size_t i = 0; i < lines; i++) {
		size_t length = strcspn(left, "\n"), columns = columns_of(left, length);

		(void)fprintf(out, "%.*s%*s%s", (int)length, left,
			      (int)(columns < width ? width - columns : 0), "", between);
		left += length + (left[length] == '\n');
		length = strcspn(right, "\n");
		(void)fprintf(out, "%.*s\n", (int)length, right);
		right += length + (right[length] == '\n');
	}
}

/* A line of text, cut to the width. Returns 1, the number of lines. */
static size_t put_line(FILE *out, const char *mark, const char *text, size_t width)
{
	(void)fprintf(out, "%s%.*s%s\n", mark, (int)text_cut(text, width), text, *mark ? NORMAL : "");
	return 1;
}

static size_t put_alert(FILE *out, const struct top_alert *alert, size_t width,
			const struct format_style *style)
{
	static const char hint[] = " (x explains)";
	char text[512];

	(void)snprintf(text, sizeof(text), "%c %.40s %s %.24s: %.64s, %.80s; limit: %.80s",
		       top_alert_mark(alert), alert->words, alert->state == TOP_ALERT_OTHER ? "after" : "for",
		       alert->age, alert->visible_rule, alert->value, alert->limit);
	if (text_width(text) + strlen(hint) <= width)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", hint);
	return put_line(out, style->colour ? line_colour(style, alert->mood) : BOLD, text, width);
}

static u64 sum_of(const u64 groups[FIGURE_GROUPS])
{
	u64 sum = 0;

	for (size_t i = 0; i < FIGURE_GROUPS; i++)
		sum += groups[i];
	return sum;
}

struct histogram_rows {
	u64 groups[FINE_BUCKETS][FIGURE_GROUPS];
	u32 lower[FINE_BUCKETS], upper[FINE_BUCKETS];
	size_t first, end;
	u64 most, all;
};

/* Adds the lowest row to the next one. */
static void join_lowest(struct histogram_rows *rows)
{
	size_t from = rows->first++;

	for (size_t group = 0; group < FIGURE_GROUPS; group++)
		rows->groups[rows->first][group] += rows->groups[from][group];
	rows->lower[rows->first] = rows->lower[from];
}

/*
 * Takes fine buckets if they are known and all that have samples fit in `lines` (above 0), otherwise octaves. If these
 * do not fit either, the lowest ones share a row: the highest latencies explain p99.
 */
static void choose_rows(const struct top_pane *pane, size_t lines, struct histogram_rows *ret)
{
	u32 first = 0, last = FINE_OVERFLOW;
	bool octaves;

	memset(ret, 0, sizeof(*ret));
	while (first < FINE_OVERFLOW && sum_of(pane->fine[first]) == 0)
		first++;
	while (last > first && sum_of(pane->fine[last]) == 0)
		last--;
	octaves = pane->octaves || last - first >= lines;
	for (u32 i = first; i <= last; i++) {
		u32 row = octaves ? histogram_octave_index(histogram_fine_upper(i)) : i;

		for (size_t group = 0; group < FIGURE_GROUPS; group++)
			ret->groups[row][group] += pane->fine[i][group];
		ret->lower[row] = !octaves ? histogram_fine_lower(i)
				  : row    ? histogram_octave_upper(row - 1)
					   : 0;
		ret->upper[row] = octaves ? histogram_octave_upper(row) : histogram_fine_upper(i);
		ret->all += sum_of(pane->fine[i]);
	}
	ret->first = octaves ? histogram_octave_index(histogram_fine_upper(first)) : first;
	ret->end = 1 + (octaves ? histogram_octave_index(histogram_fine_upper(last)) : last);
	while (ret->end - ret->first > lines)
		join_lowest(ret);
	for (size_t row = ret->first; row < ret->end; row++)
		ret->most = sum_of(ret->groups[row]) > ret->most ? sum_of(ret->groups[row]) : ret->most;
}

static void put_row(FILE *out, const struct histogram_rows *rows, size_t row, size_t width,
		    const struct format_style *style)
{
	u64 sum = sum_of(rows->groups[row]);
	size_t left = RANGE + COUNT + 1, bar = width > left ? width - left : 0;
	u32 cells[FIGURE_GROUPS], length = (u32)((double)bar * (double)sum / (double)rows->most + 0.5);
	char range[32], share[TEXT_NUMBER_MAX];

	if (rows->upper[row] == ~0U)
		(void)snprintf(range, sizeof(range), "above %u", rows->lower[row]);
	else if (rows->upper[row] == rows->lower[row] + 1)
		(void)snprintf(range, sizeof(range), "%u", rows->upper[row]);
	else
		(void)snprintf(range, sizeof(range), "%u - %u", rows->lower[row] + 1, rows->upper[row]);
	line_percent((double)sum, (double)rows->all, share);
	(void)fprintf(out, "%*s %*s ", RANGE, range, COUNT - 1, share);
	text_divide(rows->groups[row], FIGURE_GROUPS, sum > 0 && length == 0 && bar > 0 ? 1 : length, cells);
	for (size_t group = 0; sum > 0 && group < FIGURE_GROUPS; group++) {
		(void)fputs(cells[group] && style->colour ? top_group_colours[group] : "", out);
		for (u32 i = 0; i < cells[group]; i++)
			(void)fputc(figure_letters[group], out);
		(void)fputs(cells[group] && style->colour ? NORMAL : "", out);
	}
	(void)fputc('\n', out);
}

/* Draws at most `lines` lines, and returns how many. */
static size_t put_histogram(FILE *out, const struct top_pane *pane, size_t width, size_t lines,
			    const struct format_style *style)
{
	struct histogram_rows rows;
	size_t drawn = 0;

	if (lines < 2)
		return 0;
	if (!pane->has_histogram)
		return put_line(out, "", "no histogram: no sample has a latency", width);
	choose_rows(pane, lines - 1, &rows);
	drawn += put_line(out, BOLD, "         CYCLES  SHARE BY SOURCE", width);
	for (size_t row = rows.first; row < rows.end && drawn < lines; row++, drawn++)
		put_row(out, &rows, row, width, style);
	return drawn;
}

static double mean_of_bins(const struct trend_line *line, size_t first, size_t end)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = first; i < end; i++)
		if (isfinite(line->values[i])) {
			sum += line->values[i];
			n++;
		}
	return n ? sum / (double)n : NAN;
}

/* The value of a cell of the timeline: the mean of the bins that it stands for. */
static double value_of_cell(const struct trend_line *line, size_t cell, size_t cells)
{
	size_t first = cell * line->n / cells, end = (cell + 1) * line->n / cells;

	return mean_of_bins(line, first, end > first ? end : first + 1);
}

/* Draws one line of the graph; `line` counts from the bottom. */
static void put_graph_line(FILE *out, const struct top_pane *pane, size_t line, size_t lines, size_t cells,
			   double high, bool utf8)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const signs[] = {" ", ".", ".", ".", ":", ":", ":", "#", "#"};

	for (size_t cell = 0; cell < cells; cell++) {
		double value = value_of_cell(&pane->trend, cell, cells);
		double level = isfinite(value) && high > 0 ? value / high * (double)(lines * LEVELS) : 0;
		double here = level - (double)(line * LEVELS);
		int eighths = here >= LEVELS ? LEVELS : here > 0 ? (int)ceil(here) : 0;

		(void)fputs(utf8 ? blocks[eighths] : signs[eighths], out);
	}
}

static size_t put_timeline(FILE *out, const struct top_pane *pane, size_t width, size_t lines,
			   const struct format_style *style)
{
	/* The last column stays free: not every terminal repeats a character up to it correctly. */
	size_t cells = width > AXIS + 2 ? width - AXIS - 2 : 1, graph;
	double low = 0, high = 0;
	char text[TEXT_NUMBER_MAX];

	if (lines < TIMELINE_MIN + 2)
		return 0;
	if (!pane->has_trend || !trend_line_bounds(&pane->trend, &low, &high))
		return put_line(out, "", "no timeline: nothing is known yet", width);
	cells = cells < 2 * pane->trend.n ? cells : 2 * pane->trend.n;
	graph = lines - 2 < TIMELINE_MAX ? lines - 2 : TIMELINE_MAX;
	(void)put_line(out, BOLD,
		       pane->latency ? "        MEAN LATENCY IN CYCLES" : "        SAMPLES A SECOND", width);
	for (size_t line = graph; line-- > 0;) {
		text_short_count(line + 1 == graph ? high : 0, text);
		(void)fprintf(out, "%*s ", AXIS, line + 1 == graph || line == 0 ? text : "");
		put_graph_line(out, pane, line, graph, cells, high, style->utf8);
		(void)fputc('\n', out);
	}
	text_span((double)pane->trend.n * pane->trend.bin_seconds, text);
	(void)fprintf(out, "%*s -%s%*s\n", AXIS, "", text,
		      (int)(cells > strlen(text) + 10 ? cells - strlen(text) - 1 : 0),
		      cells <= strlen(text) + 10 ? ""
		      : pane->past               ? "then"
						 : "now");
	return graph + 2;
}

static void put_both(FILE *out, const struct top_pane *pane, size_t width, size_t lines,
		     const struct format_style *style)
{
	_cleanup_free_ char *left = NULL, *right = NULL;
	size_t half = (width - 2) / 2, length;
	FILE *stream = open_memstream(&left, &length);

	if (!stream)
		return;
	(void)put_histogram(stream, pane, half, lines, style);
	if (fclose(stream) != 0 || !(stream = open_memstream(&right, &length)))
		return;
	(void)put_timeline(stream, pane, width - 2 - half, lines, style);
	if (fclose(stream) == 0)
		top_beside(out, left, half, "  ", right, lines);
}

void top_pane_draw_head(FILE *out, const struct top_pane *pane, const struct top_alert *alert,
			bool full_names, const struct format_style *style)
{
	const char *name = full_names ? pane->path : pane->visible;
	_cleanup_free_ char *fitting = text_tail(name, style->width, style->utf8);

	(void)put_line(out, BOLD, fitting ? fitting : "?", style->width);
	(void)put_line(out, "", pane->figures, style->width);
	if (alert)
		(void)put_alert(out, alert, style->width, style);
	else
		(void)put_line(out, "", "no alert", style->width);
}

void top_pane_draw(FILE *out, const struct top_pane *pane, const struct top_alert *alert, size_t width,
		   size_t lines, bool full_names, const struct format_style *style)
{
	_cleanup_free_ char *fitting = text_tail(full_names ? pane->path : pane->visible, width, style->utf8);
	size_t drawn = 0, timeline;

	drawn += put_line(out, BOLD, fitting ? fitting : "?", width);
	if (drawn < lines && alert)
		drawn += put_alert(out, alert, width, style);
	if (drawn < lines && *pane->figures)
		drawn += put_line(out, "", pane->figures, width);
	if (drawn >= lines)
		return;
	if (width >= 2UL * HALF_MIN && lines - drawn < TALL) {
		put_both(out, pane, width, lines - drawn, style);
		return;
	}
	timeline = lines - drawn > 4UL * TIMELINE_MAX ? TIMELINE_MAX + 3 : (lines - drawn) / 2;
	if (lines - drawn > timeline + 1)
		(void)put_line(out, "", "", width);
	drawn += 1 + put_histogram(out, pane, width, lines - drawn - timeline - 1, style);
	if (drawn + 1 < lines) {
		(void)put_line(out, "", "", width);
		(void)put_timeline(out, pane, width, lines - drawn - 1, style);
	}
}
