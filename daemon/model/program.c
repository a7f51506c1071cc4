// SPDX-License-Identifier: GPL-2.0
#include "program.h"

#include "load_latency.h"
#include "precise_store.h"
#include "skid.h"

u64 program_counters(const struct machine *machine)
{
	u32 general = machine->counters < PEBS_GENERAL ? machine->counters : PEBS_GENERAL;
	u32 fixed = machine->fixed_counters < PEBS_FIXED ? machine->fixed_counters : PEBS_FIXED;

	if (machine->mechanisms & MECHANISM_AT_RETIREMENT)
		return 0;
	return (MODEL_BIT(general) - 1) | (MODEL_BIT(fixed) - 1) << PEBS_FIXED_0;
}

struct pebs_counter *program_counter(struct pebs_unit *unit, u32 counter)
{
	if (counter >= 64 || !(program_counters(unit->machine) & MODEL_BIT(counter)))
		return NULL;
	return counter < PEBS_FIXED_0 ? &unit->general[counter] : &unit->fixed[counter - PEBS_FIXED_0];
}

/* Returns whether the facility of the event is on for the counter. */
static bool facility_on(const struct pebs_unit *unit, const struct machine_event *event, u32 counter)
{
	switch (event->kind) {
	case MACHINE_EVENT_LOAD_LATENCY:
		return load_latency_enabled(unit->machine, unit->pebs_enable, counter);
	case MACHINE_EVENT_PRECISE_STORE:
		return precise_store_enabled(unit->machine, unit->pebs_enable);
	default:
		return event->kind != MACHINE_EVENT_NONE;
	}
}

/*
 * INST_RETIRED.TOTAL_CYCLES_PS. Skylake's tables do not list INST_RETIRED as precise. With this configuration
 * INST_RETIRED is precise, and Linux uses it for cycles:p (intel_skl_pebs_event_constraints[] in
 * arch/x86/events/intel/ds.c, 6.12).
 */
static bool is_total_cycles(const struct machine *machine, u64 select)
{
	return machine->format == RECORD_SKYLAKE && (select & (EVTSEL_EVENT | EVTSEL_UMASK)) == 0x00c0 &&
	       select & EVTSEL_INV && (select & EVTSEL_CMASK) == 16ULL << 24;
}

static void program_general(struct pebs_unit *unit, u32 counter)
{
	u64 select = unit->general[counter].select;
	struct counter_program *program = &unit->general[counter].program;

	*program = (struct counter_program){
		.interrupts = select & EVTSEL_INT,
		.os = select & EVTSEL_OS,
		.user = select & EVTSEL_USR,
		.inverted = select & EVTSEL_INV,
		.edge = select & EVTSEL_EDGE,
		.mask = (u8)((select & EVTSEL_CMASK) >> 24),
	};
	machine_event_find(unit->machine, (u16)(select & (EVTSEL_EVENT | EVTSEL_UMASK)), &program->event);
	program->event.precise |= is_total_cycles(unit->machine, select);
	if (program->event.mask) {
		if (program->mask != program->event.mask || program->inverted)
			program->event.kind = MACHINE_EVENT_NONE;
		program->mask = 0;
	}
	program->counts = select & EVTSEL_ENABLE && unit->global_ctrl & MODEL_BIT(counter) &&
			  program->event.counters >> counter & 1 &&
			  facility_on(unit, &program->event, counter);
	program->pebs = unit->pebs_enable & MODEL_BIT(counter) && program->event.precise;
	program->no_skid = skid_pdir(unit->machine, counter, select, unit->pebs_enable) ||
			   skid_reduced(unit->machine, select) ||
			   skid_distributed(unit->machine, counter, unit->pebs_enable);
	if (program->event.kind == MACHINE_EVENT_LOAD_LATENCY && program->counts &&
	    select & (EVTSEL_CMASK | EVTSEL_INV)) {
		unit->undefined = "CMASK and INV of a counter with the load latency event must be 0 "
				  "(18.8.1.2)";
		program->counts = false;
	}
}

static void program_fixed(struct pebs_unit *unit, u32 i)
{
	u64 control = unit->fixed[i].select;
	u64 bit = MODEL_BIT(PEBS_FIXED_0 + i);
	struct counter_program *program = &unit->fixed[i].program;

	*program = (struct counter_program){
		.interrupts = control & FIXED_CTRL_PMI,
		.os = control & FIXED_CTRL_OS,
		.user = control & FIXED_CTRL_USR,
	};
	machine_event_find_fixed(unit->machine, i, &program->event);
	program->counts = unit->global_ctrl & bit && program->event.kind != MACHINE_EVENT_NONE;
	program->pebs = unit->pebs_enable & bit && program->event.precise;
	program->no_skid = skid_distributed(unit->machine, PEBS_FIXED_0 + i, unit->pebs_enable);
}

/*
 * 18.9.4.4: on 06_2A and 06_2D, no other general-purpose counter may count while PDIR is in use. Otherwise
 * the behaviour is undefined, and the PDIR counter counts nothing.
 */
static void program_pdir(struct pebs_unit *unit)
{
	struct pebs_counter *pdir = &unit->general[PDIR_COUNTER];

	if (!(unit->machine->mechanisms & MECHANISM_PDIR_ALONE) || !pdir->program.counts ||
	    !skid_pdir(unit->machine, PDIR_COUNTER, pdir->select, unit->pebs_enable))
		return;
	for (u32 i = 0; i < PEBS_GENERAL; i++) {
		if (i == PDIR_COUNTER || !(unit->general[i].select & EVTSEL_ENABLE) ||
		    !(unit->global_ctrl & MODEL_BIT(i)))
			continue;
		unit->undefined = "with PDIR on counter 1 the other general-purpose counters must be idle "
				  "(18.9.4.4)";
		pdir->program.counts = false;
	}
}

void program_unit(struct pebs_unit *unit)
{
	unit->undefined = NULL;
	unit->counting = 0;
	unit->tagging = false;
	unit->auxiliary = !unit->machine->aux_event;
	for (u64 left = program_counters(unit->machine); left; left &= left - 1) {
		u32 counter = (u32)__builtin_ctzll(left);

		if (counter < PEBS_FIXED_0)
			program_general(unit, counter);
		else
			program_fixed(unit, counter - PEBS_FIXED_0);
	}
	program_pdir(unit);
	for (u64 left = program_counters(unit->machine); left; left &= left - 1) {
		u32 counter = (u32)__builtin_ctzll(left);
		const struct counter_program *program = &program_counter(unit, counter)->program;

		if (!program->counts)
			continue;
		unit->counting |= MODEL_BIT(counter);
		unit->tagging |= program->event.kind == MACHINE_EVENT_LOAD_LATENCY;
		unit->auxiliary |= program->event.auxiliary;
	}
	if (!unit->tagging)
		unit->tagged.valid = false;
}
