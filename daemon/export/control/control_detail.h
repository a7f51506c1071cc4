// SPDX-License-Identifier: GPL-2.0
/* What the methods that look closer share: which cgroup and which zoom is meant, and the memory's nodes. */
#ifndef PEBSD_CONTROL_DETAIL_H
#define PEBSD_CONTROL_DETAIL_H

#include "detail/zooms.h"
#include "export/control/control_call.h"

/*
 * The path of the cgroup that is shown so: the snapshot's, or the text itself where it could be the path of a
 * cgroup that was not sampled so far. 0, the caller frees; -ENOENT, -ENOMEM.
 */
int control_cgroup_path(const struct control *control, const char *shown, char **ret);

/* A zoom by number, or the newest of a cgroup. */
struct control_zoom_asked {
	const char *shown; /* NULL: by `id` */
	u64 id;
};

/* Exactly one of `cgroup` and `zoom`. NULL, or the parameter that is not as it has to be. */
const char *control_zoom_asked(const json_object *parameters, struct control_zoom_asked *ret);

/* NULL: none is held. The zooms'. */
const struct zoom *control_find_zoom(const struct control *control, const struct control_zoom_asked *asked);

/* Answers that none is held, or that there is no such cgroup. */
int control_no_zoom(struct varlink_call *call, const struct control *control,
		    const struct control_zoom_asked *asked);

/* `until` may be NULL. */
int control_busy(struct varlink_call *call, const char *reason, const struct timespec *until);

#endif
