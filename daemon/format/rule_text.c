// SPDX-License-Identifier: GPL-2.0
#include "format/rule_text.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/figure.h"
#include "format/verdict.h"

/* Returns "p99 of loads"; the caller frees it. NULL: no memory. */
static char *metric_of(const json_object *rule)
{
	_cleanup_free_ char *metric = NULL;
	_cleanup_free_ char *event = NULL;
	char *text;
	int r;

	/* A metric with two events implies them. */
	if (json_get_text(rule, "second_event"))
		r = asprintf(&text, "%s", line_visible(json_get_text(rule, "metric"), &metric));
	else
		r = asprintf(&text, "%s of %s", line_visible(json_get_text(rule, "metric"), &metric),
			     line_visible(json_get_text(rule, "event"), &event));
	return r < 0 ? NULL : text;
}

char *rule_text_cgroups(const json_object *rule)
{
	return line_list(json_get_array(rule, "cgroup"), " ");
}

json_object *rule_text_find(json_object *rules, const char *name)
{
	json_object *list = json_get_array(rules, "rules");

	for (size_t i = 0; name && list && i < json_object_array_length(list); i++) {
		json_object *rule = json_object_array_get_idx(list, i);
		const char *other = json_get_text(rule, "rule");

		if (other && strcmp(other, name) == 0)
			return rule;
	}
	return NULL;
}

u64 rule_text_unknown(json_object *cgroups)
{
	json_object *unknown = json_get_object(cgroups, "unknown");
	u64 sum = 0;

	if (!unknown)
		return 0;
	json_object_object_foreach (unknown, reason, count) {
		(void)count;
		u64 n;

		if (json_get_u64(unknown, reason, &n))
			sum += n;
	}
	return sum;
}

static bool is_set(const json_object *rule, const char *key)
{
	bool value;

	return json_get_bool(rule, key, &value) && value;
}

/*
 * Writes " (configured: 900)" if the rule is judged at the edge of a bucket near the configured value. If the value is
 * configured as a time, writes " (configured: 100 ns, 260 cycles at 2.6 GHz)".
 */
static void configured(const json_object *rule, const char *key, double judged, char ret[VERDICT_TEXT_MAX])
{
	char number[VERDICT_TEXT_MAX], time[TEXT_NUMBER_MAX], frequency[TEXT_NUMBER_MAX];
	double value, hz;

	ret[0] = '\0';
	if (!verdict_member(rule, key, &value))
		return;
	if (figure_nominal_hz(rule, &hz)) {
		text_nanoseconds(value / hz, time);
		text_frequency(hz, frequency);
		verdict_number(value, json_get_text(rule, "unit"), VERDICT_FULL, number);
		(void)snprintf(ret, VERDICT_TEXT_MAX, " (configured: %s, %.30s cycles at %s)", time, number,
			       frequency);
		return;
	}
	if (value <= judged && value >= judged)
		return;
	verdict_number(value, json_get_text(rule, "unit"), VERDICT_FULL, number);
	(void)snprintf(ret, VERDICT_TEXT_MAX, " (configured: %.60s)", number);
}

static void put_span(const json_object *rule, const char *key, char ret[TEXT_NUMBER_MAX])
{
	double seconds;

	if (verdict_member(rule, key, &seconds))
		text_span(seconds, ret);
	else
		(void)snprintf(ret, TEXT_NUMBER_MAX, "-");
}

static void put_fires(FILE *out, const struct format_style *style, const json_object *rule)
{
	_cleanup_free_ char *metric = metric_of(rule);
	char limit[VERDICT_TEXT_MAX], other[VERDICT_TEXT_MAX] = "";
	char window[TEXT_NUMBER_MAX], lasting[TEXT_NUMBER_MAX], baseline[TEXT_NUMBER_MAX + 48] = "";
	double judged, seconds;
	const char *key;
	bool at_once;

	verdict_limit(rule, VERDICT_FULL, limit);
	key = json_get(rule, "below") ? "below" : "above";
	if (verdict_member(rule, "judged_at", &judged) || verdict_member(rule, key, &judged))
		configured(rule, key, judged, other);
	put_span(rule, "window_s", window);
	put_span(rule, "for_s", lasting);
	at_once = verdict_member(rule, "for_s", &seconds) && !(seconds > 0);
	if (verdict_member(rule, "baseline_s", &seconds)) {
		char half_life[TEXT_NUMBER_MAX];

		text_span(seconds, half_life);
		(void)snprintf(baseline, sizeof(baseline), " its baseline (half-life %s)", half_life);
	}
	line_put(out, style, "Fires", "%s %s%s%s, over the last %s, %s%s", metric ? metric : "?", limit,
		 other, baseline, window, at_once ? "at once" : "for ", at_once ? "" : lasting);
}

static void put_clears(FILE *out, const struct format_style *style, const json_object *rule)
{
	const char *unit = json_get_text(rule, "unit");
	char quantity[VERDICT_TEXT_MAX], other[VERDICT_TEXT_MAX] = "";
	double value;

	if (!verdict_member(rule, "clear_judged_at", &value) && !verdict_member(rule, "clear", &value))
		return;
	configured(rule, "clear", value, other);
	verdict_quantity(value, unit, VERDICT_FULL, quantity);
	line_put(out, style, "Clears", "%s or %s%s", quantity, json_get(rule, "below") ? "more" : "less",
		 other);
}

static void put_needs(FILE *out, const struct format_style *style, const json_object *rule)
{
	char number[TEXT_NUMBER_MAX], least[TEXT_NUMBER_MAX + 32] = "", few[TEXT_NUMBER_MAX + 32] = "";
	char confidence[VERDICT_TEXT_MAX] = "-";
	double value;
	u64 count;

	if (json_get_u64(rule, "min_samples", &count)) {
		text_count(count, number);
		(void)snprintf(least, sizeof(least), "%s sample%s in the window",
			       count ? number : "any number of", count == 1 ? "" : "s");
	}
	if (json_get_u64(rule, "needs_samples", &count) && count > 1) {
		text_count(count, number);
		(void)snprintf(few, sizeof(few), " (fewer than %s can never decide)", number);
	}
	if (verdict_member(rule, "confidence", &value))
		verdict_number(value, "share", VERDICT_FULL, confidence);
	line_put(out, style, "Needs", "%s%s, %s confidence", *least ? least : "-", few, confidence);
}

static void put_does(FILE *out, const struct format_style *style, const json_object *rule)
{
	_cleanup_free_ char *actions = line_list(json_get_array(rule, "action"), ", ");
	_cleanup_free_ char *severity = NULL;

	line_put(out, style, "Does", "%s%s; severity %s", actions ? actions : "?",
		 is_set(rule, "dry_run") ? " (dry run: only logged, as \"would fire\")" : "",
		 line_visible(json_get_text(rule, "severity"), &severity));
}

static void put_on(FILE *out, const struct format_style *style, const json_object *rule)
{
	_cleanup_free_ char *cgroups = rule_text_cgroups(rule);

	line_put(out, style, "On", "%s%s%s", cgroups ? cgroups : "?",
		 is_set(rule, "subtree") ? ", each with its whole subtree" : "",
		 is_set(rule, "trust_owner")
			 ? "; user.pebsd.* attributes of a cgroup's directory apply, no matter who owns it"
			 : "");
}

void rule_text_put(FILE *out, const struct format_style *style, json_object *rule)
{
	put_fires(out, style, rule);
	put_clears(out, style, rule);
	put_on(out, style, rule);
	put_needs(out, style, rule);
	put_does(out, style, rule);
}

void rule_text_put_rest(FILE *out, const struct format_style *style, json_object *rule)
{
	put_on(out, style, rule);
	put_does(out, style, rule);
}
