// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include "drain.h"
#include "driver.h"
#include "schedule.h"

struct demand schedule_demand(const struct perf_event *event)
{
	return (struct demand){
		.config = event->hw.config,
		.precise = event->attr.precise_ip,
		.extra_register = event->hw.extra_reg.reg,
		.extra_value = event->hw.extra_reg.config,
	};
}

/* Moves events to other counters, as x86_pmu_enable() does for those that have to make room: all of them
 * leave theirs before any takes another's. */
static void move(struct core *core, const int *counters, unsigned int n)
{
	u64 started = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (counters[i] == core->list[i]->hw.idx)
			continue;
		if (!(core->list[i]->hw.state & PERF_HES_STOPPED))
			started |= 1ULL << i;
		driver_stop(core, core->list[i], PERF_EF_UPDATE);
	}
	for (unsigned int i = 0; i < n; i++) {
		core->list[i]->hw.idx = counters[i];
		if (started >> i & 1)
			driver_start(core, core->list[i], PERF_EF_RELOAD);
	}
}

/*
 * The other of two off-core response registers, and the event that goes with it, where an event on this one
 * has another value: intel_alt_er() and intel_fixup_er() (PMU_FL_HAS_RSP_1).
 */
static void take_other_register(struct core *core, struct perf_event *event)
{
	struct hw_perf_event_extra *extra = &event->hw.extra_reg;
	u32 which = extra->reg - MSR_OFFCORE_RSP_0;
	u16 other;
	bool taken = false;

	if (extra->reg < MSR_OFFCORE_RSP_0 || which > 1)
		return;
	other = core->machine->offcore_events[!which];
	for (unsigned int i = 0; i < core->n_events; i++) {
		const struct hw_perf_event_extra *of = &core->list[i]->hw.extra_reg;

		taken = taken || (of->reg == extra->reg && of->config != extra->config);
	}
	if (!taken || !other || (extra->config & ~core->machine->offcore_bits[!which]))
		return;
	event->hw.config = (event->hw.config & ~0xffffULL) | other;
	extra->reg = MSR_OFFCORE_RSP_0 + !which;
}

int schedule_add(struct core *core, struct perf_event *event, int flags)
{
	struct demand demands[EVENTS_AT_ONCE];
	int counters[EVENTS_AT_ONCE];
	unsigned int n = core->n_events;

	if (n == EVENTS_AT_ONCE)
		return -EAGAIN;
	take_other_register(core, event);
	core->list[n] = event;
	for (unsigned int i = 0; i <= n; i++) {
		demands[i] = schedule_demand(core->list[i]);
		counters[i] = i < n ? core->list[i]->hw.idx : -1;
	}
	if (!constraint_schedule(core->machine, demands, n + 1, counters))
		return -EAGAIN;
	core->n_events = n + 1;
	move(core, counters, n);
	event->hw.idx = counters[n];
	event->hw.last_cpu = core->cpu;
	event->hw.state = PERF_HES_UPTODATE | PERF_HES_STOPPED;
	if (event->attr.precise_ip)
		driver_pebs_add(core, event);
	if (flags & PERF_EF_START)
		driver_start(core, event, PERF_EF_RELOAD);
	else
		event->hw.state |= PERF_HES_ARCH;
	return 0;
}

void schedule_remove(struct core *core, struct perf_event *event)
{
	unsigned int i = 0;

	driver_stop(core, event, PERF_EF_UPDATE);
	while (i < core->n_events && core->list[i] != event)
		i++;
	if (WARN_ON_ONCE(i == core->n_events))
		return;
	core->n_events--;
	for (; i < core->n_events; i++)
		core->list[i] = core->list[i + 1];
	if (event->attr.precise_ip)
		driver_pebs_remove(core, event);
	books_stopped(&core->books, event);
	event->hw.idx = -1;
	perf_event_update_userpage(event);
}

void schedule_read(struct core *core, struct perf_event *event)
{
	bool enabled = core->enabled;

	if (!(event->hw.flags & FLAG_AUTO_RELOAD)) {
		driver_update(core, event);
		return;
	}
	/* intel_pmu_auto_reload_read(): none of these records is an interrupt's. */
	core->enabled = false;
	driver_pause(core);
	drain(core, NULL);
	core->enabled = enabled;
	if (enabled)
		driver_resume(core);
}
