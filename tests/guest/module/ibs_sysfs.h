// SPDX-License-Identifier: GPL-2.0
/* The files of an AMD machine's PMUs, as the kernel that this is built for offers them. */
#ifndef PEBS_MACHINE_IBS_SYSFS_H
#define PEBS_MACHINE_IBS_SYSFS_H

#include "model/ibs.h"

#include "sysfs.h"

/* format/ and caps/ in arch/x86/events/amd/ibs.c. */
void ibs_sysfs_describe_op(struct sysfs *sysfs, const struct ibs_machine *machine);
void ibs_sysfs_describe_fetch(struct sysfs *sysfs, const struct ibs_machine *machine);

/* The PMU `cpu` in arch/x86/events/amd/core.c. */
void ibs_sysfs_describe_cpu(struct sysfs *sysfs);

#endif
