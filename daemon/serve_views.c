// SPDX-License-Identifier: GPL-2.0
#include "serve_views.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "base/json_get.h"
#include "base/text.h"
#include "export/json/json_past.h"
#include "export/json/json_public.h"
#include "export/profile/zoom_flame.h"
#include "serve_history.h"
#include "serve_internal.h"

#define USEC_PER_SEC 1000000ULL

/* A timeline whose answer would be too large gets fewer bins, but not less than these. */
#define FEWEST_BINS 6

/* Cgroups that are read for one answer. The next answer goes on. */
#define TIMELINE_READS 20000

/* Depth of the alerts that the history stores. */
#define ALERTS_DEPTH 16

/* A view that is being made. */
struct made {
	struct server *server;
	const struct http_view *view;
	u64 since_us, until_us;
	bool open;     /* the range ends now */
	char *text;    /* the answer */
	size_t length; /* of it */
};

static int get_past(const struct made *made, enum history_question question, u32 bins, const char *path,
		    const struct past **ret)
{
	struct history_query query = {
		.question = question, .since_us = made->since_us, .until_us = made->until_us, .bins = bins};

	if (!made->server->history)
		return -EOPNOTSUPP;
	if (path && strlen(path) >= sizeof(query.path))
		return -ENOENT;
	(void)stpcpy(query.path, path ? path : "");
	return history_past(made->server->history, &query, ret);
}

static bool is_exported(const char *path, void *userdata)
{
	return config_exports(userdata, path);
}

/* The labels that /metrics shows, and no others. */
static struct json_public_labels public_labels(const struct server *server)
{
	return (struct json_public_labels){.lookup =
						   engine_head(sampling_engine(server->sampling))->containers,
					   .labels = server->config->container_labels};
}

static struct json_public_names public_names(const struct server *server)
{
	struct json_public_names names = {
		.exported = is_exported, .userdata = server->config, .labels = public_labels(server)};

	names.series = engine_series(sampling_engine(server->sampling), &names.n_series);
	names.top = server->config->top == CONFIG_TOP_AUTO ? SERIES_TOP_DEFAULT : server->config->top;
	return names;
}

/* Finds the cgroup of the view. One without a series now must be among the costliest of the range. */
static int find_path(const struct made *made, const char **ret)
{
	const struct json_public_names names = public_names(made->server);
	const struct past *past;
	int r;

	*ret = json_public_path(&names, NULL, made->view->cgroup);
	if (*ret)
		return 0;
	r = get_past(made, HISTORY_ASK_PANES, 0, NULL, &past);
	if (r < 0)
		return r;
	*ret = json_public_path(&names, past, made->view->cgroup);
	return *ret ? 0 : -ENXIO;
}

/* Gets the past in so many bins, or in fewer if the answer would be too large. */
static int get_bins(const struct made *made, const char *path, struct json_history *history)
{
	/* The host needs no cgroups, which may be many. */
	const enum history_question question = path ? HISTORY_ASK_PANES : HISTORY_ASK_TOTALS;
	const u64 range_us = made->until_us - made->since_us;
	int r = -E2BIG;

	for (u32 bins = made->view->bins; r == -E2BIG && bins >= MIN(FEWEST_BINS, made->view->bins);
	     bins /= 2) {
		history->bins = bins;
		history->parts = json_history_parts(range_us, bins);
		r = get_past(made, question, bins * history->parts, path, &history->past);
		if (r != -E2BIG || history->parts == 1)
			continue;
		history->parts = 1;
		r = get_past(made, question, bins, path, &history->past);
	}
	return r;
}

static int make_timeline(struct made *made)
{
	const struct json_public_labels labels = public_labels(made->server);
	struct json_page page = {.first = made->view->offset, .sums_most = TIMELINE_READS};
	struct json_history history = {.shown = made->view->cgroup[0] ? made->view->cgroup : NULL,
				       .histograms = made->view->histograms,
				       .open = made->open};
	_cleanup_free_ char *path = NULL;
	const char *found = NULL;
	int r = history.shown ? find_path(made, &found) : 0;

	/* The next question may free the answer that the path is from. */
	if (r == 0 && found) {
		path = strdup(found);
		r = path ? 0 : -ENOMEM;
	}
	if (r == 0)
		r = get_bins(made, path, &history);
	return r < 0 ? r : json_public_history(&history, &page, &labels, &made->text, &made->length);
}

static int make_range(struct made *made)
{
	const struct json_public_names names = public_names(made->server);
	const struct past *past;
	int r = get_past(made, HISTORY_ASK_PANES, 0, NULL, &past);

	return r < 0 ? r : json_public_range(past, made->open, &names, &made->text, &made->length);
}

static const char *origin_of(const struct server *server)
{
	return engine_head(sampling_engine(server->sampling))->origin;
}

static int make_alerts(struct made *made)
{
	struct server *server = made->server;
	const struct json_public_labels labels = public_labels(server);
	const struct timespec since = {.tv_sec = (time_t)made->view->since};
	const struct timespec until = {.tv_sec = (time_t)made->view->until};
	_cleanup_json_ json_object *alerts = NULL;
	const char *text;
	int r = server->history ? history_alerts(server->history, made->since_us, made->until_us, &text)
				: -EOPNOTSUPP;

	if (r == 0)
		r = json_parse(text, strlen(text), ALERTS_DEPTH, &alerts);
	if (r == 0 && !json_object_is_type(alerts, json_type_array))
		r = -EBADMSG;
	return r < 0 ? r
		     : json_public_past_alerts(origin_of(server), alerts, &since, &until, &labels,
					       &made->text, &made->length);
}

static int make_explanation(struct made *made)
{
	const struct json_public_labels labels = public_labels(made->server);
	int r = json_public_explain(origin_of(made->server), alerts_policy(made->server->alerts),
				    made->view->rule, made->view->cgroup, &labels, &made->text,
				    &made->length);

	/* The cgroup is not the reason: it may exist. */
	return r == -ENOENT ? -ESRCH : r;
}

static int make_zoom(struct made *made)
{
	const struct http_zooms *zooms = &made->server->http_zooms;
	const struct zoom *zoom;
	u8 *text = NULL;
	int r;

	if (!*zooms->enabled && !zooms->modelled)
		return -EACCES;
	zoom = zooms_find(zooms->zooms, made->view->cgroup);
	if (!zoom || zoom->state == ZOOM_RUNNING)
		return -ECHILD;
	r = zoom_flame(zoom, zooms->modelled, &text, &made->length);
	made->text = (char *)text;
	return r;
}

static int (*const makers[HTTP_VIEWS])(struct made *made) = {
	[HTTP_VIEW_TIMELINE] = make_timeline, [HTTP_VIEW_RANGE] = make_range,
	[HTTP_VIEW_ALERTS] = make_alerts,     [HTTP_VIEW_EXPLAIN] = make_explanation,
	[HTTP_VIEW_ZOOM] = make_zoom,
};

/* Says what is stored, for a time of which nothing is. */
static char *describe_no_data(const struct server *server)
{
	char oldest[TEXT_TIME_MAX], newest[TEXT_TIME_MAX];
	struct history_state state = {0};
	char *text;

	serve_history_state((void *)server, &state);
	if (!state.kept.oldest_us || !state.kept.newest_us)
		return strdup("Nothing is stored yet. The first figures are stored after 10 seconds.");
	text_time(&(struct timespec){.tv_sec = (time_t)(state.kept.oldest_us / USEC_PER_SEC)}, oldest);
	text_time(&(struct timespec){.tv_sec = (time_t)(state.kept.newest_us / USEC_PER_SEC)}, newest);
	return asprintf(&text, "Nothing is stored of this time. The history reaches from %s to %s.", oldest,
			newest) < 0
		       ? NULL
		       : text;
}

static char *describe_no_history(const struct server *server)
{
	char *text;

	return asprintf(&text,
			"No history is stored: %s. `keep = yes` in [history] stores one, see pebsd.conf(5).",
			server->history_off ? server->history_off : "it was not started") < 0
		       ? NULL
		       : text;
}

/* Returns the error for the client, with a sentence that says why. */
static int explain_error(const struct server *server, int error, char **ret_message)
{
	switch (error) {
	case -EOPNOTSUPP:
		*ret_message = describe_no_history(server);
		return -ENOENT;
	case -ENODATA:
		*ret_message = describe_no_data(server);
		return -ENOENT;
	case -ENXIO:
	case -ENOENT:
		*ret_message = strdup("No such cgroup, or it is not among the cgroups that /metrics names.");
		return -ENOENT;
	case -ESRCH:
		*ret_message = strdup(
			"No such alert: a rule on a cgroup is explained while it is pending or firing, and for some time after it is resolved.");
		return -ENOENT;
	case -ECHILD:
		*ret_message = strdup(
			"No zoom of this cgroup has ended, or it is no longer kept. With `seconds` a zoom begins.");
		return -ENOENT;
	case -EACCES:
		*ret_message = strdup(HTTP_ZOOMS_NOT_SERVED);
		return -EACCES;
	case -E2BIG:
		*ret_message = strdup("The answer is too large. Ask for a shorter time or for one cgroup.");
		return -EINVAL;
	case -EBUSY:
	case -ETIMEDOUT:
		*ret_message = strdup("Too many questions about the history are waiting. Try again later.");
		return -EBUSY;
	default:
		*ret_message = NULL;
		return error;
	}
}

int serve_view(void *userdata, const struct http_view *view, char **ret_text, size_t *ret_length,
	       char **ret_message)
{
	struct made made = {.server = userdata,
			    .view = view,
			    .since_us = view->since * USEC_PER_SEC,
			    .until_us = view->until * USEC_PER_SEC};
	int r;

	/* The last pane of a range that ends now is not complete. */
	made.open = view->until + 2 * HISTORY_PANE_SECONDS > (u64)time(NULL);
	r = makers[view->kind](&made);
	if (r < 0)
		return r == -EAGAIN || r == -ENOMEM ? r : explain_error(userdata, r, ret_message);
	*ret_text = made.text;
	*ret_length = made.length;
	return 0;
}
