// SPDX-License-Identifier: GPL-2.0
#include "interrupts.h"

void interrupt_raise(struct pebs_unit *unit, u8 older, enum interrupt_cause cause, u64 status)
{
	struct interrupt *same = NULL;

	for (u32 i = 0; i < unit->pending_count; i++)
		if (unit->pending[i].cause == cause && (i < older || i == unit->pending_count - 1U))
			same = &unit->pending[i];
	if (same)
		same->status |= status;
	else if (unit->pending_count < PEBS_INTERRUPTS_MAX)
		unit->pending[unit->pending_count++] = (struct interrupt){cause, status};
}

void pebs_uncore_overflow(struct pebs_unit *unit)
{
	unit->uncore_status |= MODEL_BIT(0) | UNCORE_STATUS_PMI | UNCORE_STATUS_CHANGED;
	unit->global_status |= STATUS_UNCORE | STATUS_CONDITIONS;
	interrupt_raise(unit, unit->pending_count, INTERRUPT_UNCORE, STATUS_UNCORE);
}

bool pebs_take_interrupt(struct pebs_unit *unit, struct interrupt *ret)
{
	if (!unit->pending_count)
		return false;
	*ret = unit->pending[0];
	unit->pending_count--;
	for (u32 i = 0; i < unit->pending_count; i++)
		unit->pending[i] = unit->pending[i + 1];
	return true;
}
