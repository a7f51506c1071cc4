// SPDX-License-Identifier: GPL-2.0
/*
 * Plays the kernel driver of the model's PMU: programs load latency sampling through the PMU's registers, and
 * reads the records from its DS area. The order of the writes is that of arch/x86/events/intel/core.c and ds.c
 * (Linux 6.1). Pure functions.
 */
#ifndef PEBSD_MODEL_DRIVER_H
#define PEBSD_MODEL_DRIVER_H

#include "model/pebs.h"
#include "origin/model/take.h"

/*
 * The size of the buffer in records, and the number of records after which the unit interrupts. This driver passes
 * on every record, so many of them may wait. The kernel passes only the last one to perf_event_overflow().
 */
#define DRIVER_RECORDS   128
#define DRIVER_THRESHOLD 96

struct driver {
	struct pebs_unit *unit; /* not owned */
	u32 counter;            /* index of the general-purpose counter that counts the loads */
	u64 period;
	u64 area;    /* linear address of the DS area */
	u64 enabled; /* value of IA32_PERF_GLOBAL_CTRL while sampling is on */
};

/* Returns the size in bytes of the DS area and its buffer. */
u64 driver_memory_size(const struct machine *machine);

/* Returns the period that the kernel would use for a requested one, because some CPUs have a minimum. */
u64 driver_period(const struct machine *machine, u64 period);

/*
 * Sets up the DS area at the start of the unit's memory, programs the unit and starts it. `ldlat` is 3 to
 * 65535 cycles. `period` is 1 to INT32_MAX and comes from driver_period(). Returns:
 * - 0 on success.
 * - -ENODEV if the machine has no counter for loads, which machine_refusal() explains.
 * - -EINVAL if the unit refuses a value.
 * - -EFAULT if the unit's memory is smaller than driver_memory_size().
 */
int driver_start(struct driver *driver, struct pebs_unit *unit, u32 ldlat, u64 period);

/*
 * Empties the buffer. Each record becomes a sample with `cgroup_id`. Returns 0, or -EFAULT if the DS area was
 * moved out of the memory.
 */
int driver_drain(struct driver *driver, u64 cgroup_id, model_take take, void *userdata);

/*
 * Handles the unit's pending interrupts as a kernel does: it looks at the status registers, not at the cause of an
 * interrupt. Returns like driver_drain().
 */
int driver_interrupt(struct driver *driver, u64 cgroup_id, model_take take, void *userdata);

/*
 * Converts a record to a sample of event 0 without a cgroup. A field that the record does not have is not
 * marked in the sample.
 */
void driver_sample(const struct machine *machine, const struct record *record, u64 period,
		   struct sample *ret);

#endif
