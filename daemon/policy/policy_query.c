// SPDX-License-Identifier: GPL-2.0
/* Lists rules and alerts, and explains a rule for a path. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "policy/policy_internal.h"

void alert_with(const struct policy *policy, const struct target *target, size_t member,
		const struct estimate *estimate, struct alert *ret)
{
	const struct window_set *window_set = target->window_set;
	const struct rule_state *state = &target->states[member];
	const struct extra *extra = state->extra;
	const u32 rule = target_window_set_rule(target, member)->rule;

	*ret = (struct alert){
		.rule = &policy->rules[rule],
		.cgroup = target->path->name,
		.event = window_set->event,
		.event_key = policy->keys[window_set->event],
		.nominal_hz = policy->events[window_set->event].nominal_hz,
		.decision = target_decision(policy, target, member),
		.limits = *target_limits(target, member),
		.covered_ns = window_set->covered_ns,
		.subtree_without_slot = (u32)subtree_without_slot(policy, target),
		.counts = (u8)policy->events[window_set->event].count_kind,
		.samples_loads = policy->samples_loads,
		.worst = NAN,
	};
	ret->since = ret->decision.since_ns == target->born_ns ? target->born : policy->starts[rule].time;
	ret->estimate = *estimate;
	if (!extra)
		return;
	ret->number = extra->number;
	ret->preference = extra->preference;
	ret->since = extra->since;
	ret->breached = extra->breached;
	ret->fired = extra->fired;
	ret->resolved = extra->resolved;
	ret->worst = extra->worst;
	ret->end = extra->end;
}

void alert_of(const struct policy *policy, const struct target *target, size_t member, struct alert *ret)
{
	struct estimate estimate;

	target_estimate(policy, target, member, &estimate);
	alert_with(policy, target, member, &estimate, ret);
}

const char *policy_next_path(const struct policy *policy, const char *path)
{
	const struct policy_path *next = path_after(policy, path);

	return next ? next->name : NULL;
}

const struct rule *policy_rule(const struct policy *policy, const char *name)
{
	for (size_t i = 0; i < policy->n_rules; i++)
		if (strcmp(policy->rules[i].name, name) == 0)
			return &policy->rules[i];
	return NULL;
}

const struct rule *policy_rules(const struct policy *policy, size_t *ret_n)
{
	*ret_n = policy->n_rules;
	return policy->rules;
}

u64 policy_next_number(const struct policy *policy)
{
	return policy->next_number;
}

u64 policy_judged_ns(const struct policy *policy)
{
	return policy->last_ns;
}

static size_t firing_first(const struct alert *alert)
{
	return alert->decision.state != ALERT_FIRING;
}

static int compare_times(const struct timespec *a, const struct timespec *b)
{
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

/* Firing alerts first, then by `since`, then by names and events, so that the order is the same in each run. */
static int compare_alerts(const void *a, const void *b)
{
	const struct alert *left = a;
	const struct alert *right = b;
	int order;

	if (firing_first(left) != firing_first(right))
		return firing_first(left) < firing_first(right) ? -1 : 1;
	order = compare_times(&left->since, &right->since);
	if (!order)
		order = strcmp(left->rule->name, right->rule->name);
	if (!order)
		order = strcmp(left->cgroup, right->cgroup);
	if (order)
		return order;
	return left->event < right->event ? -1 : left->event > right->event;
}

/*
 * Drops the oldest resolved alerts beyond POLICY_RESOLVED_MAX. `alerts` must be sorted. Returns the new
 * length.
 */
static size_t limit_resolved(struct alert *alerts, size_t n)
{
	size_t resolved = 0;
	size_t kept = 0;
	size_t excess;

	for (size_t i = 0; i < n; i++)
		resolved += alerts[i].decision.state == ALERT_RESOLVED;
	excess = resolved > POLICY_RESOLVED_MAX ? resolved - POLICY_RESOLVED_MAX : 0;
	for (size_t i = 0; i < n; i++) {
		if (excess && alerts[i].decision.state == ALERT_RESOLVED)
			excess--;
		else
			alerts[kept++] = alerts[i];
	}
	return kept;
}

static size_t count_active(const struct policy *policy)
{
	size_t n = policy->n_ended;

	for (size_t i = 0; i < policy->n_window_sets; i++) {
		const struct window_set *window_set = policy->window_sets[i];

		for (size_t j = 0; j < window_set->n_active; j++)
			for (size_t k = 0; k < window_set->active[j]->rule_set->n; k++)
				n += window_set->active[j]->states[k].state != ALERT_INACTIVE;
	}
	return n;
}

static size_t list_target(const struct policy *policy, const struct target *target, bool judged_now,
			  struct alert *to)
{
	size_t n = 0;

	for (size_t i = 0; i < target->rule_set->n; i++) {
		const struct rule_state *state = &target->states[i];

		if (state->state == ALERT_INACTIVE)
			continue;
		if (judged_now)
			alert_of(policy, target, i, &to[n++]);
		else
			alert_with(policy, target, i, &state->extra->estimate, &to[n++]);
	}
	return n;
}

int alerts_list(const struct policy *policy, bool judged_now, struct alert **ret, size_t *ret_n)
{
	struct alert *alerts = calloc(count_active(policy) + 1, sizeof(*alerts));
	const struct ended *ended;
	size_t n = 0;

	if (!alerts)
		return -ENOMEM;
	for (size_t i = 0; i < policy->n_window_sets; i++) {
		const struct window_set *window_set = policy->window_sets[i];

		for (size_t j = 0; j < window_set->n_active; j++)
			n += list_target(policy, window_set->active[j], judged_now, &alerts[n]);
	}
	TAILQ_FOREACH (ended, &policy->ended, list)
		if (ended->alert.decision.state == ALERT_RESOLVED)
			alerts[n++] = ended->alert;
	qsort(alerts, n, sizeof(*alerts), compare_alerts);
	*ret = alerts;
	*ret_n = limit_resolved(alerts, n);
	return 0;
}

int policy_alerts(const struct policy *policy, struct alert **ret, size_t *ret_n)
{
	return alerts_list(policy, true, ret, ret_n);
}

/* The index of the rule set's member that is the rule; -1: the rule is not in the rule set. */
static ssize_t member_of(const struct rule_set *rule_set, const struct window_set_rules *rules, size_t rule)
{
	for (size_t i = 0; i < rule_set->n; i++)
		if (rules->list[rule_set->members[i]].rule == rule)
			return (ssize_t)i;
	return -1;
}

/*
 * Explains a path for which nothing was ever put: of a cgroup without a slot, or if the rule has `subtree`, of
 * a cgroup above one.
 */
static size_t explain_no_slot(const struct policy *policy, const struct rule *rule, const char *path,
			      struct alert *ret)
{
	const enum unknown_reason unknown =
		no_slot_has(policy->no_slot, path) ? UNKNOWN_NO_SLOT : UNKNOWN_SUBTREE_NO_SLOT;
	const u64 subtree = rule->subtree ? no_slot_count_subtree(policy->no_slot, path, strlen(path)) : 0;
	size_t n = 0;

	if (unknown == UNKNOWN_SUBTREE_NO_SLOT && subtree == 0)
		return 0;
	for (size_t i = 0; i < policy->n_window_sets; i++) {
		const struct window_set *window_set = policy->window_sets[i];

		if (!window_set_is_of(window_set, policy->events, rule, window_set->event))
			continue;
		ret[n++] = (struct alert){
			.rule = rule,
			.cgroup = path,
			.event = window_set->event,
			.event_key = policy->keys[window_set->event],
			.nominal_hz = policy->events[window_set->event].nominal_hz,
			.decision = {.unknown = unknown, .since_ns = policy->starts[rule - policy->rules].ns},
			.limits = rule_limits(rule, rule->threshold),
			.covered_ns = window_set->covered_ns,
			.subtree_without_slot = (u32)subtree,
			.counts = (u8)policy->events[window_set->event].count_kind,
			.samples_loads = policy->samples_loads,
			.since = policy->starts[rule - policy->rules].time,
			.worst = NAN,
		};
	}
	return n;
}

int policy_explain(const struct policy *policy, const char *rule, const char *path, struct alert **ret,
		   size_t *ret_n)
{
	const struct rule *found = policy_rule(policy, rule);
	const struct policy_path *place = path_find(policy, path);
	struct alert *alerts;
	size_t n = 0;

	if (!found)
		return -ENOENT;
	if (!rule_matches(found, path))
		return -ENXIO;
	alerts = calloc(policy->n_window_sets + 1, sizeof(*alerts));
	if (!alerts)
		return -ENOMEM;
	for (size_t i = 0; place && i < policy->n_window_sets;
	     i++) { /* window sets of a rule are in the order of events */
		const struct target *target = target_find(place, policy->window_sets[i]);
		ssize_t member = target ? member_of(target->rule_set, &target->window_set->rules,
						    (size_t)(found - policy->rules))
					: -1;

		if (member >= 0)
			alert_of(policy, target, (size_t)member, &alerts[n++]);
	}
	if (n == 0)
		n = explain_no_slot(policy, found, path, alerts);
	*ret = alerts;
	*ret_n = n;
	return 0;
}

void policy_set_no_slot(struct policy *policy, const struct no_slot *no_slot)
{
	policy->no_slot = no_slot;
}

/*
 * Returns the number of cgroups above the path of index `i` that a rule matches. Leaves out those that are in
 * the list themselves, and those above an earlier path. Without memory they are left out until the next list.
 */
static u64 count_above(const struct policy *policy, const struct rule *rule, size_t i)
{
	const struct no_slot *list = policy->no_slot;
	const char *before = i > 0 ? list->paths[i - 1] : NULL;
	_cleanup_free_ char *path = strdup(list->paths[i]);
	u64 n = 0;

	while (path && *path == '/' && path[1]) {
		char *slash = strrchr(path, '/');

		/* All paths below a cgroup are neighbours in the list: they begin with its path and a slash. */
		if (before && strncmp(before, path, (size_t)(slash - path) + 1) == 0)
			break;
		slash[slash == path] = '\0';
		n += !no_slot_has_name(list, path) && rule_matches(rule, path);
	}
	return n;
}

static struct no_slot_counts count_no_slot(const struct policy *policy, size_t rule)
{
	struct no_slot_matches *matches = &policy->no_slot_matches[rule];
	const struct no_slot *list = policy->no_slot;

	if (!list)
		return (struct no_slot_counts){0};
	if (matches->list == list && matches->generation == list->generation)
		return matches->counts;
	*matches = (struct no_slot_matches){.list = list, .generation = list->generation};
	for (size_t i = 0; i < list->n; i++) {
		matches->counts.at += rule_matches(&policy->rules[rule], list->paths[i]);
		if (policy->rules[rule].subtree)
			matches->counts.above += count_above(policy, &policy->rules[rule], i);
	}
	return matches->counts;
}

/* Adds the targets of a window set to `ret`. Returns how many of them count_no_slot() also counts. */
static struct no_slot_counts count_window_set(const struct policy *policy,
					      const struct window_set *window_set, size_t rule,
					      struct policy_counts *ret)
{
	struct no_slot_counts named = {0};
	const struct rule_set *rule_set = NULL;
	ssize_t member = -1;

	for (size_t i = 0; i < window_set->events[0].n_numbers; i++) {
		const struct target *target = window_set->events[0].by_number[i];
		const struct rule_state *state;
		enum unknown_reason unknown;
		bool at, is_partial;

		if (!target)
			continue;
		if (target->rule_set != rule_set) {
			rule_set = target->rule_set;
			member = member_of(rule_set, &window_set->rules, rule);
		}
		if (member < 0)
			continue;
		state = &target->states[member];
		unknown = target_unknown(policy, target, (size_t)member);
		at = policy->no_slot && no_slot_has_name(policy->no_slot, target->path->name);
		is_partial = subtree_without_slot(policy, target) > 0;
		named.at += at;
		named.above += !at && is_partial;
		if (state->extra && state->extra->preference.ignored) {
			ret->ignored++;
		} else if (unknown != UNKNOWN_NOT) {
			ret->unknown[unknown]++;
			ret->unknown_firing += state->state == ALERT_FIRING;
		} else {
			ret->states[state->state]++;
			ret->partial += is_partial;
		}
	}
	return named;
}

/* Returns the roles that the rule needs, and that no event of the policy has. */
static unsigned not_sampled(const struct policy *policy, const struct rule *rule)
{
	enum event_role roles[METRIC_EVENTS_MAX];
	unsigned missing = 1U << rule->event;

	for (size_t n = metric_events(&rule->metric, roles); n-- > 0;)
		missing |= 1U << roles[n];
	for (size_t i = 0; i < policy->n_events; i++)
		missing &= ~(1U << policy->events[i].role);
	return missing;
}

void policy_count(const struct policy *policy, size_t rule, struct policy_counts *ret)
{
	*ret = (struct policy_counts){0};
	if (rule < policy->n_rules)
		ret->not_sampled = not_sampled(policy, &policy->rules[rule]);
	for (size_t i = 0; rule < policy->n_rules && i < policy->n_window_sets; i++) {
		const struct window_set *window_set = policy->window_sets[i];
		struct no_slot_counts all, named;

		if (!window_set_is_of(window_set, policy->events, &policy->rules[rule], window_set->event))
			continue;
		named = count_window_set(policy, window_set, rule, ret);
		all = count_no_slot(policy, rule);
		ret->unknown[UNKNOWN_NO_SLOT] += all.at - named.at;
		/* count_above() may have left some out. */
		if (all.above > named.above)
			ret->unknown[UNKNOWN_SUBTREE_NO_SLOT] += all.above - named.above;
	}
}

size_t policy_bytes(const struct policy *policy)
{
	size_t bytes = sizeof(*policy) + sizeof(*policy->parts) + policy->bytes;
	const struct ended *ended;

	for (size_t i = 0; i < policy->n_window_sets; i++) {
		const struct window_set *window_set = policy->window_sets[i];

		bytes += sizeof(*window_set);
		for (size_t j = 0; j < window_set->n_events; j++)
			bytes += sliding_bytes(window_set->events[j].sliding);
	}
	if (policy->paths)
		bytes += sizeof(struct policy_path *) << policy->paths_log2;
	if (policy->entries)
		bytes += sizeof(struct entry *) << policy->entries_log2;
	TAILQ_FOREACH (ended, &policy->ended, list)
		bytes += sizeof(*ended) + sizeof(*ended->rule) + strlen(ended->cgroup) + 1;
	return bytes + policy->changes_room * (sizeof(*policy->changes) + sizeof(*policy->transitions));
}
