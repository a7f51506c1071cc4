// SPDX-License-Identifier: GPL-2.0
#include "origin/model/driver.h"

#include "model/drain.h"
#include "model/load_source.h"

/* The bit in MSR_PEBS_DATA_CFG for the group with address, data source and latency. */
#define DATA_CFG_MEMORY 1

/* The buffer starts after the save area, on a new cache line. */
#define LINE 64ULL

/*
 * The positions of cache and instruction latency in their common field (PEBS_CACHE_LATENCY_OFFSET and
 * PEBS_LATENCY_MASK in ds.c, Linux 6.1).
 */
#define CACHE_LATENCY_SHIFT 32
#define LATENCY_MASK        0xffffULL

static u64 data_cfg(const struct machine *machine)
{
	return machine->format == RECORD_ADAPTIVE ? DATA_CFG_MEMORY : 0;
}

static u64 buffer_offset(const struct machine *machine)
{
	return (ds_area_size(machine) + LINE - 1) / LINE * LINE;
}

u64 driver_memory_size(const struct machine *machine)
{
	return buffer_offset(machine) + (u64)DRIVER_RECORDS * record_size(machine->format, data_cfg(machine));
}

u64 driver_period(const struct machine *machine, u64 period)
{
	return period < machine->smallest_period ? machine->smallest_period : period;
}

static bool lowest_bit(u32 bits, u32 *ret)
{
	for (u32 i = 0; i < PEBS_GENERAL; i++)
		if (bits >> i & 1) {
			*ret = i;
			return true;
		}
	return false;
}

static int lay_out_area(const struct driver *driver)
{
	const struct machine *machine = driver->unit->machine;
	u32 record = record_size(machine->format, data_cfg(machine));
	u64 base = driver->area + buffer_offset(machine);
	struct ds_area area = {
		.base = base,
		.index = base,
		.maximum = base + (u64)DRIVER_RECORDS * record,
		.threshold = base + (u64)DRIVER_THRESHOLD * record,
	};

	/* The reset value of the counter is minus the number of events to its overflow. */
	area.reset[driver->counter] = (0 - driver->period) & (MODEL_BIT(machine->counter_bits) - 1);
	return ds_area_write(machine, &driver->unit->memory, driver->area, &area);
}

/* Writes a register, unless an earlier write failed. `r` keeps the first error. */
static void put(struct pebs_unit *unit, u32 msr, u64 value, int *r)
{
	if (*r == 0)
		*r = pebs_write(unit, msr, value);
}

/*
 * With adaptive PEBS, the former bits of load latency belong to the fixed counters. The event alone selects
 * load latency.
 */
static u64 pebs_enable(const struct machine *machine, u32 counter)
{
	return MODEL_BIT(counter) |
	       (machine->format == RECORD_ADAPTIVE ? 0 : PEBS_ENABLE_LOAD_LATENCY(counter));
}

/* Programs the event that must run together with load latency, on another counter. */
static void program_aux(struct driver *driver, int *r)
{
	const struct machine *machine = driver->unit->machine;
	u32 others = (u32)(MODEL_BIT(machine->counters) - 1) & ~(1U << driver->counter);
	u32 counter;

	if (!machine->aux_event || *r < 0)
		return;
	if (!lowest_bit(others, &counter)) {
		*r = -ENODEV;
		return;
	}
	put(driver->unit, MSR_IA32_PERFEVTSEL0 + counter,
	    machine->aux_event | EVTSEL_USR | EVTSEL_OS | EVTSEL_ENABLE, r);
	driver->enabled |= MODEL_BIT(counter);
}

int driver_start(struct driver *driver, struct pebs_unit *unit, u32 ldlat, u64 period)
{
	const struct machine *machine = unit->machine;
	u64 select = machine->load_latency_event | EVTSEL_USR | EVTSEL_OS | EVTSEL_ENABLE |
		     (machine->format == RECORD_ADAPTIVE ? EVTSEL_ADAPTIVE : 0);
	int r;

	*driver = (struct driver){.unit = unit, .period = period, .area = unit->memory.base};
	if (machine_refusal(machine) ||
	    !lowest_bit(machine->load_latency_counters & (u32)machine->pebs_counters, &driver->counter))
		return -ENODEV;
	driver->enabled = MODEL_BIT(driver->counter);
	if (unit->memory.size < driver_memory_size(machine))
		return -EFAULT;
	r = lay_out_area(driver);
	put(unit, MSR_IA32_PERF_GLOBAL_CTRL, 0, &r);
	put(unit, MSR_IA32_DS_AREA, driver->area, &r);
	put(unit, MSR_PEBS_LD_LAT_THRESHOLD, ldlat, &r);
	if (machine->format == RECORD_ADAPTIVE)
		put(unit, MSR_PEBS_DATA_CFG, data_cfg(machine), &r);
	program_aux(driver, &r);
	/* No EVTSEL_INT, because the buffer causes the interrupt, not the counter. */
	put(unit, MSR_IA32_PMC0 + driver->counter, (u32)(0 - period), &r);
	put(unit, MSR_IA32_PERFEVTSEL0 + driver->counter, select, &r);
	put(unit, MSR_IA32_PEBS_ENABLE, pebs_enable(machine, driver->counter), &r);
	put(unit, MSR_IA32_PERF_GLOBAL_CTRL, driver->enabled, &r);
	if (r == 0 && pebs_undefined(unit))
		r = -EINVAL;
	return r;
}

/* Before Haswell, a record has only the address after the instruction. */
static void take_code_address(const struct record *record, struct sample *ret)
{
	enum record_field field =
		record->present & MODEL_BIT(RECORD_EVENTING_IP) ? RECORD_EVENTING_IP : RECORD_IP;

	if (!(record->present & MODEL_BIT(field)))
		return;
	ret->code_address = record->values[field];
	ret->fields |= SAMPLE_CODE_ADDRESS;
}

void driver_sample(const struct machine *machine, const struct record *record, u64 period, struct sample *ret)
{
	*ret = (struct sample){.period = period};
	if (record->present & MODEL_BIT(RECORD_ADDRESS)) {
		ret->address = record->values[RECORD_ADDRESS];
		ret->fields |= SAMPLE_ADDRESS;
	}
	if (record->present & MODEL_BIT(RECORD_SOURCE)) {
		ret->data_source = load_source_data_src(machine, record->values[RECORD_SOURCE]);
		ret->fields |= SAMPLE_DATA_SOURCE;
	}
	take_code_address(record, ret);
	if (!(record->present & MODEL_BIT(RECORD_LATENCY)))
		return;
	ret->latency = record->values[RECORD_LATENCY];
	ret->fields |= SAMPLE_LATENCY;
	if (machine->mechanisms & MECHANISM_LATENCY_SPLIT) {
		ret->instruction_latency = (u32)(ret->latency & LATENCY_MASK);
		ret->latency = ret->latency >> CACHE_LATENCY_SHIFT & LATENCY_MASK;
		ret->fields |= SAMPLE_INSTRUCTION_LATENCY;
	}
}

int driver_drain(struct driver *driver, u64 cgroup_id, model_take take, void *userdata)
{
	struct pebs_unit *unit = driver->unit;
	struct delivery delivery;
	struct sample sample;
	struct ds_area area;
	struct drain drain;
	const void *bytes;
	u64 enabled;
	int r = ds_area_read(unit->machine, &unit->memory, driver->area, &area);

	if (r < 0 || area.index <= area.base)
		return r;
	bytes = linear_at(&unit->memory, area.base, area.index - area.base);
	if (!bytes)
		return -EFAULT;
	r = pebs_read(unit, MSR_IA32_PEBS_ENABLE, &enabled);
	if (r < 0)
		return r;
	drain_open(&drain, unit->machine->format, bytes, area.index - area.base, enabled);
	while (drain_next(&drain, &delivery)) {
		driver_sample(unit->machine, &delivery.record, driver->period, &sample);
		sample.cgroup_id = cgroup_id;
		take(userdata, &sample);
	}
	/* The unit retires nothing meanwhile, so no record is added and none needs to be copied. */
	return ds_area_set_index(unit->machine, &unit->memory, driver->area, area.base);
}

int driver_interrupt(struct driver *driver, u64 cgroup_id, model_take take, void *userdata)
{
	struct pebs_unit *unit = driver->unit;
	struct interrupt interrupt;
	u64 status = 0;
	int r = 0;

	while (pebs_take_interrupt(unit, &interrupt)) {
		put(unit, MSR_IA32_PERF_GLOBAL_CTRL, 0, &r);
		if (r == 0)
			r = pebs_read(unit, MSR_IA32_PERF_GLOBAL_STATUS, &status);
		put(unit, MSR_IA32_PERF_GLOBAL_OVF_CTRL, status, &r);
		if (r == 0 && (status & STATUS_DS_BUFFER))
			r = driver_drain(driver, cgroup_id, take, userdata);
		/* Counting continues even if reading the records failed. */
		(void)pebs_write(unit, MSR_IA32_PERF_GLOBAL_CTRL, driver->enabled);
	}
	return r;
}
