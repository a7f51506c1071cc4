// SPDX-License-Identifier: GPL-2.0
/*
 * Turns the verdicts of one rule on one target into the state of an alert. Pure.
 *
 *   inactive -> pending    a breach is proven
 *   pending  -> firing     the breach was proven at each known collection since, for as long as `for` says
 *   pending  -> inactive   a collection did not prove the breach
 *   firing   -> resolved   `clear` is proven, or there is nothing left to judge (enum alert_end)
 *   resolved -> pending    a breach is proven
 *   resolved -> inactive   after DECIDE_RESOLVED_NS
 *
 * A collection with the finding "unknown" changes no state, except from resolved to inactive, which depends on
 * time alone. Its time does not count toward `for`. People see "unknown" together with the state that the rule
 * keeps.
 */
#ifndef PEBSD_DECIDE_H
#define PEBSD_DECIDE_H

#include <stdbool.h>

#include "policy/evidence.h"

enum alert_state { ALERT_INACTIVE, ALERT_PENDING, ALERT_FIRING, ALERT_RESOLVED };

enum unknown_reason {
	UNKNOWN_NOT,             /* the verdict is known */
	UNKNOWN_WINDOW,          /* the window is not covered yet */
	UNKNOWN_SAMPLES,         /* fewer than `min-samples` */
	UNKNOWN_SOURCE,          /* a tenth of the window or more was not sampled: paused, closed, failed */
	UNKNOWN_MULTIPLEXED,     /* the counter ran for less than a quarter of its time */
	UNKNOWN_LOST,            /* more than a tenth of the expected samples were lost */
	UNKNOWN_BASELINE,        /* the baseline has too few samples, or is shorter than the window */
	UNKNOWN_BURSTS,          /* independent samples would prove something, but there are too few bursts */
	UNKNOWN_FREQUENCY,       /* cores lost need the running frequency of the CPUs, which is not known */
	UNKNOWN_NO_SLOT,         /* the cgroup has no slot: none of its samples is counted under its name */
	UNKNOWN_SUBTREE_NO_SLOT, /* cgroups of the subtree have no slot, and the verdict needs their samples */
	UNKNOWN_NOT_MEASURED,    /* the event measures no latency, data source or period here */
};

/* The reason why an alert ended. */
enum alert_end {
	ALERT_END_CLEAR,   /* `clear` was proven */
	ALERT_END_GONE,    /* the cgroup was removed, and the window has passed since */
	ALERT_END_RULE,    /* the rule was removed from the configuration, or changed */
	ALERT_END_IGNORED, /* a preference ignores the rule, or the configuration excludes the cgroup */
};

#define DECIDE_RESOLVED_NS (3600 * NSEC_PER_SEC)

/* Plain data. struct policy_saved_alert saves the state and `held_ns` over a restart. Times are CLOCK_MONOTONIC. */
struct decision {
	enum alert_state state;
	enum unknown_reason unknown; /* of the last collection */
	u64 at_ns;                   /* the last collection with a known verdict; 0: none */
	u64 since_ns;                /* time at which the state began */
	u64 held_ns;                 /* while pending: how long the breach has been proven */
};

/* The result of one collection. */
struct finding {
	enum unknown_reason unknown;
	enum verdict verdict; /* valid if `unknown` is UNKNOWN_NOT */
	u64 now_ns;           /* never decreases from call to call */
	u64 elapsed_ns;       /* since the previous collection */
};

/*
 * Applies a finding. Returns whether the state changed; `*ret_from` is the previous state.
 *
 * The rule fires when the breach was proven at each known collection for the time that `for` says, counted
 * from the first such collection. A collection without proof starts `for` again. The alternative is to
 * continue while the mere value is past the threshold: that finds a few more steps, and gives several times
 * as many false alarms (tests/bench/policy_figures.c). If `for` is 0, the alert becomes pending and fires in
 * the same call.
 */
bool decide(const struct rule *rule, const struct finding *finding, struct decision *decision,
	    enum alert_state *ret_from);

/* Return constants: the words in JSON, and texts for people. */
const char *alert_state_word(enum alert_state state);        /* "inactive", "pending", "firing", "resolved" */
const char *unknown_reason_word(enum unknown_reason reason); /* "window", "samples", "source", ... */
const char *unknown_reason_text(enum unknown_reason reason); /* for people: "too few samples", ... */
const char *alert_end_word(enum alert_end end);              /* "clear", "gone", "rule", "ignored" */

#endif
