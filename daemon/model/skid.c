// SPDX-License-Identifier: GPL-2.0
#include "skid.h"

bool skid_pdir(const struct machine *machine, u32 counter, u64 select, u64 pebs_enable)
{
	return machine->mechanisms & MECHANISM_PDIR && counter == PDIR_COUNTER &&
	       (select & (EVTSEL_EVENT | EVTSEL_UMASK)) == PDIR_EVENT &&
	       !(select & (EVTSEL_INV | EVTSEL_EDGE | EVTSEL_CMASK)) && pebs_enable & MODEL_BIT(PDIR_COUNTER);
}

bool skid_reduced(const struct machine *machine, u64 select)
{
	return machine->mechanisms & MECHANISM_REDUCED_SKID &&
	       !(select & (EVTSEL_INV | EVTSEL_ANY | EVTSEL_EDGE | EVTSEL_CMASK));
}

bool skid_distributed(const struct machine *machine, u32 counter, u64 pebs_enable)
{
	return machine->distributed_counters & pebs_enable & MODEL_BIT(counter);
}

void skid_written(const struct pebs_unit *unit, u32 counter, struct pebs_counter *written)
{
	written->disturbed = (unit->pebs_enable & unit->global_ctrl & MODEL_BIT(counter)) != 0;
}

bool skid_none(const struct machine *machine, const struct pebs_counter *counter)
{
	if (!counter->program.no_skid)
		return false;
	return !(machine->mechanisms & MECHANISM_REDUCED_SKID && counter->disturbed);
}
