// SPDX-License-Identifier: GPL-2.0
/* The subjects of a view: a cgroup or subtree with the states of the rules about it. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "policy/policy_internal.h"

struct subject *subject_find(const struct policy_path *path, const struct view *view)
{
	struct subject *subject = path->subjects;

	while (subject && subject->view != view)
		subject = subject->next;
	return subject;
}

static size_t baselines_size(size_t n)
{
	return sizeof(struct state_baselines) + n * sizeof(struct state_baseline);
}

static void extra_free(struct policy *policy, struct rule_state *state)
{
	if (!state->extra)
		return;
	if (state->extra->base)
		policy->bytes -= baselines_size(state->extra->base->n);
	free(state->extra->base);
	policy->bytes -= sizeof(*state->extra);
	free(state->extra);
	state->extra = NULL;
}

void states_free(struct policy *policy, struct rule_state *states, size_t n)
{
	if (!states)
		return;
	for (size_t i = 0; i < n; i++)
		extra_free(policy, &states[i]);
	policy->bytes -= n * sizeof(*states);
	free(states);
}

/*
 * A ratio has baselines from the start. Time that entered the window before they existed is not fed to them.
 */
static int add_baselines(struct policy *policy, const struct view *view, struct rule_state *state)
{
	struct extra *extra = calloc(1, sizeof(*extra));

	if (!extra)
		return -ENOMEM;
	extra->base = calloc(1, baselines_size(view->n_events));
	if (!extra->base) {
		free(extra);
		return -ENOMEM;
	}
	extra->base->n = (u32)view->n_events;
	for (size_t i = 0; i < view->n_events; i++) {
		struct sliding_time time = sliding_time(view->events[i].sliding);

		extra->base->of[i].fed = view->events[i].left_seconds + view_exposure(&time);
		extra->base->of[i].baseline.at_ns = policy->now_ns;
	}
	extra->since_ns = policy->now_ns;
	extra->since = policy->now;
	extra->worst = NAN;
	policy->bytes += sizeof(*extra) + baselines_size(view->n_events);
	state->extra = extra;
	return 0;
}

int states_new(struct policy *policy, const struct rule *rules, const struct view_rules *view_rules,
	       const struct group *group, const struct view *view, struct rule_state **ret)
{
	struct rule_state *states = calloc(group->n, sizeof(*states));

	if (!states)
		return -ENOMEM;
	policy->bytes += group->n * sizeof(*states);
	for (size_t i = 0; i < group->n; i++) {
		const struct view_rule *view_rule = &view_rules->list[group->members[i]];

		states[i].unknown = view_rule->not_measured       ? UNKNOWN_NOT_MEASURED
				    : view->reason != UNKNOWN_NOT ? (u8)view->reason
								  : UNKNOWN_SAMPLES;
		if (!rules[view_rule->rule].metric.ratio)
			continue;
		if (add_baselines(policy, view, &states[i]) < 0) {
			states_free(policy, states, group->n);
			return -ENOMEM;
		}
	}
	*ret = states;
	return 0;
}

int subject_extra(struct policy *policy, struct subject *subject, size_t member, struct extra **ret)
{
	struct rule_state *state = &subject->states[member];
	struct decision decision;

	if (!state->extra) {
		decision = subject_decision(policy, subject, member);
		state->extra = calloc(1, sizeof(*state->extra));
		if (!state->extra)
			return -ENOMEM;
		policy->bytes += sizeof(*state->extra);
		state->extra->worst = NAN;
		state->extra->at_ns = decision.at_ns;
		state->extra->since_ns = decision.since_ns;
		state->extra->since = decision.since_ns == subject->born_ns
					      ? subject->born
					      : policy->starts[subject_view_rule(subject, member)->rule].time;
	}
	*ret = state->extra;
	return 0;
}

/*
 * Returns whether the window has no sample at all and cgroups of the subtree have no slot: everything that the
 * subtree does could be missing.
 */
static bool sees_nothing(const struct policy *policy, const struct subject *subject)
{
	return subject->view->subtree && !view_has_samples(subject) &&
	       subtree_without_slot(policy, subject) > 0;
}

/*
 * The list of cgroups without a slot may have changed since the subject was judged. A subject without samples is
 * not judged again until it has some.
 */
enum unknown_reason subject_unknown(const struct policy *policy, const struct subject *subject, size_t member)
{
	const enum unknown_reason reason = (enum unknown_reason)subject->states[member].unknown;

	if (reason == UNKNOWN_NOT_MEASURED)
		return reason;
	if (has_no_slot(policy, subject))
		return UNKNOWN_NO_SLOT;
	if ((reason == UNKNOWN_NOT || reason == UNKNOWN_SAMPLES || reason == UNKNOWN_BASELINE) &&
	    sees_nothing(policy, subject))
		return UNKNOWN_SUBTREE_NO_SLOT;
	return reason;
}

struct decision subject_decision(const struct policy *policy, const struct subject *subject, size_t member)
{
	const struct rule_state *state = &subject->states[member];
	const struct rule_start *start = &policy->starts[subject_view_rule(subject, member)->rule];
	struct decision decision = {.state = state->state,
				    .unknown = subject_unknown(policy, subject, member)};

	if (state->extra) {
		decision.at_ns = state->extra->at_ns;
		decision.since_ns = state->extra->since_ns;
		decision.held_ns = state->extra->held_ns;
	} else {
		decision.at_ns = state->unknown == UNKNOWN_NOT ? policy->last_ns : 0;
		decision.since_ns = subject->born_ns > start->ns ? subject->born_ns : start->ns;
	}
	return decision;
}

static void find_effect(const struct policy *policy, const struct subject *subject, size_t member,
			struct preference_effect *ret)
{
	const struct policy_path *path = subject->path;
	struct preference preference = {
		.owner_is_root = path->owner_is_root, .ignore = path->ignore, .threshold = path->threshold};

	*ret = (struct preference_effect){0};
	if (path->ignore || path->threshold)
		preference_apply(&preference, subject_rule(policy, subject, member), ret);
}

static bool says_something(const struct preference_effect *effect)
{
	return effect->ignored || effect->has_threshold || effect->untrusted || effect->malformed;
}

static void heed(const struct policy *policy, struct subject *subject, size_t member,
		 const struct preference_effect *effect)
{
	struct extra *extra = subject->states[member].extra;

	if (!extra)
		return;
	extra->preference = *effect;
	if (effect->has_threshold)
		extra->limits = rule_limits(subject_rule(policy, subject, member), effect->threshold);
	/* If the rule is ignored now, the next tick ends its pending or firing alert, and reports that. */
}

int subject_prefer(struct policy *policy, struct subject *subject)
{
	struct preference_effect effect;
	struct extra *extra;
	int r;

	for (size_t i = 0; i < subject->group->n; i++) {
		find_effect(policy, subject, i, &effect);
		if (!says_something(&effect))
			continue;
		r = subject_extra(policy, subject, i, &extra);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < subject->group->n; i++) {
		find_effect(policy, subject, i, &effect);
		heed(policy, subject, i, &effect);
	}
	subject->rejudge = true;
	if (!subject->active)
		subject->view->active[subject->view->n_active++] = subject;
	subject->active = true;
	return 0;
}

void subject_drop(struct policy *policy, struct subject *subject)
{
	struct view *view = subject->view;
	struct subject **place = &subject->path->subjects;

	if (policy->parts->subject == subject)
		policy->parts->subject = NULL;
	while (*place != subject)
		place = &(*place)->next;
	*place = subject->next;
	if (subject->active) {
		size_t i = 0;

		while (view->active[i] != subject)
			i++;
		view->active[i] = view->active[--view->n_active];
	}
	view_close(subject, view->n_events);
	view->n_subjects--;
	view->some_left = true;
	states_free(policy, subject->states, subject->group->n);
	policy->bytes -= sizeof(*subject);
	free(subject);
}

static int make_subject(struct policy *policy, struct view *view, struct group *group,
			struct policy_path *path, struct subject **ret)
{
	struct subject *subject = calloc(1, sizeof(*subject));
	int r;

	if (!subject)
		return -ENOMEM;
	r = states_new(policy, policy->rules, &view->rules, group, view, &subject->states);
	if (r < 0) {
		free(subject);
		return r;
	}
	policy->bytes += sizeof(*subject);
	subject->view = view;
	r = view_open(subject);
	if (r < 0) {
		states_free(policy, subject->states, group->n);
		policy->bytes -= sizeof(*subject);
		free(subject);
		return r;
	}
	subject->path = path;
	subject->group = group;
	subject->born_ns = policy->now_ns;
	subject->born = policy->now;
	subject->next = path->subjects;
	path->subjects = subject;
	view->n_subjects++;
	*ret = subject;
	return 0;
}

int subject_get(struct policy *policy, struct view *view, const char *name, struct subject **ret)
{
	struct policy_path *path = path_find(policy, name);
	struct group *group;
	int r;

	*ret = path ? subject_find(path, view) : NULL;
	if (*ret)
		return 0;
	r = view_group(policy->rules, &view->rules, name, &group);
	if (r < 0 || !group)
		return r;
	if (!path) {
		r = path_get(policy, name, &path);
		if (r < 0)
			return r;
	}
	r = make_subject(policy, view, group, path, ret);
	if (r == 0 && (path->ignore || path->threshold)) {
		r = subject_prefer(policy, *ret);
		if (r < 0)
			subject_drop(policy, *ret);
	}
	if (r < 0) {
		*ret = NULL;
		path_release(policy, path);
	}
	return r;
}

static int list_one(struct policy *policy, struct entry *entry, struct view *view, const char *name)
{
	struct subject *subject;
	int r;

	r = subject_get(policy, view, name, &subject);
	if (r < 0 || !subject)
		return r;
	if (entry->n == entry->room) {
		size_t room = entry->room + entry->room / 2 + 4;
		struct subject **subjects = reallocarray(entry->subjects, room, sizeof(struct subject *));

		if (!subjects)
			return -ENOMEM;
		policy->bytes += (room - entry->room) * sizeof(struct subject *);
		entry->subjects = subjects;
		entry->room = room;
	}
	subject->refs++;
	entry->subjects[entry->n++] = subject;
	return 0;
}

/* Lists the cgroup itself and all cgroups above it, including the root. */
static int list_tree(struct policy *policy, struct entry *entry, struct view *view)
{
	_cleanup_free_ char *name = strdup(entry->path->name);
	int r;

	if (!name)
		return -ENOMEM;
	r = list_one(policy, entry, view, name);
	/*
	 * Cgroups of a recording or of the model ("comm:NAME") are not paths. They count as children of the
	 * root.
	 */
	if (*name != '/')
		return r == 0 ? list_one(policy, entry, view, "/") : r;
	while (r == 0 && name[1]) {
		char *slash = strrchr(name, '/');

		slash[slash == name] = '\0';
		r = list_one(policy, entry, view, name);
	}
	return r;
}

/* Returns whether the entry lists the view's subjects already, because it knows an event of the view. */
static bool is_listed(const struct entry *entry, const struct view *view)
{
	for (size_t i = 0; i < view->n_events; i++)
		if (entry->known >> view->events[i].event & 1)
			return true;
	return false;
}

int entry_list(struct policy *policy, struct entry *entry, unsigned event)
{
	for (size_t i = 0; i < policy->n_views; i++) {
		struct view *view = policy->views[i];
		int r;

		if (!view_event_of(view, event) || is_listed(entry, view))
			continue;
		r = view->subtree ? list_tree(policy, entry, view)
				  : list_one(policy, entry, view, entry->path->name);
		if (r < 0) {
			entry_unlist(policy, entry);
			return r;
		}
	}
	entry->known |= 1U << event;
	return 0;
}
