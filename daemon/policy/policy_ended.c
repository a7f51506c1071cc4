// SPDX-License-Identifier: GPL-2.0
/* Alerts of cgroups or rules that are gone: they are listed for a while as resolved. */
#include <errno.h>
#include <string.h>

#include "policy/policy_internal.h"

struct ended *ended_free(struct ended *ended)
{
	if (!ended)
		return NULL;
	(void)rules_free(ended->rule, 1);
	free(ended->cgroup);
	free(ended);
	return NULL;
}

int ended_new(const struct alert *alert, enum alert_state from, struct ended **ret)
{
	struct ended *ended = calloc(1, sizeof(*ended));

	if (!ended)
		return -ENOMEM;
	ended->alert = *alert;
	ended->alert.subtree_without_slot = 0; /* the subtree is no longer judged */
	ended->from = from;
	ended->cgroup = strdup(alert->cgroup);
	if (!ended->cgroup || rules_copy(alert->rule, 1, &ended->rule) < 0) {
		(void)ended_free(ended);
		return -ENOMEM;
	}
	ended->alert.cgroup = ended->cgroup;
	ended->alert.rule = ended->rule;
	*ret = ended;
	return 0;
}

static void forget(struct policy *policy, struct ended *ended)
{
	TAILQ_REMOVE(&policy->ended, ended, list);
	policy->n_ended--;
	(void)ended_free(ended);
}

void ended_keep(struct policy *policy, struct ended *ended)
{
	TAILQ_INSERT_TAIL(&policy->ended, ended, list);
	policy->n_ended++;
}

/*
 * When to free an alert that was restored after a restart: an hour after it resolved. CLOCK_MONOTONIC of that
 * time is not known, so the rest of the hour is computed from CLOCK_REALTIME.
 */
static u64 until_of(const struct policy *policy, const struct ended *ended)
{
	s64 past = (s64)policy->now.tv_sec - (s64)ended->alert.resolved.tv_sec;
	s64 hour = (s64)(DECIDE_RESOLVED_NS / NSEC_PER_SEC);

	if (past < 0)
		past = 0;
	return policy->now_ns + (past < hour ? (u64)(hour - past) * NSEC_PER_SEC : 0);
}

void ended_expire(struct policy *policy)
{
	struct ended *ended = TAILQ_FIRST(&policy->ended);

	while (ended) {
		struct ended *next = TAILQ_NEXT(ended, list);

		if (!ended->until_ns)
			ended->until_ns = until_of(policy, ended);
		/* An alert that ended while pending is not listed. It was kept only for its transition. */
		if (ended->alert.decision.state != ALERT_RESOLVED || policy->now_ns >= ended->until_ns)
			forget(policy, ended);
		ended = next;
	}
	while (policy->n_ended > POLICY_RESOLVED_MAX)
		forget(policy, TAILQ_FIRST(&policy->ended));
}
