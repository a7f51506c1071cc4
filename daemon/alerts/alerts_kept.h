// SPDX-License-Identifier: GPL-2.0
/*
 * How rules stand, kept beyond the process in the engine's state (state/state.h): what is pending, and for
 * how long, what fires, what resolved of late. Put there after the actions of a tick, as of which it says it
 * is: the alerts' file (act/alert_store.h), which is on disk before any action and says the same of itself, is
 * older as long as nothing changed its state, and newer where a process ended between the two. Whichever is
 * newer is the truth (alerts_kept_is_newer()): no transition that was told is told again.
 */
#ifndef PEBSD_ALERTS_KEPT_H
#define PEBSD_ALERTS_KEPT_H

#include "base/cleanup.h"
#include "policy/policy.h"

struct alerts_kept;
struct state;

/*
 * `state`: not owned; may be NULL, which keeps nothing. Before its first commit. What another process left is
 * taken over; where that makes no sense `*ret_wrong`, a constant, says why, and it is as if there was none.
 * `now_ns`: CLOCK_MONOTONIC. 0 or -ENOMEM.
 */
int alerts_kept_new(struct state *state, u64 now_ns, struct alerts_kept **ret, const char **ret_wrong);
struct alerts_kept *alerts_kept_free(struct alerts_kept *kept);
DEFINE_CLEANUP(struct alerts_kept *, alerts_kept_free)

/* Whether what was taken over is as of a tick not before `judged_ns`. Not where nothing was. */
bool alerts_kept_is_newer(const struct alerts_kept *kept, u64 judged_ns);

/* What was taken over: the next alert's number (1: nothing), and what policy_recall() is to be given. Valid
 * until alerts_kept_save(). */
u64 alerts_kept_next_number(const struct alerts_kept *kept);
const struct policy_memory *alerts_kept_memories(const struct alerts_kept *kept, size_t *ret_n);

/* After a tick and its actions: what changed is there for the next process from now on. 0; -ENOMEM, and it
 * has what was there before, or what state_commit() returns. */
int alerts_kept_save(struct alerts_kept *kept, const struct policy *policy);

#endif
