// SPDX-License-Identifier: GPL-2.0
/* From a PEBS record to what perf core is given: setup_pebs_fixed_sample_data() and _adaptive_...() in
 * arch/x86/events/intel/ds.c, as the kernel that this is built for has them. */
#ifndef PEBS_MACHINE_SAMPLE_H
#define PEBS_MACHINE_SAMPLE_H

#include "core.h"

#include "model/load_source.h"
#include "model/record.h"

/* The figures of a sample, as the books want them. */
struct sample_figures {
	struct load_source source;
	bool has_source;
	u64 latency;             /* as handed over */
	u64 latency_true;        /* as the record has it */
	u32 instruction_latency; /* as handed over; 0: none */
	u64 period;
	u16 operation; /* of IBS: what kind it was, enum ibs_operation; else 0 */
};

/* `interrupted`: the registers at the interrupt. `data` and `registers` are filled as far as the driver
 * would; the rest of `data` is made to hold nonsense, as it does in the kernel. */
void sample_set_up(struct perf_event *event, const struct pt_regs *interrupted, const struct record *record,
		   struct perf_sample_data *data, struct pt_regs *registers, struct sample_figures *ret);

#endif
