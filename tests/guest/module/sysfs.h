// SPDX-License-Identifier: GPL-2.0
/* What stands below /sys/bus/event_source/devices/cpu/, as Linux 6.1 shows it of the machine. */
#ifndef PEBS_MACHINE_SYSFS_H
#define PEBS_MACHINE_SYSFS_H

#include <linux/sysfs.h>

#include "model/machine.h"

/* For struct pmu; filled by sysfs_describe(). */
extern const struct attribute_group *sysfs_groups[];

void sysfs_describe(const struct machine *machine);

/* The file `rdpmc`: not 0, events show their counter's number in their mapped page. */
bool sysfs_rdpmc(void);

#endif
