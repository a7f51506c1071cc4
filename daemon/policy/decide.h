// SPDX-License-Identifier: GPL-2.0
/*
 * One rule on one subject: from verdicts over time to a state. Pure.
 *
 *   inactive -> pending    a breach is proven
 *   pending  -> firing     at each collection since, for `for`
 *   pending  -> inactive   at one it was not
 *   firing   -> resolved   `clear` is proven, or there is no more to judge (enum alert_end)
 *   resolved -> pending    as inactive; -> inactive after DECIDE_RESOLVED_NS
 *
 * What is unknown changes none of these, and its time counts neither for nor against: shown as a state of its
 * own, with the one held.
 */
#ifndef PEBSD_DECIDE_H
#define PEBSD_DECIDE_H

#include <stdbool.h>

#include "policy/evidence.h"

enum alert_state { ALERT_INACTIVE, ALERT_PENDING, ALERT_FIRING, ALERT_RESOLVED };

enum unknown_reason {
	UNKNOWN_NOT,          /* it is known */
	UNKNOWN_WINDOW,       /* the window is not covered yet */
	UNKNOWN_SAMPLES,      /* fewer than `min-samples` */
	UNKNOWN_SOURCE,       /* no sample could come for a tenth of the window or more: paused, lost */
	UNKNOWN_MULTIPLEXED,  /* the counter ran for less than a quarter of its time */
	UNKNOWN_LOST,         /* more than a tenth of the expected samples were lost */
	UNKNOWN_BASELINE,     /* the baseline has fewer than `min-samples` */
	UNKNOWN_BURSTS,       /* independent samples would prove it, but the window holds too few bursts */
	UNKNOWN_NO_SLOT,      /* the cgroup has no slot: none of its samples is counted under its name */
	UNKNOWN_NOT_MEASURED, /* the event has no such figure here: no latency, no period */
};

/* Why an alert ended. */
enum alert_end {
	ALERT_END_CLEAR,   /* proven */
	ALERT_END_GONE,    /* its cgroup is removed, and the window has passed since */
	ALERT_END_RULE,    /* the rule was taken out of the configuration, or changed */
	ALERT_END_IGNORED, /* a preference on the cgroup's directory says so, or it is no longer matched */
};

#define DECIDE_RESOLVED_NS (3600 * NSEC_PER_SEC)

/* Plain data: kept over a restart (policy_memory). Times are CLOCK_MONOTONIC. */
struct decision {
	enum alert_state state;
	enum unknown_reason unknown; /* of the last collection */
	u64 at_ns;                   /* of the last collection that was not unknown; 0: none */
	u64 since_ns;                /* when the state began */
	u64 held_ns;                 /* while pending: for how long the breach has been proven */
};

/* What a collection says. */
struct finding {
	enum unknown_reason unknown;
	enum verdict verdict; /* where it is known */
	u64 now_ns;           /* growing */
	u64 elapsed_ns;       /* since the collection before */
};

/*
 * Enters a finding. Returns whether the state changed; `*ret_from` is the one before. `for` is over when the
 * breach was proven at each known collection for so long: time counts from the first of them. One without
 * proof begins it anew: to go on as long as the value is past the threshold would find a few more steps, and
 * cry wolf several times as often (tests/bench/policy_figures.c). With `for` 0 a pending one fires in the
 * same call.
 */
bool decide(const struct rule *rule, const struct finding *finding, struct decision *decision,
	    enum alert_state *ret_from);

/* "inactive", "pending", "firing", "resolved"; "too few samples", ...; words for JSON. Constants. */
const char *alert_state_word(enum alert_state state);
const char *unknown_reason_word(enum unknown_reason reason); /* "window", "samples", "source", ... */
const char *unknown_reason_text(enum unknown_reason reason); /* for people */
const char *alert_end_word(enum alert_end end);              /* "clear", "gone", "rule", "ignored" */

#endif
