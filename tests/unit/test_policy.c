// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "policy_fixture.h"

static char *everything[] = {"/**"};
static char *slice[] = {"/a"};

/* The policy of most tests. */
static struct policy_fixture fixture;

static void end(void)
{
	fixture_free(&fixture);
}

TestSuite(policy, .fini = end);

/* Starts with the rule `remote` alone. */
static void start(char **pattern)
{
	struct rule rule = fixture_rule("remote", pattern);

	fixture_new(&fixture, &rule, 1);
}

static void expect_transition(const struct transition *transition, const char *rule, const char *cgroup,
			      enum alert_state from, enum alert_state to)
{
	cr_expect_str_eq(transition->alert.rule->name, rule);
	cr_expect_str_eq(transition->alert.cgroup, cgroup);
	cr_expect_eq(transition->from, from, "%s %s: from %d", rule, cgroup, transition->from);
	cr_expect_eq(transition->to, to, "%s %s: to %d", rule, cgroup, transition->to);
	cr_expect_eq(transition->alert.decision.state, to);
}

static size_t count_alerts(void)
{
	struct alert *alerts;
	size_t n;

	cr_assert_eq(policy_alerts(fixture.policy, &alerts, &n), 0);
	free(alerts);
	return n;
}

static u64 seconds_of(const struct timespec *time)
{
	return (u64)time->tv_sec - FIXTURE_REALTIME - FIXTURE_START_NS / NSEC_PER_SEC;
}

/* The alert is pending at second 10, when the window is covered, and fires at second 15. */
static void fire(const char *path)
{
	cr_assert_eq(fixture_run(&fixture, 20, path, 10, 0), 10);
	cr_assert_eq(fixture_run(&fixture, 20, path, 10, 0), 5);
	cr_assert_eq(fixture.n, 1);
	cr_assert_eq(fixture.transitions->to, ALERT_FIRING);
}

Test(policy, an_alert_goes_from_breach_to_firing_to_resolved)
{
	struct alert alert;

	start(everything);
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

	/*
	 * The slow samples leave the window one after the other. Meanwhile the window has a part of a burst,
	 * which proves nothing.
	 */
	cr_assert_eq(fixture_run(&fixture, 7, "/a", 0, 10), 7);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.unknown, UNKNOWN_BURSTS);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").estimate.worth, 0, "not known");
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 0, 10), 3);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.number, 1);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_CLEAR);
	cr_expect_leq(fixture.transitions[0].alert.estimate.bounds.high, 0.4);
	cr_expect_eq(count_alerts(), 1);
}

Test(policy, a_window_of_two_collections_cannot_detect_bursts)
{
	struct rule rule = fixture_rule("remote", everything);

	rule.window_ns = 2 * NSEC_PER_SEC;
	fixture_new(&fixture, &rule, 1);
	cr_expect_eq(fixture_run(&fixture, 20, "/a", 100, 0), 20);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.unknown, UNKNOWN_BURSTS);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").estimate.bounds.high, INFINITY);
	/* Not even independent samples would prove a breach, so the bursts do not matter. */
	(void)fixture_run(&fixture, 3, "/a", 45, 55);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.unknown, UNKNOWN_NOT);
}

/* The list of cgroups without a slot may change between two calls of the policy. */
Test(policy, a_cgroup_without_a_slot_is_unknown_and_keeps_its_alert)
{
	struct rule rules[] = {fixture_rule("remote", everything), fixture_rule("of_a", slice)};
	static char never[] = "/never", fired[] = "/a";
	char *paths[] = {fired, never};
	struct no_slot none = {0}, some = {.paths = paths, .n = 2};
	struct policy_counts counts;
	struct alert *alerts;
	struct alert alert;
	size_t n;

	fixture_new(&fixture, rules, 1);
	policy_set_no_slot(fixture.policy, &none);
	fire("/a");
	cr_assert_eq(policy_explain(fixture.policy, "remote", "/never", &alerts, &n), 0);
	cr_expect_eq(n, 0);
	free(alerts);

	/* The cgroup was created again, and the new one did not get a slot. */
	policy_set_no_slot(fixture.policy, &some);
	cr_assert_eq(fixture_run(&fixture, 3, "/b", 0, 10), 3);
	alert = fixture_alert(&fixture, "remote", "/a");
	cr_expect_eq(alert.decision.unknown, UNKNOWN_NO_SLOT);
	cr_expect_eq(alert.decision.state, ALERT_FIRING);
	cr_assert_eq(fixture_run(&fixture, 30, "/b", 0, 10), 30, "nothing resolves it");
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.state, ALERT_FIRING);

	/* A cgroup without a slot that never had a sample is unknown as well. */
	alert = fixture_alert(&fixture, "remote", "/never");
	cr_expect(alert.samples_loads, "the events do not depend on the cgroup");
	cr_expect_eq(alert.decision.unknown, UNKNOWN_NO_SLOT);
	cr_expect_eq(alert.decision.state, ALERT_INACTIVE);
	cr_expect_str_eq(alert.cgroup, "/never");
	cr_expect_str_eq(alert.event_key, "loads");
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.unknown[UNKNOWN_NO_SLOT], 2);
	cr_expect_eq(counts.unknown[UNKNOWN_SAMPLES], 0);
	cr_expect_eq(counts.states[ALERT_FIRING], 0);
	cr_expect_eq(counts.unknown_firing, 1, "/a fires until it is known to be clear");
	cr_expect_eq(counts.states[ALERT_INACTIVE], 1);

	/* A rule that does not match the cgroup does not judge it. */
	cr_assert_eq(policy_set_rules(fixture.policy, &rules[1], 1), 0);
	cr_expect_eq(policy_explain(fixture.policy, "of_a", "/never", &alerts, &n), -ENXIO);
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.unknown[UNKNOWN_NO_SLOT], 1);

	/* The cgroup has a slot again. */
	policy_set_no_slot(fixture.policy, &none);
	cr_expect_neq(fixture_alert(&fixture, "of_a", "/a").decision.unknown, UNKNOWN_NO_SLOT);
}

/* A match takes long if the list is long, and GetStatus and GetRules ask often, so matches are kept. */
Test(policy, cgroups_without_a_slot_are_matched_once_for_each_list)
{
	struct rule rules[] = {fixture_rule("remote", everything), fixture_rule("of_a", slice)};
	static char first[] = "/a", second[] = "/never";
	char *paths[] = {first, second};
	struct no_slot list = {.paths = paths, .n = 2};
	struct policy_counts counts;

	fixture_new(&fixture, rules, 2);
	policy_set_no_slot(fixture.policy, &list);
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.unknown[UNKNOWN_NO_SLOT], 2);
	list.paths = NULL;
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.unknown[UNKNOWN_NO_SLOT], 2);

	/* The next walk lists only one cgroup. Then the rules are replaced. */
	list = (struct no_slot){.paths = &paths[1], .n = 1, .generation = list.generation + 1};
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.unknown[UNKNOWN_NO_SLOT], 1);
	policy_count(fixture.policy, 1, &counts);
	cr_expect_eq(counts.unknown[UNKNOWN_NO_SLOT], 0);
	cr_assert_eq(policy_set_rules(fixture.policy, &rules[1], 1), 0);
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.unknown[UNKNOWN_NO_SLOT], 0);
}

/* A path counts if it is the path of the subtree, or continues it after a slash. */
Test(policy, a_subtree_is_judged_by_the_cgroups_that_have_slots_and_counts_the_others)
{
	struct rule rules[] = {fixture_rule("remote", slice), fixture_rule("alone", slice)};
	static char other[] = "/a-b", child[] = "/a/c", grandchild[] = "/a/d/e";
	char *paths[] = {other, child, grandchild};
	struct no_slot list = {.paths = paths, .n = 3};
	struct policy_counts counts;
	struct alert *alerts;
	struct alert alert;
	size_t n;

	rules[0].subtree = true;
	fixture_new(&fixture, rules, 2);
	fire("/a/b");
	expect_transition(fixture.transitions, "remote", "/a", ALERT_PENDING, ALERT_FIRING);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").subtree_without_slot, 0);
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.partial, 0);

	policy_set_no_slot(fixture.policy, &list);
	(void)fixture_run(&fixture, 3, "/a/b", 10, 0);
	alert = fixture_alert(&fixture, "remote", "/a");
	cr_expect_eq(alert.subtree_without_slot, 2);
	cr_expect_eq(alert.decision.unknown, UNKNOWN_NOT);
	cr_expect_eq(alert.decision.state, ALERT_FIRING);
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.partial, 1);
	cr_expect_eq(counts.states[ALERT_FIRING], 1);
	cr_expect_eq(counts.unknown[UNKNOWN_SUBTREE_NO_SLOT], 0);
	cr_assert_eq(policy_alerts(fixture.policy, &alerts, &n), 0);
	cr_assert_eq(n, 1);
	cr_expect_eq(alerts[0].subtree_without_slot, 2);
	free(alerts);

	/* A share can still resolve: the rule is about the cgroups that have slots. */
	cr_assert_lt(fixture_run(&fixture, 30, "/a/b", 0, 10), 30);
	expect_transition(fixture.transitions, "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions->alert.subtree_without_slot, 2);

	/* A rule without `subtree` judges the cgroup alone, which has a slot. */
	cr_assert_eq(fixture_run(&fixture, 1, "/a", 0, 10), 1);
	cr_expect_eq(fixture_alert(&fixture, "alone", "/a").subtree_without_slot, 0);
	policy_count(fixture.policy, 1, &counts);
	cr_expect_eq(counts.partial, 0);
	cr_expect_eq(counts.unknown[UNKNOWN_NO_SLOT], 0);
}

/* Nothing is judged again while the window stays empty, but the list of cgroups without a slot changes. */
Test(policy, a_subtree_without_a_sample_is_unknown_while_cgroups_of_it_have_no_slot)
{
	struct rule rule = fixture_rule("remote", everything);
	static char child[] = "/a/b/c", other[] = "/a/b/d", never[] = "/never/x", below[] = "/never/x/y";
	char *paths[] = {child, other, never, below};
	struct no_slot none = {0}, list = {.paths = paths, .n = 4};
	struct policy_counts counts;
	struct alert *alerts;
	struct alert alert;
	size_t n;

	rule.subtree = true;
	fixture_new(&fixture, &rule, 1);
	policy_set_no_slot(fixture.policy, &none);
	(void)fixture_run(&fixture, 1, "/a/b", 10, 0);
	(void)fixture_run(&fixture, 30, "/a/b", 0, 0);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.unknown, UNKNOWN_SAMPLES);

	policy_set_no_slot(fixture.policy, &list);
	alert = fixture_alert(&fixture, "remote", "/a");
	cr_expect_eq(alert.decision.unknown, UNKNOWN_SUBTREE_NO_SLOT);
	cr_expect_eq(alert.subtree_without_slot, 2);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/").subtree_without_slot, 4);
	/* No cgroup of this subtree ever had samples. */
	alert = fixture_alert(&fixture, "remote", "/never");
	cr_expect_eq(alert.decision.unknown, UNKNOWN_SUBTREE_NO_SLOT);
	cr_expect_eq(alert.subtree_without_slot, 2);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/never/x").decision.unknown, UNKNOWN_NO_SLOT);
	/* The cgroups of the list, and above them /, /a, /a/b and /never: each once. */
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.unknown[UNKNOWN_NO_SLOT], 4);
	cr_expect_eq(counts.unknown[UNKNOWN_SUBTREE_NO_SLOT], 4, "%" PRIu64,
		     counts.unknown[UNKNOWN_SUBTREE_NO_SLOT]);
	cr_expect_eq(counts.unknown[UNKNOWN_SAMPLES], 0);
	cr_expect_eq(counts.partial, 0);

	policy_set_no_slot(fixture.policy, &none);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.unknown, UNKNOWN_SAMPLES);
	cr_assert_eq(policy_explain(fixture.policy, "remote", "/never", &alerts, &n), 0);
	cr_expect_eq(n, 0);
	free(alerts);
}

/* 100 weighted samples a second for each sample. */
static struct rule rate_of_subtree(const char *name, bool below)
{
	struct rule rule = fixture_rule(name, slice);

	rule.metric = (struct metric){.kind = METRIC_RATE};
	rule.subtree = true;
	rule.min_samples = 0;
	rule.below = below;
	rule.threshold = below ? 400 : 500;
	rule.clear = below ? 500 : 400;
	return rule;
}

/* The work of the subtree moves to a new cgroup, which has no slot. */
Test(policy, a_high_rate_of_a_subtree_does_not_clear_while_samples_are_missing)
{
	struct rule rule = rate_of_subtree("busy", false);
	static char child[] = "/a/c";
	char *paths[] = {child};
	struct no_slot none = {0}, list = {.paths = paths, .n = 1};
	struct alert alert;

	fixture_new(&fixture, &rule, 1);
	policy_set_no_slot(fixture.policy, &list);
	fire("/a/b");
	cr_expect_eq(fixture_alert(&fixture, "busy", "/a").decision.unknown, UNKNOWN_NOT, "it fires");
	cr_assert_eq(fixture_run(&fixture, 30, "/a/b", 1, 0), 30, "nothing resolves it");
	alert = fixture_alert(&fixture, "busy", "/a");
	cr_expect_eq(alert.decision.state, ALERT_FIRING);
	cr_expect_eq(alert.decision.unknown, UNKNOWN_SUBTREE_NO_SLOT);

	/* The new cgroup has a slot now, and no work. The window is judged when none of it lacks samples. */
	policy_set_no_slot(fixture.policy, &none);
	cr_assert_eq(fixture_run(&fixture, 30, "/a/b", 1, 0), 10);
	expect_transition(fixture.transitions, "busy", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions->alert.subtree_without_slot, 0);
}

Test(policy, while_samples_are_missing_a_low_rate_of_a_subtree_is_not_a_breach)
{
	struct rule rule = rate_of_subtree("idle", true);
	static char child[] = "/a/c";
	char *paths[] = {child};
	struct no_slot none = {0}, list = {.paths = paths, .n = 1};

	fixture_new(&fixture, &rule, 1);
	policy_set_no_slot(fixture.policy, &list);
	cr_assert_eq(fixture_run(&fixture, 30, "/a/b", 1, 0), 30);
	cr_expect_eq(fixture_alert(&fixture, "idle", "/a").decision.unknown, UNKNOWN_SUBTREE_NO_SLOT);
	cr_expect_eq(fixture_alert(&fixture, "idle", "/a").decision.state, ALERT_INACTIVE);
	/* A rate that is high without the missing samples is known. */
	cr_assert_eq(fixture_run(&fixture, 20, "/a/b", 100, 0), 20);
	cr_expect_eq(fixture_alert(&fixture, "idle", "/a").decision.unknown, UNKNOWN_NOT);
	/* The window never changes again. Still the end of the shortage is noticed. */
	cr_assert_eq(fixture_run(&fixture, 30, "/a/b", 0, 0), 30);
	cr_expect_eq(fixture_alert(&fixture, "idle", "/a").decision.unknown, UNKNOWN_SUBTREE_NO_SLOT);
	policy_set_no_slot(fixture.policy, &none);
	cr_assert_eq(fixture_run(&fixture, 30, "/a/b", 0, 0), 10);
	expect_transition(fixture.transitions, "idle", "/a", ALERT_INACTIVE, ALERT_PENDING);
	cr_assert_eq(fixture_run(&fixture, 30, "/a/b", 0, 0), 5);
	expect_transition(fixture.transitions, "idle", "/a", ALERT_PENDING, ALERT_FIRING);
}

/* The list has room for the names of some cgroups only. */
Test(policy, a_cgroup_without_a_slot_is_unknown_also_if_its_name_is_not_stored)
{
	static char name[4000];
	_cleanup_(no_slot_clear) struct no_slot list = {0};
	struct policy_counts counts;

	memset(name, 'x', sizeof(name) - 1);
	name[0] = '/';
	while (list.bytes + sizeof(name) <= NO_SLOT_NAMES_BYTES)
		cr_assert_eq(no_slot_add(&list, name), 0);
	while (list.n_hashes == 0)
		cr_assert_eq(no_slot_add(&list, "/"), 0);
	cr_assert_eq(no_slot_add(&list, "/a"), 0);
	cr_assert_eq(no_slot_add(&list, "/never"), 0);
	no_slot_sort(&list);
	cr_assert_not(no_slot_has_name(&list, "/a"));
	cr_assert_not(no_slot_has_name(&list, "/never"));

	start(everything);
	fire("/a");
	policy_set_no_slot(fixture.policy, &list);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.unknown, UNKNOWN_NO_SLOT);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.state, ALERT_FIRING);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/never").decision.unknown, UNKNOWN_NO_SLOT);
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.unknown[UNKNOWN_NO_SLOT], list.n + 1, "those with a name, and the target");
	cr_expect_eq(counts.unknown_firing, 1);
}

Test(policy, with_few_samples_a_cgroup_is_unknown_and_keeps_its_alert)
{
	struct policy_counts counts;

	start(everything);
	cr_assert_eq(fixture_run(&fixture, 1, "/a", 10, 0), 1);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.unknown, UNKNOWN_WINDOW);
	cr_assert_eq(fixture_run(&fixture, 20, "/b", 10, 0), 9);
	cr_assert_eq(fixture_run(&fixture, 20, "/b", 10, 0), 5);
	cr_assert_eq(fixture_run(&fixture, 30, "/b", 0, 0), 30, "nothing comes: nothing is proven");
	cr_expect_eq(fixture_alert(&fixture, "remote", "/b").decision.state, ALERT_FIRING);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/b").decision.unknown, UNKNOWN_SAMPLES);
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.unknown[UNKNOWN_SAMPLES], 2);
	cr_expect_eq(counts.states[ALERT_FIRING], 0, "unknown ones are counted by their reason");
}

/* Runs for ten seconds with these times, and returns the reason why the value is unknown. */
static enum unknown_reason reason_with(struct sliding_time time)
{
	enum unknown_reason reason;

	start(everything);
	fixture.time[0] = time;
	(void)fixture_run(&fixture, 9, "/a", 10, 0);
	(void)fixture_run(&fixture, 1, "/a", 10, 0);
	reason = fixture_alert(&fixture, "remote", "/a").decision.unknown;
	fixture_free(&fixture);
	return reason;
}

Test(policy, reasons_for_unknown_have_thresholds_and_an_order)
{
	const u64 second = NSEC_PER_SEC;

	cr_expect_eq(reason_with((struct sliding_time){0}), UNKNOWN_NOT);
	cr_expect_eq(reason_with((struct sliding_time){.unsampled_ns = second / 10}), UNKNOWN_SOURCE);
	cr_expect_eq(reason_with((struct sliding_time){.unsampled_ns = second / 10 - 1}), UNKNOWN_NOT);
	cr_expect_eq(reason_with((struct sliding_time){.enabled_ns = second, .running_ns = second / 4 - 1}),
		     UNKNOWN_MULTIPLEXED);
	cr_expect_eq(reason_with((struct sliding_time){.enabled_ns = second, .running_ns = second / 4}),
		     UNKNOWN_NOT);
	cr_expect_eq(reason_with((struct sliding_time){.expected = 100, .lost = 11}), UNKNOWN_LOST);
	cr_expect_eq(reason_with((struct sliding_time){.expected = 100, .lost = 10}), UNKNOWN_NOT);
	cr_expect_eq(reason_with((struct sliding_time){
			     .unsampled_ns = second, .enabled_ns = second, .expected = 1, .lost = 1}),
		     UNKNOWN_SOURCE, "the source goes before all that follows from it");
}

Test(policy, a_figure_that_the_event_lacks_is_not_measured)
{
	struct rule rules[] = {fixture_rule("remote", everything), fixture_rule("p99", everything)};
	struct event event = fixture_event(EVENT_LOADS, "cpu");

	rules[1].metric = (struct metric){.kind = METRIC_QUANTILE, .quantile = 0.99};
	rules[1].threshold = 900;
	rules[1].clear = 700;
	event.settings.has_latency = false;
	fixture_new_events(&fixture, rules, 2, &event, 1);
	(void)fixture_run(&fixture, 3, "/a", 10, 0);
	cr_expect_eq(fixture_alert(&fixture, "p99", "/a").decision.unknown, UNKNOWN_NOT_MEASURED);
	cr_expect_not(fixture_alert(&fixture, "p99", "/a").estimate.known);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.unknown, UNKNOWN_WINDOW);
}

Test(policy, a_subtree_is_the_sum_of_its_cgroups)
{
	struct rule rule = fixture_rule("sum", slice);

	rule.subtree = true;
	fixture_new(&fixture, &rule, 1);
	fixture_begin(&fixture);
	fixture_put(&fixture, "/a", 1, 0);
	fixture_put(&fixture, "/a/b", 2, 1);
	fixture_put(&fixture, "/a/b/c", 3, 0);
	fixture_put(&fixture, "/ab", 50, 0);
	fixture_put(&fixture, "comm:a", 50, 0);
	cr_assert_eq(fixture_tick(&fixture), 0);
	cr_expect_eq(fixture_alert(&fixture, "sum", "/a").estimate.samples, 7);
	cr_expect_str_eq(policy_next_path(fixture.policy, NULL), "/a");
	cr_expect_null(policy_next_path(fixture.policy, "/a"), "no other is judged");
}

Test(policy, the_root_includes_all_cgroups)
{
	static char *root[] = {"/"};
	struct rule rule = fixture_rule("all", root);

	rule.subtree = true;
	fixture_new(&fixture, &rule, 1);
	fixture_begin(&fixture);
	fixture_put(&fixture, "/", 1, 0);
	fixture_put(&fixture, "/a", 2, 0);
	fixture_put(&fixture, "/a/b", 4, 0);
	fixture_put(&fixture, "comm:a", 8, 0);
	cr_assert_eq(fixture_tick(&fixture), 0);
	cr_expect_eq(fixture_alert(&fixture, "all", "/").estimate.samples, 15);
}

Test(policy, events_of_two_pmus_are_judged_apart)
{
	struct event events[] = {fixture_event(EVENT_LOADS, "cpu_core"),
				 fixture_event(EVENT_LOADS, "cpu_atom")};
	struct rule rule = fixture_rule("remote", everything);
	struct counters slow = fixture_counters(10, 0);
	struct counters fast = fixture_counters(0, 10);
	struct alert *alerts;
	size_t fired = 0;
	size_t n;

	events[1].nominal_hz = 2.4e9;
	fixture_new_events(&fixture, &rule, 1, events, 2);
	for (unsigned i = 0; i < 20; i++) {
		fixture_begin(&fixture);
		fixture_put_event(&fixture, "/a", 0, &fast);
		fixture_put_event(&fixture, "/a", 1, &slow);
		cr_assert_eq(fixture_tick(&fixture), 0);
		for (size_t j = 0; j < fixture.n; j++) {
			cr_expect_str_eq(fixture.transitions[j].alert.event_key, "loads:cpu_atom");
			cr_expect_float_eq(fixture.transitions[j].alert.nominal_hz, 2.4e9, 0);
			fired += fixture.transitions[j].to == ALERT_FIRING;
		}
	}
	cr_expect_eq(fired, 1);
	cr_assert_eq(policy_explain(fixture.policy, "remote", "/a", &alerts, &n), 0);
	cr_assert_eq(n, 2);
	cr_expect_str_eq(alerts[0].event_key, "loads:cpu_core");
	cr_expect_float_eq(alerts[0].nominal_hz, 0, 0);
	cr_expect_eq(alerts[0].decision.state, ALERT_INACTIVE);
	cr_expect_eq(alerts[1].decision.state, ALERT_FIRING);
	free(alerts);
}

Test(policy, unknown_rules_and_cgroups_cannot_be_explained)
{
	struct alert *alerts;
	size_t n = 99;

	start(slice);
	cr_expect_eq(policy_explain(fixture.policy, "other", "/a", &alerts, &n), -ENOENT);
	cr_expect_eq(policy_explain(fixture.policy, "remote", "/b", &alerts, &n), -ENXIO);
	cr_assert_eq(policy_explain(fixture.policy, "remote", "/a", &alerts, &n), 0);
	cr_expect_eq(n, 0);
	free(alerts);
}

Test(policy, transitions_are_ordered_by_rule_then_path)
{
	struct rule rules[] = {fixture_rule("z-first", everything), fixture_rule("a-second", everything)};

	rules[0].for_ns = rules[1].for_ns = 0;
	fixture_new(&fixture, rules, 2);
	for (unsigned i = 0; i < 10; i++) {
		fixture_begin(&fixture);
		fixture_put(&fixture, "/c", 10, 0);
		fixture_put(&fixture, "/a", 10, 0);
		fixture_put(&fixture, "/b", 10, 0);
		cr_assert_eq(fixture_tick(&fixture), 0);
	}
	cr_assert_eq(fixture.n, 6);
	for (size_t i = 0; i < 6; i++) {
		const char *paths[] = {"/a", "/b", "/c"};

		expect_transition(&fixture.transitions[i], i < 3 ? "z-first" : "a-second", paths[i % 3],
				  ALERT_INACTIVE, ALERT_FIRING);
		cr_expect_eq(fixture.transitions[i].alert.number, i + 1);
	}
}

Test(policy, a_reload_keeps_alerts_of_unchanged_rules)
{
	struct rule before[] = {fixture_rule("stays", everything), fixture_rule("goes", everything)};
	struct rule after[] = {fixture_rule("new", everything), fixture_rule("stays", everything)};
	struct alert alert;

	before[0].for_ns = before[1].for_ns = after[0].for_ns = after[1].for_ns = 0;
	snprintf(after[1].severity, sizeof(after[1].severity), "page");
	fixture_new(&fixture, before, 2);
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 10, 0), 10);
	cr_assert_eq(fixture.n, 2);
	cr_assert_eq(policy_set_rules(fixture.policy, after, 2), 0);
	alert = fixture_alert(&fixture, "stays", "/a");
	cr_expect_eq(alert.decision.state, ALERT_FIRING);
	cr_expect_eq(alert.number, 1);
	cr_expect_eq(seconds_of(&alert.fired), 10);
	cr_expect_str_eq(alert.rule->severity, "page");

	cr_assert_eq(fixture_run(&fixture, 1, "/a", 10, 0), 1);
	cr_assert_eq(fixture.n, 2, "%zu", fixture.n);
	expect_transition(&fixture.transitions[0], "goes", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_RULE);
	cr_expect_eq(fixture.transitions[0].alert.number, 2);
	expect_transition(&fixture.transitions[1], "new", "/a", ALERT_INACTIVE, ALERT_FIRING);
	cr_expect_eq(fixture.transitions[1].alert.number, 3, "its window was covered by the others' already");
	cr_expect_eq(count_alerts(), 3);
}

Test(policy, a_changed_rule_ends_its_alerts_and_starts_again)
{
	struct rule rule = fixture_rule("remote", everything);

	fixture_new(&fixture, &rule, 1);
	fire("/a");
	rule.threshold = 0.6;
	cr_assert_eq(policy_set_rules(fixture.policy, &rule, 1), 0);
	cr_assert_eq(fixture_run(&fixture, 1, "/a", 10, 0), 1);
	cr_assert_eq(fixture.n, 2);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_RULE);
	cr_expect_eq(fixture.transitions[0].alert.rule->threshold, 0.5, "as it was");
	expect_transition(&fixture.transitions[1], "remote", "/a", ALERT_INACTIVE, ALERT_PENDING);
	cr_assert_eq(policy_set_rules(fixture.policy, NULL, 0), 0);
	cr_assert_eq(fixture_run(&fixture, 1, "/a", 10, 0), 1);
	cr_assert_eq(fixture.n, 1);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_PENDING, ALERT_INACTIVE);
	cr_expect_null(policy_next_path(fixture.policy, NULL));
}

Test(policy, a_removed_cgroup_ends_when_its_window_has_passed)
{
	start(everything);
	fire("/a");
	policy_gone(fixture.policy, "/a");
	cr_assert_eq(fixture_run(&fixture, 20, "/b", 1, 1), 10);
	cr_assert_eq(fixture.n, 1);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_GONE);
	cr_expect(fixture.transitions[0].alert.estimate.known, "as last judged");
	cr_expect_eq(fixture.transitions[0].alert.estimate.value, 1);
	cr_expect_str_eq(policy_next_path(fixture.policy, NULL), "/b");
	cr_expect_null(policy_next_path(fixture.policy, "/b"));
	cr_expect_eq(count_alerts(), 1, "for an hour");
	fixture.time[0] = (struct sliding_time){0};
	fixture_begin_after(&fixture, 3600 * NSEC_PER_SEC);
	cr_assert_eq(fixture_tick(&fixture), 0);
	cr_expect_eq(count_alerts(), 0);
}

Test(policy, an_alert_continues_if_its_path_exists_again)
{
	start(everything);
	fire("/a");
	policy_gone(fixture.policy, "/a");
	cr_assert_eq(fixture_run(&fixture, 40, "/a", 10, 0), 40);
	cr_assert_eq(fixture_run(&fixture, 40, "/a", 0, 0), 40, "and may be idle then");
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.state, ALERT_FIRING);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").number, 1);
}

Test(policy, stray_samples_do_not_bring_a_cgroup_back)
{
	start(everything);
	fire("/a");
	policy_gone(fixture.policy, "/a");
	cr_assert_eq(fixture_run(&fixture, 2, "/a", 1, 0), 2);
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 0, 0), 10);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_GONE);
	cr_expect_null(policy_next_path(fixture.policy, NULL), "with all that was held for it");
}

Test(policy, ignoring_a_cgroup_ends_its_firing_and_pending_alerts)
{
	struct preference ignore = {.owner_is_root = true, .ignore = "remote"};
	struct preference none = {.owner_is_root = true};
	struct policy_counts counts;

	start(everything);
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 10, 0), 10);
	cr_assert_eq(policy_prefer(fixture.policy, "/a", &ignore), 0);
	cr_expect(fixture_alert(&fixture, "remote", "/a").preference.ignored);
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 10, 0), 1);
	cr_assert_eq(fixture.n, 1);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_PENDING, ALERT_INACTIVE);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_IGNORED);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.held_ns, 0);
	cr_expect_eq(count_alerts(), 0);
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 10, 0), 20, "silently");
	policy_count(fixture.policy, 0, &counts);
	cr_expect_eq(counts.ignored, 1);
	cr_assert_eq(policy_prefer(fixture.policy, "/a", &none), 0);
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 10, 0), 1);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_INACTIVE, ALERT_PENDING);
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 10, 0), 5);
	cr_assert_eq(policy_prefer(fixture.policy, "/a", &ignore), 0);
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 10, 0), 1);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_IGNORED);
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 10, 0), 20);
}

Test(policy, a_threshold_attribute_moves_both_limits)
{
	struct preference higher = {.owner_is_root = true, .threshold = "remote=0.9"};
	struct preference foreign = {.threshold = "remote=0.9"};

	start(everything);
	cr_assert_eq(policy_prefer(fixture.policy, "/a", &higher), 0, "before it is seen");
	cr_assert_eq(fixture_run(&fixture, 30, "/a", 8, 2), 30);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").limits.threshold, 0.9);
	cr_assert_eq(policy_prefer(fixture.policy, "/a", &foreign), 0);
	cr_assert_eq(fixture_run(&fixture, 30, "/a", 8, 2), 1, "applies at once");
	cr_expect_eq(fixture.transitions[0].to, ALERT_PENDING);
	cr_expect(fixture_alert(&fixture, "remote", "/a").preference.untrusted);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").limits.threshold, 0.5);
	cr_assert_eq(policy_prefer(fixture.policy, "/a", &higher), 0);
	cr_assert_eq(fixture_run(&fixture, 30, "/a", 0, 0), 1, "also without a new sample");
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_PENDING, ALERT_INACTIVE);
}

Test(policy, saved_alerts_continue_after_a_restart)
{
	struct rule rule = fixture_rule("remote", everything);
	_cleanup_(fixture_free) struct policy_fixture next;
	struct policy_saved_alert *saved_alerts;
	struct alert alert;
	size_t n;

	fixture_new(&fixture, &rule, 1);
	fire("/a");
	(void)fixture_run(&fixture, 3, "/b", 10, 0);
	(void)fixture_run(&fixture, 3, "/b", 10, 0);
	cr_assert_eq(fixture_alert(&fixture, "remote", "/b").decision.state, ALERT_PENDING);
	cr_assert_eq(policy_save_alerts(fixture.policy, &saved_alerts, &n), 0);
	cr_assert_eq(n, 2);
	cr_expect_eq(saved_alerts[0].number, 1);
	cr_expect_eq(saved_alerts[0].value, 1);

	fixture_new(&next, &rule, 1);
	cr_assert_eq(policy_restore_alert(next.policy, &saved_alerts[0]), 0);
	cr_assert_eq(policy_restore_alert(next.policy, &saved_alerts[1]), 0);
	cr_expect_eq(policy_next_number(next.policy), 2);
	alert = fixture_alert(&next, "remote", "/a");
	cr_expect_eq(alert.decision.state, ALERT_FIRING);
	cr_expect_eq(alert.number, 1);
	cr_expect_eq(seconds_of(&alert.fired), 15);
	cr_assert_eq(fixture_run(&next, 5, "/a", 0, 10), 5, "unknown until the window is covered");
	cr_expect_eq(fixture_alert(&next, "remote", "/a").decision.unknown, UNKNOWN_WINDOW);
	cr_assert_eq(fixture_run(&next, 20, "/a", 0, 10), 5);
	expect_transition(&next.transitions[0], "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(next.transitions[0].alert.number, 1);
	cr_expect_eq(fixture_alert(&next, "remote", "/b").decision.state, ALERT_PENDING);
	cr_expect_eq(fixture_alert(&next, "remote", "/b").decision.held_ns, saved_alerts[1].held_ns);

	saved_alerts[0].fingerprint++;
	cr_expect_eq(policy_restore_alert(next.policy, &saved_alerts[0]), -ESTALE);
	cr_assert_eq(fixture_run(&next, 1, "/a", 0, 10), 1);
	expect_transition(&next.transitions[0], "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(next.transitions[0].alert.end, ALERT_END_RULE);
	cr_expect_eq(next.transitions[0].alert.limits.threshold, 0,
		     "the limit of the rule so called now was never this one's");
	cr_expect_eq(next.transitions[0].alert.rule->window_ns, 0);
	free(saved_alerts);
}

Test(policy, a_ratio_compares_with_the_baseline_which_freezes_while_firing)
{
	struct rule rule = fixture_rule("unusual", everything);

	rule.metric.ratio = true;
	rule.threshold = 2;
	rule.clear = 1.5;
	fixture_new(&fixture, &rule, 1);
	cr_assert_eq(fixture_run(&fixture, 10, "/a", 10, 40), 10);
	cr_expect_eq(fixture_alert(&fixture, "unusual", "/a").decision.unknown, UNKNOWN_BASELINE);
	cr_assert_eq(fixture_run(&fixture, 60, "/a", 10, 40), 60);
	cr_expect_eq(fixture_alert(&fixture, "unusual", "/a").decision.unknown, UNKNOWN_NOT);
	cr_assert_lt(fixture_run(&fixture, 60, "/a", 40, 10), 12);
	expect_transition(&fixture.transitions[0], "unusual", "/a", ALERT_INACTIVE, ALERT_PENDING);
	cr_assert_eq(fixture_run(&fixture, 60, "/a", 40, 10), 5);
	/*
	 * The breach lasts longer than the time on which the baseline rests (70 s), but samples of a firing
	 * alert do not enter the baseline.
	 */
	cr_assert_eq(fixture_run(&fixture, 200, "/a", 40, 10), 200);
	cr_assert_lt(fixture_run(&fixture, 60, "/a", 10, 40), 12);
	expect_transition(&fixture.transitions[0], "unusual", "/a", ALERT_FIRING, ALERT_RESOLVED);
}

/*
 * A service starts shortly before the end of a collection, which therefore has only a few of its samples, and
 * is steady from then on. Compared with that collection alone, its rate would be five times as high as usual.
 */
Test(policy, a_baseline_shorter_than_the_window_proves_nothing)
{
	struct rule rule = fixture_rule("unusual", everything);
	struct alert alert;

	rule.metric = (struct metric){.kind = METRIC_RATE, .ratio = true};
	rule.threshold = 2;
	rule.clear = 1.5;
	rule.min_samples = 0;
	fixture_new(&fixture, &rule, 1);
	cr_assert_eq(fixture_run(&fixture, 1, "/a", 0, 20), 1);
	cr_assert_eq(fixture_run(&fixture, 11, "/a", 0, 100), 11, "no transition");
	alert = fixture_alert(&fixture, "unusual", "/a");
	cr_expect_eq(alert.decision.unknown, UNKNOWN_BASELINE);
	cr_expect(alert.estimate.base_covered >= 1 && alert.estimate.base_covered < 3, "%g",
		  alert.estimate.base_covered);
	cr_assert_eq(fixture_run(&fixture, 7, "/a", 0, 100), 7);
	cr_expect_eq(fixture_alert(&fixture, "unusual", "/a").decision.unknown, UNKNOWN_BASELINE);
	cr_assert_eq(fixture_run(&fixture, 100, "/a", 0, 100), 100);
	alert = fixture_alert(&fixture, "unusual", "/a");
	cr_expect_eq(alert.decision.unknown, UNKNOWN_NOT);
	cr_expect_lt(alert.estimate.bounds.low, 1.1);
}

/* Also if the fast path judges it: a share far below its threshold. */
Test(policy, a_share_is_not_known_before_its_baseline_is_as_long_as_the_window)
{
	struct rule rule = fixture_rule("unusual", everything);

	rule.metric.ratio = true;
	rule.threshold = 2;
	rule.clear = 1.5;
	fixture_new(&fixture, &rule, 1);
	cr_assert_eq(fixture_run(&fixture, 19, "/a", 50, 50), 19);
	cr_expect_eq(fixture_alert(&fixture, "unusual", "/a").decision.unknown, UNKNOWN_BASELINE);
	cr_assert_eq(fixture_run(&fixture, 4, "/a", 50, 50), 4);
	cr_expect_eq(fixture_alert(&fixture, "unusual", "/a").decision.unknown, UNKNOWN_NOT);
}

/*
 * The baseline froze when it was as long as a window in which the counter ran for 30 % of its time. The window
 * becomes longer when the counter runs all the time. The alert still resolves.
 */
Test(policy, a_frozen_baseline_need_not_grow_with_the_window)
{
	struct rule rule = fixture_rule("unusual", everything);
	struct alert alert;

	rule.metric.ratio = true;
	rule.threshold = 2;
	rule.clear = 1.5;
	fixture_new(&fixture, &rule, 1);
	fixture.time[0] =
		(struct sliding_time){.enabled_ns = NSEC_PER_SEC, .running_ns = 3 * NSEC_PER_SEC / 10};
	cr_assert_eq(fixture_run(&fixture, 23, "/a", 10, 40), 23);
	cr_assert_lt(fixture_run(&fixture, 60, "/a", 40, 10), 12);
	expect_transition(&fixture.transitions[0], "unusual", "/a", ALERT_INACTIVE, ALERT_PENDING);
	fixture.time[0] = (struct sliding_time){.enabled_ns = NSEC_PER_SEC, .running_ns = NSEC_PER_SEC};
	cr_assert_eq(fixture_run(&fixture, 60, "/a", 40, 10), 5);
	expect_transition(&fixture.transitions[0], "unusual", "/a", ALERT_PENDING, ALERT_FIRING);
	cr_assert_eq(fixture_run(&fixture, 30, "/a", 40, 10), 30);
	alert = fixture_alert(&fixture, "unusual", "/a");
	cr_expect_lt(alert.estimate.base_covered, 10);
	cr_expect_eq(alert.decision.unknown, UNKNOWN_NOT);
	cr_assert_lt(fixture_run(&fixture, 60, "/a", 10, 40), 12);
	expect_transition(&fixture.transitions[0], "unusual", "/a", ALERT_FIRING, ALERT_RESOLVED);
}

Test(policy, a_clock_that_goes_back_makes_the_window_unknown)
{
	start(everything);
	fire("/a");
	fixture.now_ns -= 50 * NSEC_PER_SEC;
	cr_assert_eq(fixture_run(&fixture, 9, "/a", 0, 10), 9);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.state, ALERT_FIRING);
	cr_expect_eq(fixture_alert(&fixture, "remote", "/a").decision.unknown, UNKNOWN_WINDOW);
}

Test(policy, after_churn_all_memory_is_freed)
{
	static char *rest[] = {"/**"};
	struct rule rules[] = {fixture_rule("own", everything), fixture_rule("tree", rest),
			       fixture_rule("unusual", everything)};
	size_t before;

	rules[1].subtree = true;
	rules[2].metric.ratio = true;
	rules[2].threshold = 2;
	rules[2].clear = 1.5;
	fixture_new(&fixture, rules, 3);
	cr_assert_eq(fixture_run(&fixture, 40, "/stays", 1, 1), 40);
	before = policy_bytes(fixture.policy);
	for (unsigned round = 0; round < 10; round++) {
		char path[64];

		fixture_begin(&fixture);
		for (unsigned i = 0; i < 500; i++) {
			(void)snprintf(path, sizeof(path), "/jobs/%u/job-%u.scope", round, i);
			fixture_put(&fixture, path, 1, 1);
		}
		cr_assert_eq(fixture_tick(&fixture), 0);
		for (unsigned i = 0; i < 500; i++) {
			(void)snprintf(path, sizeof(path), "/jobs/%u/job-%u.scope", round, i);
			policy_gone(fixture.policy, path);
		}
	}
	cr_expect_gt(policy_bytes(fixture.policy), 4 * before);
	(void)fixture_run(&fixture, 60, "/stays", 1, 1);
	cr_expect_lt(policy_bytes(fixture.policy), before + 65536, "%zu after %zu",
		     policy_bytes(fixture.policy), before);
}

/*
 * Returns the maximum memory of a policy whose windows may take `max_bytes`, with 500 cgroups and three
 * rules.
 */
static size_t most_held(size_t max_bytes)
{
	struct rule rules[] = {fixture_rule("a", everything), fixture_rule("b", everything),
			       fixture_rule("c", everything)};
	const struct event event = fixture_event(EVENT_LOADS, "cpu");
	const struct policy_settings settings = {.rules = rules,
						 .n_rules = ARRAY_SIZE(rules),
						 .events = &event,
						 .n_events = 1,
						 .start_ns = FIXTURE_START_NS,
						 .next_number = 1,
						 .max_bytes = max_bytes};
	size_t most = 0;
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		rules[i].window_ns = (60 + 10 * i) * NSEC_PER_SEC;
	fixture = (struct policy_fixture){.now_ns = FIXTURE_START_NS};
	cr_assert_eq(policy_new(&settings, &fixture.policy), 0);
	for (unsigned second = 0; second < 100; second++) {
		fixture_begin(&fixture);
		for (unsigned i = 0; i < 500; i++) {
			(void)snprintf(path, sizeof(path), "/%u", i);
			fixture_put(&fixture, path, 1 + (second + i) % 7, 10 + (second * i) % 1000);
		}
		cr_assert_eq(fixture_tick(&fixture), 0);
		most = MAX(most, policy_bytes(fixture.policy));
	}
	fixture_free(&fixture);
	return most;
}

/* With more data than fits, the windows of all rules together stay within the bound. */
Test(policy, memory_of_the_windows_of_all_rules_is_bounded)
{
	const size_t bound = 512UL << 10, without = most_held(1), with = most_held(bound);

	cr_expect_leq(with - without, bound, "%zu, %zu without windows", with, without);
	cr_expect_gt(with - without, bound / 2, "%zu, %zu without windows: the bound is not reached", with,
		     without);
	cr_expect_gt(most_held(POLICY_BYTES) - without, bound, "without it they would take more");
}

/* The benchmark of a single tick shows that idle cgroups cost no work (tests/bench/policy_tick.c). */
Test(policy, an_idle_cgroup_has_an_empty_window_and_is_unknown)
{
	struct alert alert;

	start(everything);
	cr_expect_eq(fixture_tick(&fixture), 0);
	cr_assert_eq(fixture_run(&fixture, 30, "/a", 0, 10), 30);
	(void)fixture_run(&fixture, 60, "/a", 0, 0);
	alert = fixture_alert(&fixture, "remote", "/a");
	cr_expect_eq(alert.estimate.samples, 0);
	cr_expect_eq(alert.decision.unknown, UNKNOWN_SAMPLES);
	cr_expect_eq(alert.decision.state, ALERT_INACTIVE);
}

/* Short-lived cgroups: their only samples come together with the report of their end, or after it. */
Test(policy, a_cgroup_removed_before_its_samples_arrive_is_forgotten)
{
	static char *none[] = {"/none"};
	char *const *const patterns[] = {everything, none};

	for (size_t i = 0; i < 2; i++) {
		struct rule rule = fixture_rule("remote", (char **)patterns[i]);
		size_t before;

		fixture_new(&fixture, &rule, 1);
		before = policy_bytes(fixture.policy);
		for (unsigned k = 0; k < 1000; k++) {
			char path[32];

			(void)snprintf(path, sizeof(path), "/%u", k);
			policy_gone(fixture.policy, path);
			if (k % 100 == 0)
				fixture_begin(&fixture);
			fixture_put(&fixture, path, 0, 1);
			policy_gone(fixture.policy, path);
			if (k % 100 == 99)
				cr_assert_eq(fixture_tick(&fixture), 0);
		}
		cr_assert_eq(fixture_run(&fixture, 30, "/", 0, 0), 30);
		cr_expect_null(policy_next_path(fixture.policy, NULL));
		cr_expect_lt(policy_bytes(fixture.policy), before + 100000, "%zu, %zu before",
			     policy_bytes(fixture.policy), before);
		fixture_free(&fixture);
	}
}

/* A cgroup with nothing but a resolved alert is freed, but only after the transition is reported. */
Test(policy, a_transition_still_has_the_name_of_a_freed_cgroup)
{
	struct rule rule = fixture_rule("remote", slice);

	rule.subtree = true;
	fixture_new(&fixture, &rule, 1);
	fire("/a/b");
	cr_assert_lt(fixture_run(&fixture, 60, "/a/b", 0, 100), 60);
	cr_assert_eq(fixture.transitions->to, ALERT_RESOLVED);
	policy_gone(fixture.policy, "/a/b");
	cr_assert_lt(fixture_run(&fixture, 4000, "/a/b", 0, 0), 4000);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_RESOLVED, ALERT_INACTIVE);
	cr_expect_str_eq(policy_next_path(fixture.policy, NULL), "/a");
	cr_assert_eq(fixture_run(&fixture, 2, "/a/b", 0, 0), 2);
	cr_expect_null(policy_next_path(fixture.policy, NULL));
}

/* A rate is known even without a sample: it is less than the rate that a few samples would mean. */
Test(policy, a_rate_is_judged_on_a_cgroup_that_went_idle)
{
	struct rule rules[] = {fixture_rule("busy", slice), fixture_rule("idle", slice)};
	struct alert alert;

	for (size_t i = 0; i < 2; i++) {
		rules[i].metric = (struct metric){.kind = METRIC_RATE};
		rules[i].min_samples = 0;
		rules[i].threshold = i ? 100 : 500;
		rules[i].clear = i ? 200 : 400;
		rules[i].below = i;
	}
	fixture_new(&fixture, rules, 2);
	fire("/a");
	cr_assert_lt(fixture_run(&fixture, 20, "/a", 0, 0), 20);
	for (unsigned i = 0; i < 30; i++)
		(void)fixture_run(&fixture, 1, "/a", 0, 0);
	cr_expect_eq(fixture_alert(&fixture, "busy", "/a").decision.state, ALERT_RESOLVED);
	alert = fixture_alert(&fixture, "idle", "/a");
	cr_expect_eq(alert.decision.state, ALERT_FIRING);
	cr_expect(alert.estimate.known);
	cr_expect_eq(alert.estimate.value, 0);

	/* With a period this long, the few samples that the upper bound allows stand for many accesses. */
	policy_set_period(fixture.policy, 0, 1000);
	alert = fixture_alert(&fixture, "idle", "/a");
	cr_expect_gt(alert.estimate.bounds.high, 200, "%g", alert.estimate.bounds.high);
}

/* No task lives in the cgroup itself. Samples below it show that it exists again. */
Test(policy, a_recreated_subtree_is_judged_as_before)
{
	struct rule rule = fixture_rule("remote", slice);

	rule.subtree = true;
	fixture_new(&fixture, &rule, 1);
	(void)fixture_run(&fixture, 5, "/a/b", 0, 10);
	policy_gone(fixture.policy, "/a/b");
	policy_gone(fixture.policy, "/a");
	cr_assert_eq(fixture_run(&fixture, 30, "/a/b", 0, 10), 30);
	cr_assert_lt(fixture_run(&fixture, 30, "/a/b", 100, 0), 30);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_INACTIVE, ALERT_PENDING);
	cr_assert_eq(fixture_run(&fixture, 30, "/a/b", 100, 0), 5);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_PENDING, ALERT_FIRING);
	cr_expect_eq(fixture_run(&fixture, 30, "/a/b", 100, 0), 30);
}

/* The collection with these samples began before the time for stray samples was over. */
Test(policy, late_samples_do_not_revive_a_removed_cgroup)
{
	start(slice);
	fire("/a");
	policy_gone(fixture.policy, "/a");
	fixture_begin_after(&fixture, 10 * NSEC_PER_SEC);
	fixture_put(&fixture, "/a", 10, 0);
	cr_assert_eq(fixture_tick(&fixture), 0);
	cr_assert_eq(fixture.n, 0);
	cr_assert_eq(fixture_run(&fixture, 30, "/a", 0, 0), 10);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_GONE);
}

Test(policy, alerts_of_excluded_cgroups_end_as_ignored)
{
	start(slice);
	fire("/a");
	policy_leave_out(fixture.policy, "/a");
	cr_assert_lt(fixture_run(&fixture, 20, "/a", 0, 0), 20);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_IGNORED);
	cr_expect_null(policy_next_path(fixture.policy, NULL));

	/* When the cgroup is no longer left out, its alert begins again. */
	cr_assert_lt(fixture_run(&fixture, 20, "/a", 10, 0), 20);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_INACTIVE, ALERT_PENDING);
}

/* Each reload leaves out again what the configuration excludes, and may come more often than a window passes. */
Test(policy, leaving_out_a_cgroup_again_does_not_delay_the_end_of_its_alert)
{
	unsigned ran = 0;

	start(everything);
	fire("/a");
	fixture.n = 0;
	for (; ran < 30 && fixture.n == 0; ran += 5) {
		policy_leave_out(fixture.policy, "/a");
		(void)fixture_run(&fixture, 5, "/b", 0, 1);
	}
	cr_expect_eq(ran, 10, "%u s", ran);
	cr_assert_eq(fixture.n, 1);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_IGNORED);
}

/* A second rule judges the excluded cgroup together with cgroups below it, which still have samples. */
Test(policy, samples_of_a_subtree_do_not_delay_the_end_of_an_excluded_cgroups_alert)
{
	struct rule rules[] = {fixture_rule("remote", everything), fixture_rule("tree", slice)};
	unsigned ran;

	rules[1].subtree = true;
	rules[1].threshold = 0.9999; /* it never fires */
	fixture_new(&fixture, rules, 2);
	fire("/a");
	policy_leave_out(fixture.policy, "/a");
	ran = fixture_run(&fixture, 60, "/a/b", 0, 10);
	cr_expect_eq(ran, 10, "%u s", ran);
	cr_assert_eq(fixture.n, 1);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_IGNORED);
}

/* The excluded cgroup's own samples are missing in its subtree, but those of the cgroups below it are there. */
Test(policy, the_subtree_of_an_excluded_cgroup_is_judged_while_it_has_samples)
{
	struct rule rule = fixture_rule("tree", slice);

	rule.subtree = true;
	fixture_new(&fixture, &rule, 1);
	fire("/a/b");
	policy_leave_out(fixture.policy, "/a");
	cr_assert_eq(fixture_run(&fixture, 60, "/a/b", 10, 0), 60);
	cr_expect_eq(fixture_alert(&fixture, "tree", "/a").decision.state, ALERT_FIRING);
	policy_gone(fixture.policy, "/a/b");
	cr_assert_eq(fixture_run(&fixture, 60, "/c", 10, 0), 10, "the window passes after the last sample");
	cr_assert_eq(fixture.n, 1);
	expect_transition(&fixture.transitions[0], "tree", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_IGNORED);
}

/* Runs until the alert of the only rule on /a fires or resolves. */
static void run_until(enum alert_state state, u64 slow, u64 fast)
{
	for (unsigned i = 0; i < 100; i++) {
		(void)fixture_run(&fixture, 1, "/a", slow, fast);
		if (fixture_alert(&fixture, "remote", "/a").decision.state == state)
			return;
	}
	cr_assert_fail("it does not become %s", alert_state_word(state));
}

Test(policy, the_worst_value_of_an_alert_is_remembered)
{
	struct alert alert;

	start(everything);
	run_until(ALERT_FIRING, 700, 300);
	cr_expect_float_eq(fixture_alert(&fixture, "remote", "/a").worst, 0.7, 1e-6);
	(void)fixture_run(&fixture, 60, "/a", 900, 100);
	run_until(ALERT_RESOLVED, 0, 1000);
	alert = fixture_alert(&fixture, "remote", "/a");
	cr_expect_lt(alert.estimate.value, 0.5);
	cr_expect_float_eq(alert.worst, 0.9, 1e-6);
	run_until(ALERT_FIRING, 800, 200);
	cr_expect_lt(fixture_alert(&fixture, "remote", "/a").worst, 0.85F, "another alert");
}

/* The baselines of a ratio are made before its alert is restored. */
Test(policy, a_restored_alert_of_a_ratio_has_no_worst_value_yet)
{
	struct rule rule = fixture_rule("remote", everything);
	struct policy_saved_alert saved = {.cgroup = "/a",
					   .event_key = "loads",
					   .rule = "remote",
					   .number = 1,
					   .state = ALERT_FIRING,
					   .value = 0.2,
					   .low = 0.1,
					   .high = 0.3};

	rule.metric.ratio = true;
	rule.below = true;
	rule.clear = 0.8;
	saved.fingerprint = rule_fingerprint(&rule);
	fixture_new(&fixture, &rule, 1);
	cr_assert_eq(policy_restore_alert(fixture.policy, &saved), 0);
	cr_expect(isnan(fixture_alert(&fixture, "remote", "/a").worst), "%g",
		  (double)fixture_alert(&fixture, "remote", "/a").worst);
	policy_gone(fixture.policy, "/a");
	cr_assert_lt(fixture_run(&fixture, 20, "/b", 1, 1), 20);
	expect_transition(&fixture.transitions[0], "remote", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect(isnan(fixture.transitions[0].alert.worst));
}

/* Restores an alert of the rule as `state`, and goes on until its window is full. */
static void restore_ratio(struct rule *rule, enum alert_state state)
{
	struct policy_saved_alert saved = {
		.cgroup = "/a", .event_key = "loads", .rule = "unusual", .number = 1, .state = state};

	*rule = fixture_rule("unusual", everything);
	rule->metric.ratio = true;
	rule->threshold = 2;
	rule->clear = 1.5;
	saved.fingerprint = rule_fingerprint(rule);
	fixture_new(&fixture, rule, 1);
	cr_assert_eq(policy_restore_alert(fixture.policy, &saved), 0);
	cr_assert_eq(fixture_run(&fixture, 15, "/a", 10, 40), 15, "no transition");
	cr_expect_eq(fixture_alert(&fixture, "unusual", "/a").decision.state, state);
	cr_expect_eq(fixture_alert(&fixture, "unusual", "/a").decision.unknown, UNKNOWN_BASELINE);
}

/* Baselines are not saved. Without new ones, the alert would be unknown for ever. */
Test(policy, a_restored_firing_ratio_is_judged_against_a_new_baseline)
{
	struct rule rule;

	restore_ratio(&rule, ALERT_FIRING);
	cr_assert_lt(fixture_run(&fixture, 60, "/a", 10, 40), 60);
	expect_transition(&fixture.transitions[0], "unusual", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_CLEAR);
	/* From now on it freezes as usual: 200 s of a breach, and the alert still fires. */
	cr_assert_lt(fixture_run(&fixture, 60, "/a", 40, 10), 12);
	cr_assert_lt(fixture_run(&fixture, 60, "/a", 40, 10), 60);
	expect_transition(&fixture.transitions[0], "unusual", "/a", ALERT_PENDING, ALERT_FIRING);
	cr_assert_eq(fixture_run(&fixture, 200, "/a", 40, 10), 200);
}

Test(policy, a_restored_pending_ratio_is_judged_against_a_new_baseline)
{
	struct rule rule;

	restore_ratio(&rule, ALERT_PENDING);
	cr_assert_lt(fixture_run(&fixture, 60, "/a", 10, 40), 60);
	expect_transition(&fixture.transitions[0], "unusual", "/a", ALERT_PENDING, ALERT_INACTIVE);
}

Test(policy, a_preference_ends_a_restored_ratio_without_a_baseline)
{
	const struct preference preference = {.owner_is_root = true, .ignore = "unusual"};
	struct rule rule;

	restore_ratio(&rule, ALERT_FIRING);
	cr_assert_eq(policy_prefer(fixture.policy, "/a", &preference), 0);
	cr_assert_lt(fixture_run(&fixture, 2, "/a", 10, 40), 2);
	expect_transition(&fixture.transitions[0], "unusual", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_eq(fixture.transitions[0].alert.end, ALERT_END_IGNORED);
}

/* The cgroup /user/N has no samples of its own, so no slot, and nobody reports its removal. */
Test(policy, the_preference_of_a_subtree_is_forgotten_with_its_last_cgroup)
{
	const struct preference preference = {.ignore = "nothing"};
	struct rule rule = fixture_rule("tree", everything);
	size_t before = 0;
	char path[64], leaf[80];

	rule.subtree = true;
	fixture_new(&fixture, &rule, 1);
	for (unsigned round = 0; round < 1000; round++) {
		(void)snprintf(path, sizeof(path), "/user/%u", round);
		(void)snprintf(leaf, sizeof(leaf), "%s/leaf", path);
		fixture_begin(&fixture);
		fixture_put(&fixture, leaf, 1, 1);
		fixture_put(&fixture, "/stays", 1, 1);
		cr_assert_eq(fixture_tick(&fixture), 0);
		cr_assert_eq(policy_prefer(fixture.policy, path, &preference), 0);
		policy_gone(fixture.policy, leaf);
		if (round == 100)
			before = policy_bytes(fixture.policy);
	}
	cr_expect_lt(policy_bytes(fixture.policy), before + 4096, "%zu after %zu",
		     policy_bytes(fixture.policy), before);
}

Test(policy, ended_pending_alerts_evict_no_resolved_alert)
{
	struct rule rules[] = {fixture_rule("stays", slice), fixture_rule("goes", everything)};
	char path[32];

	rules[0].for_ns = 0;
	rules[1].for_ns = 3600 * NSEC_PER_SEC;
	fixture_new(&fixture, rules, 2);
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 10, 0), 10);
	policy_gone(fixture.policy, "/a");
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 0, 0), 10);
	cr_assert_eq(count_alerts(), 1);
	for (unsigned i = 0; i < 10; i++) {
		fixture_begin(&fixture);
		for (unsigned k = 0; k < POLICY_RESOLVED_MAX; k++) {
			(void)snprintf(path, sizeof(path), "/b/%u", k);
			fixture_put(&fixture, path, 10, 0);
		}
		cr_assert_eq(fixture_tick(&fixture), 0);
	}
	cr_assert_eq(count_alerts(), 1 + POLICY_RESOLVED_MAX);
	cr_assert_eq(policy_set_rules(fixture.policy, rules, 1), 0);
	cr_assert_eq(fixture_run(&fixture, 1, "/a", 0, 0), 1);
	cr_assert_eq(fixture.n, POLICY_RESOLVED_MAX);
	cr_expect_eq(fixture.transitions[0].to, ALERT_INACTIVE);
	cr_assert_eq(fixture_run(&fixture, 2, "/a", 0, 0), 2);
	cr_expect_eq(count_alerts(), 1, "the one that had fired");
}

Test(policy, memory_of_removed_cgroups_does_not_depend_on_the_window)
{
	struct rule rules[] = {fixture_rule("hour", everything), fixture_rule("alerts", slice)};
	size_t before = 0;
	char path[64];

	rules[0].window_ns = 3600 * NSEC_PER_SEC;
	rules[1].for_ns = 0;
	fixture_new(&fixture, rules, 2);
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 10, 0), 10);
	policy_gone(fixture.policy, "/a");
	cr_assert_eq(fixture_run(&fixture, 4, "/a", 0, 0), 4);
	cr_expect_eq(fixture_alert(&fixture, "hour", "/a").estimate.samples, 100);
	cr_assert_eq(fixture_run(&fixture, 1, "/a", 0, 0), 1);
	cr_expect_eq(fixture_alert(&fixture, "alerts", "/a").decision.state, ALERT_FIRING, "for its window");
	cr_assert_eq(fixture_run(&fixture, 20, "/a", 0, 0), 5);
	expect_transition(&fixture.transitions[0], "alerts", "/a", ALERT_FIRING, ALERT_RESOLVED);
	cr_expect_null(policy_next_path(fixture.policy, NULL));

	for (unsigned round = 0; round < 300; round++) {
		fixture_begin(&fixture);
		for (unsigned i = 0; i < 100; i++) {
			(void)snprintf(path, sizeof(path), "/jobs/%u/job-%u.scope", round, i);
			fixture_put(&fixture, path, 1, 1);
		}
		cr_assert_eq(fixture_tick(&fixture), 0);
		for (unsigned i = 0; i < 100; i++) {
			(void)snprintf(path, sizeof(path), "/jobs/%u/job-%u.scope", round, i);
			policy_gone(fixture.policy, path);
		}
		if (round == 20)
			before = policy_bytes(fixture.policy);
	}
	cr_expect_lt(policy_bytes(fixture.policy), 2 * before, "%zu, %zu before",
		     policy_bytes(fixture.policy), before);
}

Test(policy, each_of_many_rules_uses_its_own_patterns)
{
	static char *both[] = {"/a", "/b"};
	static char *none[] = {"/none"};
	static char *slice_again[] = {"/a"};
	static char *second[] = {"/b"};
	char **const patterns[] = {none, slice, both, second, slice_again, everything, both, none};
	const size_t n_patterns[] = {1, 1, 2, 1, 1, 1, 2, 1};
	const char *const on[] = {"", "/a", "/a/b", "/b", "/a", "/a/b/c", "/a/b", ""};
	struct rule rules[ARRAY_SIZE(on)];
	char name[8];

	for (size_t i = 0; i < ARRAY_SIZE(on); i++) {
		(void)snprintf(name, sizeof(name), "r%zu", i);
		rules[i] = fixture_rule(name, patterns[i]);
		rules[i].n_patterns = n_patterns[i];
	}
	fixture_new(&fixture, rules, ARRAY_SIZE(on));
	fixture_begin(&fixture);
	fixture_put(&fixture, "/a", 1, 0);
	fixture_put(&fixture, "/b", 1, 0);
	fixture_put(&fixture, "/c", 1, 0);
	cr_assert_eq(fixture_tick(&fixture), 0);
	for (size_t i = 0; i < ARRAY_SIZE(on); i++) {
		struct policy_counts counts;
		size_t expected = 0;

		for (const char *at = on[i]; *at; at++)
			expected += *at == '/';
		policy_count(fixture.policy, i, &counts);
		cr_expect_eq(counts.unknown[UNKNOWN_WINDOW], expected, "%zu: %" PRIu64, i,
			     counts.unknown[UNKNOWN_WINDOW]);
	}
}
