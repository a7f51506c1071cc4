// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include "model/drain.h"

#include "compat.h"
#include "drain.h"
#include "driver.h"
#include "kernel_symbols.h"
#include "sample.h"

bool drain_restart(struct core *core, struct perf_event *event)
{
	driver_update(core, event);
	return driver_set_period(core, event);
}

void drain_overflow(struct core *core, struct perf_event *event, struct perf_sample_data *data,
		    struct pt_regs *registers)
{
	u64 at = books_clock();
	int over = kernel_symbols.perf_event_overflow(event, data, registers);

	if (over && DRIVER_STOPS_THROTTLED)
		driver_stop(core, event, 0);
	if (event->hw.interrupts == INTERRUPTS_THROTTLED)
		books_throttled(&core->books, event, at);
}

/* No interrupt, no registers. */
static const struct pt_regs no_registers;

static void hand_over(struct core *core, struct perf_event *event, const struct pt_regs *interrupted,
		      const struct delivery *delivery)
{
	bool overflow = interrupted && delivery->last;
	struct perf_sample_data data;
	struct sample_figures figures;
	struct pt_regs registers;

	sample_set_up(event, interrupted ? interrupted : &no_registers, &delivery->record, &data, &registers,
		      &figures);
	books_sample(&core->books, event, overflow, &figures);
	if (overflow)
		touched_sample(&core->touched, event, registers.ip, delivery->record.values[RECORD_ADDRESS],
			       &figures);
	if (overflow)
		drain_overflow(core, event, &data, &registers);
	else
		kernel_symbols.perf_event_output(event, &data, &registers);
}

static void tell_collisions(struct core *core, const struct drain *drain, bool interrupt)
{
	for (int i = 0; i < COUNTERS_END; i++) {
		struct perf_event *event = core->events[i];

		if (!drain->collisions[i] || !event)
			continue;
		books_collisions(&core->books, event, drain->collisions[i]);
		kernel_symbols.perf_log_lost_samples(event, drain->collisions[i]);
		if (interrupt && kernel_symbols.perf_event_account_interrupt(event) && DRIVER_STOPS_THROTTLED)
			driver_stop(core, event, 0);
	}
}

/* intel_pmu_pebs_event_update_no_drain(): the counts go on without a record. */
static void update_reloaded(struct core *core)
{
	for (int i = 0; i < COUNTERS_END; i++) {
		struct perf_event *event = core->events[i];

		if (event && (core->pebs_enabled >> i & 1) && (event->hw.flags & FLAG_AUTO_RELOAD))
			driver_update_reloaded(core, event, 0);
	}
}

static void deliver(struct core *core, struct drain *drain, const struct pt_regs *interrupted)
{
	struct delivery delivery;
	struct perf_event *event = NULL;
	int counter = -1;

	while (drain_next(drain, &delivery)) {
		if ((int)delivery.counter != counter) {
			counter = (int)delivery.counter;
			event = core->events[counter];
			if (!event || !event->attr.precise_ip) {
				core->books.stopped += drain->counts[counter];
				event = NULL;
			} else if (event->hw.flags & FLAG_AUTO_RELOAD) {
				driver_update_reloaded(core, event, drain->counts[counter]);
			} else if (!drain_restart(core, event)) {
				core->books.early += drain->counts[counter];
				event = NULL;
			}
		}
		if (event)
			hand_over(core, event, interrupted, &delivery);
	}
}

void drain(struct core *core, const struct pt_regs *interrupted)
{
	struct ds_area area;
	struct drain drain;

	if (ds_area_read(core->machine, &core->unit.memory, core->area, &area) < 0)
		return;
	(void)ds_area_set_index(core->machine, &core->unit.memory, core->area, area.base);
	if (area.index <= area.base) {
		update_reloaded(core);
		return;
	}
	core->books.drains++;
	drain_open(&drain, core->machine->format,
		   linear_at(&core->unit.memory, area.base, area.index - area.base), area.index - area.base,
		   core->pebs_enabled);
	core->books.unclaimed += drain.unclaimed;
	tell_collisions(core, &drain, interrupted);
	deliver(core, &drain, interrupted);
	core->books.broken += drain.broken;
}
