// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "act/alert_store.h"
#include "alerts/alerts_record.h"
#include "alerts/alerts_saved.h"
#include "base/cleanup.h"
#include "heap.h"
#include "policy_fixture.h"
#include "state/state.h"
#include "state/state_kinds.h"

static char *everything[] = {"/**"};

/* A policy whose process may end at any time. Only `state` outlives the process. */
struct life {
	struct policy_fixture fixture;
	struct state *state;
	struct alerts_saved *saved;
	const char *wrong;
};

static struct life life;

static void begin(struct state *state, const struct rule *rules, size_t n, u64 now_ns)
{
	struct event event = fixture_event(EVENT_LOADS, "cpu");
	struct policy_settings settings = {.rules = rules,
					   .n_rules = n,
					   .events = &event,
					   .n_events = 1,
					   .start_ns = now_ns,
					   .max_bytes = POLICY_BYTES};
	const struct policy_saved_alert *saved_alerts;
	size_t n_saved_alerts;

	life = (struct life){.fixture.now_ns = now_ns, .state = state};
	cr_assert_eq(alerts_saved_new(state, now_ns, &life.saved, &life.wrong), 0);
	settings.next_number = alerts_saved_next_number(life.saved);
	cr_assert_eq(policy_new(&settings, &life.fixture.policy), 0);
	saved_alerts = alerts_saved_alerts(life.saved, &n_saved_alerts);
	for (size_t i = 0; i < n_saved_alerts; i++) {
		int r = policy_restore_alert(life.fixture.policy, &saved_alerts[i]);

		cr_assert(r == 0 || r == -ESTALE);
	}
	state_settle(state);
}

static void begin_first(const struct rule *rule)
{
	struct state *state;

	cr_assert_eq(state_new(STATE_RECORDS, &state), 0);
	begin(state, rule, 1, FIXTURE_START_NS);
	cr_expect_null(life.wrong);
}

/* Ends the process as if it was killed: nothing is saved. */
static void end(void)
{
	fixture_free(&life.fixture);
	life.saved = alerts_saved_free(life.saved);
	life.state = state_free(life.state);
}

/* Starts the next process. No process existed for the `after_ns` before it. */
static void start_next(const struct rule *rule, u64 after_ns)
{
	u64 now_ns = life.fixture.now_ns + after_ns;
	struct state *state;
	const char *wrong;

	cr_assert_eq(state_inherit(state_fd(life.state), STATE_RECORDS, &state, &wrong), 0);
	end();
	begin(state, rule, 1, now_ns);
}

/* Runs `n` collections and saves the alerts after each. Returns the number of transitions. */
static size_t run(unsigned n, const char *path, u64 slow, u64 fast)
{
	size_t told = 0;

	for (unsigned i = 0; i < n; i++) {
		(void)fixture_run(&life.fixture, 1, path, slow, fast);
		told += life.fixture.n;
		cr_assert_eq(alerts_saved_write(life.saved, life.fixture.policy), 0);
	}
	return told;
}

static struct alert the_alert(const char *path)
{
	return fixture_alert(&life.fixture, "remote", path);
}

TestSuite(alerts_saved, .fini = end);

Test(alerts_saved, a_restart_keeps_the_time_an_alert_was_pending)
{
	struct rule rule = fixture_rule("remote", everything);

	rule.for_ns = 60 * NSEC_PER_SEC;
	begin_first(&rule);
	cr_assert_eq(run(60, "/a", 10, 0), 1, "pending when the window is covered");
	cr_assert_eq(the_alert("/a").decision.held_ns, 50 * NSEC_PER_SEC);
	for (int i = 0; i < 3; i++) {
		start_next(&rule, 100 * NSEC_PER_SEC);
		cr_assert_null(life.wrong);
		cr_expect_eq(the_alert("/a").decision.state, ALERT_PENDING);
		cr_expect_eq(the_alert("/a").decision.held_ns, 50 * NSEC_PER_SEC,
			     "time that nobody saw counts neither for nor against");
		cr_assert_eq(run(9, "/a", 10, 0), 0, "nor does that of a window not covered");
		cr_expect_eq(the_alert("/a").decision.held_ns, 50 * NSEC_PER_SEC);
	}
	cr_assert_eq(run(9, "/a", 10, 0), 0);
	cr_assert_eq(the_alert("/a").decision.held_ns, 59 * NSEC_PER_SEC);
	cr_assert_eq(run(1, "/a", 10, 0), 1);
	cr_expect_eq(the_alert("/a").decision.state, ALERT_FIRING);
}

Test(alerts_saved, after_a_restart_a_window_without_breach_ends_a_pending_alert)
{
	struct rule rule = fixture_rule("remote", everything);

	rule.for_ns = 60 * NSEC_PER_SEC;
	begin_first(&rule);
	(void)run(60, "/a", 10, 0);
	start_next(&rule, NSEC_PER_SEC);
	cr_assert_eq(run(10, "/a", 0, 10), 1);
	cr_expect_eq(the_alert("/a").decision.state, ALERT_INACTIVE);
	start_next(&rule, NSEC_PER_SEC);
	cr_assert_eq(run(12, "/a", 10, 0), 1, "pending");
	cr_expect_lt(the_alert("/a").decision.held_ns, 3 * NSEC_PER_SEC);
}

Test(alerts_saved, after_a_restart_a_firing_alert_stays_and_is_not_reported_again)
{
	struct rule rule = fixture_rule("remote", everything);
	struct alert before;

	begin_first(&rule);
	cr_assert_eq(run(15, "/a", 10, 0), 2);
	before = the_alert("/a");
	cr_assert_eq(before.decision.state, ALERT_FIRING);
	start_next(&rule, NSEC_PER_SEC);
	cr_assert_eq(run(100, "/a", 0, 0), 0);
	cr_expect_eq(the_alert("/a").decision.state, ALERT_FIRING);
	cr_expect_eq(the_alert("/a").decision.unknown, UNKNOWN_SAMPLES);
	cr_expect_eq(the_alert("/a").number, 1);
	cr_expect_eq(the_alert("/a").fired.tv_sec, before.fired.tv_sec);
	cr_assert_eq(run(30, "/a", 0, 10), 1, "resolved");
	start_next(&rule, NSEC_PER_SEC);
	cr_expect_eq(policy_next_number(life.fixture.policy), 2);
	cr_assert_eq(run(100, "/a", 0, 10), 0);
}

/* The baseline has no such sample, so the ratio is infinite, and its lower bound proves the breach. */
Test(alerts_saved, a_restart_keeps_an_alert_with_an_infinite_ratio)
{
	struct rule rule = fixture_rule("remote", everything);

	rule.metric.ratio = true;
	rule.threshold = 2;
	rule.clear = 1.5;
	rule.baseline_ns = 60 * NSEC_PER_SEC;
	begin_first(&rule);
	cr_assert_eq(run(40, "/a", 0, 10), 0);
	(void)run(20, "/a", 10, 0);
	cr_assert_eq(the_alert("/a").decision.state, ALERT_FIRING);
	cr_assert_eq(the_alert("/a").estimate.value, INFINITY);
	start_next(&rule, NSEC_PER_SEC);
	cr_expect_null(life.wrong, "%s", life.wrong);
	cr_expect_eq(the_alert("/a").decision.state, ALERT_FIRING);
	cr_expect_eq(the_alert("/a").number, 1);
}

Test(alerts_saved, after_a_restart_a_changed_rule_ends_the_alert)
{
	struct rule rule = fixture_rule("remote", everything), other = rule;

	other.threshold = 0.6;
	begin_first(&rule);
	(void)run(15, "/a", 10, 0);
	start_next(&other, NSEC_PER_SEC);
	cr_assert_eq(run(1, "/a", 10, 0), 1);
	cr_expect_eq(life.fixture.transitions[0].alert.number, 1);
	cr_expect_eq(life.fixture.transitions[0].alert.end, ALERT_END_RULE);
	start_next(&other, NSEC_PER_SEC);
	cr_assert_eq(run(5, "/a", 10, 0), 0);
}

Test(alerts_saved, after_a_restart_a_removed_cgroup_ends_the_alert)
{
	struct rule rule = fixture_rule("remote", everything);

	begin_first(&rule);
	(void)run(15, "/a", 10, 0);
	start_next(&rule, NSEC_PER_SEC);
	policy_gone(life.fixture.policy, "/a");
	cr_assert_eq(run(20, "/b", 0, 10), 1);
	start_next(&rule, NSEC_PER_SEC);
	cr_assert_eq(run(20, "/b", 0, 10), 0);
}

Test(alerts_saved, the_state_of_the_later_tick_is_newer)
{
	struct rule rule = fixture_rule("remote", everything);
	u64 saved_ns;

	begin_first(&rule);
	cr_expect_not(alerts_saved_is_newer(life.saved, 0), "there is nothing");
	(void)run(12, "/a", 10, 0);
	saved_ns = policy_judged_ns(life.fixture.policy);
	/* The process ended after it reported the transition, and before it saved the transition. */
	(void)fixture_run(&life.fixture, 3, "/a", 10, 0);
	cr_assert_eq(life.fixture.n, 1);
	cr_assert_gt(policy_judged_ns(life.fixture.policy), saved_ns);
	start_next(&rule, NSEC_PER_SEC);
	cr_expect(alerts_saved_is_newer(life.saved, 0), "a file that tells no time");
	cr_expect(alerts_saved_is_newer(life.saved, saved_ns - 1));
	cr_expect(alerts_saved_is_newer(life.saved, saved_ns), "of one tick: they say the same");
	cr_expect_not(alerts_saved_is_newer(life.saved, saved_ns + 1));
}

Test(alerts_saved, an_unchanged_alert_is_not_written_again)
{
	struct rule rule = fixture_rule("remote", everything);
	struct state_ref first, later;
	const struct state_record *record;
	_cleanup_(state_freep) struct state *state = NULL;
	const char *wrong;
	size_t n;

	begin_first(&rule);
	(void)run(16, "/a", 10, 0);
	cr_assert_eq(state_inherit(state_fd(life.state), STATE_RECORDS, &state, &wrong), 0);
	record = state_records(state, STATE_ALERT, &n);
	cr_assert_eq(n, 1);
	first = record->ref;
	state_free(state);
	(void)run(20, "/a", 10, 0);
	cr_assert_eq(state_inherit(state_fd(life.state), STATE_RECORDS, &state, &wrong), 0);
	record = state_records(state, STATE_ALERT, &n);
	cr_assert_eq(n, 1);
	later = record->ref;
	cr_expect_eq(first.unit, later.unit, "a record that is written again lies elsewhere");
}

static void expect_taken(const u8 *bytes, size_t length, u64 key, bool so)
{
	struct alerts_saved *saved;
	struct state_ref refs[2] = {0};
	struct state *state, *left;
	const char *wrong;
	/* The state was saved at second 100, and the next alert has the number 10. */
	static const u8 head[] = {0x80, 0xd0, 0xdb, 0xc3, 0xf4, 0x02, 10};

	cr_assert_eq(state_new(STATE_RECORDS, &left), 0);
	state_put(left, &refs[0], STATE_RULES, 0, head, sizeof(head));
	state_put(left, &refs[1], STATE_ALERT, key, bytes, length);
	cr_assert_eq(state_commit(left), 0);
	cr_assert_eq(state_inherit(state_fd(left), STATE_RECORDS, &state, &wrong), 0);
	cr_assert_eq(alerts_saved_new(state, FIXTURE_START_NS + NSEC_PER_SEC, &saved, &wrong), 0);
	cr_expect_eq(!wrong, so);
	cr_expect_eq(alerts_saved_is_newer(saved, 0), so);
	cr_expect_eq(alerts_saved_next_number(saved), so ? 10 : 1);
	alerts_saved_free(saved);
	state_free(state);
	state_free(left);
}

static void expect_refused(const u8 *bytes, size_t length, u64 key)
{
	expect_taken(bytes, length, key, false);
}

static struct policy_saved_alert some_saved_alert(void)
{
	return (struct policy_saved_alert){.rule = "remote",
					   .fingerprint = 7,
					   .cgroup = "/a",
					   .event_key = "loads",
					   .number = 4,
					   .state = ALERT_FIRING,
					   .held_ns = 5,
					   .since = {.tv_sec = 8, .tv_nsec = 9},
					   .value = 1,
					   .low = -INFINITY,
					   .high = INFINITY};
}

static void expect_saved_alert_refused(const struct policy_saved_alert *saved)
{
	u8 bytes[STATE_RECORD_MAX];
	size_t named, length = alerts_record_write(saved, bytes, &named);

	cr_assert_gt(length, 0);
	expect_refused(bytes, length, 3);
}

Test(alerts_saved, an_invalid_record_is_refused)
{
	struct policy_saved_alert saved = some_saved_alert();
	u8 bytes[STATE_RECORD_MAX];
	size_t named, length = alerts_record_write(&saved, bytes, &named);

	cr_assert_gt(length, 0);
	expect_taken(bytes, length, 3, true);
	for (size_t shorter = 0; shorter < length; shorter++)
		expect_refused(bytes, shorter, 3);
	bytes[length] = 0;
	expect_refused(bytes, length + 1, 3);
	expect_refused(bytes, length, ~0ULL);
	saved.number = 10;
	expect_saved_alert_refused(&saved);
	saved = some_saved_alert();
	saved.number = 0;
	expect_saved_alert_refused(&saved);
	saved = some_saved_alert();
	saved.state = ALERT_PENDING;
	expect_saved_alert_refused(&saved);
	saved.state = ALERT_INACTIVE;
	expect_saved_alert_refused(&saved);
	saved.state = (enum alert_state)4;
	expect_saved_alert_refused(&saved);
	saved = some_saved_alert();
	saved.end = (enum alert_end)4;
	expect_saved_alert_refused(&saved);
	saved = some_saved_alert();
	saved.held_ns = FIXTURE_START_NS + 1;
	expect_saved_alert_refused(&saved);
	saved = some_saved_alert();
	saved.since.tv_nsec = NSEC_PER_SEC;
	expect_saved_alert_refused(&saved);
	saved = some_saved_alert();
	saved.value = -INFINITY;
	expect_saved_alert_refused(&saved);
	saved = some_saved_alert();
	saved.rule[0] = '/';
	expect_saved_alert_refused(&saved);
	saved = some_saved_alert();
	saved.event_key = "";
	expect_saved_alert_refused(&saved);
}

Test(alerts_saved, an_alert_with_a_path_longer_than_a_record_is_not_saved)
{
	static char path[STATE_RECORD_MAX + 2];
	struct policy_saved_alert saved = some_saved_alert();
	u8 bytes[STATE_RECORD_MAX];
	size_t named;

	memset(path, '/', sizeof(path) - 1);
	saved.cgroup = path;
	cr_expect_eq(alerts_record_write(&saved, bytes, &named), 0);
	path[8000] = '\0';
	cr_expect_gt(alerts_record_write(&saved, bytes, &named), 8000);
}

Test(alerts_saved, without_a_state_no_alert_is_saved)
{
	struct rule rule = fixture_rule("remote", everything);

	begin(NULL, &rule, 1, FIXTURE_START_NS);
	cr_expect_eq(alerts_saved_next_number(life.saved), 1);
	(void)run(15, "/a", 10, 0);
}

#define REMOVED 1500U

/* The longest path, different for each `i`. */
static const char *long_path(unsigned i)
{
	static char path[PATH_MAX];

	memset(path, 'p', sizeof(path) - 1);
	path[0] = '/';
	(void)snprintf(path + sizeof(path) - 8, 8, "%07u", i);
	return path;
}

/*
 * Alerts fire for more cgroups than resolved alerts are kept, and all of these cgroups are removed. Measured is
 * what malloc() handed out for the policy, for its copy in the state, and for that in the file.
 */
Test(alerts_saved, alerts_of_removed_cgroups_stay_within_the_documented_memory)
{
	char pattern[1000];
	char *patterns[] = {pattern, everything[0]};
	struct rule rule = fixture_rule("remote", patterns);
	_cleanup_free_ struct policy_saved_alert *saved_alerts = NULL;
	_cleanup_(alert_store_clear) struct alert_store store;
	size_t before, taken, n;

	memset(pattern, 'x', sizeof(pattern));
	pattern[0] = '/';
	pattern[sizeof(pattern) - 1] = '\0';
	rule.n_patterns = ARRAY_SIZE(patterns);
	rule.for_ns = 0;
	begin_first(&rule);
	alert_store_init(&store);
	before = heap_bytes();
	for (int second = 0; second < 10; second++) {
		fixture_begin(&life.fixture);
		for (unsigned i = 0; i < REMOVED; i++)
			fixture_put(&life.fixture, long_path(i), 10, 0);
		cr_assert_eq(fixture_tick(&life.fixture), 0);
	}
	cr_assert_eq(life.fixture.n, REMOVED);
	for (unsigned i = 0; i < REMOVED; i++)
		policy_gone(life.fixture.policy, long_path(i));
	cr_assert_eq(fixture_run(&life.fixture, 20, "/", 0, 0), 10);
	cr_assert_eq(life.fixture.n, REMOVED, "all end");
	cr_assert_eq(fixture_run(&life.fixture, 1, "/", 0, 0), 1);

	cr_assert_eq(policy_save_alerts(life.fixture.policy, &saved_alerts, &n), 0);
	cr_expect_eq(n, POLICY_RESOLVED_MAX);
	cr_assert_eq(alert_store_set_alerts(&store, saved_alerts, n), 0);
	free(TAKE_PTR(saved_alerts));
	cr_assert_eq(alerts_saved_write(life.saved, life.fixture.policy), 0);
	taken = heap_bytes() - before;
	cr_expect_leq(taken, POLICY_RESOLVED_MAX * POLICY_RESOLVED_BYTES, "%zu", taken);
#ifndef __SANITIZE_ADDRESS__ /* mallinfo2() counts nothing with the sanitizer's allocator */
	cr_expect_geq(taken, POLICY_RESOLVED_MAX * 3UL * PATH_MAX, "%zu", taken);
#endif
	/* policy_bytes() counts the policy's own part. */
	cr_expect_geq(policy_bytes(life.fixture.policy), POLICY_RESOLVED_MAX * (size_t)PATH_MAX);
}
