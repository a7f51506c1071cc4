// SPDX-License-Identifier: GPL-2.0
/* A policy with a clock of its own: a collection a second, differences put by path. For tests. */
#ifndef PEBSD_POLICY_FIXTURE_H
#define PEBSD_POLICY_FIXTURE_H

#include "policy/policy.h"

#define FIXTURE_START_NS (100 * NSEC_PER_SEC)
#define FIXTURE_REALTIME 1000000 /* seconds that CLOCK_REALTIME is ahead of the other */

struct policy_fixture {
	struct policy *policy;
	u64 now_ns;
	struct sliding_time time[EVENTS_MAX];
	const struct transition *transitions; /* of the last tick */
	size_t n;
};

/* Loads with latencies and sources of the PMU; a period of 100. */
struct event fixture_event(enum event_role role, const char *pmu);

/* `share:remote_dram` above 0.5, clear at 0.4; window 10 s, for 5 s, 20 samples, 95 %; matches `pattern`,
 * which must outlive the rule. */
struct rule fixture_rule(const char *name, char **pattern);

/* One event of loads unless `events` is given. Aborts where there is no memory. */
void fixture_new(struct policy_fixture *fixture, const struct rule *rules, size_t n);
void fixture_new_events(struct policy_fixture *fixture, const struct rule *rules, size_t n,
			const struct event *events, size_t n_events);
void fixture_free(struct policy_fixture *fixture);

/* Begins the collection a second after the last, or `after_ns`. */
void fixture_begin(struct policy_fixture *fixture);
void fixture_begin_after(struct policy_fixture *fixture, u64 after_ns);

/* `slow` samples from remote memory of 1,000 cycles, and `fast` ones from the L1 of 10. */
struct figures fixture_figures(u64 slow, u64 fast);
void fixture_put(struct policy_fixture *fixture, const char *path, u64 slow, u64 fast);
void fixture_put_event(struct policy_fixture *fixture, const char *path, unsigned event,
		       const struct figures *figures);

/* Returns what policy_tick() does. */
int fixture_tick(struct policy_fixture *fixture);

/* A collection with one path's samples, `n` times; stops after the first that has a transition. Returns how
 * many were made. */
unsigned fixture_run(struct policy_fixture *fixture, unsigned n, const char *path, u64 slow, u64 fast);

#endif
