// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <asm/nmi.h>
#include <linux/sched/clock.h>

#include "drain.h"
#include "driver.h"
#include "interrupt.h"
#include "kernel_symbols.h"
#include "parameters.h"

/* As the kernel's driver: by then something is stuck. */
#define ROUNDS_MAX 100

/* A counter without PEBS overflowed: a sample of the interrupt itself. */
static void overflowed(struct core *core, struct perf_event *event, const struct pt_regs *interrupted)
{
	struct perf_sample_data data;
	struct pt_regs registers = *interrupted;

	if (!drain_restart(core, event))
		return;
	perf_sample_data_init(&data, 0, event->hw.last_period);
	books_sample(&core->books, event, true, NULL);
	drain_overflow(core, event, &data, &registers);
}

static void handle_status(struct core *core, u64 status, const struct pt_regs *interrupted)
{
	u64 before = core->pebs_enabled;

	/* PEBS counters come by way of the buffer alone. */
	status &= ~STATUS_CONDITIONS & ~(core->pebs_enabled & core->machine->pebs_counters);
	if (status & STATUS_DS_BUFFER) {
		drain(core, interrupted);
		if (before != core->pebs_enabled)
			core_write(core, MSR_IA32_PEBS_ENABLE, 0);
	}
	for (int i = 0; i < COUNTERS_END; i++)
		if ((status >> i & 1) && core->events[i])
			overflowed(core, core->events[i], interrupted);
}

static void handle(struct core *core, const struct pt_regs *interrupted)
{
	bool enabled = core->enabled;
	u64 status;

	core->enabled = false;
	driver_pause(core);
	for (int round = 0; round < ROUNDS_MAX; round++) {
		status = core_read(core, MSR_IA32_PERF_GLOBAL_STATUS);
		if (!status)
			break;
		core_write(core, MSR_IA32_PERF_GLOBAL_OVF_CTRL, status);
		handle_status(core, status, interrupted);
	}
	WARN_ONCE(status, "pebs_machine: the interrupt does not come to an end, status %#llx\n", status);
	core->enabled = enabled;
	if (enabled)
		driver_resume(core);
}

static int interrupt_handler(unsigned int type, struct pt_regs *registers)
{
	struct core *core = this_core();
	u64 start, took;

	/* Somebody else's. */
	if (!core || !READ_ONCE(core->signalled))
		return NMI_DONE;
	WRITE_ONCE(core->signalled, false);
	if (READ_ONCE(core->busy)) {
		WRITE_ONCE(core->deferred, true);
		core->books.deferred++;
		return NMI_HANDLED;
	}
	start = local_clock();
	core->books.interrupts++;
	if (core->interrupted_known)
		registers = &core->interrupted;
	if (core->ibs.machine)
		ibs_core_handle(core, registers);
	else
		handle(core, registers);
	core->interrupted_known = false;
	took = local_clock() - start;
	core->handler_ns += took;
	if (parameters.time_samples)
		kernel_symbols.perf_sample_event_took(took);
	return NMI_HANDLED;
}

int interrupt_open(void)
{
	return register_nmi_handler(NMI_LOCAL, interrupt_handler, 0, "pebs_machine");
}

void interrupt_close(void)
{
	unregister_nmi_handler(NMI_LOCAL, "pebs_machine");
}
