// SPDX-License-Identifier: GPL-2.0
/*
 * The policy takes rules, deltas and time, and returns the changes of states (transitions). Pure: it has
 * no clock, reads no file, and runs no action.
 *
 * The target of a rule is one cgroup under one event. The events of different PMUs make different targets.
 * For a rule with `subtree` the target is a cgroup together with all cgroups below it. Targets are made only for
 * cgroups that a rule matches. Rules with the same event, window and `subtree` share one sliding window. Some
 * metrics have a second event, of the same PMU: their rules share two windows.
 *
 * A state is unknown for the first of these reasons that holds (enum unknown_reason):
 *   - the metric is not measured, or the cgroup has no slot;
 *   - the window is not covered, its event was not sampled, was multiplexed, or lost samples;
 *   - the metric needs the running frequency of the CPUs, which is not known;
 *   - there are too few samples in the window, or in the baseline, or the baseline is shorter than the window;
 *   - independent samples would prove something, but the window has too few bursts (bursts.h);
 *   - the verdict needs the samples of cgroups of the subtree that have no slot (UNKNOWN_SUBTREE_NO_SLOT).
 *
 * Of a subtree, only the cgroups that have slots are seen, and they are judged like the whole: what they prove is
 * true of them, and people want to know it. There are two exceptions. If the window has no sample at all, all
 * activity of the subtree could be missing. A rate can only be higher with the missing samples, so no verdict
 * uses its upper bound until they are in the window: it could resolve an alert although the work only moved.
 *
 * A baseline is fed with the samples that leave the window, except while its rule is pending or firing. It is
 * also fed while the state is unknown: otherwise a baseline that lacks samples would never get any.
 */
#ifndef PEBSD_POLICY_H
#define PEBSD_POLICY_H

#include "collect/deltas.h"
#include "collect/no_slot.h"
#include "policy/alert.h"
#include "window/sliding.h"

struct policy;

struct policy_settings {
	const struct rule *rules; /* copied */
	size_t n_rules;
	const struct event *events; /* copied */
	size_t n_events;
	u64 start_ns;     /* CLOCK_MONOTONIC: when the first collection begins */
	u64 next_number;  /* the number of the first alert that fires; at least 1 */
	size_t max_bytes; /* limit for the panes of all windows together, e.g. POLICY_BYTES */
};

#define POLICY_BYTES ((size_t)64 << 20)

/*
 * Returns 0, -ENOMEM, or -EINVAL for more than EVENTS_MAX events or if `next_number` is 0. Free `*ret` with
 * policy_free().
 */
int policy_new(const struct policy_settings *settings, struct policy **ret);
struct policy *policy_free(struct policy *policy);
DEFINE_CLEANUP(struct policy *, policy_free)

/*
 * Replaces the rules. A new rule keeps the states of the old rule of its name if both decide the same
 * (rule_same_decision()). Windows that are still needed keep their contents. The alerts of all other old
 * rules end, and the next tick reports that. On failure (-ENOMEM) the old rules stay.
 */
int policy_set_rules(struct policy *policy, const struct rule *rules, size_t n);

/*
 * For one collection call policy_begin(), then policy_put() for each cgroup with deltas, then
 * policy_tick(). A cgroup's deltas may be put in several calls. `time` has an item for each event.
 * `number` is the number of the path in the totals; the policy does not read `entry` of the deltas.
 */
void policy_begin(struct policy *policy, u64 now_ns, const struct timespec *now,
		  const struct sliding_time time[EVENTS_MAX]);
void policy_put(struct policy *policy, u32 number, const char *path, const struct delta *deltas, size_t n);

/*
 * Sets the period of an event from now on (see event.period; 0: it varies or is not known). The upper bound
 * of a rate depends on it, or on the period of the last samples if that was larger.
 */
void policy_set_period(struct policy *policy, unsigned event, u64 period);

/*
 * Sets the running frequency of the CPUs of an event of cycles from now on, in Hz. 0: it is not known. Cores
 * lost are converted at the frequency of the moment, and are unknown (UNKNOWN_FREQUENCY) without one.
 */
void policy_set_frequency(struct policy *policy, unsigned event, double hz);

/*
 * Judges the collection. `*ret` are the transitions, ordered by rule (rules that were removed come first),
 * then by the bytes of the path, then by event. The policy owns them; they are valid until the next call.
 * Returns 0 or -ENOMEM. After -ENOMEM a window that could not take in the collection is empty and starts
 * again.
 */
int policy_tick(struct policy *policy, const struct transition **ret, size_t *ret_n);

/*
 * Call this when the cgroup of a path was removed. Its alerts end, and its memory is freed, when the window
 * has passed, unless the cgroup has come back. policy_put() is a sign of that, but not in the first five
 * seconds (POLICY_STRAY_NS), when samples may come from tasks that are exiting. A target without an alert
 * (pending, firing or resolved) is freed after five seconds without a sample, or after the window if that is
 * shorter. A cgroup that is made again later starts from nothing, and so do its baselines.
 *
 * The call has no effect if nothing was put for the path yet. If samples follow a removal, call it again
 * after policy_put().
 */
void policy_gone(struct policy *policy, const char *path);

/*
 * Same as policy_gone(), for a path whose cgroup still exists, but for which policy_put() will not be called
 * again. Its alerts end with ALERT_END_IGNORED. A rule with `subtree` still judges the cgroups below it, if there
 * are any for which policy_put() is called.
 */
void policy_leave_out(struct policy *policy, const char *path);

/*
 * Sets the list of cgroups that have no slot. Rules that match such a cgroup are unknown for it, even if
 * nothing was ever put for it. A rule with `subtree` is unknown for the cgroup itself; the cgroups above it
 * are judged by the samples of the other cgroups, with the exceptions above. The list must outlive the policy,
 * which reads it in each call. It may change between two calls. NULL: there are none.
 */
void policy_set_no_slot(struct policy *policy, const struct no_slot *no_slot);

/*
 * Sets the preferences of a path's directory for all rules, until the next call for this path, or until the policy
 * forgets the path: with its removal, or with its last target if nothing was put for the path itself. The texts are
 * copied. Returns 0 or -ENOMEM.
 */
int policy_prefer(struct policy *policy, const char *name, const struct preference *preference);

/*
 * Iterates over the paths that are judged, in a fixed order. Returns the path after `path` (NULL: the first
 * one), or NULL after the last one. The path is valid until the next policy_* call that changes something.
 */
const char *policy_next_path(const struct policy *policy, const char *path);

/*
 * Lists all alerts that are pending or firing, or were resolved within DECIDE_RESOLVED_NS. At most the latest
 * POLICY_RESOLVED_MAX resolved ones are listed. Firing alerts come first, then all others, each in the order
 * of `since`. The caller frees the array; its strings are valid as long as those of policy_tick().
 */
#define POLICY_RESOLVED_MAX 1024

/*
 * Memory of a resolved alert whose cgroup is gone, if the patterns of its rule take up to 1 KiB. Policy,
 * alert_store and alerts_saved each have a copy of the path, which may have PATH_MAX bytes.
 */
#define POLICY_RESOLVED_BYTES (16UL << 10)

int policy_alerts(const struct policy *policy, struct alert **ret, size_t *ret_n);

/* The rule of a name; NULL: there is none. */
const struct rule *policy_rule(const struct policy *policy, const char *name);
const struct rule *policy_rules(const struct policy *policy, size_t *ret_n);

/*
 * Returns the state of a rule on a path, in one alert for each event of the rule's role. Returns -ENOENT if
 * there is no such rule, and -ENXIO if the rule does not match the path. 0 with n = 0 means that the rule
 * matches, but nothing was sampled yet. The caller frees `*ret`, whose `cgroup` may be `path` itself.
 */
int policy_explain(const struct policy *policy, const char *rule, const char *path, struct alert **ret,
		   size_t *ret_n);

/*
 * The number of targets of a rule in each state. Unknown targets are counted by reason and not by state. Of the
 * cgroups without a slot, those are counted whose names are stored (NO_SLOT_NAMES_BYTES) or that are targets.
 * A cgroup above one of them that a rule with `subtree` matches is also counted if it never had a sample.
 */
struct policy_counts {
	u64 states[ALERT_RESOLVED + 1];
	u64 unknown[UNKNOWN_NOT_MEASURED + 1];
	u64 unknown_firing; /* unknown targets that fired before, and therefore still fire */
	u64 partial;        /* targets in `states` with a cgroup of the subtree that has no slot */
	u64 ignored;
	unsigned not_sampled; /* roles (1 << enum event_role) that the rule needs, and that no event has */
};
void policy_count(const struct policy *policy, size_t rule, struct policy_counts *ret);

/*
 * The part of an alert that is saved over a restart. Alerts are saved that are pending or firing, or were
 * resolved within DECIDE_RESOLVED_NS. Windows are not saved. Until a window is covered again, its targets
 * are unknown: this changes no state and does not count toward `for`.
 */
struct policy_saved_alert {
	char rule[RULE_NAME_MAX];
	u64 fingerprint;
	const char *cgroup;
	const char *event_key;
	u64 number;
	enum alert_state state;
	u64 held_ns;
	struct timespec since, breached, fired, resolved;
	enum alert_end end;      /* of a resolved alert */
	double value, low, high; /* as last judged; reported if the alert resolves; NAN: not known */
};
int policy_save_alerts(const struct policy *policy, struct policy_saved_alert **ret, size_t *ret_n);

/*
 * Same as policy_save_alerts(), with the value and bounds from when each state began. This is cheap enough for
 * each collection. An alert that has not changed since the last call is the same to the last bit, except for
 * `held_ns`.
 */
int policy_save_states(const struct policy *policy, struct policy_saved_alert **ret, size_t *ret_n);

/*
 * Restores one alert, after policy_new(). Returns 0 or -ENOMEM. Returns -ESTALE for a pending or firing alert
 * if no rule with that name and fingerprint judges its cgroup and event; if the alert was firing, the next
 * tick reports its end.
 */
int policy_restore_alert(struct policy *policy, const struct policy_saved_alert *saved);

u64 policy_next_number(const struct policy *policy);

/* The time of the last tick, or start_ns before the first one. CLOCK_MONOTONIC. */
u64 policy_judged_ns(const struct policy *policy);

/* The memory that windows and targets hold, bytes. */
size_t policy_bytes(const struct policy *policy);

#endif
