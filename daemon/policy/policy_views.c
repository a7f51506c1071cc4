// SPDX-License-Identifier: GPL-2.0
/* Views: one window for all rules of the same length, events and scope. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "policy/policy_internal.h"

bool view_is_of(const struct view *view, const struct event *events, const struct rule *rule, unsigned event)
{
	return view->event == event && events[event].role == rule->event &&
	       view->window_ns == rule->window_ns && view->subtree == rule->subtree &&
	       view->has_second == metric_has_second(&rule->metric);
}

struct view_event *view_event_of(struct view *view, unsigned event)
{
	for (size_t i = 0; i < view->n_events; i++)
		if (view->events[i].event == event)
			return &view->events[i];
	return NULL;
}

static bool not_measured(const struct view *view, const struct event *event, const struct metric *metric)
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
		return view->n_events < METRIC_EVENTS_MAX;
	case METRIC_RATE:
	case METRIC_TRAFFIC:
		break;
	}
	return false;
}

/* Many rules share a few lists of patterns, so view_group() compares a path with only one rule of each list. */
static u32 find_like(const struct rule *rules, const struct view_rules *view_rules, const struct rule *rule)
{
	const struct view_rule *list = view_rules->list;

	for (size_t i = 0; i < view_rules->n; i++)
		if (list[i].like == i && rule_same_patterns(&rules[list[i].rule], rule))
			return (u32)i;
	return (u32)view_rules->n;
}

int view_rules_make(const struct policy *policy, const struct rule *rules, size_t n, const struct view *view,
		    struct view_rules *ret)
{
	*ret = (struct view_rules){.list = calloc(n + 1, sizeof(*ret->list))};
	if (!ret->list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct rule *rule = &rules[i];
		u32 like;

		if (!view_is_of(view, policy->events, rule, view->event))
			continue;
		like = find_like(rules, ret, rule);
		ret->list[ret->n++] = (struct view_rule){
			.rule = (u32)i,
			.like = like,
			.not_measured = not_measured(view, &policy->events[view->event], &rule->metric),
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

void view_rules_free(struct view_rules *rules)
{
	while (rules->groups) {
		struct group *next = rules->groups->next;

		free(rules->groups);
		rules->groups = next;
	}
	free(rules->list);
	*rules = (struct view_rules){0};
}

static int add_event(struct view *view, unsigned event, sliding_leaving leaving, sliding_passing passing)
{
	struct view_event *added = &view->events[view->n_events];
	struct sliding_settings settings = {.window_ns = view->window_ns,
					    .max_bytes = view->policy->max_bytes,
					    .leaving = leaving,
					    .passing = passing,
					    .userdata = added};
	int r = sliding_new(&settings, view->policy->last_ns, &added->sliding);

	if (r < 0)
		return r;
	added->view = view;
	added->event = event;
	view->n_events++;
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

static int add_second_event(struct view *view, sliding_leaving leaving, sliding_passing passing)
{
	const struct policy *policy = view->policy;
	const unsigned second =
		find_beside(policy, view->event, metric_second_role(policy->events[view->event].role));

	return second < policy->n_events ? add_event(view, second, leaving, passing) : 0;
}

int view_new(struct policy *policy, const struct view *like, sliding_leaving leaving, sliding_passing passing,
	     struct view **ret)
{
	struct view *view = calloc(1, sizeof(*view));
	int r;

	if (!view)
		return -ENOMEM;
	view->policy = policy;
	view->event = like->event;
	view->window_ns = like->window_ns;
	view->subtree = like->subtree;
	view->has_second = like->has_second;
	view->reason = UNKNOWN_WINDOW;
	r = add_event(view, like->event, leaving, passing);
	if (r == 0 && view->has_second)
		r = add_second_event(view, leaving, passing);
	if (r < 0) {
		view_free(view);
		return r;
	}
	*ret = view;
	return 0;
}

void view_free(struct view *view)
{
	if (!view)
		return;
	for (size_t i = 0; i < view->n_events; i++) {
		(void)sliding_free(view->events[i].sliding);
		free(view->events[i].by_number);
	}
	view_rules_free(&view->rules);
	free(view->active);
	free(view);
}

/* Makes room for a number in the lists. */
static int reserve(struct view_event *event, u32 number)
{
	struct view *view = event->view;
	const bool is_first = event == &view->events[0];
	size_t room = (size_t)number + number / 2 + 16;
	struct subject **list;

	if (number < event->n_numbers)
		return 0;
	if (is_first) {
		list = reallocarray(view->active, room, sizeof(struct subject *));
		if (!list)
			return -ENOMEM;
		view->active = list;
	}
	list = reallocarray(event->by_number, room, sizeof(struct subject *));
	if (!list)
		return -ENOMEM;
	memset(list + event->n_numbers, 0, (room - event->n_numbers) * sizeof(struct subject *));
	event->by_number = list;
	view->policy->bytes += (is_first ? 2 : 1) * (room - event->n_numbers) * sizeof(struct subject *);
	event->n_numbers = room;
	return 0;
}

void view_close(struct subject *subject, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct view_event *event = &subject->view->events[i];

		event->by_number[subject->numbers[i]] = NULL;
		sliding_close(event->sliding, subject->numbers[i]);
	}
}

int view_open(struct subject *subject)
{
	for (size_t i = 0; i < subject->view->n_events; i++) {
		struct view_event *event = &subject->view->events[i];
		u32 number;
		int r = sliding_open(event->sliding, &number);

		if (r == 0) {
			r = reserve(event, number);
			if (r < 0)
				sliding_close(event->sliding, number);
		}
		if (r < 0) {
			view_close(subject, i);
			return r;
		}
		subject->numbers[i] = number;
		event->by_number[number] = subject;
	}
	return 0;
}

bool view_has_samples(const struct subject *subject)
{
	for (size_t i = 0; i < subject->view->n_events; i++) {
		const struct tally *tally =
			sliding_tally(subject->view->events[i].sliding, subject->numbers[i]);

		if (tally->samples || tally->latency_samples)
			return true;
	}
	return false;
}

static void shrink(struct view_event *event)
{
	struct view *view = event->view;
	const bool is_first = event == &view->events[0];
	struct subject **list;
	size_t n = event->n_numbers;
	size_t room;

	while (n && !event->by_number[n - 1])
		n--;
	room = n + n / 2 + 16;
	if (room > event->n_numbers / 2)
		return;
	/* If a call fails, the list only stays larger than it needs to be. */
	list = is_first ? reallocarray(view->active, room, sizeof(struct subject *)) : NULL;
	if (list)
		view->active = list;
	list = reallocarray(event->by_number, room, sizeof(struct subject *));
	if (list)
		event->by_number = list;
	view->policy->bytes -= (is_first ? 2 : 1) * (event->n_numbers - room) * sizeof(struct subject *);
	event->n_numbers = room;
}

void view_shrink(struct view *view)
{
	if (!view->some_left || view->n_subjects > view->events[0].n_numbers / 4)
		return;
	view->some_left = false;
	for (size_t i = 0; i < view->n_events; i++)
		shrink(&view->events[i]);
}

int view_group(const struct rule *rules, struct view_rules *view_rules, const char *path, struct group **ret)
{
	size_t size = sizeof(struct group) + view_rules->n * sizeof(u32);
	_cleanup_free_ struct group *group = calloc(1, size);

	if (!group)
		return -ENOMEM;
	for (size_t i = 0; i < view_rules->n; i++) {
		struct view_rule *rule = &view_rules->list[i];

		rule->matches = rule->like == i ? rule_matches(&rules[rule->rule], path)
						: view_rules->list[rule->like].matches;
		if (rule->matches)
			group->members[group->n++] = (u32)i;
	}
	*ret = NULL;
	if (!group->n)
		return 0;
	for (*ret = view_rules->groups; *ret; *ret = (*ret)->next)
		if ((*ret)->n == group->n &&
		    memcmp((*ret)->members, group->members, group->n * sizeof(u32)) == 0)
			return 0;
	group->next = view_rules->groups;
	view_rules->groups = group;
	*ret = TAKE_PTR(group);
	return 0;
}

double view_exposure(const struct sliding_time *time)
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
 * If the running time of a window or the frequency changes by more than this fraction, the rates of all subjects
 * are judged again.
 */
#define SLACK (1.0 / 64)

void view_weigh(struct view_event *event, const struct tally *tally)
{
	const struct view *view = event->view;
	double weight = tally->samples ? (double)tally->weight / (double)tally->samples : 0;

	/* An interval ends only when a sample comes, so the period of the last samples counts until then. */
	if (view->policy->now_ns - event->weighed_ns >= view->window_ns && event->largest_weight > 0) {
		event->largest_weight_before = event->largest_weight;
		event->largest_weight = 0;
		event->weighed_ns = view->policy->now_ns;
	}
	if (weight > event->largest_weight)
		event->largest_weight = weight;
}

double view_sample_weight(const struct view_event *event)
{
	double seen = event->largest_weight > event->largest_weight_before ? event->largest_weight
									   : event->largest_weight_before;
	double period = (double)event->view->policy->events[event->event].period;

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
static enum unknown_reason look_at(struct view_event *event, bool *moved)
{
	const struct sliding_time time = sliding_time(event->sliding);

	event->seconds = view_exposure(&time);
	event->view->covered_ns = time.elapsed_ns;
	*moved |= has_moved(event->seconds, event->judged_seconds);
	return reason_of(&time, sliding_covered(event->sliding));
}

void view_look(struct view *view)
{
	enum unknown_reason reason = UNKNOWN_NOT;
	bool moved = false;

	for (size_t i = 0; i < view->n_events; i++) {
		enum unknown_reason found = look_at(&view->events[i], &moved);

		/* The first reason in the order of reason_of() wins. The numbers of the reasons have this order. */
		if (reason == UNKNOWN_NOT || (found != UNKNOWN_NOT && found < reason))
			reason = found;
	}
	view->frequency_hz = view->n_events > 1 ? view->policy->frequencies_hz[view->events[1].event] : 0;
	if (reason != view->reason || (view->rules.has_weights && reason == UNKNOWN_NOT && moved) ||
	    (view->rules.has_frequency && has_moved(view->frequency_hz, view->judged_frequency_hz)))
		view->judge_all = true;
	view->reason = reason;
	if (!view->judge_all)
		return;
	view->judged_frequency_hz = view->frequency_hz;
	for (size_t i = 0; i < view->n_events; i++)
		view->events[i].judged_seconds = view->events[i].seconds;
}
