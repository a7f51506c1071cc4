// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the actions of transitions: writes an entry to the journal, writes the facts of the alert to NUMBER.env
 * and starts pebsd-alert@ID.service, or begins a zoom or hot tables of the alert's cgroup. An action that
 * fails is reported, and the others run nevertheless.
 *
 * No action runs twice for one transition, even across a restart. Its intent is on disk before it begins
 * (act/alert_store.h), and an action that may have begun is not begun again. Zooms and hot tables end with
 * the daemon, so their intents are not saved. If intents cannot be written, no unit is started, but the
 * journal still gets its entries.
 */
#ifndef PEBSD_ACT_H
#define PEBSD_ACT_H

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "policy/policy.h"

struct act_settings {
	sd_event *event;       /* referenced */
	const char *directory; /* for NUMBER.env and the store; made with mode 0700 if it is missing */
	bool no_units; /* systemd is not the service manager: the action `unit` fails with a message */
	/*
	 * Begins a zoom (RULE_ZOOM) or hot tables (RULE_HOT) of the alert's cgroup. Returns 0, or -errno with
	 * a message in `ret_message` that says what failed, on what and why. The caller frees it. NULL: not
	 * supported.
	 */
	int (*start_detail)(void *userdata, const struct transition *transition, enum rule_action action,
			    char **ret_message);
	void *userdata;
};

struct act;

/* Actions are counted by kind and result since the start. */
enum act_kind { ACT_LOG, ACT_UNIT, ACT_ZOOM, ACT_HOT, ACT_KINDS };
enum act_result { ACT_DONE, ACT_FAILED, ACT_LIMITED, ACT_RESULTS };

/* Returns 0 or -errno. */
int act_new(const struct act_settings *settings, struct act **ret);
struct act *act_free(struct act *act);
DEFINE_CLEANUP(struct act *, act_free)

/*
 * The contents of the store that the previous process left: the number of the next alert, the time of the
 * last tick (0: not known), and the arguments for policy_restore_alert(). Valid until act_free().
 */
u64 act_next_number(const struct act *act);
u64 act_judged_ns(const struct act *act);
const struct policy_saved_alert *act_saved_alerts(const struct act *act, size_t *ret_n);

/* Frees the alerts of act_saved_alerts(), which returns none from then on. */
void act_forget_saved_alerts(struct act *act);

/*
 * Stores the state of the policy and the intents of these transitions, then runs their actions. A dry run only
 * gets a log entry, which says that it is a dry run. Failures are logged.
 */
void act_on(struct act *act, const struct policy *policy, const struct transition *transitions, size_t n);

/*
 * Removes NUMBER.env of alerts that resolved at least DECIDE_RESOLVED_NS ago, and files that the store does not
 * know. Call it regularly. `now`: CLOCK_REALTIME.
 */
void act_clean(struct act *act, const struct timespec *now);

u64 act_count(const struct act *act, enum act_kind kind, enum act_result result);
const char *act_kind_name(enum act_kind kind);       /* "log", "unit", "zoom", "hot" */
const char *act_result_name(enum act_result result); /* "done", "failed", "limited" */

#endif
