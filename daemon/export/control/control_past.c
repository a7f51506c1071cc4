// SPDX-License-Identifier: GPL-2.0
#include "export/control/control_past.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/json_get.h"
#include "base/text.h"
#include "base/utf8.h"
#include "export/control/control_detail.h"

#define USEC_PER_SEC 1000000ULL

/* Depth of the alerts that the history stores. */
#define ALERTS_DEPTH 16

/* The longest pane of the history. */
#define PANE_MAX_US (600 * USEC_PER_SEC)

/* Reads an RFC 3339 time. Returns 0, also if it is absent; or -EINVAL. */
static int get_moment(const json_object *parameters, const char *key, bool *ret_given, u64 *ret_us)
{
	const char *text = json_get_text(parameters, key);
	time_t seconds;

	*ret_given = json_get(parameters, key) != NULL;
	if (!*ret_given)
		return 0;
	if (!text || text_parse_time(text, &seconds) < 0 || seconds < 0)
		return -EINVAL;
	*ret_us = (u64)seconds * USEC_PER_SEC;
	return 0;
}

static const char *get_window(const json_object *parameters, struct maybe_double *ret)
{
	*ret = (struct maybe_double){.known = json_get(parameters, "window_s") != NULL};
	if (ret->known && (!json_get_double(parameters, "window_s", &ret->value) || !isfinite(ret->value) ||
			   ret->value <= 0))
		return "window_s";
	return NULL;
}

/* The end of a range that ends now. It is rounded, so that a call that waits asks the same question again. */
static u64 rounded_up(time_t now)
{
	return ((u64)now + HISTORY_PANE_SECONDS) / HISTORY_PANE_SECONDS * HISTORY_PANE_SECONDS;
}

const char *control_get_when(const json_object *parameters, bool with_window, time_t now,
			     struct control_when *ret)
{
	bool since, until;
	const char *mistake;

	*ret = (struct control_when){0};
	mistake = with_window ? get_window(parameters, &ret->window) : NULL;
	if (mistake)
		return mistake;
	if (get_moment(parameters, "since", &since, &ret->since_us) < 0)
		return "since";
	if (get_moment(parameters, "until", &until, &ret->until_us) < 0)
		return "until";
	ret->past = since || until;
	if (!ret->past)
		return NULL;
	if (ret->window.known)
		return "window_s";
	if (!until)
		ret->until_us = rounded_up(now) * USEC_PER_SEC;
	ret->open = ret->until_us + 2 * HISTORY_PANE_US > (u64)now * USEC_PER_SEC;
	if (!since)
		ret->since_us = ret->until_us - MIN(ret->until_us, HISTORY_PANE_US);
	return ret->since_us < ret->until_us ? NULL : since ? "since" : "until";
}

/* Says why nothing is stored for a time. `pebsctl top` shows this text and the time in one line of a terminal. */
static int no_data(struct varlink_call *call, const struct history_state *state,
		   const struct control_when *when)
{
	const u64 oldest = state->kept.oldest_us, newest = state->kept.newest_us;
	const bool early = when->until_us <= oldest;
	char time[TEXT_TIME_MAX], text[96];

	if (!oldest || !newest)
		return control_not_measured_why(
			call, "history",
			"nothing is stored yet; the first figures are stored after 10 seconds");
	if (!early && when->until_us <= newest)
		return control_not_measured_why(call, "history", "nothing is stored for this time");
	text_time(&(struct timespec){.tv_sec = (time_t)((early ? oldest : newest) / USEC_PER_SEC)}, time);
	(void)snprintf(text, sizeof(text), "the history %s at %s", early ? "begins" : "ends", time);
	return control_not_measured_why(call, "history", text);
}

static int no_history(struct varlink_call *call, const struct history_state *state)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "no history is stored%s%s", state->off_reason ? ": " : "",
		       state->off_reason ? state->off_reason : "");
	return control_not_measured_why(call, "history", text);
}

/* Says why nothing can be read, in the history's own sentence, which names the file and what to do, if it has one. */
static int unreadable(struct varlink_call *call, const struct history_state *state, int error)
{
	char text[sizeof(state->kept.what) + 128];

	if (state->kept.error == -error)
		(void)snprintf(text, sizeof(text), "%s", state->kept.what);
	else
		(void)snprintf(text, sizeof(text), "the history cannot be read: %s%s%s", strerror(-error),
			       state->kept.error ? "; " : "", state->kept.error ? state->kept.what : "");
	return control_not_measured_why(call, "history", text);
}

/* Waits, or answers with the error. `of_all`: the call may ask for one cgroup instead of all. */
static int answer_error(struct varlink_call *call, const struct control *control,
			const struct control_when *when, int error, bool of_all)
{
	struct history_state state = {0};
	int r;

	if (error == -EAGAIN) {
		r = varlink_wait(call);
		if (r != -ETIME)
			return r;
		error = -ETIMEDOUT;
	}
	if (control->backend.history)
		control->backend.history(control->backend.userdata, &state);
	switch (error) {
	case -ENOMEM:
		return error;
	case -ENODATA:
		return no_data(call, &state, when);
	case -EOPNOTSUPP:
		return no_history(call, &state);
	case -ETIMEDOUT:
		return control_not_measured_why(
			call, "history", "the history did not answer within 10 seconds; try again later");
	case -E2BIG:
		return control_not_measured_why(
			call, "history",
			of_all ? "the answer would be too large; ask for a shorter time or for one cgroup"
			       : "the answer would be too large; ask for a shorter time");
	case -ETIME:
		return control_not_measured_why(
			call, "history",
			of_all ? "reading takes more than 5 seconds; ask for a shorter time or for one cgroup"
			       : "reading takes more than 5 seconds; ask for a shorter time");
	case -EUSERS:
		return control_busy(call, "too many requests for the history are waiting; try again", NULL);
	case -EBUSY:
		return control_not_measured_why(
			call, "history", "another program has locked the history; end it, or try again");
	default:
		return unreadable(call, &state, error);
	}
}

/* The path that is displayed as `shown`. NULL: a shown form that is not the path itself, with a U+FFFD (utf8.h). */
static const char *path_of(const char *shown)
{
	return shown && utf8_is_shown_as(shown, shown) ? shown : NULL;
}

/* Answers if the history cannot have this cgroup, because it stores no path as long as this. */
static bool answer_too_long(struct varlink_call *call, const char *shown, int *ret_result)
{
	const char *path = path_of(shown);

	if (!path || strlen(path) < HISTORY_TEXT_MAX)
		return false;
	*ret_result = control_no_such_cgroup(call, shown);
	return true;
}

static int get_past(const struct control *control, const struct control_when *when, u32 bins,
		    const char *shown, bool subtree, const struct past **ret)
{
	const struct control_backend *backend = &control->backend;
	/* Without a path, look among all cgroups. */
	const char *path = path_of(shown);

	return backend->past ? backend->past(backend->userdata, when->since_us, when->until_us, bins, path,
					     path && subtree, ret)
			     : -EOPNOTSUPP;
}

void control_past_ask(const struct control *control, const struct control_when *when, u32 bins,
		      const char *shown, bool subtree)
{
	const struct past *past;

	(void)get_past(control, when, bins, shown, subtree, &past);
}

bool control_past(struct varlink_call *call, const struct control *control, const struct control_when *when,
		  u32 bins, const char *shown, bool subtree, const struct past **ret, int *ret_result)
{
	int r;

	if (answer_too_long(call, shown, ret_result))
		return false;
	r = get_past(control, when, bins, shown, subtree, ret);
	if (r < 0)
		*ret_result = answer_error(call, control, when, r, !shown);
	return r >= 0;
}

bool control_past_cgroups(struct varlink_call *call, const struct control *control,
			  const struct control_when *when, const char *shown, const struct past **ret,
			  int *ret_result)
{
	int r = get_past(control, when, 1, shown, true, ret);

	if (r == -ENODATA || r == -E2BIG) {
		*ret = NULL;
		r = 0;
	}
	if (r < 0)
		*ret_result = answer_error(call, control, when, r, !shown);
	return r >= 0;
}

bool control_past_panes(struct varlink_call *call, const struct control *control,
			const struct control_when *when, const struct past **ret, int *ret_result)
{
	int r = past_panes(control->backend.past, control->backend.userdata, when->since_us, when->until_us,
			   ret);

	if (r < 0)
		*ret_result = answer_error(call, control, when, r, false);
	return r >= 0;
}

bool control_past_alerts(struct varlink_call *call, const struct control *control,
			 const struct control_when *when, const char *shown, const char *rule,
			 json_object **ret, int *ret_result)
{
	const struct control_backend *backend = &control->backend;
	const char *text;
	int r = backend->past_alerts ? backend->past_alerts(backend->userdata, when->since_us, when->until_us,
							    shown, rule, &text)
				     : -EOPNOTSUPP;

	if (r >= 0)
		r = json_parse(text, strlen(text), ALERTS_DEPTH, ret);
	if (r >= 0 && !json_object_is_type(*ret, json_type_array)) {
		json_object_put(*ret);
		*ret = NULL;
		r = -EBADMSG;
	}
	if (r < 0)
		*ret_result = answer_error(call, control, when, r, false);
	return r >= 0;
}

/* The newest pane may be as old as two collections: one that is under way, and one whose pane is not stored yet. */
static bool is_not_stored_yet(const struct control *control, const struct past_span *gap, u64 now_us)
{
	const struct snapshot *snapshot;

	return gap->until_us >= now_us &&
	       control_snapshot(control, &(struct maybe_double){0}, &snapshot) == 0 &&
	       (double)(gap->until_us - gap->since_us) <= 2e6 * snapshot->interval_seconds;
}

bool control_past_gaps(struct varlink_call *call, const struct control *control,
		       const struct control_when *when, time_t now, struct past_span **ret, size_t *ret_n,
		       int *ret_result)
{
	const struct control_backend *backend = &control->backend;
	const u64 now_us = rounded_up(now) * USEC_PER_SEC;
	/* The future is not a gap, although nothing is stored for it. */
	const u64 until_us = MIN(when->until_us + PANE_MAX_US, now_us);
	const u64 panes = (until_us - MIN(when->since_us, until_us)) / HISTORY_PANE_US + 1;
	const struct past_span whole = {when->since_us, until_us}, *gaps = &whole;
	const struct past *past = NULL;
	int r = backend->past ? -ENODATA : -EOPNOTSUPP;

	/* One cgroup is enough to know which panes are stored. */
	if (backend->past && when->since_us < until_us)
		r = backend->past(backend->userdata, when->since_us, until_us,
				  (u32)MIN(panes, HISTORY_PANES_MAX), "/", false, &past);
	*ret_n = r == -ENODATA && !when->open;
	if (r < 0 && r != -ENODATA && r != -EOPNOTSUPP) {
		*ret_result = answer_error(call, control, when, r, false);
		return false;
	}
	if (r >= 0)
		gaps = past_gaps(past, ret_n);
	if (*ret_n > 0 && is_not_stored_yet(control, &gaps[*ret_n - 1], now_us))
		(*ret_n)--;
	*ret = calloc(*ret_n + 1, sizeof(**ret));
	if (!*ret) {
		*ret_result = -ENOMEM;
		return false;
	}
	memcpy(*ret, gaps, *ret_n * sizeof(**ret));
	return true;
}
