// SPDX-License-Identifier: GPL-2.0
/* The text of `pebsctl explain`. */
#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/format_event.h"
#include "format/format_past.h"
#include "format/format_waits.h"
#include "format/rule_text.h"
#include "format/verdict.h"

#define SCALE_MAX 60
#define SCALE_MIN 10
#define MARGIN    0.08 /* free space on each side, as a share of the range of the values */

/* The limits and the measurement on a common scale. */
struct scale {
	bool below;
	double threshold, clear, value;
	bool has_low, has_high;
	double low, high;
	double first, last; /* values of the outermost cells */
	size_t cells;
};

static void widen(struct scale *scale, double value)
{
	if (value < scale->first)
		scale->first = value;
	if (value > scale->last)
		scale->last = value;
}

/* Returns true if there is anything to draw. */
static bool read_scale(const json_object *alert, size_t width, struct scale *scale)
{
	double margin;

	scale->below = !verdict_member(alert, "above", &scale->threshold);
	if (scale->below && !verdict_member(alert, "below", &scale->threshold))
		return false;
	if (!verdict_member(alert, "value", &scale->value))
		return false;
	if (!verdict_member(alert, "clear", &scale->clear))
		scale->clear = scale->threshold;
	scale->has_low = verdict_member(alert, "low", &scale->low);
	scale->has_high = verdict_member(alert, "high", &scale->high);
	scale->first = scale->last = scale->value;
	widen(scale, scale->threshold);
	widen(scale, scale->clear);
	if (scale->has_low)
		widen(scale, scale->low);
	if (scale->has_high)
		widen(scale, scale->high);
	margin = MARGIN * (scale->last - scale->first);
	/* There is nothing to draw if the values are equal, or too close or too far apart for a double. */
	if (!(margin > 0 && margin < 1e300))
		return false;
	scale->first -= margin;
	scale->last += margin;
	scale->cells = width > SCALE_MAX ? SCALE_MAX : width < SCALE_MIN ? SCALE_MIN : width;
	return true;
}

static size_t cell_of(const struct scale *scale, double value)
{
	double at = (value - scale->first) / (scale->last - scale->first);

	return (size_t)(at * (double)(scale->cells - 1) + 0.5);
}

static void draw_limits(const struct scale *scale, char *ret)
{
	size_t threshold = cell_of(scale, scale->threshold), clear = cell_of(scale, scale->clear);

	for (size_t i = 0; i < scale->cells; i++) {
		bool fires = scale->below ? i <= threshold : i >= threshold;
		bool clears = scale->below ? i >= clear : i <= clear;

		ret[i] = '-';
		if (clears)
			ret[i] = '.';
		if (fires)
			ret[i] = '!';
	}
	ret[scale->cells] = '\0';
}

/*
 * A bound that does not reach a limit but is in the same cell is drawn in the next cell. Otherwise a breach or a
 * recovery that is not proven would look proven.
 */
static size_t cell_beside(const struct scale *scale, double value, bool is_low)
{
	size_t cell = cell_of(scale, value);
	double limit = is_low == scale->below ? scale->clear : scale->threshold;

	if (cell != cell_of(scale, limit))
		return cell;
	if (is_low && value < limit && cell > 0)
		return cell - 1;
	if (!is_low && value > limit && cell + 1 < scale->cells)
		return cell + 1;
	return cell;
}

/* Draws "[==o===]"; an end without a bound is open. */
static void draw_measured(const struct scale *scale, char *ret)
{
	size_t low = scale->has_low ? cell_beside(scale, scale->low, true) : 0;
	size_t high = scale->has_high ? cell_beside(scale, scale->high, false) : scale->cells - 1;

	memset(ret, ' ', scale->cells);
	for (size_t i = low; i <= high && i < scale->cells; i++)
		ret[i] = '=';
	ret[low] = scale->has_low ? '[' : '<';
	ret[high] = scale->has_high ? ']' : '>';
	ret[cell_of(scale, scale->value)] = 'o';
	ret[scale->cells] = '\0';
	for (size_t i = scale->cells; i > 0 && ret[i - 1] == ' '; i--)
		ret[i - 1] = '\0';
}

static void put_scale(FILE *out, const struct format_style *style, const json_object *alert)
{
	size_t left = LINE_LABEL + 2;
	size_t width = style->width == 0 ? SCALE_MAX : style->width > left ? style->width - left : 0;
	const char *unit = json_get_text(alert, "unit");
	char threshold[VERDICT_TEXT_MAX], clear[VERDICT_TEXT_MAX];
	char line[SCALE_MAX + 1];
	struct scale scale;

	if (!read_scale(alert, width, &scale))
		return;
	/* line_put() would treat the blanks of a scale as spaces between words. */
	draw_limits(&scale, line);
	(void)fprintf(out, "%*s: %s\n", LINE_LABEL, "Limits", line);
	draw_measured(&scale, line);
	(void)fprintf(out, "%*s: %s\n", LINE_LABEL, "Measured", line);
	verdict_quantity(scale.threshold, unit, VERDICT_FULL, threshold);
	verdict_quantity(scale.clear, unit, VERDICT_FULL, clear);
	line_put(
		out, style, "",
		"! is %s %s, . is %s %s; fires when all of [=o=] is in the ! zone, clears when all is in the . zone",
		scale.below ? "below" : "above", threshold, clear, scale.below ? "or more" : "or less");
}

static void put_state(FILE *out, const struct format_style *style, const json_object *alert, time_t now)
{
	_cleanup_free_ char *state = verdict_state(alert);
	char since[LINE_TIME_MAX], number[TEXT_NUMBER_MAX + 16] = "";
	bool dry_run = false;
	enum line_mood mood = verdict_mood(alert);
	u64 alert_number;

	if (json_get_u64(alert, "alert", &alert_number))
		(void)snprintf(number, sizeof(number), "; alert %llu", (unsigned long long)alert_number);
	(void)json_get_bool(alert, "dry_run", &dry_run);
	if (json_get_text(alert, "since"))
		line_put(out, style, "State", "%s%s%s since %s%s%s", line_colour(style, mood),
			 state ? state : "?", line_colour_end(style, mood),
			 line_since(style, json_get_text(alert, "since"), now, since), number,
			 dry_run ? "; dry run: changes are only logged" : "");
	else
		line_put(out, style, "State", "%s%s%s%s%s", line_colour(style, mood), state ? state : "?",
			 line_colour_end(style, mood), number,
			 dry_run ? "; dry run: changes are only logged" : "");
}

static void put_why(FILE *out, const struct format_style *style, const json_object *alert)
{
	_cleanup_free_ char *reason = NULL, *end = NULL;
	char held[TEXT_NUMBER_MAX], lasting[TEXT_NUMBER_MAX];
	double held_s, for_s;

	if (verdict_is_unknown(alert) && !verdict_is_lost(alert))
		line_put(out, style, "Unknown", "%s; meanwhile the alert neither fires nor resolves",
			 verdict_reason(json_get_text(alert, "unknown"), &reason));
	if (strcmp(verdict_state_held(alert), "pending") == 0 && verdict_member(alert, "held_s", &held_s) &&
	    verdict_member(alert, "for_s", &for_s)) {
		text_span(held_s, held);
		text_span(for_s, lasting);
		line_put(out, style, "Pending", "breach proven for %s of the required %s", held, lasting);
	}
	if (json_get_text(alert, "end"))
		line_put(out, style, "Ended", "%s", verdict_end(json_get_text(alert, "end"), &end));
}

/* Prints when the breach was proven, when the alert fired and when it resolved, as far as that happened. */
static void put_history(FILE *out, const struct format_style *style, const json_object *alert)
{
	static const struct {
		const char *key, *label;
	} times[] = {{"breached", "Breached"}, {"fired", "Fired"}, {"resolved", "Resolved"}};
	char time[LINE_TIME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if (json_get_text(alert, times[i].key))
			line_put(out, style, times[i].label, "%s",
				 line_time(style, json_get_text(alert, times[i].key), time));
}

/* Returns true if the alert has sentences, which also say how sure each bound is. */
static bool has_sentences(const json_object *alert)
{
	const json_object *sentences = json_get_array(alert, "sentences");

	return sentences && json_object_array_length(sentences) > 0;
}

static void put_value(FILE *out, const struct format_style *style, const json_object *rule,
		      const json_object *alert)
{
	const char *unit = json_get_text(alert, "unit");
	char value_text[VERDICT_TEXT_MAX], bounds[VERDICT_TEXT_MAX], text[VERDICT_TEXT_MAX];
	char time[VERDICT_TEXT_MAX];
	char confidence[64] = "";
	_cleanup_free_ char *metric = NULL;
	double value, sure;

	if (!verdict_member(alert, "value", &value)) {
		line_put(out, style, "Value", "not known");
		return;
	}
	verdict_quantity(value, unit, VERDICT_FULL, value_text);
	verdict_time_at(alert, value, time);
	verdict_bounds(alert, VERDICT_FULL, bounds);
	if (!has_sentences(alert) && strcmp(bounds, "-") != 0 && verdict_member(rule, "confidence", &sure)) {
		verdict_number(sure, "share", VERDICT_FULL, text);
		(void)snprintf(confidence, sizeof(confidence), ", each at %.32s confidence", text);
	}
	line_put(out, style, "Value", "%s is %s%s; bounds: %s%s",
		 line_visible(json_get_text(alert, "metric"), &metric), value_text, time,
		 strcmp(bounds, "-") == 0 ? "not known" : bounds, confidence);
}

static void put_samples(FILE *out, const struct format_style *style, const json_object *alert)
{
	char number[TEXT_NUMBER_MAX], window[TEXT_NUMBER_MAX + 16] = "";
	char least[TEXT_NUMBER_MAX + 32] = "", base[TEXT_NUMBER_MAX + 32] = "";
	char independent[TEXT_NUMBER_MAX + 32] = "";
	double seconds;
	u64 count, worth;

	if (!json_get_u64(alert, "samples", &count))
		return;
	if (verdict_member(alert, "window_s", &seconds)) {
		char span[TEXT_NUMBER_MAX];

		text_span(seconds, span);
		(void)snprintf(window, sizeof(window), " in %s", span);
	}
	text_count(count, number);
	if (json_get_u64(alert, "worth", &worth) && worth < count) {
		char text[TEXT_NUMBER_MAX];

		text_count(worth, text);
		(void)snprintf(independent, sizeof(independent), ", worth %s independent one%s", text,
			       worth == 1 ? "" : "s");
	}
	if (json_get_u64(alert, "base_samples", &count)) {
		char text[TEXT_NUMBER_MAX];

		text_count(count, text);
		(void)snprintf(base, sizeof(base), "; the baseline has %s", text);
	}
	if (json_get_u64(alert, "min_samples", &count) && count > 0) {
		char text[TEXT_NUMBER_MAX];

		text_count(count, text);
		(void)snprintf(least, sizeof(least),
			       *base ? "; at least %s are needed in each" : "; at least %s are needed", text);
	}
	line_put(out, style, "Samples", "%s%s%s%s%s", number, window, independent, base, least);
}

/* Prints the sentences about the verdict. Returns true if there were any. */
static bool put_sentences(FILE *out, const struct format_style *style, json_object *sentences)
{
	size_t printed = 0;

	for (size_t i = 0; sentences && i < json_object_array_length(sentences); i++) {
		json_object *sentence = json_object_array_get_idx(sentences, i);
		_cleanup_free_ char *kept = NULL;

		if (json_object_is_type(sentence, json_type_string))
			line_put(out, style, printed++ ? "" : "Verdict", "%s",
				 line_sentence(style, json_object_get_string(sentence), &kept));
	}
	return printed > 0;
}

static void put_judged(FILE *out, const struct format_style *style, const json_object *rule,
		       json_object *alert, size_t n, time_t now)
{
	_cleanup_free_ char *preference = verdict_preference(alert);
	_cleanup_free_ char *event = NULL, *reason = NULL;

	(void)fputc('\n', out);
	/* A metric with two events implies them. */
	if (!json_get(rule, "second_event") || n > 1)
		line_put(out, style, "Event", "%s", line_visible(json_get_text(alert, "event"), &event));
	put_state(out, style, alert, now);
	/* The sentences were written before the gap or the restart, so they do not say this. */
	if (verdict_is_lost(alert))
		line_put(out, style, "Unknown", "%s",
			 verdict_reason(json_get_text(alert, "unknown"), &reason));
	put_value(out, style, rule, alert);
	put_scale(out, style, alert);
	/* The sentences say everything that the lines below would say, in better words. */
	if (put_sentences(out, style, json_get_array(alert, "sentences")))
		return;
	put_why(out, style, alert);
	put_samples(out, style, alert);
	if (preference)
		line_put(out, style, "Attributes", "%s", preference);
	put_history(out, style, alert);
}

bool format_explain_waits(json_object *explained)
{
	const char *metric = json_get_text(json_get_object(explained, "rule"), "metric");

	return metric && (strcmp(metric, "wait") == 0 || strcmp(metric, "cores-lost") == 0);
}

/* In one line, so that the explanation of cores lost fits on a terminal of 24 lines. */
static void put_cgroup(FILE *out, const struct format_style *style, const json_object *judged)
{
	const char *name = json_get_text(judged, "name"), *path = json_get_text(judged, "cgroup");
	_cleanup_free_ char *shown = NULL, *whole = NULL;

	if (name && path && strcmp(name, path) != 0)
		line_put(out, style, "Cgroup", "%s (%s)", line_visible(name, &shown),
			 line_visible(path, &whole));
	else
		line_put(out, style, "Cgroup", "%s", line_visible(path, &whole));
}

/* A reply about the past has alerts, but not the rule, which may have been another one. */
static void put_past(FILE *out, const struct format_style *style, json_object *explained, json_object *judged)
{
	size_t n = judged ? json_object_array_length(judged) : 0;
	const char *until = json_get_text(explained, "taken");
	_cleanup_free_ char *name = NULL, *origin = NULL;
	char time[LINE_TIME_MAX], older[TEXT_NUMBER_MAX];
	time_t taken = 0;
	u64 unlisted = 0;

	if (until)
		(void)text_parse_time(until, &taken);
	if (n) {
		line_put(out, style, "Rule", "%s",
			 line_visible(json_get_text(json_object_array_get_idx(judged, 0), "rule"), &name));
		put_cgroup(out, style, json_object_array_get_idx(judged, 0));
	}
	line_put(out, style, "Origin", "%s", format_origin_name(explained, &origin));
	line_put(out, style, "Time", "%s; the figures of an alert are from the start of its state",
		 until ? line_time(style, until, time) : "?");
	format_gaps(out, style, explained);
	if (n == 0)
		line_put(out, style, "State", "%s",
			 format_ends_in_gap(explained)
				 ? "not known: nothing is stored for this time"
				 : "the rule had no pending or firing alert on this cgroup then");
	for (size_t i = 0; i < n; i++)
		put_judged(out, style, NULL, json_object_array_get_idx(judged, i), n, taken);
	if (json_get_u64(explained, "unlisted", &unlisted) && unlisted) {
		text_count(unlisted, older);
		line_put(out, style, "Older", "%s more alert%s, not listed", older, unlisted == 1 ? "" : "s");
	}
}

void format_explain_asked(FILE *out, json_object *explained, const char *rule, const char *cgroup,
			  const struct format_style *style)
{
	json_object *judged = json_get_array(explained, "judged");
	_cleanup_free_ char *name = NULL, *path = NULL;

	if (json_get_object(explained, "rule") || (judged && json_object_array_length(judged) > 0))
		return;
	line_put(out, style, "Rule", "%s", line_visible(rule, &name));
	line_put(out, style, "Cgroup", "%s", line_visible(cgroup, &path));
}

void format_explain(FILE *out, json_object *explained, json_object *status, json_object *figures, time_t now,
		    const struct format_style *style)
{
	json_object *rule = json_get_object(explained, "rule");
	json_object *judged = json_get_array(explained, "judged");
	size_t n = judged ? json_object_array_length(judged) : 0;
	_cleanup_free_ char *name = NULL, *origin = NULL;

	if (!rule) {
		put_past(out, style, explained, judged);
		return;
	}

	line_put(out, style, "Rule", "%s", line_visible(json_get_text(rule, "rule"), &name));
	if (n)
		put_cgroup(out, style, json_object_array_get_idx(judged, 0));
	line_put(out, style, "Origin", "%s", format_origin_name(explained, &origin));
	if (n && json_get_array(json_object_array_get_idx(judged, 0), "sentences"))
		rule_text_put_rest(out, style, rule);
	else
		rule_text_put(out, style, rule);
	if (n == 0)
		line_put(
			out, style, "State",
			"nothing to judge: the rule matches, but the cgroup has no recent sample of the rule's event, or `include` and `exclude` in [cgroups] leave it out");
	for (size_t i = 0; i < n; i++)
		put_judged(out, style, rule, json_object_array_get_idx(judged, i), n, now);
	if (n && figures)
		format_waits_split(out, style, status, figures);
}
