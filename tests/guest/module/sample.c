// SPDX-License-Identifier: GPL-2.0
#include "sample.h"

#include <asm/segment.h>

#include "compat.h"
#include "driver.h"
#include "kernel_symbols.h"
#include "pmu.h"

#define FLAGS_EXACT (1UL << 3) /* PERF_EFLAGS_EXACT */
#define NONSENSE    0xa5a5a5a5a5a5a5a5ULL

#define SAMPLE_ADDRESS (PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE)

/* set_linear_ip() in arch/x86/events/perf_event.h. */
static void set_ip(struct pt_regs *registers, u64 ip)
{
	registers->cs = (s64)ip < 0 ? __KERNEL_CS : __USER_CS;
	registers->ip = ip;
}

static void set_registers(const struct record *record, struct pt_regs *registers)
{
	registers->ax = record->values[RECORD_AX];
	registers->bx = record->values[RECORD_BX];
	registers->cx = record->values[RECORD_CX];
	registers->dx = record->values[RECORD_DX];
	registers->si = record->values[RECORD_SI];
	registers->di = record->values[RECORD_DI];
	registers->bp = record->values[RECORD_BP];
	registers->sp = record->values[RECORD_SP];
	registers->r8 = record->values[RECORD_R8];
	registers->r9 = record->values[RECORD_R9];
	registers->r10 = record->values[RECORD_R10];
	registers->r11 = record->values[RECORD_R11];
	registers->r12 = record->values[RECORD_R12];
	registers->r13 = record->values[RECORD_R13];
	registers->r14 = record->values[RECORD_R14];
	registers->r15 = record->values[RECORD_R15];
}

static bool has_field(const struct record *record, enum record_field field)
{
	return record->present >> field & 1;
}

static void set_up_ip(const struct perf_event *event, const struct record *record, struct pt_regs *registers)
{
	bool eventing = has_field(record, RECORD_EVENTING_IP);
	bool adaptive = pmu_of_event(event)->machine->format == RECORD_ADAPTIVE;

	if ((event->attr.precise_ip > 1 || !has_field(record, RECORD_IP)) && eventing) {
		set_ip(registers, record->values[RECORD_EVENTING_IP]);
		registers->flags |= FLAGS_EXACT;
	} else if (has_field(record, RECORD_IP)) {
		/* One off; the driver would look into branch records, which the model has none of. */
		set_ip(registers, record->values[RECORD_IP]);
		registers->flags &= ~FLAGS_EXACT;
	}
	if (!adaptive || has_field(record, RECORD_AX))
		if (event->attr.sample_type &
		    (PERF_SAMPLE_REGS_INTR | (adaptive ? PERF_SAMPLE_REGS_USER : 0)))
			set_registers(record, registers);
}

static u64 data_source_of(const struct perf_event *event, u64 encoded, struct sample_figures *ret)
{
	const struct machine *machine = pmu_of_event(event)->machine;

	if (event->hw.flags & FLAG_LOAD_LATENCY) {
		load_source_decode(machine, encoded, &ret->source);
		ret->has_source = true;
		return load_source_data_src(machine, encoded);
	}
	if (event->hw.flags & FLAG_STORE) {
		store_source_decode(machine, encoded, &ret->source);
		ret->has_source = true;
		return store_source_data_src(machine, encoded);
	}
	return PERF_MEM_NA;
}

/* Up to Skylake: one figure, of load latency events alone. Others get a transaction's cycles, of which there
 * are none here. */
static void set_fixed_weight(const struct perf_event *event, u64 latency, struct perf_sample_data *data,
			     struct sample_figures *ret)
{
	const struct machine *machine = pmu_of_event(event)->machine;
	bool measured = event->hw.flags & FLAG_LOAD_LATENCY;

	if (!measured && machine->format < RECORD_HASWELL)
		return;
	data->weight.full = measured ? latency : 0;
	data->sample_flags |= event->attr.sample_type & PERF_SAMPLE_WEIGHT_TYPE;
	ret->latency_true = data->weight.full;
	/* PERF_SAMPLE_WEIGHT_STRUCT's first figure has 32 bits. */
	ret->latency =
		event->attr.sample_type & PERF_SAMPLE_WEIGHT ? data->weight.full : (u32)data->weight.full;
}

static void set_adaptive_weight(const struct perf_event *event, u64 latency, u16 retire_latency,
				struct perf_sample_data *data, struct sample_figures *ret)
{
	const struct machine *machine = pmu_of_event(event)->machine;
	bool split = machine->mechanisms & MECHANISM_LATENCY_SPLIT;
	u16 instruction_latency = 0;

	if (split) {
		instruction_latency = (u16)latency;
		latency >>= 32;
	}
	if (split || !ADAPTIVE_LATENCY_IS_CUT)
		data->weight.var2_w = instruction_latency;
	ret->latency_true = latency;
	if (event->attr.sample_type & PERF_SAMPLE_WEIGHT) {
		data->weight.full = latency;
		ret->latency = latency;
	} else {
		data->weight.var1_dw = ADAPTIVE_LATENCY_IS_CUT ? (u16)latency : (u32)latency;
		ret->latency = data->weight.var1_dw;
		ret->instruction_latency = instruction_latency;
		if (machine->mechanisms & MECHANISM_RETIRE_LATENCY)
			data->weight.var3_w = retire_latency;
	}
	data->sample_flags |= event->attr.sample_type & PERF_SAMPLE_WEIGHT_TYPE;
}

void sample_set_up(struct perf_event *event, const struct pt_regs *interrupted, const struct record *record,
		   struct perf_sample_data *data, struct pt_regs *registers, struct sample_figures *ret)
{
	const struct machine *machine = pmu_of_event(event)->machine;
	u64 type = event->attr.sample_type;
	bool adaptive = machine->format == RECORD_ADAPTIVE;
	bool memory = !adaptive || has_field(record, RECORD_ADDRESS);

	*ret = (struct sample_figures){.period = event->hw.last_period};
	perf_sample_data_init(data, 0, event->hw.last_period);
	data->weight.full = NONSENSE;
	data->data_src.val = NONSENSE;
	data->addr = NONSENSE;
	data->txn = NONSENSE;

	/* The interrupt's registers, not the record's, for the unwinder to stay on the stack. */
	if (type & PERF_SAMPLE_CALLCHAIN)
		sample_save_callchain(data,
				      kernel_symbols.perf_callchain(event, (struct pt_regs *)interrupted));
	*registers = *interrupted;
	registers->flags = adaptive ? FLAGS_EXACT : record->values[RECORD_FLAGS] & ~FLAGS_EXACT;
	set_up_ip(event, record, registers);

	if (memory && (type & PERF_SAMPLE_WEIGHT_TYPE)) {
		if (adaptive)
			set_adaptive_weight(event, record->values[RECORD_LATENCY],
					    (u16)record->values[RECORD_RETIRE_LATENCY], data, ret);
		else
			set_fixed_weight(event, record->values[RECORD_LATENCY], data, ret);
	}
	if (memory && (type & PERF_SAMPLE_DATA_SRC)) {
		data->data_src.val = data_source_of(event, record->values[RECORD_SOURCE], ret);
		data->sample_flags |= PERF_SAMPLE_DATA_SRC;
	}
	if (memory && (type & SAMPLE_ADDRESS) && machine->format >= RECORD_NEHALEM) {
		data->addr = record->values[RECORD_ADDRESS];
		data->sample_flags |= PERF_SAMPLE_ADDR;
	}
	if (memory && (type & PERF_SAMPLE_TRANSACTION) && machine->format >= RECORD_HASWELL) {
		data->txn = 0;
		data->sample_flags |= PERF_SAMPLE_TRANSACTION;
	}
}
