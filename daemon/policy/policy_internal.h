// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of a policy, shared by its sources.
 *
 *   window set  the rules that have the same event, window length and `subtree`, and the sliding window that they
 *               share; rules whose metric has a second event have window sets of their own, with a second window
 *   rule set    those rules of a window set that match a path; most targets share the same rule set
 *   target      a path in a window set: has a number in each sliding window, and a state for each rule of its rule
 *               set
 *   entry       a cgroup under the number that the totals give it: lists the targets that its deltas are
 *               added to
 *
 * A state that has always been inactive takes 16 bytes. Everything else about a state is in its `extra`.
 */
#ifndef PEBSD_POLICY_INTERNAL_H
#define PEBSD_POLICY_INTERNAL_H

#include <string.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/siphash.h"
#include "estimate/bursts.h"
#include "policy/policy.h"
#include "policy/policy_screen.h"
#include "window/baseline.h"

/* The time after its removal in which a cgroup may still get samples, from tasks that are exiting. */
#define POLICY_STRAY_NS (5 * NSEC_PER_SEC)

/* The baseline of one event, for a ratio's state. */
struct state_baseline {
	struct baseline baseline;
	double fed; /* window_set_event.left_seconds when the baseline was last fed */
};

/* The baselines of a ratio's state, one for each event of the window set. */
struct state_baselines {
	u32 n;
	bool restarted; /* the state was restored, and its baselines, which are not saved, are still too thin */
	struct state_baseline of[];
};

/* Details of a state that is or was other than inactive, belongs to a ratio, or has a preference. */
struct extra {
	u64 at_ns;
	u64 since_ns;
	u64 held_ns;
	u64 number;
	struct timespec since, breached, fired, resolved;
	enum alert_end end;
	float worst;              /* as in struct alert */
	struct estimate estimate; /* as of the state's last change, or its cgroup's removal */
	struct limits limits;     /* valid if the preference has a threshold */
	struct preference_effect preference;
	struct state_baselines *base; /* NULL: not a ratio */
};

struct rule_state {
	struct extra *extra; /* NULL: inactive since the target was made */
	u8 state;            /* enum alert_state */
	u8 unknown;          /* enum unknown_reason */
};

struct window_set_rule {
	u32 rule; /* index in the policy's rules */
	u32 like; /* index of the first rule of the window set that has the same patterns */
	bool not_measured;
	bool matches; /* scratch of rule_set_of(): the rule matches the path */
	struct limits limits;
	struct screen screen;
};

struct rule_set {
	struct rule_set *next;
	size_t n;
	u32 members[]; /* indices in the window set's rules, ascending */
};

/* The rules of a window set. A reload replaces them. */
struct window_set_rules {
	size_t n;
	struct window_set_rule *list; /* in the order of rules */
	bool has_weights;             /* a metric_uses_weights() */
	bool has_rate;                /* a metric_is_rate() */
	bool has_ratio;
	bool has_frequency; /* a metric_needs_frequency() */
	struct rule_set *rule_sets;
};

struct target {
	struct target *next; /* on the same path */
	struct policy_path *path;
	struct window_set *window_set;
	struct rule_set *rule_set;
	u32 numbers[METRIC_EVENTS_MAX]; /* the target's number in each sliding window of the window set */
	u32 refs;                       /* number of entries that list the target */
	u32 judged;                     /* policy.tick of the last evaluation */
	struct target *next_doomed;
	bool active;  /* listed in window_set.active */
	bool rejudge; /* judge it at the next tick, also if its window does not change */
	u64 born_ns;
	struct timespec born;
	/*
	 * Only if the window set has `subtree` and a rate: the last evaluation at which a cgroup of the subtree had no
	 * slot. 0: never.
	 */
	u64 unseen_ns;
	struct rule_state *states; /* one for each member of the rule set */
};

/* An event of a window set, with its sliding window. */
struct window_set_event {
	struct window_set *window_set;
	unsigned event;
	struct sliding *sliding;
	struct target **by_number; /* NULL: the number is free */
	size_t n_numbers;          /* allocated length of `by_number` */

	/* The values as of the last tick. */
	double seconds;        /* in which the event ran */
	double judged_seconds; /* the value of `seconds` when all targets were last judged */
	double left_seconds;   /* time that has left the window since the window set began */

	/*
	 * The largest period of a sample, for rates: in the interval of about a window that began at
	 * `weighed_ns`, and in the last interval with samples before that. 0: none so far.
	 */
	u64 weighed_ns;
	double largest_weight;
	double largest_weight_before;
};

struct window_set {
	struct policy *policy;
	unsigned event; /* that of the rules, and of events[0] */
	u64 window_ns;
	bool subtree;
	bool has_second; /* its metrics have a second event (metric_has_second()) */
	/*
	 * The second event is one of the same PMU. It is missing if this PMU does not sample it. The panes of
	 * all events begin and end at the same times.
	 */
	size_t n_events;
	struct window_set_event events[METRIC_EVENTS_MAX];
	struct window_set_rules rules;

	size_t n_targets;
	struct target **active; /* targets to judge at each tick; has room for events[0].n_numbers */
	size_t n_active;
	bool some_left; /* a target was dropped since the last window_set_shrink() */

	/* The values as of the last tick. */
	enum unknown_reason reason; /* applies to all targets */
	u64 covered_ns;
	double frequency_hz;        /* of the second event; 0: not known */
	double judged_frequency_hz; /* the value of `frequency_hz` when all targets were last judged */
	bool judge_all;
};

struct policy_path {
	struct policy_path *next; /* next path in the bucket, sorted by hash, then by bytes */
	u64 hash;
	TAILQ_ENTRY(policy_path) gone_list;
	u64 gone_ns; /* if gone: the time of the removal, or of the last sample after it */
	u64 removed_ns;
	u64 below_ns; /* if gone with ALERT_END_IGNORED: the time of the last sample of a cgroup below it */
	bool gone;
	enum alert_end end; /* if gone: the reason with which the alerts of the path end */
	struct entry *entry;
	struct target *targets;
	bool owner_is_root; /* this, `ignore` and `threshold` are the path's preference */
	char *ignore;
	char *threshold;
	char name[];
};

struct entry {
	struct entry *next; /* next entry in the bucket */
	u32 number;
	u32 known; /* a bit for each event whose targets are listed */
	struct policy_path *path;
	struct target **targets;
	size_t n;
	size_t room;
};

/* An alert that ended with its cgroup or rule. It has its own copies of both. */
struct ended {
	TAILQ_ENTRY(ended) list;
	struct alert alert;
	enum alert_state from;
	struct rule *rule;
	char *cgroup;
	u64 until_ns; /* when to free it; 0: restored, the next tick computes it from CLOCK_REALTIME */
};

TAILQ_HEAD(ended_list, ended);
TAILQ_HEAD(gone_list, policy_path);

/* A transition of this tick. policy_tick() sorts them at its end. */
struct change {
	size_t order; /* index of the rule + 1; 0: a removed rule */
	enum alert_state from;
	struct target *target; /* the change is of `member` of this target's rule set, or of `ended` */
	size_t member;
	struct ended *ended;
};

/* The time at which the policy began to judge a rule. */
struct rule_start {
	u64 ns;
	struct timespec time;
};

/*
 * The number of cgroups without a slot whose names a rule matches. For a rule with `subtree`, `above` is the
 * number of other cgroups that the rule matches and that are above a cgroup without a slot.
 */
struct no_slot_counts {
	u64 at;
	u64 above;
};

/*
 * The counts of a rule, cached for readers, because matching a long list takes long. They are valid for this
 * list, until no_slot_clear() changes its generation.
 */
struct no_slot_matches {
	const struct no_slot *list; /* NULL: the cache is empty */
	u64 generation;
	struct no_slot_counts counts;
};

/* The parts of one target's window. A cache of one target, for the tick and for readers. */
struct window_parts {
	const struct target *target; /* the target with these parts, at this tick; NULL: none */
	size_t n;
	struct measured_part list[BURSTS_PARTS_MAX];
};

struct policy {
	struct rule *rules;
	struct rule_start *starts;               /* of each rule */
	struct no_slot_matches *no_slot_matches; /* of each rule */
	size_t n_rules;
	struct event events[EVENTS_MAX];
	size_t n_events;
	bool samples_loads; /* one of the events is EVENT_LOADS */
	char keys[EVENTS_MAX][EVENT_KEY_MAX];
	double frequencies_hz[EVENTS_MAX]; /* policy_set_frequency() */
	struct evidence *evidence;
	size_t max_bytes;
	u64 next_number;

	struct window_set **window_sets;
	size_t n_window_sets;

	const struct no_slot *no_slot; /* not owned; NULL: none */

	/*
	 * Buckets by the high bits of the hash, so that the order of paths does not depend on the number of
	 * buckets.
	 */
	struct policy_path **paths;
	unsigned paths_log2;
	struct siphash_key paths_key;
	size_t n_paths;
	struct entry **entries; /* buckets by number */
	unsigned entries_log2;
	size_t n_entries;
	struct gone_list gone;

	u64 last_ns;
	struct timespec last;
	u64 now_ns;
	struct timespec now;
	u64 elapsed_ns;
	int error; /* of the current collection */
	u32 tick;

	struct change *changes;
	size_t n_changes;
	size_t changes_room;
	struct transition *transitions; /* allocated for changes_room */
	struct ended_list to_report;    /* ended between ticks: the next tick reports them */
	struct ended_list ended;        /* resolved ones, and until the next tick those that were pending */
	size_t n_ended;

	struct target *doomed; /* targets that this tick found to be unused */
	u32 lower_edges[FINE_BUCKETS];
	struct tally base[METRIC_EVENTS_MAX]; /* baselines of the ratio that is being judged */
	struct window_parts *parts;           /* of the target that was measured last */
	size_t bytes;                         /* held by paths, entries, targets and states */
};

static inline bool has_no_slot(const struct policy *policy, const struct target *target)
{
	return no_slot_has(policy->no_slot, target->path->name);
}

/*
 * The number of named cgroups without a slot in the target's subtree, including itself. 0 if the window set has no
 * `subtree`.
 */
static inline u64 subtree_without_slot(const struct policy *policy, const struct target *target)
{
	const char *name = target->path->name;

	return target->window_set->subtree ? no_slot_count_subtree(policy->no_slot, name, strlen(name)) : 0;
}

/* policy_window_sets.c */
int window_set_rules_make(const struct policy *policy, const struct rule *rules, size_t n,
			  const struct window_set *window_set, struct window_set_rules *ret);
void window_set_rules_free(struct window_set_rules *rules);
/* The window set's windows call `leaving` and `passing` with a window_set_event as userdata. Returns 0 or -ENOMEM. */
int window_set_new(struct policy *policy, const struct window_set *like, sliding_leaving leaving,
		   sliding_passing passing, struct window_set **ret);
void window_set_free(struct window_set *window_set);
bool window_set_is_of(const struct window_set *window_set, const struct event *events,
		      const struct rule *rule, unsigned event);
/* The window set's item for an event; NULL: the event is not one of the window set's. */
struct window_set_event *window_set_event_of(struct window_set *window_set, unsigned event);
/* Removes a target's numbers from the sliding windows, from the first `n` of them. */
void window_set_close(struct target *target, size_t n);
/* Gives a new target a number in each sliding window. Returns 0 or -ENOMEM. */
int window_set_open(struct target *target);
/* Returns whether a window has samples of the target. */
bool window_set_has_samples(const struct target *target);
/* Finds or makes the rule set of the rules that match. `*ret` is NULL if none does. Returns 0 or -ENOMEM. */
int rule_set_of(const struct rule *rules, struct window_set_rules *window_set_rules, const char *path,
		struct rule_set **ret);
/* Shrinks the lists if many targets were dropped since the last call. */
void window_set_shrink(struct window_set *window_set);
/* Updates the largest period of a sample from the mean period of a tally. */
void window_set_weigh(struct window_set_event *event, const struct tally *tally);
/* The largest period that a sample in the window has or could have had; 0: not known. */
double window_set_sample_weight(const struct window_set_event *event);

/*
 * Takes over the times and coverage of the windows at this tick, and the frequency, and decides whether all
 * targets must be judged.
 */
void window_set_look(struct window_set *window_set);
/* The seconds in which the event ran. */
double window_set_exposure(const struct sliding_time *time);

/* policy_paths.c */
struct policy_path *path_find(const struct policy *policy, const char *name);
int path_get(struct policy *policy, const char *name, struct policy_path **ret);
/* Frees the path if it has no entry, target or preference. */
void path_release(struct policy *policy, struct policy_path *path);
/* Clears the preference of a path, and the mark that it is gone. */
void path_forget(struct policy *policy, struct policy_path *path);
struct policy_path *path_after(const struct policy *policy, const char *name);
int entry_get(struct policy *policy, u32 number, const char *name, struct entry **ret);
void entry_drop(struct policy *policy, struct entry *entry);
void entry_unlist(struct policy *policy, struct entry *entry);

/* policy_targets.c */
struct target *target_find(const struct policy_path *path, const struct window_set *window_set);
int target_get(struct policy *policy, struct window_set *window_set, const char *name, struct target **ret);
/* Makes the array of states for a rule set. */
int states_new(struct policy *policy, const struct rule *rules,
	       const struct window_set_rules *window_set_rules, const struct rule_set *rule_set,
	       const struct window_set *window_set, struct rule_state **ret);
void states_free(struct policy *policy, struct rule_state *states, size_t n);
void target_drop(struct policy *policy, struct target *target);
/* Lists the targets of an event in an entry. */
int entry_list(struct policy *policy, struct entry *entry, unsigned event);
/* Returns the `extra` of a state, and makes one if there is none. */
int target_extra(struct policy *policy, struct target *target, size_t member, struct extra **ret);
/* Returns why the state is unknown, by the last evaluation and the cgroups that have no slot now. */
enum unknown_reason target_unknown(const struct policy *policy, const struct target *target, size_t member);
struct decision target_decision(const struct policy *policy, const struct target *target, size_t member);
/* Applies the preference of the target's path. The next tick judges the target. */
int target_prefer(struct policy *policy, struct target *target);

static inline const struct window_set_rule *target_window_set_rule(const struct target *target, size_t member)
{
	return &target->window_set->rules.list[target->rule_set->members[member]];
}

static inline const struct rule *target_rule(const struct policy *policy, const struct target *target,
					     size_t member)
{
	return &policy->rules[target_window_set_rule(target, member)->rule];
}

static inline const struct limits *target_limits(const struct target *target, size_t member)
{
	const struct extra *extra = target->states[member].extra;

	return extra && extra->preference.has_threshold ? &extra->limits
							: &target_window_set_rule(target, member)->limits;
}

/* policy_judge.c */
int judge_target(struct policy *policy, struct target *target);
/* The callbacks of a sliding window. `userdata` is the struct window_set_event. */
void judge_leaving(void *userdata, u32 number, const struct tally *tally, const struct sliding_time *time);
void judge_passing(void *userdata, const struct sliding_time *time);
void target_estimate(const struct policy *policy, const struct target *target, size_t member,
		     struct estimate *ret);
int changes_reserve(struct policy *policy, size_t n);

/* policy_ended.c */
struct ended *ended_free(struct ended *ended);
int ended_new(const struct alert *alert, enum alert_state from, struct ended **ret);
/*
 * Adds an alert to policy.ended, which then owns it. Transitions point to it, so it exists at least until the
 * next tick.
 */
void ended_keep(struct policy *policy, struct ended *ended);
/*
 * Frees ended alerts that are too old, or beyond POLICY_RESOLVED_MAX. policy_tick() calls it before it adds
 * the alerts that this tick ends.
 */
void ended_expire(struct policy *policy);

/* policy_query.c */
void alert_of(const struct policy *policy, const struct target *target, size_t member, struct alert *ret);
/* Same as alert_of(), with a given estimate. */
void alert_with(const struct policy *policy, const struct target *target, size_t member,
		const struct estimate *estimate, struct alert *ret);
/* Implements policy_alerts(). Without `judged_now` it uses the cheap estimates from when the states changed. */
int alerts_list(const struct policy *policy, bool judged_now, struct alert **ret, size_t *ret_n);

#endif
