// SPDX-License-Identifier: GPL-2.0
/* Which time's neighbours an explanation names: the last minutes, or the time of an alert that has resolved. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/param.h>

#include "base/json_get.h"
#include "example_policy.h"
#include "export/json/json_neighbours.h"
#include "some_panes.h"

#define START (SOME_PANES_START_US / 1000000) /* 2026-11-21T06:00:00Z */

static const struct event loads = {
	.role = EVENT_LOADS, .period = 1009, .settings = {.has_latency = 1, .has_source = 1}, .pmu = "cpu"};

/* The requests so far, and the replies to them. */
static struct {
	double covered_seconds; /* of the report of the last minutes */
	int error;              /* of get_past() */
	size_t now_asked, past_asked;
	u64 since_us, until_us;
	enum neighbours_verdict verdict;
} replies;

static struct some_panes panes;
static struct past *made;

static int find(void *userdata, const char *path, struct neighbours_report **ret)
{
	(void)userdata;
	cr_expect_str_eq(path, "/db");
	replies.now_asked++;
	*ret = example_neighbours();
	(*ret)->covered_seconds = replies.covered_seconds;
	return 0;
}

/* Returns one pane of ten seconds for every range. */
static int get_past(void *userdata, u64 since_us, u64 until_us, u32 bins, const char *path, bool subtree,
		    const struct past **ret)
{
	const struct past_settings settings = {.range = {since_us, until_us}};
	struct history_pane *pane;

	(void)userdata;
	(void)subtree;
	cr_expect_null(path, "all cgroups are candidates");
	cr_expect_eq(bins, MIN(2 * (until_us - since_us) / 10000000 + 1, 240));
	replies.past_asked++;
	replies.since_us = since_us;
	replies.until_us = until_us;
	if (replies.error)
		return replies.error;
	pane = some_panes_add(&panes, 0, 10);
	(void)some_panes_event(pane, "loads", &loads, 1);
	cr_assert_eq(past_new(&settings, panes.list, panes.n, &made), 0);
	*ret = made;
	return 0;
}

static int find_then(void *userdata, const struct past *past, const char *path,
		     struct neighbours_report **ret)
{
	(void)userdata;
	cr_expect_eq(past, made);
	cr_expect_str_eq(path, "/db");
	*ret = example_neighbours();
	(*ret)->ranking.verdict = replies.verdict;
	return 0;
}

static void begin(void)
{
	memset(&replies, 0, sizeof(replies));
	replies.covered_seconds = 600;
}

static void end(void)
{
	made = past_free(made);
	some_panes_done(&panes);
}

TestSuite(json_suspects, .init = begin, .fini = end);

static struct json_suspects suspects_at(time_t now)
{
	return (struct json_suspects){
		.find = find, .past = get_past, .past_neighbours = find_then, .now = now};
}

static struct rule rule = {.metric = {.kind = METRIC_QUANTILE, .quantile = 0.99}, .event = EVENT_LOADS};

/* An alert that was breached at START, and resolved `seconds` later; 0: it is firing. */
static struct alert alert_of(time_t seconds)
{
	return (struct alert){.rule = &rule,
			      .cgroup = "/db",
			      .decision.state = seconds ? ALERT_RESOLVED : ALERT_FIRING,
			      .breached.tv_sec = START,
			      .resolved.tv_sec = seconds ? (time_t)START + seconds : 0};
}

#define REST \
	"its traffic rose when this cgroup's latency rose, by more than chance and this cgroup's own traffic explain (strength 0.80, needed 0.50)"

/* Expects that the sentence begins so; NULL: no neighbour is named. */
static void expect_named(const struct json_suspects *suspects, const struct alert *alert, const char *when)
{
	_cleanup_json_ json_object *list = NULL;
	char expected[320];

	cr_assert_eq(json_suspects(suspects, alert, 1, &list), 0);
	if (!when) {
		cr_expect_null(list);
		return;
	}
	cr_assert_not_null(list);
	cr_assert_eq(json_object_array_length(list), 1U);
	(void)snprintf(expected, sizeof(expected), "/batch may disturb this cgroup: %s " REST, when);
	cr_expect_str_eq(json_object_get_string(json_object_array_get_idx(list, 0)), expected);
}

Test(json_suspects, a_firing_alert_has_the_neighbours_of_the_last_minutes)
{
	const struct json_suspects suspects = suspects_at(START + 86400);
	const struct alert alert = alert_of(0);

	expect_named(&suspects, &alert, "in the last 10min 0s");
	cr_expect_eq(replies.past_asked, 0U);
}

Test(json_suspects, a_recently_resolved_alert_has_the_neighbours_of_the_last_minutes)
{
	const struct json_suspects suspects = suspects_at(START + 300);
	const struct alert alert = alert_of(60);

	expect_named(&suspects, &alert, "in the last 10min 0s");
	cr_expect_eq(replies.past_asked, 0U);
}

/* Ten minutes before and after, or as long as the alert lasted. */
Test(json_suspects, a_resolved_alert_has_the_neighbours_of_its_time)
{
	struct json_suspects suspects = suspects_at(START + 300);
	struct alert alert = alert_of(60);

	/* pebsd was started after the breach. */
	replies.covered_seconds = 299;
	expect_named(&suspects, &alert, "from 2026-11-21T06:00:00Z to 2026-11-21T06:00:10Z");
	cr_expect_eq(replies.since_us, (START - 600) * 1000000);
	cr_expect_eq(replies.until_us, (START + 660) * 1000000);
	made = past_free(made);
	/* Too long ago: the last minutes are not even looked at. */
	replies.now_asked = 0;
	suspects.now = START + 601;
	expect_named(&suspects, &alert, "from 2026-11-21T06:00:00Z to 2026-11-21T06:00:20Z");
	cr_expect_eq(replies.now_asked, 0U);
	made = past_free(made);
	suspects.now = START + 86400;
	alert = alert_of(7200);
	expect_named(&suspects, &alert, "from 2026-11-21T06:00:00Z to 2026-11-21T06:00:30Z");
	cr_expect_eq(replies.since_us, (START - 7200) * 1000000);
	cr_expect_eq(replies.until_us, (START + 14400) * 1000000);
}

Test(json_suspects, without_a_named_neighbour_there_is_no_suspect)
{
	static const enum neighbours_verdict verdicts[] = {
		NEIGHBOURS_THIN, NEIGHBOURS_EPISODE, NEIGHBOURS_STEADY, NEIGHBOURS_SELF, NEIGHBOURS_NOBODY};
	static const int errors[] = {-ENODATA, -EOPNOTSUPP, -EBUSY, -ETIMEDOUT, -E2BIG};
	struct json_suspects suspects = suspects_at(START + 3000);
	const struct alert alert = alert_of(60);
	json_object *list;

	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++) {
		replies.verdict = verdicts[i];
		expect_named(&suspects, &alert, NULL);
		made = past_free(made);
	}
	replies.verdict = NEIGHBOURS_NAMED;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		replies.error = errors[i];
		if (errors[i] == -E2BIG)
			suspects.past = NULL;
		expect_named(&suspects, &alert, NULL);
	}
	suspects.past = get_past;
	replies.error = -EAGAIN;
	cr_expect_eq(json_suspects(&suspects, &alert, 1, &list), -EAGAIN, "the caller waits");
}

/* The sentence is added to those that are stored with the alert. */
static size_t sentences_of(const char *members, time_t now)
{
	const struct json_suspects suspects = suspects_at(now);
	_cleanup_json_ json_object *reply = NULL;
	_cleanup_free_ char *text = NULL;
	json_object *list;
	size_t n;

	made = past_free(made);
	replies.since_us = replies.until_us = 0;
	cr_assert_gt(
		asprintf(
			&text,
			"{\"judged\":[{\"metric\":\"p99\",\"event\":\"loads\"},{\"cgroup\":\"/db\",\"sentences\":[\"why\"],%s}],\"taken\":\"2026-11-21T06:01:00Z\"}",
			members),
		0);
	reply = json_tokener_parse(text);
	cr_assert_not_null(reply, "%s", text);
	cr_assert_eq(json_past_suspects(&suspects, reply), 0);
	/* The newest one was only pending. */
	list = json_get_array(json_object_array_get_idx(json_get_array(reply, "judged"), 1), "sentences");
	n = json_object_array_length(list);
	if (n > 1)
		cr_expect_not_null(strstr(json_object_get_string(json_object_array_get_idx(list, n - 1)),
					  "/batch may disturb this cgroup: "));
	return n;
}

#define BREACHED "\"breached\":\"2026-11-21T06:00:00Z\",\"fired\":\"2026-11-21T06:00:05Z\""

Test(json_suspects, a_stored_alert_has_the_neighbours_of_its_time)
{
	cr_expect_eq(sentences_of("\"metric\":\"p99\",\"event\":\"loads:cpu_core\"," BREACHED
				  ",\"resolved\":\"2026-11-21T06:00:50Z\"",
				  START + 9000),
		     2U);
	cr_expect_eq(replies.since_us, (START - 600) * 1000000);
	cr_expect_eq(replies.until_us, (START + 650) * 1000000);
	/* The alert was firing then. */
	cr_expect_eq(sentences_of("\"metric\":\"cores-lost\",\"event\":\"stalls\"," BREACHED, START + 9000),
		     2U);
	cr_expect_eq(replies.until_us, (START + 660) * 1000000);
	/* A while ago. */
	replies.past_asked = 0;
	cr_expect_eq(sentences_of("\"metric\":\"wait\",\"event\":\"stalls\"," BREACHED, START + 120), 2U);
	cr_expect_eq(replies.past_asked, 0U);
}

Test(json_suspects, a_stored_alert_can_have_no_neighbours)
{
	static const char *const members[] = {
		"\"metric\":\"share:hitm\",\"event\":\"loads\"," BREACHED,
		"\"metric\":\"p99\",\"event\":\"stores\"," BREACHED,
		"\"metric\":\"p99\",\"event\":\"loads\",\"breached\":\"2026-11-21T06:00:00Z\"", /* pending */
		"\"metric\":\"p99\",\"event\":\"loads\",\"fired\":\"2026-11-21T06:00:05Z\"",
		"\"metric\":\"no such\",\"event\":\"loads\"," BREACHED,
		"\"metric\":7,\"event\":\"loads\"," BREACHED,
		"\"metric\":\"p99\",\"event\":\"loads\"," BREACHED ",\"resolved\":\"2026-11-21T05:00:00Z\"",
	};
	const struct json_suspects suspects = suspects_at(START);
	_cleanup_json_ json_object *nothing = json_tokener_parse("{\"judged\":[]}");

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		cr_expect_eq(sentences_of(members[i], START + 9000), 1U, "%s", members[i]);
	cr_expect_eq(json_past_suspects(&suspects, nothing), 0);
	cr_expect_eq(replies.past_asked, 0U);
}
