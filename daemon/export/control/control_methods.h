// SPDX-License-Identifier: GPL-2.0
/*
 * The methods of the control socket (varlink_handler), described in io.pebsd.varlink. `userdata` is the
 * struct control.
 */
#ifndef PEBSD_CONTROL_METHODS_H
#define PEBSD_CONTROL_METHODS_H

#include "varlink/varlink.h"

extern const struct varlink_method control_methods[];
extern const size_t control_n_methods;

/* control_top.c: GetStatus, GetTop and GetCgroup. */
int control_get_status(struct varlink_call *call, json_object *parameters, void *userdata);
int control_get_top(struct varlink_call *call, json_object *parameters, void *userdata);
int control_get_cgroup(struct varlink_call *call, json_object *parameters, void *userdata);

/* control_find.c */
int control_find_cgroups(struct varlink_call *call, json_object *parameters, void *userdata);

/* control_policy.c: rules, alerts and neighbours. */
int control_get_rules(struct varlink_call *call, json_object *parameters, void *userdata);
int control_get_alerts(struct varlink_call *call, json_object *parameters, void *userdata);
int control_explain(struct varlink_call *call, json_object *parameters, void *userdata);
int control_get_neighbours(struct varlink_call *call, json_object *parameters, void *userdata);

/* control_history.c: the history in bins, and comparisons. */
int control_get_history(struct varlink_call *call, json_object *parameters, void *userdata);
int control_compare(struct varlink_call *call, json_object *parameters, void *userdata);

/* control_detail.c: zooms. */
int control_zoom(struct varlink_call *call, json_object *parameters, void *userdata);
int control_end_zoom(struct varlink_call *call, json_object *parameters, void *userdata);
int control_get_zoom(struct varlink_call *call, json_object *parameters, void *userdata);
int control_get_zooms(struct varlink_call *call, json_object *parameters, void *userdata);

/* control_hot.c */
int control_get_hot(struct varlink_call *call, json_object *parameters, void *userdata);

/* control_profile.c */
int control_get_profile(struct varlink_call *call, json_object *parameters, void *userdata);

/* control_sampling.c: pause, resume and reload. */
int control_pause(struct varlink_call *call, json_object *parameters, void *userdata);
int control_resume(struct varlink_call *call, json_object *parameters, void *userdata);
int control_reload(struct varlink_call *call, json_object *parameters, void *userdata);

#endif
