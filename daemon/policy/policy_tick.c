// SPDX-License-Identifier: GPL-2.0
/* Enters a collection in the windows of all rules, and evaluates the rules. */
#include <errno.h>
#include <string.h>

#include "policy/policy_internal.h"

/*
 * Keeps the panes of all windows within max_bytes by dropping the oldest panes of the largest window. That
 * window is not covered then, so its targets are unknown.
 */
static void keep_within(struct policy *policy)
{
	for (;;) {
		struct sliding *largest = NULL;
		size_t bytes = 0;
		size_t most = 0;

		for (size_t i = 0; i < policy->n_window_sets; i++) {
			const struct window_set *window_set = policy->window_sets[i];

			for (size_t j = 0; j < window_set->n_events; j++) {
				size_t held = sliding_pane_bytes(window_set->events[j].sliding);

				bytes += held;
				if (held > most) {
					most = held;
					largest = window_set->events[j].sliding;
				}
			}
		}
		if (bytes <= policy->max_bytes || !largest)
			return;
		sliding_limit(largest,
			      most > bytes - policy->max_bytes ? most - (bytes - policy->max_bytes) : 0);
		sliding_limit(largest, policy->max_bytes);
	}
}

static int end_window_set(struct window_set *window_set)
{
	int error = 0;

	for (size_t i = 0; i < window_set->n_events; i++) {
		int r = sliding_end(window_set->events[i].sliding);

		/* A clock that went back is not an error: the window starts again, and is not covered. */
		if (r < 0 && r != -EINVAL)
			error = r;
	}
	return error;
}

static int end_windows(struct policy *policy)
{
	int error = policy->error;

	policy->parts->target = NULL;
	for (size_t i = 0; i < policy->n_window_sets; i++) {
		int r = end_window_set(policy->window_sets[i]);

		error = r < 0 ? r : error;
	}
	keep_within(policy);
	for (size_t i = 0; i < policy->n_window_sets; i++)
		window_set_look(policy->window_sets[i]);
	return error;
}

static int judge_one(struct policy *policy, struct target *target)
{
	return target && target->judged != policy->tick ? judge_target(policy, target) : 0;
}

static int judge_number(struct policy *policy, const struct window_set_event *event, size_t number)
{
	return number < event->n_numbers ? judge_one(policy, event->by_number[number]) : 0;
}

/* The distance, in targets, at which tallies are prefetched. */
#define FETCH_AHEAD 2

static int judge_changed(struct policy *policy, const struct window_set_event *event)
{
	const u32 *changed;
	size_t n_changed;
	int error = 0;

	changed = sliding_changed(event->sliding, &n_changed);
	for (size_t i = 0; i < n_changed; i++) {
		int r;

		if (i + FETCH_AHEAD < n_changed)
			sliding_fetch(event->sliding, changed[i + FETCH_AHEAD]);
		r = judge_number(policy, event, changed[i]);
		error = r < 0 ? r : error;
	}
	return error;
}

/*
 * Judges the targets whose windows changed and the active ones, whose state also changes with time; or all
 * targets, if `judge_all` is set.
 */
static int judge_window_set(struct policy *policy, struct window_set *window_set)
{
	size_t kept = 0;
	size_t n_active = window_set->n_active;
	int error = 0;
	int r;

	for (size_t i = 0; i < window_set->n_events; i++) {
		r = judge_changed(policy, &window_set->events[i]);
		error = r < 0 ? r : error;
	}
	for (size_t i = 0; i < n_active; i++) {
		r = judge_one(policy, window_set->active[i]);
		error = r < 0 ? r : error;
	}
	for (size_t i = 0; window_set->judge_all && i < window_set->events[0].n_numbers; i++) {
		r = judge_number(policy, &window_set->events[0], i);
		error = r < 0 ? r : error;
	}
	window_set->judge_all = false;
	for (size_t i = 0; i < window_set->n_active; i++) {
		struct target *target = window_set->active[i];
		bool stays = target->rejudge;

		for (size_t j = 0; !stays && j < target->rule_set->n; j++)
			stays = target->states[j].state != ALERT_INACTIVE;
		target->active = stays;
		if (stays)
			window_set->active[kept++] = target;
	}
	window_set->n_active = kept;
	return error;
}

/*
 * Ends the alerts of a target. Pending or firing alerts are reported; resolved ones are kept for the rest of
 * their hour.
 */
static int end_alerts(struct policy *policy, struct target *target)
{
	for (size_t i = 0; i < target->rule_set->n; i++) {
		struct rule_state *state = &target->states[i];
		struct ended *ended = NULL;
		struct alert alert;
		int r;

		if (state->state == ALERT_INACTIVE)
			continue;
		alert_with(policy, target, i, &state->extra->estimate, &alert);
		r = ended_new(&alert, state->state, &ended);
		if (r == 0)
			r = changes_reserve(policy, 1);
		if (r < 0) {
			(void)ended_free(ended);
			return r;
		}
		state->state = ALERT_INACTIVE;
		if (alert.decision.state == ALERT_RESOLVED) {
			ended->until_ns = alert.decision.since_ns + DECIDE_RESOLVED_NS;
			ended_keep(policy, ended);
			continue;
		}
		ended->alert.end = target->path->end;
		policy->changes[policy->n_changes++] =
			(struct change){.order = target_window_set_rule(target, i)->rule + (size_t)1,
					.from = ended->from,
					.ended = ended};
	}
	return 0;
}

/*
 * Returns the time by which a target outlives its cgroup. An alert ends when the window has passed. Without
 * an alert nothing waits for the end of the window. So the memory that short-lived cgroups hold does not
 * depend on the length of the window.
 */
static u64 gone_for_ns(const struct target *target)
{
	const u64 window_ns = target->window_set->window_ns;

	for (size_t i = 0; i < target->rule_set->n; i++)
		if (target->states[i].state != ALERT_INACTIVE)
			return window_ns;
	return window_ns < POLICY_STRAY_NS ? window_ns : POLICY_STRAY_NS;
}

/* Returns the last time at which the target may have got a sample. */
static u64 gone_since_ns(const struct target *target)
{
	const struct policy_path *path = target->path;

	return target->window_set->subtree && path->below_ns > path->gone_ns ? path->below_ns : path->gone_ns;
}

static int end_gone(struct policy *policy)
{
	struct policy_path *next;
	int error = 0;

	for (struct policy_path *path = TAILQ_FIRST(&policy->gone); path; path = next) {
		struct target *next_target;

		next = TAILQ_NEXT(path, gone_list);
		for (struct target *target = path->targets; target; target = next_target) {
			int r;

			next_target = target->next;
			if (policy->now_ns < gone_since_ns(target) + gone_for_ns(target))
				continue;
			if (path->entry) /* samples that came after the removal made this entry */
				entry_drop(policy, path->entry);
			/*
			 * The configuration excludes the cgroup itself, but cgroups below it still add samples to
			 * the target of its subtree.
			 */
			if (path->end == ALERT_END_IGNORED && target->refs)
				continue;
			r = end_alerts(policy, target);
			if (r < 0)
				error = r;
			else if (!target->refs)
				target_drop(policy, target);
		}
		if (!path->targets) {
			path_forget(policy, path);
			path_release(policy, path);
		}
	}
	return error;
}

static int add_ended(struct policy *policy)
{
	struct ended *ended;

	while ((ended = TAILQ_FIRST(&policy->to_report))) {
		int r = changes_reserve(policy, 1);

		if (r < 0)
			return r;
		TAILQ_REMOVE(&policy->to_report, ended, list);
		policy->changes[policy->n_changes++] = (struct change){.from = ended->from, .ended = ended};
	}
	return 0;
}

static const char *change_rule(const struct policy *policy, const struct change *change)
{
	return change->ended ? change->ended->rule->name
			     : target_rule(policy, change->target, change->member)->name;
}

static const char *change_cgroup(const struct change *change)
{
	return change->ended ? change->ended->cgroup : change->target->path->name;
}

static unsigned change_event(const struct change *change)
{
	return change->ended ? change->ended->alert.event : change->target->window_set->event;
}

static int compare_changes(const void *a, const void *b, void *userdata)
{
	const struct change *left = a;
	const struct change *right = b;
	const struct policy *policy = userdata;
	int order;

	if (left->order != right->order)
		return left->order < right->order ? -1 : 1;
	order = left->order ? 0 : strcmp(change_rule(policy, left), change_rule(policy, right));
	if (!order)
		order = strcmp(change_cgroup(left), change_cgroup(right));
	if (order)
		return order;
	return change_event(left) < change_event(right) ? -1 : change_event(left) > change_event(right);
}

static void report_ended(struct policy *policy, struct ended *ended, struct transition *ret)
{
	struct alert *alert = &ended->alert;

	alert->decision.state = ended->from == ALERT_FIRING ? ALERT_RESOLVED : ALERT_INACTIVE;
	alert->decision.unknown = UNKNOWN_NOT;
	alert->decision.since_ns = policy->now_ns;
	alert->decision.held_ns = 0;
	alert->since = policy->now;
	if (ended->from == ALERT_FIRING)
		alert->resolved = policy->now;
	ended->until_ns = policy->now_ns + DECIDE_RESOLVED_NS;
	*ret = (struct transition){.from = ended->from, .to = alert->decision.state, .alert = *alert};
	ended_keep(policy, ended);
}

/*
 * Makes the transitions, sorted, and numbers the alerts in that order. changes_reserve() has made room for
 * them.
 */
static void make_transitions(struct policy *policy)
{
	if (!policy->n_changes)
		return;
	qsort_r(policy->changes, policy->n_changes, sizeof(*policy->changes), compare_changes, policy);
	for (size_t i = 0; i < policy->n_changes; i++) {
		struct change *change = &policy->changes[i];
		struct transition *transition = &policy->transitions[i];
		struct rule_state *state;

		if (change->ended) {
			report_ended(policy, change->ended, transition);
			continue;
		}
		state = &change->target->states[change->member];
		if (state->state == ALERT_FIRING)
			state->extra->number = policy->next_number++;
		transition->from = change->from;
		transition->to = (enum alert_state)state->state;
		alert_with(policy, change->target, change->member, &state->extra->estimate,
			   &transition->alert);
	}
}

static void drop_doomed(struct policy *policy)
{
	while (policy->doomed) {
		struct target *target = policy->doomed;
		struct policy_path *path = target->path;

		policy->doomed = target->next_doomed;
		target_drop(policy, target);
		if (path->gone)
			continue;
		/*
		 * A cgroup that has no samples of its own has no entry, and nobody reports its removal. If it is
		 * still there, its preference is read again when it has a target again.
		 */
		if (!path->targets && !path->entry)
			path_forget(policy, path);
		path_release(policy, path);
	}
}

int policy_tick(struct policy *policy, const struct transition **ret, size_t *ret_n)
{
	int error;
	int r;

	policy->tick++;
	error = end_windows(policy);
	policy->last_ns = policy->now_ns;
	policy->last = policy->now;
	ended_expire(policy);
	r = add_ended(policy);
	error = r < 0 ? r : error;
	r = end_gone(policy);
	error = r < 0 ? r : error;
	for (size_t i = 0; i < policy->n_window_sets; i++) {
		r = judge_window_set(policy, policy->window_sets[i]);
		error = r < 0 ? r : error;
	}
	make_transitions(policy);
	*ret = policy->transitions;
	*ret_n = policy->n_changes;
	policy->n_changes = 0;
	drop_doomed(policy);
	for (size_t i = 0; i < policy->n_window_sets; i++)
		window_set_shrink(policy->window_sets[i]);
	return error;
}
