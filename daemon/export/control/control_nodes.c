// SPDX-License-Identifier: GPL-2.0
/* The memory nodes of the machine, for zooms. They are read when they are first needed. */
#include <string.h>

#include "base/log.h"
#include "export/control/control_call.h"
#include "machine/memory_nodes.h"

#define SYSFS_ROOT "/sys"

const struct control_nodes *control_read_nodes(struct control *control)
{
	struct control_nodes *nodes = &control->nodes;
	int r;

	if (nodes->read)
		return nodes;
	nodes->read = true;
	r = memory_nodes(SYSFS_ROOT, &nodes->ranges, &nodes->n_ranges);
	if (r >= 0)
		r = memory_nodes_of_cpus(SYSFS_ROOT, &nodes->of_cpu, &nodes->n_cpus);
	if (r < 0) {
		(void)log_warning(0, "cannot read the memory nodes below %s: %s; zooms do not show nodes",
				  SYSFS_ROOT, strerror(-r));
		control_forget_nodes(control);
		nodes->read = true;
	}
	return nodes;
}

void control_forget_nodes(struct control *control)
{
	free(control->nodes.ranges);
	free(control->nodes.of_cpu);
	control->nodes = (struct control_nodes){0};
}
