// SPDX-License-Identifier: GPL-2.0
#include "snapshot/snapshot_figures.h"

void snapshot_figures(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
		      struct cgroup_figures *ret)
{
	for (unsigned event = 0; event < EVENTS_MAX; event++) {
		ret->of[event] = cgroup->figures[event];
		if (!ret->of[event] && event < snapshot->n_events && snapshot->make_figures &&
		    snapshot->make_figures(cgroup, event, &ret->made[event]))
			ret->of[event] = &ret->made[event];
	}
}
