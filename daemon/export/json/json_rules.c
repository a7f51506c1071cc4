// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "base/number.h"
#include "base/text.h"
#include "export/json/json.h"
#include "export/json/json_past.h"
#include "export/json/json_writer.h"
#include "policy/explain.h"
#include "policy/nanoseconds.h"

#define USEC_PER_SEC 1000000ULL

/* Shorter gaps are those of panes that are not complete yet, or that lie across an end of the range. */
#define GAP_MIN_US (3 * HISTORY_PANE_US)

/* Adds a configured value, as the shortest text that is read back exactly. */
static void put_exact(struct json_writer *writer, json_object *object, const char *key, double value)
{
	char text[40];

	for (int digits = 6; digits <= 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	json_put(writer, object, key, json_object_new_double_s(value, text));
}

static void put_nanoseconds(struct json_writer *writer, json_object *object, const char *key, u64 ns)
{
	put_exact(writer, object, key, (double)ns / (double)NSEC_PER_SEC);
}

static void put_bool(struct json_writer *writer, json_object *object, const char *key, bool value)
{
	json_put(writer, object, key, json_object_new_boolean(value));
}

void json_put_metric(struct json_writer *writer, json_object *object, const char *key,
		     const struct metric *metric, double value)
{
	bool latency = metric->kind == METRIC_QUANTILE || metric->kind == METRIC_MEAN;

	if (!isfinite(value))
		return;
	if (latency && !metric->ratio)
		json_put_cycles(writer, object, key, value);
	else
		json_put_number(writer, object, key, value, 6);
}

static void put_patterns(struct json_writer *writer, json_object *object, const struct rule *rule)
{
	json_object *patterns = json_checked(writer, json_object_new_array());

	for (size_t i = 0; i < rule->n_patterns; i++)
		json_append(writer, patterns, json_name(rule->patterns[i]));
	json_put(writer, object, "cgroup", patterns);
}

/* Appends an action as the configuration writes it: "zoom:30s". */
static void append_for(struct json_writer *writer, json_object *actions, const char *word, u64 ns)
{
	char duration[NUMBER_TEXT_MAX], text[NUMBER_TEXT_MAX + 16];

	/* "1m 30s" is not valid in an action: write seconds instead. */
	if (strchr(duration_format(ns, duration), ' '))
		(void)snprintf(duration, sizeof(duration), "%llus", (unsigned long long)(ns / NSEC_PER_SEC));
	(void)snprintf(text, sizeof(text), "%s:%s", word, duration);
	json_append(writer, actions, json_object_new_string(text));
}

static void put_actions(struct json_writer *writer, json_object *object, const struct rule *rule)
{
	json_object *actions = json_checked(writer, json_object_new_array());

	if (rule->actions & RULE_LOG)
		json_append(writer, actions, json_object_new_string("log"));
	if (rule->actions & RULE_UNIT)
		json_append(writer, actions, json_object_new_string("unit"));
	if (rule->actions & RULE_ZOOM)
		append_for(writer, actions, "zoom", rule->zoom_ns);
	if (rule->actions & RULE_HOT)
		append_for(writer, actions, "hot", rule->hot_ns);
	json_put(writer, object, "action", actions);
}

/* The key of a threshold says on which side of it the rule fires. */
static const char *threshold_key(const struct rule *rule)
{
	return rule->below ? "below" : "above";
}

static void put_limits(struct json_writer *writer, json_object *object, const struct rule *rule)
{
	bool snapped = rule->metric.kind == METRIC_QUANTILE && !rule->metric.ratio;
	struct limits limits = rule_limits(rule, rule->threshold);

	put_exact(writer, object, threshold_key(rule), rule->threshold);
	if (snapped)
		put_exact(writer, object, "judged_at", limits.threshold);
	put_exact(writer, object, "clear", rule->clear);
	if (snapped)
		put_exact(writer, object, "clear_judged_at", limits.clear);
	if (rule->nanoseconds)
		json_put_u64(writer, object, "nominal_frequency", (u64)rule->nominal_hz);
}

static json_object *rule_object(struct json_writer *writer, const struct rule *rule)
{
	json_object *object = json_checked(writer, json_object_new_object());
	enum event_role roles[METRIC_EVENTS_MAX];
	char metric[METRIC_TEXT_MAX];

	metric_format(&rule->metric, metric);
	json_put_text(writer, object, "rule", rule->name);
	put_patterns(writer, object, rule);
	json_put_text(writer, object, "event", event_role_name(rule->event));
	if (metric_events(&rule->metric, roles) > 1)
		json_put_text(writer, object, "second_event", event_role_name(roles[1]));
	json_put_text(writer, object, "metric", metric);
	json_put_text(writer, object, "unit", metric_unit_word(&rule->metric));
	put_limits(writer, object, rule);
	put_nanoseconds(writer, object, "window_s", rule->window_ns);
	put_nanoseconds(writer, object, "for_s", rule->for_ns);
	if (rule->metric.ratio)
		put_nanoseconds(writer, object, "baseline_s", rule->baseline_ns);
	json_put_u64(writer, object, "min_samples", rule->min_samples);
	json_put_u64(writer, object, "needs_samples", rule_needs_samples(rule));
	put_exact(writer, object, "confidence", rule->confidence);
	json_put_text(writer, object, "severity", rule->severity);
	put_bool(writer, object, "subtree", rule->subtree);
	put_bool(writer, object, "dry_run", rule->dry_run);
	put_bool(writer, object, "trust_owner", rule->trust_owner);
	put_actions(writer, object, rule);
	return object;
}

static void put_not_sampled(struct json_writer *writer, json_object *object, unsigned roles)
{
	json_object *names;

	if (!roles)
		return;
	names = json_checked(writer, json_object_new_array());
	for (enum event_role role = 0; role < EVENT_ROLES; role++)
		if (roles & 1U << role)
			json_append(writer, names, json_object_new_string(event_role_name(role)));
	json_put(writer, object, "not_sampled", names);
}

/* Leaves out states without cgroups, except pending and firing, which readers look for first. */
static json_object *counts_object(struct json_writer *writer, const struct policy_counts *counts)
{
	json_object *object = json_checked(writer, json_object_new_object());
	json_object *unknown = json_checked(writer, json_object_new_object());

	for (enum alert_state state = ALERT_INACTIVE; state <= ALERT_RESOLVED; state++)
		if (counts->states[state] || state == ALERT_PENDING || state == ALERT_FIRING)
			json_put_u64(writer, object, alert_state_word(state), counts->states[state]);
	if (counts->ignored)
		json_put_u64(writer, object, "ignored", counts->ignored);
	if (counts->partial)
		json_put_u64(writer, object, "partial", counts->partial);
	for (enum unknown_reason reason = UNKNOWN_NOT + 1; reason <= UNKNOWN_NOT_MEASURED; reason++)
		if (counts->unknown[reason])
			json_put_u64(writer, unknown, unknown_reason_word(reason), counts->unknown[reason]);
	if (unknown && json_object_object_length(unknown) > 0)
		json_put(writer, object, "unknown", unknown);
	else
		json_object_put(unknown);
	return object;
}

json_object *json_rules(const char *origin, const struct rule *rules, const struct policy_counts *counts,
			size_t n, struct json_page *page)
{
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, origin);
	json_object *list = json_checked(&writer, json_object_new_array());

	for (size_t i = json_page_first(page, n); i < n; i++) {
		json_object *rule = rule_object(&writer, &rules[i]);

		put_not_sampled(&writer, rule, counts[i].not_sampled);
		json_put(&writer, rule, "cgroups", counts_object(&writer, &counts[i]));
		if (!json_append_to_page(&writer, list, rule, page, i))
			break;
	}
	json_put(&writer, object, "rules", list);
	json_put_page(&writer, object, page);
	return json_finish(&writer, object);
}

/* An alert that ended other than by clearing is no longer judged. */
static bool is_judged(const struct alert *alert)
{
	return alert->decision.state != ALERT_RESOLVED || alert->end == ALERT_END_CLEAR;
}

static bool is_unknown(const struct alert *alert)
{
	return alert->decision.unknown != UNKNOWN_NOT && is_judged(alert);
}

/*
 * Adds "state". A state that is unknown now also has "held", the last known state, which stays in force, and
 * "unknown", the reason.
 */
static void put_alert_state(struct json_writer *writer, json_object *object, const struct alert *alert)
{
	const char *word = alert_state_word(alert->decision.state);

	if (!is_unknown(alert)) {
		json_put_text(writer, object, "state", word);
		return;
	}
	json_put_text(writer, object, "state", "unknown");
	json_put_text(writer, object, "held", word);
	json_put_text(writer, object, "unknown", unknown_reason_word(alert->decision.unknown));
}

/*
 * Returns true if the alert resolved before a restart, or resolved after the restart without being judged
 * again. Then its value and bounds are known, but not the number of samples and the window.
 */
static bool is_from_before_restart(const struct alert *alert)
{
	const struct estimate *estimate = &alert->estimate;

	if (alert->decision.state != ALERT_RESOLVED)
		return false;
	return (!alert->covered_ns && !estimate->samples) ||
	       (estimate->known && !estimate_has_samples(estimate, &alert->rule->metric));
}

/* Adds the members that only a metric with a second event has. */
static void put_second(struct json_writer *writer, json_object *object, const struct alert *alert)
{
	const struct estimate *estimate = &alert->estimate;
	const struct metric *metric = &alert->rule->metric;

	if (!metric_has_second(metric))
		return;
	json_put_u64(writer, object, "second_samples", estimate->second_samples);
	if (metric_needs_frequency(metric) && estimate->cores_used > 0)
		json_put_number(writer, object, "cores_used", (double)estimate->cores_used, 6);
	if (metric_needs_frequency(metric) && estimate->frequency_hz > 0)
		json_put_number(writer, object, "frequency", (double)estimate->frequency_hz, 0);
}

static void put_estimate(struct json_writer *writer, json_object *object, const struct alert *alert)
{
	const struct estimate *estimate = &alert->estimate;
	const struct metric *metric = &alert->rule->metric;
	char text[METRIC_TEXT_MAX];

	metric_format(metric, text);
	json_put_text(writer, object, "metric", text);
	json_put_text(writer, object, "unit", metric_unit_word(metric));
	if (estimate->known) {
		json_put_metric(writer, object, "value", metric, estimate->value);
		json_put_metric(writer, object, "low", metric, estimate->bounds.low);
		/*
		 * The upper bound of a mean is computed from latencies cut at a cap. Leave it out if it is
		 * below the value.
		 */
		if (!(estimate->bounds.high < estimate->value))
			json_put_metric(writer, object, "high", metric, estimate->bounds.high);
	}
	if (alert->decision.state != ALERT_INACTIVE)
		json_put_metric(writer, object, "worst", metric, (double)alert->worst);
	if (!is_from_before_restart(alert)) {
		json_put_u64(writer, object, "samples", estimate->samples);
		put_second(writer, object, alert);
		if (estimate->known && estimate->worth)
			json_put_u64(writer, object, "worth", estimate->worth);
		if (metric->ratio)
			json_put_u64(writer, object, "base_samples", estimate->base_samples);
		put_nanoseconds(writer, object, "window_s", alert->covered_ns);
	}
	if (alert->subtree_without_slot && is_judged(alert))
		json_put_u64(writer, object, "subtree_without_slot", alert->subtree_without_slot);
	put_exact(writer, object, threshold_key(alert->rule), alert->limits.threshold);
	put_exact(writer, object, "clear", alert->limits.clear);
}

static void put_times(struct json_writer *writer, json_object *object, const struct alert *alert)
{
	if (alert->decision.state == ALERT_PENDING)
		put_nanoseconds(writer, object, "held_s", alert->decision.held_ns);
	json_put_time(writer, object, "since", &alert->since);
	json_put_time(writer, object, "breached", &alert->breached);
	json_put_time(writer, object, "fired", &alert->fired);
	json_put_time(writer, object, "resolved", &alert->resolved);
	if (alert->decision.state == ALERT_RESOLVED)
		json_put_text(writer, object, "end", alert_end_word(alert->end));
}

static void put_preference(struct json_writer *writer, json_object *object, const struct alert *alert)
{
	const struct preference_effect *effect = &alert->preference;
	json_object *preference;

	if (!effect->ignored && !effect->has_threshold && !effect->untrusted && !effect->malformed)
		return;
	preference = json_checked(writer, json_object_new_object());
	if (effect->ignored)
		put_bool(writer, preference, "ignored", true);
	if (effect->has_threshold)
		put_exact(writer, preference, "threshold", effect->threshold);
	if (effect->untrusted)
		put_bool(writer, preference, "untrusted", true);
	if (effect->malformed)
		put_bool(writer, preference, "malformed", true);
	json_put(writer, object, "preference", preference);
}

/*
 * Every configured rule has a window. A rule without a window was changed or removed while the daemon was
 * stopped, and only its name is known.
 */
static bool rule_is_known(const struct alert *alert)
{
	return alert->rule->window_ns > 0;
}

/* Adds the members of an alert. `event`: the key for its event. `name` makes a JSON string of any bytes. */
static void fill_alert(struct json_writer *writer, json_object *object, const struct alert *alert,
		       const char *event, json_object *(*name)(const char *))
{
	if (alert->number)
		json_put_u64(writer, object, "alert", alert->number);
	json_put_text(writer, object, "rule", alert->rule->name);
	json_put(writer, object, "cgroup", name(alert->cgroup));
	json_put(writer, object, event, name(alert->event_key));
	if (*alert->rule->severity)
		json_put(writer, object, "severity", name(alert->rule->severity));
	put_alert_state(writer, object, alert);
	put_bool(writer, object, "dry_run", alert->rule->dry_run);
	if (rule_is_known(alert)) {
		put_estimate(writer, object, alert);
		put_nanoseconds(writer, object, "for_s", alert->rule->for_ns);
		if (nanoseconds_of_metric(&alert->rule->metric) && nanoseconds_hz(alert) > 0)
			json_put_u64(writer, object, "nominal_frequency", (u64)nanoseconds_hz(alert));
	}
	put_times(writer, object, alert);
	put_preference(writer, object, alert);
}

static json_object *alert_object(struct json_writer *writer, const struct alert *alert)
{
	json_object *object = json_checked(writer, json_object_new_object());

	fill_alert(writer, object, alert, "event", json_name);
	return object;
}

json_object *json_alerts(const char *origin, const struct alert *alerts, size_t n, struct json_page *page)
{
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, origin);
	json_object *list = json_checked(&writer, json_object_new_array());

	for (size_t i = json_page_first(page, n); i < n; i++)
		if (!json_append_to_page(&writer, list, alert_object(&writer, &alerts[i]), page, i))
			break;
	json_put(&writer, object, "alerts", list);
	json_put_page(&writer, object, page);
	return json_finish(&writer, object);
}

static const char *const ranks[] = {"firing", "pending", "resolved"};

/* The order of GetAlerts. If an alert is unknown, the state that it holds counts. */
static size_t rank_of(const json_object *alert)
{
	const char *held = json_get_text(alert, "held");
	const char *state = held ? held : json_get_text(alert, "state");
	size_t rank = 0;

	while (rank < ARRAY_SIZE(ranks) && !(state && strcmp(state, ranks[rank]) == 0))
		rank++;
	return rank;
}

static time_t since_of(const json_object *alert)
{
	const char *text = json_get_text(alert, "since");
	time_t since = 0;

	if (text)
		(void)text_parse_time(text, &since);
	return since;
}

/* For json_object_array_sort(). Equal times: by names and events, so that the pages are parts of one order. */
static int compare_alerts(const void *a, const void *b)
{
	static const char *const names[] = {"rule", "cgroup", "event"};
	const json_object *left = *(json_object *const *)a, *right = *(json_object *const *)b;
	const size_t ranked[] = {rank_of(left), rank_of(right)};
	const time_t since[] = {since_of(left), since_of(right)};
	int order = (ranked[0] > ranked[1]) - (ranked[0] < ranked[1]);

	if (!order)
		order = (since[0] > since[1]) - (since[0] < since[1]);
	for (size_t i = 0; !order && i < ARRAY_SIZE(names); i++) {
		const char *one = json_get_text(left, names[i]), *other = json_get_text(right, names[i]);

		order = strcmp(one ? one : "", other ? other : "");
	}
	return order;
}

/* Members that belong to the state that was stored last. */
static const char *const later_members[] = {
	"held",
	"unknown",
	"value",
	"worst",
	"low",
	"high",
	"samples",
	"second_samples",
	"worth",
	"firing",
	"end",
	"base_samples",
	"window_s",
	"held_s",
	"resolved",
	"frequency",
	"sentences",
	"cores_used",
	"subtree_without_slot",
};

static bool is_after(const json_object *alert, const char *key, time_t until)
{
	const char *text = json_get_text(alert, key);
	time_t at;

	return text && text_parse_time(text, &at) == 0 && at > until;
}

/* Changes the alert to an earlier state, which began at the time that `since` has. */
static json_object *change_back(json_object *alert, const char *state, const char *since)
{
	json_object *began = json_get(alert, since);
	struct json_writer writer = {0};

	for (size_t i = 0; i < ARRAY_SIZE(later_members); i++)
		json_object_object_del(alert, later_members[i]);
	json_put_text(&writer, alert, "state", state);
	if (began)
		json_put(&writer, alert, "since", json_object_get(began));
	return writer.failed ? NULL : json_object_get(alert);
}

/* Returns true if the alert ended before `until`, at the stored time, but did not resolve: it was not continued. */
static bool was_not_continued(const json_object *alert, time_t until)
{
	u64 to_us;

	return json_get_u64(alert, "to_us", &to_us) && !json_get(alert, "resolved") &&
	       (time_t)(to_us / USEC_PER_SEC) <= until;
}

/* Makes an alert unknown that was pending or firing when the stored figures end: it may have ended since then. */
static json_object *make_unknown(json_object *alert, const char *reason)
{
	const char *state = json_get_text(alert, "state");
	struct json_writer writer = {0};

	if (!state || (strcmp(state, "firing") != 0 && strcmp(state, "pending") != 0))
		return alert;
	json_put_text(&writer, alert, "held", state);
	json_put_text(&writer, alert, "state", "unknown");
	json_put_text(&writer, alert, "unknown", reason);
	return json_finish(&writer, alert);
}

/* Like alert_then() with `measured`. */
static json_object *earlier_state(json_object *alert, time_t until)
{
	const char *state = json_get_text(alert, "state");
	json_object *firing = json_get_object(alert, "firing");
	const bool fired = json_get(alert, "fired") && !is_after(alert, "fired", until);

	if (!fired && (json_get(alert, "fired") ||
		       (state && strcmp(state, "inactive") == 0 && is_after(alert, "since", until)))) {
		json_object_object_del(alert, "fired");
		json_object_object_del(alert, "alert");
		return change_back(alert, "pending", "breached");
	}
	if (fired && (!json_get(alert, "resolved") || is_after(alert, "resolved", until))) {
		if (firing)
			return json_object_get(firing);
		if (json_get(alert, "resolved"))
			return change_back(alert, "firing", "fired");
	}
	json_object_object_del(alert, "firing");
	return json_object_get(alert);
}

/*
 * Returns a new reference to an alert of the history as it was at `until`. `alert` is as HISTORY_ASK_ALERTS returns it:
 * the state that was stored last, in `firing` the alert as it was when it fired, and in `to_us` its end. The figures
 * are those of when the state of `until` began, and absent if they are not stored. If `measured` is false, nothing is
 * stored for that time: what was firing or pending before is unknown, for the reason "gap". An alert that pebsd did not
 * continue when it was started again is unknown from then on, for the reason "restart".
 * The alert must not be used otherwise afterwards. NULL: no memory.
 */
static json_object *alert_then(json_object *alert, time_t until, bool measured)
{
	const char *reason = !measured ? "gap" : was_not_continued(alert, until) ? "restart" : NULL;
	json_object *then;

	json_object_object_del(alert, "to_us");
	then = earlier_state(alert, until);
	return then && reason ? make_unknown(then, reason) : then;
}

/*
 * Returns the alerts as they were at `until`, in the order of GetAlerts. Other programs can change the file of the
 * history.
 */
static json_object *alerts_then(struct json_writer *writer, json_object *alerts, time_t until, bool measured)
{
	json_object *then = json_checked(writer, json_object_new_array());

	for (size_t i = 0; i < json_object_array_length(alerts); i++) {
		json_object *alert = json_object_array_get_idx(alerts, i);

		if (json_object_is_type(alert, json_type_object))
			json_append(writer, then, alert_then(alert, until, measured));
	}
	if (then && !writer->failed)
		json_object_array_sort(then, compare_alerts);
	return then;
}

/* Adds the start of the range, and its gaps up to `taken`. Returns true if figures of `taken` are stored. */
static bool put_range(struct json_writer *writer, json_object *object, const struct json_alerts_range *range,
		      time_t taken)
{
	const u64 taken_us = (u64)taken * USEC_PER_SEC;
	json_object *gaps = range->gaps ? json_checked(writer, json_object_new_array()) : NULL;
	bool measured = true;
	u64 n_gaps = 0;

	for (size_t i = 0; range->gaps && i < range->n_gaps; i++) {
		const struct past_span *gap = &range->gaps[i];

		if (gap->since_us >= taken_us || gap->until_us - gap->since_us <= GAP_MIN_US)
			continue;
		measured = measured && gap->until_us < taken_us;
		if (n_gaps++ < JSON_GAPS_MAX)
			json_append(writer, gaps,
				    json_gap(writer, &(struct past_span){gap->since_us,
									 MIN(gap->until_us, taken_us)}));
	}
	json_put_moment(writer, object, "since", range->since_us);
	json_put_moment(writer, object, "until", taken_us);
	if (gaps)
		json_put(writer, object, "gaps", gaps);
	if (n_gaps > JSON_GAPS_MAX)
		json_put_u64(writer, object, "more_gaps", n_gaps - JSON_GAPS_MAX);
	return measured;
}

json_object *json_alerts_of_past(const char *origin, json_object *alerts,
				 const struct json_alerts_range *range, struct json_page *page)
{
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, origin);
	json_object *list = json_checked(&writer, json_object_new_array());
	const bool measured = put_range(&writer, object, range, page->taken.tv_sec);
	_cleanup_json_ json_object *then = alerts_then(&writer, alerts, page->taken.tv_sec, measured);
	const size_t n = then ? json_object_array_length(then) : 0;

	for (size_t i = json_page_first(page, n); i < n; i++)
		if (!json_append_to_page(&writer, list, json_object_get(json_object_array_get_idx(then, i)),
					 page, i))
			break;
	json_put_time(&writer, object, "taken", &(struct timespec){.tv_sec = page->taken.tv_sec});
	json_put(&writer, object, "alerts", list);
	json_put_page(&writer, object, page);
	return json_finish(&writer, object);
}

static void put_sentences(struct json_writer *writer, json_object *object, const struct alert *alert,
			  json_object *suspects)
{
	size_t n = suspects && explain_asks_neighbours(alert) ? json_object_array_length(suspects) : 0;
	json_object *list = json_checked(writer, json_object_new_array());
	char **sentences = NULL;

	if (explain(alert, &sentences) < 0)
		writer->failed = true;
	for (char **sentence = sentences; sentence && *sentence; sentence++)
		json_append(writer, list, json_name(*sentence));
	explain_free(sentences);
	for (size_t i = 0; i < n; i++)
		json_append(writer, list, json_object_get(json_object_array_get_idx(suspects, i)));
	json_put(writer, object, "sentences", list);
}

static json_object *explained_object(struct json_writer *writer, const struct alert *alert,
				     json_object *suspects)
{
	json_object *object = alert_object(writer, alert);

	json_put_u64(writer, object, "min_samples", alert->rule->min_samples);
	put_sentences(writer, object, alert, suspects);
	return object;
}

json_object *json_explain(const char *origin, const struct rule *rule, const struct alert *alerts, size_t n,
			  json_object *suspects)
{
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, origin);
	json_object *judged = json_checked(&writer, json_object_new_array());

	json_put(&writer, object, "rule", rule_object(&writer, rule));
	for (size_t i = 0; i < n; i++)
		json_append(&writer, judged, explained_object(&writer, &alerts[i], suspects));
	json_put(&writer, object, "judged", judged);
	return json_finish(&writer, object);
}

static char *record_text(const struct alert *alert, bool explained)
{
	struct json_writer writer = {0};
	json_object *made = explained ? explained_object(&writer, alert, NULL) : alert_object(&writer, alert);
	_cleanup_json_ json_object *object = json_finish(&writer, made);

	return object ? strdup(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN)) : NULL;
}

/* Most sentences name the cgroup, and a control character in its path takes six bytes. */
char *json_alert_record(const struct alert *alert)
{
	const bool explained = (alert->fired.tv_sec || alert->fired.tv_nsec) && alert->rule->window_ns > 0;
	char *text = record_text(alert, explained);

	if (!explained || !text || strlen(text) < HISTORY_ALERT_MAX)
		return text;
	free(text);
	return record_text(alert, false);
}

/* Other programs can change the file of the history. */
static bool is_of_rule(const json_object *alert, const char *rule)
{
	const char *name = json_object_is_type(alert, json_type_object) ? json_get_text(alert, "rule") : NULL;

	return name && strcmp(name, rule) == 0;
}

json_object *json_explain_past(const char *origin, const char *rule, json_object *alerts,
			       const struct json_alerts_range *range, time_t until)
{
	struct json_writer writer = {0};
	json_object *object = json_start_of(&writer, origin);
	const bool measured = put_range(&writer, object, range, until);
	json_object *judged = json_checked(&writer, json_object_new_array());
	u64 n = 0;

	for (size_t i = json_object_array_length(alerts); i-- > 0;) {
		json_object *alert = json_object_array_get_idx(alerts, i);

		if (n++ < HISTORY_EXPLAINED_MAX && is_of_rule(alert, rule))
			json_append(&writer, judged, alert_then(alert, until, measured));
	}
	json_put_time(&writer, object, "taken", &(struct timespec){.tv_sec = until});
	json_put(&writer, object, "judged", judged);
	json_put_u64(&writer, object, "unlisted", n > HISTORY_EXPLAINED_MAX ? n - HISTORY_EXPLAINED_MAX : 0);
	return json_finish(&writer, object);
}

json_object *json_transition(const struct transition *transition)
{
	struct json_writer writer = {0};
	json_object *object = json_checked(&writer, json_object_new_object());
	struct alert alert = transition->alert;

	/* A transition shows the new state, even if the alert ended without being judged. */
	alert.decision.state = transition->to;
	alert.decision.unknown = UNKNOWN_NOT;
	json_put_text(&writer, object, "from", alert_state_word(transition->from));
	fill_alert(&writer, object, &alert, "source", json_object_new_string);
	return json_finish(&writer, object);
}
