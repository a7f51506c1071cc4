// SPDX-License-Identifier: GPL-2.0
/* A policy with a clock of its own, for tests: one collection per second, with deltas given by path. */
#ifndef PEBSD_POLICY_FIXTURE_H
#define PEBSD_POLICY_FIXTURE_H

#include "policy/policy.h"

#define FIXTURE_START_NS (100 * NSEC_PER_SEC)
#define FIXTURE_REALTIME 1000000 /* seconds that CLOCK_REALTIME is ahead of the monotonic clock */

struct policy_fixture {
	struct policy *policy;
	u64 now_ns;
	struct sliding_time time[EVENTS_MAX];
	const struct transition *transitions; /* of the last tick */
	size_t n;
};

/* Returns an event with a period of 100, latencies (LATENCY_USE) and data sources, whatever its role is. */
struct event fixture_event(enum event_role role, const char *pmu);

/*
 * Returns this rule: `share:remote_dram` above 0.5, clear at 0.4, window 10 s, for 5 s, 20 samples, 95 %. It
 * matches `*pattern`, which must outlive the rule.
 */
struct rule fixture_rule(const char *name, char **pattern);

/* Creates a policy with one event, for loads, unless `events` is given. Aborts if memory runs out. */
void fixture_new(struct policy_fixture *fixture, const struct rule *rules, size_t n);
void fixture_new_events(struct policy_fixture *fixture, const struct rule *rules, size_t n,
			const struct event *events, size_t n_events);
void fixture_free(struct policy_fixture *fixture);

/* Starts a collection one second after the last one, or `after_ns` after it. */
void fixture_begin(struct policy_fixture *fixture);
void fixture_begin_after(struct policy_fixture *fixture, u64 after_ns);

/* Returns `slow` samples of 1,000 cycles from remote memory, and `fast` samples of 10 cycles from L1. */
struct counters fixture_counters(u64 slow, u64 fast);
void fixture_put(struct policy_fixture *fixture, const char *path, u64 slow, u64 fast);
void fixture_put_event(struct policy_fixture *fixture, const char *path, unsigned event,
		       const struct counters *counters);

/* Returns the only alert of the rule on the path. Aborts if there is none, or more than one. */
struct alert fixture_alert(const struct policy_fixture *fixture, const char *rule, const char *path);

/* Returns the result of policy_tick(). */
int fixture_tick(struct policy_fixture *fixture);

/*
 * Makes up to `n` collections with the samples of one path, and stops after the first that has a transition.
 * Returns the number of collections.
 */
unsigned fixture_run(struct policy_fixture *fixture, unsigned n, const char *path, u64 slow, u64 fast);

#endif
