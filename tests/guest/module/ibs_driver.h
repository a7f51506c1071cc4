// SPDX-License-Identifier: GPL-2.0
/*
 * The driver's work on IBS op: perf_ibs_init(), _start(), _stop() and their helpers in
 * arch/x86/events/amd/ibs.c, as the kernel that this is built for has them (6.1, 6.12, 7.3). But for
 * ibs_driver_init() on the event's own CPU with interrupts off.
 */
#ifndef PEBS_MACHINE_IBS_DRIVER_H
#define PEBS_MACHINE_IBS_DRIVER_H

#include "core.h"

/*
 * From 6.14 on `swfilt` and exclude_user and _kernel with it, from 6.15 on `ldlat` and the smallest period of
 * 0x90: one change after the other, and no kernel of those in between is run here.
 */
#define IBS_DRIVER_FILTERS (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0))

#define IBS_LDLAT  0xfffULL /* of config1 */
#define IBS_SWFILT 0x1ULL   /* of config2 */

/* event_init: 0, or what that kernel says. */
int ibs_driver_init(const struct ibs_machine *machine, struct perf_event *event);
int ibs_driver_check_period(struct perf_event *event, u64 period);

void ibs_driver_start(struct core *core, struct perf_event *event);
void ibs_driver_stop(struct core *core, struct perf_event *event);

/* Loads what is left of the period; its number for the register goes to `ret`. True: a period is over. */
bool ibs_driver_set_period(struct perf_event *event, u64 *ret);

/* Adds what a register's count went on by to the event's. */
void ibs_driver_update(struct perf_event *event, u64 control);

/* The register's bits of a period. */
u64 ibs_driver_maximum(u64 period);

#endif
