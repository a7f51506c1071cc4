// SPDX-License-Identifier: GPL-2.0
/* Changes the rules, and keeps the state of those that stay the same. */
#include <errno.h>
#include <string.h>

#include "policy/policy_internal.h"

/* A view that the new rules need: an existing one, or a new one. */
struct planned_view {
	struct view *view;
	bool is_new;
	struct view_rules rules;
};

/* An existing subject, with its group and states under the new rules. */
struct planned_subject {
	struct subject *subject;
	struct group *group; /* NULL: none of the new rules matches */
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
	struct planned_view *views;
	size_t n_views;
	struct planned_subject *subjects;
	size_t n_subjects;
	struct ended_list ended; /* alerts of rules that were removed or changed */
};

static void plan_clear(struct plan *plan)
{
	struct ended *ended;

	for (size_t i = 0; i < plan->n_subjects; i++)
		if (plan->subjects[i].states)
			states_free(plan->policy, plan->subjects[i].states, plan->subjects[i].group->n);
	for (size_t i = 0; i < plan->n_views; i++) {
		view_rules_free(&plan->views[i].rules);
		if (plan->views[i].is_new)
			view_free(plan->views[i].view);
	}
	while ((ended = TAILQ_FIRST(&plan->ended))) {
		TAILQ_REMOVE(&plan->ended, ended, list);
		(void)ended_free(ended);
	}
	free(plan->subjects);
	free(plan->views);
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
	for (size_t i = 0; i < plan->n_views; i++)
		if (view_is_of(plan->views[i].view, plan->policy->events, rule, event))
			return true;
	return false;
}

static int plan_view(struct plan *plan, const struct rule *rule, unsigned event)
{
	struct policy *policy = plan->policy;
	struct planned_view *views = reallocarray(plan->views, plan->n_views + 1, sizeof(*views));
	struct view like = {.event = event,
			    .window_ns = rule->window_ns,
			    .subtree = rule->subtree,
			    .has_second = metric_has_second(&rule->metric)};
	struct planned_view planned = {.is_new = true};
	int r = 0;

	if (!views)
		return -ENOMEM;
	plan->views = views;
	for (size_t i = 0; i < policy->n_views; i++)
		if (view_is_of(policy->views[i], policy->events, rule, event))
			planned.view = policy->views[i];
	if (planned.view)
		planned.is_new = false;
	else
		r = view_new(policy, &like, judge_leaving, judge_passing, &planned.view);
	if (r < 0)
		return r;
	r = view_rules_make(policy, plan->rules, plan->n_rules, planned.view, &planned.rules);
	if (r < 0) {
		if (planned.is_new)
			view_free(planned.view);
		return r;
	}
	plan->views[plan->n_views++] = planned;
	return 0;
}

static int plan_views(struct plan *plan)
{
	for (size_t i = 0; i < plan->n_rules; i++) {
		const struct rule *rule = &plan->rules[i];

		for (unsigned event = 0; event < plan->policy->n_events; event++) {
			int r;

			if (plan->policy->events[event].role != rule->event || is_planned(plan, rule, event))
				continue;
			r = plan_view(plan, rule, event);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int plan_ends(struct plan *plan, const struct subject *subject)
{
	const struct policy *policy = plan->policy;

	for (size_t i = 0; i < subject->group->n; i++) {
		const struct rule_state *state = &subject->states[i];
		struct ended *ended;
		struct alert alert;
		int r;

		if (state->state == ALERT_INACTIVE || plan->carried[subject_view_rule(subject, i)->rule] >= 0)
			continue;
		alert_of(policy, subject, i, &alert);
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

static struct planned_view *planned_for(const struct plan *plan, const struct view *view)
{
	for (size_t i = 0; i < plan->n_views; i++)
		if (plan->views[i].view == view)
			return &plan->views[i];
	return NULL;
}

static int plan_subject(struct plan *plan, struct subject *subject, struct planned_view *planned)
{
	struct planned_subject *to = &plan->subjects[plan->n_subjects++];
	int r = plan_ends(plan, subject);

	*to = (struct planned_subject){.subject = subject};
	if (r < 0 || !planned)
		return r;
	r = view_group(plan->rules, &planned->rules, subject->path->name, &to->group);
	if (r < 0 || !to->group)
		return r;
	return states_new(plan->policy, plan->rules, &planned->rules, to->group, subject->view, &to->states);
}

static int plan_subjects(struct plan *plan)
{
	const struct policy *policy = plan->policy;
	size_t n = 0;

	for (size_t i = 0; i < policy->n_views; i++)
		n += policy->views[i]->n_subjects;
	plan->subjects = calloc(n + 1, sizeof(*plan->subjects));
	if (!plan->subjects)
		return -ENOMEM;
	for (size_t i = 0; i < policy->n_views; i++) {
		const struct view *view = policy->views[i];

		for (size_t j = 0; j < view->events[0].n_numbers; j++) {
			struct subject *subject = view->events[0].by_number[j];
			int r = subject ? plan_subject(plan, subject, planned_for(plan, view)) : 0;

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

/* Moves the states of rules that are carried over. `new_list` are the new rules of the subject's view. */
static void carry_states(const struct plan *plan, struct planned_subject *planned,
			 const struct view_rule *new_list)
{
	struct subject *subject = planned->subject;

	for (size_t i = 0; i < subject->group->n; i++) {
		ssize_t rule = plan->carried[subject_view_rule(subject, i)->rule];

		for (size_t j = 0; j < planned->group->n; j++)
			if (rule >= 0 && new_list[planned->group->members[j]].rule == (size_t)rule)
				swap_states(&subject->states[i], &planned->states[j]);
	}
}

static void carry_subjects(struct plan *plan)
{
	struct policy *policy = plan->policy;

	for (size_t i = 0; i < plan->n_subjects; i++) {
		struct planned_subject *planned = &plan->subjects[i];
		struct subject *subject = planned->subject;

		if (!subject)
			continue;
		if (!planned->group) {
			struct policy_path *path = subject->path;

			subject_drop(policy, subject);
			path_release(policy, path);
			continue;
		}
		carry_states(plan, planned, planned_for(plan, subject->view)->rules.list);
		states_free(policy, subject->states, subject->group->n);
		subject->states = TAKE_PTR(planned->states);
		subject->group = planned->group;
	}
}

static void carry_views(struct plan *plan, struct view **views)
{
	struct policy *policy = plan->policy;

	for (size_t i = 0; i < policy->n_views; i++)
		if (!planned_for(plan, policy->views[i]))
			view_free(policy->views[i]);
	for (size_t i = 0; i < plan->n_views; i++) {
		views[i] = plan->views[i].view;
		view_rules_free(&views[i]->rules);
		views[i]->rules = plan->views[i].rules;
		views[i]->judge_all = true;
	}
	free(policy->views);
	policy->views = views;
	policy->n_views = plan->n_views;
	plan->n_views = 0;
}

/* Empties the list of subjects of each entry. `known` stays, because list_entries() needs it. */
static void unlist_entries(struct policy *policy)
{
	for (size_t i = 0; policy->entries && i < (size_t)1 << policy->entries_log2; i++)
		for (struct entry *entry = policy->entries[i]; entry; entry = entry->next) {
			u32 known = entry->known;

			entry_unlist(policy, entry);
			entry->known = known;
		}
}

/* Fills the lists of subjects again. An entry for which this fails gets its list with its next difference. */
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
			for (struct subject *subject = path->ignore || path->threshold ? path->subjects
										       : NULL;
			     subject; subject = subject->next)
				(void)subject_prefer(policy, subject);
}

static void carry_out(struct plan *plan, struct view **views)
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
	carry_subjects(plan);
	carry_views(plan, views);
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
	struct view **views = NULL;
	int r;

	TAILQ_INIT(&plan.ended);
	r = plan_rules(&plan, rules, n);
	if (r == 0)
		r = plan_views(&plan);
	if (r == 0)
		r = plan_subjects(&plan);
	if (r == 0) {
		views = calloc(plan.n_views + 1, sizeof(struct view *));
		r = views ? 0 : -ENOMEM;
	}
	if (r == 0)
		carry_out(&plan, views);
	plan_clear(&plan);
	return r;
}
