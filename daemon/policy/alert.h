// SPDX-License-Identifier: GPL-2.0
/* The result of one rule on one target, as actions, exporters and people get to see it. Plain data. */
#ifndef PEBSD_ALERT_H
#define PEBSD_ALERT_H

#include <time.h>

#include "policy/decide.h"
#include "policy/preference.h"

struct alert {
	u64 number; /* assigned when it fires, never used again; 0: it has not fired */
	const struct rule *rule;
	const char *cgroup;
	unsigned event; /* index */
	/*
	 * For a rule with `subtree`: the number of cgroups of the subtree that have no slot now. Their samples
	 * are not in the estimate. Counts only stored names (no_slot.h). 0 if the alert has ended.
	 */
	u32 subtree_without_slot;
	const char *event_key; /* "loads", "loads:cpu_atom" */
	double nominal_hz;     /* of the event's cores, to show times beside cycles; 0: not known */

	struct decision decision;
	struct limits limits;
	struct preference_effect preference;
	/* As of the last collection. If the alert ended, as of the last collection that judged it. */
	struct estimate estimate;
	u64 covered_ns; /* time that the window covers */

	/* CLOCK_REALTIME; 0: has not happened yet. */
	struct timespec since;    /* time at which the state began */
	struct timespec breached; /* time at which the breach was first proven */
	struct timespec fired;
	struct timespec resolved;
	/*
	 * The value that was farthest past the limit while the alert was pending or firing, as far as this process has
	 * seen it; NAN: it has seen none.
	 */
	float worst;
	enum alert_end end : 8; /* of a resolved alert */
	u8 counts;              /* enum count_kind of the event */
	bool samples_loads;     /* loads are also sampled, so sources and latencies are known */
};

/* A change of an alert's state. */
struct transition {
	enum alert_state from;
	enum alert_state to;
	struct alert alert; /* after the change; its strings are valid until the next policy_* call */
};

/*
 * Returns true if the transition only forgets a resolved alert. One that fires again has a transition from
 * ALERT_RESOLVED, too.
 */
static inline bool transition_forgets(const struct transition *transition)
{
	return transition->from == ALERT_RESOLVED && transition->to == ALERT_INACTIVE;
}

#endif
