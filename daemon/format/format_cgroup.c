// SPDX-License-Identifier: GPL-2.0
/* The text of `pebsctl show`. */
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/figure.h"
#include "format/format_event.h"
#include "format/format_offcore.h"
#include "format/format_waits.h"
#include "format/location.h"
#include "format/trend_line.h"
#include "pebsd/data_source.h"
#include "pebsd/histogram.h"

/* Fine buckets are shown if they take at most this many lines, otherwise octaves. */
#define ROWS_MAX    24
#define BAR_DEFAULT 40
#define BAR_LEFT    36 /* columns of a table to the left of its bar */

struct rows {
	u64 samples[FINE_BUCKETS];
	u32 lower[FINE_BUCKETS];
	u32 upper[FINE_BUCKETS];
	u32 first, last; /* the outermost rows with samples */
	u64 sum;
};

static bool read_histogram(json_object *list, u64 fine[FINE_BUCKETS])
{
	u64 le, samples;
	bool any = false;

	memset(fine, 0, FINE_BUCKETS * sizeof(*fine));
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		const json_object *bucket = json_object_array_get_idx(list, i);

		if (!json_get_u64(bucket, "le", &le) || le > ~0U ||
		    !json_get_u64(bucket, "samples", &samples))
			continue;
		fine[histogram_fine_index((u32)le)] += samples;
		any = any || samples > 0;
	}
	return any;
}

static u32 octave_lower(u32 index)
{
	return index ? histogram_octave_upper(index - 1) : 0;
}

/*
 * Takes the buckets from the first to the last that has samples. Empty ones between them are kept, to show
 * gaps.
 */
static void choose_rows(const u64 fine[FINE_BUCKETS], struct rows *ret)
{
	u32 first = 0, last = FINE_OVERFLOW;
	bool octaves;

	memset(ret, 0, sizeof(*ret));
	/* All may be 0: the sum of two counts of a reply wraps. */
	while (first < FINE_OVERFLOW && !fine[first])
		first++;
	while (last > first && !fine[last])
		last--;
	octaves = last - first >= ROWS_MAX;
	for (u32 i = first; i <= last; i++) {
		u32 row = octaves ? histogram_octave_index(histogram_fine_upper(i)) : i;

		ret->samples[row] += fine[i];
		ret->lower[row] = octaves ? octave_lower(row) : histogram_fine_lower(i);
		ret->upper[row] = octaves ? histogram_octave_upper(row) : histogram_fine_upper(i);
		ret->sum += fine[i];
	}
	ret->first = octaves ? histogram_octave_index(histogram_fine_upper(first)) : first;
	ret->last = octaves ? histogram_octave_index(histogram_fine_upper(last)) : last;
}

static size_t bar_width(const struct format_style *style)
{
	if (style->width == 0)
		return BAR_DEFAULT;
	return style->width > BAR_LEFT + 5 ? style->width - BAR_LEFT : 5;
}

static void put_histogram(FILE *out, const struct format_style *style, json_object *event)
{
	u64 fine[FINE_BUCKETS];
	struct rows rows;
	u64 most = 0;

	if (!read_histogram(json_get_array(event, "histogram"), fine))
		return;
	choose_rows(fine, &rows);
	for (u32 i = rows.first; i <= rows.last; i++)
		if (rows.samples[i] > most)
			most = rows.samples[i];

	(void)fputc('\n', out);
	line_head(out, style, "        CYCLES     SAMPLES  SHARE");
	for (u32 i = rows.first; i <= rows.last; i++) {
		char range[48], count[TEXT_NUMBER_MAX], percent[TEXT_NUMBER_MAX], bar[TEXT_BAR_MAX];

		if (rows.upper[i] == ~0U)
			(void)snprintf(range, sizeof(range), "above %u", rows.lower[i]);
		else if (rows.upper[i] == rows.lower[i] + 1)
			(void)snprintf(range, sizeof(range), "%u", rows.upper[i]);
		else
			(void)snprintf(range, sizeof(range), "%u - %u", rows.lower[i] + 1, rows.upper[i]);
		text_short_count((double)rows.samples[i], count);
		line_percent((double)rows.samples[i], (double)rows.sum, percent);
		text_bar((double)rows.samples[i] / (double)most, bar_width(style), style->utf8, bar);
		(void)fprintf(out, "%17s %8s %6s%s%s\n", range, count, percent, *bar ? "  " : "", bar);
	}
}

static bool samples_with_latency(json_object *source, u64 *ret)
{
	json_object *histogram = json_get_array(source, "histogram");
	u64 sum = 0, samples;

	for (size_t i = 0; histogram && i < json_object_array_length(histogram); i++)
		if (json_get_u64(json_object_array_get_idx(histogram, i), "samples", &samples))
			sum += samples;
	*ret = sum;
	return sum > 0;
}

static void put_sources(FILE *out, const struct format_style *style, json_object *event, bool has_latency)
{
	json_object *sources = json_get_object(event, "sources");
	bool bounded = json_get(event, "confidence") != NULL;
	/* The columns to the left of the bar that a histogram does not have. */
	size_t more = bounded ? 24 : 9;
	size_t width = bar_width(style) > more + 1 ? bar_width(style) - more : 1;
	double latency_of_all = 0;
	u64 all = 0;

	if (!sources || !figure_samples(event, &all) || all == 0)
		return;
	(void)json_get_double(json_get_object(event, "latency"), "sum", &latency_of_all);
	(void)fputc('\n', out);
	line_head(out, style,
		  bounded       ? (has_latency ? "SOURCE        SAMPLES  SHARE         BOUNDS    LAT%   MEAN"
					       : "SOURCE        SAMPLES  SHARE         BOUNDS")
		  : has_latency ? "SOURCE        SAMPLES  SHARE    LAT%   MEAN"
				: "SOURCE        SAMPLES  SHARE");
	json_object_object_foreach (sources, name, source) {
		char count[TEXT_NUMBER_MAX], share[TEXT_NUMBER_MAX],
			mean[TEXT_NUMBER_MAX] = "-", latency[TEXT_NUMBER_MAX] = "-", bar[TEXT_BAR_MAX];
		_cleanup_free_ char *kept = NULL;
		u64 samples, with_latency;
		double sum;

		if (!json_get_u64(source, "samples", &samples) || samples == 0)
			continue;
		text_short_count((double)samples, count);
		line_percent((double)samples, (double)all, share);
		if (json_get_double(source, "latency_sum", &sum)) {
			line_percent(sum, latency_of_all, latency);
			if (samples_with_latency(source, &with_latency))
				text_short_count(sum / (double)with_latency, mean);
		}
		(void)fprintf(out, "%-13s %7s %6s", line_visible(name, &kept), count, share);
		if (bounded) {
			char bounds[LOCATION_BOUNDS_MAX];

			location_share_bounds(json_get_object(source, "bounds"), bounds);
			(void)fprintf(out, " %14s", bounds);
		}
		if (has_latency)
			(void)fprintf(out, " %7s %6s", latency, mean);
		text_bar((double)samples / (double)all, width, style->utf8, bar);
		(void)fprintf(out, "  %s\n", bar);
	}
}

static void put_results(FILE *out, const struct format_style *style, const char *label, json_object *results,
			u64 all)
{
	_cleanup_fclose_ FILE *line = NULL;
	_cleanup_free_ char *text = NULL;
	const char *separator = "";
	size_t length;

	if (!results || json_object_object_length(results) == 0 || !figure_is_measured(results))
		return;
	line = open_memstream(&text, &length);
	if (!line)
		return;
	json_object_object_foreach (results, name, count) {
		_cleanup_free_ char *kept = NULL;
		char number[TEXT_NUMBER_MAX], percent[TEXT_NUMBER_MAX];

		text_count(json_object_get_uint64(count), number);
		line_percent((double)json_object_get_uint64(count), (double)all, percent);
		(void)fprintf(line, "%s%s %s (%s)", separator, line_visible(name, &kept), number, percent);
		separator = ", ";
	}
	if (fclose(TAKE_PTR(line)) == 0)
		line_put(out, style, label, "%s", text);
}

static void put_flags(FILE *out, const struct format_style *style, const json_object *event, u64 all)
{
#define FLAG_NAME(name, ...) #name,
	static const char *const names[] = {ACCESS_FLAGS(FLAG_NAME)};
	char text[FLAG_COUNT * (TEXT_NUMBER_MAX + 40)] = "";
	size_t length = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char share[TEXT_NUMBER_MAX];
		u64 samples;

		if (!json_get_u64(event, names[i], &samples))
			continue;
		line_percent((double)samples, (double)all, share);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s %llu (%s)",
					   length ? ", " : "", names[i], (unsigned long long)samples, share);
	}
	if (length)
		line_put(out, style, "Flags", "%s", text);
}

/* Sampled accesses per thousand instructions of the same PMU. */
static void put_per_thousand(FILE *out, const struct format_style *style, json_object *described,
			     const json_object *event)
{
	_cleanup_free_ char *kept = NULL;
	char number[TEXT_NUMBER_MAX];
	double ratio;

	if (!json_get_double(event, "per_thousand_instructions", &ratio))
		return;
	line_rate(ratio, number);
	line_put(
		out, style, "Per 1000", "%s sampled %s per thousand instructions%s", number,
		line_visible(json_get_text(described, "role"), &kept),
		!figure_measures(described, "latency") ? ""
		: json_get(described, "ldlat")
			? "; the CPU samples only some loads, and of these only those above ldlat count, so this is not the rate of all loads"
			: "");
}

static const char *const quantile_names[] = {"p50", "p90", "p95", "p99", "p999"};

/* Prints the bounds of a quantile, or if the reply has none at all, its bucket. */
static void put_range(FILE *line, const json_object *event, const char *name,
		      const struct figure_quantile *quantile, const char *is)
{
	const json_object *bounds = figure_bounds(event, name);
	u64 low, high;

	if (!json_get(event, "confidence"))
		(void)fprintf(line, " (%s%llu-%llu)", is, (unsigned long long)quantile->low + 1,
			      (unsigned long long)quantile->high);
	else if (!json_get_u64(bounds, "low", &low))
		(void)fprintf(line, " (no bounds)");
	else if (json_get_u64(bounds, "high", &high))
		(void)fprintf(line, " (%s%llu-%llu)", is, (unsigned long long)low + 1,
			      (unsigned long long)high);
	else
		(void)fprintf(line, " (%sabove %llu)", is, (unsigned long long)low);
}

/* Says what the bounds are, and how much the samples are worth: less than their number if they came in bursts. */
static void put_bounds(FILE *out, const struct format_style *style, const json_object *event, u64 samples)
{
	char samples_text[TEXT_NUMBER_MAX], worth_text[TEXT_NUMBER_MAX];
	u64 worth, least = samples;
	bool any = false;
	double confidence;

	if (!json_get_double(event, "confidence", &confidence))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(quantile_names); i++)
		if (json_get_u64(figure_bounds(event, quantile_names[i]), "worth", &worth)) {
			any = true;
			least = worth < least ? worth : least;
		}
	text_count(samples, samples_text);
	text_count(least, worth_text);
	if (!any)
		line_put(out, style, "Bounds",
			 "not known: the samples came in too few bursts; a longer --window has more");
	else
		line_put(out, style, "Bounds",
			 "each at %g%% confidence; %s samples are worth %s independent one%s",
			 100 * confidence, samples_text, worth_text, least == 1 ? "" : "s");
}

/* Prints the mean and the quantiles again, as times at the nominal frequency. */
static void put_times(FILE *out, const struct format_style *style, json_object *described,
		      const json_object *event, double mean)
{
	_cleanup_fclose_ FILE *line = NULL;
	_cleanup_free_ char *text = NULL;
	char time[TEXT_NUMBER_MAX];
	size_t length;
	double hz;

	if (!figure_nominal_hz(described, &hz))
		return;
	line = open_memstream(&text, &length);
	if (!line)
		return;
	text_nanoseconds(mean / hz, time);
	(void)fprintf(line, "mean %s", time);
	for (size_t i = 0; i < ARRAY_SIZE(quantile_names); i++) {
		struct figure_quantile quantile;

		if (!figure_quantile(event, quantile_names[i], &quantile))
			continue;
		text_nanoseconds((quantile.over ? (double)quantile.low : quantile.value) / hz, time);
		(void)fprintf(line, ", %s %s%s", quantile_names[i], quantile.over ? "above " : "", time);
	}
	if (fclose(TAKE_PTR(line)) == 0)
		line_put(out, style, "", "about %s", text);
}

/* `all`: the samples of the event, some of which may have no latency. */
static void put_latency(FILE *out, const struct format_style *style, json_object *described,
			const json_object *event, u64 all)
{
	/* Printed only once. Without it, a bucket could be taken for the bounds of a confidence interval. */
	const char *is = json_get(event, "confidence") ? "bounds " : "bucket ";
	_cleanup_fclose_ FILE *line = NULL;
	_cleanup_free_ char *text = NULL;
	u64 samples = all;
	bool few = false;
	size_t length;
	double mean;

	if (!figure_mean(event, &mean)) {
		line_put(out, style, "Latency", "no sample has a latency");
		return;
	}
	line = open_memstream(&text, &length);
	if (!line)
		return;
	(void)json_get_u64(json_get_object(event, "latency"), "samples", &samples);
	(void)fprintf(line, "mean %.1f", mean);
	for (size_t i = 0; i < ARRAY_SIZE(quantile_names); i++) {
		const char *name = quantile_names[i];
		struct figure_quantile quantile;

		if (!figure_quantile(event, name, &quantile))
			continue;
		few = few || quantile.few;
		if (quantile.over) {
			(void)fprintf(line, ", %s above %llu%s", name, (unsigned long long)quantile.low,
				      quantile.few ? FIGURE_FEW_MARK : "");
			continue;
		}
		(void)fprintf(line, ", %s %.0f%s", name, quantile.value, quantile.few ? FIGURE_FEW_MARK : "");
		put_range(line, event, name, &quantile, is);
		is = "";
	}
	if (fclose(TAKE_PTR(line)) != 0)
		return;
	if (samples < all) {
		char number[TEXT_NUMBER_MAX];

		text_count(samples, number);
		line_put(out, style, "Latency", "%s cycles; of the %s samples that have a latency", text,
			 number);
	} else {
		line_put(out, style, "Latency", "%s cycles", text);
	}
	put_times(out, style, described, event, mean);
	if (few)
		line_put(out, style, "", "%s", FIGURE_FEW_MARK " too few samples for this quantile");
	put_bounds(out, style, event, samples);
}

static void put_trend(FILE *out, const struct format_style *style, const json_object *event,
		      const json_object *whole)
{
	double now, before;

	if (!figure_mean(event, &now) || !figure_mean(whole, &before) || before <= 0)
		return;
	line_put(out, style, "Trend", "the mean is %.1f; over all time it is %.1f: %+.1f%%", now, before,
		 100 * (now - before) / before);
}

/* Prints one cell per bin of the trend, for as many of the last bins as fit. */
static void put_trend_line(FILE *out, const struct format_style *style, const json_object *event,
			   bool has_latency)
{
	size_t width = style->width ? style->width : LINE_LABEL + 2 + BAR_DEFAULT;
	size_t cells = width > LINE_LABEL + 2 ? width - LINE_LABEL - 2 : 1;
	char span[TEXT_NUMBER_MAX], cell[TEXT_NUMBER_MAX], from[TEXT_NUMBER_MAX], to[TEXT_NUMBER_MAX];
	double low = 0, high = 0;
	struct trend_line line;

	if (!trend_line_read(event, has_latency, &line) || !trend_line_bounds(&line, &low, &high))
		return;
	cells = cells < line.n ? cells : line.n;
	text_span((double)cells * line.bin_seconds, span);
	text_span(line.bin_seconds, cell);
	text_short_count(low, from);
	text_short_count(high, to);
	line_put(out, style, "Trend", "%s%s, %s per cell: %s from %s to %s",
		 line.past && cells == line.n ? "" : "the last ", span, cell,
		 has_latency ? "means" : "samples a second", from, to);
	(void)fprintf(out, "%*s", LINE_LABEL + 2, "");
	trend_line_put(out, &line, cells, style->utf8);
	(void)fputc('\n', out);
}

static void put_event(FILE *out, const struct format_style *style, const char *key, json_object *described,
		      json_object *event, const json_object *whole)
{
	bool has_latency = figure_measures(described, "latency");
	char count[TEXT_NUMBER_MAX];
	u64 all = 0;

	(void)figure_samples(event, &all);
	text_count(all, count);
	(void)fputc('\n', out);
	format_event(out, style, "Event", key, described);
	line_put(out, style, "Samples", "%s", count);
	put_per_thousand(out, style, described, event);
	if (has_latency)
		put_latency(out, style, described, event, all);
	put_trend(out, style, event, whole);
	put_trend_line(out, style, event, has_latency);
	put_results(out, style, "Snoop", json_get_object(event, "snoop"), all);
	put_results(out, style, "TLB", json_get_object(event, "tlb"), all);
	put_flags(out, style, event, all);
	put_sources(out, style, event, has_latency);
	put_histogram(out, style, event);
}

/* Prints the labels of the cgroup: container, pod, unit and so on. */
static void format_labels(FILE *out, const struct format_style *style, json_object *cgroup)
{
	json_object *labels = json_get_object(cgroup, "labels");
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *visible = NULL;
	size_t bytes;
	FILE *stream = labels ? open_memstream(&text, &bytes) : NULL;
	const char *separator = "";

	if (!stream)
		return;
	json_object_object_foreach (labels, key, value) {
		(void)value;
		if (!json_get_text(labels, key))
			continue;
		(void)fprintf(stream, "%s%s %s", separator, key, json_get_text(labels, key));
		separator = ", ";
	}
	if (fclose(stream) == 0 && *text)
		line_put(out, style, "Labels", "%s", line_visible(text, &visible));
}

void format_cgroup(FILE *out, json_object *status, json_object *cgroup, json_object *whole,
		   const struct format_style *style)
{
	json_object *described = json_get_object(status, "events");
	json_object *events = json_get_object(cgroup, "events");
	json_object *whole_events = json_get_object(whole, "events");
	char number[TEXT_NUMBER_MAX + 24] = "";
	bool alive = true, guest, no_slot = false;
	u64 id = 0, members, missing = 0;

	if (json_get_u64(cgroup, "id", &id) && id > 0)
		(void)snprintf(number, sizeof(number), " (id %llu)", (unsigned long long)id);
	(void)json_get_bool(cgroup, "alive", &alive);
	(void)snprintf(number + strlen(number), sizeof(number) - strlen(number), "%s",
		       alive ? "" : ", removed");
	line_put_cgroup(out, style, cgroup, number);
	format_labels(out, style, cgroup);
	if (json_get_bool(cgroup, "no_slot", &no_slot) && no_slot)
		line_put(
			out, style, "Slot",
			"none: no slot was free for this cgroup, so its samples are unattributed; raise `max-memory` in [cgroups], or `max` if it is a number, and restart pebsd");
	if (json_get_bool(cgroup, "guest_not_sampled", &guest) && guest)
		line_put(out, style, "Guest",
			 "not sampled: the figures of this virtual machine cover only the host's side");
	if (json_get_u64(cgroup, "subtree", &members))
		line_put(out, style, "Sum", "of the subtree, which has %llu sampled cgroup%s",
			 (unsigned long long)members, members == 1 ? "" : "s");
	if (json_get_u64(cgroup, "subtree_without_slot", &missing) && missing > no_slot)
		line_put(
			out, style, "No slot",
			"%llu cgroup%s at and below this one: %s samples are missing from these figures; raise `max-memory` in [cgroups], or `max` if it is a number, and restart pebsd",
			(unsigned long long)missing, missing == 1 ? "" : "s", missing == 1 ? "its" : "their");
	format_origin(out, style, "Origin", cgroup);
	format_pause(out, style, status);
	if (!events || json_object_object_length(events) == 0) {
		line_put(out, style, "Samples", "%s",
			 no_slot || missing > 0     ? "none counted for this cgroup"
			 : json_get(cgroup, "gaps") ? "none in this time"
			 : json_get(cgroup, "window_s")
				 ? "none in this window; --window all shows earlier ones"
				 : "none so far");
		format_offcore(out, style, status, cgroup);
		return;
	}
	format_waits(out, style, status, cgroup);
	json_object_object_foreach (events, key, event) {
		put_event(out, style, key, json_get_object(described, key), event,
			  json_get_object(whole_events, key));
	}
	format_offcore(out, style, status, cgroup);
}
