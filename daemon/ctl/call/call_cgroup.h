// SPDX-License-Identifier: GPL-2.0
/* Finds the cgroup that a user means: by its path, the end of it, a unit, a pod or a container. */
#ifndef PEBSD_CTL_CALL_CGROUP_H
#define PEBSD_CTL_CALL_CGROUP_H

#include "ctl/call/call_when.h"
#include "ctl/call/ctl_options.h"
#include "ctl/call/exit.h"

/*
 * Asks the daemon which cgroup `name` is, or was in `range`; NULL: it is. `ret_path` gets the path in its shown form,
 * which the caller frees. If the daemon knows no such cgroup, it gets `name`, and `ret_nearest` the most similar name
 * (the caller frees it; NULL: none): the method of the verb decides. If several cgroups have the name, reports
 * them and returns CTL_NO_SUCH.
 */
enum ctl_exit call_cgroup(const struct ctl_options *options, const char *name, const struct call_range *range,
			  char **ret_path, char **ret_nearest);

#endif
