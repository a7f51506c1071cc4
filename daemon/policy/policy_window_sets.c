// SPDX-License-Identifier: GPL-2.0
/* Window sets: the windows that all rules of the same length, events and scope share. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "policy/policy_internal.h"

bool window_set_is_of(const struct window_set *window_set, const struct event *events,
		      const struct rule *rule, unsigned event)
{
	return window_set->event == event && events[event].role == rule->event &&
	       window_set->window_ns == rule->window_ns && window_set->subtree == rule->subtree &&
	       window_set->has_second == metric_has_second(&rule->metric);
}

struct window_set_event *window_set_event_of(struct window_set *window_set, unsigned event)
{
	for (size_t i = 0; i < window_set->n_events; i++)
		if (window_set->events[i].event == event)
			return &window_set->events[i];
	return NULL;
}

static bool not_measured(const struct window_set *window_set, const struct event *event,
			 const struct metric *metric)
{
	switch (metric->kind) {
	case METRIC_QUANTILE:
	case METRIC_MEAN:
		return !event->settings.has_latency;
	case METRIC_SHARE:
		return !event->settings.has_source;
	case METRIC_WAIT:
	case METRIC_CORES_LOST:
	case METRIC_CPI:
		return window_set->n_events < METRIC_EVENTS_MAX;
	case METRIC_RATE:
	case METRIC_TRAFFIC:
		break;
	}
	return false;
}

/* Many rules share a few lists of patterns, so rule_set_of() compares a path with only one rule of each list. */
static u32 find_like(const struct rule *rules, const struct window_set_rules *window_set_rules,
		     const struct rule *rule)
{
	const struct window_set_rule *list = window_set_rules->list;

	for (size_t i = 0; i < window_set_rules->n; i++)
		if (list[i].like == i && rule_same_patterns(&rules[list[i].rule], rule))
			return (u32)i;
	return (u32)window_set_rules->n;
}

int window_set_rules_make(const struct policy *policy, const struct rule *rules, size_t n,
			  const struct window_set *window_set, struct window_set_rules *ret)
{
	*ret = (struct window_set_rules){.list = calloc(n + 1, sizeof(*ret->list))};
	if (!ret->list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct rule *rule = &rules[i];
		u32 like;

		if (!window_set_is_of(window_set, policy->events, rule, window_set->event))
			continue;
		like = find_like(rules, ret, rule);
		ret->list[ret->n++] = (struct window_set_rule){
			.rule = (u32)i,
			.like = like,
			.not_measured =
				not_measured(window_set, &policy->events[window_set->event], &rule->metric),
			.limits = rule_limits(rule, rule->threshold),
		};
		screen_of(rule, &ret->list[ret->n - 1].limits, &ret->list[ret->n - 1].screen);
		ret->has_weights |= metric_uses_weights(&rule->metric);
		ret->has_rate |= metric_is_rate(&rule->metric);
		ret->has_frequency |= metric_needs_frequency(&rule->metric);
		ret->has_ratio |= rule->metric.ratio;
	}
	return 0;
}

void window_set_rules_free(struct window_set_rules *rules)
{
	while (rules->rule_sets) {
		struct rule_set *next = rules->rule_sets->next;

		free(rules->rule_sets);
		rules->rule_sets = next;
	}
	free(rules->list);
	*rules = (struct window_set_rules){0};
}

static int add_event(struct window_set *window_set, unsigned event, sliding_leaving leaving,
		     sliding_passing passing)
{
	struct window_set_event *added = &window_set->events[window_set->n_events];
	struct sliding_settings settings = {.window_ns = window_set->window_ns,
					    .max_bytes = window_set->policy->max_bytes,
					    .leaving = leaving,
					    .passing = passing,
					    .userdata = added};
	int r = sliding_new(&settings, window_set->policy->last_ns, &added->sliding);

	if (r < 0)
		return r;
	added->window_set = window_set;
	added->event = event;
	window_set->n_events++;
	return 0;
}

/* Finds the event of a role on the PMU of another event. Returns n_events if there is none. */
static unsigned find_beside(const struct policy *policy, unsigned event, enum event_role role)
{
	unsigned i = 0;

	while (i < policy->n_events && (policy->events[i].role != role ||
					strcmp(policy->events[i].pmu, policy->events[event].pmu) != 0))
		i++;
	return i;
}

static int add_second_event(struct window_set *window_set, sliding_leaving leaving, sliding_passing passing)
{
	const struct policy *policy = window_set->policy;
	const unsigned second = find_beside(policy, window_set->event,
					    metric_second_role(policy->events[window_set->event].role));

	return second < policy->n_events ? add_event(window_set, second, leaving, passing) : 0;
}

int window_set_new(struct policy *policy, const struct window_set *like, sliding_leaving leaving,
		   sliding_passing passing, struct window_set **ret)
{
	struct window_set *window_set = calloc(1, sizeof(*window_set));
	int r;

	if (!window_set)
		return -ENOMEM;
	window_set->policy = policy;
	window_set->event = like->event;
	window_set->window_ns = like->window_ns;
	window_set->subtree = like->subtree;
	window_set->has_second = like->has_second;
	window_set->reason = UNKNOWN_WINDOW;
	r = add_event(window_set, like->event, leaving, passing);
	if (r == 0 && window_set->has_second)
		r = add_second_event(window_set, leaving, passing);
	if (r < 0) {
		window_set_free(window_set);
		return r;
	}
	*ret = window_set;
	return 0;
}

void window_set_free(struct window_set *window_set)
{
	if (!window_set)
		return;
	for (size_t i = 0; i < window_set->n_events; i++) {
		(void)sliding_free(window_set->events[i].sliding);
		free(window_set->events[i].by_number);
	}
	window_set_rules_free(&window_set->rules);
	free(window_set->active);
	free(window_set);
}

/* Makes room for a number in the lists. */
static int reserve(struct window_set_event *event, u32 number)
{
	struct window_set *window_set = event->window_set;
	const bool is_first = event == &window_set->events[0];
	size_t room = (size_t)number + number / 2 + 16;
	struct target **list;

	if (number < event->n_numbers)
		return 0;
	if (is_first) {
		list = reallocarray(window_set->active, room, sizeof(struct target *));
		if (!list)
			return -ENOMEM;
		window_set->active = list;
	}
	list = reallocarray(event->by_number, room, sizeof(struct target *));
	if (!list)
		return -ENOMEM;
	memset(list + event->n_numbers, 0, (room - event->n_numbers) * sizeof(struct target *));
	event->by_number = list;
	window_set->policy->bytes += (is_first ? 2 : 1) * (room - event->n_numbers) * sizeof(struct target *);
	event->n_numbers = room;
	return 0;
}

void window_set_close(struct target *target, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct window_set_event *event = &target->window_set->events[i];

		event->by_number[target->numbers[i]] = NULL;
		sliding_close(event->sliding, target->numbers[i]);
	}
}

int window_set_open(struct target *target)
{
	for (size_t i = 0; i < target->window_set->n_events; i++) {
		struct window_set_event *event = &target->window_set->events[i];
		u32 number;
		int r = sliding_open(event->sliding, &number);

		if (r == 0) {
			r = reserve(event, number);
			if (r < 0)
				sliding_close(event->sliding, number);
		}
		if (r < 0) {
			window_set_close(target, i);
			return r;
		}
		target->numbers[i] = number;
		event->by_number[number] = target;
	}
	return 0;
}

bool window_set_has_samples(const struct target *target)
{
	for (size_t i = 0; i < target->window_set->n_events; i++) {
		const struct tally *tally =
			sliding_tally(target->window_set->events[i].sliding, target->numbers[i]);

		if (tally->samples || tally->latency_samples)
			return true;
	}
	return false;
}

static void shrink(struct window_set_event *event)
{
	struct window_set *window_set = event->window_set;
	const bool is_first = event == &window_set->events[0];
	struct target **list;
	size_t n = event->n_numbers;
	size_t room;

	while (n && !event->by_number[n - 1])
		n--;
	room = n + n / 2 + 16;
	if (room > event->n_numbers / 2)
		return;
	/* If a call fails, the list only stays larger than it needs to be. */
	list = is_first ? reallocarray(window_set->active, room, sizeof(struct target *)) : NULL;
	if (list)
		window_set->active = list;
	list = reallocarray(event->by_number, room, sizeof(struct target *));
	if (list)
		event->by_number = list;
	window_set->policy->bytes -= (is_first ? 2 : 1) * (event->n_numbers - room) * sizeof(struct target *);
	event->n_numbers = room;
}

void window_set_shrink(struct window_set *window_set)
{
	if (!window_set->some_left || window_set->n_targets > window_set->events[0].n_numbers / 4)
		return;
	window_set->some_left = false;
	for (size_t i = 0; i < window_set->n_events; i++)
		shrink(&window_set->events[i]);
}

int rule_set_of(const struct rule *rules, struct window_set_rules *window_set_rules, const char *path,
		struct rule_set **ret)
{
	size_t size = sizeof(struct rule_set) + window_set_rules->n * sizeof(u32);
	_cleanup_free_ struct rule_set *rule_set = calloc(1, size);

	if (!rule_set)
		return -ENOMEM;
	for (size_t i = 0; i < window_set_rules->n; i++) {
		struct window_set_rule *rule = &window_set_rules->list[i];

		rule->matches = rule->like == i ? rule_matches(&rules[rule->rule], path)
						: window_set_rules->list[rule->like].matches;
		if (rule->matches)
			rule_set->members[rule_set->n++] = (u32)i;
	}
	*ret = NULL;
	if (!rule_set->n)
		return 0;
	for (*ret = window_set_rules->rule_sets; *ret; *ret = (*ret)->next)
		if ((*ret)->n == rule_set->n &&
		    memcmp((*ret)->members, rule_set->members, rule_set->n * sizeof(u32)) == 0)
			return 0;
	rule_set->next = window_set_rules->rule_sets;
	window_set_rules->rule_sets = rule_set;
	*ret = TAKE_PTR(rule_set);
	return 0;
}

double window_set_exposure(const struct sliding_time *time)
{
	double seconds = time->elapsed_ns > time->unsampled_ns
				 ? (double)(time->elapsed_ns - time->unsampled_ns) / (double)NSEC_PER_SEC
				 : 0;

	if (time->enabled_ns && time->running_ns < time->enabled_ns)
		seconds *= (double)time->running_ns / (double)time->enabled_ns;
	return seconds;
}

/*
 * The order matters. Without a covered window nothing else can be said. A problem of the source explains why
 * there are few samples, so it comes before the number of samples.
 */
static enum unknown_reason reason_of(const struct sliding_time *time, bool covered)
{
	if (!covered)
		return UNKNOWN_WINDOW;
	if ((double)time->unsampled_ns * 10 >= (double)time->elapsed_ns)
		return UNKNOWN_SOURCE;
	if (time->enabled_ns && (double)time->running_ns * 4 < (double)time->enabled_ns)
		return UNKNOWN_MULTIPLEXED;
	if (time->expected && (double)time->lost * 10 > (double)time->expected)
		return UNKNOWN_LOST;
	return UNKNOWN_NOT;
}

/*
 * If the running time of a window or the frequency changes by more than this fraction, the rates of all targets
 * are judged again.
 */
#define SLACK (1.0 / 64)

void window_set_weigh(struct window_set_event *event, const struct tally *tally)
{
	const struct window_set *window_set = event->window_set;
	double weight = tally->samples ? (double)tally->weight / (double)tally->samples : 0;

	/* An interval ends only when a sample comes, so the period of the last samples counts until then. */
	if (window_set->policy->now_ns - event->weighed_ns >= window_set->window_ns &&
	    event->largest_weight > 0) {
		event->largest_weight_before = event->largest_weight;
		event->largest_weight = 0;
		event->weighed_ns = window_set->policy->now_ns;
	}
	if (weight > event->largest_weight)
		event->largest_weight = weight;
}

double window_set_sample_weight(const struct window_set_event *event)
{
	double seen = event->largest_weight > event->largest_weight_before ? event->largest_weight
									   : event->largest_weight_before;
	double period = (double)event->window_set->policy->events[event->event].period;

	return seen > period ? seen : period;
}

/* Returns whether a value has moved so far from `judged` that what depends on it must be judged again. */
static bool has_moved(double now, double judged)
{
	return fabs(now - judged) > judged * SLACK;
}

/*
 * Takes over the time of an event's window. Returns the reason why it cannot be judged. Sets `*moved` if the
 * time in which the event ran has changed too much.
 */
static enum unknown_reason look_at(struct window_set_event *event, bool *moved)
{
	const struct sliding_time time = sliding_time(event->sliding);

	event->seconds = window_set_exposure(&time);
	event->window_set->covered_ns = time.elapsed_ns;
	*moved |= has_moved(event->seconds, event->judged_seconds);
	return reason_of(&time, sliding_covered(event->sliding));
}

void window_set_look(struct window_set *window_set)
{
	enum unknown_reason reason = UNKNOWN_NOT;
	bool moved = false;

	for (size_t i = 0; i < window_set->n_events; i++) {
		enum unknown_reason found = look_at(&window_set->events[i], &moved);

		/* The first reason in the order of reason_of() wins. The numbers of the reasons have this order. */
		if (reason == UNKNOWN_NOT || (found != UNKNOWN_NOT && found < reason))
			reason = found;
	}
	window_set->frequency_hz = window_set->n_events > 1
					   ? window_set->policy->frequencies_hz[window_set->events[1].event]
					   : 0;
	if (reason != window_set->reason ||
	    (window_set->rules.has_weights && reason == UNKNOWN_NOT && moved) ||
	    (window_set->rules.has_frequency &&
	     has_moved(window_set->frequency_hz, window_set->judged_frequency_hz)))
		window_set->judge_all = true;
	window_set->reason = reason;
	if (!window_set->judge_all)
		return;
	window_set->judged_frequency_hz = window_set->frequency_hz;
	for (size_t i = 0; i < window_set->n_events; i++)
		window_set->events[i].judged_seconds = window_set->events[i].seconds;
}
