// SPDX-License-Identifier: GPL-2.0
/*
 * Short names of cgroups for people. The name is made of the labels of the cgroup (container_label.h), so that
 * it is the name that the cgroup's manager uses: of the pod, the container or the unit. Pure functions.
 *
 * A name has no `/` at its start, unless it is a path. It has the parts that are known, separated by `/`:
 *
 *	NAMESPACE/POD/CONTAINER           a container of a pod
 *	CONTAINER                         another container, or a virtual machine
 *	RUNTIME-ID                        a container whose name is not known: 12 digits of the id
 *	pod-UID                           a pod whose name is not known: 8 digits of the uid
 *	UNIT                              a unit, without `.service`, `.scope` or `.slice`
 *	user-NUMBER/UNIT                  a unit or a session of a user
 *	COMPONENT                         another cgroup: the last component of the path
 *
 * A unit in a container, and further components below the container or unit, follow it. A name that is not a path
 * ("model:NAME", "comm:NAME") is short without the part before the colon, unless NAME has such a part, too.
 */
#ifndef PEBSD_SHORT_NAME_H
#define PEBSD_SHORT_NAME_H

#include "cgroup/container_label.h"

/*
 * Detail of a name. Level 0 is the shortest name. Each further level adds what tells cgroups of the same name
 * apart: the container's id or the pod's uid first, otherwise one more of the components above. The last level is
 * the path.
 */
#define SHORT_NAME_PATH 4

/*
 * Writes the name of the cgroup at `path` with the detail of `level`, 0 to SHORT_NAME_PATH, to `ret`, which the
 * caller frees. `labels` may be NULL: only the path is known. Returns 0 or -ENOMEM.
 */
int short_name(const char *path, const struct container *labels, unsigned int level, char **ret);

#endif
