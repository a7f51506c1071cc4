// SPDX-License-Identifier: GPL-2.0
/*
 * Serves invented rules, alerts, explanations and neighbours on a socket, for looking at pebsctl's screens by
 * hand. Nothing is measured or evaluated:
 *
 *     fake_policy SOCKET [some|none|many]
 *
 * `none` has no rule, and `many` has 1,000 alerts. `explain` knows the alerts that `alerts` shows. The
 * argument of `neighbours` is the word of the verdict. Ends with SIGTERM or SIGINT.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "base/text.h"
#include "varlink/varlink.h"

#define ERROR(name) "io.pebsd." name

#define POD                                                                                       \
	"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod2f1c9d4e_11aa_4c1e_9a70_" \
	"5b1f0e7d6c3b.slice/"                                                                     \
	"cri-containerd-77ab01f2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e."        \
	"scope"

static const char *const rules[] = {
	"{\"rule\":\"slow-database\",\"cgroup\":[\"/system.slice/postgresql*.service\"],\"event\":\"loads\","
	"\"metric\":\"p99\",\"unit\":\"cycles\",\"above\":900,\"judged_at\":896,\"clear\":700,"
	"\"clear_judged_at\":704,\"window_s\":30,\"for_s\":60,\"min_samples\":500,\"needs_samples\":299,"
	"\"confidence\":0.95,\"severity\":\"page\",\"subtree\":false,\"dry_run\":false,"
	"\"trust_owner\":false,\"action\":[\"log\",\"unit\"],\"cgroups\":{\"firing\":1,\"pending\":0,"
	"\"inactive\":2,\"unknown\":{\"samples\":3}}}",
	"{\"rule\":\"remote-loads\",\"cgroup\":[\"/kubepods.slice/**\",\"/machine.slice/**\"],"
	"\"event\":\"loads\",\"metric\":\"share:remote_dram\",\"unit\":\"share\",\"above\":0.3,"
	"\"clear\":0.2,\"window_s\":60,\"for_s\":300,\"min_samples\":500,\"needs_samples\":14,"
	"\"confidence\":0.99,\"severity\":\"warning\",\"subtree\":true,\"dry_run\":false,"
	"\"trust_owner\":true,\"action\":[\"log\"],\"cgroups\":{\"firing\":1,\"pending\":1,"
	"\"resolved\":1,\"inactive\":412,\"ignored\":2,\"unknown\":{\"samples\":1204,\"window\":3,"
	"\"multiplexed\":1}}}",
	"{\"rule\":\"store-storm\",\"cgroup\":[\"/**\"],\"event\":\"stores\",\"metric\":\"rate\","
	"\"unit\":\"per_second\",\"above\":50000000,\"clear\":25000000,\"window_s\":10,\"for_s\":0,"
	"\"min_samples\":0,\"needs_samples\":0,\"confidence\":0.95,\"severity\":\"info\",\"subtree\":false,"
	"\"dry_run\":true,\"trust_owner\":false,\"action\":[\"log\"],\"cgroups\":{\"firing\":0,"
	"\"pending\":0}}",
	"{\"rule\":\"slower-than-it-was\",\"cgroup\":[\"/system.slice/*\"],\"event\":\"loads\","
	"\"metric\":\"ratio:mean\",\"unit\":\"ratio\",\"above\":1.5,\"clear\":1.2,\"window_s\":60,"
	"\"for_s\":60,\"baseline_s\":3600,\"min_samples\":500,\"needs_samples\":1,\"confidence\":0.95,"
	"\"severity\":\"warning\",\"subtree\":false,\"dry_run\":false,\"trust_owner\":false,"
	"\"action\":[\"log\"],\"cgroups\":{\"firing\":0,\"pending\":0,\"inactive\":31,"
	"\"unknown\":{\"baseline\":4}}}",
};

struct invented {
	int ago; /* seconds since the alert began */
	size_t rule;
	const char *members;
	const char *sentences;
};

static const struct invented alerts[] = {
	{725, 0,
	 "\"alert\":17,\"rule\":\"slow-database\",\"cgroup\":\"/system.slice/postgresql@15-main.service\","
	 "\"event\":\"loads\",\"severity\":\"page\",\"state\":\"firing\",\"dry_run\":false,"
	 "\"metric\":\"p99\",\"unit\":\"cycles\",\"value\":912.5,\"low\":898,\"high\":960,\"samples\":20412,"
	 "\"above\":896,"
	 "\"clear\":704,\"window_s\":30,\"for_s\":60",
	 "\"it fires: at least 224 of 20,412 latencies above 896 cycles were needed to prove it, and 251 "
	 "are\","
	 "\"it resolves when at most 178 of 20,412 are above 704 cycles; 611 are\""},
	{3720, 1,
	 "\"alert\":12,\"rule\":\"remote-loads\",\"cgroup\":\"" POD
	 "\",\"event\":\"loads:cpu_core\",\"severity\":\"warning\",\"state\":\"unknown\","
	 "\"held\":\"firing\",\"unknown\":\"samples\",\"dry_run\":false,\"metric\":\"share:remote_dram\","
	 "\"unit\":\"share\","
	 "\"value\":0.4123,\"low\":0.2712,\"high\":0.5642,\"samples\":120,\"above\":0.3,\"clear\":0.2,"
	 "\"window_s\":60,\"for_s\":300",
	 "\"it is unknown: 120 samples came in the window, and 500 are needed\""},
	{21, 1,
	 "\"rule\":\"remote-loads\",\"cgroup\":\"/machine.slice/machine-qemu.scope\","
	 "\"event\":\"loads:cpu_core\",\"severity\":\"warning\",\"state\":\"pending\",\"dry_run\":false,"
	 "\"metric\":\"share:remote_dram\",\"unit\":\"share\",\"value\":0.3612,\"low\":0.3301,\"high\":0."
	 "3934,\"samples\":2011,\"above\":0.25,"
	 "\"clear\":0.16667,\"window_s\":60,\"for_s\":300,\"held_s\":21,"
	 "\"preference\":{\"threshold\":0.25}",
	 "\"it fires in 4min 39s if at least 536 of 2,011 samples stay remote_dram; 726 are\""},
	{60, 2,
	 "\"rule\":\"store-storm\",\"cgroup\":\"/system.slice/with space\\u001b[31m and colour.service\","
	 "\"event\":\"stores\",\"severity\":\"info\",\"state\":\"firing\",\"dry_run\":true,"
	 "\"metric\":\"rate\",\"unit\":\"per_second\",\"value\":71234567,\"low\":70112233,\"high\":72356901,"
	 "\"samples\":14238,\"above\":50000000,\"clear\":25000000,\"window_s\":10,\"for_s\":0",
	 "\"it would fire: the rate is proven above 50,000,000/s\""},
	{1900, 3,
	 "\"alert\":11,\"rule\":\"slower-than-it-was\",\"cgroup\":\"/system.slice/nginx.service\","
	 "\"event\":\"loads\",\"severity\":\"warning\",\"state\":\"resolved\",\"dry_run\":false,"
	 "\"metric\":\"ratio:mean\",\"unit\":\"ratio\",\"value\":1.04,\"low\":0.96,\"high\":1.17,\"samples\":"
	 "8123,"
	 "\"base_samples\":120345,\"above\":1.5,\"clear\":1.2,\"window_s\":60,\"for_s\":60,"
	 "\"end\":\"clear\"",
	 "\"it is resolved: the high bound, 1.17, is at or below 1.2\""},
};

static void put_time(json_object *object, const char *key, int ago)
{
	struct timespec then = {.tv_sec = time(NULL) - ago};
	char text[TEXT_TIME_MAX];

	text_time(&then, text);
	(void)json_object_object_add(object, key, json_object_new_string(text));
}

static json_object *parse(const char *text)
{
	json_object *object = json_tokener_parse(text);

	if (!object) {
		(void)fprintf(stderr, "fake_policy: no JSON: %s\n", text);
		abort();
	}
	return object;
}

static json_object *new_reply(void)
{
	return parse("{\"version\":1,\"origin\":\"perf\"}");
}

static json_object *invent(const struct invented *invented)
{
	_cleanup_free_ char *text = NULL;
	json_object *alert;
	const char *state;

	if (asprintf(&text, "{%s}", invented->members) < 0)
		abort();
	alert = parse(text);
	state = json_get_text(alert, "state");
	put_time(alert, "since", invented->ago);
	put_time(alert, "breached", invented->ago + 60);
	if (json_get(alert, "alert"))
		put_time(alert, "fired", invented->ago + (strcmp(state, "resolved") == 0 ? 600 : 0));
	if (strcmp(state, "resolved") == 0)
		put_time(alert, "resolved", invented->ago);
	return alert;
}

static int get_rules(struct varlink_call *call, json_object *parameters, void *userdata)
{
	json_object *reply = new_reply(), *list = json_object_new_array();

	(void)parameters;
	for (size_t i = 0; i < ARRAY_SIZE(rules) && strcmp(userdata, "none") != 0; i++)
		(void)json_object_array_add(list, parse(rules[i]));
	(void)json_object_object_add(reply, "rules", list);
	return varlink_reply(call, reply);
}

static int get_alerts(struct varlink_call *call, json_object *parameters, void *userdata)
{
	json_object *reply = new_reply(), *list = json_object_new_array();
	size_t n = strcmp(userdata, "none") == 0   ? 0
		   : strcmp(userdata, "many") == 0 ? 1000
						   : ARRAY_SIZE(alerts);

	(void)parameters;
	for (size_t i = 0; i < n; i++)
		(void)json_object_array_add(list, invent(&alerts[i % ARRAY_SIZE(alerts)]));
	(void)json_object_object_add(reply, "alerts", list);
	return varlink_reply(call, reply);
}

static int get_cgroup(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *cgroup = json_get_text(parameters, "cgroup");

	(void)userdata;
	if (cgroup && strcmp(cgroup, "/init.scope") == 0)
		return varlink_reply(call, new_reply());
	return varlink_error(call, ERROR("NoSuchCgroup"), json_object_get(parameters));
}

static int explain(struct varlink_call *call, json_object *parameters, void *userdata)
{
	const char *rule = json_get_text(parameters, "rule"), *cgroup = json_get_text(parameters, "cgroup");
	json_object *reply, *judged;

	(void)userdata;
	for (size_t i = 0; rule && cgroup && i < ARRAY_SIZE(alerts); i++) {
		_cleanup_free_ char *sentences = NULL;
		json_object *alert = invent(&alerts[i]);

		if (strcmp(json_get_text(alert, "rule"), rule) != 0 ||
		    strcmp(json_get_text(alert, "cgroup"), cgroup) != 0) {
			json_object_put(alert);
			continue;
		}
		if (asprintf(&sentences, "[%s]", alerts[i].sentences) < 0)
			abort();
		(void)json_object_object_add(alert, "min_samples", json_object_new_int(i == 3 ? 0 : 500));
		(void)json_object_object_add(alert, "sentences", parse(sentences));
		reply = new_reply();
		judged = json_object_new_array();
		(void)json_object_array_add(judged, alert);
		(void)json_object_object_add(reply, "rule", parse(rules[alerts[i].rule]));
		(void)json_object_object_add(reply, "judged", judged);
		return varlink_reply(call, reply);
	}
	for (size_t i = 0; rule && i < ARRAY_SIZE(rules); i++)
		if (strstr(rules[i], rule))
			return varlink_error(call, ERROR("NoSuchCgroup"), json_object_get(parameters));
	return varlink_error(call, ERROR("NoSuchRule"), json_object_get(parameters));
}

static int get_neighbours(struct varlink_call *call, json_object *parameters, void *userdata)
{
	static const char *const verdicts[] = {"named", "self", "nobody", "thin", "steady"};
	const char *cgroup = json_get_text(parameters, "cgroup");
	json_object *reply, *list = json_object_new_array();
	char text[1024];

	(void)userdata;
	for (size_t i = 0; cgroup && i < ARRAY_SIZE(verdicts); i++) {
		bool named = i == 0, thin = i == 3;

		if (strcmp(cgroup, verdicts[i]) != 0)
			continue;
		(void)snprintf(
			text, sizeof(text),
			"{\"version\":1,\"origin\":\"perf\",\"cgroup\":\"/system.slice/"
			"postgresql@15-main.service\",\"event\":\"loads\",\"traffic_from\":\"loads\",\"bin_s\":5,\"window_s\":300,"
			"\"bins\":%d,\"verdict\":\"%s\",\"self_strength\":%s,\"latency\":{\"slow\":412.4,"
			"\"fast\":181.2},\"nodes_known\":%s,\"apart\":%d}",
			thin ? 11 : 58, verdicts[i], i == 1 ? "0.83" : "0.12", i == 2 ? "false" : "true",
			i == 2 ? 0 : 12);
		reply = parse(text);
		for (int j = 0; j < 28 && !thin; j++) {
			(void)snprintf(text, sizeof(text),
				       "{\"cgroup\":\"%s\",\"named\":%s,\"strength\":%.3f,\"needed\":0.461,"
				       "\"lag_s\":%d,\"bins\":56,\"traffic\":{\"slow\":%.1f,\"fast\":%.1f}}",
				       j == 0 ? POD : "/system.slice/backup.service",
				       named && j == 0 ? "true" : "false", (named ? 0.84 : 0.41) - 0.03 * j,
				       j % 3 * 5, 1.4e7 / (j + 1), 2.1e5);
			(void)json_object_array_add(list, parse(text));
		}
		(void)json_object_object_add(reply, "neighbours", list);
		return varlink_reply(call, reply);
	}
	json_object_put(list);
	return varlink_error(call, ERROR("NoSuchCgroup"), json_object_get(parameters));
}

static int watch(struct varlink_call *call, json_object *parameters, void *userdata)
{
	(void)parameters;
	(void)userdata;
	return varlink_subscribe(call);
}

static int on_second(sd_event_source *source, u64 now, void *userdata)
{
	static size_t n;
	json_object *item = invent(&alerts[n % ARRAY_SIZE(alerts)]);

	(void)now;
	n++;
	put_time(item, "time", 0);
	(void)json_object_object_add(item, "event", json_object_new_string("alert"));
	(void)json_object_object_add(item, "text", json_object_new_string("an alert changed"));
	(void)json_object_object_add(item, "from", json_object_new_string("pending"));
	varlink_server_publish(userdata, item);
	json_object_put(item);
	(void)sd_event_source_set_time_relative(source, 1000000);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int listen_on(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		return -1;
	(void)strcpy(address.sun_path, path);
	(void)unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0)
		return -1;
	return fd;
}

int main(int argc, char **argv)
{
	static const struct varlink_method methods[] = {
		{.name = "GetRules", .handle = get_rules},
		{.name = "GetAlerts", .handle = get_alerts},
		{.name = "GetCgroup", .handle = get_cgroup},
		{.name = "Explain", .handle = explain},
		{.name = "Watch", .handle = watch, .needs_more = true},
		{.name = "GetNeighbours", .handle = get_neighbours},
	};
	struct varlink_service service = {.vendor = "pebsd",
					  .product = "fake_policy",
					  .version = "0",
					  .url = "",
					  .interface = "io.pebsd",
					  .description = "interface io.pebsd",
					  .methods = methods,
					  .n_methods = ARRAY_SIZE(methods)};
	struct varlink_server *server = NULL;
	sd_event *event = NULL;
	sigset_t mask;

	if (argc < 2)
		return 2;
	service.userdata = argc > 2 ? argv[2] : (char[]){"some"};
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGTERM);
	(void)sigaddset(&mask, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &mask, NULL);
	if (sd_event_default(&event) < 0 || sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL) < 0 ||
	    sd_event_add_signal(event, NULL, SIGINT, NULL, NULL) < 0 ||
	    varlink_server_new(event, listen_on(argv[1]), &service, &server) < 0 ||
	    sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC, 1000000, 0, on_second, server) < 0) {
		perror("fake_policy");
		return 1;
	}
	(void)sd_event_loop(event);
	varlink_server_free(server);
	sd_event_unref(event);
	(void)unlink(argv[1]);
	return 0;
}
