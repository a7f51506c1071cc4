// SPDX-License-Identifier: GPL-2.0
/*
 * Policy: rules, windows and time in; transitions out. Pure: it has no clock, reads no file, and acts on
 * nothing.
 *
 * A subject is a cgroup, or for a rule with `subtree` a cgroup with all below it, under one event (of each
 * PMU apart). Subjects that no rule matches cost nothing. Rules of one event, window and `subtree` share one
 * sliding window.
 *
 * Unknown is the first that holds of: not measured, the cgroup without a slot, the window not covered, its source
 * silent, multiplexed, lost samples, too few samples in the window, too few in the baseline, and, where independent
 * samples would prove something, too few bursts in the window (bursts.h). A baseline is fed with what leaves
 * the window, but for what leaves while its rule is pending or firing; not being known does not freeze it, or
 * one that lacks samples would never get any.
 */
#ifndef PEBSD_POLICY_H
#define PEBSD_POLICY_H

#include "collect/differences.h"
#include "collect/no_slot.h"
#include "policy/alert.h"
#include "window/sliding.h"

struct policy;

struct policy_settings {
	const struct rule *rules; /* copied */
	size_t n_rules;
	const struct event *events; /* copied */
	size_t n_events;
	u64 start_ns;     /* CLOCK_MONOTONIC: where the first collection begins */
	u64 next_number;  /* of the first alert; at least 1 */
	size_t max_bytes; /* of all windows' panes together; POLICY_BYTES */
};

#define POLICY_BYTES ((size_t)64 << 20)

/* 0, -EINVAL or -ENOMEM; free with policy_free(). */
int policy_new(const struct policy_settings *settings, struct policy **ret);
struct policy *policy_free(struct policy *policy);
DEFINE_CLEANUP(struct policy *, policy_free)

/*
 * Other rules from now on. A rule that decides the same as one of the same name before keeps its subjects'
 * states, and windows that are still needed what they hold. Alerts of the others end: the next tick tells. On
 * failure (-ENOMEM) the old rules stay.
 */
int policy_set_rules(struct policy *policy, const struct rule *rules, size_t n);

/*
 * One collection: begin, a put for each cgroup with differences (all of them, or some at a time), tick.
 * `time` has an entry for each event. `number`: the ledger's for the path; the differences' own entries are
 * not looked at.
 */
void policy_begin(struct policy *policy, u64 now_ns, const struct timespec *now,
		  const struct sliding_time time[EVENTS_MAX]);
void policy_put(struct policy *policy, u32 number, const char *path, const struct difference *differences,
		size_t n);

/*
 * What a sample of an event stands for from now on (event.period; 0: varies or not known). A rate's upper
 * bound rests on it, and on what the last samples stood for where that is more.
 */
void policy_set_period(struct policy *policy, unsigned event, u64 period);

/*
 * Judges. `*ret` are the transitions, in the order of rules, then paths' bytes, then events: the policy's,
 * valid until the next call. 0, or -ENOMEM: what could not be taken in begins anew.
 */
int policy_tick(struct policy *policy, const struct transition **ret, size_t *ret_n);

/*
 * The cgroup of a path was removed: once its window has passed its alerts end, unless it is there again
 * (policy_put() says so, five seconds after it at the earliest: until then it may be tasks on their way out).
 * What is held for it is freed then; of a window under which nothing is pending, firing or resolved already
 * after five seconds without a sample, or the window where that is shorter. Made again after that, it begins
 * anew, baselines too. Of a path that nothing was put for yet it means nothing: where samples
 * follow a removal it is to be told again, after policy_put().
 */
void policy_gone(struct policy *policy, const char *path);

/* Likewise of a path whose cgroup is there, but for which nothing will be put any more: its alerts end as
 * ignored. */
void policy_leave_out(struct policy *policy, const char *path);

/*
 * Cgroups that have no slot: what rules match of them is unknown, also where nothing was ever put for it. Of a rule
 * with `subtree` that is the cgroup itself; what is above it is judged by the rest. Looked at whenever somebody
 * asks: it outlives the policy, and may change between two calls. NULL: there are none.
 */
void policy_set_no_slot(struct policy *policy, const struct no_slot *no_slot);

/* What a path's directory says, for all rules, until it is said anew. Texts are copied. 0 or -ENOMEM. */
int policy_prefer(struct policy *policy, const char *name, const struct preference *preference);

/* A path that is judged, the one after `path` in some fixed order (NULL: the first); NULL after the last.
 * Valid until the next policy_* call that changes something. */
const char *policy_next_path(const struct policy *policy, const char *path);

/* All that is pending, firing or resolved within DECIDE_RESOLVED_NS (at most POLICY_RESOLVED_MAX of these,
 * the latest), firing ones first, then by since. The caller frees the array; strings as of policy_tick(). */
#define POLICY_RESOLVED_MAX 1024
int policy_alerts(const struct policy *policy, struct alert **ret, size_t *ret_n);

/* The rule of a name; NULL: there is none. */
const struct rule *policy_rule(const struct policy *policy, const char *name);
const struct rule *policy_rules(const struct policy *policy, size_t *ret_n);

/* What a rule makes of a path: one for each event of the rule's role on it. -ENOENT: no such rule; -ENXIO:
 * the rule does not match the path; 0 with n = 0: it does, and nothing was sampled yet. Caller frees. */
int policy_explain(const struct policy *policy, const char *rule, const char *path, struct alert **ret,
		   size_t *ret_n);

/* How many subjects of a rule are in each state; those unknown are counted by reason and not by state. */
struct policy_counts {
	u64 states[ALERT_RESOLVED + 1];
	u64 unknown[UNKNOWN_NOT_MEASURED + 1];
	u64 ignored;
};
void policy_count(const struct policy *policy, size_t rule, struct policy_counts *ret);

/*
 * What must be known to go on after a restart: of each alert that is pending or firing, and of those resolved
 * within DECIDE_RESOLVED_NS. Windows begin anew: until they are covered it is unknown, which changes no
 * state, and counts neither for nor against what is pending.
 */
struct policy_memory {
	char rule[RULE_NAME_MAX];
	u64 fingerprint;
	const char *cgroup;
	const char *event_key;
	u64 number;
	enum alert_state state;
	u64 held_ns;
	struct timespec since, breached, fired, resolved;
	enum alert_end end;      /* of a resolved one */
	double value, low, high; /* as last judged; for a resolution that follows; NAN: not known */
};
int policy_remember(const struct policy *policy, struct policy_memory **ret, size_t *ret_n);

/* The same with the figures of when each state began: for who asks at each collection. What is the same as
 * the last time is the same to the last bit, but for `held_ns`. */
int policy_remember_states(const struct policy *policy, struct policy_memory **ret, size_t *ret_n);

/* Takes one back, after policy_new(). -ESTALE: no rule of that name and fingerprint (where it was firing the
 * next tick tells of its end), -ENOMEM. */
int policy_recall(struct policy *policy, const struct policy_memory *memory);

u64 policy_next_number(const struct policy *policy);

/* CLOCK_MONOTONIC of the last tick; before the first, the start. */
u64 policy_judged_ns(const struct policy *policy);

/* Memory held by windows and subjects. */
size_t policy_bytes(const struct policy *policy);

#endif
