// SPDX-License-Identifier: GPL-2.0
#include "snapshot/snapshot_counters.h"

void snapshot_counters_of(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup,
			  struct snapshot_counters *ret)
{
	for (unsigned event = 0; event < EVENTS_MAX; event++) {
		ret->of[event] = cgroup->counters[event];
		if (!ret->of[event] && event < snapshot->n_events && snapshot->make_counters &&
		    snapshot->make_counters(cgroup, event, &ret->made[event]))
			ret->of[event] = &ret->made[event];
	}
}
