// SPDX-License-Identifier: GPL-2.0
#include "pebs.h"

#include "assist.h"
#include "interrupts.h"
#include "load_latency.h"
#include "offcore.h"
#include "program.h"
#include "skid.h"

#define TAG_INTERVAL_DEFAULT 80
#define RANDOM_STREAM        0x70656273 /* "pebs" */

void pebs_open(struct pebs_unit *unit, const struct machine *machine, struct linear_memory memory, u64 seed)
{
	*unit = (struct pebs_unit){
		.machine = machine,
		.memory = memory,
		.tag_interval = TAG_INTERVAL_DEFAULT,
		.skid = SKID_DEFAULT,
	};
	random_seed(&unit->random, seed, RANDOM_STREAM);
	program_unit(unit);
}

const char *pebs_undefined(const struct pebs_unit *unit)
{
	return unit->undefined;
}

/* The effect of an instruction on the counters. */
struct passing {
	const struct retired *retired;
	u64 cycles;     /* since the previous instruction */
	bool tagged;    /* a load that the load latency event counts */
	u64 overflowed; /* counters whose overflow interrupt is raised now */
	u64 triggered;  /* counters that trigger the assist */
};

static u64 occurrences(const struct pebs_unit *unit, const struct machine_event *event,
		       const struct passing *passing)
{
	switch (event->kind) {
	case MACHINE_EVENT_LOAD_LATENCY:
		return passing->tagged;
	case MACHINE_EVENT_PRECISE_STORE:
		return passing->retired->operation == OPERATION_STORE;
	case MACHINE_EVENT_OFFCORE:
		return offcore_occurrences(unit->machine, event->offcore, unit->offcore[event->offcore],
					   passing->retired);
	default:
		return machine_event_occurrences(unit->machine, event, passing->retired, passing->cycles);
	}
}

static void overflow(struct pebs_unit *unit, u64 bit, struct pebs_counter *counter, struct passing *passing)
{
	unit->global_status |= bit | STATUS_CONDITIONS;
	if (!counter->program.pebs) {
		if (counter->program.interrupts)
			passing->overflowed |= bit;
		return;
	}
	counter->armed = true;
	counter->interrupt_due = counter->program.interrupts;
	if (skid_none(unit->machine, counter))
		passing->triggered |= bit;
	else
		counter->skid_left = (u8)random_below(&unit->random, unit->skid + 1U);
}

static void count(struct pebs_unit *unit, u32 index, struct passing *passing)
{
	struct pebs_counter *counter =
		index < PEBS_FIXED_0 ? &unit->general[index] : &unit->fixed[index - PEBS_FIXED_0];
	u64 events = counter_filter(&counter->program, passing->retired->ip,
				    occurrences(unit, &counter->program.event, passing), passing->cycles,
				    &counter->asserted);

	if (!counter->armed || !counter->program.pebs) {
		if (events && counter_add(unit->machine, &counter->count, events))
			overflow(unit, MODEL_BIT(index), counter, passing);
		return;
	}
	(void)counter_add(unit->machine, &counter->count, events);
	if (counter->skid_left)
		counter->skid_left--;
	else if (events)
		passing->triggered |= MODEL_BIT(index);
}

static u64 lowest(u64 bits)
{
	return bits & -bits;
}

/*
 * Handles the assists and overflow interrupts of one instruction. The counter with the lowest index decides
 * which comes first. Fixed counters have higher bits than general-purpose ones. Counters that overflow
 * together raise one interrupt. If a counter also has its PEBS assist here, its interrupt comes after the
 * assist, and after a threshold interrupt that the assist may raise.
 */
static void serve(struct pebs_unit *unit, const struct passing *passing)
{
	u8 older = unit->pending_count;
	u64 overflowed = passing->overflowed;

	if (overflowed && (!passing->triggered || lowest(overflowed) < lowest(passing->triggered))) {
		interrupt_raise(unit, older, INTERRUPT_OVERFLOW, overflowed);
		overflowed = 0;
	}
	if (passing->triggered)
		overflowed |= assist(unit, passing->retired, passing->triggered, older);
	if (overflowed)
		interrupt_raise(unit, older, INTERRUPT_OVERFLOW, overflowed);
}

u32 pebs_retire(struct pebs_unit *unit, const struct retired *retired)
{
	struct passing passing = {
		.retired = retired,
		.cycles = unit->tsc && retired->tsc > unit->tsc ? retired->tsc - unit->tsc : 0,
	};

	unit->tsc = retired->tsc;
	unit->cycles = passing.cycles;
	if (unit->tagging && retired->operation == OPERATION_LOAD)
		passing.tagged = load_latency_retire(unit, retired);
	for (u64 left = unit->counting; left; left &= left - 1)
		count(unit, (u32)__builtin_ctzll(left), &passing);
	if (passing.overflowed | passing.triggered)
		serve(unit, &passing);
	return unit->pending_count;
}

u64 pebs_pass(struct pebs_unit *unit, u32 counter, u64 events)
{
	struct pebs_counter *passed = program_counter(unit, counter);
	u64 room;

	if (!passed || !passed->program.counts)
		return events;
	if (passed->armed && passed->program.pebs)
		return 0;
	room = counter_highest(unit->machine) - passed->count;
	if (events > room)
		events = room;
	passed->count += events;
	return events;
}
