// SPDX-License-Identifier: GPL-2.0
/* Functions that the methods of the control socket share: permissions, snapshots, replies and errors. */
#ifndef PEBSD_CONTROL_CALL_H
#define PEBSD_CONTROL_CALL_H

#include "base/local_socket.h"
#include "cgroup/short_names.h"
#include "export/control/control.h"
#include "export/control/control_interface.h"
#include "export/control/permission.h"
#include "export/profile/profile_pieces.h"
#include "varlink/varlink.h"

#define CONTROL_ERROR(name) CONTROL_INTERFACE "." name

/* The NUMA nodes, read when the first report of a zoom is requested. */
struct control_nodes {
	bool read;
	struct node_range *ranges;
	size_t n_ranges;
	int *of_cpu;
	size_t n_cpus;
};

/* The short names of all cgroups, as of one collection. */
struct control_names {
	struct short_names *names; /* NULL: not made yet */
	u64 sequence;              /* of the last snapshot whose cgroups were added */
	time_t made;               /* CLOCK_REALTIME of the first one */
	bool longer;               /* names may be longer than they need to be, since a cgroup was removed */
};

struct control {
	sd_event *event; /* not owned */
	struct control_backend backend;
	struct varlink_service service;
	struct varlink_server *server;
	struct local_socket socket;
	struct permission permission;
	struct profile_pieces pieces;
	struct control_nodes nodes;
	struct control_names names;
};

/* Replies with `parameters` and takes them. NULL: no memory for them, returns -ENOMEM. */
int control_reply(struct varlink_call *call, json_object *parameters);

/*
 * Finds the short names of all cgroups of the last collection, owned by `control`. It takes a snapshot of the whole
 * time, so a snapshot of a window may end here. Returns 0, -ENODATA if nothing has been collected yet, or -ENOMEM.
 */
int control_names(struct control *control, struct short_names **ret);

/*
 * Returns whether all names are to be made again at `now` (CLOCK_REALTIME), which may be before they were made if the
 * clock was set. `for_reply`: if they may be longer than they need to be, they are old earlier. Pure.
 */
bool control_names_old(const struct control_names *names, time_t now, bool for_reply);

/* Same as control_reply(), but adds the names of cgroups (json_add_names()). */
int control_reply_named(struct varlink_call *call, struct control *control, json_object *parameters);

/*
 * control_not_measured_why() and control_not_measured() answer with NotMeasured and the reason. The second
 * one derives the reason from the error of a snapshot.
 */
int control_not_measured_why(struct varlink_call *call, const char *what, const char *reason);
int control_not_measured(struct varlink_call *call, int error);

int control_no_such_cgroup(struct varlink_call *call, const char *shown);

/*
 * Answers for a cgroup without samples: NotMeasured with `no_slot` if the cgroup has no slot now, else
 * NoSuchCgroup. `what` is the parameter of NotMeasured.
 */
int control_no_samples(struct varlink_call *call, const struct control *control, const char *what,
		       const char *shown);

bool control_permitted(const struct varlink_call *call, const struct control *control,
		       enum permission_level level);

/* Answers with PermissionDenied, and says who may call. */
int control_deny(struct varlink_call *call, const struct control *control, enum permission_level level);

/*
 * Adds the number of firing alerts to the reply of GetStatus, which it takes and returns. Adds nothing if
 * there is no rule. NULL: no memory. In control_policy.c.
 */
json_object *control_add_alerts(const struct control *control, json_object *status);

/* Adds the state of the history in the same way. In control_history.c. */
json_object *control_add_history(const struct control *control, json_object *status);

/* The NUMA nodes, owned by `control`; empty if they could not be read. In control_nodes.c. */
const struct control_nodes *control_read_nodes(struct control *control);
void control_forget_nodes(struct control *control);

/* See control_backend.snapshot. */
int control_snapshot(const struct control *control, const struct maybe_double *window,
		     const struct snapshot **ret);

/* See control_backend.release: call this when the last snapshot is no longer needed. */
void control_release(const struct control *control);

/*
 * Finds the path that is displayed as `shown` among the cgroups without a slot and those above them. Returns 0,
 * and the caller frees `*ret`; -ENXIO if there is none; or -ENOMEM.
 */
int control_subtree_without_slot(const struct snapshot *snapshot, const char *shown, char **ret);

/* The same among all cgroups of the snapshot, with and without a slot, and those above them. */
int control_subtree_path(const struct snapshot *snapshot, const char *shown, char **ret);

#endif
