// SPDX-License-Identifier: GPL-2.0
/* Requests for zooms that several verbs share. All functions report failures on standard error. */
#ifndef PEBSD_CTL_ZOOM_WAIT_H
#define PEBSD_CTL_ZOOM_WAIT_H

#include "ctl/call/call.h"

/* Begins a zoom of the cgroup, as the options say, or prolongs a running one. `ret` is the reply of Zoom. */
enum ctl_exit zoom_begin(const struct ctl_options *options, struct client *client, const char *cgroup,
			 json_object **ret);

/*
 * Waits until the zoom is over and its addresses are named, and shows the progress. `ret` is the final state of
 * the zoom. If a signal interrupts the wait, prints that the zoom continues, and returns CTL_FAILED.
 */
enum ctl_exit zoom_wait(const struct ctl_options *options, struct client *client, u64 id, const char *cgroup,
			json_object **ret);

/*
 * Calls GetZoom by number, or if `id` is 0, for the newest zoom of a cgroup. `limit` 0: the daemon's default.
 */
enum ctl_exit zoom_get(const struct ctl_options *options, struct client *client, u64 id, const char *cgroup,
		       u64 limit, json_object **ret);

#endif
