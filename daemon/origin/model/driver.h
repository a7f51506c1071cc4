// SPDX-License-Identifier: GPL-2.0
/*
 * What a kernel's driver does with the model's PMU: programs load latency sampling through its registers, and
 * reads the records out of its DS area. The order of the writes is that of arch/x86/events/intel/core.c and
 * ds.c (Linux 6.1). Pure.
 */
#ifndef PEBSD_MODEL_DRIVER_H
#define PEBSD_MODEL_DRIVER_H

#include "model/pebs.h"
#include "origin/model/take.h"

/*
 * Records that the buffer holds, and after how many the unit interrupts. Each record is read, so that many
 * may wait: there is no perf_event_overflow() here, which gets only the last of them.
 */
#define DRIVER_RECORDS   128
#define DRIVER_THRESHOLD 96

struct driver {
	struct pebs_unit *unit; /* not owned */
	u32 counter;            /* that counts the loads, general-purpose */
	u64 period;
	u64 area;    /* linear address of the DS area */
	u64 enabled; /* IA32_PERF_GLOBAL_CTRL while it samples */
};

/* Bytes of the memory that the DS area and its buffer take. */
u64 driver_memory_size(const struct machine *machine);

/* The period that the kernel makes of the one asked for: some CPUs have a smallest one. */
u64 driver_period(const struct machine *machine, u64 period);

/*
 * Lays out the DS area at the start of the unit's memory, programs the unit and starts it. `ldlat` 3 to 65535
 * cycles, `period` 1 to INT32_MAX, as of driver_period(). Returns 0; -ENODEV where the machine has no counter
 * for loads (machine_refusal() has something against it), -EINVAL where the unit refuses a value, -EFAULT
 * where its memory is smaller than driver_memory_size().
 */
int driver_start(struct driver *driver, struct pebs_unit *unit, u32 ldlat, u64 period);

/* Empties the buffer: each of its records becomes a sample with the cgroup's id. 0, or -EFAULT where somebody
 * moved the DS area out of the memory. */
int driver_drain(struct driver *driver, u64 cgroup_id, model_take take, void *userdata);

/* Answers the unit's pending interrupts as a handler does: by the status registers, not by their cause. As
 * driver_drain(). */
int driver_interrupt(struct driver *driver, u64 cgroup_id, model_take take, void *userdata);

/* What a record says, as a sample of event 0 with no cgroup. What the record does not have stays unmarked. */
void driver_sample(const struct machine *machine, const struct record *record, u64 period,
		   struct sample *ret);

#endif
