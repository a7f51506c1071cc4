// SPDX-License-Identifier: GPL-2.0
/*
 * The DS save area's PEBS half (manual 18.18.5, 18.8.1.1; seeds of the project: "DS Save Area"): the buffer
 * management that software sets up in memory and the PEBS assist works with.
 */
#ifndef PEBSD_MODEL_DS_AREA_H
#define PEBSD_MODEL_DS_AREA_H

#include "machine.h"

/* The linear addresses that the model can reach: `bytes` stands at `base`. Whoever makes it owns the bytes.
 */
struct linear_memory {
	u64 base;
	u64 size;
	void *bytes;
};

/* The `size` bytes at `address`; NULL where any of them is outside. Never wraps. */
void *linear_at(const struct linear_memory *memory, u64 address, u64 size);

#define DS_RESETS 12 /* eight general-purpose counters, then four fixed ones */

/* The area's fields, whatever their width in memory. Linear addresses. */
struct ds_area {
	u64 base;             /* PEBS buffer base */
	u64 index;            /* where the next record goes */
	u64 maximum;          /* PEBS absolute maximum: the first byte past the buffer */
	u64 threshold;        /* PEBS interrupt threshold */
	u64 reset[DS_RESETS]; /* PEBS CounterX Reset */
};

/* Bytes of the whole save area (BTS half included) in the machine's layout. */
u64 ds_area_size(const struct machine *machine);

/* Reads or writes the fields at `address`. 0, or -EFAULT where that is not in memory. */
int ds_area_read(const struct machine *machine, const struct linear_memory *memory, u64 address,
		 struct ds_area *ret);
int ds_area_write(const struct machine *machine, const struct linear_memory *memory, u64 address,
		  const struct ds_area *area);

/* Moves the index alone, as the assist does. */
int ds_area_set_index(const struct machine *machine, const struct linear_memory *memory, u64 address,
		      u64 index);

#endif
