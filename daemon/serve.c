// SPDX-License-Identifier: GPL-2.0
#include "serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "base/heap.h"
#include "base/log.h"
#include "config/reload.h"
#include "sampling/pause_saved.h"
#include "serve_endpoints.h"
#include "serve_history.h"

static void server_close(struct server *server)
{
	http_free(server->http);
	/* Before the labels, which the last pane needs. */
	serve_history_close(server);
	pause_done(&server->pause);
	/* Free the source before the sampling, which owns the source's descriptor. */
	sd_event_source_unref(server->input);
	slot_reclaim_done(&server->reclaim);
	server->alerts = alerts_free(server->alerts);
	server->containers = containers_free(server->containers);
	server->detail = detail_free(server->detail);
	/*
	 * Free the control socket after the sampling: the socket's clients get messages until sampling has
	 * ended.
	 */
	sampling_free(server->sampling);
	control_free(server->control);
	collection_timer_done(&server->timer);
	sd_event_source_unref(server->step);
	sd_event_unref(server->event);
	store_free(server->store);
	resctrl_rates_done(&server->bandwidth);
	resctrl_done(&server->resctrl);
	free(server->status);
}

/* Sends only changes, because each message wakes the service manager. */
static void notify_status(struct server *server)
{
	_cleanup_free_ char *sampling = sampling_status(server->sampling);
	const char *paused = pause_reason(&server->pause);
	char *status;

	if (!sampling ||
	    asprintf(&status, "STATUS=%s%s%s", sampling, paused ? "; " : "", paused ? paused : "") < 0)
		return;
	if (!server->status || strcmp(server->status, status) != 0)
		(void)sd_notify(false, status);
	free(server->status);
	server->status = status;
}

/* Looks up the labels of all series, so that they are known before the next scrape. */
static void look_up_containers(struct server *server)
{
	struct engine *engine = sampling_engine(server->sampling);
	const struct series *const *series;
	size_t n;

	series = engine_series(engine, &n);
	for (size_t i = 0; i < n; i++)
		(void)containers_find(server->containers, series[i]->path);
	containers_tick(server->containers, engine_collected_ns(engine));
}

/*
 * The way of a collection:
 *
 * - sampling_tick() lets the origin update its counts and periods, and runs engine_collect(). That reads the slots into
 *   the totals, enters the deltas in window, trends and series, saves the state, and calls the history.
 * - Changed periods and lost samples are published.
 * - The rules are evaluated, and their actions started.
 * - Names of containers are looked up, and clients that wait for this collection get their replies.
 */
static void collect_once(struct server *server)
{
	const struct engine *engine = sampling_engine(server->sampling);
	const struct snapshot *head = engine_head(sampling_engine(server->sampling));
	u64 periods[EVENTS_MAX] = {0};

	for (unsigned event = 0; event < head->n_events; event++)
		periods[event] = head->events[event].event.period;
	server->collection_error = sampling_tick(server->sampling);
	for (unsigned event = 0; event < head->n_events; event++) {
		struct reading reading = engine_reading(engine, event);

		if (head->events[event].event.period != periods[event])
			watch_governed(&server->watch, &head->events[event], periods[event]);
		watch_losses(&server->watch, event, &head->events[event], &reading);
	}
	alerts_collected(server->alerts);
	look_up_containers(server);
	if (server->control)
		control_collected(server->control);
}

static void on_timer(void *userdata)
{
	struct server *server = userdata;

	collect_once(server);
	notify_status(server);
	log_left_out();
}

static int on_input(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct server *server = userdata;

	(void)source;
	(void)fd;
	(void)events;
	server->input = sd_event_source_unref(server->input);
	return sd_event_source_set_enabled(server->step, SD_EVENT_ON);
}

/* Pauses the steps until the pipe has more data. */
static int wait_for_input(struct server *server)
{
	int r = sd_event_add_io(server->event, &server->input, sampling_input(server->sampling), EPOLLIN,
				on_input, server);

	if (r < 0) {
		(void)log_error(
			0,
			"cannot wait for more of the recording: %s; serving only what has been read so far",
			strerror(-r));
		return r;
	}
	return sd_event_source_set_enabled(server->step, SD_EVENT_OFF);
}

/* Reads recordings, or runs the model, in steps, so that requests are answered in between. */
static int on_step(sd_event_source *source, void *userdata)
{
	struct server *server = userdata;
	const char *message;
	int r = sampling_step(server->sampling);

	if (r > 0)
		return 0;
	if (r == -EAGAIN)
		return wait_for_input(server);
	collect_once(server);
	if (sampling_complete(server->sampling, &message))
		log_info("all records were read; serving the figures until SIGTERM");
	else
		(void)log_error(
			message ? 0 : r, "%s",
			message ? message
				: "serving only a part of the recording, because the rest cannot be counted");
	return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

/*
 * If the period of an event could not be changed, the configuration also keeps the old one, so that another
 * reload tries the change again.
 */
static char *apply_periods(void *userdata, const struct config *running, struct config *loaded)
{
	struct server *server = userdata;
	const struct snapshot *head = engine_head(sampling_engine(server->sampling));
	u64 before[EVENTS_MAX] = {0};
	char *message = NULL;

	if (running->budget != loaded->budget)
		sampling_set_budget(server->sampling, loaded->budget);
	if (event_periods_equal(&running->periods, &loaded->periods) &&
	    (running->budget > 0) == (loaded->budget > 0))
		return NULL;
	for (size_t i = 0; i < head->n_events; i++)
		before[i] = head->events[i].event.period;
	if (sampling_set_periods(server->sampling, &loaded->periods, &message) < 0)
		loaded->periods = running->periods;
	for (size_t i = 0; i < head->n_events; i++)
		if (head->events[i].event.period != before[i])
			watch_period(&server->watch, &head->events[i], before[i]);
	return message;
}

/* Passes on each key that may change at a reload, except the periods and the budget, which apply_periods() changes. */
static void apply_config(struct server *server)
{
	struct engine *engine = sampling_engine(server->sampling);
	struct snapshot *head = engine_head(engine);
	const struct config *config = server->config;

	(void)clock_gettime(CLOCK_REALTIME, &head->config_time);
	head->config_files = (const char *const *)config->files;
	head->interval_seconds = (double)config->interval_ns / (double)NSEC_PER_SEC;
	engine_set_top(engine, config->top);
	engine_exports_changed(engine); /* include, exclude */
	control_permit(server->control, config->detail);
	containers_look_for_names(server->containers, config->container_names);
	if (server->http && http_configure(server->http, config->hosts) < 0)
		(void)log_error(0,
				"out of memory: the HTTP endpoint still uses the old `hosts`; reload again");
	sampling_set_hot(server->sampling, config);
	serve_history_reload(server);
	if (alerts_reload(server->alerts) < 0)
		(void)log_error(
			0,
			"out of memory: the rules, `include` and `exclude` are not all in force as configured; reload again");
	collection_timer_set_interval(&server->timer, config->interval_ns / NSEC_PER_USEC);
}

static int reload(void *userdata, char ***ret_lines)
{
	struct server *server = userdata;
	const struct reload_applier applier = {.apply = apply_periods, .userdata = server};
	int r;

	(void)sd_notify(false, "RELOADING=1\nSTATUS=Reading the configuration");
	r = reload_config(server->options, &applier, server->config, ret_lines);
	server->reloads++;
	engine_head(sampling_engine(server->sampling))->config_reloaded = r >= 0;
	if (r >= 0)
		apply_config(server);
	watch_reload(&server->watch, r);
	(void)sd_notify(false, "READY=1");
	/* RELOADING=1 has replaced the status that was sent last, so send it again. */
	free(TAKE_PTR(server->status));
	notify_status(server);
	return r;
}

static int pause_sampling(void *userdata, const struct maybe_double *seconds)
{
	struct server *server = userdata;

	zooms_end_all(detail_zooms(server->detail));
	return pause_begin(&server->pause, seconds);
}

static bool resume_sampling(void *userdata)
{
	struct server *server = userdata;

	return pause_end(&server->pause);
}

/* Collects, so that samples from before a pause, and the paused time, are visible at once. */
static void on_pause_changed(void *userdata)
{
	struct server *server = userdata;

	collect_once(server);
	notify_status(server);
	watch_pause(&server->watch, engine_head(sampling_engine(server->sampling)));
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	char **lines;

	(void)source;
	(void)info;
	(void)reload(userdata, &lines);
	reload_free_lines(lines);
	return 0;
}

static void on_gone(void *userdata, const char *path, u64 id)
{
	struct server *server = userdata;

	watch_gone(&server->watch, path, id);
	if (server->alerts)
		alerts_gone(server->alerts, path);
}

static void on_born(void *userdata, const char *path, u64 id)
{
	struct server *server = userdata;

	watch_born(&server->watch, path, id);
	if (server->containers)
		containers_born(server->containers, path);
}

static void on_transition(void *userdata, const struct transition *transition)
{
	struct server *server = userdata;

	watch_alert(&server->watch, transition);
	serve_history_alert(server, transition);
}

static int on_start_detail(void *userdata, const struct transition *transition, enum rule_action action,
			   char **ret_message)
{
	struct server *server = userdata;

	return detail_start(server->detail, transition, action, ret_message);
}

static void on_zoom(void *userdata, const struct zoom *zoom, bool over)
{
	struct server *server = userdata;

	watch_zoom(&server->watch, zoom, over);
}

/* The directory is next to the control socket, so that two daemons do not share it. */
static int open_alerts(struct server *server)
{
	const char *socket = server->options->socket;
	const char *slash = strrchr(socket, '/');
	_cleanup_free_ char *directory = NULL;
	struct alerts_settings settings = {
		.event = server->event,
		.engine = sampling_engine(server->sampling),
		.config = server->config,
		.start_detail = on_start_detail,
		.changed = on_transition,
		.userdata = server,
	};

	if (asprintf(&directory, "%.*salerts", slash ? (int)(slash - socket + 1) : 0, socket) < 0)
		return -ENOMEM;
	settings.directory = directory;
	settings.live_cgroups = strcmp(engine_head(settings.engine)->origin, "perf") == 0;
	return alerts_new(&settings, &server->alerts);
}

static int open_detail(struct server *server)
{
	const struct detail_settings settings = {
		.event = server->event,
		.sampling = server->sampling,
		.config = server->config,
		.changed = on_zoom,
		.userdata = server,
	};
	int r = detail_new(&settings, &server->detail);

	if (r == 0)
		server->http_zooms = (struct http_zooms){
			.zooms = detail_zooms(server->detail),
			.enabled = &server->config->profiles,
			.modelled =
				strcmp(engine_head(sampling_engine(server->sampling))->origin, "model") == 0};
	return r < 0 ? log_error(r, "cannot prepare zooms and the symbolizer") : 0;
}

/*
 * Prepares the lookup of container names, except for cgroups of a recording or of the model: they are not on
 * this host.
 */
static int open_containers(struct server *server)
{
	struct snapshot *head = engine_head(sampling_engine(server->sampling));
	const struct containers_settings settings = {
		.event = strcmp(head->origin, "perf") == 0 ? server->event : NULL,
	};
	int r = containers_new(&settings, &server->containers);

	if (r < 0)
		return log_error(r, "cannot prepare the lookup of container names");
	containers_look_for_names(server->containers, server->config->container_names);
	head->containers = containers_lookup(server->containers);
	return 0;
}

static int open_endpoints(struct server *server, struct failure *failure)
{
	const struct control_backend orders = {
		.reload = reload,
		.pause = pause_sampling,
		.resume = resume_sampling,
	};

	return serve_endpoints_open(server, orders, failure);
}

static void on_http_stopped(void *userdata)
{
	struct server *server = userdata;

	(void)sd_event_exit(server->event, 0);
}

/*
 * HTTP requests that come while pebsd stops are still answered, by this process or by the next. A second signal
 * exits without waiting.
 */
static int on_signal(sd_event_source *source, const struct signalfd_siginfo *signal, void *userdata)
{
	struct server *server = userdata;
	bool again = server->stopping;

	(void)source;
	(void)signal;
	server->stopping = true;
	if (!again && server->http && http_stop(server->http, on_http_stopped, server) == 0)
		return 0;
	return sd_event_exit(server->event, 0);
}

static int arm(struct server *server)
{
	sigset_t signals;
	int r;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return -errno;
	if ((r = sd_event_default(&server->event)) < 0 ||
	    (r = sd_event_add_signal(server->event, NULL, SIGTERM, on_signal, server)) < 0 ||
	    (r = sd_event_add_signal(server->event, NULL, SIGINT, on_signal, server)) < 0 ||
	    (r = sd_event_add_signal(server->event, NULL, SIGHUP, on_hangup, server)) < 0 ||
	    (r = collection_timer_start(&server->timer, server->event,
					server->config->interval_ns / NSEC_PER_USEC, on_timer, server)) < 0 ||
	    (r = sd_event_add_defer(server->event, &server->step, on_step, server)) < 0)
		return r;
	(void)sd_event_source_set_priority(server->step, SD_EVENT_PRIORITY_IDLE);
	return sd_event_source_set_enabled(server->step,
					   sampling_has_steps(server->sampling) ? SD_EVENT_ON : SD_EVENT_OFF);
}

/* Continues the pause of the previous process, unless it is over. */
static int restore_pause(struct server *server)
{
	struct maybe_double seconds;
	int r;

	if (!engine_head(sampling_engine(server->sampling))->paused)
		return 0;
	/* If the pause ended after sampling was opened as paused, it ends now like any other pause. */
	if (!pause_inherited(sampling_handover(server->sampling), &seconds))
		seconds = (struct maybe_double){.known = true};
	r = pause_begin(&server->pause, &seconds);
	return r < 0 ? log_error(r, "cannot restore the pause") : 0;
}

static int start(struct server *server, struct failure *failure)
{
	struct sampling_settings settings = {
		.config = server->config,
		.recordings = server->options->recordings,
		.n_recordings = server->options->n_recordings,
		.listener = {.born = on_born, .gone = on_gone, .userdata = server},
	};
	struct snapshot *head;
	int r = store_open(&server->store);

	if (r < 0)
		return log_error(r, "cannot take over the file descriptors that the service manager keeps");
	settings.store = server->store;
	r = sampling_open(&settings, &server->sampling, failure);
	if (r < 0)
		return r;
	/*
	 * Call arm() only now: it blocks signals, and a signal must end the wait for the first bytes of a
	 * pipe.
	 */
	r = arm(server);
	if (r < 0)
		return log_error(r, "cannot set up the event loop");
	server->pause = (struct pause){
		.event = server->event,
		.sampling = server->sampling,
		.changed = on_pause_changed,
		.userdata = server,
	};
	head = engine_head(sampling_engine(server->sampling));
	head->config_reloaded = true;
	(void)clock_gettime(CLOCK_REALTIME, &head->config_time);
	head->config_files = (const char *const *)server->config->files;
	for (unsigned event = 0; event < head->n_events; event++) {
		struct reading reading = engine_reading(sampling_engine(server->sampling), event);

		watch_begin(&server->watch, event, &reading);
	}
	r = slot_reclaim_open(server->event, sampling_engine(server->sampling), &server->reclaim);
	if (r < 0)
		return log_error(r, "cannot watch for cgroups that need a slot");
	r = open_containers(server);
	if (r == 0)
		r = open_detail(server);
	if (r == 0)
		r = open_alerts(server);
	if (r < 0)
		return r;
	serve_history_open(server);
	/* Collects, so that requests are answered before the first interval is over. */
	collect_once(server);
	r = open_endpoints(server, failure);
	store_drop_rest(server->store);
	server->watch.control = server->control;
	return r < 0 ? r : restore_pause(server);
}

/* Reports the totals, because samples may have come after the counts were last read. */
static int finish(struct server *server)
{
	const struct engine *engine = sampling_engine(server->sampling);
	const struct snapshot *head = engine_head(sampling_engine(server->sampling));
	int r = sampling_stop(server->sampling);

	for (unsigned event = 0; event < head->n_events; event++) {
		struct reading reading = engine_reading(engine, event);

		watch_total(&server->watch, event, &head->events[event], &reading);
	}
	return r;
}

int serve(const struct options *options, struct config *config, struct failure *ret_failure)
{
	_cleanup_(server_close) struct server server = {.options = options, .config = config};
	int r;

	*ret_failure = (struct failure){.code = EXIT_FAILED};
	/*
	 * A log without a reader (SIGPIPE) or a file size limit (SIGXFSZ) must not end the daemon: writes fail
	 * instead.
	 */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	heap_map_large();
	r = start(&server, ret_failure);
	if (r < 0)
		return r;
	/*
	 * Give back the memory that only the start needed: the kernel's types, the programs, the walk over
	 * the cgroups.
	 */
	heap_trim();
	log_info("serving: origin %s, control socket %s, HTTP endpoint %s",
		 engine_head(sampling_engine(server.sampling))->origin, options->socket,
		 server.http ? server.served_at : "none");
	(void)sd_notify(false, "READY=1");
	notify_status(&server);
	r = sd_event_loop(server.event);
	(void)sd_notify(false, "STOPPING=1\nSTATUS=Stopping");
	if (r < 0)
		return log_error(r, "the event loop failed");
	/* A failure has been logged by now, and it is not a reason to restart the unit. */
	(void)finish(&server);
	log_close();
	return 0;
}
