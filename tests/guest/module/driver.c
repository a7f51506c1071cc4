// SPDX-License-Identifier: GPL-2.0
#include "driver.h"

#include "model/adaptive.h"

#include "drain.h"
#include "init_event.h"
#include "kernel_symbols.h"
#include "world.h"

/* What a record of an adaptive machine must hold (PERF_PEBS_MEMINFO_TYPE). */
#define SAMPLE_MEMORY                                                                                \
	(PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_WEIGHT_TYPE | \
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_DATA_PAGE_SIZE)

static u64 counter_mask(const struct core *core)
{
	return (1ULL << core->machine->counter_bits) - 1;
}

/* A counter can be loaded with less than half of its width; without full width writes, with 31 bits. */
static s64 longest_period(const struct core *core)
{
	return core->full_width ? (s64)(counter_mask(core) >> 1) : (s64)((1ULL << 31) - 1);
}

static s64 sign_extended(const struct core *core, u64 count)
{
	unsigned int shift = 64 - core->machine->counter_bits;

	return (s64)(count << shift) >> shift;
}

static u64 counter_read(struct core *core, int counter)
{
	if (counter_is_fixed(counter))
		return core_read(core, MSR_IA32_FIXED_CTR0 + (u32)(counter - PEBS_FIXED_0));
	return core_read(core, COUNTER_31_BITS + (u32)counter);
}

static void counter_write(struct core *core, int counter, u64 value)
{
	if (counter_is_fixed(counter))
		core_write(core, MSR_IA32_FIXED_CTR0 + (u32)(counter - PEBS_FIXED_0),
			   value & counter_mask(core));
	else if (core->full_width)
		core_write(core, COUNTER_FULL_WIDTH + (u32)counter, value & counter_mask(core));
	else
		core_write(core, COUNTER_31_BITS + (u32)counter, (u32)value);
}

/* intel_ctrl without the counters that count in guests alone (exclude_host). */
static u64 global_ctrl(const struct core *core)
{
	u64 counters = 0;

	for (int i = 0; i < COUNTERS_END; i++)
		if (core->events[i] && !core->events[i]->attr.exclude_host)
			counters |= 1ULL << i;
	return counters;
}

void driver_pause(struct core *core)
{
	core_write(core, MSR_IA32_PERF_GLOBAL_CTRL, 0);
	core_write(core, MSR_IA32_PEBS_ENABLE, 0);
}

void driver_resume(struct core *core)
{
	core_write(core, MSR_IA32_PEBS_ENABLE, core->pebs_enabled);
	core_write(core, MSR_IA32_PERF_GLOBAL_CTRL, global_ctrl(core));
}

static void pebs_enable(struct core *core, struct perf_event *event)
{
	struct hw_perf_event *hardware = &event->hw;
	int counter = hardware->idx;
	struct ds_area area;
	int reset = counter;

	hardware->config &= ~EVTSEL_INT;
	core->pebs_enabled |= 1ULL << counter;
	/* Adaptive machines (x86_pmu.version 5) have fixed counters there, and need no such bit. */
	if ((hardware->flags & FLAG_LOAD_LATENCY) && core->machine->format != RECORD_ADAPTIVE)
		core->pebs_enabled |= PEBS_ENABLE_LOAD_LATENCY(counter);
	if ((hardware->flags & FLAG_STORE) && (core->machine->mechanisms & MECHANISM_PRECISE_STORE))
		core->pebs_enabled |= PEBS_ENABLE_PRECISE_STORE;
	if (core->machine->format == RECORD_ADAPTIVE) {
		hardware->config |= EVTSEL_ADAPTIVE;
		if (core->data_cfg != core->data_cfg_written)
			core_write(core, MSR_PEBS_DATA_CFG, core->data_cfg);
		core->data_cfg_written = core->data_cfg;
	}
	if (counter_is_fixed(counter))
		reset = PEBS_GENERAL + counter - PEBS_FIXED_0;
	if (ds_area_read(core->machine, &core->unit.memory, core->area, &area) < 0)
		return;
	/* With 0 the counter starts anew at the assist, and is far from a second record when the handler
	 * loads it. */
	area.reset[reset] =
		hardware->flags & FLAG_AUTO_RELOAD ? -hardware->sample_period & counter_mask(core) : 0;
	(void)ds_area_write(core->machine, &core->unit.memory, core->area, &area);
}

static void pebs_disable(struct core *core, struct perf_event *event)
{
	struct hw_perf_event *hardware = &event->hw;

	if (driver_all_large(core))
		drain(core, NULL);
	core->pebs_enabled &= ~(1ULL << hardware->idx);
	if ((hardware->flags & FLAG_LOAD_LATENCY) && core->machine->format != RECORD_ADAPTIVE)
		core->pebs_enabled &= ~PEBS_ENABLE_LOAD_LATENCY(hardware->idx);
	if ((hardware->flags & FLAG_STORE) && (core->machine->mechanisms & MECHANISM_PRECISE_STORE))
		core->pebs_enabled &= ~PEBS_ENABLE_PRECISE_STORE;
	if (core->enabled)
		core_write(core, MSR_IA32_PEBS_ENABLE, core->pebs_enabled);
	hardware->config |= EVTSEL_INT;
}

static void fixed_select(struct core *core, int counter, u64 bits, bool adaptive)
{
	unsigned int number = (unsigned int)(counter - PEBS_FIXED_0);
	u64 control = core_read(core, MSR_IA32_FIXED_CTR_CTRL);

	control &= ~(0xfULL << 4 * number | FIXED_CTRL_ADAPTIVE(number));
	control |= bits << 4 * number;
	if (adaptive)
		control |= FIXED_CTRL_ADAPTIVE(number);
	core_write(core, MSR_IA32_FIXED_CTR_CTRL, control);
}

static void counter_enable(struct core *core, struct perf_event *event)
{
	struct hw_perf_event *hardware = &event->hw;

	if (event->attr.precise_ip)
		pebs_enable(core, event);
	if (counter_is_fixed(hardware->idx)) {
		u64 bits = event->attr.precise_ip ? 0 : FIXED_CTRL_PMI;

		if (hardware->config & EVTSEL_USR)
			bits |= FIXED_CTRL_USR;
		if (hardware->config & EVTSEL_OS)
			bits |= FIXED_CTRL_OS;
		fixed_select(core, hardware->idx, bits, hardware->config & EVTSEL_ADAPTIVE);
	} else {
		if (hardware->extra_reg.reg)
			core_write(core, hardware->extra_reg.reg, hardware->extra_reg.config);
		core_write(core, MSR_IA32_PERFEVTSEL0 + (u32)hardware->idx, hardware->config | EVTSEL_ENABLE);
	}
	if (core->enabled)
		driver_resume(core);
}

static void counter_disable(struct core *core, struct perf_event *event)
{
	if (counter_is_fixed(event->hw.idx))
		fixed_select(core, event->hw.idx, 0, false);
	else
		core_write(core, MSR_IA32_PERFEVTSEL0 + (u32)event->hw.idx, event->hw.config);
	if (event->attr.precise_ip)
		pebs_disable(core, event);
}

void driver_start(struct core *core, struct perf_event *event, int flags)
{
	struct hw_perf_event *hardware = &event->hw;

	if (WARN_ON_ONCE(!(hardware->state & PERF_HES_STOPPED) || hardware->idx < 0))
		return;
	if (flags & PERF_EF_RELOAD)
		(void)driver_set_period(core, event);
	hardware->state = 0;
	core->events[hardware->idx] = event;
	core->active |= 1ULL << hardware->idx;
	counter_enable(core, event);
	books_started(&core->books, event);
	perf_event_update_userpage(event);
	world_start(core);
}

void driver_stop(struct core *core, struct perf_event *event, int flags)
{
	struct hw_perf_event *hardware = &event->hw;

	if (hardware->idx >= 0 && core->events[hardware->idx] == event) {
		counter_disable(core, event);
		core->active &= ~(1ULL << hardware->idx);
		core->events[hardware->idx] = NULL;
		hardware->state |= PERF_HES_STOPPED;
		if (core->enabled)
			driver_resume(core);
	}
	if ((flags & PERF_EF_UPDATE) && !(hardware->state & PERF_HES_UPTODATE)) {
		driver_update(core, event);
		hardware->state |= PERF_HES_UPTODATE;
		if (is_sampling_event(event) && !(hardware->flags & FLAG_AUTO_RELOAD) &&
		    local64_read(&hardware->period_left) <= 0)
			books_cut(&core->books, event);
	}
}

void driver_update(struct core *core, struct perf_event *event)
{
	struct hw_perf_event *hardware = &event->hw;
	u64 now = counter_read(core, hardware->idx);
	u64 before = (u64)local64_xchg(&hardware->prev_count, (s64)now);
	s64 difference = sign_extended(core, now - before);

	local64_add(difference, &event->count);
	local64_sub(difference, &hardware->period_left);
}

bool driver_set_period(struct core *core, struct perf_event *event)
{
	struct hw_perf_event *hardware = &event->hw;
	s64 left = local64_read(&hardware->period_left);
	s64 period = (s64)hardware->sample_period;
	bool over = false;

	if (left <= -period) {
		left = period;
		over = true;
	} else if (left <= 0) {
		left += period;
		over = true;
	}
	if (over) {
		local64_set(&hardware->period_left, left);
		hardware->last_period = hardware->sample_period;
	}
	left = max_t(s64, left, 2);
	left = min(left, longest_period(core));
	left = init_event_limit_period(event, left);
	local64_set(&hardware->prev_count, -left);
	counter_write(core, hardware->idx, (u64)-left);
	perf_event_update_userpage(event);
	return over;
}

void driver_update_reloaded(struct core *core, struct perf_event *event, u32 records)
{
	struct hw_perf_event *hardware = &event->hw;
	u64 now = counter_read(core, hardware->idx);
	s64 before = sign_extended(core, (u64)local64_xchg(&hardware->prev_count, (s64)now));

	local64_add(sign_extended(core, now) - before + (s64)(records * hardware->sample_period),
		    &event->count);
	local64_set(&hardware->period_left, -sign_extended(core, now));
	perf_event_update_userpage(event);
}

/* pebs_update_adaptive_cfg(): what the event's samples need of a record. */
static u64 data_cfg_of(const struct perf_event *event)
{
	u64 type = event->attr.sample_type;
	u64 groups = 0;

	if (!(type & ~(u64)(PERF_SAMPLE_IP | PERF_SAMPLE_TIME)) && event->attr.precise_ip > 1)
		return 0;
	if (type & SAMPLE_MEMORY)
		groups |= DATA_CFG_MEMORY;
	if (event->attr.precise_ip < 2 || (type & (PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER)))
		groups |= DATA_CFG_REGISTERS;
	return groups;
}

/* pebs_update_threshold(): the buffer's end, with a record to spare for each counter, or the first record. */
static void update_threshold(struct core *core)
{
	struct ds_area area;
	u32 spare = hweight64(core->machine->pebs_counters);

	if (ds_area_read(core->machine, &core->unit.memory, core->area, &area) < 0)
		return;
	if (core->n_pebs == core->n_large)
		area.threshold = area.maximum - spare * core->record_bytes;
	else
		area.threshold = area.base + core->record_bytes;
	(void)ds_area_write(core->machine, &core->unit.memory, core->area, &area);
}

static void pebs_update(struct core *core, struct perf_event *event, bool was_large, bool add)
{
	bool update = core->n_pebs == 1;

	if (was_large != driver_all_large(core)) {
		if (was_large)
			kernel_symbols.perf_sched_cb_dec(event->pmu);
		else
			kernel_symbols.perf_sched_cb_inc(event->pmu);
		update = true;
	}
	if (add && core->machine->format == RECORD_ADAPTIVE) {
		u64 groups = data_cfg_of(event);

		if (core->n_pebs == 1) {
			core->data_cfg = 0;
			core->record_bytes = record_size(RECORD_ADAPTIVE, 0);
		}
		/* Records never shrink while there are events: these would have to be asked again. */
		if (groups & ~core->data_cfg) {
			core->data_cfg |= groups;
			core->record_bytes = record_size(RECORD_ADAPTIVE, core->data_cfg);
			update = true;
		}
	}
	if (update)
		update_threshold(core);
}

void driver_pebs_add(struct core *core, struct perf_event *event)
{
	bool was_large = driver_all_large(core);

	core->n_pebs++;
	core->n_large += !!(event->hw.flags & FLAG_LARGE);
	pebs_update(core, event, was_large, true);
}

void driver_pebs_remove(struct core *core, struct perf_event *event)
{
	bool was_large = driver_all_large(core);

	core->n_pebs--;
	core->n_large -= !!(event->hw.flags & FLAG_LARGE);
	pebs_update(core, event, was_large, false);
}
