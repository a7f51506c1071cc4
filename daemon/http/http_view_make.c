// SPDX-License-Identifier: GPL-2.0
#include "http/http_view_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "base/json_get.h"
#include "base/text.h"
#include "base/utf8.h"
#include "export/json/json_past.h"
#include "export/json/json_public.h"
#include "export/profile/zoom_flame.h"
#include "http/shared/http_wire.h"

#define USEC_PER_SEC 1000000ULL

/* NOLINTNEXTLINE(misc-redundant-expression): they happen to be equal */
_Static_assert(JSON_PUBLIC_BYTES_MAX <= HTTP_VIEW_BYTES_MAX, "a table is a view");

/* A timeline whose answer would be too large gets fewer bins, but not less than these. */
#define FEWEST_BINS 6

/* Maximum number of cgroups that are read for one answer. The next answer continues. */
#define TIMELINE_READS 20000

/* Depth of the alerts that the history stores. */
#define ALERTS_DEPTH 16

/* A view that is being made, and its answer. */
struct view_job {
	const struct http_view_sources *sources;
	const struct http_view *view;
	u64 since_us, until_us;
	bool open;     /* the range ends now */
	bool unwanted; /* only find out whether the history has answered */
	char *text;    /* the answer */
	size_t length; /* of it */
};

static int get_past(const struct view_job *job, enum history_question question, u32 bins, const char *path,
		    const struct past **ret)
{
	struct history_query query = {
		.question = question, .since_us = job->since_us, .until_us = job->until_us, .bins = bins};
	int r;

	if (!job->sources->history)
		return -EOPNOTSUPP;
	if (path && strlen(path) >= sizeof(query.path))
		return -ENOENT;
	(void)stpcpy(query.path, path ? path : "");
	r = history_past(job->sources->history, &query, ret);
	return job->unwanted && r != -EAGAIN ? -ECANCELED : r;
}

/* Finds the path of the cgroup of the view. Whether the view may name this cgroup is not checked here. */
static int find_path(const struct view_job *job, const char **ret)
{
	const struct json_public_names *names = &job->sources->names;
	const struct past *past;
	int r;

	*ret = job->view->cgroup;
	if (utf8_is_shown_as(*ret, *ret))
		return 0;
	*ret = json_public_path(names, NULL, job->view->cgroup);
	if (*ret)
		return 0;
	r = get_past(job, HISTORY_ASK_PANES, 0, NULL, &past);
	if (r < 0)
		return r;
	*ret = json_public_path(names, past, job->view->cgroup);
	return *ret ? 0 : -ENXIO;
}

/* Gets the past in as many bins as the view has, or in fewer if the answer would be too large. */
static int get_bins(const struct view_job *job, const char *path, struct json_history *history)
{
	/* The host needs no cgroups, which may be many. */
	const enum history_question question = path ? HISTORY_ASK_PANES : HISTORY_ASK_TOTALS;
	const u64 range_us = job->until_us - job->since_us;
	int r = -E2BIG;

	for (u32 bins = job->view->bins; r == -E2BIG && bins >= MIN(FEWEST_BINS, job->view->bins);
	     bins /= 2) {
		history->bins = bins;
		history->parts = json_history_parts(range_us, bins, !path);
		r = get_past(job, question, bins * history->parts, path, &history->past);
		if (r != -E2BIG || history->parts == 1)
			continue;
		history->parts = 1;
		r = get_past(job, question, bins, path, &history->past);
	}
	return r;
}

static int make_timeline(struct view_job *job)
{
	const struct json_public_labels *labels = &job->sources->names.labels;
	struct json_page page = {.first = job->view->offset, .sums_most = TIMELINE_READS};
	struct json_history history = {.range = {job->since_us, job->until_us},
				       .shown = job->view->cgroup[0] ? job->view->cgroup : NULL,
				       .histograms = job->view->histograms,
				       .open = job->open};
	_cleanup_free_ char *path = NULL;
	const char *found = NULL;
	int r = history.shown ? find_path(job, &found) : 0;

	/* The path may belong to an answer of the history, which the next question may free. */
	if (r == 0 && found) {
		path = strdup(found);
		r = path ? 0 : -ENOMEM;
	}
	if (r == 0)
		r = get_bins(job, path, &history);
	/* A cgroup without a series now must have samples in the range. */
	if (r == 0 && path && !json_public_path(&job->sources->names, history.past, history.shown))
		r = -ENXIO;
	return r < 0 ? r : json_public_history(&history, &page, labels, &job->text, &job->length);
}

static int make_range(struct view_job *job)
{
	const struct past *past;
	int r = get_past(job, HISTORY_ASK_PANES, 0, NULL, &past);

	return r < 0 ? r
		     : json_public_range(past, job->open, &job->sources->names,
					 job->view->cgroup[0] ? job->view->cgroup : NULL, &job->text,
					 &job->length);
}

static int make_top(struct view_job *job)
{
	const struct snapshot *snapshot;
	int r = job->sources->snapshot(job->sources->userdata, &snapshot);

	return r < 0 ? r
		     : json_public_top(snapshot, &job->sources->names, job->view->cgroup, &job->text,
				       &job->length);
}

/*
 * Gets the alerts of the range. `cgroup`, in its shown form: only those of the rule on it, with what explains them;
 * NULL: all.
 */
static int get_alerts(const struct view_job *job, const char *cgroup, const char *rule, json_object **ret)
{
	struct history *history = job->sources->history;
	_cleanup_json_ json_object *alerts = NULL;
	const char *text;
	int r = history ? history_alerts(history, job->since_us, job->until_us, cgroup, rule, &text)
			: -EOPNOTSUPP;

	if (r == 0)
		r = json_parse(text, strlen(text), ALERTS_DEPTH, &alerts);
	if (r == 0 && !json_object_is_type(alerts, json_type_array))
		r = -EBADMSG;
	if (r == 0)
		*ret = TAKE_PTR(alerts);
	return r;
}

static int make_alerts(struct view_job *job)
{
	const struct http_view_sources *sources = job->sources;
	const struct timespec since = {.tv_sec = (time_t)job->view->since};
	const struct timespec until = {.tv_sec = (time_t)job->view->until};
	_cleanup_json_ json_object *alerts = NULL;
	int r = get_alerts(job, NULL, NULL, &alerts);

	return r < 0 ? r
		     : json_public_past_alerts(sources->origin, alerts, &since, &until,
					       &sources->names.labels, &job->text, &job->length);
}

static int make_past_explanation(struct view_job *job)
{
	const struct http_view *view = job->view;
	_cleanup_json_ json_object *alerts = NULL;
	/* No rule has a longer name. */
	int r = strlen(view->rule) < HISTORY_RULE_MAX ? get_alerts(job, view->cgroup, view->rule, &alerts)
						      : -ESRCH;

	return r < 0 ? r
		     : json_public_explain_past(job->sources->origin, view->rule, alerts, (time_t)view->since,
						MIN((time_t)view->until, time(NULL)), &job->sources->names,
						job->sources->suspects, &job->text, &job->length);
}

static int make_explanation(struct view_job *job)
{
	const struct http_view_sources *sources = job->sources;
	int r;

	if (job->view->until)
		return make_past_explanation(job);
	r = json_public_explain(sources->origin, sources->policy, job->view->rule, job->view->cgroup,
				&sources->names, sources->suspects, &job->text, &job->length);

	/* The cgroup is not the reason: it may exist. */
	return r == -ENOENT ? -ESRCH : r;
}

static int make_zoom(struct view_job *job)
{
	const struct http_view_sources *sources = job->sources;
	const struct zoom *zoom;
	u8 *text = NULL;
	int r;

	if (!sources->zooms)
		return -EACCES;
	zoom = zooms_find_done(sources->zooms, job->view->cgroup);
	if (!zoom)
		return -ECHILD;
	r = zoom_flame(zoom, sources->modelled, &text, &job->length);
	job->text = (char *)text;
	return r;
}

static int (*const makers[HTTP_VIEWS])(struct view_job *job) = {
	[HTTP_VIEW_TIMELINE] = make_timeline,
	[HTTP_VIEW_RANGE] = make_range,
	[HTTP_VIEW_TOP] = make_top,
	[HTTP_VIEW_ALERTS] = make_alerts,
	[HTTP_VIEW_EXPLAIN] = make_explanation,
	[HTTP_VIEW_ZOOM] = make_zoom,
};

/* For a time without stored data, says which times the history has. */
static char *describe_no_data(const struct http_view_sources *sources)
{
	char oldest[TEXT_TIME_MAX], newest[TEXT_TIME_MAX];
	struct history_state state = {0};
	char *text;

	if (sources->history)
		history_describe(sources->history, &state);
	if (!state.kept.oldest_us || !state.kept.newest_us)
		return strdup("Nothing is stored yet. The first figures are stored after 10 seconds.");
	text_time(&(struct timespec){.tv_sec = (time_t)(state.kept.oldest_us / USEC_PER_SEC)}, oldest);
	text_time(&(struct timespec){.tv_sec = (time_t)(state.kept.newest_us / USEC_PER_SEC)}, newest);
	return asprintf(&text, "Nothing is stored for this time. The history reaches from %s to %s.", oldest,
			newest) < 0
		       ? NULL
		       : text;
}

static char *describe_no_history(const struct http_view_sources *sources)
{
	const char *why = sources->history_off ? sources->history_off : "it was not started";
	char *text;

	return asprintf(&text, "No history is stored: %s.%s", why,
			strstr(why, "[history]") ? " `keep = yes` in [history] stores one, see pebsd.conf(5)."
						 : "") < 0
		       ? NULL
		       : text;
}

/* Returns the error for the client, with a sentence that says why. */
static int explain_error(const struct http_view_sources *sources, int error, char **ret_message)
{
	switch (error) {
	case -EOPNOTSUPP:
		*ret_message = describe_no_history(sources);
		return -ENOENT;
	case -ENODATA:
		*ret_message = describe_no_data(sources);
		return -ENOENT;
	case -ENXIO:
	case -ENOENT:
		*ret_message = strdup(
			"No such cgroup, or it has no samples in this range, or include and exclude in [cgroups] leave it out.");
		return -ENOENT;
	case -ESRCH:
		*ret_message = strdup(
			"No such alert: a rule on a cgroup is explained while it is pending or firing, and for some time after it is resolved.");
		return -ENOENT;
	case -ECHILD:
		*ret_message = strdup(
			"This cgroup has no finished zoom, or pebsd no longer keeps it. Add `seconds` to start a zoom.");
		return -ENOENT;
	case -EACCES:
		*ret_message = strdup(HTTP_ZOOMS_NOT_SERVED);
		return -EACCES;
	case -E2BIG:
		*ret_message = strdup("The answer is too large. Ask for a shorter time or for one cgroup.");
		return -EINVAL;
	case -EBUSY:
		*ret_message = strdup("Another program has locked the history. End it, or try again.");
		return -EBUSY;
	case -ETIME:
		*ret_message = strdup(
			"Reading the history takes more than 5 seconds. Ask for a shorter time or for one cgroup, or try again later.");
		return -EBUSY;
	case -ETIMEDOUT:
		*ret_message = strdup("The history did not answer in time. Try again later.");
		return -EBUSY;
	case -EUSERS:
		*ret_message = strdup("Too many requests for the history are waiting. Try again later.");
		return -EBUSY;
	default:
		*ret_message = NULL;
		return error;
	}
}

int http_view_make(const struct http_view_sources *sources, const struct http_view *view, char **ret_text,
		   size_t *ret_length, char **ret_message)
{
	struct view_job job = {.sources = sources,
			       .view = view,
			       .since_us = view->since * USEC_PER_SEC,
			       .until_us = view->until * USEC_PER_SEC,
			       .unwanted = !ret_text};
	int r;

	/* The last pane of a range that ends now is not complete. */
	job.open = view->until + 2ULL * HISTORY_PANE_SECONDS > (u64)time(NULL);
	r = makers[view->kind](&job);
	if (r < 0)
		return r == -EAGAIN || r == -ENOMEM ? r : explain_error(sources, r, ret_message);
	if (!ret_text) {
		free(job.text);
		return 0;
	}
	*ret_text = job.text;
	*ret_length = job.length;
	return 0;
}
