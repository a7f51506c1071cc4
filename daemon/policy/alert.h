// SPDX-License-Identifier: GPL-2.0
/* What is known of one rule on one subject: what actions, exporters and people are told. Plain data. */
#ifndef PEBSD_ALERT_H
#define PEBSD_ALERT_H

#include <time.h>

#include "policy/decide.h"
#include "policy/preference.h"

struct alert {
	u64 number; /* given when it fires, never twice; 0: has not fired */
	const struct rule *rule;
	const char *cgroup;
	unsigned event;        /* index */
	const char *event_key; /* "loads", "loads:cpu_atom" */

	struct decision decision;
	struct limits limits;
	struct preference_effect preference;
	struct estimate estimate; /* of the last collection; where it ended of the last one judged */
	u64 covered_ns;           /* by the window */

	/* CLOCK_REALTIME; 0: not so far. */
	struct timespec since;    /* of the state */
	struct timespec breached; /* when the breach that fired was first proven */
	struct timespec fired;
	struct timespec resolved;
	enum alert_end end; /* of a resolved one */
};

/* An alert changed its state. */
struct transition {
	enum alert_state from;
	enum alert_state to;
	struct alert alert; /* as of now; its strings are valid until the next policy_* call */
};

#endif
