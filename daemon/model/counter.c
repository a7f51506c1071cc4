// SPDX-License-Identifier: GPL-2.0
#include "counter.h"

u64 counter_highest(const struct machine *machine)
{
	return machine->counter_bits < 64 ? MODEL_BIT(machine->counter_bits) - 1 : ~0ULL;
}

bool counter_add(const struct machine *machine, u64 *count, u64 events)
{
	u64 highest = counter_highest(machine);
	bool overflowed = events > highest - *count;

	*count = (*count + events) & highest;
	return overflowed;
}

/* Returns whether the condition of the counter mask holds in a cycle with this number of occurrences. */
static bool condition(const struct counter_program *program, u64 occurrences)
{
	if (!program->mask)
		return occurrences > 0;
	return program->inverted ? occurrences < program->mask : occurrences >= program->mask;
}

u64 counter_filter(const struct counter_program *program, u64 ip, u64 occurrences, u64 cycles, bool *asserted)
{
	u64 idle = cycles > 1 ? cycles - 1 : 0;
	bool idly, now;
	u64 added;

	if (!(ip >> 63 ? program->os : program->user))
		return 0;
	if (!program->mask && !program->edge)
		return occurrences;

	if (program->event.kind == MACHINE_EVENT_STALLS) {
		/* A stall event occurs once in each stalled cycle. These cycles follow each other. */
		idle = cycles > occurrences ? cycles - occurrences : 0;
		idly = condition(program, 0);
		now = condition(program, occurrences > 0);
		if (!program->edge)
			return (idly ? idle : 0) + (now ? occurrences : 0);
	} else if (program->event.kind == MACHINE_EVENT_CYCLES) {
		/* A cycles event occurs in every cycle, so no cycle is idle. */
		idle = occurrences > 1 ? occurrences - 1 : 0;
		idly = condition(program, 1);
		now = occurrences && idly;
	} else {
		idly = condition(program, 0);
		now = condition(program, occurrences);
	}
	if (!program->edge)
		return (idly ? idle : 0) + now;

	added = idle && idly && !*asserted;
	if (idle)
		*asserted = idly;
	added += now && !*asserted;
	*asserted = now;
	return added;
}
