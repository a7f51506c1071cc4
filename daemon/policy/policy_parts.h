// SPDX-License-Identifier: GPL-2.0
/*
 * What a policy is made of.
 *
 *   view     an event, a window, and whether it is of subtrees: one sliding window, and the rules that share
 * it group    which rules of a view match: the same for most subjects subject  a path in a view: a number in
 * its sliding window, and a state for each rule of its group entry    a cgroup as the ledger numbers it: the
 * subjects that its differences are added to
 *
 * A state that was never anything but inactive takes 16 bytes; all else is in its `extra`.
 */
#ifndef PEBSD_POLICY_PARTS_H
#define PEBSD_POLICY_PARTS_H

#include <sys/queue.h>
#include <sys/types.h>

#include "policy/bursts.h"
#include "policy/policy.h"
#include "policy/policy_screen.h"
#include "window/baseline.h"

/* For so long samples of a removed cgroup may still come, of tasks on their way out. */
#define POLICY_STRAY_NS (5 * NSEC_PER_SEC)

/* Of a ratio's state. */
struct state_baseline {
	struct baseline baseline;
	double fed; /* seconds that had left the window (view.left_seconds) when it was fed last */
};

/* A state that is or was more than inactive, is of a ratio, or has a preference. */
struct extra {
	u64 at_ns;
	u64 since_ns;
	u64 held_ns;
	u64 number;
	struct timespec since, breached, fired, resolved;
	enum alert_end end;
	struct estimate estimate; /* as it was when the state changed, or its cgroup went */
	struct limits limits;     /* where the preference has a threshold */
	struct preference_effect preference;
	struct state_baseline *base; /* NULL: no ratio */
};

struct state {
	struct extra *extra; /* NULL: inactive since the subject's birth */
	u8 state;            /* enum alert_state */
	u8 unknown;          /* enum unknown_reason */
};

struct view_rule {
	u32 rule; /* index in the policy's */
	u32 like; /* index in the view's rules of the first with these patterns: where that matches, this does
		   */
	bool not_measured;
	bool matches; /* view_group()'s: the path under way */
	struct limits limits;
	struct screen screen;
};

/* Which rules of a view match. */
struct group {
	struct group *next;
	size_t n;
	u32 members[]; /* indices in the view's rules, ascending */
};

/* The rules of a view, which a reload exchanges. */
struct view_rules {
	size_t n;
	struct view_rule *list; /* in the order of rules */
	bool has_rate;
	bool has_ratio;
	struct group *groups;
};

struct subject {
	struct subject *next; /* on the same path */
	struct path *path;
	struct view *view;
	struct group *group;
	u32 number; /* in the view's window */
	u32 refs;   /* entries that add to it */
	u32 judged; /* the last tick that judged it */
	struct subject *next_doomed;
	bool active;  /* in view.active */
	bool rejudge; /* something but its window has changed */
	u64 born_ns;
	struct timespec born;
	struct state *states; /* as many as the group has members */
};

struct view {
	struct policy *policy;
	unsigned event;
	u64 window_ns;
	bool subtree;
	struct sliding *sliding;
	struct view_rules rules;

	struct subject **by_number; /* NULL where nobody */
	size_t n_numbers;           /* room of both lists */
	size_t n_subjects;
	struct subject **active; /* to be judged at each tick */
	size_t n_active;
	bool some_left; /* since view_shrink() */

	/* As of the last tick. */
	enum unknown_reason reason; /* that holds for all subjects */
	double seconds;             /* in which the event ran */
	u64 covered_ns;
	double judged_seconds; /* as `seconds` was when all were judged */
	bool judge_all;
	double left_seconds; /* that have left the window since its start */

	/* The largest period of a sample, for rates: in the time that began at `weighed_ns`, about a window,
	 * and in the one before that had samples. 0: none so far. */
	u64 weighed_ns;
	double largest_weight;
	double largest_weight_before;
};

struct path {
	struct path *next; /* in its bucket, by hash, then bytes */
	u64 hash;
	TAILQ_ENTRY(path) gone_list;
	u64 gone_ns; /* where it is gone: since when, or its last sample since */
	u64 removed_ns;
	bool gone;
	enum alert_end end; /* where it is gone: what its alerts end with */
	struct entry *entry;
	struct subject *subjects;
	bool owner_is_root; /* the preference */
	char *ignore;
	char *threshold;
	char name[];
};

struct entry {
	struct entry *next; /* in its bucket */
	u32 number;
	u32 known; /* bits: events whose subjects are listed */
	struct path *path;
	struct subject **subjects;
	size_t n;
	size_t room;
};

/* An alert that ended with its cgroup or rule: with copies of all that it names. */
struct ended {
	TAILQ_ENTRY(ended) list;
	struct alert alert;
	enum alert_state from;
	struct rule *rule;
	char *cgroup;
	u64 until_ns; /* when it is forgotten; 0: recalled, and so many seconds of CLOCK_REALTIME tell */
};

TAILQ_HEAD(ended_list, ended);
TAILQ_HEAD(gone_list, path);

/* A transition of this tick, before they are sorted. */
struct change {
	size_t order; /* of the rule; those that are no more come first */
	enum alert_state from;
	struct subject *subject; /* and a member of its group, or: */
	size_t member;
	struct ended *ended;
};

/* Since when a rule is judged. */
struct rule_start {
	u64 ns;
	struct timespec time;
};

/* The parts of a subject's window: room, which a reader may use as well as the tick. */
struct window_parts {
	const struct subject *subject; /* whose they are as of this tick; NULL: nobody's */
	bool is_new;                   /* it came within the window: what was before is no part of it */
	size_t n;
	struct measured_part list[BURSTS_PARTS_MAX];
};

struct policy {
	struct rule *rules;
	struct rule_start *starts; /* of each rule */
	size_t n_rules;
	struct event events[EVENTS_MAX];
	size_t n_events;
	char keys[EVENTS_MAX][EVENT_KEY_MAX];
	struct evidence *evidence;
	size_t max_bytes;
	u64 next_number;

	struct view **views;
	size_t n_views;

	const struct no_slot *no_slot; /* not owned; NULL: none */

	struct path **paths; /* buckets by the hash's high bits: their order does not depend on how many there
				are */
	unsigned paths_log2;
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
	int error; /* of the collection under way */
	u32 tick;

	struct change *changes;
	size_t n_changes;
	size_t changes_room;
	struct transition *transitions; /* room as for changes */
	struct ended_list to_tell;      /* ended without a tick */
	struct ended_list ended;        /* resolved ones, and pending ones until the next tick */
	size_t n_ended;

	struct subject *doomed; /* that this tick found to be nobody's */
	u32 lower_edges[FINE_BUCKETS];
	struct tally base;          /* of the ratio that is being judged */
	struct window_parts *parts; /* of the subject that was asked for last */
	size_t bytes;               /* of paths, entries, subjects, states */
};

static inline bool has_no_slot(const struct policy *policy, const struct subject *subject)
{
	return policy->no_slot && policy->no_slot->n > 0 && no_slot_has(policy->no_slot, subject->path->name);
}

/* policy_views.c */
int view_rules_make(const struct policy *policy, const struct rule *rules, size_t n, const struct view *view,
		    struct view_rules *ret);
void view_rules_free(struct view_rules *rules);
/* `leaving` and `passing` get the view as their userdata. 0 or -ENOMEM. */
int view_new(struct policy *policy, const struct view *like, sliding_leaving leaving, sliding_passing passing,
	     struct view **ret);
void view_free(struct view *view);
bool view_is_of(const struct view *view, const struct event *events, const struct rule *rule, unsigned event);
/* The group of the rules that match; `*ret` NULL: none does. 0 or -ENOMEM. */
int view_group(const struct rule *rules, struct view_rules *view_rules, const char *path, struct group **ret);
int view_reserve(struct view *view, u32 number);
/* Gives back room, where many have left since the last call. */
void view_shrink(struct view *view);
/* What the window says at this tick. */
/* A rate's samples, of which some have the largest period of their time. */
void view_weigh(struct view *view, const struct tally *tally);
double view_sample_weight(const struct view *view);

void view_look(struct view *view, const struct sliding_time *time, bool covered);
double view_exposure(const struct sliding_time *time);

/* policy_paths.c */
struct path *path_find(const struct policy *policy, const char *name);
int path_get(struct policy *policy, const char *name, struct path **ret);
/* Frees it where nothing is held for it. */
void path_release(struct policy *policy, struct path *path);
void path_forget(struct policy *policy, struct path *path); /* its preference and that it is gone */
struct path *path_after(const struct policy *policy, const char *name);
int entry_get(struct policy *policy, u32 number, const char *name, struct entry **ret);
void entry_drop(struct policy *policy, struct entry *entry);
void entry_unlist(struct policy *policy, struct entry *entry);

/* policy_subjects.c */
struct subject *subject_find(const struct path *path, const struct view *view);
int subject_get(struct policy *policy, struct view *view, const char *name, struct subject **ret);
/* A states' array for a group. */
int states_new(struct policy *policy, const struct rule *rules, const struct view_rules *view_rules,
	       const struct group *group, const struct view *view, struct state **ret);
void states_free(struct policy *policy, struct state *states, size_t n);
void subject_drop(struct policy *policy, struct subject *subject);
/* What an entry of an event adds to. */
int entry_list(struct policy *policy, struct entry *entry, unsigned event);
/* A state's extra, made where there is none. */
int subject_extra(struct policy *policy, struct subject *subject, size_t member, struct extra **ret);
struct decision subject_decision(const struct policy *policy, const struct subject *subject, size_t member);
/* What its path's preference says; judged anew at the next tick. */
int subject_prefer(struct policy *policy, struct subject *subject);

static inline const struct view_rule *subject_view_rule(const struct subject *subject, size_t member)
{
	return &subject->view->rules.list[subject->group->members[member]];
}

static inline const struct rule *subject_rule(const struct policy *policy, const struct subject *subject,
					      size_t member)
{
	return &policy->rules[subject_view_rule(subject, member)->rule];
}

static inline const struct limits *subject_limits(const struct subject *subject, size_t member)
{
	const struct extra *extra = subject->states[member].extra;

	return extra && extra->preference.has_threshold ? &extra->limits
							: &subject_view_rule(subject, member)->limits;
}

/* policy_judge.c */
int judge_subject(struct policy *policy, struct subject *subject);
void judge_leaving(void *userdata, u32 number, const struct tally *tally, const struct sliding_time *time);
void judge_passing(void *userdata, const struct sliding_time *time);
/* `base` is room for what measured.base points to. */
void subject_measure(const struct policy *policy, const struct subject *subject, size_t member,
		     struct tally *base, struct measured *ret);
void subject_estimate(const struct policy *policy, const struct subject *subject, size_t member,
		      struct estimate *ret);
int changes_reserve(struct policy *policy, size_t n);

/* policy_ended.c */
struct ended *ended_free(struct ended *ended);
int ended_new(const struct alert *alert, enum alert_state from, struct ended **ret);
/* Takes it over. */
void ended_keep(struct policy *policy, struct ended *ended);
/* Forgets those that are old, and too many; not those that the tick under way has told. */
void ended_expire(struct policy *policy);

/* policy_read.c */
void alert_of(const struct policy *policy, const struct subject *subject, size_t member, struct alert *ret);
/* With an estimate that is known already. */
void alert_with(const struct policy *policy, const struct subject *subject, size_t member,
		const struct estimate *estimate, struct alert *ret);
/* policy_alerts(); else with the estimates of when their states changed, which costs next to nothing. */
int alerts_list(const struct policy *policy, bool judged_now, struct alert **ret, size_t *ret_n);

#endif
