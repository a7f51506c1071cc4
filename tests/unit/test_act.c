// SPDX-License-Identifier: GPL-2.0
/*
 * The actions of pebsd when an alert changes its state. The test supplies the policy, and a service manager
 * on a bus of its own. To kill the daemon, a test copies its directory at that moment and opens the copy with
 * a new `struct act`.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "act/act.h"
#include "act/alert_store.h"
#include "alert_example.h"
#include "base/text_file.h"
#include "service_manager.h"
#include "tree.h"

/* Implements every function of the policy that act.c calls. */
struct policy {
	u64 next_number;
	u64 judged_ns;
	struct policy_saved_alert saved_alerts[64];
	size_t n;
};

int policy_save_alerts(const struct policy *policy, struct policy_saved_alert **ret, size_t *ret_n)
{
	*ret = calloc(policy->n + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	memcpy(*ret, policy->saved_alerts, policy->n * sizeof(**ret));
	*ret_n = policy->n;
	return 0;
}

u64 policy_next_number(const struct policy *policy)
{
	return policy->next_number;
}

u64 policy_judged_ns(const struct policy *policy)
{
	return policy->judged_ns;
}

static struct service_manager manager;
static struct policy policy = {.next_number = 1};
static struct act *act;
static struct rule rules[64];
static char *root, *place;
static bool no_units;

/* The closer looks (zoom, hot table) that were requested. If `refuses` is set, each of them fails. */
static struct {
	unsigned n;
	enum rule_action actions[4];
	u64 alerts[4];
	bool refuses;
} looks;

static int start_detail(void *userdata, const struct transition *transition, enum rule_action action,
			char **ret_message)
{
	cr_assert_eq(userdata, &looks);
	cr_assert_lt(looks.n, ARRAY_SIZE(looks.actions));
	looks.alerts[looks.n] = transition->alert.number;
	looks.actions[looks.n++] = action;
	*ret_message = looks.refuses ? strdup("every counter is taken") : NULL;
	return looks.refuses ? -EBUSY : 0;
}

static struct act *open_act(const char *directory)
{
	const struct act_settings settings = {.event = manager.event,
					      .directory = directory,
					      .no_units = no_units,
					      .start_detail = start_detail,
					      .userdata = &looks};
	struct act *opened;

	cr_assert_eq(act_new(&settings, &opened), 0);
	return opened;
}

static void setup(void)
{
	cr_assert_geq(sd_event_new(&manager.event), 0);
	service_manager_start(&manager);
	root = tree_new();
	cr_assert_gt(asprintf(&place, "%s/alerts", root), 0);
	act = open_act(place);
}

static void teardown(void)
{
	act_free(act);
	service_manager_stop(&manager);
	sd_event_unref(manager.event);
	if (root)
		tree_remove(root);
	free(place);
}

TestSuite(act, .init = setup, .fini = teardown);

/* Stores the state of the transition's alert, and replaces an earlier state of the same alert. */
static void note_state(const struct transition *transition)
{
	const struct alert *alert = &transition->alert;
	struct policy_saved_alert *saved = policy.saved_alerts;

	while (saved < policy.saved_alerts + policy.n && saved->number != alert->number)
		saved++;
	if (saved == policy.saved_alerts + policy.n)
		policy.n++;
	*saved = (struct policy_saved_alert){.cgroup = alert->cgroup,
					     .event_key = alert->event_key,
					     .number = alert->number,
					     .state = transition->to,
					     .fired = alert->fired,
					     .resolved = alert->resolved};
	(void)stpcpy(saved->rule, alert->rule->name);
	if (alert->number >= policy.next_number)
		policy.next_number = alert->number + 1;
}

static void hand_over(struct transition transition)
{
	note_state(&transition);
	act_on(act, &policy, &transition, 1);
}

static void fire(u64 number)
{
	hand_over(alert_example_fires(number, &rules[number]));
}

static void resolve(u64 number)
{
	hand_over(alert_example_resolves(number, &rules[number]));
}

static char *content(const char *directory, const char *name)
{
	_cleanup_free_ char *path = NULL;
	char *text = NULL;

	cr_assert_gt(asprintf(&path, "%s/%s", directory, name), 0);
	return text_file_read(path, &text) == 0 ? text : NULL;
}

static bool is_there(const char *name)
{
	_cleanup_free_ char *text = content(place, name);

	return text != NULL;
}

/* Redirects stderr to the file that told() searches. */
static void listen_in(void)
{
	_cleanup_free_ char *path = NULL;

	cr_assert_gt(asprintf(&path, "%s/said", root), 0);
	cr_assert_not_null(freopen(path, "w", stderr));
}

static unsigned told(const char *text)
{
	_cleanup_free_ char *said = NULL;
	unsigned times = 0;

	(void)fflush(stderr);
	said = content(root, "said");
	for (const char *at = said; (at = strstr(at, text)); at++)
		times++;
	return times;
}

/* Ends this daemon. A new one starts with `copy`, the directory that a daemon killed earlier would have left. */
static void restart_from(const char *copy)
{
	act_free(act);
	act = open_act(copy);
}

static char *copy_place(const char *name)
{
	_cleanup_free_ char *command = NULL;
	char *copy;

	cr_assert_gt(asprintf(&copy, "%s/%s", root, name), 0);
	cr_assert_gt(asprintf(&command, "cp -a %s %s", place, copy), 0);
	cr_assert_eq(system(command), 0); /* NOLINT(cert-env33-c) */
	return copy;
}

Test(act, a_firing_alert_is_logged_and_starts_its_unit_once)
{
	_cleanup_free_ char *facts = NULL;

	listen_in();
	fire(1);
	facts = content(place, "1.env");
	cr_assert_not_null(facts, "it is there before the unit is started");
	cr_assert_not_null(strstr(facts, "PEBSD_CGROUP=\"/system.slice/db.service\""), "%s", facts);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 1);
	cr_assert_str_eq(manager.starts[0], "pebsd-alert@1.service replace");
	cr_assert_eq(told("alert 1 (warning): slow-database fires"), 1);
	resolve(1);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 1);
	cr_assert_eq(told("alert 1: slow-database resolved"), 1);
	cr_assert_eq(act_count(act, ACT_LOG, ACT_DONE), 2);
	cr_assert_eq(act_count(act, ACT_UNIT, ACT_DONE), 1);
	cr_assert_eq(act_count(act, ACT_UNIT, ACT_FAILED), 0);
}

Test(act, only_the_actions_of_the_rule_are_taken)
{
	struct transition transition = alert_example_fires(1, &rules[1]);

	listen_in();
	rules[1].actions = RULE_LOG;
	hand_over(transition);
	transition = alert_example_fires(2, &rules[2]);
	rules[2].actions = RULE_UNIT;
	hand_over(transition);
	transition = alert_example_resolves(2, &rules[2]);
	rules[2].actions = RULE_UNIT;
	hand_over(transition);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 1);
	cr_assert_str_eq(manager.starts[0], "pebsd-alert@2.service replace");
	cr_assert_not(is_there("1.env"));
	cr_assert_eq(told("alert 1 "), 1);
	cr_assert_eq(told("alert 2"), 0);
}

Test(act, other_changes_are_stored_and_nothing_else)
{
	struct transition transition = alert_example_fires(0, &rules[0]);
	_cleanup_free_ char *text = NULL;

	listen_in();
	transition.from = ALERT_INACTIVE;
	transition.to = ALERT_PENDING;
	hand_over(transition);
	text = content(place, "state.json");
	cr_assert_not_null(strstr(text, "slow-database"));
	transition.from = ALERT_RESOLVED;
	transition.to = ALERT_INACTIVE;
	hand_over(transition);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 0);
	cr_assert_eq(told("slow-database"), 0);
}

Test(act, a_dry_run_is_logged_and_starts_nothing)
{
	struct transition transition = alert_example_fires(1, &rules[1]);

	listen_in();
	rules[1].dry_run = true;
	rules[1].actions = RULE_UNIT;
	hand_over(transition);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 0);
	cr_assert_not(is_there("1.env"));
	cr_assert_eq(told("dry run: slow-database would fire"), 1);
	cr_assert_eq(act_count(act, ACT_LOG, ACT_DONE), 1);
}

Test(act, a_zoom_starts_once_when_the_alert_fires)
{
	rules[1].zoom_ns = 30 * NSEC_PER_SEC;
	listen_in();
	hand_over(alert_example_fires(1, &rules[1]));
	cr_assert_eq(looks.n, 0, "the rule does not want it");
	rules[2] = rules[1];
	struct transition transition = alert_example_fires(2, &rules[2]);
	rules[2].actions = RULE_ZOOM | RULE_HOT;
	hand_over(transition);
	cr_assert_eq(looks.n, 2);
	cr_assert_eq(looks.actions[0], RULE_ZOOM);
	cr_assert_eq(looks.actions[1], RULE_HOT);
	cr_assert_eq(looks.alerts[1], 2);
	cr_assert_eq(act_count(act, ACT_ZOOM, ACT_DONE), 1);
	cr_assert_eq(act_count(act, ACT_HOT, ACT_DONE), 1);
	transition = alert_example_resolves(2, &rules[2]);
	rules[2].actions = RULE_ZOOM | RULE_HOT;
	hand_over(transition);
	cr_assert_eq(looks.n, 2, "not when it resolves");
	transition = alert_example_fires(3, &rules[3]);
	rules[3].actions = RULE_ZOOM;
	rules[3].dry_run = true;
	hand_over(transition);
	cr_assert_eq(looks.n, 2, "not in a dry run");
}

Test(act, a_failed_zoom_is_logged_and_prevents_no_other_action)
{
	struct transition transition = alert_example_fires(1, &rules[1]);

	listen_in();
	looks.refuses = true;
	rules[1].actions = RULE_ZOOM | RULE_HOT | RULE_LOG;
	hand_over(transition);
	cr_assert_eq(looks.n, 2);
	cr_assert_eq(told("the action zoom of alert 1 (rule slow-database) failed: every counter is taken"),
		     1);
	cr_assert_eq(act_count(act, ACT_ZOOM, ACT_FAILED), 1);
	cr_assert_eq(act_count(act, ACT_HOT, ACT_FAILED), 1);
	cr_assert_eq(act_count(act, ACT_LOG, ACT_DONE), 1);
	/* The store has no record of the failed zoom, so a restarted daemon does not report it as begun. */
	restart_from(place);
	cr_assert_eq(told("not tried again"), 0);
}

Test(act, a_failed_unit_is_logged_and_prevents_no_other_action)
{
	listen_in();
	manager.refusal = SD_BUS_ERROR_ACCESS_DENIED;
	fire(1);
	service_manager_settle(&manager);
	manager.refusal = NULL;
	fire(2);
	service_manager_settle(&manager);
	cr_assert_eq(told("cannot start pebsd-alert@1.service"), 1);
	cr_assert_eq(manager.n, 2, "the one that failed is not tried again");
	cr_assert_eq(act_count(act, ACT_UNIT, ACT_FAILED), 1);
	cr_assert_eq(act_count(act, ACT_UNIT, ACT_DONE), 1);
	cr_assert_eq(act_count(act, ACT_LOG, ACT_DONE), 2);
}

Test(act, a_missing_service_manager_is_reported)
{
	no_units = true;
	act_free(act);
	act = open_act(place);
	listen_in();
	fire(1);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 0);
	cr_assert_eq(told("systemd is not the service manager here"), 1);
	cr_assert_eq(act_count(act, ACT_UNIT, ACT_FAILED), 1);
	cr_assert_not(is_there("1.env"));
}

Test(act, after_twenty_actions_the_rest_is_counted_and_logged_once)
{
	struct transition transitions[50];

	listen_in();
	for (u64 i = 0; i < 50; i++) {
		transitions[i] = alert_example_fires(i + 1, &rules[i]);
		note_state(&transitions[i]);
	}
	act_on(act, &policy, transitions, 25);
	act_on(act, &policy, transitions + 25, 25);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 20);
	cr_assert_eq(act_count(act, ACT_UNIT, ACT_DONE), 20);
	cr_assert_eq(act_count(act, ACT_UNIT, ACT_LIMITED), 30);
	cr_assert_eq(act_count(act, ACT_LOG, ACT_LIMITED), 30);
	cr_assert_eq(told("units of alerts are not started (5 so far)"), 1);
	cr_assert_eq(told("log entries of alerts are left out (5 so far)"), 1);
	cr_assert_not(is_there("21.env"));
}

/* The daemon was killed before it stored anything, so the alert can fire again under the same number. */
Test(act, a_kill_before_the_intent_is_stored_leaves_no_trace)
{
	_cleanup_free_ char *copy = copy_place("copy");

	fire(1);
	restart_from(copy);
	cr_assert_eq(act_next_number(act), 1);
}

/*
 * The daemon is killed while it waits for the manager's answer. The restarted daemon cannot know whether the
 * unit ran, so it logs that and does not start the unit again.
 */
Test(act, a_kill_during_the_start_is_reported_and_not_retried)
{
	_cleanup_free_ char *copy = NULL, *again = NULL;
	const struct policy_saved_alert *saved_alerts;
	size_t n;

	manager.silent = true;
	fire(1);
	copy = copy_place("copy");
	service_manager_settle(&manager);
	again = copy_place("again");
	cr_assert_eq(manager.n, 1);

	listen_in();
	restart_from(copy);
	cr_assert_eq(told("pebsd-alert@1.service may not have run"), 1);
	cr_assert_eq(told("alert 1 fired just as the daemon ended"), 1);
	saved_alerts = act_saved_alerts(act, &n);
	cr_assert_eq(n, 1);
	cr_assert_eq(saved_alerts[0].state, ALERT_FIRING);
	cr_assert_str_eq(saved_alerts[0].cgroup, "/system.slice/db.service");
	act_forget_saved_alerts(act);
	cr_assert_null(act_saved_alerts(act, &n));
	cr_assert_eq(n, 0);
	cr_assert_eq(act_next_number(act), 2);

	listen_in();
	restart_from(again);
	cr_assert_eq(told("pebsd-alert@1.service may not have run"), 1, "the answer had not come");
	cr_assert_eq(told("fired just as"), 0, "the entry had been written");
	restart_from(again);
	cr_assert_eq(told("pebsd-alert@1.service may not have run"), 1, "it is logged once");
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 1, "it ran twice");
}

Test(act, a_kill_after_the_start_is_neither_reported_nor_retried)
{
	_cleanup_free_ char *copy = NULL;

	fire(1);
	service_manager_settle(&manager);
	copy = copy_place("copy");
	listen_in();
	restart_from(copy);
	cr_assert_eq(told("may not have run"), 0);
	cr_assert_eq(told("just as the daemon ended"), 0);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 1);
}

Test(act, a_clean_stop_stores_finished_actions)
{
	manager.silent = true;
	fire(1);
	service_manager_settle(&manager);
	service_manager_answer(&manager);
	resolve(1);
	act = act_free(act);
	listen_in();
	act = open_act(place);
	cr_assert_eq(told("just as the daemon ended"), 0);
	cr_assert_eq(told("pebsd-alert@1.service may not have run"), 1, "its answer was not read");
}

static void clean_at(time_t seconds)
{
	const struct timespec now = {.tv_sec = seconds};

	act_clean(act, &now);
}

Test(act, facts_are_removed_an_hour_after_the_alert_resolved)
{
	time_t now = time(NULL);

	fire(1);
	fire(2);
	clean_at(now);
	clean_at(now + 7200);
	cr_assert(is_there("1.env"), "it fires still");
	resolve(1);
	clean_at(now + 3500);
	cr_assert(is_there("1.env"));
	clean_at(now + 3700);
	cr_assert_not(is_there("1.env"));
	cr_assert(is_there("2.env"));
}

Test(act, facts_of_the_time_before_a_restart_are_removed_too)
{
	time_t now = time(NULL);

	fire(1);
	fire(2);
	resolve(1);
	service_manager_settle(&manager);
	act = act_free(act);
	tree_write(place, "77.env", "nobody knows it");
	tree_write(place, "2.env.new", "half written, of one that fires");
	tree_write(place, "9.env.new", "half written");
	tree_write(place, "09.env", "no name of ours");
	tree_write(place, "notes.txt", "nor this");
	act = open_act(place);
	cr_assert_eq(act_next_number(act), 78, "a number that a file has is not given again");
	clean_at(now);
	cr_assert_not(is_there("77.env"));
	cr_assert_not(is_there("9.env.new"));
	cr_assert(is_there("09.env"));
	cr_assert(is_there("notes.txt"));
	cr_assert(is_there("1.env"));
	clean_at(now + 3700);
	cr_assert_not(is_there("1.env"));
	cr_assert(is_there("2.env"));
}

/*
 * The clock is set back by a year after the alert resolved, so the stored time is in the future. The facts
 * are removed an hour after pebsd notices that.
 */
Test(act, facts_are_removed_even_if_the_clock_was_set_back)
{
	time_t past = time(NULL) - (time_t)365 * 86400;

	fire(1);
	resolve(1);
	clean_at(past);
	cr_assert(is_there("1.env"));
	clean_at(past + 3700);
	cr_assert_not(is_there("1.env"));
}

Test(act, a_damaged_store_is_logged_once_and_replaced)
{
	const u64 begun = (u64)time(NULL);
	u64 next;

	fire(5);
	service_manager_settle(&manager);
	act = act_free(act);
	tree_write(place, "state.json", "{\"version\":1,\"boot\":");
	listen_in();
	act = open_act(place);
	cr_assert_eq(told("kept as state.json.bad"), 1);
	cr_assert(is_there("state.json.bad"));
	next = act_next_number(act);
	cr_assert_geq(next, begun, "no number is given again, also where no file of its alert is left");
	act = act_free(act);
	act = open_act(place);
	cr_assert_eq(told("kept as state.json.bad"), 1);
	cr_assert_eq(act_next_number(act), next);
}

Test(act, alerts_of_another_boot_have_ended)
{
	_cleanup_(alert_store_clear) struct alert_store store;
	const struct policy_saved_alert *saved_alerts;
	_cleanup_free_ char *message = NULL;
	_cleanup_close_ int fd = -1;
	size_t n;

	fire(3);
	service_manager_settle(&manager);
	act = act_free(act);
	fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_eq(alert_store_read(fd, &store, &message), 0);
	cr_assert_gt(strlen(store.boot), 30, "the boot is noted");
	store.boot[0] = store.boot[0] == 'f' ? 'e' : 'f';
	cr_assert_eq(alert_store_write(fd, &store), 0);
	listen_in();
	act = open_act(place);
	saved_alerts = act_saved_alerts(act, &n);
	(void)saved_alerts;
	cr_assert_eq(n, 0);
	cr_assert_eq(act_next_number(act), 4);
	cr_assert_eq(told("1 alert (pending, firing or just resolved) ended with the previous boot"), 1);
	clean_at(time(NULL));
	cr_assert_not(is_there("3.env"));
}

/* Nothing can be stored. An action that must not run twice is therefore not run at all. */
Test(act, without_a_directory_alerts_are_still_logged)
{
	_cleanup_free_ char *blocked = NULL;
	size_t n;

	tree_write(root, "file", "in the way");
	cr_assert_gt(asprintf(&blocked, "%s/file/alerts", root), 0);
	listen_in();
	act_free(act);
	act = open_act(blocked);
	fire(1);
	fire(2);
	resolve(1);
	clean_at(time(NULL));
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 0);
	cr_assert_eq(told("cannot use the directory"), 1);
	cr_assert_eq(told("fires on"), 2);
	cr_assert_eq(told("resolved on"), 1);
	cr_assert_eq(act_count(act, ACT_UNIT, ACT_FAILED), 2);
	cr_assert_eq(act_count(act, ACT_LOG, ACT_DONE), 3);
	cr_assert_eq(act_next_number(act), 1);
	(void)act_saved_alerts(act, &n);
	cr_assert_eq(n, 0);
}

/*
 * The directory exists, but nothing more can be written: a directory named state.json.new blocks each new
 * state.
 */
Test(act, a_directory_that_cannot_be_written_is_logged_once)
{
	_cleanup_free_ char *block = NULL, *inside = NULL;

	cr_assert_gt(asprintf(&block, "%s/state.json.new", place), 0);
	cr_assert_gt(asprintf(&inside, "%s/state.json.new/x", place), 0);
	cr_assert_eq(mkdir(block, 0700), 0);
	cr_assert_eq(mkdir(inside, 0700), 0);
	listen_in();
	fire(1);
	fire(2);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 0);
	cr_assert_eq(told("cannot write the state of alerts"), 1);
	cr_assert_eq(act_count(act, ACT_UNIT, ACT_FAILED), 2);
	cr_assert_eq(told("fires on"), 2);
	cr_assert_eq(rmdir(inside), 0);
	cr_assert_eq(rmdir(block), 0);
	fire(3);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 1);
	cr_assert_str_eq(manager.starts[0], "pebsd-alert@3.service replace");
	cr_assert_eq(told("is written to"), 1);
}

/*
 * Another program removes the directory, for example to tidy up. pebsd still knows the alerts of the
 * directory.
 */
Test(act, a_removed_directory_is_made_again)
{
	_cleanup_free_ char *state = NULL;

	fire(1);
	service_manager_settle(&manager);
	listen_in();
	tree_remove(strdup(place));
	fire(2);
	service_manager_settle(&manager);
	cr_expect_eq(told("cannot write the state of alerts"), 0);
	cr_expect_eq(told("was removed or replaced"), 1);
	cr_assert_eq(manager.n, 2);
	cr_expect(is_there("2.env"));
	state = content(place, "state.json");
	cr_assert_not_null(state);
	cr_expect_not_null(strstr(state, "\"alert\":1,"), "%s", state);
	cr_expect_not_null(strstr(state, "\"alert\":2,"), "%s", state);
}

/* Units read the facts by their path, so pebsd must write to the directory that has this path now. */
Test(act, a_replaced_directory_is_opened_again)
{
	_cleanup_free_ char *aside = NULL;

	fire(1);
	service_manager_settle(&manager);
	listen_in();
	cr_assert_gt(asprintf(&aside, "%s/aside", root), 0);
	cr_assert_eq(rename(place, aside), 0);
	cr_assert_eq(mkdir(place, 0700), 0);
	fire(2);
	cr_expect_eq(told("was removed or replaced"), 1);
	cr_expect(is_there("2.env"));
	cr_expect(is_there("state.json"));

	/* A directory that other users have access to is refused when it is opened, and the log says why. */
	cr_assert_eq(chmod(place, 0777), 0);
	fire(3);
	cr_expect_eq(told("cannot write"), 0, "it was this user's when it was opened");
	tree_remove(strdup(place));
	cr_assert_eq(mkdir(place, 0777), 0);
	cr_assert_eq(chmod(place, 0777), 0);
	fire(4);
	cr_expect_eq(told("cannot write the state of alerts"), 1);
	cr_expect_eq(told("other users may write to it"), 1);
	cr_expect_not(is_there("4.env"));
	cr_assert_eq(rmdir(place), 0);
	fire(5);
	cr_expect_eq(told("is written to"), 1);
	cr_expect(is_there("5.env"));
}

/*
 * A file with a number near the greatest possible one is ignored. If it raised the next number, the numbers
 * would soon begin at 0 again.
 */
Test(act, a_file_with_the_largest_number_does_not_raise_the_next_one)
{
	listen_in();
	tree_write(place, "18446744073709551614.env", "");
	tree_write(place, "41.env", "");
	act_free(act);
	act = open_act(place);
	cr_expect_eq(act_next_number(act), 42);
}

Test(act, a_directory_of_another_user_is_not_trusted)
{
	_cleanup_free_ char *open_to_all = NULL;

	cr_assert_gt(asprintf(&open_to_all, "%s/open", root), 0);
	cr_assert_eq(mkdir(open_to_all, 0700), 0);
	cr_assert_eq(chmod(open_to_all, 0777), 0);
	listen_in();
	act_free(act);
	act = open_act(open_to_all);
	cr_assert_eq(told("other users may write to it"), 1);
	fire(1);
	service_manager_settle(&manager);
	cr_assert_eq(manager.n, 0);
}

Test(act, two_daemons_do_not_share_a_directory)
{
	struct act *other;

	listen_in();
	other = open_act(place);
	cr_assert_eq(told("another daemon uses it"), 1);
	act_free(other);
}

Test(act, only_the_owner_can_use_the_directory)
{
	struct stat st;

	cr_assert_eq(stat(place, &st), 0);
	cr_assert_eq(st.st_mode, S_IFDIR | 0700);
}

Test(act, kinds_and_results_have_names)
{
	cr_assert_str_eq(act_kind_name(ACT_LOG), "log");
	cr_assert_str_eq(act_kind_name(ACT_UNIT), "unit");
	cr_assert_str_eq(act_result_name(ACT_DONE), "done");
	cr_assert_str_eq(act_result_name(ACT_FAILED), "failed");
	cr_assert_str_eq(act_result_name(ACT_LIMITED), "limited");
}
