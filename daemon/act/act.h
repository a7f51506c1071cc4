// SPDX-License-Identifier: GPL-2.0
/*
 * Actions on transitions: the journal's entry, the facts of an alert in ID.env, starting pebsd-alert@ID.service,
 * a closer look at its cgroup. One that fails is reported and stops no other. None runs twice for one
 * transition, also across a restart: its intent is on disk before it begins (act/alert_store.h), and an action
 * that has begun is not begun again. (A closer look ends with the daemon, so its intent is not kept.)
 */
#ifndef PEBSD_ACT_H
#define PEBSD_ACT_H

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "policy/policy.h"

struct act_settings {
	sd_event *event;       /* referenced */
	const char *directory; /* for ID.env and the store; made (0700) where it is missing */
	bool no_units;         /* there is no service manager to ask: say so instead */
	/*
	 * Looks closer at the alert's cgroup, RULE_ZOOM or RULE_HOT as its rule says: 0, or -errno and in
	 * `ret_message`, which the caller frees, what failed, on what and why. NULL: nobody can.
	 */
	int (*look)(void *userdata, const struct transition *transition, enum rule_action action,
		    char **ret_message);
	void *userdata;
};

struct act;

/* Counted since the start. */
enum act_kind { ACT_LOG, ACT_UNIT, ACT_ZOOM, ACT_HOT, ACT_KINDS };
enum act_result { ACT_DONE, ACT_FAILED, ACT_LIMITED, ACT_RESULTS };

/* 0 or -errno with a message that the caller frees (NULL: no memory). */
int act_new(const struct act_settings *settings, struct act **ret, char **ret_message);
struct act *act_free(struct act *act);
DEFINE_CLEANUP(struct act *, act_free)

/* What the store has of the time before: the number to go on with, and what policy_recall() is to be given,
 * as of which tick (0: not known). Valid until act_free(). */
u64 act_next_number(const struct act *act);
u64 act_judged_ns(const struct act *act);
const struct policy_memory *act_memories(const struct act *act, size_t *ret_n);

/*
 * Stores where the policy is and the intents of these transitions, then acts on them. Dry runs are logged as
 * such and start nothing. Failures are logged.
 */
void act_on(struct act *act, const struct policy *policy, const struct transition *transitions, size_t n);

/* Once in a while: removes ID.env of alerts resolved DECIDE_RESOLVED_NS ago. `now`: CLOCK_REALTIME. */
void act_clean(struct act *act, const struct timespec *now);

u64 act_count(const struct act *act, enum act_kind kind, enum act_result result);
const char *act_kind_name(enum act_kind kind);       /* "log", "unit", "zoom", "hot" */
const char *act_result_name(enum act_result result); /* "done", "failed", "limited" */

#endif
