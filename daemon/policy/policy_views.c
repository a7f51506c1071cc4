// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "policy/policy_internal.h"

bool view_is_of(const struct view *view, const struct event *events, const struct rule *rule, unsigned event)
{
	return view->event == event && events[event].role == rule->event &&
	       view->window_ns == rule->window_ns && view->subtree == rule->subtree;
}

static bool not_measured(const struct event *event, const struct metric *metric)
{
	switch (metric->kind) {
	case METRIC_QUANTILE:
	case METRIC_MEAN:
		return !event->settings.has_latency;
	case METRIC_SHARE:
		return !event->settings.has_source;
	case METRIC_RATE:
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
			.not_measured = not_measured(&policy->events[view->event], &rule->metric),
			.limits = rule_limits(rule, rule->threshold),
		};
		screen_of(rule, &ret->list[ret->n - 1].limits, &ret->list[ret->n - 1].screen);
		ret->has_rate |= rule->metric.kind == METRIC_RATE;
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

int view_new(struct policy *policy, const struct view *like, sliding_leaving leaving, sliding_passing passing,
	     struct view **ret)
{
	struct view *view = calloc(1, sizeof(*view));
	struct sliding_settings settings = {.window_ns = like->window_ns,
					    .max_bytes = policy->max_bytes,
					    .leaving = leaving,
					    .passing = passing,
					    .userdata = view};
	int r;

	if (!view)
		return -ENOMEM;
	view->policy = policy;
	view->event = like->event;
	view->window_ns = like->window_ns;
	view->subtree = like->subtree;
	view->reason = UNKNOWN_WINDOW;
	r = sliding_new(&settings, policy->last_ns, &view->sliding);
	if (r < 0) {
		free(view);
		return r;
	}
	*ret = view;
	return 0;
}

void view_free(struct view *view)
{
	if (!view)
		return;
	(void)sliding_free(view->sliding);
	view_rules_free(&view->rules);
	free(view->by_number);
	free(view->active);
	free(view);
}

int view_reserve(struct view *view, u32 number)
{
	size_t room = (size_t)number + number / 2 + 16;
	struct subject **list;

	if (number < view->n_numbers)
		return 0;
	list = reallocarray(view->active, room, sizeof(struct subject *));
	if (!list)
		return -ENOMEM;
	view->active = list;
	list = reallocarray(view->by_number, room, sizeof(struct subject *));
	if (!list)
		return -ENOMEM;
	memset(list + view->n_numbers, 0, (room - view->n_numbers) * sizeof(struct subject *));
	view->by_number = list;
	view->policy->bytes += 2 * (room - view->n_numbers) * sizeof(struct subject *);
	view->n_numbers = room;
	return 0;
}

void view_shrink(struct view *view)
{
	struct subject **list;
	size_t n = view->n_numbers;
	size_t room;

	if (!view->some_left || view->n_subjects > view->n_numbers / 4)
		return;
	view->some_left = false;
	while (n && !view->by_number[n - 1])
		n--;
	room = n + n / 2 + 16;
	if (room > view->n_numbers / 2)
		return;
	/* If a call fails, the list only stays larger than it needs to be. */
	list = reallocarray(view->active, room, sizeof(struct subject *));
	if (list)
		view->active = list;
	list = reallocarray(view->by_number, room, sizeof(struct subject *));
	if (list)
		view->by_number = list;
	view->policy->bytes -= 2 * (view->n_numbers - room) * sizeof(struct subject *);
	view->n_numbers = room;
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
	double seconds = time->elapsed_ns > time->blind_ns
				 ? (double)(time->elapsed_ns - time->blind_ns) / (double)NSEC_PER_SEC
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
	if ((double)time->blind_ns * 10 >= (double)time->elapsed_ns)
		return UNKNOWN_SOURCE;
	if (time->enabled_ns && (double)time->running_ns * 4 < (double)time->enabled_ns)
		return UNKNOWN_MULTIPLEXED;
	if (time->expected && (double)time->lost * 10 > (double)time->expected)
		return UNKNOWN_LOST;
	return UNKNOWN_NOT;
}

/*
 * If the running time of a window changes by more than this fraction, the rates of all subjects are judged
 * again.
 */
#define SECONDS_SLACK (1.0 / 64)

void view_weigh(struct view *view, const struct tally *tally)
{
	double weight = tally->samples ? (double)tally->weight / (double)tally->samples : 0;

	/* An interval ends only when a sample comes, so the period of the last samples counts until then. */
	if (view->policy->now_ns - view->weighed_ns >= view->window_ns && view->largest_weight > 0) {
		view->largest_weight_before = view->largest_weight;
		view->largest_weight = 0;
		view->weighed_ns = view->policy->now_ns;
	}
	if (weight > view->largest_weight)
		view->largest_weight = weight;
}

double view_sample_weight(const struct view *view)
{
	double seen = view->largest_weight > view->largest_weight_before ? view->largest_weight
									 : view->largest_weight_before;
	double period = (double)view->policy->events[view->event].period;

	return seen > period ? seen : period;
}

void view_look(struct view *view, const struct sliding_time *time, bool covered)
{
	enum unknown_reason reason = reason_of(time, covered);
	double seconds = view_exposure(time);
	double change = seconds - view->judged_seconds;

	if (change < 0)
		change = -change;
	if (reason != view->reason ||
	    (view->rules.has_rate && reason == UNKNOWN_NOT && change > view->judged_seconds * SECONDS_SLACK))
		view->judge_all = true;
	view->reason = reason;
	view->seconds = seconds;
	view->covered_ns = time->elapsed_ns;
	if (view->judge_all)
		view->judged_seconds = seconds;
}
