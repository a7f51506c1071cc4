// SPDX-License-Identifier: GPL-2.0
#include "policy/policy.h"

#include <errno.h>
#include <string.h>

#include "policy/policy_internal.h"

int policy_new(const struct policy_settings *settings, struct policy **ret)
{
	_cleanup_(policy_freep) struct policy *policy = NULL;
	int r;

	if (settings->n_events > EVENTS_MAX || settings->next_number == 0)
		return -EINVAL;
	policy = calloc(1, sizeof(*policy));
	if (!policy)
		return -ENOMEM;
	policy->paths_key = siphash_key_new();
	TAILQ_INIT(&policy->gone);
	TAILQ_INIT(&policy->ended);
	TAILQ_INIT(&policy->to_report);
	policy->max_bytes = settings->max_bytes;
	policy->next_number = settings->next_number;
	policy->last_ns = policy->now_ns = settings->start_ns;
	policy->n_events = settings->n_events;
	screen_edges(policy->lower_edges);
	for (size_t i = 0; i < policy->n_events; i++) {
		policy->events[i] = settings->events[i];
		policy->samples_loads |= settings->events[i].role == EVENT_LOADS;
		event_key(settings->events, settings->n_events, i, policy->keys[i]);
	}
	policy->parts = calloc(1, sizeof(*policy->parts));
	r = policy->parts ? evidence_new(&policy->evidence) : -ENOMEM;
	if (r == 0)
		r = policy_set_rules(policy, settings->rules, settings->n_rules);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(policy);
	return 0;
}

static void free_list(struct ended_list *list)
{
	struct ended *ended;

	while ((ended = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, ended, list);
		(void)ended_free(ended);
	}
}

struct policy *policy_free(struct policy *policy)
{
	if (!policy)
		return NULL;
	for (size_t i = 0; policy->entries && i < (size_t)1 << policy->entries_log2; i++) {
		while (policy->entries[i]) {
			struct entry *next = policy->entries[i]->next;

			free(policy->entries[i]->targets);
			free(policy->entries[i]);
			policy->entries[i] = next;
		}
	}
	for (size_t i = 0; policy->paths && i < (size_t)1 << policy->paths_log2; i++) {
		while (policy->paths[i]) {
			struct policy_path *path = policy->paths[i];

			policy->paths[i] = path->next;
			while (path->targets)
				target_drop(policy, path->targets);
			path_forget(policy, path);
			free(path);
		}
	}
	for (size_t i = 0; i < policy->n_window_sets; i++)
		window_set_free(policy->window_sets[i]);
	free_list(&policy->to_report);
	free_list(&policy->ended);
	(void)evidence_free(policy->evidence);
	(void)rules_free(policy->rules, policy->n_rules);
	free(policy->starts);
	free(policy->no_slot_matches);
	free(policy->parts);
	free(policy->window_sets);
	free(policy->entries);
	free(policy->paths);
	free(policy->changes);
	free(policy->transitions);
	free(policy);
	return NULL;
}

void policy_begin(struct policy *policy, u64 now_ns, const struct timespec *now,
		  const struct sliding_time time[EVENTS_MAX])
{
	policy->parts->target = NULL;
	policy->elapsed_ns = now_ns > policy->last_ns ? now_ns - policy->last_ns : 0;
	policy->now_ns = now_ns;
	policy->now = *now;
	policy->error = 0;
	for (size_t i = 0; i < policy->n_window_sets; i++) {
		const struct window_set *window_set = policy->window_sets[i];

		for (size_t j = 0; j < window_set->n_events; j++)
			sliding_begin(window_set->events[j].sliding, now_ns,
				      &time[window_set->events[j].event]);
	}
}

void policy_set_period(struct policy *policy, unsigned event, u64 period)
{
	if (event < policy->n_events)
		policy->events[event].period = period;
}

void policy_set_frequency(struct policy *policy, unsigned event, double hz)
{
	if (event < policy->n_events)
		policy->frequencies_hz[event] = hz;
}

/*
 * A removed path that gets samples has come back, unless tasks that are exiting may have caused them. That is
 * possible if the collection began less than POLICY_STRAY_NS after the removal.
 */
static void note_sign_of_life(struct policy *policy, struct policy_path *path)
{
	if (!path->gone)
		return;
	path->gone_ns = policy->now_ns;
	if (policy->last_ns < path->removed_ns + POLICY_STRAY_NS)
		return;
	TAILQ_REMOVE(&policy->gone, path, gone_list);
	path->gone = false;
}

/* The target may be a subtree whose tasks are all in cgroups below it. */
static void note_sign_below(struct policy *policy, struct policy_path *path)
{
	/* An excluded cgroup stays excluded, whatever the cgroups below it do. */
	if (path->gone && path->end == ALERT_END_IGNORED)
		path->below_ns = policy->now_ns;
	else
		note_sign_of_life(policy, path);
}

static void put_event(struct policy *policy, struct entry *entry, const struct delta *delta)
{
	const unsigned event = delta->event;
	struct tally tally;
	bool made = false;

	if (event >= policy->n_events)
		return;
	if (!(entry->known >> event & 1)) {
		int r = entry_list(policy, entry, event);

		if (r < 0)
			policy->error = r;
	}
	for (size_t i = 0; i < entry->n; i++) {
		struct target *target = entry->targets[i];
		struct window_set_event *of = window_set_event_of(target->window_set, event);

		if (!of)
			continue;
		if (target->path != entry->path)
			note_sign_below(policy, target->path);
		if (!made)
			tally_of(delta->packed, delta->size, &tally);
		made = true;
		if (target->window_set->rules.has_weights)
			window_set_weigh(of, &tally);
		sliding_put(of->sliding, target->numbers[of - target->window_set->events], &tally);
	}
}

void policy_put(struct policy *policy, u32 number, const char *path, const struct delta *deltas, size_t n)
{
	struct entry *entry;
	int r;

	if (!policy->n_window_sets)
		return;
	r = entry_get(policy, number, path, &entry);
	if (r < 0) {
		policy->error = r;
		return;
	}
	note_sign_of_life(policy, entry->path);
	for (size_t i = 0; i < n; i++)
		put_event(policy, entry, &deltas[i]);
}

/* Keeps the estimates of the time of the removal: the path's alerts end with them. */
static void keep_estimates(struct policy *policy, struct policy_path *path)
{
	for (struct target *target = path->targets; target; target = target->next)
		for (size_t i = 0; i < target->rule_set->n; i++) {
			struct rule_state *state = &target->states[i];

			if (state->state != ALERT_INACTIVE && state->unknown == UNKNOWN_NOT)
				target_estimate(policy, target, i, &state->extra->estimate);
		}
}

static void end_path(struct policy *policy, const char *name, enum alert_end end)
{
	struct policy_path *path = path_find(policy, name);

	if (!path)
		return;
	/* Every reload leaves out the same paths again. */
	if (path->gone && path->end == ALERT_END_IGNORED && end == ALERT_END_IGNORED)
		return;
	keep_estimates(policy, path);
	if (path->entry)
		entry_drop(policy, path->entry);
	if (!path->gone)
		TAILQ_INSERT_TAIL(&policy->gone, path, gone_list);
	path->gone = true;
	path->end = end;
	path->gone_ns = path->removed_ns = policy->now_ns;
	if (path->targets)
		return;
	path_forget(policy, path);
	path_release(policy, path);
}

void policy_gone(struct policy *policy, const char *path)
{
	end_path(policy, path, ALERT_END_GONE);
}

void policy_leave_out(struct policy *policy, const char *path)
{
	end_path(policy, path, ALERT_END_IGNORED);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

int policy_prefer(struct policy *policy, const char *name, const struct preference *preference)
{
	_cleanup_free_ char *ignore = preference->ignore ? strdup(preference->ignore) : NULL;
	_cleanup_free_ char *threshold = preference->threshold ? strdup(preference->threshold) : NULL;
	struct policy_path *path = path_find(policy, name);
	char *old_ignore;
	char *old_threshold;
	bool old_owner;
	int r = 0;

	if ((preference->ignore && !ignore) || (preference->threshold && !threshold))
		return -ENOMEM;
	if (!path && !ignore && !threshold)
		return 0;
	if (!path)
		r = path_get(policy, name, &path);
	if (r < 0)
		return r;
	if (same_text(path->ignore, ignore) && same_text(path->threshold, threshold) &&
	    path->owner_is_root == preference->owner_is_root)
		return 0;
	old_ignore = path->ignore;
	old_threshold = path->threshold;
	old_owner = path->owner_is_root;
	path->ignore = ignore;
	path->threshold = threshold;
	path->owner_is_root = preference->owner_is_root;
	for (struct target *target = path->targets; target && r == 0; target = target->next)
		r = target_prefer(policy, target);
	if (r < 0) {
		path->ignore = old_ignore;
		path->threshold = old_threshold;
		path->owner_is_root = old_owner;
		for (struct target *target = path->targets; target; target = target->next)
			(void)target_prefer(policy, target); /* cannot fail: its memory exists */
		path_release(policy, path);
		return r;
	}
	(void)TAKE_PTR(ignore);
	(void)TAKE_PTR(threshold);
	free(old_ignore);
	free(old_threshold);
	path_release(policy, path);
	return 0;
}
