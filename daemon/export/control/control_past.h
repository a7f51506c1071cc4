// SPDX-License-Identifier: GPL-2.0
/* The time that a call asks about, and answers about the past that the call may have to wait for. */
#ifndef PEBSD_CONTROL_PAST_H
#define PEBSD_CONTROL_PAST_H

#include "export/control/control_call.h"

struct control_when {
	bool past;
	struct maybe_double window; /* of the present; not known: the whole time */
	u64 since_us, until_us;     /* of the past, CLOCK_REALTIME */
	bool open;                  /* the past ends now */
};

/*
 * Reads `since`, `until` and, if `with_window`, `window_s`. Without `until` the time ends at `now`, rounded up to 10 s,
 * so that a call that waits asks the same question again. Without `since` it begins 10 s before its end. Returns the
 * name of the invalid parameter, or NULL.
 */
const char *control_get_when(const json_object *parameters, bool with_window, time_t now,
			     struct control_when *ret);

/*
 * Gets the past of that time (struct control_backend). `shown` is the only cgroup that is needed, in its shown form;
 * NULL: all, "": their sum. Returns true if `*ret` is there. Otherwise the call waits or was answered with an error,
 * and the handler returns `*ret_result`.
 */
bool control_past(struct varlink_call *call, const struct control *control, const struct control_when *when,
		  u32 bins, const char *shown, bool subtree, const struct past **ret, int *ret_result);

/*
 * The same, to know which cgroups had samples. `shown`: this cgroup and those below it; NULL: all. `*ret` is NULL if
 * nothing is stored for that time, or if the answer would be too large.
 */
bool control_past_cgroups(struct varlink_call *call, const struct control *control,
			  const struct control_when *when, const char *shown, const struct past **ret,
			  int *ret_result);

/* Sends the request of a later control_past() with these arguments, and does not wait. */
void control_past_ask(const struct control *control, const struct control_when *when, u32 bins,
		      const char *shown, bool subtree);

/* Like control_past(), but with one bin for each pane, unless the answer would become too large. */
bool control_past_panes(struct varlink_call *call, const struct control *control,
			const struct control_when *when, const struct past **ret, int *ret_result);

/*
 * The same for the alerts of that time: a JSON array, which the caller puts. `shown` and `rule` as `cgroup` and `rule`
 * in struct control_backend.
 */
bool control_past_alerts(struct varlink_call *call, const struct control *control,
			 const struct control_when *when, const char *shown, const char *rule,
			 json_object **ret, int *ret_result);

/*
 * Finds the gaps in the range, but none in the future or in the last two collection intervals. Also looks at up to 10
 * minutes after the range, because a long pane that contains its end ends later. Without a history, no gap is known;
 * other failures are the call's. The caller frees `*ret`. The rest is as for control_past().
 */
bool control_past_gaps(struct varlink_call *call, const struct control *control,
		       const struct control_when *when, time_t now, struct past_span **ret, size_t *ret_n,
		       int *ret_result);

#endif
