// SPDX-License-Identifier: GPL-2.0
#include "assist.h"

#include "interrupts.h"
#include "load_latency.h"
#include "load_source.h"
#include "precise_store.h"
#include "program.h"

/* IF and the bit that is always set: typical flags of a running program. */
#define RECORD_EFLAGS 0x202

#define STORE_L1D_HIT 1ULL

#define RETIRE_LATENCY_HIGHEST 0xffffULL

/* Returns the kinds of the events that triggered, as a set of enum machine_event_kind. */
static u64 kinds_of(struct pebs_unit *unit, u64 counters)
{
	u64 kinds = 0;

	for (; counters; counters &= counters - 1)
		kinds |= MODEL_BIT(program_counter(unit, (u32)__builtin_ctzll(counters))->program.event.kind);
	return kinds;
}

static void put_access(struct record *record, u64 address, u64 source, u64 latency)
{
	record->values[RECORD_ADDRESS] = address;
	record->values[RECORD_SOURCE] = source;
	record->values[RECORD_LATENCY] = latency;
}

/* Fills bytes AFH:98H, which describe a memory access (18.8.1.2). */
static void record_access(struct pebs_unit *unit, const struct retired *retired, u64 kinds,
			  struct record *record)
{
	const struct machine *machine = unit->machine;
	/*
	 * Since Haswell, records of any memory event describe the access, not only those of load latency and
	 * stores (18.11.3).
	 */
	bool own = machine->format >= RECORD_HASWELL;

	/*
	 * According to the manual, the address is that of the access of the instruction before the record's
	 * IP (18.7.1.1). The record's IP is that of the next instruction, so the instruction before it is the
	 * retired one. The other two fields are reserved.
	 */
	if (machine->mechanisms & MECHANISM_ADDRESS_ONLY)
		put_access(record, retired->address, 0, 0);
	else if (kinds & MODEL_BIT(MACHINE_EVENT_PRECISE_STORE))
		precise_store_record(retired, record);
	else if (kinds & MODEL_BIT(MACHINE_EVENT_STORE_LATENCY))
		put_access(record, retired->address, store_source_encode(machine, retired),
			   load_latency_field(machine, retired));
	else if (unit->tagged.valid && (!own || kinds & MODEL_BIT(MACHINE_EVENT_LOAD_LATENCY)))
		put_access(record, unit->tagged.address, unit->tagged.source, unit->tagged.latency);
	else if (own && kinds & MODEL_BIT(MACHINE_EVENT_ACCESS))
		put_access(record, retired->address,
			   retired->operation == OPERATION_STORE
				   ? store_status_encode(retired) & STORE_L1D_HIT
				   : 0,
			   0);
}

static void record_fill(struct pebs_unit *unit, const struct retired *retired, u64 kinds, u64 covered,
			struct record *record)
{
	bool applicable = unit->machine->format >= RECORD_SKYLAKE; /* 18.7.1 */

	*record = (struct record){
		.present =
			(u32)(MODEL_BIT(RECORD_FLAGS) | MODEL_BIT(RECORD_IP) |
			      MODEL_BIT(RECORD_GLOBAL_STATUS) | MODEL_BIT(RECORD_ADDRESS) |
			      MODEL_BIT(RECORD_SOURCE) | MODEL_BIT(RECORD_LATENCY) |
			      MODEL_BIT(RECORD_EVENTING_IP) | MODEL_BIT(RECORD_TSX) | MODEL_BIT(RECORD_TSC)),
	};
	record->values[RECORD_FLAGS] = RECORD_EFLAGS;
	if (retired->registers) {
		record->values[RECORD_FLAGS] = retired->registers->flags;
		for (u32 i = 0; i < RETIRED_REGISTERS; i++) {
			record->present |= (u32)MODEL_BIT(RECORD_AX + i);
			record->values[RECORD_AX + i] = retired->registers->general[i];
		}
	}
	record->values[RECORD_IP] = retired->next_ip;
	record->values[RECORD_GLOBAL_STATUS] = applicable ? covered : unit->global_status;
	record->values[RECORD_EVENTING_IP] = retired->ip;
	record->values[RECORD_TSC] = retired->time_stamp ? retired->time_stamp : retired->tsc;
	if (unit->machine->mechanisms & MECHANISM_RETIRE_LATENCY) {
		record->present |= (u32)MODEL_BIT(RECORD_RETIRE_LATENCY);
		record->values[RECORD_RETIRE_LATENCY] =
			unit->cycles < RETIRE_LATENCY_HIGHEST ? unit->cycles : RETIRE_LATENCY_HIGHEST;
	}
	record_access(unit, retired, kinds, record);
}

struct covered {
	u64 counters;
	u64 due;     /* those of `counters` whose overflow interrupt waits for this assist */
	bool chosen; /* at least one of `counters` requests adaptive records */
};

static struct covered find_covered(struct pebs_unit *unit)
{
	struct covered covered = {0};

	for (u64 left = program_counters(unit->machine); left; left &= left - 1) {
		u32 i = (u32)__builtin_ctzll(left);
		struct pebs_counter *counter = program_counter(unit, i);

		if (!counter->armed || !counter->program.pebs)
			continue;
		covered.counters |= MODEL_BIT(i);
		covered.chosen |= (counter->select & EVTSEL_ADAPTIVE) != 0;
		if (counter->interrupt_due)
			covered.due |= MODEL_BIT(i);
		counter->interrupt_due = false;
	}
	return covered;
}

/*
 * Ends the overflow of the counters. Reloads them from `area` unless that is NULL. The status bits of
 * counters that interrupt stay set for the interrupt handler.
 */
static void settle(struct pebs_unit *unit, const struct covered *covered, const struct ds_area *area)
{
	for (u64 left = covered->counters; left; left &= left - 1) {
		u32 i = (u32)__builtin_ctzll(left);
		struct pebs_counter *counter = program_counter(unit, i);

		counter->armed = false;
		if (!area)
			continue;
		counter->count = area->reset[i < PEBS_FIXED_0 ? i : i - PEBS_FIXED_0 + PEBS_GENERAL] &
				 counter_highest(unit->machine);
		counter->disturbed = false;
	}
	unit->global_status &= ~(covered->counters & ~covered->due);
}

static void raise_buffer(struct pebs_unit *unit, u8 older)
{
	unit->global_status |= STATUS_DS_BUFFER | STATUS_CONDITIONS;
	interrupt_raise(unit, older, INTERRUPT_DS_THRESHOLD, STATUS_DS_BUFFER);
}

u64 assist(struct pebs_unit *unit, const struct retired *retired, u64 triggered, u8 older)
{
	const struct machine *machine = unit->machine;
	struct covered covered = find_covered(unit);
	u64 data_cfg = covered.chosen ? unit->data_cfg : 0;
	u32 size = record_size(machine->format, data_cfg);
	struct ds_area area;
	struct record record;
	u8 bytes[RECORD_SIZE_MAX];

	if (!unit->ds_area || ds_area_read(machine, &unit->memory, unit->ds_area, &area)) {
		unit->not_written++;
		settle(unit, &covered, NULL);
		return covered.due;
	}
	/*
	 * The hardware signals an index out of bounds like a full buffer (18.7.1.3). It clears the status
	 * bits of the counters, and does not reload the counters.
	 */
	if (machine->mechanisms & MECHANISM_OUT_OF_BOUNDS &&
	    (area.index < area.base || area.index > area.maximum)) {
		unit->not_written++;
		settle(unit, &covered, NULL);
		unit->global_status &= ~covered.counters; /* also the bits of counters that interrupt */
		raise_buffer(unit, older);
		return covered.due;
	}
	record_fill(unit, retired, kinds_of(unit, triggered), covered.counters, &record);
	record_write(machine->format, data_cfg, &record, bytes);
	/*
	 * If the buffer is full or not writable, there is no record and no threshold interrupt. The counters
	 * stay armed, so that sampling continues when software has moved the index back ("PEBS Absolute
	 * Maximum"). A record counts only if the index was moved past it.
	 */
	if (ds_area_put(&unit->memory, &area, bytes, size) ||
	    ds_area_set_index(machine, &unit->memory, unit->ds_area, area.index + size)) {
		unit->not_written++;
		return covered.due;
	}
	area.index += size;
	unit->records++;
	unit->written = record;
	unit->written_counters = covered.counters;
	settle(unit, &covered, &area);
	if (area.index >= area.threshold)
		raise_buffer(unit, older);
	return covered.due;
}
