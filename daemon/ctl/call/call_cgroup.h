// SPDX-License-Identifier: GPL-2.0
/* Finds the cgroup that a user means: by its path, the end of it, a unit, a pod or a container. */
#ifndef PEBSD_CTL_CALL_CGROUP_H
#define PEBSD_CTL_CALL_CGROUP_H

#include "ctl/call/call_when.h"
#include "ctl/call/ctl_options.h"
#include "ctl/call/exit.h"

/*
 * Asks the daemon which cgroup has this name now, or had it in `range` (NULL: now). `ret_path` gets the path in its
 * shown form. If several cgroups have the name, reports them and returns CTL_NO_SUCH.
 *
 * If the daemon knows no such cgroup, `ret_known` is false, `ret_path` gets `name`, and `ret_nearest` the most similar
 * name (NULL: none). The method of the verb reports it. If the daemon cannot look for names, `ret_path` gets `name`,
 * too. The caller frees both texts.
 */
enum ctl_exit call_cgroup(const struct ctl_options *options, const char *name, const struct call_range *range,
			  char **ret_path, bool *ret_known, char **ret_nearest);

#endif
