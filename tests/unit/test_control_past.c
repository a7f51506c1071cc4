// SPDX-License-Identifier: GPL-2.0
/* The methods of the control socket about the past, with a history that is made up, and comparisons. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json_get.h"
#include "base/text.h"
#include "control_fixture.h"
#include "example_policy.h"
#include "example_snapshot.h"
#include "export/control/control.h"
#include "export/control/control_past.h"
#include "some_panes.h"
#include "varlink_peer.h"
#include "window/waits.h"

#define PANES 40

static struct event loads = {.role = EVENT_LOADS,
			     .ldlat = 30,
			     .period = 1009,
			     .latency_kind = LATENCY_USE,
			     .nominal_hz = 2e9,
			     .settings = {.has_latency = 1, .has_source = 1},
			     .pmu = "cpu"};
static struct event cycles = {.role = EVENT_CYCLES, .period = 1000003, .nominal_hz = 2e9, .pmu = "cpu"};
static struct event stalls = {.role = EVENT_STALLS,
			      .count_kind = COUNT_STALLS_LOAD,
			      .period = 500009,
			      .nominal_hz = 2e9,
			      .pmu = "cpu"};

/* The query of the last call, and the replies to it. */
static struct {
	int error;      /* of past() and past_alerts() */
	int past_error; /* of past() */
	int all_error;  /* of past() of all cgroups */
	int kept_error; /* of the last attempt to store */
	u32 bins_max;   /* more are too large; 0: none are */
	u64 since_us, until_us;
	u64 newest_us; /* no past ends later; 0: not limited */
	u32 bins;
	char path[64];
	char alerts_path[64], rule[64];
	bool subtree;
	bool sum; /* of all cgroups */
	int asked;
	const char *alerts;
	const char *ever; /* alerts of the whole history; NULL: `alerts` */
	int neighbours_error;
	double interval_seconds;
} replies;

static struct policy *policy; /* NULL: no rules */
static struct some_panes panes;
static struct past *pasts[2];

static struct counters some_loads(u64 fast, u64 slow)
{
	struct counters counters = {0};

	counters.samples[SOURCE_L1] = fast;
	counters.samples[SOURCE_LOCAL_DRAM] = slow;
	counters.weight[SOURCE_L1] = fast * 1009;
	counters.weight[SOURCE_LOCAL_DRAM] = slow * 1009;
	counters.latency_sum[SOURCE_L1] = 40 * fast;
	counters.latency_sum[SOURCE_LOCAL_DRAM] = 400 * slow;
	counters.latency[histogram_fine_index(40)] = fast;
	counters.latency[histogram_fine_index(400)] = slow;
	counters.source_latency[SOURCE_L1][histogram_octave_index(40)] = fast;
	counters.source_latency[SOURCE_LOCAL_DRAM][histogram_octave_index(400)] = slow;
	return counters;
}

static struct counters some_counts(u64 samples, u64 period)
{
	struct counters counters = {0};

	counters.samples[0] = samples;
	counters.weight[0] = samples * period;
	return counters;
}

/* From the middle on /shop/b is slower, and has more stalls. /shop/a never changes. */
static void make_panes(void)
{
	for (size_t i = 0; i < PANES; i++) {
		bool late = i >= PANES / 2;
		/* After ten panes nothing is stored for a minute. */
		struct history_pane *pane = some_panes_add(&panes, i == 10 ? 60 : 0, 10);
		struct counters a = some_loads(90 + i % 3, 10),
				b = some_loads(90, late ? 40 + i % 3 : 10 + i % 3);
		struct counters running = some_counts(200 + i % 5, 1000003);
		struct counters stalled = some_counts(late ? 200 + i % 4 : 100 + i % 4, 500009);
		u32 of_loads = some_panes_event(pane, "loads", &loads, 4);
		u32 of_cycles = some_panes_event(pane, "cycles", &cycles, 4);
		u32 of_stalls = some_panes_event(pane, "stalls", &stalls, 4);

		some_panes_row(pane, "/shop/a", of_loads, &a);
		some_panes_row(pane, "/shop/b", of_loads, &b);
		some_panes_row(pane, "/shop/b", of_cycles, &running);
		some_panes_row(pane, "/shop/b", of_stalls, &stalled);
	}
}

/*
 * The panes that end in the range, as the daemon gets them from the keeper. Every second question is about another
 * past.
 */
static int get_past(void *userdata, u64 since_us, u64 until_us, u32 bins, const char *path, bool subtree,
		    const struct past **ret)
{
	const u64 end_us = replies.newest_us && replies.newest_us < until_us ? replies.newest_us : until_us;
	const struct past_settings settings = {.range = {since_us, end_us}};
	struct past **past = &pasts[replies.asked % 2];
	size_t first = 0, n = 0;
	int r;

	(void)userdata;
	/* A question to the keeper has no room for it. */
	if (path && strlen(path) >= HISTORY_TEXT_MAX)
		return -EINVAL;
	replies.since_us = since_us;
	replies.until_us = until_us;
	replies.bins = bins;
	replies.subtree = subtree;
	replies.sum = path && !path[0];
	replies.asked++;
	(void)snprintf(replies.path, sizeof(replies.path), "%s", path ? path : "");
	if (replies.error || replies.past_error)
		return replies.error ? replies.error : replies.past_error;
	if (replies.all_error && !path)
		return replies.all_error;
	if (replies.bins_max && bins > replies.bins_max)
		return -E2BIG;
	while (first < panes.n && panes.list[first].end_us <= since_us)
		first++;
	while (first + n < panes.n && panes.list[first + n].end_us <= end_us)
		n++;
	*past = past_free(*past);
	r = past_new(&settings, panes.list + first, n, past);
	*ret = *past;
	return r;
}

static int get_alerts(void *userdata, u64 since_us, u64 until_us, const char *cgroup, const char *rule,
		      const char **ret_json)
{
	(void)userdata;
	replies.since_us = since_us;
	replies.until_us = until_us;
	replies.asked++;
	(void)snprintf(replies.alerts_path, sizeof(replies.alerts_path), "%s", cgroup ? cgroup : "");
	(void)snprintf(replies.rule, sizeof(replies.rule), "%s", rule ? rule : "");
	*ret_json = replies.ever && since_us == 0 ? replies.ever : replies.alerts;
	return replies.error;
}

static int get_neighbours(void *userdata, const struct past *past, const char *path,
			  struct neighbours_report **ret)
{
	(void)userdata;
	(void)past;
	(void)snprintf(replies.path, sizeof(replies.path), "%s", path);
	if (replies.neighbours_error)
		return replies.neighbours_error;
	*ret = example_neighbours();
	return 0;
}

static const struct policy *get_policy(void *userdata)
{
	(void)userdata;
	return policy;
}

static void get_history(void *userdata, struct history_state *ret)
{
	(void)userdata;
	*ret = (struct history_state){.on = true,
				      .directory = "/var/lib/pebsd",
				      .bytes_max = 256 << 20,
				      .age_max_s = 14ULL * 86400,
				      .panes_stored = 3,
				      .kept = {.bytes = 8192,
					       .oldest_us = SOME_PANES_START_US,
					       .newest_us = SOME_PANES_START_US + 30000000}};
	if (replies.kept_error) {
		ret->kept.error = replies.kept_error;
		(void)stpcpy(ret->kept.what, "cannot use /x: a newer pebsd wrote it; move the file away");
	}
}

static int snapshot(void *userdata, const struct maybe_double *window_seconds, const struct snapshot **ret)
{
	struct snapshot *example = example_perf();

	(void)userdata;
	example->window_seconds = *window_seconds;
	example->interval_seconds = replies.interval_seconds;
	*ret = example;
	return 0;
}

static void start(void)
{
	const struct control_backend backend = {.snapshot = snapshot,
						.past = get_past,
						.past_alerts = get_alerts,
						.past_neighbours = get_neighbours,
						.policy = get_policy,
						.history = get_history};

	control_fixture_start(&backend, NULL);
	make_panes();
}

static void stop(void)
{
	control_fixture_stop();
	policy = policy_free(policy);
	for (size_t i = 0; i < 2; i++)
		pasts[i] = past_free(pasts[i]);
	some_panes_done(&panes);
}

TestSuite(control_past, .init = start, .fini = stop);

/* Calls on a new connection. Returns as call() does. */
static json_object *ask(const char *method, const char *parameters)
{
	_cleanup_close_ int fd = peer_connect(socket_path);

	return call_with(fd, method, parameters);
}

static void expect_invalid(const char *method, const char *parameters, const char *invalid)
{
	_cleanup_free_ char *text = NULL;

	cr_assert_gt(asprintf(&text, "%s(%s)", method, parameters), 0);
	expect_invalid_reply(ask(method, parameters), text, invalid);
}

static void expect_reason(const char *method, const char *parameters, const char *reason)
{
	_cleanup_json_ json_object *reply = ask(method, parameters);
	const char *got = json_get_text(json_get(reply, "parameters"), "reason");

	cr_expect_str_eq(got ? got : "(none)", reason, "%s", json_object_to_json_string(reply));
}

/* SOME_PANES_START_US is 2026-11-21T06:00:00Z. */
#define RANGE "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T06:03:00Z\""

static double number(json_object *object, const char *key)
{
	double value = NAN;

	(void)json_get_double(object, key, &value);
	return value;
}

static json_object *at(json_object *list, size_t index)
{
	return json_object_array_get_idx(list, index);
}

Test(control_past, top_has_the_figures_of_the_range)
{
	_cleanup_json_ json_object *top = ask("GetTop", RANGE ",\"sort\":\"samples\",\"limit\":1");
	json_object *gaps = json_get_array(top, "gaps");

	cr_expect_eq(replies.since_us, SOME_PANES_START_US);
	cr_expect_eq(replies.until_us, SOME_PANES_START_US + 180000000);
	cr_expect_eq(replies.bins, 0U);
	cr_expect_str_eq(json_get_text(top, "since"), "2026-11-21T06:00:00Z");
	cr_expect_str_eq(json_get_text(top, "until"), "2026-11-21T06:03:00Z");
	cr_expect_str_eq(json_get_text(top, "taken"), "2026-11-21T06:03:00Z");
	cr_expect_eq(number(top, "window_s"), 120);
	cr_assert_eq(json_object_array_length(gaps), 1U);
	cr_expect_str_eq(json_get_text(at(gaps, 0), "since"), "2026-11-21T06:01:40Z");
	cr_expect_str_eq(json_get_text(at(gaps, 0), "until"), "2026-11-21T06:02:40Z");
	cr_assert_eq(json_object_array_length(json_get_array(top, "cgroups")), 1U);
	cr_expect_str_eq(json_get_text(at(json_get_array(top, "cgroups"), 0), "cgroup"), "/shop/b");
}

Test(control_past, pages_of_top_have_one_time)
{
	_cleanup_json_ json_object *top = ask("GetTop", RANGE ",\"offset\":1");
	const char *text = json_object_to_json_string(top);
	const char *first = strstr(text, "\"taken\"");

	cr_assert_not_null(first);
	cr_expect_null(strstr(first + 1, "\"taken\""), "%s", text);
	cr_expect_eq(json_object_array_length(json_get_array(top, "cgroups")), 1U);
}

Test(control_past, a_subtree_of_a_cgroup_without_samples_then_is_empty)
{
	_cleanup_json_ json_object *sum =
		ask("GetCgroup", RANGE ",\"cgroup\":\"/system.slice/db.service\",\"subtree\":true");

	cr_assert_null(json_get(sum, "error"), "%s", json_object_to_json_string(sum));
	cr_expect_str_eq(json_get_text(sum, "cgroup"), "/system.slice/db.service");
	cr_expect_eq(json_object_object_length(json_get_object(sum, "events")), 0);
}

/* Below /system.slice, only db.service has samples, and only at present. */
Test(control_past, a_subtree_without_samples_then_is_known_at_present)
{
	_cleanup_json_ json_object *sum =
		ask("GetCgroup", RANGE ",\"cgroup\":\"/system.slice\",\"subtree\":true");
	_cleanup_json_ json_object *compared =
		ask("Compare", "\"a\":{\"cgroup\":\"/system.slice\",\"subtree\":true," RANGE
			       "},\"b\":{\"cgroup\":\"/system.slice\",\"subtree\":true}");
	_cleanup_json_ json_object *none =
		ask("GetCgroup", RANGE ",\"cgroup\":\"/no.slice\",\"subtree\":true");
	bool subtree = false;

	cr_assert_null(json_get(sum, "error"), "%s", json_object_to_json_string(sum));
	cr_expect_str_eq(json_get_text(sum, "cgroup"), "/system.slice");
	cr_expect_eq(json_object_object_length(json_get_object(sum, "events")), 0);
	cr_expect_null(json_get(compared, "error"), "%s", json_object_to_json_string(compared));
	cr_expect(json_get_bool(json_get_object(compared, "a"), "subtree", &subtree) && subtree);
	cr_expect_str_eq(json_get_text(none, "error"), "io.pebsd.NoSuchCgroup");
}

Test(control_past, a_cgroup_of_the_past_can_have_its_subtree)
{
	_cleanup_json_ json_object *one = ask("GetCgroup", RANGE ",\"cgroup\":\"/shop/b\"");
	_cleanup_json_ json_object *sum = NULL, *quiet = NULL, *none = NULL;
	json_object *event_of;

	cr_expect_str_eq(replies.path, "/shop/b");
	cr_expect_not(replies.subtree);
	event_of = json_get_object(json_get_object(one, "events"), "loads");
	cr_expect_eq(number(event_of, "confidence"), 0.95);
	cr_expect_not_null(json_get_array(one, "gaps"));
	cr_expect_gt(number(json_get_object(json_get_object(one, "waits"), "wait"), "value"), 0.2);
	sum = ask("GetCgroup", RANGE ",\"cgroup\":\"/shop\",\"subtree\":true");
	cr_expect(replies.subtree);
	cr_expect_eq(number(sum, "subtree"), 2);
	/* A cgroup that exists now but had no samples then, and a cgroup that never existed. */
	quiet = ask("GetCgroup", RANGE ",\"cgroup\":\"/system.slice/db.service\"");
	cr_expect_eq(json_object_object_length(json_get_object(quiet, "events")), 0);
	none = ask("GetCgroup", RANGE ",\"cgroup\":\"/nothing\"");
	cr_expect_str_eq(json_get_text(none, "error"), "io.pebsd.NoSuchCgroup");
}

Test(control_past, status_of_the_past_has_samples_but_nothing_of_the_daemon)
{
	_cleanup_json_ json_object *then = ask("GetStatus", RANGE);
	_cleanup_json_ json_object *today = NULL;

	cr_expect(replies.sum, "it needs no cgroup");
	today = ask("GetStatus", "");
	cr_expect_eq(number(json_get_object(json_get_object(then, "events"), "loads"), "ldlat"), 30);
	cr_expect_null(json_get(then, "slots"));
	cr_expect_null(json_get(then, "history"));
	cr_expect_not_null(json_get_array(then, "notes"));
	cr_expect_eq(number(json_get_object(today, "history"), "bytes"), 8192);
	cr_expect_str_eq(json_get_text(json_get_object(today, "history"), "oldest"), "2026-11-21T06:00:00Z");
}

/* The paths of systemd's units have backslashes. */
Test(control_past, a_cgroup_is_looked_for_among_all_if_its_shown_form_is_not_its_path)
{
	json_object_put(ask("GetCgroup", RANGE ",\"cgroup\":\"/a\\\\x2db\""));
	cr_expect_str_eq(replies.path, "/a\\x2db");
	json_object_put(ask("GetCgroup", RANGE ",\"cgroup\":\"/a\xef\xbf\xbd"
					       "ff\""));
	cr_expect_str_eq(replies.path, "");
	cr_expect_not(replies.sum);
}

Test(control_past, alerts_and_neighbours_of_the_past_are_shown)
{
	_cleanup_json_ json_object *alerts = NULL, *page = NULL, *neighbours = NULL, *bad = NULL,
				   *changed = NULL;

	replies.alerts = "[{\"rule\":\"one\"},{\"rule\":\"two\"}]";
	alerts = ask("GetAlerts", RANGE);
	cr_expect_eq(json_object_array_length(json_get_array(alerts, "alerts")), 2U);
	cr_expect_str_eq(json_get_text(alerts, "since"), "2026-11-21T06:00:00Z");
	cr_expect_str_eq(json_get_text(alerts, "taken"), "2026-11-21T06:03:00Z");
	page = ask("GetAlerts", RANGE ",\"offset\":1");
	cr_assert_eq(json_object_array_length(json_get_array(page, "alerts")), 1U);
	cr_expect_str_eq(json_get_text(at(json_get_array(page, "alerts"), 0), "rule"), "two");
	replies.alerts = "[7,null,{\"rule\":\"one\"}]";
	changed = ask("GetAlerts", RANGE);
	cr_expect_eq(json_object_array_length(json_get_array(changed, "alerts")), 1U);
	replies.alerts = "{}";
	bad = ask("GetAlerts", RANGE);
	cr_expect_str_eq(json_get_text(bad, "error"), "io.pebsd.NotMeasured");

	neighbours = ask("GetNeighbours", RANGE ",\"cgroup\":\"/shop/b\"");
	cr_expect_str_eq(replies.path, "/shop/b");
	cr_expect_eq(replies.bins, 37U, "180 s in half panes");
	cr_expect_gt(json_object_array_length(json_get_array(neighbours, "neighbours")), 0U);
	cr_expect_not_null(json_get_array(neighbours, "gaps"));
	replies.neighbours_error = -ENODATA;
	expect_reason(
		"GetNeighbours", RANGE ",\"cgroup\":\"/shop/b\"",
		"neighbours need an event of loads with a latency and a data source, and no such event is sampled");
}

/* The bins of neighbours are halved until the answer is small enough. */
Test(control_past, neighbours_can_be_computed_from_fewer_bins)
{
	_cleanup_json_ json_object *neighbours = NULL;

	replies.bins_max = 10;
	neighbours = ask("GetNeighbours", RANGE ",\"cgroup\":\"/shop/b\"");
	cr_expect_gt(json_object_array_length(json_get_array(neighbours, "neighbours")), 0U);
	cr_expect_eq(replies.bins, 9U, "37, 18, 9");
	cr_expect_eq(replies.asked, 3);
}

/* The state of an alert at a time of the past follows from its stored states. */
Test(control_past, an_alert_is_explained_as_it_was)
{
	static const char stored[] =
		"[7,{\"rule\":\"other\"},{\"rule\":\"slow\",\"cgroup\":\"/a\",\"state\":\"resolved\",\"since\":\"2026-11-21T06:02:00Z\",\"breached\":\"2026-11-21T06:00:30Z\",\"fired\":\"2026-11-21T06:01:00Z\",\"resolved\":\"2026-11-21T06:02:00Z\",\"end\":\"clear\",\"alert\":4,\"value\":3,\"sentences\":[\"now\"],\"firing\":{\"rule\":\"slow\",\"state\":\"firing\",\"value\":9,\"sentences\":[\"then\"]}}]";
	static const struct {
		const char *until, *state, *sentence, *since;
		double value;
	} moments[] = {
		{"06:02:00", "resolved", "now", "2026-11-21T06:02:00Z", 3},
		{"06:01:39", "firing", "then", NULL, 9},
		{"06:01:00", "firing", "then", NULL, 9},
		{"06:00:59", "pending", NULL, "2026-11-21T06:00:30Z", NAN},
	};

	replies.alerts = stored;
	for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
		_cleanup_json_ json_object *reply = NULL;
		_cleanup_free_ char *parameters = NULL;
		json_object *judged, *sentences;

		cr_assert_gt(
			asprintf(
				&parameters,
				"\"rule\":\"slow\",\"cgroup\":\"/a\",\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T%sZ\"",
				moments[i].until),
			0);
		reply = ask("Explain", parameters);
		cr_expect_str_eq(replies.alerts_path, "/a");
		cr_expect_str_eq(replies.rule, "slow");
		cr_expect_not(json_get(reply, "rule"), "it may have been another one");
		judged = json_get_array(reply, "judged");
		cr_assert_eq(judged ? json_object_array_length(judged) : 0, 1U, "%s", moments[i].until);
		judged = at(judged, 0);
		cr_expect_str_eq(json_get_text(judged, "state"), moments[i].state, "%s", moments[i].until);
		cr_expect_not(json_get(judged, "firing"));
		cr_expect(isnan(moments[i].value) ? !json_get(judged, "value")
						  : number(judged, "value") == moments[i].value);
		sentences = json_get_array(judged, "sentences");
		cr_expect_str_eq(sentences ? json_object_get_string(at(sentences, 0)) : "",
				 moments[i].sentence ? moments[i].sentence : "");
		if (moments[i].since)
			cr_expect_str_eq(json_get_text(judged, "since"), moments[i].since);
	}
}

/*
 * The panes lie in the ten minutes around the alert. The last sentence is about the past, and the history may be slow.
 */
Test(control_past, an_explanation_of_a_resolved_alert_names_the_neighbours_of_its_time)
{
	static const char stored[] =
		"[{\"rule\":\"slow\",\"cgroup\":\"/shop/b\",\"event\":\"loads\",\"metric\":\"p99\",\"state\":\"resolved\",\"since\":\"2026-11-21T06:02:00Z\",\"breached\":\"2026-11-21T06:00:30Z\",\"fired\":\"2026-11-21T06:01:00Z\",\"resolved\":\"2026-11-21T06:02:00Z\",\"sentences\":[\"why\"]}]";
	static const char suspect[] =
		"/batch may disturb this cgroup: from 2026-11-21T06:00:00Z to 2026-11-21T06:07:40Z its traffic rose when this cgroup's latency rose, by more than chance and this cgroup's own traffic explain (strength 0.80, needed 0.50)";
	static const char asked[] = RANGE ",\"rule\":\"slow\",\"cgroup\":\"/shop/b\"";
	_cleanup_close_ int fd = peer_connect(socket_path);
	_cleanup_json_ json_object *named = NULL, *without = NULL;
	_cleanup_free_ char *text = NULL, *reply = NULL;
	json_object *sentences;
	char byte;

	replies.alerts = stored;
	named = ask("Explain", asked);
	sentences = json_get_array(at(json_get_array(named, "judged"), 0), "sentences");
	cr_assert_eq(sentences ? json_object_array_length(sentences) : 0, 2U);
	cr_expect_str_eq(json_object_get_string(at(sentences, 1)), suspect);
	cr_expect_str_eq(replies.path, "/shop/b");
	cr_expect_eq(replies.since_us, 1795240830000000 - 600000000);
	cr_expect_eq(replies.until_us, 1795240920000000 + 600000000);
	/* The alert is explained even if its neighbours are unknown. */
	replies.neighbours_error = -ENODATA;
	without = ask("Explain", asked);
	sentences = json_get_array(at(json_get_array(without, "judged"), 0), "sentences");
	cr_expect_eq(sentences ? json_object_array_length(sentences) : 0, 1U);
	/* A slow history. */
	replies.neighbours_error = 0;
	replies.all_error = -EAGAIN;
	cr_assert_gt(asprintf(&text, "{\"method\":\"io.pebsd.Explain\",\"parameters\":{%s}}", asked), 0);
	peer_call(event, fd, text);
	peer_settle(event);
	cr_expect_lt(recv(fd, &byte, 1, MSG_PEEK), 0, "it waits");
	replies.all_error = 0;
	control_retry(control);
	reply = peer_receive(event, fd, NULL);
	cr_assert_not_null(reply);
	cr_expect_not_null(strstr(reply, "may disturb this cgroup"));
}

#define ALERT_OF_PAST                                                                                        \
	"{\"rule\":\"slow\",\"cgroup\":\"/a\",\"state\":\"resolved\",\"since\":\"2026-11-21T06:02:00Z\","    \
	"\"breached\":\"2026-11-21T06:00:30Z\",\"fired\":\"2026-11-21T06:01:00Z\",\"resolved\":"             \
	"\"2026-11-21T06:02:00Z\",\"value\":3,\"worst\":12,\"to_us\":1795240920000000,\"firing\":{\"rule\":" \
	"\"slow\",\"cgroup\":\"/a\",\"state\":\"firing\",\"since\":\"2026-11-21T06:01:00Z\",\"fired\":"      \
	"\"2026-11-21T06:01:00Z\",\"value\":9,\"worst\":9}}"

/* The stored figures are those of the requested time, unless the alert changed later. */
Test(control_past, a_pending_alert_keeps_its_figures)
{
	_cleanup_json_ json_object *reply = NULL;

	replies.alerts =
		"[{\"rule\":\"slow\",\"cgroup\":\"/a\",\"state\":\"pending\",\"since\":\"2026-11-21T06:00:30Z\",\"breached\":\"2026-11-21T06:00:30Z\",\"value\":7}]";
	reply = ask("GetAlerts", "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T06:01:30Z\"");
	cr_expect_str_eq(json_get_text(at(json_get_array(reply, "alerts"), 0), "state"), "pending");
	cr_expect_eq(number(at(json_get_array(reply, "alerts"), 0), "value"), 7);
}

/* The alerts at the end of a time, not those of today. */
Test(control_past, alerts_have_the_state_of_the_past)
{
	static const struct {
		const char *until, *state;
		double value, worst;
	} moments[] = {
		{"06:02:00", "resolved", 3, 12},
		{"06:01:27", "firing", 9, 9},
		{"06:00:59", "pending", NAN, NAN},
	};

	replies.alerts = "[{\"rule\":\"done\",\"state\":\"resolved\"},7," ALERT_OF_PAST "]";
	for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
		_cleanup_json_ json_object *reply = NULL;
		_cleanup_free_ char *parameters = NULL;
		json_object *list, *alert;

		cr_assert_gt(asprintf(&parameters,
				      "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T%sZ\"",
				      moments[i].until),
			     0);
		reply = ask("GetAlerts", parameters);
		list = json_get_array(reply, "alerts");
		cr_assert_eq(json_object_array_length(list), 2U);
		alert = at(list, strcmp(moments[i].state, "resolved") == 0);
		cr_expect_str_eq(json_get_text(alert, "rule"), "slow", "%s: firing and pending ones first",
				 moments[i].until);
		cr_expect_str_eq(json_get_text(alert, "state"), moments[i].state, "%s", moments[i].until);
		cr_expect_not(json_get(alert, "firing") || json_get(alert, "to_us"));
		cr_expect(isnan(moments[i].value) ? !json_get(alert, "value")
						  : number(alert, "value") == moments[i].value);
		cr_expect(isnan(moments[i].worst) ? !json_get(alert, "worst")
						  : number(alert, "worst") == moments[i].worst);
	}
}

/* An alert that began to be pending early may have fired late. */
Test(control_past, alerts_are_ordered_by_since)
{
	static const char *const order[] = {"early", "late", "unknown", "waits", "a", "b", "done"};
	_cleanup_json_ json_object *reply = NULL;

	replies.alerts =
		"[{\"rule\":\"done\",\"state\":\"resolved\",\"since\":\"2026-11-21T06:01:10Z\"},"
		"{\"rule\":\"unknown\",\"state\":\"unknown\",\"held\":\"firing\",\"since\":\"2026-11-21T06:01:25Z\"},"
		"{\"rule\":\"late\",\"state\":\"firing\",\"breached\":\"2026-11-21T06:00:10Z\",\"since\":\"2026-11-21T06:01:20Z\"},"
		"{\"rule\":\"early\",\"state\":\"firing\",\"breached\":\"2026-11-21T06:00:20Z\",\"since\":\"2026-11-21T06:01:00Z\"},"
		"{\"rule\":\"waits\",\"state\":\"pending\",\"since\":\"2026-11-21T06:00:05Z\"},"
		"{\"rule\":\"b\",\"state\":\"resolved\",\"since\":\"2026-11-21T06:01:05Z\"},"
		"{\"rule\":\"a\",\"state\":\"resolved\",\"since\":\"2026-11-21T06:01:05Z\"}]";
	reply = ask("GetAlerts", "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T06:01:30Z\"");
	cr_assert_eq(json_object_array_length(json_get_array(reply, "alerts")), ARRAY_SIZE(order));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		cr_expect_str_eq(json_get_text(at(json_get_array(reply, "alerts"), i), "rule"), order[i],
				 "%zu", i);
}

/* If pebsd did not run at the time, it is unknown which alerts would have fired. */
Test(control_past, alerts_in_a_gap_are_unknown)
{
	static const char asked[] = "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T06:02:20Z\"";
	_cleanup_json_ json_object *in_a_gap = NULL, *before = NULL, *left = NULL, *nothing = NULL,
				   *explained = NULL;
	json_object *alert;

	replies.alerts =
		"[{\"rule\":\"slow\",\"state\":\"firing\",\"since\":\"2026-11-21T06:01:00Z\",\"fired\":\"2026-11-21T06:01:00Z\"}]";
	/* From 06:01:40 to 06:02:40. */
	in_a_gap = ask("GetAlerts", asked);
	alert = at(json_get_array(in_a_gap, "alerts"), 0);
	cr_expect_str_eq(json_get_text(alert, "state"), "unknown");
	cr_expect_str_eq(json_get_text(alert, "held"), "firing");
	cr_expect_str_eq(json_get_text(alert, "unknown"), "gap");
	cr_assert_eq(json_object_array_length(json_get_array(in_a_gap, "gaps")), 1U);
	cr_expect_str_eq(json_get_text(at(json_get_array(in_a_gap, "gaps"), 0), "since"),
			 "2026-11-21T06:01:40Z");
	cr_expect_str_eq(json_get_text(at(json_get_array(in_a_gap, "gaps"), 0), "until"),
			 "2026-11-21T06:02:20Z");
	cr_expect_str_eq(json_get_text(in_a_gap, "since"), "2026-11-21T06:00:00Z");
	cr_expect_str_eq(json_get_text(in_a_gap, "until"), "2026-11-21T06:02:20Z");
	before = ask("GetAlerts", "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T06:01:30Z\"");
	cr_expect_str_eq(json_get_text(at(json_get_array(before, "alerts"), 0), "state"), "firing");
	cr_expect_eq(json_object_array_length(json_get_array(before, "gaps")), 0U);
	explained = ask("Explain", "\"rule\":\"slow\",\"cgroup\":\"/a\",\"since\":\"2026-11-21T06:00:00Z\","
				   "\"until\":\"2026-11-21T06:02:20Z\"");
	alert = at(json_get_array(explained, "judged"), 0);
	cr_expect_str_eq(json_get_text(alert, "state"), "unknown", "as GetAlerts");
	cr_expect_str_eq(json_get_text(alert, "unknown"), "gap");
	cr_expect_eq(json_object_array_length(json_get_array(explained, "gaps")), 1U);
	cr_expect_str_eq(json_get_text(explained, "since"), "2026-11-21T06:00:00Z");
	/* pebsd was started again without the alert. */
	replies.alerts =
		"[{\"rule\":\"slow\",\"state\":\"firing\",\"fired\":\"2026-11-21T06:01:00Z\",\"to_us\":1795240870000000}]";
	left = ask("GetAlerts", "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T06:01:30Z\"");
	cr_expect_str_eq(json_get_text(at(json_get_array(left, "alerts"), 0), "unknown"), "restart");
	/* Nothing is stored from that time. */
	replies.alerts = "[]";
	nothing = ask("GetAlerts", "\"since\":\"2026-11-20T06:00:00Z\",\"until\":\"2026-11-20T06:01:30Z\"");
	cr_expect_eq(json_object_array_length(json_get_array(nothing, "gaps")), 1U);
}

static void expect_found(const char *parameters, const char *expected)
{
	_cleanup_json_ json_object *reply = ask("FindCgroups", parameters);
	json_object *cgroups = json_get_array(reply, "cgroups");

	cr_expect_str_eq(cgroups ? json_object_to_json_string_ext(cgroups, JSON_C_TO_STRING_NOSLASHESCAPE)
				 : "(none)",
			 expected, "%s: %s", parameters, json_object_to_json_string(reply));
}

Test(control_past, names_are_those_of_the_cgroups_of_that_time)
{
	struct counters counters = some_loads(9, 1);
	_cleanup_json_ json_object *nearest = NULL;

	/* Early, /mall/b existed, too. */
	some_panes_row(&panes.list[0], "/mall/b", 0, &counters);
	expect_found("\"name\":\"shop/b\"", "[]");
	expect_found("\"name\":\"shop/b\"," RANGE, "[\"/shop/b\"]");
	expect_found("\"name\":\"b\"," RANGE, "[\"/shop/b\",\"/mall/b\"]");
	expect_found("\"name\":\"b\",\"since\":\"2026-11-21T06:01:00Z\",\"until\":\"2026-11-21T06:03:00Z\"",
		     "[\"/shop/b\"]");
	expect_found("\"name\":\"shop\"," RANGE, "[\"/shop\"]");
	nearest = ask("FindCgroups", "\"name\":\"mal/b\"," RANGE);
	cr_expect_str_eq(json_get_text(nearest, "nearest"), "/mall/b", "%s",
			 json_object_to_json_string(nearest));
	/* A cgroup that exists now, and had no samples then or cannot be looked up in the history. */
	expect_found("\"name\":\"db\"," RANGE, "[\"/system.slice/db.service\"]");
	replies.error = -E2BIG;
	expect_found("\"name\":\"db\"," RANGE, "[\"/system.slice/db.service\"]");
	replies.error = -EOPNOTSUPP;
	expect_reason("FindCgroups", "\"name\":\"db\"," RANGE, "no history is stored");
	expect_invalid("FindCgroups", "\"name\":\"db\",\"since\":1", "since");
}

static void expect_explained(const char *rule, const char *cgroup, const char *error)
{
	_cleanup_free_ char *parameters = NULL;
	_cleanup_json_ json_object *reply = NULL;
	const char *got;

	cr_assert_gt(asprintf(&parameters, RANGE ",\"rule\":\"%s\",\"cgroup\":\"%s\"", rule, cgroup), 0);
	reply = ask("Explain", parameters);
	got = json_get_text(reply, "error");
	cr_expect_str_eq(got ? got : "", error, "%s %s", rule, cgroup);
	cr_expect_eq(!got, json_get_array(reply, "judged") != NULL);
}

Test(control_past, without_an_alert_the_rule_and_the_cgroup_must_be_known)
{
	policy = example_policy();
	cr_assert_not_null(policy);
	replies.alerts = "[]";
	expect_explained("slow-db", "/shop/b", "");
	expect_explained("slow-db", "/shop", "");
	expect_explained("slow-db", "/system.slice/db.service", "");
	expect_explained("slow-db", "/shop/c", "io.pebsd.NoSuchCgroup");
	cr_expect_eq(replies.since_us, 0U, "all of the history was asked for an alert");
	expect_explained("slow-dc", "/shop/b", "io.pebsd.NoSuchRule");
	replies.ever = "[null]";
	expect_explained("slow-dc", "/shop/b", "");
	expect_explained("slow-db", "/shop/c", "");
	replies.ever = NULL;
	/* If nothing is stored from that time, it is unknown whether the cgroup existed. */
	replies.past_error = -ENODATA;
	expect_explained("slow-db", "/shop/c", "");
	expect_explained("slow-dc", "/shop/b", "io.pebsd.NoSuchRule");
}

Test(control_past, only_the_newest_alerts_are_explained)
{
	_cleanup_json_ json_object *list = json_object_new_array(), *reply = NULL;
	u64 unlisted = 0;

	for (int i = 0; i < 20; i++) {
		json_object *alert = json_object_new_object();

		json_object_object_add(alert, "rule", json_object_new_string("slow"));
		json_object_object_add(alert, "alert", json_object_new_int(i));
		/* The history only counts the older ones. */
		json_object_array_add(list, i < 4 ? NULL : json_object_get(alert));
		json_object_put(alert);
	}
	replies.alerts = json_object_to_json_string(list);
	reply = ask("Explain", RANGE ",\"rule\":\"slow\",\"cgroup\":\"/a\"");
	cr_assert_eq(json_object_array_length(json_get_array(reply, "judged")), 16U);
	cr_expect_eq(number(at(json_get_array(reply, "judged"), 0), "alert"), 19, "the newest first");
	cr_expect(json_get_u64(reply, "unlisted", &unlisted) && unlisted == 4);
	expect_invalid("Explain", "\"rule\":\"slow\",\"cgroup\":\"/a\",\"since\":1", "since");
	expect_invalid(
		"Explain",
		RANGE
		",\"cgroup\":\"/a\",\"rule\":\"0123456789012345678901234567890123456789012345678901234567890123\"",
		"rule");
}

Test(control_past, call_waits_for_the_history)
{
	_cleanup_close_ int fd = peer_connect(socket_path);
	_cleanup_free_ char *reply = NULL;
	char byte;

	replies.error = -EAGAIN;
	peer_call(event, fd,
		  "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"since\":\"2026-11-21T06:00:00Z\"}}");
	peer_settle(event);
	cr_expect_lt(recv(fd, &byte, 1, MSG_PEEK), 0);
	cr_expect_eq(replies.asked, 1);
	replies.error = 0;
	control_retry(control);
	reply = peer_receive(event, fd, NULL);
	cr_assert_not_null(reply);
	cr_expect_not_null(strstr(reply, "\"gaps\""));
	cr_expect_eq(replies.asked, 2);
	cr_expect_eq(replies.until_us % 10000000, 0U, "a retry asks the same question");
}

Test(control_past, failures_have_a_reason)
{
	static const struct {
		int error;
		const char *reason;
	} failures[] = {
		{-ENODATA, "the history ends at 2026-11-21T06:00:30Z"},
		{-EOPNOTSUPP, "no history is stored"},
		{-E2BIG, "the answer would be too large; ask for a shorter time or for one cgroup"},
		{-ETIMEDOUT, "the history did not answer within 10 seconds; try again later"},
		{-ETIME, "reading takes more than 5 seconds; ask for a shorter time or for one cgroup"},
		{-EUSERS, "too many requests for the history are waiting; try again"},
		{-EBUSY, "another program has locked the history; end it, or try again"},
		{-EIO, "the history cannot be read: Input/output error"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
		/* A call about all alerts, about one cgroup or about the sum of all cannot ask for fewer. */
		const char *of_one = failures[i].error == -E2BIG
					     ? "the answer would be too large; ask for a shorter time"
				     : failures[i].error == -ETIME
					     ? "reading takes more than 5 seconds; ask for a shorter time"
					     : failures[i].reason;

		replies.error = failures[i].error;
		expect_reason("GetTop", RANGE, failures[i].reason);
		expect_reason("GetAlerts", RANGE, of_one);
		expect_reason("Explain", RANGE ",\"rule\":\"slow\",\"cgroup\":\"/a\"", of_one);
		expect_reason("GetHistory", RANGE, of_one);
		expect_reason("Compare", "\"a\":{" RANGE "},\"b\":{}", of_one);
		cr_expect(replies.sum);
	}
}

Test(control_past, times_before_and_after_the_history_are_named)
{
	static const char *const times[][2] = {
		{"\"since\":\"2026-11-21T05:00:00Z\",\"until\":\"2026-11-21T06:00:00Z\"",
		 "the history begins at 2026-11-21T06:00:00Z"},
		{"\"since\":\"2026-11-21T06:00:30Z\",\"until\":\"2026-11-21T06:03:00Z\"",
		 "the history ends at 2026-11-21T06:00:30Z"},
		{"\"since\":\"2026-11-21T06:00:26Z\",\"until\":\"2026-11-21T06:00:36Z\"",
		 "the history ends at 2026-11-21T06:00:30Z"},
		{"\"since\":\"2026-11-21T06:00:10Z\",\"until\":\"2026-11-21T06:00:20Z\"",
		 "nothing is stored for this time"},
	};

	replies.error = -ENODATA;
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		expect_reason("GetTop", times[i][0], times[i][1]);
}

/* After a downgrade, a newer version has written the history. */
Test(control_past, a_history_that_cannot_be_used_says_why)
{
	replies.kept_error = EPROTONOSUPPORT;
	replies.error = -EPROTONOSUPPORT;
	expect_reason("GetTop", RANGE, "cannot use /x: a newer pebsd wrote it; move the file away");
	replies.error = -EIO;
	expect_reason(
		"GetAlerts", RANGE,
		"the history cannot be read: Input/output error; cannot use /x: a newer pebsd wrote it; move the file away");
}

/* Without the panes, the whole time may have been a gap. */
Test(control_past, alerts_need_to_know_the_gaps)
{
	_cleanup_json_ json_object *without = NULL;

	replies.alerts = "[]";
	replies.past_error = -EIO;
	expect_reason("GetAlerts", RANGE, "the history cannot be read: Input/output error");
	replies.past_error = -EUSERS;
	expect_reason("GetAlerts", RANGE, "too many requests for the history are waiting; try again");
	replies.past_error = -EOPNOTSUPP;
	without = ask("GetAlerts", RANGE);
	cr_expect_not_null(json_get_array(without, "alerts"), "no gap is known");
}

Test(control_past, a_name_that_no_stored_cgroup_can_have_is_not_a_cgroup)
{
	static const struct {
		const char *method, *before, *after;
	} calls[] = {{"GetCgroup", RANGE ",\"cgroup\":\"/", "\""},
		     {"GetCgroup", RANGE ",\"subtree\":true,\"cgroup\":\"/", "\""},
		     {"GetHistory", RANGE ",\"cgroup\":\"/", "\""},
		     {"Compare", "\"a\":{" RANGE "},\"b\":{" RANGE ",\"cgroup\":\"/", "\"}"}};
	char name[HISTORY_TEXT_MAX];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		_cleanup_free_ char *parameters = NULL;
		_cleanup_json_ json_object *reply = NULL;
		const char *error;

		cr_assert_gt(asprintf(&parameters, "%s%s%s", calls[i].before, name, calls[i].after), 0);
		reply = ask(calls[i].method, parameters);
		error = json_get_text(reply, "error");
		cr_expect_str_eq(error ? error : "(none)", "io.pebsd.NoSuchCgroup", "%s: %.300s",
				 calls[i].method, json_object_to_json_string(reply));
	}
}

Test(control_past, wrong_times_are_refused)
{
	expect_invalid("GetTop", "\"since\":1", "since");
	expect_invalid("GetTop", "\"since\":\"yesterday\"", "since");
	expect_invalid("GetTop", "\"until\":\"-2h\"", "until");
	expect_invalid("GetTop", RANGE ",\"window_s\":10", "window_s");
	expect_invalid("GetTop", "\"since\":\"2026-11-21T06:03:00Z\",\"until\":\"2026-11-21T06:03:00Z\"",
		       "since");
	expect_invalid("GetTop", "\"until\":\"1970-01-01T00:00:00Z\"", "until");
	expect_invalid("GetStatus", RANGE ",\"window_s\":10", "window_s");
	expect_invalid("GetHistory", "", "since");
	expect_invalid("GetHistory", RANGE ",\"bins\":0", "bins");
	expect_invalid("GetHistory", RANGE ",\"bins\":3601", "bins");
	expect_invalid("GetHistory", RANGE ",\"subtree\":true", "subtree");
	expect_invalid("GetHistory", RANGE ",\"cgroup\":1", "cgroup");
	expect_invalid("Compare", "\"a\":{}", "b");
	expect_invalid("Compare", "\"a\":1,\"b\":{}", "a");
	expect_invalid("Compare", "\"a\":{},\"b\":{\"since\":1}", "b.since");
	expect_invalid("Compare", "\"a\":{\"windows\":1},\"b\":{}", "a.windows");
	expect_invalid("Compare", "\"a\":{\"subtree\":true},\"b\":{}", "a.subtree");
}

Test(control_past, times_without_an_end_or_a_start)
{
	const time_t now = 1795240805; /* 2026-11-21T06:00:05Z */
	_cleanup_json_ json_object *since = json_tokener_parse("{\"since\":\"2026-11-21T05:00:00Z\"}");
	_cleanup_json_ json_object *until = json_tokener_parse("{\"until\":\"2026-11-21T05:00:00Z\"}");
	struct control_when when;

	cr_assert_null(control_get_when(since, true, now, &when));
	cr_expect(when.past && when.open);
	cr_expect_eq(when.until_us, 1795240810 * 1000000ULL);
	cr_assert_null(control_get_when(until, true, now, &when));
	cr_expect(when.past && !when.open);
	cr_expect_eq(when.until_us - when.since_us, 10000000U);
	cr_assert_null(control_get_when(NULL, true, now, &when));
	cr_expect(!when.past && !when.window.known);
}

/* Moves the panes, so that the last one ends this long before `now`. */
static void move_panes(time_t now, u64 age_us)
{
	const u64 shift_us = (u64)now * 1000000 - panes.list[PANES - 1].end_us - age_us;

	for (size_t i = 0; i < PANES; i++) {
		panes.list[i].start_us += shift_us;
		panes.list[i].end_us += shift_us;
	}
}

/* Returns an alert that is firing since `fired`. The caller frees it. */
static char *firing_since(time_t fired)
{
	char time_text[TEXT_TIME_MAX], *text;

	text_time(&(struct timespec){.tv_sec = fired}, time_text);
	cr_assert_gt(
		asprintf(
			&text,
			"[{\"rule\":\"slow\",\"cgroup\":\"/a\",\"state\":\"firing\",\"since\":\"%s\",\"fired\":\"%s\"}]",
			time_text, time_text),
		0);
	return text;
}

/* Returns `since` and, unless it is 0, `until` as parameters. The caller frees them. */
static char *range_of(time_t since, time_t until)
{
	char since_text[TEXT_TIME_MAX], until_text[TEXT_TIME_MAX], *text;

	text_time(&(struct timespec){.tv_sec = since}, since_text);
	text_time(&(struct timespec){.tv_sec = until}, until_text);
	cr_assert_gt(asprintf(&text, "\"since\":\"%s\"%s%s%s", since_text, until ? ",\"until\":\"" : "",
			      until ? until_text : "", until ? "\"" : ""),
		     0);
	return text;
}

static time_t time_of(json_object *reply, const char *key)
{
	time_t found = 0;

	cr_assert_eq(text_parse_time(json_get_text(reply, key), &found), 0);
	return found;
}

/* The history cannot contain the future. */
Test(control_past, the_future_is_not_a_gap)
{
	const time_t now = time(NULL);
	_cleanup_free_ char *alerts = firing_since(now - 60), *range = range_of(now - 120, now + 3600);
	_cleanup_free_ char *later = range_of(now + 600, now + 3600), *explained = NULL;
	_cleanup_json_ json_object *reply = NULL, *explanation = NULL, *nothing = NULL;

	move_panes(now, 8000000);
	replies.alerts = alerts;
	reply = ask("GetAlerts", range);
	cr_expect_str_eq(json_get_text(at(json_get_array(reply, "alerts"), 0), "state"), "firing");
	cr_expect_eq(json_object_array_length(json_get_array(reply, "gaps")), 0U, "%s",
		     json_object_to_json_string(reply));
	cr_expect_leq(time_of(reply, "taken"), now + 60);
	cr_assert_gt(asprintf(&explained, "%s,\"rule\":\"slow\",\"cgroup\":\"/a\"", range), 0);
	explanation = ask("Explain", explained);
	cr_expect_str_eq(json_get_text(at(json_get_array(explanation, "judged"), 0), "state"), "firing");
	cr_expect_leq(time_of(explanation, "taken"), now + 60);
	replies.asked = 0;
	nothing = ask("GetAlerts", later);
	cr_expect_eq(json_object_array_length(json_get_array(nothing, "gaps")), 0U);
	cr_expect_eq(replies.asked, 1, "only the alerts");
}

/* With a collection interval of 60 s the newest pane is often a minute old. */
Test(control_past, alerts_are_known_between_two_collections)
{
	static const struct {
		time_t until; /* seconds before now; 0: open */
		u64 age_us;   /* of the newest pane */
		double interval_seconds;
		const char *state;
	} times[] = {
		{0, 50000000, 60, "firing"},   {0, 100000000, 60, "firing"}, {20, 50000000, 60, "firing"},
		{0, 140000000, 60, "unknown"}, {0, 50000000, 10, "unknown"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		const time_t now = time(NULL);
		_cleanup_free_ char *alerts = firing_since(now - 200);
		_cleanup_free_ char *range = range_of(now - 190, times[i].until ? now - times[i].until : 0);
		_cleanup_json_ json_object *reply = NULL;

		move_panes(now, times[i].age_us);
		replies.alerts = alerts;
		replies.interval_seconds = times[i].interval_seconds;
		reply = ask("GetAlerts", range);
		cr_expect_str_eq(json_get_text(at(json_get_array(reply, "alerts"), 0), "state"),
				 times[i].state, "%zu: %s", i, json_object_to_json_string(reply));
	}
}

/* The last seconds are not stored yet. */
Test(control_past, an_end_that_is_not_stored_yet_is_not_a_gap)
{
	time_t now = time(NULL);
	char text[128], start_text[TEXT_TIME_MAX];
	_cleanup_json_ json_object *top = NULL;

	move_panes(now, 8000000);
	text_time(&(struct timespec){.tv_sec = now - 100}, start_text);
	(void)snprintf(text, sizeof(text), "\"since\":\"%s\"", start_text);
	top = ask("GetTop", text);
	cr_expect_eq(json_object_array_length(json_get_array(top, "gaps")), 0U, "%s",
		     json_object_to_json_string(json_get_array(top, "gaps")));
}

Test(control_past, history_is_divided_into_bins)
{
	_cleanup_json_ json_object *history =
		ask("GetHistory", "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T06:07:40Z\","
				  "\"bins\":2,\"cgroup\":\"/shop/b\",\"histograms\":true");
	json_object *bins = json_get_array(history, "bins"), *first, *last, *event_of;

	/* 460 s in two bins: of 23 panes of 10 s at most, so each has 23 parts. */
	cr_expect_eq(replies.bins, 46U);
	cr_expect_str_eq(replies.path, "/shop/b");
	cr_expect_eq(number(history, "bin_s"), 230);
	cr_assert_eq(json_object_array_length(bins), 2U);
	first = at(bins, 0);
	last = at(bins, 1);
	cr_expect_str_eq(json_get_text(first, "since"), "2026-11-21T06:00:00Z");
	cr_expect_str_eq(json_get_text(first, "until"), "2026-11-21T06:03:50Z");
	cr_expect_eq(number(first, "covered_s"), 170);
	event_of = json_get_object(json_get_object(first, "events"), "loads");
	cr_expect_eq(number(event_of, "samples"), 17 * 100 + 16);
	cr_expect_eq(number(event_of, "confidence"), 0.95);
	cr_expect_not_null(
		json_get_object(json_get_object(json_get_object(event_of, "latency"), "p99"), "bounds"));
	cr_expect_not_null(json_get_array(json_get_object(json_get_object(event_of, "sources"), "local_dram"),
					  "histogram"));
	cr_expect_float_eq(number(json_get_object(json_get_object(first, "waits"), "wait"), "value"), 0.25,
			   0.01);
	cr_expect_float_eq(number(json_get_object(json_get_object(last, "waits"), "wait"), "value"), 0.49,
			   0.03);
	cr_expect_gt(number(json_get_object(json_get_object(first, "waits"), "wait"), "high"), 0.25);
	cr_expect_lt(number(json_get_object(json_get_object(first, "waits"), "wait"), "low"), 0.25);
	cr_expect_eq(json_object_array_length(json_get_array(history, "gaps")), 1U);
}

/* A cgroup with samples in one pane of ten, compared over all of them. */
Test(control_past, rates_of_a_bin_are_those_of_its_whole_time)
{
	const char *range = "\"since\":\"2026-11-21T06:02:40Z\",\"until\":\"2026-11-21T06:04:20Z\"";
	struct counters running = some_counts(200, 1000003), stalled = some_counts(100, 500009);
	_cleanup_json_ json_object *history = NULL, *cgroup = NULL;
	char parameters[200];

	/* The events of a pane are numbered in the order in which make_panes() adds them: loads, cycles, stalls. */
	some_panes_row(&panes.list[15], "/shop/c", 1, &running);
	some_panes_row(&panes.list[15], "/shop/c", 2, &stalled);
	(void)snprintf(parameters, sizeof(parameters), "%s,\"cgroup\":\"/shop/c\"", range);
	cgroup = ask("GetCgroup", parameters);
	(void)snprintf(parameters, sizeof(parameters), "%s,\"cgroup\":\"/shop/c\",\"bins\":1", range);
	history = ask("GetHistory", parameters);
	cr_assert_eq(json_object_array_length(json_get_array(history, "bins")), 1U);
	cr_assert_eq(number(at(json_get_array(history, "bins"), 0), "covered_s"), 100);
	for (enum wait_figure figure = 0; figure < WAIT_FIGURES; figure++) {
		const char *name = wait_figure_name(figure);
		json_object *of_cgroup = json_get_object(json_get_object(cgroup, "waits"), name);
		json_object *of_bin = json_get_object(
			json_get_object(at(json_get_array(history, "bins"), 0), "waits"), name);

		cr_assert_eq(of_cgroup == NULL, of_bin == NULL, "%s", name);
		if (of_cgroup)
			cr_expect_float_eq(number(of_bin, "value"), number(of_cgroup, "value"), 1e-5,
					   "%s: %f, %f", name, number(of_bin, "value"),
					   number(of_cgroup, "value"));
	}
	cr_expect_not_null(json_get_object(json_get_object(cgroup, "waits"), "cores_lost"));
}

/* A day in hours: of all cgroups, each hour has six parts of 10 minutes, which are stored. */
Test(control_past, long_history_of_all_cgroups_has_parts_of_long_spans)
{
	const char *day = "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-22T06:00:00Z\",\"bins\":24";
	char text[160];

	json_object_put(ask("GetHistory", day));
	cr_expect(replies.sum);
	cr_expect_eq(replies.bins, 24 * 6U, "%u", replies.bins);
	(void)snprintf(text, sizeof(text), "%s,\"cgroup\":\"/shop/a\"", day);
	json_object_put(ask("GetHistory", text));
	cr_expect_not(replies.sum);
	cr_expect_eq(replies.bins, 24 * 30U, "%u", replies.bins);
}

/* 460 s, of which 60 s are missing: each of the 11 bins is longer than four panes. */
Test(control_past, trend_divides_the_whole_range_by_the_collected_time)
{
	_cleanup_json_ json_object *cgroup =
		ask("GetCgroup", "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T06:07:40Z\","
				 "\"trend\":11,\"cgroup\":\"/shop/a\"");
	json_object *trend =
		json_get_object(json_get_object(json_get_object(cgroup, "events"), "loads"), "trend");
	json_object *samples = json_get_array(trend, "samples"),
		    *covered = json_get_array(trend, "covered_s");
	double all = 0;

	cr_expect_float_eq(number(trend, "bin_s"), 460.0 / 11, 0.001);
	cr_assert(samples && covered && json_object_array_length(covered) == 11, "%s",
		  json_object_to_json_string(trend));
	for (size_t i = 0; i < 11; i++) {
		double seconds = json_object_get_double(at(covered, i));

		all += seconds;
		cr_expect_float_eq(json_object_get_double(at(samples, i)) / seconds, 10.1, 0.11, "bin %zu",
				   i);
	}
	cr_expect_float_eq(all, 400, 0.1);
}

Test(control_past, trend_may_not_be_longer_than_the_range)
{
	_cleanup_json_ json_object *reply =
		ask("GetCgroup", "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T06:07:40Z\","
				 "\"trend\":11,\"trend_s\":461,\"cgroup\":\"/shop/a\"");

	cr_expect_str_eq(json_get_text(json_get_object(reply, "parameters"), "parameter"), "trend");
}

/* Without a cgroup: all of them. A bin without a pane is left out, and a bin of one pane has no bounds. */
Test(control_past, history_of_all_cgroups_leaves_out_empty_bins)
{
	_cleanup_json_ json_object *history =
		ask("GetHistory",
		    "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T06:03:00Z\",\"bins\":18");
	json_object *bins = json_get_array(history, "bins"), *event_of;

	cr_expect_eq(replies.bins, 18U);
	cr_expect(replies.sum, "the keeper adds up the cgroups");
	cr_assert_eq(json_object_array_length(bins), 12U);
	cr_expect_str_eq(json_get_text(at(bins, 10), "since"), "2026-11-21T06:02:40Z");
	event_of = json_get_object(json_get_object(at(bins, 0), "events"), "loads");
	cr_expect_eq(number(event_of, "samples"), 200);
	cr_expect_null(json_get(event_of, "confidence"));
	cr_expect_null(json_get(history, "next"));
}

/* A range that ends now ends with the newest pane, but the keeper divided the whole range. */
Test(control_past, bins_of_a_range_that_ends_now_are_those_of_the_whole_range)
{
	static const char *const ends[] = {"2026-11-21T06:00:30Z", "2026-11-21T06:01:00Z",
					   "2026-11-21T06:01:10Z"};
	_cleanup_json_ json_object *history = NULL;
	json_object *bins;

	replies.newest_us = SOME_PANES_START_US + 70 * 1000000ULL;
	history = ask("GetHistory",
		      "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T06:01:30Z\",\"bins\":3");
	bins = json_get_array(history, "bins");
	cr_expect_eq(number(history, "bin_s"), 30);
	cr_expect_str_eq(json_get_text(history, "until"), ends[2]);
	cr_assert_eq(json_object_array_length(bins), 3U);
	for (size_t i = 0; i < 3; i++)
		cr_expect_str_eq(json_get_text(at(bins, i), "until"), ends[i]);
}

Test(control_past, history_comes_in_pages)
{
	size_t n = 0, pages = 0;
	u64 next = 0;
	bool more;

	for (size_t i = 0; i < PANES; i++)
		for (size_t j = 0; j < 600; j++) {
			struct counters counters = some_loads(1, 0);
			char path[32];

			(void)snprintf(path, sizeof(path), "/x/%zu", j);
			some_panes_row(&panes.list[i], path, 0, &counters);
		}
	do {
		_cleanup_json_ json_object *page = NULL;
		char text[160];

		(void)snprintf(text, sizeof(text),
			       "\"since\":\"2026-11-21T06:00:00Z\",\"until\":\"2026-11-21T06:07:40Z\","
			       "\"bins\":46,\"offset\":%llu",
			       (unsigned long long)next);
		page = ask("GetHistory", text);
		n += json_object_array_length(json_get_array(page, "bins"));
		more = json_get_u64(page, "next", &next);
		pages++;
	} while (more && pages < 10);
	cr_expect_eq(n, PANES);
	cr_expect_eq(pages, 2U);
}

static const char *verdict(json_object *figure)
{
	const char *text = json_get_text(figure, "verdict");

	return text ? text : "(none)";
}

Test(control_past, two_times_can_be_compared)
{
	_cleanup_json_ json_object *reply =
		ask("Compare", "\"a\":{\"cgroup\":\"/shop/b\",\"since\":\"2026-11-21T06:00:00Z\","
			       "\"until\":\"2026-11-21T06:04:20Z\"},\"b\":{\"cgroup\":\"/shop/b\","
			       "\"since\":\"2026-11-21T06:04:20Z\",\"until\":\"2026-11-21T06:07:40Z\"}");
	json_object *event_of = json_get_object(json_get_object(reply, "events"), "loads"), *dram, *wait;

	cr_assert_not_null(event_of, "%s", json_object_to_json_string(reply));
	cr_expect_str_eq(json_get_text(json_get_object(reply, "a"), "cgroup"), "/shop/b");
	cr_expect_eq(number(json_get_object(reply, "a"), "window_s"), 200);
	cr_expect_eq(json_object_array_length(json_get_array(json_get_object(reply, "a"), "gaps")), 1U);
	dram = json_get_object(json_get_object(event_of, "sources"), "local_dram");
	cr_expect_str_eq(verdict(dram), "proven");
	cr_expect_float_eq(number(dram, "difference"), 41.0 / 131 - 11.0 / 101, 0.002);
	cr_expect(number(dram, "low") > 0.1 && number(dram, "high") < 0.3);
	cr_expect_str_eq(verdict(json_get_object(json_get_object(event_of, "latency"), "mean")), "proven");
	cr_expect_str_eq(verdict(json_get_object(json_get_object(event_of, "latency"), "p50")), "not_proven");
	wait = json_get_object(json_get_object(reply, "waits"), "wait");
	cr_expect_str_eq(verdict(wait), "proven");
	cr_expect_float_eq(number(wait, "difference"), 0.25, 0.01);
	/* p50, p90, p99, mean, two sources; wait, cores used and lost. */
	cr_expect_eq(number(reply, "comparisons"), 9);
	cr_expect_eq(number(json_object_array_get_idx(json_get_array(event_of, "histogram"), 0), "le"), 64);
}

Test(control_past, equal_cgroups_do_not_differ_in_a_comparison)
{
	_cleanup_json_ json_object *reply = ask("Compare", "\"a\":{\"cgroup\":\"/shop/a\"," RANGE
							   "},\"b\":{\"cgroup\":\"/shop/b\"," RANGE "}");
	json_object *event_of = json_get_object(json_get_object(reply, "events"), "loads");

	cr_expect_str_eq(verdict(json_get_object(json_get_object(event_of, "latency"), "mean")),
			 "not_proven");
	cr_expect_str_eq(verdict(json_get_object(json_get_object(event_of, "sources"), "local_dram")),
			 "not_proven");
	/* /shop/a has no counts. */
	cr_expect_str_eq(verdict(json_get_object(json_get_object(reply, "waits"), "wait")), "no_value");
}

Test(control_past, compare_says_which_events_it_cannot_compare)
{
	_cleanup_json_ json_object *reply = NULL;
	json_object *notes;

	loads.ldlat = 60;
	for (size_t i = PANES / 2; i < PANES; i++)
		some_panes_settings(&panes.list[i], 0,
				    "{\"origin\":\"perf\",\"role\":\"loads\",\"pmu\":\"cpu\",\"ldlat\":60,"
				    "\"latency_kind\":\"use\",\"latency\":true,\"source\":true}");
	reply = ask("Compare", "\"a\":{\"cgroup\":\"/shop/b\",\"since\":\"2026-11-21T06:00:00Z\","
			       "\"until\":\"2026-11-21T06:04:20Z\"},\"b\":{\"cgroup\":\"/shop/b\","
			       "\"since\":\"2026-11-21T06:04:20Z\",\"until\":\"2026-11-21T06:07:40Z\"}");
	loads.ldlat = 30;
	notes = json_get_array(reply, "notes");
	cr_expect_null(json_get_object(json_get_object(reply, "events"), "loads"), "%s",
		       json_object_to_json_string(reply));
	cr_assert_gt(json_object_array_length(notes), 0U);
	cr_expect_str_eq(json_object_get_string(at(notes, 0)),
			 "loads is not compared: one side has another latency threshold (ldlat)");
}

/* The past has loads, the present has those of each kind of core. */
Test(control_past, compare_names_the_events_that_one_side_lacks)
{
	static const char *const expected[] = {"loads is not compared: one side has no such event",
					       "loads:cpu_core is not compared: one side has no such event"};
	_cleanup_json_ json_object *reply =
		ask("Compare", "\"a\":{\"cgroup\":\"/shop/b\"," RANGE "},\"b\":{\"cgroup\":\"/\"}");
	json_object *notes = json_get_array(reply, "notes");

	cr_expect_eq(json_object_object_length(json_get_object(reply, "events")), 0);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		bool found = false;

		for (size_t j = 0; notes && j < json_object_array_length(notes); j++)
			found |= strcmp(json_object_get_string(at(notes, j)), expected[i]) == 0;
		cr_expect(found, "%s: %s", expected[i], json_object_to_json_string(notes));
	}
}

/* The present needs no history. Without a window nothing is known about bursts. */
Test(control_past, two_cgroups_can_be_compared_at_present)
{
	_cleanup_json_ json_object *reply =
		ask("Compare", "\"a\":{\"cgroup\":\"/\"},\"b\":{\"cgroup\":\"/system.slice/db.service\"}");
	_cleanup_json_ json_object *none = ask("Compare", "\"a\":{\"cgroup\":\"/nothing\"},\"b\":{}");
	json_object *event_of = json_get_object(json_get_object(reply, "events"), "loads:cpu_core");

	cr_expect_eq(replies.asked, 0);
	cr_expect_str_eq(verdict(json_get_object(json_get_object(event_of, "latency"), "p50")), "no_bounds",
			 "%s", json_object_to_json_string(reply));
	cr_expect_str_eq(json_get_text(none, "error"), "io.pebsd.NoSuchCgroup");
	cr_expect_str_eq(json_get_text(json_get_object(none, "parameters"), "cgroup"), "/nothing");
}
