// SPDX-License-Identifier: GPL-2.0
/* Saves alerts for the next process, and restores those of the previous one. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "policy/policy_internal.h"

static void save_one(const struct alert *alert, struct policy_saved_alert *ret)
{
	const struct estimate *estimate = &alert->estimate;

	*ret = (struct policy_saved_alert){
		.fingerprint = rule_fingerprint(alert->rule),
		.cgroup = alert->cgroup,
		.event_key = alert->event_key,
		.number = alert->number,
		.state = alert->decision.state,
		.held_ns = alert->decision.held_ns,
		.since = alert->since,
		.breached = alert->breached,
		.fired = alert->fired,
		.resolved = alert->resolved,
		.end = alert->end,
		.value = estimate->known ? estimate->value : NAN,
		.low = estimate->known ? estimate->bounds.low : NAN,
		.high = estimate->known ? estimate->bounds.high : NAN,
	};
	memcpy(ret->rule, alert->rule->name, sizeof(ret->rule));
}

/* If the state is unknown now, uses the estimate as of the last change of the state. */
static void use_last_judged(const struct policy *policy, struct alert *alert)
{
	const struct policy_path *path = path_find(policy, alert->cgroup);

	if (alert->decision.unknown == UNKNOWN_NOT)
		return;
	for (const struct target *target = path ? path->targets : NULL; target; target = target->next)
		for (size_t i = 0; i < target->rule_set->n; i++)
			if (target->window_set->event == alert->event &&
			    target_rule(policy, target, i) == alert->rule && target->states[i].extra)
				alert->estimate = target->states[i].extra->estimate;
}

static int save(const struct policy *policy, bool judged_now, struct policy_saved_alert **ret, size_t *ret_n)
{
	_cleanup_free_ struct alert *alerts = NULL;
	struct policy_saved_alert *saved_alerts;
	size_t n;
	int r;

	r = alerts_list(policy, judged_now, &alerts, &n);
	if (r < 0)
		return r;
	saved_alerts = calloc(n + 1, sizeof(*saved_alerts));
	if (!saved_alerts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (judged_now)
			use_last_judged(policy, &alerts[i]);
		save_one(&alerts[i], &saved_alerts[i]);
	}
	*ret = saved_alerts;
	*ret_n = n;
	return 0;
}

int policy_save_alerts(const struct policy *policy, struct policy_saved_alert **ret, size_t *ret_n)
{
	return save(policy, true, ret, ret_n);
}

int policy_save_states(const struct policy *policy, struct policy_saved_alert **ret, size_t *ret_n)
{
	return save(policy, false, ret, ret_n);
}

static void take_estimate(const struct policy_saved_alert *saved, struct estimate *ret)
{
	*ret = (struct estimate){.known = !isnan(saved->value),
				 .value = saved->value,
				 .bounds = {.low = saved->low, .high = saved->high}};
	if (!ret->known)
		*ret = (struct estimate){0};
}

static int event_of(const struct policy *policy, const char *key)
{
	for (size_t i = 0; i < policy->n_events; i++)
		if (strcmp(policy->keys[i], key) == 0)
			return (int)i;
	return -1;
}

/*
 * Restores an alert without a target: it is resolved already, or its rule has changed, is gone, or does not judge
 * its cgroup and event. If the rule has changed, only its name is known. The present rule of that name may have
 * other limits and another metric, so the saved value and bounds are dropped.
 */
static int restore_ended(struct policy *policy, const struct policy_saved_alert *saved,
			 const struct rule *rule, bool same)
{
	struct rule left = {.actions = rule ? rule->actions : RULE_LOG, .dry_run = rule && rule->dry_run};
	struct alert alert = {
		.number = saved->number,
		.rule = same ? rule : &left,
		.cgroup = saved->cgroup,
		.decision = {.state = saved->state, .since_ns = policy->last_ns},
		.since = saved->since,
		.breached = saved->breached,
		.fired = saved->fired,
		.resolved = saved->resolved,
		.end = ALERT_END_RULE,
		.worst = NAN,
	};
	int event = event_of(policy, saved->event_key);
	struct ended *ended;
	int r;

	memcpy(left.name, saved->rule, sizeof(left.name));
	left.name[sizeof(left.name) - 1] = '\0';
	if (same) {
		take_estimate(saved, &alert.estimate);
		alert.limits = rule_limits(rule, rule->threshold);
	}
	if (saved->state == ALERT_RESOLVED)
		alert.end = saved->end;
	alert.event = event < 0 ? 0 : (unsigned)event;
	alert.nominal_hz = event < 0 ? 0 : policy->events[event].nominal_hz;
	alert.event_key = event < 0 ? event_role_name(rule ? rule->event : EVENT_LOADS) : policy->keys[event];
	r = ended_new(&alert, saved->state, &ended);
	if (r < 0)
		return r;
	if (saved->state == ALERT_RESOLVED)
		ended_keep(policy, ended);
	else
		TAILQ_INSERT_TAIL(&policy->to_report, ended, list);
	return 0;
}

static int restore_state(struct policy *policy, const struct policy_saved_alert *saved, struct target *target,
			 size_t member)
{
	struct rule_state *state = &target->states[member];
	struct extra *extra;
	int r;

	r = target_extra(policy, target, member, &extra);
	if (r < 0)
		return r;
	state->state = (u8)saved->state;
	extra->since_ns = policy->last_ns;
	extra->held_ns = saved->held_ns;
	extra->number = saved->number;
	extra->since = saved->since;
	extra->breached = saved->breached;
	extra->fired = saved->fired;
	extra->resolved = saved->resolved;
	take_estimate(saved, &extra->estimate);
	if (extra->base)
		extra->base->restarted = true;
	if (!target->active)
		target->window_set->active[target->window_set->n_active++] = target;
	target->active = true;
	return 0;
}

static struct window_set *window_set_of(const struct policy *policy, const struct rule *rule, unsigned event)
{
	for (size_t i = 0; i < policy->n_window_sets; i++)
		if (window_set_is_of(policy->window_sets[i], policy->events, rule, event))
			return policy->window_sets[i];
	return NULL;
}

static int restore_alive(struct policy *policy, const struct policy_saved_alert *saved,
			 const struct rule *rule, struct window_set *window_set)
{
	struct target *target;
	int r;

	r = target_get(policy, window_set, saved->cgroup, &target);
	if (r < 0)
		return r;
	for (size_t i = 0; target && i < target->rule_set->n; i++)
		if (target_rule(policy, target, i) == rule)
			return restore_state(policy, saved, target, i);
	return -ESTALE;
}

int policy_restore_alert(struct policy *policy, const struct policy_saved_alert *saved)
{
	const struct rule *rule = policy_rule(policy, saved->rule);
	bool same = rule && rule_fingerprint(rule) == saved->fingerprint;
	int event = event_of(policy, saved->event_key);
	struct window_set *window_set =
		same && event >= 0 ? window_set_of(policy, rule, (unsigned)event) : NULL;
	int r;

	if (saved->number >= policy->next_number)
		policy->next_number = saved->number + 1;
	if (saved->state == ALERT_RESOLVED)
		return restore_ended(policy, saved, rule, same);
	if (saved->state == ALERT_INACTIVE)
		return 0;
	r = window_set ? restore_alive(policy, saved, rule, window_set) : -ESTALE;
	if (r != -ESTALE)
		return r;
	if (saved->state == ALERT_FIRING)
		r = restore_ended(policy, saved, rule, same);
	return r < 0 ? r : -ESTALE;
}
