// SPDX-License-Identifier: GPL-2.0
/* GetRules, GetAlerts, Explain and GetNeighbours on the control socket, answered by a real policy. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/json_get.h"
#include "control_fixture.h"
#include "example_policy.h"
#include "example_snapshot.h"
#include "export/control/control.h"
#include "export/control/control_interface.h"
#include "export/json/json_rules.h"
#include "history/shared/history_pane.h"
#include "varlink_peer.h"

struct backend {
	int snapshot_error;
	int neighbours_error;
	const char *path; /* path of the first cgroup; NULL: unchanged */
	char asked[64];   /* the cgroup whose neighbours were asked for */
	struct policy *policy;
	const struct no_slot *no_slot;
};

static struct backend backend;

static int fd; /* a client's connection */

static int snapshot(void *userdata, const struct maybe_double *window_seconds, const struct snapshot **ret)
{
	const struct backend *state = userdata;
	struct snapshot *example = example_perf();

	cr_expect_not(window_seconds->known);
	if (state->snapshot_error)
		return state->snapshot_error;
	if (state->path)
		example->cgroups[0].path = state->path;
	example->no_slot = state->no_slot;
	*ret = example;
	return 0;
}

static const struct policy *policy_of(void *userdata)
{
	const struct backend *state = userdata;

	return state->policy;
}

static int neighbours(void *userdata, const char *path, struct neighbours_report **ret)
{
	struct backend *state = userdata;

	(void)snprintf(state->asked, sizeof(state->asked), "%s", path);
	if (state->neighbours_error)
		return state->neighbours_error;
	*ret = example_neighbours();
	return *ret ? 0 : -ENOMEM;
}

static void start(void)
{
	const struct control_backend callbacks = {
		.snapshot = snapshot, .policy = policy_of, .neighbours = neighbours, .userdata = &backend};

	backend.policy = example_policy();
	cr_assert_not_null(backend.policy);
	control_fixture_start(&callbacks, NULL);
	fd = peer_connect(socket_path);
}

static void stop(void)
{
	(void)close(fd);
	control_fixture_stop();
	policy_free(backend.policy);
}

TestSuite(control_policy, .init = start, .fini = stop);

static void expect_invalid(const char *text, const char *parameter)
{
	expect_invalid_reply(call(fd, text), text, parameter);
}

/* Returns the item of an array whose member `key` is `text`, or NULL. */
static json_object *item_of(json_object *array, const char *key, const char *text)
{
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		json_object *item = json_object_array_get_idx(array, i);

		if (json_get_text(item, key) && strcmp(json_get_text(item, key), text) == 0)
			return item;
	}
	return NULL;
}

Test(control_policy, rules_have_the_cgroups_that_they_judge)
{
	_cleanup_json_ json_object *reply = call(fd, "{\"method\":\"io.pebsd.GetRules\"}");
	json_object *rules = json_get_array(reply, "rules");
	json_object *slow;
	u64 firing = 7, pending = 7;

	cr_assert_not_null(rules, "%s", json_object_to_json_string(reply));
	cr_expect_str_eq(json_get_text(reply, "origin"), "perf");
	cr_expect_eq(json_object_array_length(rules), 4);
	slow = item_of(rules, "rule", "slow-db");
	cr_expect_eq(json_object_array_get_idx(rules, 0), slow,
		     "they come in the order of the configuration");
	cr_expect(json_get_u64(json_get(slow, "cgroups"), "firing", &firing) && firing == 1);
	cr_expect(json_get_u64(json_get(slow, "cgroups"), "pending", &pending) && pending == 0);
	cr_expect_null(json_get(json_get(slow, "cgroups"), "inactive"), "/ is none of its cgroups");
	expect_invalid("{\"method\":\"io.pebsd.GetRules\",\"parameters\":{\"x\":1}}", "x");
}

Test(control_policy, alerts_are_listed)
{
	_cleanup_json_ json_object *reply = call(fd, "{\"method\":\"io.pebsd.GetAlerts\"}");
	json_object *alert = item_of(json_get_array(reply, "alerts"), "rule", "slow-db");
	double low = 0, threshold = 0;
	u64 number = 0;

	cr_assert_not_null(alert, "%s", json_object_to_json_string(reply));
	cr_expect(json_get_u64(alert, "alert", &number) && number >= 17);
	cr_expect_str_eq(json_get_text(alert, "state"), "firing");
	cr_expect_str_eq(json_get_text(alert, "cgroup"), "/system.slice/db.service");
	cr_expect_str_eq(json_get_text(alert, "event"), "loads");
	cr_expect(json_get_double(alert, "above", &threshold) && threshold == 896);
	cr_expect(json_get_double(alert, "low", &low) && low >= threshold);
	cr_expect_not_null(json_get_text(alert, "breached"));
	expect_invalid("{\"method\":\"io.pebsd.GetAlerts\",\"parameters\":{\"rule\":\"x\"}}", "rule");
}

#define EXPLAIN(rule, cgroup) \
	"{\"method\":\"io.pebsd.Explain\",\"parameters\":{\"rule\":\"" rule "\",\"cgroup\":\"" cgroup "\"}}"

Test(control_policy, an_alert_is_explained)
{
	_cleanup_json_ json_object *reply = call(fd, EXPLAIN("slow-db", "/system.slice/db.service"));
	json_object *judged = json_object_array_get_idx(json_get_array(reply, "judged"), 0);

	cr_assert_not_null(judged, "%s", json_object_to_json_string(reply));
	cr_expect_str_eq(json_get_text(json_get(reply, "rule"), "rule"), "slow-db");
	cr_expect_str_eq(json_get_text(judged, "state"), "firing");
	cr_expect_gt(json_object_array_length(json_get_array(judged, "sentences")), 3);
}

/* Returns the last sentence of a reply to Explain, or "". Valid as long as the reply. */
static const char *last_sentence(json_object *reply)
{
	json_object *judged = json_object_array_get_idx(json_get_array(reply, "judged"), 0);
	json_object *list = json_get_array(judged, "sentences");
	size_t n = list ? json_object_array_length(list) : 0;

	return n ? json_object_get_string(json_object_array_get_idx(list, n - 1)) : "";
}

/* Only a question about the past limits the length of the name. */
Test(control_policy, a_long_name_is_refused_only_for_the_past)
{
	_cleanup_free_ char *present = NULL, *past = NULL, *text = NULL;
	static char name[HISTORY_TEXT_MAX + 1];

	memset(name, 'x', HISTORY_TEXT_MAX);
	name[0] = '/';
	cr_assert_gt(
		asprintf(
			&present,
			"{\"method\":\"io.pebsd.Explain\",\"parameters\":{\"rule\":\"slow-db\",\"cgroup\":\"%s\"}}",
			name),
		0);
	cr_assert_gt(
		asprintf(
			&past,
			"{\"method\":\"io.pebsd.Explain\",\"parameters\":{\"rule\":\"slow-db\",\"cgroup\":\"%s\",\"since\":\"2026-11-21T06:00:00Z\"}}",
			name),
		0);
	peer_call(event, fd, present);
	text = peer_receive(event, fd, NULL);
	cr_assert_not_null(text);
	cr_expect_not_null(strstr(text, "NoSuchCgroup"), "%.80s", text);
	expect_invalid(past, "cgroup");
}

Test(control_policy, an_explanation_names_the_neighbours_that_may_be_the_cause)
{
	static const char suspect[] =
		"/batch may disturb this cgroup: in the last 5min 0s its traffic rose when this cgroup's latency rose, by more than chance and this cgroup's own traffic explain (strength 0.80, needed 0.50)";
	_cleanup_json_ json_object *reply = call(fd, EXPLAIN("slow-db", "/system.slice/db.service"));
	_cleanup_json_ json_object *without = NULL;

	cr_expect_str_eq(last_sentence(reply), suspect);
	cr_expect_str_eq(backend.asked, "/system.slice/db.service");
	/* It is explained all the same if the neighbours are not known. */
	backend.neighbours_error = -ENODATA;
	without = call(fd, EXPLAIN("slow-db", "/system.slice/db.service"));
	cr_expect_str_neq(last_sentence(without), "");
	cr_expect_null(strstr(last_sentence(without), "may disturb this cgroup"));
}

Test(control_policy, an_unknown_rule_or_cgroup_is_an_error)
{
	peer_expect(event, fd, EXPLAIN("no-such", "/system.slice/db.service"),
		    "{\"error\":\"io.pebsd.NoSuchRule\",\"parameters\":{\"rule\":\"no-such\"}}");
	peer_expect(event, fd, EXPLAIN("slow-db", "/never"),
		    "{\"error\":\"io.pebsd.NoSuchCgroup\",\"parameters\":{\"cgroup\":\"/never\"}}");
	/* This cgroup has samples, but the rule does not cover it. */
	peer_expect(event, fd, EXPLAIN("slow-db", "/"),
		    "{\"error\":\"io.pebsd.NoSuchCgroup\",\"parameters\":{\"cgroup\":\"/\"}}");
	expect_invalid("{\"method\":\"io.pebsd.Explain\",\"parameters\":{\"cgroup\":\"/\"}}", "rule");
	expect_invalid("{\"method\":\"io.pebsd.Explain\",\"parameters\":{\"rule\":\"slow-db\"}}", "cgroup");
	expect_invalid("{\"method\":\"io.pebsd.Explain\",\"parameters\":{\"rule\":1,\"cgroup\":\"/\"}}",
		       "rule");
	expect_invalid(
		"{\"method\":\"io.pebsd.Explain\",\"parameters\":{\"rule\":\"a\",\"cgroup\":\"/\",\"x\":1}}",
		"x");
}

/* A subtree is judged even if the cgroup at its top has no samples of its own. */
Test(control_policy, the_policy_finds_a_cgroup_above_sampled_ones)
{
	_cleanup_json_ json_object *reply = call(fd, EXPLAIN("remote", "/system.slice"));
	json_object *judged = json_object_array_get_idx(json_get_array(reply, "judged"), 0);
	u64 samples = 0;

	cr_assert_not_null(judged, "%s", json_object_to_json_string(reply));
	cr_expect_str_eq(json_get_text(judged, "cgroup"), "/system.slice");
	cr_expect(json_get_u64(judged, "samples", &samples) && samples >= 6000);
}

static bool says(json_object *judged, const char *text)
{
	json_object *sentences = json_get_array(judged, "sentences");

	for (size_t i = 0; sentences && i < json_object_array_length(sentences); i++)
		if (strcmp(json_object_get_string(json_object_array_get_idx(sentences, i)), text) == 0)
			return true;
	return false;
}

Test(control_policy, cgroups_of_a_subtree_without_a_slot_are_explained)
{
	static char *paths[] = {(char *)"/system.slice/a/b.service", (char *)"/system.slice/new.service",
				(char *)"/user.slice/x\xff/y"};
	static const struct no_slot no_slot = {.paths = paths, .n = 3};
	_cleanup_json_ json_object *seen = NULL, *unseen = NULL;
	json_object *judged;
	u64 without = 0;

	backend.no_slot = &no_slot;
	policy_set_no_slot(backend.policy, &no_slot);
	seen = call(fd, EXPLAIN("remote", "/system.slice"));
	judged = json_object_array_get_idx(json_get_array(seen, "judged"), 0);
	cr_assert_not_null(judged, "%s", json_object_to_json_string(seen));
	cr_expect_str_eq(json_get_text(judged, "state"), "firing");
	cr_expect(json_get_u64(judged, "subtree_without_slot", &without) && without == 2);
	cr_expect(
		says(judged,
		     "2 cgroups at and below /system.slice have no slot now: their samples are not in the value"),
		"%s", json_object_to_json_string(judged));

	/* Nothing of this subtree ever had a sample. */
	unseen = call(fd, EXPLAIN("remote", "/user.slice"));
	judged = json_object_array_get_idx(json_get_array(unseen, "judged"), 0);
	cr_assert_not_null(judged, "%s", json_object_to_json_string(unseen));
	cr_expect_str_eq(json_get_text(judged, "cgroup"), "/user.slice");
	cr_expect_str_eq(json_get_text(judged, "state"), "unknown");
	cr_expect_str_eq(json_get_text(judged, "unknown"), "subtree_no_slot");
	cr_expect(json_get_u64(judged, "subtree_without_slot", &without) && without == 1);
	peer_expect(event, fd, EXPLAIN("slow-db", "/user.slice"),
		    "{\"error\":\"io.pebsd.NoSuchCgroup\",\"parameters\":{\"cgroup\":\"/user.slice\"}}");
}

/* The cgroup has samples, but the policy knows of none: the reply has no judged item and is not an error. */
Test(control_policy, a_cgroup_without_samples_of_the_event_is_explained)
{
	_cleanup_json_ json_object *reply = NULL;

	backend.path = "/system.slice/db-\xff.service";
	reply = call(fd, EXPLAIN("slow-db", "/system.slice/db-\xef\xbf\xbd"
					    "ff.service"));
	cr_assert_not_null(json_get_array(reply, "judged"), "%s", json_object_to_json_string(reply));
	cr_expect_eq(json_object_array_length(json_get_array(reply, "judged")), 0);
}

#define NEIGHBOURS(cgroup) \
	"{\"method\":\"io.pebsd.GetNeighbours\",\"parameters\":{\"cgroup\":\"" cgroup "\"}}"

Test(control_policy, neighbours_of_a_cgroup_are_ranked)
{
	_cleanup_json_ json_object *reply = NULL;

	/* The client asks with the path as it is shown, and pebsd looks up the cgroup by its real path. */
	backend.path = "/db\xff";
	reply = call(fd, NEIGHBOURS("/db\xef\xbf\xbd"
				    "ff"));
	cr_assert_not_null(json_get_text(reply, "verdict"), "%s", json_object_to_json_string(reply));
	cr_expect_str_eq(json_get_text(reply, "verdict"), "named");
	cr_expect_str_eq(json_get_text(reply, "cgroup"), "/db\xef\xbf\xbd"
							 "ff");
	cr_expect_str_eq(backend.asked, "/db\xff");
	cr_expect_not_null(item_of(json_get_array(reply, "neighbours"), "cgroup", "/batch"));
}

Test(control_policy, unavailable_neighbours_are_an_error_with_the_reason)
{
	peer_expect(event, fd, NEIGHBOURS("/never"),
		    "{\"error\":\"io.pebsd.NoSuchCgroup\",\"parameters\":{\"cgroup\":\"/never\"}}");
	cr_expect_str_eq(backend.asked, "");
	backend.neighbours_error = -ENOENT;
	peer_expect(event, fd, NEIGHBOURS("/"),
		    "{\"error\":\"io.pebsd.NoSuchCgroup\",\"parameters\":{\"cgroup\":\"/\"}}");
	backend.neighbours_error = -ENODATA;
	peer_expect(
		event, fd, NEIGHBOURS("/"),
		"{\"error\":\"io.pebsd.NotMeasured\",\"parameters\":{\"what\":\"neighbours\",\"reason\":\"neighbours need an event of loads with a latency and a data source, and no such event is sampled\"}}");
	expect_invalid("{\"method\":\"io.pebsd.GetNeighbours\"}", "cgroup");
	expect_invalid("{\"method\":\"io.pebsd.GetNeighbours\",\"parameters\":{\"cgroup\":\"/\",\"x\":1}}",
		       "x");
}

Test(control_policy, neighbours_of_a_cgroup_without_a_slot_are_not_measured)
{
	static char *paths[] = {(char *)"/new.service"};
	static const struct no_slot no_slot = {.paths = paths, .n = 1};
	_cleanup_json_ json_object *reply = NULL;
	json_object *parameters;
	bool is_true = false;

	backend.no_slot = &no_slot;
	reply = call(fd, NEIGHBOURS("/new.service"));
	parameters = json_get(reply, "parameters");
	cr_assert_not_null(json_get_text(reply, "error"));
	cr_expect_str_eq(json_get_text(reply, "error"), "io.pebsd.NotMeasured");
	cr_expect(json_get_bool(parameters, "no_slot", &is_true) && is_true);
	cr_expect_not_null(strstr(json_get_text(parameters, "reason"), "has no slot"));
	cr_expect_str_eq(json_get_text(parameters, "what"), "neighbours");
	peer_expect(event, fd, NEIGHBOURS("/new.servic"),
		    "{\"error\":\"io.pebsd.NoSuchCgroup\",\"parameters\":{\"cgroup\":\"/new.servic\"}}");
}

Test(control_policy, before_the_first_collection_requests_are_not_measured)
{
	static const char *const calls[] = {"{\"method\":\"io.pebsd.GetRules\"}",
					    "{\"method\":\"io.pebsd.GetAlerts\"}", EXPLAIN("slow-db", "/"),
					    NEIGHBOURS("/")};

	backend.snapshot_error = -ENODATA;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		peer_expect(event, fd, calls[i],
			    "{\"error\":\"io.pebsd.NotMeasured\",\"parameters\":{\"what\":\"samples\","
			    "\"reason\":\"nothing has been collected yet; try again in a few seconds\"}}");
}

/* Every client that can connect may ask. The mode of the socket decides which clients can connect. */
Test(control_policy, users_other_than_root_can_ask)
{
	_cleanup_free_ char *answer = call_as(
		65534, 0, "{\"method\":\"io.pebsd.GetNeighbours\",\"parameters\":{\"cgroup\":\"/\"}}");

	cr_expect_not_null(strstr(answer, "\"verdict\":\"named\""), "%s", answer);
}

/* The watch event of an alert, which control_publish() makes from json_transition(). */
Test(control_policy, watchers_get_alerts)
{
	_cleanup_free_ struct alert *alerts = NULL;
	_cleanup_json_ json_object *message = NULL;
	_cleanup_free_ char *got = NULL;
	struct transition transition = {.from = ALERT_PENDING, .to = ALERT_FIRING};
	json_object *item;
	size_t n;

	cr_assert_eq(policy_alerts(backend.policy, &alerts, &n), 0);
	cr_assert_gt(n, 0);
	transition.alert = alerts[0];
	transition.alert.cgroup = "/db\xff";
	peer_call(event, fd, "{\"method\":\"io.pebsd.Watch\",\"more\":true}");
	peer_settle(event);
	control_publish(control, "alert", "slow-db fires", json_transition(&transition));
	got = peer_receive(event, fd, NULL);
	cr_assert_not_null(got);
	cr_assert_eq(json_parse(got, strlen(got), 8, &message), 0, "%s", got);
	item = json_get_object(message, "parameters");
	cr_expect_str_eq(json_get_text(item, "event"), "alert");
	cr_expect_str_eq(json_get_text(item, "from"), "pending");
	cr_expect_str_eq(json_get_text(item, "state"), "firing");
	cr_expect_str_eq(json_get_text(item, "cgroup"), "/db\xef\xbf\xbd"
							"ff");
}

static bool is_described(const char *name, size_t length)
{
	_cleanup_free_ char *definition = NULL;

	cr_assert_gt(asprintf(&definition, "\ntype %.*s (", (int)length, name), 0);
	return strstr(control_interface_description, definition);
}

/* The description has each method, and each type that a member uses. */
Test(control_policy, the_interface_is_described)
{
	static const char *const definitions[] = {"\nmethod GetRules(", "\nmethod GetAlerts(",
						  "\nmethod Explain(", "\nmethod GetNeighbours(",
						  "\nerror NoSuchRule (rule: string)"};
	const char *text = control_interface_description;
	size_t types = 0;

	for (size_t i = 0; i < ARRAY_SIZE(definitions); i++)
		cr_expect_not_null(strstr(text, definitions[i]), "%s", definitions[i]);
	while ((text = strstr(text, ": "))) {
		const char *line = text;
		size_t length = 0;

		text += 2;
		while (line > control_interface_description && line[-1] != '\n')
			line--;
		if (*line == '#')
			continue;
		text += strspn(text, "?[]");
		text += strncmp(text, "string]", 7) == 0 ? 7 : 0;
		if (!isupper((unsigned char)*text))
			continue;
		while (isalnum((unsigned char)text[length]))
			length++;
		cr_expect(is_described(text, length), "%.*s is not a type", (int)length, text);
		types++;
	}
	cr_expect_gt(types, 20);
}
