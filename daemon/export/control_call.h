// SPDX-License-Identifier: GPL-2.0
/* What the methods of the control socket share: who may call, and how they answer. */
#ifndef PEBSD_CONTROL_CALL_H
#define PEBSD_CONTROL_CALL_H

#include "export/control.h"
#include "export/control_interface.h"
#include "export/control_socket.h"
#include "export/permission.h"
#include "export/varlink.h"

#define CONTROL_ERROR(name) CONTROL_INTERFACE "." name

struct control {
	struct control_backend backend;
	struct varlink_service service;
	struct varlink_server *server;
	struct control_socket socket;
	struct permission permission;
};

/* Takes `parameters`; NULL: there was no memory for them. */
int control_reply(struct varlink_call *call, json_object *parameters);

/* NotMeasured, and why; the second says it of what a snapshot's error means. */
int control_not_measured_why(struct varlink_call *call, const char *what, const char *reason);
int control_not_measured(struct varlink_call *call, int error);

int control_no_such_cgroup(struct varlink_call *call, const char *shown);

bool control_permitted(const struct varlink_call *call, const struct control *control,
		       enum permission_level level);

/* Tells who may. */
int control_deny(struct varlink_call *call, const struct control *control, enum permission_level level);

/* As the backend's. */
int control_snapshot(const struct control *control, const struct maybe_double *window,
		     const struct snapshot **ret);

/* By the form of its path that the replies show; NULL: there is none. */
const struct snapshot_cgroup *control_find_cgroup(const struct snapshot *snapshot, const char *shown);

#endif
