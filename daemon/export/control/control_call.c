// SPDX-License-Identifier: GPL-2.0
#include "export/control/control_call.h"

#include <errno.h>
#include <string.h>

#include "base/json_get.h"
#include "export/json/json_names.h"
#include "snapshot/snapshot_view.h"
#include "snapshot/view_tree.h"

/*
 * After this time all names are made again: cgroups that are gone leave their names, and containers whose names were
 * found in the meantime get them. Until then only new cgroups are added, which takes a fraction of the time.
 */
#define NAMES_SECONDS 20

/* The same if a cgroup was removed that made names of others longer. */
#define NAMES_LONGER_SECONDS 2

int control_reply(struct varlink_call *call, json_object *parameters)
{
	return parameters ? varlink_reply(call, parameters) : -ENOMEM;
}

bool control_names_old(const struct control_names *names, time_t now, bool for_reply)
{
	const time_t seconds = for_reply && names->longer ? NAMES_LONGER_SECONDS : NAMES_SECONDS;

	return now < names->made || now >= names->made + seconds;
}

int control_names(struct control *control, struct short_names **ret)
{
	struct control_names *names = &control->names;
	struct short_names *made = NULL;
	const struct snapshot *snapshot;
	int r = control_snapshot(control, &(struct maybe_double){0}, &snapshot);

	if (r < 0)
		return r;
	if (!names->names || control_names_old(names, snapshot->taken.tv_sec, true)) {
		r = json_names_new(snapshot, &made);
		if (r < 0)
			return r;
		short_names_free(names->names);
		*names = (struct control_names){made, snapshot->sequence, snapshot->taken.tv_sec, false};
	} else if (names->sequence != snapshot->sequence) {
		r = json_names_add(snapshot, names->names, &names->longer);
		names->sequence = snapshot->sequence;
	}
	*ret = names->names;
	return r;
}

int control_reply_named(struct varlink_call *call, struct control *control, json_object *parameters)
{
	struct short_names *names = NULL;
	int r = parameters ? control_names(control, &names) : -ENOMEM;

	if (r < 0 && r != -ENODATA) {
		json_object_put(parameters);
		return r;
	}
	return control_reply(call, json_add_names(parameters, names));
}

static int not_measured(struct varlink_call *call, const char *what, const char *reason, bool no_slot)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();

	if (!parameters || json_object_object_add(parameters, "what", json_object_new_string(what)) < 0 ||
	    json_object_object_add(parameters, "reason", json_object_new_string(reason)) < 0 ||
	    (no_slot && json_object_object_add(parameters, "no_slot", json_object_new_boolean(true)) < 0))
		return -ENOMEM;
	return varlink_error(call, CONTROL_ERROR("NotMeasured"), TAKE_PTR(parameters));
}

int control_not_measured_why(struct varlink_call *call, const char *what, const char *reason)
{
	return not_measured(call, what, reason, false);
}

bool control_permitted(const struct varlink_call *call, const struct control *control,
		       enum permission_level level)
{
	struct permission_peer peer = {.credentials = varlink_peer(call)};

	peer.groups = varlink_peer_groups(call, &peer.n_groups);
	return permission_grants(&control->permission, level, &peer);
}

int control_deny(struct varlink_call *call, const struct control *control, enum permission_level level)
{
	_cleanup_json_ json_object *parameters = json_object_new_object();
	_cleanup_free_ char *text = permission_text(&control->permission, level);

	if (!parameters || !text ||
	    json_object_object_add(parameters, "permitted", json_object_new_string(text)) < 0)
		return -ENOMEM;
	return varlink_error(call, VARLINK_PERMISSION_DENIED, TAKE_PTR(parameters));
}

int control_not_measured(struct varlink_call *call, int error)
{
	return control_not_measured_why(call, "samples",
					error == -ENODATA
						? "nothing has been collected yet; try again in a few seconds"
						: strerror(-error));
}

int control_snapshot(const struct control *control, const struct maybe_double *window,
		     const struct snapshot **ret)
{
	return control->backend.snapshot(control->backend.userdata, window, ret);
}

void control_release(const struct control *control)
{
	if (control->backend.release)
		control->backend.release(control->backend.userdata);
}

int control_subtree_without_slot(const struct snapshot *snapshot, const char *shown, char **ret)
{
	const struct no_slot *list = snapshot->no_slot;
	size_t length;

	for (size_t i = 0; list && i < list->n; i++)
		if (view_tree_holds(list->paths[i], shown, &length)) {
			*ret = strndup(list->paths[i], length);
			return *ret ? 0 : -ENOMEM;
		}
	return -ENXIO;
}

int control_subtree_path(const struct snapshot *snapshot, const char *shown, char **ret)
{
	size_t length;

	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		if (view_tree_holds(snapshot->cgroups[i].path, shown, &length)) {
			*ret = strndup(snapshot->cgroups[i].path, length);
			return *ret ? 0 : -ENOMEM;
		}
	return control_subtree_without_slot(snapshot, shown, ret);
}

int control_no_such_cgroup(struct varlink_call *call, const char *shown)
{
	json_object *error = json_object_new_object();

	if (!error || json_object_object_add(error, "cgroup", json_object_new_string(shown)) < 0) {
		json_object_put(error);
		return -ENOMEM;
	}
	return varlink_error(call, CONTROL_ERROR("NoSuchCgroup"), error);
}

int control_no_samples(struct varlink_call *call, const struct control *control, const char *what,
		       const char *shown)
{
	const struct snapshot *snapshot;

	if (control_snapshot(control, &(struct maybe_double){0}, &snapshot) < 0 ||
	    !no_slot_shown_as(snapshot->no_slot, shown))
		return control_no_such_cgroup(call, shown);
	return not_measured(
		call, what,
		"the cgroup has no slot, so its samples are unattributed; raise `max-memory` in [cgroups], or `max` if it is a number, and restart pebsd",
		true);
}
