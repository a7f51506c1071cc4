// SPDX-License-Identifier: GPL-2.0
/* Enters a collection in the windows of all rules, and evaluates the rules. */
#include <errno.h>
#include <string.h>

#include "policy/policy_internal.h"

/*
 * Keeps the panes of all windows within max_bytes by dropping the oldest panes of the largest window. That
 * window is not covered then, so its subjects are unknown.
 */
static void keep_within(struct policy *policy)
{
	for (;;) {
		struct sliding *largest = NULL;
		size_t bytes = 0;
		size_t most = 0;

		for (size_t i = 0; i < policy->n_views; i++) {
			const struct view *view = policy->views[i];

			for (size_t j = 0; j < view->n_events; j++) {
				size_t held = sliding_pane_bytes(view->events[j].sliding);

				bytes += held;
				if (held > most) {
					most = held;
					largest = view->events[j].sliding;
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

static int end_view(struct view *view)
{
	int error = 0;

	for (size_t i = 0; i < view->n_events; i++) {
		int r = sliding_end(view->events[i].sliding);

		/* A clock that went back is not an error: the window starts again, and is not covered. */
		if (r < 0 && r != -EINVAL)
			error = r;
	}
	return error;
}

static int end_windows(struct policy *policy)
{
	int error = policy->error;

	policy->parts->subject = NULL;
	for (size_t i = 0; i < policy->n_views; i++) {
		int r = end_view(policy->views[i]);

		error = r < 0 ? r : error;
	}
	keep_within(policy);
	for (size_t i = 0; i < policy->n_views; i++)
		view_look(policy->views[i]);
	return error;
}

static int judge_one(struct policy *policy, struct subject *subject)
{
	return subject && subject->judged != policy->tick ? judge_subject(policy, subject) : 0;
}

static int judge_number(struct policy *policy, const struct view_event *event, size_t number)
{
	return number < event->n_numbers ? judge_one(policy, event->by_number[number]) : 0;
}

/* The distance, in subjects, at which tallies are prefetched. */
#define FETCH_AHEAD 2

static int judge_changed(struct policy *policy, const struct view_event *event)
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
 * Judges the subjects whose windows changed and the active ones, whose state also changes with time; or all
 * subjects, if `judge_all` is set.
 */
static int judge_view(struct policy *policy, struct view *view)
{
	size_t kept = 0;
	size_t n_active = view->n_active;
	int error = 0;
	int r;

	for (size_t i = 0; i < view->n_events; i++) {
		r = judge_changed(policy, &view->events[i]);
		error = r < 0 ? r : error;
	}
	for (size_t i = 0; i < n_active; i++) {
		r = judge_one(policy, view->active[i]);
		error = r < 0 ? r : error;
	}
	for (size_t i = 0; view->judge_all && i < view->events[0].n_numbers; i++) {
		r = judge_number(policy, &view->events[0], i);
		error = r < 0 ? r : error;
	}
	view->judge_all = false;
	for (size_t i = 0; i < view->n_active; i++) {
		struct subject *subject = view->active[i];
		bool stays = subject->rejudge;

		for (size_t j = 0; !stays && j < subject->group->n; j++)
			stays = subject->states[j].state != ALERT_INACTIVE;
		subject->active = stays;
		if (stays)
			view->active[kept++] = subject;
	}
	view->n_active = kept;
	return error;
}

/*
 * Ends the alerts of a subject. Pending or firing alerts are reported; resolved ones are kept for the rest of
 * their hour.
 */
static int end_alerts(struct policy *policy, struct subject *subject)
{
	for (size_t i = 0; i < subject->group->n; i++) {
		struct rule_state *state = &subject->states[i];
		struct ended *ended = NULL;
		struct alert alert;
		int r;

		if (state->state == ALERT_INACTIVE)
			continue;
		alert_with(policy, subject, i, &state->extra->estimate, &alert);
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
		ended->alert.end = subject->path->end;
		policy->changes[policy->n_changes++] =
			(struct change){.order = subject_view_rule(subject, i)->rule + (size_t)1,
					.from = ended->from,
					.ended = ended};
	}
	return 0;
}

/*
 * Returns the time by which a subject outlives its cgroup. An alert ends when the window has passed. Without
 * an alert nothing waits for the end of the window. So the memory that short-lived cgroups hold does not
 * depend on the length of the window.
 */
static u64 gone_for_ns(const struct subject *subject)
{
	const u64 window_ns = subject->view->window_ns;

	for (size_t i = 0; i < subject->group->n; i++)
		if (subject->states[i].state != ALERT_INACTIVE)
			return window_ns;
	return window_ns < POLICY_STRAY_NS ? window_ns : POLICY_STRAY_NS;
}

/* Returns the last time at which the subject may have got a sample. */
static u64 gone_since_ns(const struct subject *subject)
{
	const struct policy_path *path = subject->path;

	return subject->view->subtree && path->below_ns > path->gone_ns ? path->below_ns : path->gone_ns;
}

static int end_gone(struct policy *policy)
{
	struct policy_path *next;
	int error = 0;

	for (struct policy_path *path = TAILQ_FIRST(&policy->gone); path; path = next) {
		struct subject *next_subject;

		next = TAILQ_NEXT(path, gone_list);
		for (struct subject *subject = path->subjects; subject; subject = next_subject) {
			int r;

			next_subject = subject->next;
			if (policy->now_ns < gone_since_ns(subject) + gone_for_ns(subject))
				continue;
			if (path->entry) /* samples that came after the removal made this entry */
				entry_drop(policy, path->entry);
			/*
			 * The configuration excludes the cgroup itself, but cgroups below it still add samples to
			 * the subject of its subtree.
			 */
			if (path->end == ALERT_END_IGNORED && subject->refs)
				continue;
			r = end_alerts(policy, subject);
			if (r < 0)
				error = r;
			else if (!subject->refs)
				subject_drop(policy, subject);
		}
		if (!path->subjects) {
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
			     : subject_rule(policy, change->subject, change->member)->name;
}

static const char *change_cgroup(const struct change *change)
{
	return change->ended ? change->ended->cgroup : change->subject->path->name;
}

static unsigned change_event(const struct change *change)
{
	return change->ended ? change->ended->alert.event : change->subject->view->event;
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
		state = &change->subject->states[change->member];
		if (state->state == ALERT_FIRING)
			state->extra->number = policy->next_number++;
		transition->from = change->from;
		transition->to = (enum alert_state)state->state;
		alert_with(policy, change->subject, change->member, &state->extra->estimate,
			   &transition->alert);
	}
}

static void drop_doomed(struct policy *policy)
{
	while (policy->doomed) {
		struct subject *subject = policy->doomed;
		struct policy_path *path = subject->path;

		policy->doomed = subject->next_doomed;
		subject_drop(policy, subject);
		if (path->gone)
			continue;
		/*
		 * A cgroup that has no samples of its own has no entry, and nobody reports its removal. If it is
		 * still there, its preference is read again when it has a subject again.
		 */
		if (!path->subjects && !path->entry)
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
	for (size_t i = 0; i < policy->n_views; i++) {
		r = judge_view(policy, policy->views[i]);
		error = r < 0 ? r : error;
	}
	make_transitions(policy);
	*ret = policy->transitions;
	*ret_n = policy->n_changes;
	policy->n_changes = 0;
	drop_doomed(policy);
	for (size_t i = 0; i < policy->n_views; i++)
		view_shrink(policy->views[i]);
	return error;
}
