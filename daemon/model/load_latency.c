// SPDX-License-Identifier: GPL-2.0
#include "load_latency.h"

#include "load_source.h"

#define FIELD_HIGHEST       0xffffU
#define CACHE_LATENCY_SHIFT 32

bool load_latency_enabled(const struct machine *machine, u64 pebs_enable, u32 counter)
{
	u64 bits = MODEL_BIT(counter);

	if (machine->format != RECORD_ADAPTIVE)
		bits |= PEBS_ENABLE_LOAD_LATENCY(counter);
	return (pebs_enable & bits) == bits;
}

/*
 * Returns whether the load's latency exceeds the threshold. A value below the minimum acts as the minimum.
 * With MECHANISM_LATENCY_SPLIT, the threshold applies to the instruction latency.
 */
static bool exceeds(const struct machine *machine, u64 threshold, const struct retired *load)
{
	u32 latency =
		machine->mechanisms & MECHANISM_LATENCY_SPLIT ? load->instruction_latency : load->latency;

	return latency > threshold && latency > LOAD_LATENCY_MINIMUM;
}

static u64 field_of(u32 cycles)
{
	return cycles < FIELD_HIGHEST ? cycles : FIELD_HIGHEST;
}

u64 load_latency_field(const struct machine *machine, const struct retired *access)
{
	if (!(machine->mechanisms & MECHANISM_LATENCY_SPLIT))
		return access->latency;
	return field_of(access->latency) << CACHE_LATENCY_SHIFT | field_of(access->instruction_latency);
}

/*
 * Decides whether the load is tagged. The distance between tags, in loads, is random, uniformly distributed
 * around the interval. After that distance, the next load is tagged, except for loads that were dispatched before
 * the last tagged one retired.
 */
static bool take_tag(struct pebs_unit *unit, const struct retired *load)
{
	u32 interval = unit->tag_interval;
	u64 dispatched = load->tsc > load->instruction_latency ? load->tsc - load->instruction_latency : 0;

	if (interval <= 1)
		return true;
	if (!unit->tag_left)
		unit->tag_left =
			1 + random_below(&unit->random, interval > 1U << 30 ? ~0U : 2 * interval - 1);
	if (unit->tag_left > 1) {
		unit->tag_left--;
		return false;
	}
	if (dispatched < unit->tag_free)
		return false;
	unit->tag_left = 0;
	unit->tag_free = load->tsc;
	return true;
}

bool load_latency_retire(struct pebs_unit *unit, const struct retired *load)
{
	const struct machine *machine = unit->machine;

	if (!take_tag(unit, load) || !exceeds(machine, unit->threshold, load))
		return false;
	/* If the machine needs an auxiliary event that does not count now, there is no data source. */
	unit->tagged = (struct pebs_tagged){
		.valid = true,
		.address = load->address,
		.source = unit->auxiliary ? load_source_encode(machine, load) : 0,
		.latency = load_latency_field(machine, load),
	};
	return true;
}
