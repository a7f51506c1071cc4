// SPDX-License-Identifier: GPL-2.0
/* Zooms as verbs ask for them. All report what fails. */
#ifndef PEBSD_CTL_ZOOM_WAIT_H
#define PEBSD_CTL_ZOOM_WAIT_H

#include "ctl/call/call.h"

/* Begins one of the cgroup, or prolongs it, as the options say. `ret` is the reply of Zoom. */
enum ctl_exit zoom_begin(const struct ctl_options *options, struct client *client, const char *cgroup,
			 json_object **ret);

/*
 * Waits until it is over and its addresses are named, and tells meanwhile how far it is. CTL_FAILED, after it
 * is told what goes on, where a signal asked to end. `ret` is the zoom as it then is.
 */
enum ctl_exit zoom_wait(const struct ctl_options *options, struct client *client, u64 id, const char *cgroup,
			json_object **ret);

/* GetZoom by number, or where that is 0 the newest of a cgroup. `limit` 0: as many as there are. */
enum ctl_exit zoom_get(const struct ctl_options *options, struct client *client, u64 id, const char *cgroup,
		       u64 limit, json_object **ret);

#endif
