// SPDX-License-Identifier: GPL-2.0
/* The text of `pebsctl compare`. */
#include <math.h>
#include <string.h>
#include <sys/param.h>

#include <json-c/json_visit.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/format_event.h"
#include "format/format_past.h"
#include "format/verdict.h"

#define LABEL_WIDTH 18
#define VALUE_WIDTH 10
#define BAR_MAX     24
#define BARS_LEFT   28 /* columns of a histogram that are not bars: "up to  1024" and both shares */

enum scale { CYCLES, SHARE, CORES, PLAIN, BYTES };

/* The rows of waits, in the order of the interface. */
static const struct {
	const char *name, *text;
	enum scale scale;
} waits[] = {
	{"wait", "wait", SHARE},
	{"cpi", "cycles/instr.", PLAIN},
	{"misses_per_thousand", "misses/1000 instr.", PLAIN},
	{"cores_used", "cores used", CORES},
	{"cores_lost", "cores lost", CORES},
	{"traffic", "traffic", BYTES},
};

static const struct {
	const char *name, *text;
} shares[] = {{"hitm", "HITM"}, {"tlb_walk", "page walks"}, {"locked", "locked"}};

static void value_text(const json_object *figure, const char *key, enum scale scale,
		       char ret[static TEXT_NUMBER_MAX])
{
	double value;

	(void)snprintf(ret, TEXT_NUMBER_MAX, "-");
	if (!verdict_member(figure, key, &value))
		return;
	switch (scale) {
	case CYCLES:
		text_short_count(value, ret);
		break;
	case SHARE:
		line_percent(value, 1, ret);
		break;
	case BYTES:
		text_short_count(value, ret);
		(void)strncat(ret, "B/s", TEXT_NUMBER_MAX - strlen(ret) - 1);
		break;
	case CORES:
	case PLAIN:
		line_rate(value, ret);
		break;
	}
}

/* Rounds a value above 0 to three digits: up if `direction` is 1, down if it is -1, to the nearest if it is 0. */
static double three_digits(double value, int direction)
{
	const double digit = pow(10, floor(log10(value)) - 2);

	return digit * (direction < 0   ? floor(value / digit + 1e-6)
			: direction > 0 ? ceil(value / digit - 1e-6)
					: round(value / digit));
}

/*
 * Writes "+18" for per cent, "+3.2" for the points of a share, or "x1350", how many times B is larger, if that is more
 * than 1,000 times. Bounds are rounded outwards: `direction` is -1 or 1. Returns the unit.
 */
static const char *change_text(double value, bool points, int direction, char ret[static TEXT_NUMBER_MAX])
{
	char times[TEXT_NUMBER_MAX];
	double scaled = 100 * value;
	int decimals = points || fabs(scaled) < 10 ? 1 : 0;
	double unit = decimals ? 10 : 1;

	if (direction < 0)
		scaled = floor(scaled * unit + 1e-6) / unit;
	else if (direction > 0)
		scaled = ceil(scaled * unit - 1e-6) / unit;
	if (scaled > 99999) {
		text_short_count(three_digits(1 + value, direction), times);
		(void)snprintf(ret, TEXT_NUMBER_MAX, "x%.*s", TEXT_NUMBER_MAX - 2, times);
		return "";
	}
	if (direction == 0 && fabs(scaled) * unit < 0.5)
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%.*f", decimals, 0.0);
	else
		(void)snprintf(ret, TEXT_NUMBER_MAX, "%+.*f", decimals, scaled);
	return points ? " points" : "%";
}

static void put_bounds(FILE *out, const json_object *figure, bool points)
{
	char low[TEXT_NUMBER_MAX] = "", high[TEXT_NUMBER_MAX] = "";
	const char *unit_low = "", *unit_high = "";
	double value;

	if (verdict_member(figure, "low", &value))
		unit_low = change_text(value, points, -1, low);
	if (verdict_member(figure, "high", &value))
		unit_high = change_text(value, points, 1, high);
	/* A unit that both have is written once. */
	if (*low && *high)
		(void)fprintf(out, "%s%s to %s%s", low, strcmp(unit_low, unit_high) == 0 ? "" : unit_low,
			      high, unit_high);
	else if (*low)
		(void)fprintf(out, "%s%s or more", low, unit_low);
	else if (*high)
		(void)fprintf(out, "%s%s or less", high, unit_high);
}

static const char *verdict_of(const json_object *figure)
{
	const char *verdict = json_get_text(figure, "verdict");

	return verdict ? verdict : "";
}

static void put_row(FILE *out, const char *label, const json_object *figure, enum scale scale)
{
	bool points = scale == SHARE;
	char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX], change[TEXT_NUMBER_MAX] = "-";
	const char *verdict;
	double value;

	if (!figure)
		return;
	verdict = verdict_of(figure);
	value_text(figure, "a", scale, a);
	value_text(figure, "b", scale, b);
	if (verdict_member(figure, "difference", &value)) {
		const char *unit = change_text(value, points, 0, change);

		(void)strncat(change, points && *unit ? " pts" : unit, TEXT_NUMBER_MAX - strlen(change) - 1);
	}
	(void)fprintf(out, "%-*s %*s %*s %11s  ", LABEL_WIDTH, label, VALUE_WIDTH, a, VALUE_WIDTH, b, change);
	if (strcmp(verdict, "proven") == 0)
		put_bounds(out, figure, points);
	else if (strcmp(verdict, "not_proven") == 0)
		(void)fprintf(out, "no difference proven");
	else if (strcmp(verdict, "no_bounds") == 0)
		(void)fprintf(out, "no bounds");
	else
		(void)fprintf(out, json_get(figure, "a") && json_get(figure, "b") ? "0 on both sides"
										  : "not measured on both");
	(void)fputc('\n', out);
}

static void put_head(FILE *out, const struct format_style *style, const char *title, unsigned percent)
{
	(void)fprintf(out, "\n%s%-*s %*s %*s %11s  BOUNDS (%u%%)%s\n", style->bold ? "\033[1m" : "",
		      LABEL_WIDTH, title, VALUE_WIDTH, "A", VALUE_WIDTH, "B", "DIFFERENCE", percent,
		      style->bold ? "\033[0m" : "");
}

static void put_sources(FILE *out, json_object *event)
{
	json_object *sources = json_get_object(event, "sources");

	if (!sources)
		return;
	json_object_object_foreach (sources, name, figure) {
		_cleanup_free_ char *kept = NULL;

		put_row(out, line_visible(name, &kept), figure, SHARE);
	}
}

static double largest_share(json_object *buckets, const char *key, double *ret_sum)
{
	double most = 0, sum = 0, value;

	for (size_t i = 0; i < json_object_array_length(buckets); i++)
		if (json_get_double(json_object_array_get_idx(buckets, i), key, &value) && value > 0) {
			sum += value;
			most = fmax(most, value);
		}
	*ret_sum = sum;
	return sum > 0 ? most / sum : 0;
}

static void put_bar(FILE *out, const struct format_style *style, const json_object *bucket, const char *key,
		    double sum, double most, size_t cells, size_t pad)
{
	char bar[TEXT_BAR_MAX], percent[TEXT_NUMBER_MAX];
	double value = 0;
	size_t columns;

	(void)json_get_double(bucket, key, &value);
	line_percent(value, sum, percent);
	text_bar(most > 0 && sum > 0 ? value / sum / most : 0, cells, style->utf8, bar);
	columns = text_width(bar);
	(void)fprintf(out, " %6s %s%*s", percent, bar, (int)(columns < pad ? pad - columns : 0), "");
}

/* The histograms side by side, with one scale. */
static void put_histogram(FILE *out, const struct format_style *style, json_object *event)
{
	json_object *buckets = json_get_array(event, "histogram");
	size_t width = style->width ? MIN(style->width, 100UL) : 80;
	size_t cells = width > BARS_LEFT + 2 ? MIN((width - BARS_LEFT) / 2, BAR_MAX) : 1;
	double sum_a, sum_b, most;

	if (!buckets || json_object_array_length(buckets) == 0)
		return;
	most = fmax(largest_share(buckets, "a", &sum_a), largest_share(buckets, "b", &sum_b));
	(void)fprintf(out, "\n%s%11s  %-*s %s%s\n", style->bold ? "\033[1m" : "", "CYCLES", (int)cells + 7,
		      "A", " B", style->bold ? "\033[0m" : "");
	for (size_t i = 0; i < json_object_array_length(buckets); i++) {
		const json_object *bucket = json_object_array_get_idx(buckets, i);
		char edge[TEXT_NUMBER_MAX] = "-";
		u64 le = 0;

		if (json_get_u64(bucket, "le", &le))
			text_short_count((double)le, edge);
		(void)fprintf(out, le == 0xffffffff ? "%11s" : "up to %5s", le == 0xffffffff ? "more" : edge);
		put_bar(out, style, bucket, "a", sum_a, most, cells, cells);
		put_bar(out, style, bucket, "b", sum_b, most, cells, 0);
		(void)fputc('\n', out);
	}
}

static void put_event(FILE *out, const struct format_style *style, const char *key, json_object *event,
		      unsigned percent)
{
	json_object *latency = json_get_object(event, "latency");
	char a[TEXT_NUMBER_MAX] = "-", b[TEXT_NUMBER_MAX] = "-", above[64] = "";
	_cleanup_free_ char *kept = NULL;
	u64 value;

	if (json_get_u64(event, "samples_a", &value))
		text_count(value, a);
	if (json_get_u64(event, "samples_b", &value))
		text_count(value, b);
	(void)fputc('\n', out);
	if (json_get_u64(event, "ldlat", &value))
		(void)snprintf(above, sizeof(above), " above %llu cycles", (unsigned long long)value);
	line_put(out, style, "Event", "%s%s: %s samples in A, %s in B%s", line_visible(key, &kept), above, a,
		 b, latency ? "; latencies in core cycles" : "");
	put_head(out, style, latency ? "LATENCY" : "SHARE", percent);
	put_row(out, "p50", json_get_object(latency, "p50"), CYCLES);
	put_row(out, "p90", json_get_object(latency, "p90"), CYCLES);
	put_row(out, "p99", json_get_object(latency, "p99"), CYCLES);
	put_row(out, "mean", json_get_object(latency, "mean"), CYCLES);
	put_sources(out, event);
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
		put_row(out, shares[i].text, json_get_object(event, shares[i].name), SHARE);
	put_histogram(out, style, event);
}

static void put_side(FILE *out, const struct format_style *style, const char *label, json_object *side)
{
	const char *name = line_cgroup_text(style, side), *file = json_get_text(side, "file");
	_cleanup_free_ char *kept = NULL;
	char range[PAST_RANGE_MAX], covered[TEXT_NUMBER_MAX] = "";
	json_object *gaps = json_get_array(side, "gaps"), *subtree = json_get(side, "subtree");
	double seconds;

	if (json_get_double(side, "window_s", &seconds))
		text_span(seconds, covered);
	line_put(out, style, label, "%s%s%s%s%s%s", file ? "recording " : "",
		 file || name ? line_visible(file ? file : name, &kept) : "all cgroups",
		 subtree ? " and everything below it" : "", file && *covered ? " (" : "",
		 file && *covered ? covered : "", file && *covered ? ")" : "");
	if (file)
		return;
	format_range(json_get_text(side, "since"), json_get_text(side, "taken"), style, range);
	line_put(out, style, "", "%s%s%s%s%s", range, *covered ? " (" : "", covered, *covered ? ")" : "",
		 gaps ? ", in whole panes of the history" : "");
	if (gaps && json_object_array_length(gaps) > 0)
		line_put(out, style, "", "%zu gap%s in this time, for which nothing is stored",
			 json_object_array_length(gaps), json_object_array_length(gaps) == 1 ? "" : "s");
}

struct verdicts {
	const char *verdict; /* the one that is counted */
	size_t n;
};

/* A json_c_visit_userfunc. NOLINTBEGIN(readability-non-const-parameter) */
static int count_verdict(json_object *value, int flags, json_object *parent, const char *key, size_t *index,
			 void *userdata)
{
	struct verdicts *verdicts = userdata;

	(void)value;
	(void)flags;
	(void)index;
	if (key && strcmp(key, "verdict") == 0)
		verdicts->n += strcmp(verdict_of(parent), verdicts->verdict) == 0;
	return JSON_C_VISIT_RETURN_CONTINUE;
}
/* NOLINTEND(readability-non-const-parameter) */

static size_t count_verdicts(json_object *reply, const char *verdict)
{
	struct verdicts verdicts = {.verdict = verdict};

	(void)json_c_visit(reply, 0, count_verdict, &verdicts);
	return verdicts.n;
}

static void put_summary(FILE *out, const struct format_style *style, json_object *reply, unsigned percent)
{
	size_t proven = count_verdicts(reply, "proven"), unknown = count_verdicts(reply, "no_bounds");
	u64 n = 0;

	(void)json_get_u64(reply, "comparisons", &n);
	if (proven == 0 && unknown > 0 && unknown >= n)
		line_put(out, style, "Verdict", "nothing is proven: no figure has bounds");
	else if (proven == 0) /* "0 of 7 differ, proven" would say that both sides are proven to be equal */
		line_put(out, style, "Verdict",
			 "of %llu figure%s, none is proven to differ with %u%% confidence%s",
			 (unsigned long long)n, n == 1 ? "" : "s", percent,
			 unknown ? "; some have no bounds" : "");
	else
		line_put(out, style, "Verdict",
			 "%zu of %llu figure%s differ%s, proven with %u%% confidence%s", proven,
			 (unsigned long long)n, n == 1 ? "" : "s", proven == 1 ? "s" : "", percent,
			 unknown ? "; some have no bounds" : "");
}

void format_compare(FILE *out, json_object *reply, const struct format_style *style)
{
	json_object *events = json_get_object(reply, "events"), *figures = json_get_object(reply, "waits");
	json_object *notes = json_get_array(reply, "notes");
	double confidence = 0;
	unsigned percent;
	u64 n = 0;

	(void)json_get_double(reply, "confidence", &confidence);
	(void)json_get_u64(reply, "comparisons", &n);
	percent = (unsigned)lround(100 * fmin(fmax(confidence, 0), 1));
	put_side(out, style, "A", json_get_object(reply, "a"));
	put_side(out, style, "B", json_get_object(reply, "b"));
	if (n > 0)
		put_summary(out, style, reply, percent);
	for (size_t i = 0; notes && i < json_object_array_length(notes); i++) {
		_cleanup_free_ char *kept = NULL;

		line_put(out, style, "Note", "%s",
			 line_sentence(style, json_object_get_string(json_object_array_get_idx(notes, i)),
				       &kept));
	}
	if (events) {
		json_object_object_foreach (events, key, event)
			put_event(out, style, key, event, percent);
	}
	if (figures) {
		put_head(out, style, "WAITING", percent);
		for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
			put_row(out, waits[i].text, json_get_object(figures, waits[i].name), waits[i].scale);
	}
	(void)fputc('\n', out);
	if (n == 0) {
		line_put(out, style, NULL, "Nothing was measured on both sides.");
		return;
	}
	line_put(
		out, style, NULL,
		"DIFFERENCE is B compared with A. All bounds hold together with %u%% confidence: of two sides that do not differ, at most %u in 100 screens show a difference as proven.",
		percent, 100 - percent);
	if (count_verdicts(reply, "no_bounds") > 0)
		line_put(
			out, style, NULL,
			"no bounds: a side has too few samples or collections, or its samples came in too few bursts, or in phases longer than a tenth of the time. Compare a longer time.");
}
