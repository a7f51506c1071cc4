// SPDX-License-Identifier: GPL-2.0
#include "serve_history.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "export/json/json_rules.h"
#include "history/keeper_channel.h"

#define SYSFS_ROOT "/sys"

/* The service manager's variable for StateDirectory= (systemd.exec(5)). It may name several, separated by colons. */
#define STATE_DIRECTORY "STATE_DIRECTORY"

/* Used with `keep = yes` if the service manager provides none. */
#define HISTORY_DIRECTORY "/var/lib/pebsd"

/* Returns why no history is kept; or NULL, and `ret_directory` gets the directory. */
static const char *choose(const struct server *server, char **ret_directory)
{
	const enum config_history wanted = server->config->history;
	const char *origin = engine_head(sampling_engine(server->sampling))->origin;
	const char *provided = getenv(STATE_DIRECTORY);

	*ret_directory = NULL;
	if (wanted == CONFIG_HISTORY_NO)
		return "keep = no in [history]";
	if (strcmp(origin, "replay") == 0)
		return "a replay has the times of its recording";
	if (wanted == CONFIG_HISTORY_AUTO && strcmp(origin, "perf") != 0)
		return "samples do not come from perf (keep = auto in [history])";
	if (!provided || provided[0] != '/') {
		if (wanted == CONFIG_HISTORY_AUTO)
			return "the service manager provides no directory (keep = auto in [history])";
		provided = HISTORY_DIRECTORY;
	}
	*ret_directory = strndup(provided, strcspn(provided, ":"));
	return *ret_directory ? NULL : "out of memory";
}

static void on_collected(void *userdata)
{
	struct server *server = userdata;
	struct engine *engine = sampling_engine(server->sampling);
	const struct snapshot *head = engine_head(engine);
	struct reading readings[EVENTS_MAX] = {0};
	struct panes_collection collection = {.at = {realtime_us(&head->taken), engine_collected_ns(engine)},
					      .head = head,
					      .readings = readings};

	if (!server->history)
		return;
	for (unsigned event = 0; event < head->n_events; event++)
		readings[event] = engine_reading(engine, event);
	collection.list = engine_deltas(engine, &collection.n);
	history_collected(server->history, &collection);
}

static void on_answered(void *userdata)
{
	struct server *server = userdata;

	if (server->control)
		control_retry(server->control);
}

/* ---- alerts ---- */

static void store_alert(struct server *server, const struct alert *alert, enum alert_state state)
{
	const u64 began_us = realtime_us(&alert->breached), since_us = realtime_us(&alert->since);
	_cleanup_free_ char *key = NULL, *text = NULL;
	struct history_alert stored = {.from_us = began_us ? began_us : since_us};

	text = json_alert_record(alert);
	if (asprintf(&key, "%s\n%s\n%s\n%llu", alert->rule->name, alert->cgroup, alert->event_key,
		     (unsigned long long)stored.from_us) < 0)
		key = NULL;
	if (!key || !text) {
		(void)log_warning(-ENOMEM, "history: cannot store a change of the alert '%s'",
				  alert->rule->name);
		return;
	}
	stored.key = key;
	stored.json = text;
	if (state == ALERT_RESOLVED || state == ALERT_INACTIVE)
		stored.to_us = since_us > stored.from_us ? since_us : stored.from_us + 1;
	history_alert(server->history, &stored);
}

void serve_history_alert(struct server *server, const struct transition *transition)
{
	/* An alert that is forgotten resolved earlier, and its end was stored then. */
	if (server->history && !transition_forgets(transition))
		store_alert(server, &transition->alert, transition->to);
}

static bool is_open(const struct alert *alert)
{
	return alert->decision.state == ALERT_PENDING || alert->decision.state == ALERT_FIRING;
}

static size_t count_open(const struct alert *alerts, size_t n)
{
	size_t open = 0;

	for (size_t i = 0; i < n; i++)
		open += is_open(&alerts[i]);
	return open;
}

/* ---- begin and end ---- */

static int open_history(struct server *server, const char *directory, bool alerts_ended)
{
	struct engine *engine = sampling_engine(server->sampling);
	const struct snapshot *head = engine_head(engine);
	const struct clocks began = engine_began(engine);
	struct reading readings[EVENTS_MAX] = {0};
	const struct history_settings settings = {
		.event = server->event,
		.directory = directory,
		.bytes_max = server->config->history_bytes,
		.age_max_s = server->config->history_age_ns / NSEC_PER_SEC,
		.began = {began.realtime_us, began.monotonic_ns},
		.readings = readings,
		.containers = head->containers,
		.ids = strcmp(head->origin, "perf") == 0,
		.alerts_ended = alerts_ended,
		.answered = on_answered,
		.userdata = server,
	};

	for (unsigned event = 0; event < head->n_events; event++)
		readings[event] = engine_reading(engine, event);
	return history_new(&settings, &server->history);
}

void serve_history_open(struct server *server)
{
	_cleanup_free_ char *directory = NULL;
	_cleanup_free_ struct alert *alerts = NULL;
	size_t n = 0;
	bool goes_on;
	int r;

	server->history_off = choose(server, &directory);
	if (server->history_off) {
		if (server->config->history == CONFIG_HISTORY_YES)
			(void)log_warning(0, "no history is kept: %s", server->history_off);
		return;
	}
	r = policy_alerts(alerts_policy(server->alerts), &alerts, &n);
	/* At most KEEPER_ALERTS_MAX alerts can wait for the keeper. If more continue, end none of the stored ones. */
	goes_on = r < 0 || count_open(alerts, n) > KEEPER_ALERTS_MAX;
	r = open_history(server, directory, !goes_on);
	if (r < 0) {
		server->history_off = "it could not be started";
		(void)log_warning(0, "no history is kept in %s: %s; sampling continues", directory,
				  strerror(-r));
		return;
	}
	engine_on_collected(sampling_engine(server->sampling), on_collected, server);
	for (size_t i = 0; i < n && !goes_on; i++)
		if (is_open(&alerts[i]))
			store_alert(server, &alerts[i], alerts[i].decision.state);
}

void serve_history_close(struct server *server)
{
	if (server->sampling)
		engine_on_collected(sampling_engine(server->sampling), NULL, NULL);
	server->history = history_free(server->history);
}

void serve_history_reload(struct server *server)
{
	if (server->history)
		history_limit(server->history, server->config->history_bytes,
			      server->config->history_age_ns / NSEC_PER_SEC);
}

/* ---- questions ---- */

_Static_assert(RULE_NAME_MAX <= HISTORY_RULE_MAX, "a question has room for the name of a rule");

static int get_past(void *userdata, u64 since_us, u64 until_us, u32 bins, const char *path, bool subtree,
		    const struct past **ret)
{
	struct server *server = userdata;
	struct history_query query = {.question = path && !path[0] ? HISTORY_ASK_TOTALS : HISTORY_ASK_PANES,
				      .since_us = since_us,
				      .until_us = until_us,
				      .bins = bins,
				      .subtree = subtree};

	if (!server->history)
		return -EOPNOTSUPP;
	if (since_us >= until_us || bins > HISTORY_PANES_MAX || (path && strlen(path) >= sizeof(query.path)))
		return -EINVAL;
	(void)stpcpy(query.path, path ? path : "");
	return history_past(server->history, &query, ret);
}

static int get_past_alerts(void *userdata, u64 since_us, u64 until_us, const char *cgroup, const char *rule,
			   const char **ret_json)
{
	struct server *server = userdata;

	if (!server->history)
		return -EOPNOTSUPP;
	return since_us < until_us
		       ? history_alerts(server->history, since_us, until_us, cgroup, rule, ret_json)
		       : -EINVAL;
}

static int get_past_neighbours(void *userdata, const struct past *past, const char *path,
			       struct neighbours_report **ret)
{
	struct server *server = userdata;

	return past_neighbours(past, path, alerts_cgroup_root(server->alerts), SYSFS_ROOT, ret);
}

void serve_history_state(void *userdata, struct history_state *ret)
{
	const struct server *server = userdata;

	if (server->history)
		history_describe(server->history, ret);
	else
		*ret = (struct history_state){.off_reason = server->history_off};
}

void serve_history_suspects(struct json_suspects *suspects)
{
	suspects->past = get_past;
	suspects->past_neighbours = get_past_neighbours;
}

void serve_history_fill(struct control_backend *backend)
{
	backend->past = get_past;
	backend->past_alerts = get_past_alerts;
	backend->past_neighbours = get_past_neighbours;
	backend->history = serve_history_state;
}
