// SPDX-License-Identifier: GPL-2.0
/* Checks a rule as a whole, after all of its keys were read. */
#include "config/config_rules.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/number.h"
#include "estimate/bursts.h"
#include "policy/nanoseconds.h"

struct check {
	struct config_rule_draft *draft;
	struct rule *rule;
	const struct config *config;
	struct config_mistakes *mistakes;
	bool wrong;
	int error;
};

static bool is_given(const struct check *check, enum config_rule_key key)
{
	return check->draft->keys[key].given == CONFIG_GIVEN_VALUE;
}

/* Reports a mistake at the line of the key, or at the rule's header if the key is not set. */
__attribute__((format(printf, 3, 4))) static void say(struct check *check, enum config_rule_key key,
						      const char *format, ...)
{
	const struct config_rule_draft *draft = check->draft;
	const struct config_place *place =
		draft->keys[key].given == CONFIG_GIVEN_NOT ? &draft->header : &draft->keys[key].place;
	_cleanup_free_ char *text = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		text = NULL;
	if (!text || config_mistakes_add(check->mistakes, place->file, place->line, "[rule %s]: %s",
					 draft->rule.name, text) < 0)
		check->error = -ENOMEM;
	check->wrong = true;
}

/* Returns whether the key has a value. If the key is missing, reports that with `remedy`. */
static bool need(struct check *check, enum config_rule_key key, const char *remedy)
{
	if (is_given(check, key))
		return true;
	/* An invalid value was already reported. */
	if (check->draft->keys[key].given != CONFIG_GIVEN_MISTAKE)
		say(check, key, "%s is missing; %s", config_rule_keys[key].name, remedy);
	return false;
}

/* Returns the key of the threshold, above or below. RULE_KEYS: none or both are given, or one is invalid. */
static enum config_rule_key find_threshold(struct check *check)
{
	const struct config_rule_draft *draft = check->draft;
	const bool above = is_given(check, RULE_KEY_ABOVE);
	const bool below = is_given(check, RULE_KEY_BELOW);

	if (draft->keys[RULE_KEY_ABOVE].given == CONFIG_GIVEN_MISTAKE ||
	    draft->keys[RULE_KEY_BELOW].given == CONFIG_GIVEN_MISTAKE)
		return RULE_KEYS;
	if (!above && !below) {
		say(check, RULE_KEY_ABOVE,
		    "above or below is missing; set one of the two, in the unit of the metric");
		return RULE_KEYS;
	}
	if (above && below) {
		const bool above_last =
			draft->keys[RULE_KEY_ABOVE].file_number > draft->keys[RULE_KEY_BELOW].file_number ||
			(draft->keys[RULE_KEY_ABOVE].file_number == draft->keys[RULE_KEY_BELOW].file_number &&
			 draft->keys[RULE_KEY_ABOVE].place.line > draft->keys[RULE_KEY_BELOW].place.line);
		const enum config_rule_key last = above_last ? RULE_KEY_ABOVE : RULE_KEY_BELOW;
		const enum config_rule_key first = above_last ? RULE_KEY_BELOW : RULE_KEY_ABOVE;

		say(check, last,
		    "%s = %s cannot be used with %s = %s in %s:%u; keep one of the two (a later line `%s =` removes it)",
		    config_rule_keys[last].name, draft->keys[last].text, config_rule_keys[first].name,
		    draft->keys[first].text, draft->keys[first].place.file, draft->keys[first].place.line,
		    config_rule_keys[first].name);
		return RULE_KEYS;
	}
	return above ? RULE_KEY_ABOVE : RULE_KEY_BELOW;
}

static bool read_threshold(struct check *check, enum config_rule_key key, double *ret)
{
	const char *text = check->draft->keys[key].text;
	char metric[METRIC_TEXT_MAX];
	bool time;
	int r;

	r = nanoseconds_parse_threshold(&check->rule->metric, text, check->config->nominal_hz, ret, &time);
	check->rule->nanoseconds |= time;
	if (r == 0)
		return true;
	metric_format(&check->rule->metric, metric);
	if (r == -ENODATA)
		say(check, key,
		    "%s = %s: cannot be converted to cycles, because neither sysfs nor CPUID has the nominal frequency of this machine's CPUs; give the limit in cycles",
		    config_rule_keys[key].name, text);
	else
		say(check, key, "%s = %s: expected %s%s for the metric %s", config_rule_keys[key].name, text,
		    metric_threshold_form(&check->rule->metric),
		    nanoseconds_of_metric(&check->rule->metric) ? ", or that time in ns or us" : "", metric);
	return false;
}

/*
 * Checks the values of the threshold and of clear, whose units depend on the metric. Returns whether both are
 * valid.
 */
static bool check_limits(struct check *check)
{
	const enum config_rule_key key = find_threshold(check);
	struct rule *rule = check->rule;

	rule->nominal_hz = check->config->nominal_hz;
	rule->nanoseconds = false;
	if (key == RULE_KEYS || !is_given(check, RULE_KEY_METRIC))
		return false;
	if (!read_threshold(check, key, &rule->threshold))
		return false;
	rule->below = key == RULE_KEY_BELOW;
	rule->clear = rule->threshold;
	if (check->draft->keys[RULE_KEY_CLEAR].given == CONFIG_GIVEN_MISTAKE)
		return false;
	if (!is_given(check, RULE_KEY_CLEAR))
		return true;
	if (!read_threshold(check, RULE_KEY_CLEAR, &rule->clear))
		return false;
	if (rule->below ? rule->clear >= rule->threshold : rule->clear <= rule->threshold)
		return true;
	say(check, RULE_KEY_CLEAR, "clear = %s: on the wrong side of %s = %s; use %s or %s",
	    check->draft->keys[RULE_KEY_CLEAR].text, config_rule_keys[key].name, check->draft->keys[key].text,
	    check->draft->keys[key].text, rule->below ? "more" : "less");
	return false;
}

/* Makes the list of `events` that a bit mask stands for. Returns NULL if memory runs out. */
static char *list_events(unsigned events, const char *between)
{
	_cleanup_fclose_ FILE *out = NULL;
	_cleanup_free_ char *text = NULL;
	const char *before = "";
	size_t length;

	out = open_memstream(&text, &length);
	if (!out)
		return NULL;
	for (int role = 0; role < EVENT_ROLES; role++) {
		if (!(events & 1U << role))
			continue;
		(void)fprintf(out, "%s%s", before, event_role_name((enum event_role)role));
		before = between;
	}
	return fclose(TAKE_PTR(out)) == 0 ? TAKE_PTR(text) : NULL;
}

/*
 * Some metrics imply their events. Sets the rule's event to the first one. Returns the events as bits
 * 1 << enum event_role; 0: the rule chooses its event.
 */
static unsigned imply_events(struct check *check)
{
	struct rule *rule = check->rule;
	enum event_role roles[METRIC_EVENTS_MAX];
	const size_t n = is_given(check, RULE_KEY_METRIC) ? metric_events(&rule->metric, roles) : 0;
	_cleanup_free_ char *list = NULL;
	char metric[METRIC_TEXT_MAX];
	unsigned events = 0;

	for (size_t i = 0; i < n; i++)
		events |= 1U << roles[i];
	if (!events)
		return 0;
	if (is_given(check, RULE_KEY_EVENT) && rule->event != roles[0]) {
		list = list_events(events, " and ");
		metric_format(&rule->metric, metric);
		say(check, RULE_KEY_EVENT,
		    "event = %s: the metric %s is computed from %s; remove the line, or use another metric",
		    event_role_name(rule->event), metric, list ? list : "other events");
	}
	rule->event = roles[0];
	return events;
}

/* Checks the events that the metric implies. Those of a replay depend on the recording. */
static void check_implied(struct check *check, unsigned events)
{
	const unsigned missing = events & ~config_roles(check->config);
	_cleanup_free_ char *needed = NULL, *lacking = NULL, *list = NULL;
	char metric[METRIC_TEXT_MAX];

	if (!missing || check->config->origin == CONFIG_ORIGIN_REPLAY)
		return;
	needed = list_events(events, " and ");
	lacking = list_events(missing, " and ");
	list = list_events(config_roles(check->config) | events, " ");
	if (!needed || !lacking || !list) {
		check->error = -ENOMEM;
		return;
	}
	metric_format(&check->rule->metric, metric);
	say(check, RULE_KEY_METRIC,
	    "metric = %s: it is computed from %s, and %s are not sampled, so the rule can never fire; set events = %s in [sampling]",
	    metric, needed, lacking, list);
}

/* Checks the event that the rule names. `auto` cannot be combined with it, so the whole list is in the message. */
static void check_named(struct check *check)
{
	const char *event = event_role_name(check->rule->event);
	const unsigned roles = config_roles(check->config);
	_cleanup_free_ char *list = NULL;

	if (roles & 1U << check->rule->event)
		return;
	if (check->config->events != CONFIG_EVENTS_AUTO) {
		say(check, RULE_KEY_EVENT,
		    "event = %s: %s are not sampled, so the rule can never fire; add them to events in [sampling], or use another event",
		    event, event);
		return;
	}
	list = list_events(roles | 1U << check->rule->event, " ");
	if (!list) {
		check->error = -ENOMEM;
		return;
	}
	say(check, RULE_KEY_EVENT,
	    "event = %s: %s are not sampled, so the rule can never fire; set events = %s in [sampling], or use another event",
	    event, event, list);
}

/* The events of a replay are not checked: they depend on the recording. */
static void check_event(struct check *check)
{
	const unsigned implied = imply_events(check);
	const char *event = event_role_name(check->rule->event);

	if (implied) {
		check_implied(check, implied);
		return;
	}
	if (check->draft->keys[RULE_KEY_EVENT].given == CONFIG_GIVEN_MISTAKE)
		return;
	switch (check->config->origin) {
	case CONFIG_ORIGIN_REPLAY:
		break;
	case CONFIG_ORIGIN_MODEL:
		/* The model samples loads whatever `events` says. */
		if (check->rule->event == EVENT_LOADS)
			break;
		if (check->rule->event == EVENT_STORES) {
			say(check, RULE_KEY_EVENT,
			    "event = %s: the model has no stores, so the rule can never fire; use event = loads, or another origin in [sampling]",
			    event);
			break;
		}
		__attribute__((fallthrough));
	case CONFIG_ORIGIN_AUTO:
	case CONFIG_ORIGIN_PERF:
		check_named(check);
		break;
	}
}

/* A short window cannot prove a breach: pebsd cannot decide whether the window's samples came in bursts. */
static void say_short_window(struct check *check, const char *window)
{
	char interval[NUMBER_TEXT_MAX];
	char least[NUMBER_TEXT_MAX];

	duration_format(check->config->interval_ns, interval);
	duration_format(BURSTS_COLLECTIONS_MIN * check->config->interval_ns, least);
	say(check, RULE_KEY_WINDOW,
	    "window = %s%s: shorter than %d times the interval of %s in [sampling], too short to detect bursts, so the rule can never fire; use %s or more, or a shorter interval",
	    window, is_given(check, RULE_KEY_WINDOW) ? "" : " (the default)", BURSTS_COLLECTIONS_MIN,
	    interval, least);
}

static void check_times(struct check *check)
{
	const struct rule *rule = check->rule;
	char window[NUMBER_TEXT_MAX];
	char other[NUMBER_TEXT_MAX];
	char metric[METRIC_TEXT_MAX];

	duration_format(rule->window_ns, window);
	if (rule->window_ns < BURSTS_COLLECTIONS_MIN * check->config->interval_ns)
		say_short_window(check, window);
	if (!is_given(check, RULE_KEY_METRIC))
		return;
	metric_format(&rule->metric, metric);
	duration_format(rule->baseline_ns, other);
	if (!rule->metric.ratio && is_given(check, RULE_KEY_BASELINE))
		say(check, RULE_KEY_BASELINE,
		    "baseline = %s: the metric %s has no baseline, only ratio:METRIC has one; remove the line, or use metric = ratio:%s",
		    check->draft->keys[RULE_KEY_BASELINE].text, metric, metric);
	if (rule->metric.ratio && rule->baseline_ns < rule->window_ns)
		say(check, is_given(check, RULE_KEY_BASELINE) ? RULE_KEY_BASELINE : RULE_KEY_WINDOW,
		    "baseline = %s: shorter than the window of %s that is compared with it; use %s or more",
		    other, window, window);
}

/* With fewer samples than rule_needs_samples(), the rule cannot both fire and clear. */
static void check_samples(struct check *check)
{
	const u64 most = config_rule_keys[RULE_KEY_MIN_SAMPLES].max;
	const bool given = is_given(check, RULE_KEY_MIN_SAMPLES);
	const char *confidence = is_given(check, RULE_KEY_CONFIDENCE)
					 ? check->draft->keys[RULE_KEY_CONFIDENCE].text
					 : config_rule_keys[RULE_KEY_CONFIDENCE].default_text;
	const u64 needs = rule_needs_samples(check->rule);
	char metric[METRIC_TEXT_MAX];

	if (check->draft->keys[RULE_KEY_MIN_SAMPLES].given == CONFIG_GIVEN_MISTAKE ||
	    check->draft->keys[RULE_KEY_CONFIDENCE].given == CONFIG_GIVEN_MISTAKE)
		return;
	if (check->rule->min_samples >= needs)
		return;
	metric_format(&check->rule->metric, metric);
	if (needs > most)
		say(check, RULE_KEY_METRIC,
		    "metric = %s: with these limits and a confidence of %s, more samples are needed to fire and to clear than the maximum of min-samples, %llu; use a clear that is nearer to the threshold, or a less extreme threshold",
		    metric, confidence, (unsigned long long)most);
	else
		say(check, given ? RULE_KEY_MIN_SAMPLES : RULE_KEY_METRIC,
		    "min-samples = %llu%s: %s with these limits needs %llu sample%s to fire and to clear at a confidence of %s; use %llu or more, or a lower confidence",
		    (unsigned long long)check->rule->min_samples, given ? "" : " (the default)", metric,
		    (unsigned long long)needs, needs == 1 ? "" : "s", confidence, (unsigned long long)needs);
}

/*
 * If no load below ldlat is sampled, no latency below ldlat is measured. Some CPUs have no such threshold, or
 * select loads by another latency than they report. This check does not know the CPU, so it reports the
 * mistake on every CPU. Users of such CPUs have to set a smaller ldlat.
 */
static void check_ldlat(struct check *check)
{
	const struct rule *rule = check->rule;
	const struct limits limits = rule_limits(rule, rule->threshold);
	const double lower = rule->below ? limits.threshold : limits.clear;
	const double ldlat = (double)check->config->ldlat;
	const enum config_rule_key key = rule->below                       ? RULE_KEY_BELOW
					 : is_given(check, RULE_KEY_CLEAR) ? RULE_KEY_CLEAR
									   : RULE_KEY_ABOVE;

	if (rule->event != EVENT_LOADS || check->config->origin == CONFIG_ORIGIN_REPLAY || rule->metric.ratio)
		return;
	if (rule->metric.kind != METRIC_QUANTILE && rule->metric.kind != METRIC_MEAN)
		return;
	if (rule->metric.kind == METRIC_MEAN ? lower > ldlat : lower >= ldlat)
		return;
	say(check, key,
	    "%s = %s, judged at %g cycles: CPUs that filter loads by latency do not sample those below ldlat = %llu, so there the rule can never %s; use more than %llu, or a smaller ldlat in [sampling]",
	    config_rule_keys[key].name, check->draft->keys[key].text, lower,
	    (unsigned long long)check->config->ldlat, rule->below ? "fire" : "clear",
	    (unsigned long long)check->config->ldlat);
}

/* These samples have at most a code address, but no latency and no data source. A recording may have more. */
static void check_counts(struct check *check)
{
	const enum event_role event = check->rule->event;
	char metric[METRIC_TEXT_MAX];

	if (event == EVENT_LOADS || event == EVENT_STORES || check->config->origin == CONFIG_ORIGIN_REPLAY ||
	    !is_given(check, RULE_KEY_METRIC) || metric_uses_weights(&check->rule->metric))
		return;
	metric_format(&check->rule->metric, metric);
	say(check, RULE_KEY_METRIC,
	    "metric = %s: samples of %s have no latency and no data source, so the rule can never fire; use rate or ratio:rate, or another event",
	    metric, event_role_name(event));
}

static bool has_mistakes(const struct config_rule_draft *draft)
{
	for (size_t i = 0; i < RULE_KEYS; i++)
		if (draft->keys[i].given == CONFIG_GIVEN_MISTAKE)
			return true;
	return false;
}

int config_rule_check(struct config_rule_draft *draft, const struct config *config,
		      struct config_mistakes *mistakes)
{
	struct check check = {
		.draft = draft,
		.rule = &draft->rule,
		.config = config,
		.mistakes = mistakes,
		.wrong = has_mistakes(draft),
	};

	(void)need(&check, RULE_KEY_CGROUP,
		   "set the paths of the cgroups to judge, such as cgroup = /system.slice/*");
	(void)need(&check, RULE_KEY_METRIC, "set the value to judge, such as metric = p99");
	/* For a rate, the absence of samples is also evidence, so no minimum is needed. */
	if (!is_given(&check, RULE_KEY_MIN_SAMPLES) && metric_is_rate(&draft->rule.metric))
		draft->rule.min_samples = 0;
	check_event(&check);
	check_counts(&check);
	check_times(&check);
	if (check_limits(&check)) {
		check_samples(&check);
		check_ldlat(&check);
	}
	return check.error < 0 ? check.error : !check.wrong;
}
