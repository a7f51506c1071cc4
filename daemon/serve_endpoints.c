// SPDX-License-Identifier: GPL-2.0
#include "serve_endpoints.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "export/json/json_public.h"
#include "export/prometheus/prometheus.h"
#include "http/http_view_make.h"
#include "origin/pmu/perf_selection.h"
#include "serve_history.h"

#define SYSFS_ROOT "/sys"

/* A counter of resctrl lies in another CPU's cache domain: the kernel interrupts a CPU there to read it. */
#define RESCTRL_INTERVAL_NS (10 * NSEC_PER_SEC)

static int get_snapshot(void *userdata, const struct maybe_double *window_seconds,
			const struct snapshot **ret)
{
	struct server *server = userdata;
	struct engine *engine = sampling_engine(server->sampling);

	engine_head(engine)->detail = detail_counts(server->detail);
	return engine_snapshot(engine, window_seconds, ret);
}

static void release_snapshot(void *userdata)
{
	struct server *server = userdata;

	engine_release_window(sampling_engine(server->sampling));
}

static int get_summary(struct server *server, const struct snapshot **ret)
{
	struct engine *engine = sampling_engine(server->sampling);

	engine_head(engine)->detail = detail_counts(server->detail);
	return engine_summary(engine, ret);
}

static int choose_hot(void *userdata, const char *path, double seconds)
{
	struct server *server = userdata;

	return detail_choose_hot(server->detail, path, seconds);
}

static bool get_hot_choice(void *userdata, const char *path, struct hot_choice *ret)
{
	struct server *server = userdata;

	return engine_hot_choice(sampling_engine(server->sampling), path, ret);
}

static int get_hot_places(void *userdata, const char *path, unsigned event, enum hot_kind kind,
			  struct hot_places *ret)
{
	struct server *server = userdata;

	return engine_hot_places(sampling_engine(server->sampling), path, event, kind, ret);
}

static struct zooms *get_zooms(void *userdata)
{
	struct server *server = userdata;

	return detail_zooms(server->detail);
}

static struct symbols *get_symbols(void *userdata)
{
	struct server *server = userdata;

	return detail_symbols(server->detail);
}

static const struct symbol *get_name(void *userdata, const struct symbol_query *query)
{
	struct server *server = userdata;

	return sampling_name(server->sampling, query);
}

static u64 get_sequence(void *userdata)
{
	struct server *server = userdata;

	/* Both numbers only grow, so a change of either changes the sum. */
	return engine_head(sampling_engine(server->sampling))->sequence + server->reloads;
}

/* Reads the counters at most once in RESCTRL_INTERVAL_NS, no matter how many clients scrape. */
static const struct resctrl *read_resctrl(struct server *server)
{
	u64 now = engine_collected_ns(sampling_engine(server->sampling));
	struct cpu_list isolated = {0};
	struct resctrl read;
	u64 read_ns;

	/* To read a counter, the kernel may interrupt an isolated CPU. Read none, unless such CPUs are sampled, too. */
	if (!server->config->isolated)
		isolated = perf_selection_isolated(SYSFS_ROOT);
	if (cpu_list_count(&isolated) > 0)
		return NULL;
	if (server->resctrl_ns && now - server->resctrl_ns < RESCTRL_INTERVAL_NS)
		return &server->resctrl;
	server->resctrl_ns = now;
	if (resctrl_read(RESCTRL_ROOT, &read) < 0) {
		resctrl_rates_done(&server->bandwidth);
		return &server->resctrl;
	}
	read_ns = monotonic_ns();
	if (server->resctrl_read_ns)
		(void)resctrl_rates_update(&server->bandwidth, &server->resctrl, &read,
					   (double)(read_ns - server->resctrl_read_ns) /
						   (double)NSEC_PER_SEC);
	resctrl_done(&server->resctrl);
	server->resctrl = read;
	server->resctrl_read_ns = read_ns;
	return &server->resctrl;
}

static const struct resctrl_rates *get_bandwidth(void *userdata)
{
	struct server *server = userdata;

	return read_resctrl(server) ? &server->bandwidth : NULL;
}

static struct prometheus_history describe_history(const struct history_state *history)
{
	return (struct prometheus_history){
		.bytes = {history->kept.bytes != 0, history->kept.bytes},
		.oldest_seconds = {history->kept.oldest_us != 0, (double)history->kept.oldest_us / 1e6},
		.panes_lost = {history->on, history->panes_lost},
		.restarts = {history->on, history->restarts},
	};
}

static int get_metrics(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length)
{
	struct server *server = userdata;
	struct engine *engine = sampling_engine(server->sampling);
	_cleanup_free_ struct alert *list = NULL;
	struct prometheus_alerts alerts = {0};
	struct history_state history;
	struct prometheus_options options = {
		.openmetrics = openmetrics,
		.detail = server->config->detail_metrics,
		.labels = server->config->container_labels,
		.alerts = &alerts,
		.http_restarts = {server->http != NULL, http_restarts(server->http)},
		.resctrl = read_resctrl(server)};
	const struct series *const *series;
	const struct snapshot *snapshot;
	size_t n;
	int r = get_summary(server, &snapshot);

	if (r == 0)
		r = policy_alerts(alerts_policy(server->alerts), &list, &alerts.n);
	if (r < 0)
		return r;
	alerts.list = list;
	serve_history_state(server, &history);
	options.history = describe_history(&history);
	(void)policy_rules(alerts_policy(server->alerts), &n);
	alerts.n_rules = n;
	for (int kind = 0; kind < ACT_KINDS; kind++)
		for (int result = 0; result < ACT_RESULTS; result++)
			alerts.actions[kind][result] = act_count(
				alerts_act(server->alerts), (enum act_kind)kind, (enum act_result)result);
	process_read(&server->process);
	series = engine_series(engine, &n);
	return prometheus_render(snapshot, series, n, &options, &server->process, ret_text, ret_length);
}

/* The labels that /metrics shows, and no others. */
static struct json_public_labels public_labels(const struct server *server)
{
	return (struct json_public_labels){.lookup =
						   engine_head(sampling_engine(server->sampling))->containers,
					   .labels = server->config->container_labels};
}

static bool is_exported(const char *path, void *userdata)
{
	return config_exports(userdata, path);
}

/* The cgroups that the page at / may name. */
static struct json_public_names public_names(struct server *server)
{
	const u64 top = server->config->top;
	struct json_public_names names = {.top = top == CONFIG_TOP_AUTO ? SERIES_TOP_DEFAULT : top,
					  .exported = is_exported,
					  .userdata = server->config,
					  .labels = public_labels(server)};

	names.series = engine_series(sampling_engine(server->sampling), &names.n_series);
	return names;
}

/* Gets the snapshot for the table of the page at /. It is from the last collection. */
static int get_public_snapshot(void *userdata, const struct snapshot **ret)
{
	struct server *server = userdata;
	const char *origin = engine_head(sampling_engine(server->sampling))->origin;
	const struct maybe_double window = {.known = strcmp(origin, "replay") != 0,
					    .value = JSON_PUBLIC_WINDOW_SECONDS};

	return get_snapshot(server, &window, ret);
}

static int get_public_top(void *userdata, char **ret_text, size_t *ret_length)
{
	struct server *server = userdata;
	const struct json_public_names names = public_names(server);
	const struct snapshot *snapshot;
	int r = get_public_snapshot(server, &snapshot);

	if (r < 0)
		return r;
	r = json_public_top(snapshot, &names, NULL, ret_text, ret_length);
	release_snapshot(server);
	return r;
}

static int get_public_alerts(void *userdata, char **ret_text, size_t *ret_length)
{
	struct server *server = userdata;
	const struct json_public_labels labels = public_labels(server);
	_cleanup_free_ struct alert *alerts = NULL;
	size_t n = 0;
	int r = policy_alerts(alerts_policy(server->alerts), &alerts, &n);

	return r < 0 ? r
		     : json_public_alerts(engine_head(sampling_engine(server->sampling))->origin, alerts, n,
					  &labels, ret_text, ret_length);
}

static int get_neighbours(void *userdata, const char *path, struct neighbours_report **ret)
{
	struct server *server = userdata;

	return neighbours_report(sampling_engine(server->sampling), alerts_cgroup_root(server->alerts),
				 SYSFS_ROOT, path, ret);
}

static int get_view(void *userdata, const struct http_view *view, char **ret_text, size_t *ret_length,
		    char **ret_message)
{
	struct server *server = userdata;
	struct engine *engine = sampling_engine(server->sampling);
	struct http_view_sources sources = {
		.origin = engine_head(engine)->origin,
		.history = server->history,
		.history_off = server->history_off,
		.policy = alerts_policy(server->alerts),
		.names = public_names(server),
		.snapshot = get_public_snapshot,
		.userdata = server,
		.suspects = {.find = get_neighbours, .userdata = server, .now = time(NULL)},
		.modelled = server->http_zooms.modelled,
	};
	int r;

	serve_history_suspects(&sources.suspects);
	if (*server->http_zooms.enabled || server->http_zooms.modelled)
		sources.zooms = server->http_zooms.zooms;
	r = http_view_make(&sources, view, ret_text, ret_length, ret_message);
	release_snapshot(server);
	return r;
}

static int get_health(void *userdata, bool *ret_works, const char **ret_reason)
{
	struct server *server = userdata;
	const struct health health = {.paused = pause_reason(&server->pause),
				      .age_us = collection_timer_age_us(&server->timer),
				      .interval_us = server->timer.interval_us,
				      .collection_error = server->collection_error};
	int r = health_judge(&health, server->overdue, ret_works, ret_reason);

	return r < 0 ? r : sampling_health(server->sampling, ret_reason);
}

static const struct policy *get_policy(void *userdata)
{
	struct server *server = userdata;

	return alerts_policy(server->alerts);
}

/*
 * The group that may connect to sockets; NULL: none. An ordinary user who shows the model or a recording cannot give
 * sockets to the service's group, and need not.
 */
static const char *group_of(const struct server *server)
{
	const char *group = server->config->group;

	if (!*group || (geteuid() != 0 && engine_head(sampling_engine(server->sampling))->in_process &&
			strcmp(group, CONFIG_GROUP) == 0))
		return NULL;
	return group;
}

static int open_http(struct server *server, const struct http_source *source, struct failure *failure)
{
	const struct http_settings settings = {.event = server->event, .hosts = server->config->hosts};
	struct http_sockets sockets;
	int r = http_sockets_choose(server->store, &server->config->listen, group_of(server), &sockets,
				    &failure->message);

	if (r < 0 || sockets.n == 0)
		return r;
	(void)snprintf(server->served_at, sizeof(server->served_at), "%s", sockets.text);
	return http_new(&settings, &sockets, source, &server->http, &failure->message);
}

int serve_endpoints_open(struct server *server, struct control_backend backend, struct failure *failure)
{
	const struct http_source source = {
		.userdata = server,
		.origin = engine_head(sampling_engine(server->sampling))->origin,
		.sequence = get_sequence,
		.metrics = get_metrics,
		.top = get_public_top,
		.alerts = get_public_alerts,
		.health = get_health,
		.view = get_view,
		.profiles = http_zooms_profiles(&server->http_zooms),
	};
	int r;

	backend.snapshot = get_snapshot;
	backend.release = release_snapshot;
	backend.policy = get_policy;
	backend.bandwidth = get_bandwidth;
	backend.neighbours = get_neighbours;
	backend.hot_choose = choose_hot;
	backend.hot_choice = get_hot_choice;
	backend.hot_places = get_hot_places;
	backend.zooms = get_zooms;
	backend.symbols = get_symbols;
	backend.name = get_name;
	serve_history_fill(&backend);
	backend.userdata = server;
	r = control_new(server->event, server->options->socket, group_of(server), &backend, &server->control,
			&failure->message);
	if (r < 0)
		return r;
	if (engine_head(sampling_engine(server->sampling))->in_process)
		control_permit_own(server->control);
	control_permit(server->control, server->config->detail);
	return open_http(server, &source, failure);
}
