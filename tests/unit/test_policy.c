// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "policy_fixture.h"

static char *everything[] = {"/**"};
static char *slice[] = {"/a"};

static void expect_transition(const struct transition *transition, const char *rule, const char *cgroup,
			      enum alert_state from, enum alert_state to)
{
	cr_expect_str_eq(transition->alert.rule->name, rule);
	cr_expect_str_eq(transition->alert.cgroup, cgroup);
	cr_expect_eq(transition->from, from, "%s %s: from %d", rule, cgroup, transition->from);
	cr_expect_eq(transition->to, to, "%s %s: to %d", rule, cgroup, transition->to);
	cr_expect_eq(transition->alert.decision.state, to);
}

static struct alert the_alert(const struct policy_fixture *fixture, const char *rule, const char *path)
{
	struct alert *alerts;
	struct alert alert;
	size_t n;

	cr_assert_eq(policy_explain(fixture->policy, rule, path, &alerts, &n), 0);
	cr_assert_eq(n, 1, "%zu", n);
	alert = alerts[0];
	free(alerts);
	return alert;
}

static size_t count_alerts(const struct policy_fixture *fixture)
{
	struct alert *alerts;
	size_t n;

	cr_assert_eq(policy_alerts(fixture->policy, &alerts, &n), 0);
	free(alerts);
	return n;
}

static u64 seconds_of(const struct timespec *time)
{
	return (u64)time->tv_sec - FIXTURE_REALTIME - FIXTURE_START_NS / NSEC_PER_SEC;
}

/* Pending at second 10, when the window is covered; fires at 15. */
static void fire(struct policy_fixture *fixture, const char *path)
{
	cr_assert_eq(fixture_run(fixture, 20, path, 10, 0), 10);
	cr_assert_eq(fixture_run(fixture, 20, path, 10, 0), 5);
	cr_assert_eq(fixture->n, 1);
	cr_assert_eq(fixture->transitions->to, ALERT_FIRING);
}

Test(policy, an_alert_from_its_breach_to_its_end)
{
	struct rule rule = fixture_rule("remote", everything);
	struct policy_fixture fixture;
	struct alert alert;

	fixture_new(&fixture, &rule, 1);
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 10, 0), 10, "not before the window is covered");
	cr_assert_eq(fixture.n, 1);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_INACTIVE, ALERT_PENDING);
	cr_expect_eq(fixture.transitions[0].alert.number, 0);
	cr_expect_eq(seconds_of(&fixture.transitions[0].alert.breached), 10);

	cr_assert_eq(fixture_run(&fixture, 20, "/a", 10, 0), 5);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_PENDING, ALERT_FIRING);
	alert = fixture.transitions[0].alert;
	cr_expect_eq(alert.number, 1);
	cr_expect_eq(policy_next_number(fixture.policy), 2);
	cr_expect_str_eq(alert.event_key, "loads");
	cr_expect_eq(seconds_of(&alert.breached), 10);
	cr_expect_eq(seconds_of(&alert.fired), 15);
	cr_expect_eq(seconds_of(&alert.since), 15);
	cr_expect(alert.estimate.known);
	cr_expect_eq(alert.estimate.value, 1);
	cr_expect_geq(alert.estimate.bounds.low, 0.5);
	cr_expect_eq(alert.covered_ns, 10 * NSEC_PER_SEC);

	/* Slow ones leave the window one after the other: clear is proven while a few are still in it. */
	cr_assert_lt(fixture_run(&fixture, 20, "/a", 0, 10), 10);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.number, 1);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_CLEAR);
	cr_expect_leq(fixture.transitions[0].alert.estimate.bounds.high, 0.4);
	cr_expect_eq(count_alerts(&fixture), 1);
	fixture_free(&fixture);
}
