// SPDX-License-Identifier: GPL-2.0
/* Changes the rules, and keeps the state of those that stay the same. */
#include <errno.h>
#include <string.h>

#include "policy/policy_internal.h"

/* A window set that the new rules need: an existing one, or a new one. */
struct planned_window_set {
	struct window_set *window_set;
	bool is_new;
	struct window_set_rules rules;
};

/* An existing target, with its rule set and states under the new rules. */
struct planned_target {
	struct target *target;
	struct rule_set *rule_set; /* NULL: none of the new rules matches */
	struct rule_state *states;
};

/* Everything that can fail happens while the plan is made. carry_out(), which changes the policy, cannot fail. */
struct plan {
	struct policy *policy;
	struct rule *rules;
	struct rule_start *starts;
	struct no_slot_matches *no_slot_matches;
	size_t n_rules;
	ssize_t *carried; /* for each old rule: its new index, or -1 */
	struct planned_window_set *window_sets;
	size_t n_window_sets;
	struct planned_target *targets;
	size_t n_targets;
	struct ended_list ended; /* alerts of rules that were removed or changed */
};

static void plan_clear(struct plan *plan)
{
	struct ended *ended;

	for (size_t i = 0; i < plan->n_targets; i++)
		if (plan->targets[i].states)
			states_free(plan->policy, plan->targets[i].states, plan->targets[i].rule_set->n);
	for (size_t i = 0; i < plan->n_window_sets; i++) {
		window_set_rules_free(&plan->window_sets[i].rules);
		if (plan->window_sets[i].is_new)
			window_set_free(plan->window_sets[i].window_set);
	}
	while ((ended = TAILQ_FIRST(&plan->ended))) {
		TAILQ_REMOVE(&plan->ended, ended, list);
		(void)ended_free(ended);
	}
	free(plan->targets);
	free(plan->window_sets);
	free(plan->carried);
	free(plan->starts);
	free(plan->no_slot_matches);
	(void)rules_free(plan->rules, plan->n_rules);
}

static int plan_rules(struct plan *plan, const struct rule *rules, size_t n)
{
	const struct policy *policy = plan->policy;
	int r;

	r = rules_copy(rules, n, &plan->rules);
	if (r < 0)
		return r;
	plan->n_rules = n;
	plan->starts = calloc(n + 1, sizeof(*plan->starts));
	plan->no_slot_matches = calloc(n + 1, sizeof(*plan->no_slot_matches));
	plan->carried = calloc(policy->n_rules + 1, sizeof(*plan->carried));
	if (!plan->starts || !plan->no_slot_matches || !plan->carried)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		plan->starts[i] = (struct rule_start){policy->last_ns, policy->last};
	for (size_t i = 0; i < policy->n_rules; i++) {
		plan->carried[i] = -1;
		for (size_t j = 0; j < n && plan->carried[i] < 0; j++) {
			if (strcmp(policy->rules[i].name, rules[j].name) != 0 ||
			    !rule_same_decision(&policy->rules[i], &rules[j]))
				continue;
			plan->carried[i] = (ssize_t)j;
			plan->starts[j] = policy->starts[i];
		}
	}
	return 0;
}

static bool is_planned(const struct plan *plan, const struct rule *rule, unsigned event)
{
	for (size_t i = 0; i < plan->n_window_sets; i++)
		if (window_set_is_of(plan->window_sets[i].window_set, plan->policy->events, rule, event))
			return true;
	return false;
}

static int plan_window_set(struct plan *plan, const struct rule *rule, unsigned event)
{
	struct policy *policy = plan->policy;
	struct planned_window_set *window_sets =
		reallocarray(plan->window_sets, plan->n_window_sets + 1, sizeof(*window_sets));
	struct window_set like = {.event = event,
				  .window_ns = rule->window_ns,
				  .subtree = rule->subtree,
				  .has_second = metric_has_second(&rule->metric)};
	struct planned_window_set planned = {.is_new = true};
	int r = 0;

	if (!window_sets)
		return -ENOMEM;
	plan->window_sets = window_sets;
	for (size_t i = 0; i < policy->n_window_sets; i++)
		if (window_set_is_of(policy->window_sets[i], policy->events, rule, event))
			planned.window_set = policy->window_sets[i];
	if (planned.window_set)
		planned.is_new = false;
	else
		r = window_set_new(policy, &like, judge_leaving, judge_passing, &planned.window_set);
	if (r < 0)
		return r;
	r = window_set_rules_make(policy, plan->rules, plan->n_rules, planned.window_set, &planned.rules);
	if (r < 0) {
		if (planned.is_new)
			window_set_free(planned.window_set);
		return r;
	}
	plan->window_sets[plan->n_window_sets++] = planned;
	return 0;
}

static int plan_window_sets(struct plan *plan)
{
	for (size_t i = 0; i < plan->n_rules; i++) {
		const struct rule *rule = &plan->rules[i];

		for (unsigned event = 0; event < plan->policy->n_events; event++) {
			int r;

			if (plan->policy->events[event].role != rule->event || is_planned(plan, rule, event))
				continue;
			r = plan_window_set(plan, rule, event);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int plan_ends(struct plan *plan, const struct target *target)
{
	const struct policy *policy = plan->policy;

	for (size_t i = 0; i < target->rule_set->n; i++) {
		const struct rule_state *state = &target->states[i];
		struct ended *ended;
		struct alert alert;
		int r;

		if (state->state == ALERT_INACTIVE ||
		    plan->carried[target_window_set_rule(target, i)->rule] >= 0)
			continue;
		alert_of(policy, target, i, &alert);
		if (alert.decision.unknown != UNKNOWN_NOT)
			alert.estimate = state->extra->estimate;
		r = ended_new(&alert, (enum alert_state)state->state, &ended);
		if (r < 0)
			return r;
		if (state->state == ALERT_RESOLVED)
			ended->until_ns = alert.decision.since_ns + DECIDE_RESOLVED_NS;
		else
			ended->alert.end = ALERT_END_RULE;
		TAILQ_INSERT_TAIL(&plan->ended, ended, list);
	}
	return 0;
}

static struct planned_window_set *planned_for(const struct plan *plan, const struct window_set *window_set)
{
	for (size_t i = 0; i < plan->n_window_sets; i++)
		if (plan->window_sets[i].window_set == window_set)
			return &plan->window_sets[i];
	return NULL;
}

static int plan_target(struct plan *plan, struct target *target, struct planned_window_set *planned)
{
	struct planned_target *to = &plan->targets[plan->n_targets++];
	int r = plan_ends(plan, target);

	*to = (struct planned_target){.target = target};
	if (r < 0 || !planned)
		return r;
	r = rule_set_of(plan->rules, &planned->rules, target->path->name, &to->rule_set);
	if (r < 0 || !to->rule_set)
		return r;
	return states_new(plan->policy, plan->rules, &planned->rules, to->rule_set, target->window_set,
			  &to->states);
}

static int plan_targets(struct plan *plan)
{
	const struct policy *policy = plan->policy;
	size_t n = 0;

	for (size_t i = 0; i < policy->n_window_sets; i++)
		n += policy->window_sets[i]->n_targets;
	plan->targets = calloc(n + 1, sizeof(*plan->targets));
	if (!plan->targets)
		return -ENOMEM;
	for (size_t i = 0; i < policy->n_window_sets; i++) {
		const struct window_set *window_set = policy->window_sets[i];

		for (size_t j = 0; j < window_set->events[0].n_numbers; j++) {
			struct target *target = window_set->events[0].by_number[j];
			int r = target ? plan_target(plan, target, planned_for(plan, window_set)) : 0;

			if (r < 0)
				return r;
		}
	}
	return 0;
}

static void swap_states(struct rule_state *a, struct rule_state *b)
{
	struct rule_state state = *a;

	*a = *b;
	*b = state;
}

/* Moves the states of rules that are carried over. `new_list` are the new rules of the target's window set. */
static void carry_states(const struct plan *plan, struct planned_target *planned,
			 const struct window_set_rule *new_list)
{
	struct target *target = planned->target;

	for (size_t i = 0; i < target->rule_set->n; i++) {
		ssize_t rule = plan->carried[target_window_set_rule(target, i)->rule];

		for (size_t j = 0; j < planned->rule_set->n; j++)
			if (rule >= 0 && new_list[planned->rule_set->members[j]].rule == (size_t)rule)
				swap_states(&target->states[i], &planned->states[j]);
	}
}

static void carry_targets(struct plan *plan)
{
	struct policy *policy = plan->policy;

	for (size_t i = 0; i < plan->n_targets; i++) {
		struct planned_target *planned = &plan->targets[i];
		struct target *target = planned->target;

		if (!target)
			continue;
		if (!planned->rule_set) {
			struct policy_path *path = target->path;

			target_drop(policy, target);
			path_release(policy, path);
			continue;
		}
		carry_states(plan, planned, planned_for(plan, target->window_set)->rules.list);
		states_free(policy, target->states, target->rule_set->n);
		target->states = TAKE_PTR(planned->states);
		target->rule_set = planned->rule_set;
	}
}

static void carry_window_sets(struct plan *plan, struct window_set **window_sets)
{
	struct policy *policy = plan->policy;

	for (size_t i = 0; i < policy->n_window_sets; i++)
		if (!planned_for(plan, policy->window_sets[i]))
			window_set_free(policy->window_sets[i]);
	for (size_t i = 0; i < plan->n_window_sets; i++) {
		window_sets[i] = plan->window_sets[i].window_set;
		window_set_rules_free(&window_sets[i]->rules);
		window_sets[i]->rules = plan->window_sets[i].rules;
		window_sets[i]->judge_all = true;
	}
	free(policy->window_sets);
	policy->window_sets = window_sets;
	policy->n_window_sets = plan->n_window_sets;
	plan->n_window_sets = 0;
}

/* Empties the list of targets of each entry. `known` stays, because list_entries() needs it. */
static void unlist_entries(struct policy *policy)
{
	for (size_t i = 0; policy->entries && i < (size_t)1 << policy->entries_log2; i++)
		for (struct entry *entry = policy->entries[i]; entry; entry = entry->next) {
			u32 known = entry->known;

			entry_unlist(policy, entry);
			entry->known = known;
		}
}

/* Fills the lists of targets again. An entry for which this fails gets its list with its next delta. */
static void list_entries(struct policy *policy)
{
	for (size_t i = 0; policy->entries && i < (size_t)1 << policy->entries_log2; i++)
		for (struct entry *entry = policy->entries[i]; entry; entry = entry->next) {
			u32 known = entry->known;

			entry->known = 0;
			for (unsigned event = 0; event < policy->n_events; event++)
				if (known >> event & 1 && entry_list(policy, entry, event) < 0)
					break;
		}
}

/*
 * Applies the preferences to the new rules. If memory runs out, a rule goes without them until a preference
 * changes.
 */
static void prefer_all(struct policy *policy)
{
	for (size_t i = 0; policy->paths && i < (size_t)1 << policy->paths_log2; i++)
		for (struct policy_path *path = policy->paths[i]; path; path = path->next)
			for (struct target *target = path->ignore || path->threshold ? path->targets : NULL;
			     target; target = target->next)
				(void)target_prefer(policy, target);
}

static void carry_out(struct plan *plan, struct window_set **window_sets)
{
	struct policy *policy = plan->policy;
	struct ended *ended;

	while ((ended = TAILQ_FIRST(&plan->ended))) {
		TAILQ_REMOVE(&plan->ended, ended, list);
		if (ended->from == ALERT_RESOLVED)
			ended_keep(policy, ended);
		else
			TAILQ_INSERT_TAIL(&policy->to_report, ended, list);
	}
	unlist_entries(policy);
	carry_targets(plan);
	carry_window_sets(plan, window_sets);
	(void)rules_free(policy->rules, policy->n_rules);
	free(policy->starts);
	free(policy->no_slot_matches);
	policy->rules = TAKE_PTR(plan->rules);
	policy->starts = TAKE_PTR(plan->starts);
	policy->no_slot_matches = TAKE_PTR(plan->no_slot_matches);
	policy->n_rules = plan->n_rules;
	list_entries(policy);
	prefer_all(policy);
}

int policy_set_rules(struct policy *policy, const struct rule *rules, size_t n)
{
	struct plan plan = {.policy = policy};
	struct window_set **window_sets = NULL;
	int r;

	TAILQ_INIT(&plan.ended);
	r = plan_rules(&plan, rules, n);
	if (r == 0)
		r = plan_window_sets(&plan);
	if (r == 0)
		r = plan_targets(&plan);
	if (r == 0) {
		window_sets = calloc(plan.n_window_sets + 1, sizeof(struct window_set *));
		r = window_sets ? 0 : -ENOMEM;
	}
	if (r == 0)
		carry_out(&plan, window_sets);
	plan_clear(&plan);
	return r;
}
