// SPDX-License-Identifier: GPL-2.0
/*
 * Saves the alerts over a restart in the engine's state (state/state.h): pending alerts, with the time for
 * which their breach has been proven, firing alerts, and recently resolved alerts.
 *
 * Alerts are also in the file of act/alert_store.h. Both copies have the time of the tick that they describe.
 * The alerts in the file are updated only when an alert changes its state, before the actions. The copy in the
 * state is written at each tick, after the actions, so it is usually newer. The file is newer if the process
 * ended between the two writes. The newer copy is restored (alerts_saved_is_newer()), so that no transition is
 * reported twice.
 */
#ifndef PEBSD_ALERTS_SAVED_H
#define PEBSD_ALERTS_SAVED_H

#include "base/cleanup.h"
#include "policy/policy.h"

struct alerts_saved;
struct state;

/*
 * Reads the alerts that a previous process left in `state`. If any of them is invalid, all are ignored, and
 * `*ret_wrong` is a constant that says why. Otherwise it is NULL. `state` is not owned; NULL saves nothing. Call
 * this before the first commit of `state`. `now_ns`: CLOCK_MONOTONIC. Returns 0 or -ENOMEM.
 */
int alerts_saved_new(struct state *state, u64 now_ns, struct alerts_saved **ret, const char **ret_wrong);
struct alerts_saved *alerts_saved_free(struct alerts_saved *saved);
DEFINE_CLEANUP(struct alerts_saved *, alerts_saved_free)

/* Returns whether there are inherited alerts and they describe a tick at or after `judged_ns`. */
bool alerts_saved_is_newer(const struct alerts_saved *saved, u64 judged_ns);

/*
 * The inherited alerts: the number of the next alert (1 if nothing was inherited), and the arguments for
 * policy_restore_alert(). Valid until alerts_saved_write().
 */
u64 alerts_saved_next_number(const struct alerts_saved *saved);
const struct policy_saved_alert *alerts_saved_alerts(const struct alerts_saved *saved, size_t *ret_n);

/*
 * Saves the changes of a tick for the next process. Call it after the actions of the tick. Returns 0, the
 * error of state_commit(), or -ENOMEM: then the alerts of the previous call remain saved.
 */
int alerts_saved_write(struct alerts_saved *saved, const struct policy *policy);

#endif
