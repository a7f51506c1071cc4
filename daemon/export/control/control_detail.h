// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that the methods for zooms, profiles and hot tables share: they find the requested cgroup or
 * zoom, and answer with common errors.
 */
#ifndef PEBSD_CONTROL_DETAIL_H
#define PEBSD_CONTROL_DETAIL_H

#include "detail/zooms.h"
#include "export/control/control_call.h"

/*
 * Returns the path of the cgroup whose shown form is `shown`. If the snapshot has no such cgroup, with or
 * without a slot, the text itself is the path, because the cgroup may not have been sampled yet. Returns 0, and
 * the caller frees `ret`; -ENOENT if the text cannot be a path; -ENOMEM.
 */
int control_cgroup_path(const struct control *control, const char *shown, char **ret);

/* A request for one zoom: by number, or the newest zoom of a cgroup. */
struct control_zoom_request {
	const char *shown; /* NULL: by `id` */
	u64 id;
};

/*
 * Reads `cgroup` or `zoom`, of which exactly one must be given. Returns NULL, or the name of the invalid
 * parameter.
 */
const char *control_read_zoom_request(const json_object *parameters, struct control_zoom_request *ret);

/* Returns the zoom, which the zooms own; NULL: it is not kept. */
const struct zoom *control_find_zoom(const struct control *control,
				     const struct control_zoom_request *request);

/* Answers that no such zoom is kept, or that there is no such cgroup. */
int control_no_zoom(struct varlink_call *call, const struct control *control,
		    const struct control_zoom_request *request);

/* Answers with Busy. `until`: the time at which a retry can succeed; NULL: not known. */
int control_busy(struct varlink_call *call, const char *reason, const struct timespec *until);

#endif
