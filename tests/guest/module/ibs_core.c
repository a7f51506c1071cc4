// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <asm/segment.h>

#include "model/ibs_source.h"

#include "compat.h"
#include "ibs_driver.h"
#include "kernel_symbols.h"
#include "sample.h"
#include "world.h"

/* The words of the driver that this kernel has. */
#define DRIVER_WORDS (LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0) ? IBS_DRIVER_6_1 : IBS_DRIVER_6_12)

#define FLAGS_EXACT (1UL << 3) /* PERF_EFLAGS_EXACT */
#define NONSENSE    0xa5a5a5a5a5a5a5a5ULL

/* Operations before a tag that are executed one by one, at least and at most: a number that varies, or of a
 * loop's body the same ones would be tagged each time. And how many instructions these can be. */
#define STEPPED_MIN 16
#define STEPPED_MAX 79
#define STEPS_MAX   4096

void ibs_core_write(struct ibs_core *ibs, u32 msr, u64 value)
{
	int r = ibs_write(&ibs->unit, msr, value);

	WARN_ONCE(r < 0, "pebs_machine: the model of %s refuses %#llx in register %#x\n", ibs->machine->title,
		  value, msr);
}

u64 ibs_core_read(const struct ibs_core *ibs, u32 msr)
{
	u64 value = 0;
	int r = ibs_read(&ibs->unit, msr, &value);

	WARN_ONCE(r < 0, "pebs_machine: the model of %s does not know register %#x\n", ibs->machine->title,
		  msr);
	return value;
}

bool ibs_core_live(struct core *core, u64 count)
{
	struct ibs_unit *unit = &core->ibs.unit;
	u64 left = ibs_left(unit);
	u64 stepped = STEPPED_MIN + random_below(&core->ibs.pace, STEPPED_MAX - STEPPED_MIN + 1);
	u64 dropped = unit->filtered;
	struct retired retired;

	if (left > stepped)
		left -= ibs_pass(unit, min(count, left - stepped));
	if (!left || left > stepped)
		return false;
	WRITE_ONCE(core->sampled_at_ns, core->passed_at_ns);
	for (int step = 0; step < STEPS_MAX && unit->filtered == dropped; step++) {
		workload_step(world_workload(core, current), &retired);
		if (ibs_retire(unit, &retired))
			return true;
	}
	return false;
}

/* -- the interrupt -- */

static void set_ip(struct pt_regs *registers, u64 ip)
{
	registers->cs = (s64)ip < 0 ? __KERNEL_CS : __USER_CS;
	registers->ip = ip;
	registers->flags |= FLAGS_EXACT;
}

/* perf_ibs_parse_ld_st_data(). */
static void set_access(const struct core *core, u64 type, struct perf_sample_data *data,
		       struct sample_figures *ret)
{
	const struct ibs_core *ibs = &core->ibs;
	u64 data1 = ibs_core_read(ibs, IBS_OP_DATA);
	u64 data2 = ibs_core_read(ibs, IBS_OP_DATA2);
	u64 data3 = ibs_core_read(ibs, IBS_OP_DATA3);
	enum ibs_operation operation = ibs_operation(data3);
	u32 latency;

	/* Of another operation it says that it is none, and not that it says so. */
	data->data_src.val = PERF_MEM_NA;
	ret->operation = (u16)operation;
	if (operation == IBS_OPERATION_OTHER)
		return;
	if (type & PERF_SAMPLE_DATA_SRC) {
		data->data_src.val = ibs_data_src(ibs->machine, data2, data3, DRIVER_WORDS);
		data->sample_flags |= PERF_SAMPLE_DATA_SRC;
		ibs_source_decode(ibs->machine, data2, data3, DRIVER_WORDS, &ret->source);
		ret->has_source = true;
	}
	if (type & PERF_SAMPLE_WEIGHT_TYPE && ibs_miss_latency(data3, &latency)) {
		ret->latency = ret->latency_true = latency;
		if (type & PERF_SAMPLE_WEIGHT_STRUCT) {
			data->weight.var1_dw = latency;
			data->weight.var2_w = (u16)(data1 >> IBS_DATA_TAG_TO_RETIRE_SHIFT);
			ret->instruction_latency = data->weight.var2_w;
		} else {
			data->weight.full = latency;
		}
		data->sample_flags |= PERF_SAMPLE_WEIGHT_TYPE;
	}
	if (type & PERF_SAMPLE_ADDR && data3 & IBS_DATA3_LINEAR_VALID) {
		data->addr = ibs_core_read(ibs, IBS_DC_LINEAR_ADDRESS);
		data->sample_flags |= PERF_SAMPLE_ADDR;
	}
	if (type & PERF_SAMPLE_PHYS_ADDR && data3 & IBS_DATA3_PHYSICAL_VALID) {
		data->phys_addr = ibs_core_read(ibs, IBS_DC_PHYSICAL_ADDRESS);
		data->sample_flags |= PERF_SAMPLE_PHYS_ADDR;
	}
}

/* What a driver with filters drops: loads that the register's coarser threshold let through, and with swfilt
 * what is excluded. */
static bool discards(const struct core *core, const struct perf_event *event, const struct pt_regs *registers)
{
	const struct perf_event_attr *attr = &event->attr;
	bool user = registers->cs == __USER_CS;
	u32 latency;

	if (!IBS_DRIVER_FILTERS)
		return false;
	if (core->ibs.machine->capabilities & IBS_CAPABILITY_LOAD_LATENCY && attr->config1 & IBS_LDLAT &&
	    (!ibs_miss_latency(ibs_core_read(&core->ibs, IBS_OP_DATA3), &latency) ||
	     latency <= (attr->config1 & IBS_LDLAT)))
		return true;
	return attr->config2 & IBS_SWFILT && (user ? attr->exclude_user : attr->exclude_kernel);
}

/* Returns whether the event is to be stopped. */
static bool deliver(struct core *core, struct perf_event *event, const struct pt_regs *interrupted)
{
	struct sample_figures figures = {.period = event->hw.last_period};
	struct pt_regs registers = *interrupted;
	struct perf_sample_data data;
	u64 at;
	int over;

	set_ip(&registers, ibs_core_read(&core->ibs, IBS_OP_RIP));
	if (discards(core, event, &registers)) {
		core->ibs.discarded++;
		return kernel_symbols.perf_event_account_interrupt(event);
	}
	perf_sample_data_init(&data, 0, event->hw.last_period);
	data.weight.full = NONSENSE;
	data.data_src.val = NONSENSE;
	data.addr = NONSENSE;
	set_access(core, event->attr.sample_type, &data, &figures);
	if (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
		sample_save_callchain(&data,
				      kernel_symbols.perf_callchain(event, (struct pt_regs *)interrupted));
	books_sample(&core->books, event, true, &figures);
	at = books_clock();
	over = kernel_symbols.perf_event_overflow(event, &data, &registers);
	if (event->hw.interrupts == INTERRUPTS_THROTTLED)
		books_throttled(&core->books, event, at);
	return over;
}

void ibs_core_handle(struct core *core, const struct pt_regs *interrupted)
{
	struct perf_event *event = core->ibs.event;
	u64 control = ibs_core_read(&core->ibs, IBS_OP_CTL);
	bool throttled = false;
	u64 period, next;

	if (!core->ibs.started || !event || !(control & IBS_CTL_VALID))
		return;
	ibs_driver_update(event, control);
	if (ibs_driver_set_period(event, &period))
		throttled = deliver(core, event, interrupted);
	if (throttled && DRIVER_STOPS_THROTTLED)
		ibs_driver_stop(core, event);
	/* Perf core itself may have stopped it by now. */
	if (!throttled && core->ibs.started) {
		next = event->hw.config | ibs_driver_maximum(period) | IBS_CTL_ENABLE;
		if (control & IBS_CTL_COUNT_OPS)
			next |= control & IBS_COUNT_RANDOM << IBS_CTL_COUNT_SHIFT;
		ibs_core_write(&core->ibs, IBS_OP_CTL, next);
	}
	perf_event_update_userpage(event);
}
