// SPDX-License-Identifier: GPL-2.0
/* The targets of a window set: a cgroup or subtree with the states of the rules about it. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "policy/policy_internal.h"

struct target *target_find(const struct policy_path *path, const struct window_set *window_set)
{
	struct target *target = path->targets;

	while (target && target->window_set != window_set)
		target = target->next;
	return target;
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
static int add_baselines(struct policy *policy, const struct window_set *window_set, struct rule_state *state)
{
	struct extra *extra = calloc(1, sizeof(*extra));

	if (!extra)
		return -ENOMEM;
	extra->base = calloc(1, baselines_size(window_set->n_events));
	if (!extra->base) {
		free(extra);
		return -ENOMEM;
	}
	extra->base->n = (u32)window_set->n_events;
	for (size_t i = 0; i < window_set->n_events; i++) {
		struct sliding_time time = sliding_time(window_set->events[i].sliding);

		extra->base->of[i].fed = window_set->events[i].left_seconds + window_set_exposure(&time);
		extra->base->of[i].baseline.at_ns = policy->now_ns;
	}
	extra->since_ns = policy->now_ns;
	extra->since = policy->now;
	extra->worst = NAN;
	policy->bytes += sizeof(*extra) + baselines_size(window_set->n_events);
	state->extra = extra;
	return 0;
}

int states_new(struct policy *policy, const struct rule *rules,
	       const struct window_set_rules *window_set_rules, const struct rule_set *rule_set,
	       const struct window_set *window_set, struct rule_state **ret)
{
	struct rule_state *states = calloc(rule_set->n, sizeof(*states));

	if (!states)
		return -ENOMEM;
	policy->bytes += rule_set->n * sizeof(*states);
	for (size_t i = 0; i < rule_set->n; i++) {
		const struct window_set_rule *window_set_rule = &window_set_rules->list[rule_set->members[i]];

		states[i].unknown = window_set_rule->not_measured       ? UNKNOWN_NOT_MEASURED
				    : window_set->reason != UNKNOWN_NOT ? (u8)window_set->reason
									: UNKNOWN_SAMPLES;
		if (!rules[window_set_rule->rule].metric.ratio)
			continue;
		if (add_baselines(policy, window_set, &states[i]) < 0) {
			states_free(policy, states, rule_set->n);
			return -ENOMEM;
		}
	}
	*ret = states;
	return 0;
}

int target_extra(struct policy *policy, struct target *target, size_t member, struct extra **ret)
{
	struct rule_state *state = &target->states[member];
	struct decision decision;

	if (!state->extra) {
		decision = target_decision(policy, target, member);
		state->extra = calloc(1, sizeof(*state->extra));
		if (!state->extra)
			return -ENOMEM;
		policy->bytes += sizeof(*state->extra);
		state->extra->worst = NAN;
		state->extra->at_ns = decision.at_ns;
		state->extra->since_ns = decision.since_ns;
		state->extra->since =
			decision.since_ns == target->born_ns
				? target->born
				: policy->starts[target_window_set_rule(target, member)->rule].time;
	}
	*ret = state->extra;
	return 0;
}

/*
 * Returns whether the window has no sample at all and cgroups of the subtree have no slot: everything that the
 * subtree does could be missing.
 */
static bool sees_nothing(const struct policy *policy, const struct target *target)
{
	return target->window_set->subtree && !window_set_has_samples(target) &&
	       subtree_without_slot(policy, target) > 0;
}

/*
 * The list of cgroups without a slot may have changed since the target was judged. A target without samples is
 * not judged again until it has some.
 */
enum unknown_reason target_unknown(const struct policy *policy, const struct target *target, size_t member)
{
	const enum unknown_reason reason = (enum unknown_reason)target->states[member].unknown;

	if (reason == UNKNOWN_NOT_MEASURED)
		return reason;
	if (has_no_slot(policy, target))
		return UNKNOWN_NO_SLOT;
	if ((reason == UNKNOWN_NOT || reason == UNKNOWN_SAMPLES || reason == UNKNOWN_BASELINE) &&
	    sees_nothing(policy, target))
		return UNKNOWN_SUBTREE_NO_SLOT;
	return reason;
}

struct decision target_decision(const struct policy *policy, const struct target *target, size_t member)
{
	const struct rule_state *state = &target->states[member];
	const struct rule_start *start = &policy->starts[target_window_set_rule(target, member)->rule];
	struct decision decision = {.state = state->state, .unknown = target_unknown(policy, target, member)};

	if (state->extra) {
		decision.at_ns = state->extra->at_ns;
		decision.since_ns = state->extra->since_ns;
		decision.held_ns = state->extra->held_ns;
	} else {
		decision.at_ns = state->unknown == UNKNOWN_NOT ? policy->last_ns : 0;
		decision.since_ns = target->born_ns > start->ns ? target->born_ns : start->ns;
	}
	return decision;
}

static void find_effect(const struct policy *policy, const struct target *target, size_t member,
			struct preference_effect *ret)
{
	const struct policy_path *path = target->path;
	struct preference preference = {
		.owner_is_root = path->owner_is_root, .ignore = path->ignore, .threshold = path->threshold};

	*ret = (struct preference_effect){0};
	if (path->ignore || path->threshold)
		preference_apply(&preference, target_rule(policy, target, member), ret);
}

static bool says_something(const struct preference_effect *effect)
{
	return effect->ignored || effect->has_threshold || effect->untrusted || effect->malformed;
}

static void apply_preference(const struct policy *policy, struct target *target, size_t member,
			     const struct preference_effect *effect)
{
	struct extra *extra = target->states[member].extra;

	if (!extra)
		return;
	extra->preference = *effect;
	if (effect->has_threshold)
		extra->limits = rule_limits(target_rule(policy, target, member), effect->threshold);
	/* If the rule is ignored now, the next tick ends its pending or firing alert, and reports that. */
}

int target_prefer(struct policy *policy, struct target *target)
{
	struct preference_effect effect;
	struct extra *extra;
	int r;

	for (size_t i = 0; i < target->rule_set->n; i++) {
		find_effect(policy, target, i, &effect);
		if (!says_something(&effect))
			continue;
		r = target_extra(policy, target, i, &extra);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < target->rule_set->n; i++) {
		find_effect(policy, target, i, &effect);
		apply_preference(policy, target, i, &effect);
	}
	target->rejudge = true;
	if (!target->active)
		target->window_set->active[target->window_set->n_active++] = target;
	target->active = true;
	return 0;
}

void target_drop(struct policy *policy, struct target *target)
{
	struct window_set *window_set = target->window_set;
	struct target **place = &target->path->targets;

	if (policy->parts->target == target)
		policy->parts->target = NULL;
	while (*place != target)
		place = &(*place)->next;
	*place = target->next;
	if (target->active) {
		size_t i = 0;

		while (window_set->active[i] != target)
			i++;
		window_set->active[i] = window_set->active[--window_set->n_active];
	}
	window_set_close(target, window_set->n_events);
	window_set->n_targets--;
	window_set->some_left = true;
	states_free(policy, target->states, target->rule_set->n);
	policy->bytes -= sizeof(*target);
	free(target);
}

static int make_target(struct policy *policy, struct window_set *window_set, struct rule_set *rule_set,
		       struct policy_path *path, struct target **ret)
{
	struct target *target = calloc(1, sizeof(*target));
	int r;

	if (!target)
		return -ENOMEM;
	r = states_new(policy, policy->rules, &window_set->rules, rule_set, window_set, &target->states);
	if (r < 0) {
		free(target);
		return r;
	}
	policy->bytes += sizeof(*target);
	target->window_set = window_set;
	r = window_set_open(target);
	if (r < 0) {
		states_free(policy, target->states, rule_set->n);
		policy->bytes -= sizeof(*target);
		free(target);
		return r;
	}
	target->path = path;
	target->rule_set = rule_set;
	target->born_ns = policy->now_ns;
	target->born = policy->now;
	target->next = path->targets;
	path->targets = target;
	window_set->n_targets++;
	*ret = target;
	return 0;
}

int target_get(struct policy *policy, struct window_set *window_set, const char *name, struct target **ret)
{
	struct policy_path *path = path_find(policy, name);
	struct rule_set *rule_set;
	int r;

	*ret = path ? target_find(path, window_set) : NULL;
	if (*ret)
		return 0;
	r = rule_set_of(policy->rules, &window_set->rules, name, &rule_set);
	if (r < 0 || !rule_set)
		return r;
	if (!path) {
		r = path_get(policy, name, &path);
		if (r < 0)
			return r;
	}
	r = make_target(policy, window_set, rule_set, path, ret);
	if (r == 0 && (path->ignore || path->threshold)) {
		r = target_prefer(policy, *ret);
		if (r < 0)
			target_drop(policy, *ret);
	}
	if (r < 0) {
		*ret = NULL;
		path_release(policy, path);
	}
	return r;
}

static int list_one(struct policy *policy, struct entry *entry, struct window_set *window_set,
		    const char *name)
{
	struct target *target;
	int r;

	r = target_get(policy, window_set, name, &target);
	if (r < 0 || !target)
		return r;
	if (entry->n == entry->room) {
		size_t room = entry->room + entry->room / 2 + 4;
		struct target **targets = reallocarray(entry->targets, room, sizeof(struct target *));

		if (!targets)
			return -ENOMEM;
		policy->bytes += (room - entry->room) * sizeof(struct target *);
		entry->targets = targets;
		entry->room = room;
	}
	target->refs++;
	entry->targets[entry->n++] = target;
	return 0;
}

/* Lists the cgroup itself and all cgroups above it, including the root. */
static int list_tree(struct policy *policy, struct entry *entry, struct window_set *window_set)
{
	_cleanup_free_ char *name = strdup(entry->path->name);
	int r;

	if (!name)
		return -ENOMEM;
	r = list_one(policy, entry, window_set, name);
	/*
	 * Cgroups of a recording or of the model ("comm:NAME") are not paths. They count as children of the
	 * root.
	 */
	if (*name != '/')
		return r == 0 ? list_one(policy, entry, window_set, "/") : r;
	while (r == 0 && name[1]) {
		char *slash = strrchr(name, '/');

		slash[slash == name] = '\0';
		r = list_one(policy, entry, window_set, name);
	}
	return r;
}

/* Returns whether the entry lists the window set's targets already, because it knows an event of the window set. */
static bool is_listed(const struct entry *entry, const struct window_set *window_set)
{
	for (size_t i = 0; i < window_set->n_events; i++)
		if (entry->known >> window_set->events[i].event & 1)
			return true;
	return false;
}

int entry_list(struct policy *policy, struct entry *entry, unsigned event)
{
	for (size_t i = 0; i < policy->n_window_sets; i++) {
		struct window_set *window_set = policy->window_sets[i];
		int r;

		if (!window_set_event_of(window_set, event) || is_listed(entry, window_set))
			continue;
		r = window_set->subtree ? list_tree(policy, entry, window_set)
					: list_one(policy, entry, window_set, entry->path->name);
		if (r < 0) {
			entry_unlist(policy, entry);
			return r;
		}
	}
	entry->known |= 1U << event;
	return 0;
}
