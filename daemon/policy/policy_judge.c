// SPDX-License-Identifier: GPL-2.0
/* Evaluates the rules for one target: measures, decides, and notes changes of state. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "policy/policy_internal.h"

/*
 * Reserves space for `n` more changes and as many transitions: a state changes only if the change can be
 * reported.
 */
int changes_reserve(struct policy *policy, size_t n)
{
	size_t room = policy->n_changes + n;
	struct transition *transitions;
	struct change *changes;

	if (room <= policy->changes_room)
		return 0;
	room += room / 2 + 16;
	transitions = reallocarray(policy->transitions, room, sizeof(*transitions));
	if (!transitions)
		return -ENOMEM;
	policy->transitions = transitions;
	changes = reallocarray(policy->changes, room, sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	policy->changes = changes;
	policy->changes_room = room;
	return 0;
}

static bool is_alert(const struct rule_state *state)
{
	return state->state == ALERT_PENDING || state->state == ALERT_FIRING;
}

/*
 * A baseline is frozen while its rule is pending or firing, so that an unusual value does not become the
 * usual one. It is not frozen while the state is unknown: samples that were counted remain valid, and
 * otherwise a baseline that lacks samples would never get any. For the same reason it is not frozen after the
 * state was restored, until it has enough of them.
 */
static bool is_frozen(const struct rule_state *state)
{
	return is_alert(state) && !(state->extra && state->extra->base && state->extra->base->restarted);
}

/*
 * Feeds a baseline. Time without samples is fed late: with the next samples, or when a reader needs the
 * baseline.
 */
static void feed(const struct window_set_event *event, u64 half_life_ns, const struct tally *tally,
		 double seconds, u64 now_ns, struct state_baseline *base)
{
	static const struct tally nothing;
	double idle = event->left_seconds - seconds - base->fed;

	if (idle > 1e-6)
		baseline_add(&base->baseline, half_life_ns, now_ns, idle, &nothing);
	if (tally)
		baseline_add(&base->baseline, half_life_ns, now_ns, seconds, tally);
	if (event->left_seconds > base->fed)
		base->fed = event->left_seconds;
}

/* Leaves out of the baselines what has left the windows so far. */
static void skip_to_now(const struct window_set *window_set, struct state_baselines *base)
{
	for (size_t i = 0; base && i < base->n; i++)
		base->of[i].fed = window_set->events[i].left_seconds;
}

void judge_passing(void *userdata, const struct sliding_time *time)
{
	struct window_set_event *event = userdata;

	event->left_seconds += window_set_exposure(time);
}

void judge_leaving(void *userdata, u32 number, const struct tally *tally, const struct sliding_time *time)
{
	struct window_set_event *event = userdata;
	const struct window_set *window_set = event->window_set;
	struct policy *policy = window_set->policy;
	struct target *target = number < event->n_numbers ? event->by_number[number] : NULL;

	if (!window_set->rules.has_ratio || !target)
		return;
	for (size_t i = 0; i < target->rule_set->n; i++) {
		const struct rule *rule = target_rule(policy, target, i);
		struct rule_state *state = &target->states[i];
		struct state_baseline *base;

		if (!rule->metric.ratio || !state->extra || !state->extra->base)
			continue;
		base = &state->extra->base->of[event - window_set->events];
		if (is_frozen(state))
			base->fed = event->left_seconds;
		else
			feed(event, rule->baseline_ns, tally, window_set_exposure(time), policy->now_ns,
			     base);
	}
}

/*
 * Copies the baseline of an event and brings the copy up to date. Readers use it, because they must not change
 * the original.
 */
static void copy_baseline(const struct policy *policy, const struct target *target, size_t member,
			  size_t event, struct state_baseline *ret)
{
	const struct rule_state *state = &target->states[member];

	*ret = (struct state_baseline){0};
	if (!state->extra || !state->extra->base)
		return;
	*ret = state->extra->base->of[event];
	if (!is_frozen(state))
		feed(&target->window_set->events[event], target_rule(policy, target, member)->baseline_ns,
		     NULL, 0, policy->last_ns, ret);
}

/* Measures the window alone, without a baseline. */
static void measure_window(const struct target *target, struct measured *ret)
{
	const struct window_set *window_set = target->window_set;
	const struct window_set_event *event = &window_set->events[0], *second = &window_set->events[1];

	*ret = (struct measured){
		.tally = sliding_tally(event->sliding, target->numbers[0]),
		.seconds = event->seconds,
		.sample_weight = window_set_sample_weight(event),
		.frequency_hz = window_set->frequency_hz,
	};
	if (window_set->n_events > 1)
		ret->second = (struct measured_second){
			.tally = sliding_tally(second->sliding, target->numbers[1]),
			.seconds = second->seconds,
			.sample_weight = window_set_sample_weight(second),
		};
}

static void measure_baseline(const struct policy *policy, const struct target *target, size_t member,
			     struct tally base[METRIC_EVENTS_MAX], struct measured *ret)
{
	struct state_baseline up_to_date;

	copy_baseline(policy, target, member, 0, &up_to_date);
	baseline_tally(&up_to_date.baseline, &base[0], &ret->base_seconds);
	ret->base = &base[0];
	ret->base_covered = baseline_covered(&up_to_date.baseline);
	if (target->window_set->n_events < 2)
		return;
	copy_baseline(policy, target, member, 1, &up_to_date);
	baseline_tally(&up_to_date.baseline, &base[1], &ret->second.base_seconds);
	ret->second.base = &base[1];
}

/* `base` is the storage that measured.base and measured.second.base point to. */
static void measure_target(const struct policy *policy, const struct target *target, size_t member,
			   struct tally base[METRIC_EVENTS_MAX], struct measured *ret)
{
	measure_window(target, ret);
	if (target_rule(policy, target, member)->metric.ratio)
		measure_baseline(policy, target, member, base, ret);
}

static void keep_part(void *userdata, const struct tally *tally, const struct sliding_time *time)
{
	struct window_parts *parts = userdata;

	/* A window should not have more parts than this. If it has, drop the oldest one. */
	if (parts->n == BURSTS_PARTS_MAX)
		memmove(&parts->list[0], &parts->list[1], --parts->n * sizeof(parts->list[0]));
	parts->list[parts->n++] =
		(struct measured_part){.tally = *tally, .seconds = window_set_exposure(time)};
}

/* The weights of the second event in the parts, in the order of time. */
struct second_parts {
	size_t n;
	double weights[BURSTS_PARTS_MAX];
};

static void keep_second(void *userdata, const struct tally *tally, const struct sliding_time *time)
{
	struct second_parts *second = userdata;

	(void)time;
	if (second->n == BURSTS_PARTS_MAX)
		memmove(&second->weights[0], &second->weights[1], --second->n * sizeof(second->weights[0]));
	second->weights[second->n++] = (double)tally->weight;
}

/*
 * Adds the second event to the parts. Both windows have the same panes. If one had to drop its oldest panes to
 * save memory, the last ones still belong together.
 */
static void add_second(const struct target *target, struct window_parts *parts)
{
	struct second_parts second = {0};
	size_t missing;

	if (target->window_set->n_events < 2)
		return;
	sliding_parts(target->window_set->events[1].sliding, target->numbers[1], keep_second, &second);
	missing = parts->n > second.n ? parts->n - second.n : 0;
	for (size_t i = missing; i < parts->n; i++)
		parts->list[i].second_weight = second.weights[second.n - (parts->n - i)];
}

static bool part_is_empty(const struct measured_part *part)
{
	return !part->tally.samples && !part->tally.latency_samples && !(part->second_weight > 0);
}

static void find_parts(const struct policy *policy, const struct target *target, struct window_parts *parts)
{
	const bool is_new = target->born_ns + target->window_set->covered_ns > policy->now_ns;
	size_t empty = 0;

	parts->n = 0;
	sliding_parts(target->window_set->events[0].sliding, target->numbers[0], keep_part, parts);
	add_second(target, parts);
	/* If the target was made within the window, skip the empty parts before that. */
	while (is_new && empty < parts->n && part_is_empty(&parts->list[empty]))
		empty++;
	parts->n -= empty;
	memmove(&parts->list[0], &parts->list[empty], parts->n * sizeof(parts->list[0]));
	parts->target = target;
}

/* Computes the design effect from the parts of the window. All rules of a target share the same parts. */
static double target_effect(const struct policy *policy, const struct target *target, size_t member,
			    const struct measured *measured)
{
	struct window_parts *parts = policy->parts;
	struct measured with_parts = *measured;

	if (parts->target != target)
		find_parts(policy, target, parts);
	with_parts.parts = parts->list;
	with_parts.n_parts = parts->n;
	return estimate_effect(target_rule(policy, target, member), target_limits(target, member),
			       &with_parts);
}

void target_estimate(const struct policy *policy, const struct target *target, size_t member,
		     struct estimate *ret)
{
	struct tally base[METRIC_EVENTS_MAX];
	struct measured measured;

	*ret = (struct estimate){0};
	if (target_window_set_rule(target, member)->not_measured)
		return;
	measure_target(policy, target, member, base, &measured);
	measured.effect = target_effect(policy, target, member, &measured);
	estimate_of(target_rule(policy, target, member), target_limits(target, member), &measured, ret);
}

/* Returns whether the metric is computed from periods, and samples came without them. */
static bool has_no_periods(const struct rule *rule, const struct measured *measured)
{
	const struct tally *tally = measured->tally, *second = measured->second.tally;

	return metric_uses_weights(&rule->metric) &&
	       ((tally->samples && !tally->weight) || (second && second->samples && !second->weight));
}

/*
 * The effect of bursts on the baseline is assumed to be that on the window, which a shorter baseline need not
 * share: its first second may hold half a burst, or a service that was just starting. A frozen baseline was
 * long enough when it froze. If it had to grow while it is frozen, its alert could never end.
 */
static bool base_is_thin(const struct rule *rule, const struct rule_state *state,
			 const struct measured *measured)
{
	return estimate_counted(rule, measured->base, measured->second.base) < rule->min_samples ||
	       measured->base_seconds <= 0 || !measured->base->samples ||
	       (!is_frozen(state) && measured->base_covered < measured->seconds);
}

/*
 * Returns the first reason that holds, in this order: not measured, no slot, the reason of the window set
 * (window_set_look()), no frequency, too few samples in the window, a baseline that is too thin. judge_evidence() adds
 * UNKNOWN_BURSTS, but only if independent samples would prove something, and UNKNOWN_SUBTREE_NO_SLOT.
 */
static enum unknown_reason reason_of(struct policy *policy, const struct target *target, size_t member,
				     struct measured *measured)
{
	const struct window_set_rule *window_set_rule = target_window_set_rule(target, member);
	const struct rule *rule = &policy->rules[window_set_rule->rule];
	struct rule_state *state = &target->states[member];

	if (window_set_rule->not_measured || has_no_periods(rule, measured))
		return UNKNOWN_NOT_MEASURED;
	if (has_no_slot(policy, target))
		return UNKNOWN_NO_SLOT;
	if (target->window_set->reason != UNKNOWN_NOT)
		return target->window_set->reason;
	if (metric_needs_frequency(&rule->metric) && !(measured->frequency_hz > 0))
		return UNKNOWN_FREQUENCY;
	if (estimate_counted(rule, measured->tally, measured->second.tally) < rule->min_samples)
		return UNKNOWN_SAMPLES;
	if (rule->metric.ratio) {
		measure_baseline(policy, target, member, policy->base, measured);
		if (base_is_thin(rule, state, measured))
			return UNKNOWN_BASELINE;
		if (state->extra && state->extra->base)
			state->extra->base->restarted = false;
	}
	return UNKNOWN_NOT;
}

static void note_change(struct policy *policy, struct target *target, size_t member, enum alert_state from)
{
	struct extra *extra = target->states[member].extra;

	extra->since = policy->now;
	switch ((enum alert_state)target->states[member].state) {
	case ALERT_PENDING:
		extra->number = 0;
		extra->breached = policy->now;
		extra->fired = extra->resolved = (struct timespec){0};
		break;
	case ALERT_FIRING:
		if (from != ALERT_PENDING) { /* with `for` 0 */
			extra->breached = policy->now;
			extra->resolved = (struct timespec){0};
		}
		extra->fired = policy->now;
		break;
	case ALERT_RESOLVED:
		extra->resolved = policy->now;
		break;
	case ALERT_INACTIVE:
		extra->number = 0;
		break;
	}
	target_estimate(policy, target, member, &extra->estimate);
	policy->changes[policy->n_changes++] =
		(struct change){.order = target_window_set_rule(target, member)->rule + (size_t)1,
				.from = from,
				.target = target,
				.member = member};
}

/* Ends a pending or firing alert, because a preference ignores the rule now. */
static void ignore(struct policy *policy, struct target *target, size_t member)
{
	struct rule_state *state = &target->states[member];
	enum alert_state from = (enum alert_state)state->state;

	if (is_frozen(state))
		skip_to_now(target->window_set, state->extra->base);
	state->state = from == ALERT_FIRING ? ALERT_RESOLVED : ALERT_INACTIVE;
	state->extra->since_ns = policy->now_ns;
	state->extra->held_ns = 0;
	state->extra->end = ALERT_END_IGNORED;
	note_change(policy, target, member, from);
}

static int enter(struct policy *policy, struct target *target, size_t member, const struct finding *finding)
{
	struct decision decision = target_decision(policy, target, member);
	struct rule_state *state = &target->states[member];
	bool was_frozen = is_frozen(state);
	enum alert_state from;
	struct extra *extra;
	int r;

	r = target_extra(policy, target, member, &extra);
	if (r == 0)
		r = changes_reserve(policy, 1);
	if (r < 0)
		return r;
	if (extra->preference.ignored && is_alert(state)) {
		ignore(policy, target, member);
		return 0;
	}
	if (decide(target_rule(policy, target, member), finding, &decision, &from)) {
		state->state = (u8)decision.state;
		extra->since_ns = decision.since_ns;
		if (decision.state == ALERT_RESOLVED)
			extra->end = ALERT_END_CLEAR;
		if (was_frozen && !is_frozen(state))
			skip_to_now(target->window_set, extra->base);
		note_change(policy, target, member, from);
	}
	state->unknown = (u8)decision.unknown;
	extra->at_ns = decision.at_ns;
	extra->held_ns = decision.held_ns;
	return 0;
}

/* Called when an alert begins or continues. Remembers its worst value. */
static void note_worst(struct extra *extra, const struct rule *rule, const struct measured *measured,
		       bool began)
{
	float value = (float)estimate_value(rule, measured);

	if (began || isnan(extra->worst) || (rule->below ? value < extra->worst : value > extra->worst))
		extra->worst = value;
}

/*
 * Returns whether a verdict needs an upper bound that may be too low. A rate counts samples, so those of cgroups
 * without a slot can only add to it: its lower bound holds for the whole subtree, its upper bound does not. The
 * window may still lack samples after these cgroups got slots.
 */
static bool needs_unseen(const struct policy *policy, const struct target *target, const struct rule *rule,
			 enum verdict verdict)
{
	return metric_is_rate(&rule->metric) && rule->below == (verdict == VERDICT_BREACH) &&
	       target->unseen_ns && policy->now_ns - target->unseen_ns < target->window_set->window_ns;
}

/*
 * Finds what the samples prove. First treats them as independent, which is fast and rarely proves anything.
 * Judges again with the design effect only if this first verdict is clear for a firing alert, or a breach for
 * any other.
 */
static void judge_evidence(struct policy *policy, const struct target *target, size_t member,
			   struct measured *measured, struct finding *finding)
{
	const struct rule *rule = target_rule(policy, target, member);
	const struct limits *limits = target_limits(target, member);
	const bool is_firing = target->states[member].state == ALERT_FIRING;
	const enum verdict change = is_firing ? VERDICT_CLEAR : VERDICT_BREACH;

	finding->verdict = evidence_judge(policy->evidence, rule, limits, measured);
	if (finding->verdict != change)
		return;
	measured->effect = target_effect(policy, target, member, measured);
	if (isinf(measured->effect))
		finding->unknown = UNKNOWN_BURSTS;
	else if (measured->effect > 1)
		finding->verdict = evidence_judge(policy->evidence, rule, limits, measured);
	if (finding->unknown == UNKNOWN_NOT && finding->verdict == change &&
	    needs_unseen(policy, target, rule, change))
		finding->unknown = UNKNOWN_SUBTREE_NO_SLOT;
}

static int judge_member(struct policy *policy, struct target *target, size_t member,
			const struct measured *window)
{
	struct rule_state *state = &target->states[member];
	struct measured measured = *window;
	struct finding finding = {.now_ns = policy->now_ns, .elapsed_ns = policy->elapsed_ns};
	bool ignored = state->extra && state->extra->preference.ignored;
	enum alert_state from;
	int r;

	finding.unknown = reason_of(policy, target, member, &measured);
	if (finding.unknown == UNKNOWN_NOT && !ignored)
		judge_evidence(policy, target, member, &measured, &finding);
	/* The common case: the state is inactive and stays so. */
	if (state->state == ALERT_INACTIVE &&
	    (finding.unknown != UNKNOWN_NOT || finding.verdict != VERDICT_BREACH)) {
		state->unknown = (u8)finding.unknown;
		if (state->extra && finding.unknown == UNKNOWN_NOT)
			state->extra->at_ns = policy->now_ns;
		return 0;
	}
	from = (enum alert_state)state->state;
	r = enter(policy, target, member, &finding);
	if (r == 0 && state->extra && is_alert(state) && finding.unknown == UNKNOWN_NOT)
		note_worst(state->extra, target_rule(policy, target, member), &measured,
			   from != ALERT_PENDING && from != ALERT_FIRING);
	return r;
}

/*
 * Judges the common case by a few comparisons: the state is inactive, and there is no breach. Returns false
 * if judge_member() has to decide.
 */
static bool pass_member(const struct policy *policy, struct rule_state *state,
			const struct window_set_rule *window_set_rule, struct screened *screened)
{
	struct extra *extra = state->extra;

	if (state->state != ALERT_INACTIVE || window_set_rule->not_measured)
		return false;
	if (extra && (extra->preference.ignored || extra->preference.has_threshold))
		return false;
	if (window_set_rule->screen.kind == SCREEN_ASK)
		return false;
	if (!screen_has_values(&window_set_rule->screen, screened))
		return false;
	if (screen_needs_more(&window_set_rule->screen, screened)) {
		state->unknown = UNKNOWN_SAMPLES;
		return true;
	}
	if (!screen_rules_out(&window_set_rule->screen, screened,
			      extra && extra->base ? &extra->base->of[0].baseline : NULL))
		return false;
	state->unknown = UNKNOWN_NOT;
	if (extra)
		extra->at_ns = policy->now_ns;
	return true;
}

int judge_target(struct policy *policy, struct target *target)
{
	struct window_set *window_set = target->window_set;
	const struct window_set_rule *list = window_set->rules.list;
	const u32 *members = target->rule_set->members;
	const bool knows = window_set->reason == UNKNOWN_NOT && !has_no_slot(policy, target);
	struct rule_state *states = target->states;
	size_t n_changes = policy->n_changes;
	struct screened screened;
	struct measured window;
	bool active = false, waits_for_slots = false;
	int error = 0;

	measure_window(target, &window);
	if (window_set->rules.has_rate && subtree_without_slot(policy, target) > 0)
		target->unseen_ns = policy->now_ns;
	screened.tally = window.tally;
	screened.seconds = window.seconds;
	screened.second = window.second.tally;
	screened.second_seconds = window.second.seconds;
	screened.frequency_hz = window.frequency_hz;
	screened.lower_edges = policy->lower_edges;
	screened.has_above = false;
	screened.has_lower_sum = false;
	target->judged = policy->tick;
	target->rejudge = false;
	for (size_t i = 0; i < target->rule_set->n; i++) {
		int r = knows && pass_member(policy, &states[i], &list[members[i]], &screened)
				? 0
				: judge_member(policy, target, i, &window);

		if (r < 0)
			error = r;
		active |= target->states[i].state != ALERT_INACTIVE;
		waits_for_slots |= target->states[i].unknown == UNKNOWN_SUBTREE_NO_SLOT;
	}
	/*
	 * A transition points to the target, so the target must stay until the next tick, which may drop
	 * it. The list of cgroups without a slot can change while the window stays the same.
	 */
	if (error || policy->n_changes > n_changes || waits_for_slots)
		target->rejudge = active = true;
	if (active && !target->active)
		window_set->active[window_set->n_active++] = target;
	target->active |= active; /* judge_window_set() takes inactive targets off the list */
	if (!active && !target->refs && !window_set_has_samples(target)) {
		target->next_doomed = policy->doomed;
		policy->doomed = target;
	}
	return error;
}
