// SPDX-License-Identifier: GPL-2.0
/* The files of an AMD machine's PMUs, as the kernel that this is built for offers them. */
#ifndef PEBS_MACHINE_IBS_SYSFS_H
#define PEBS_MACHINE_IBS_SYSFS_H

#include "model/ibs.h"

struct attribute_group;

extern const struct attribute_group *ibs_sysfs_op_groups[];
extern const struct attribute_group *ibs_sysfs_fetch_groups[];
extern const struct attribute_group *ibs_sysfs_cpu_groups[];

/* Fills them for the machine; before the PMUs are registered. */
void ibs_sysfs_describe(const struct ibs_machine *machine);

#endif
