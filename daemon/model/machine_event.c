// SPDX-License-Identifier: GPL-2.0
#include "machine_event.h"

#include "ibs.h"

#define LOADS  MODEL_BIT(OPERATION_LOAD)
#define STORES MODEL_BIT(OPERATION_STORE)

#define IN(place)      MODEL_BIT(PLACE_##place)
#define ANYWHERE       (MODEL_BIT(PLACE_COUNT) - 1)
#define DRAM           (IN(LOCAL_DRAM) | IN(REMOTE_DRAM))
#define MISSED_L3      (IN(REMOTE_CACHE) | DRAM)
#define MISSED_L2      (IN(L3) | MISSED_L3)
#define SNOOPED(found) MODEL_BIT(SNOOPED_##found)
#define WHATEVER       (MODEL_BIT(SNOOPED_COUNT) - 1)
#define WALKED         MODEL_BIT(TRANSLATED_WALK)
#define MISSED_L1TLB   (MODEL_BIT(TRANSLATED_L2) | WALKED)
#define ANYHOW         (MODEL_BIT(TRANSLATED_COUNT) - 1)

#define ACCESS(code_, operations_, places_, snoop_, translated_)                                             \
	{                                                                                                    \
		.code = (code_), .kind = MACHINE_EVENT_ACCESS, .precise = true, .operations = (operations_), \
		.places = (places_), .snoop = (snoop_), .translated = (translated_), .counters = ~0U         \
	}
#define FOUND(code, places)          ACCESS(code, LOADS, places, WHATEVER, ANYHOW)
#define FOUND_SNOOPED(code, in, who) ACCESS(code, LOADS, in, who, ANYHOW)
#define ALL(code, operations)        ACCESS(code, operations, ANYWHERE, WHATEVER, ANYHOW)
#define LOCKED(code_)                                                                                      \
	{                                                                                                  \
		.code = (code_), .kind = MACHINE_EVENT_ACCESS, .precise = true, .locked = true,            \
		.operations = LOADS | STORES, .places = ANYWHERE, .snoop = WHATEVER, .translated = ANYHOW, \
		.counters = ~0U                                                                            \
	}
#define PRECISE(code_, kind_)                                                      \
	{                                                                          \
		.code = (code_), .kind = (kind_), .precise = true, .counters = ~0U \
	}
#define COUNTED(code_, kind_)                                     \
	{                                                         \
		.code = (code_), .kind = (kind_), .counters = ~0U \
	}
#define COUNTED_ALL(code_, operations_)                                                      \
	{                                                                                    \
		.code = (code_), .kind = MACHINE_EVENT_ACCESS, .operations = (operations_),  \
		.places = ANYWHERE, .snoop = WHATEVER, .translated = ANYHOW, .counters = ~0U \
	}
#define END                                \
	{                                  \
		.kind = MACHINE_EVENT_NONE \
	}

/*
 * 19.6 (Core): INST_RETIRED. INST_RETIRED.LOADS and .STORES are not precise
 * (intel_core2_pebs_event_constraints in ds.c, Linux 6.1). MEM_LOAD_RETIRED is named after the level that was
 * missed.
 */
static const struct machine_event core_events[] = {
	PRECISE(0x00c0, MACHINE_EVENT_INSTRUCTIONS),
	COUNTED_ALL(0x01c0, LOADS),
	COUNTED_ALL(0x02c0, STORES),
	FOUND(0x01cb, (ANYWHERE & ~(IN(L1) | IN(UNCACHED) | IN(IO)))),
	FOUND(0x02cb, (ANYWHERE & ~(IN(L1) | IN(FILL_BUFFER) | IN(UNCACHED) | IN(IO)))),
	FOUND(0x04cb, MISSED_L2),
	FOUND(0x08cb, MISSED_L2),
	ACCESS(0x10cb, LOADS, ANYWHERE, WHATEVER, WALKED),
	END,
};

/* 18.8.1.1 and 19.7: MEM_INST_RETIRED, MEM_LOAD_RETIRED, MEM_UNCORE_RETIRED. */
static const struct machine_event nehalem_events[] = {
	PRECISE(0x00c0, MACHINE_EVENT_INSTRUCTIONS),
	PRECISE(0x01c0, MACHINE_EVENT_INSTRUCTIONS),
	PRECISE(0x01c2, MACHINE_EVENT_UOPS),
	ALL(0x010b, LOADS),
	ALL(0x020b, STORES),
	ACCESS(0x010c, STORES, ANYWHERE, WHATEVER, WALKED),
	FOUND(0x01cb, IN(L1)),
	FOUND(0x02cb, IN(L2)),
	FOUND_SNOOPED(0x04cb, IN(L3), SNOOPED(NONE) | SNOOPED(MISS)),
	FOUND_SNOOPED(0x08cb, IN(L3), SNOOPED(HIT) | SNOOPED(MODIFIED)),
	FOUND(0x10cb, MISSED_L3),
	FOUND(0x40cb, IN(FILL_BUFFER)),
	ACCESS(0x80cb, LOADS, ANYWHERE, WHATEVER, WALKED),
	FOUND_SNOOPED(0x020f, IN(L3), SNOOPED(MODIFIED)),
	FOUND(0x080f, IN(REMOTE_CACHE)),
	FOUND(0x100f, IN(REMOTE_DRAM)),
	FOUND(0x200f, IN(LOCAL_DRAM)),
	FOUND(0x800f, IN(UNCACHED)),
	END,
};

/*
 * Tables 18-32 and 18-56: MEM_UOPS_RETIRED (later MEM_INST_RETIRED), MEM_LOAD_UOPS_RETIRED and similar
 * events. If two rows have the same code, the later generation's meaning is used.
 */
static const struct machine_event sandy_bridge_events[] = {
	COUNTED(0x00c0, MACHINE_EVENT_INSTRUCTIONS),
	PRECISE(0x01c0, MACHINE_EVENT_INSTRUCTIONS),
	PRECISE(0x01c2, MACHINE_EVENT_UOPS),
	ACCESS(0x11d0, LOADS, ANYWHERE, WHATEVER, WALKED),
	ACCESS(0x12d0, STORES, ANYWHERE, WHATEVER, WALKED),
	LOCKED(0x21d0),
	ALL(0x81d0, LOADS),
	ALL(0x82d0, STORES),
	ALL(0x83d0, LOADS | STORES),
	FOUND(0x01d1, IN(L1)),
	FOUND(0x02d1, IN(L2)),
	FOUND(0x04d1, IN(L3)),
	FOUND(0x08d1, IN(L2) | MISSED_L2),
	FOUND(0x10d1, MISSED_L2),
	FOUND(0x20d1, MISSED_L3),
	FOUND(0x40d1, IN(FILL_BUFFER)),
	FOUND_SNOOPED(0x01d2, IN(L3), SNOOPED(MISS)),
	FOUND_SNOOPED(0x02d2, IN(L3), SNOOPED(HIT)),
	FOUND_SNOOPED(0x04d2, IN(L3), SNOOPED(MODIFIED)),
	FOUND_SNOOPED(0x08d2, IN(L3), SNOOPED(NONE)),
	FOUND(0x01d3, IN(LOCAL_DRAM)),
	FOUND(0x02d3, IN(REMOTE_DRAM)),
	FOUND_SNOOPED(0x04d3, IN(REMOTE_CACHE), SNOOPED(MODIFIED)),
	FOUND_SNOOPED(0x08d3, IN(REMOTE_CACHE), SNOOPED(HIT)),
	END,
};

/* Table 19-24. Without an L3, a line that misses L2 is in another module's cache or in memory. */
static const struct machine_event goldmont_events[] = {
	PRECISE(0x00c0, MACHINE_EVENT_INSTRUCTIONS),
	PRECISE(0x00c2, MACHINE_EVENT_UOPS),
	ACCESS(0x11d0, LOADS, ANYWHERE, WHATEVER, WALKED),
	ACCESS(0x12d0, STORES, ANYWHERE, WHATEVER, WALKED),
	ACCESS(0x13d0, LOADS | STORES, ANYWHERE, WHATEVER, WALKED),
	LOCKED(0x21d0),
	ALL(0x81d0, LOADS),
	ALL(0x82d0, STORES),
	ALL(0x83d0, LOADS | STORES),
	FOUND(0x01d1, IN(L1)),
	FOUND(0x02d1, IN(L2)),
	FOUND(0x08d1, IN(L2) | MISSED_L2),
	FOUND(0x10d1, MISSED_L2),
	FOUND_SNOOPED(0x20d1, MISSED_L2, SNOOPED(MODIFIED)),
	FOUND(0x40d1, IN(FILL_BUFFER)),
	FOUND(0x80d1, DRAM),
	END,
};

/* Intel's event lists of Gracemont and Crestmont: MEM_UOPS_RETIRED, MEM_LOAD_UOPS_RETIRED. */
static const struct machine_event efficient_events[] = {
	PRECISE(0x00c0, MACHINE_EVENT_INSTRUCTIONS),
	PRECISE(0x00c2, MACHINE_EVENT_UOPS),
	LOCKED(0x21d0),
	ALL(0x81d0, LOADS),
	ALL(0x82d0, STORES),
	ALL(0x83d0, LOADS | STORES),
	FOUND(0x01d1, IN(L1)),
	FOUND(0x02d1, IN(L2)),
	FOUND(0x04d1, IN(L3)),
	FOUND(0x80d1, DRAM),
	END,
};

static const struct machine_event *events_of(const struct machine *machine)
{
	if (machine->mechanisms & MECHANISM_AT_RETIREMENT)
		return NULL;
	if (machine->format == RECORD_CORE)
		return core_events;
	if (machine->mechanisms & MECHANISM_ADDRESS_ONLY)
		return goldmont_events;
	if (machine_is_efficient(machine))
		return efficient_events;
	return machine->encoding == ENCODING_NEHALEM ? nehalem_events : sandy_bridge_events;
}

/*
 * Finds the event of a facility. The machine's description has the code and the counters of such an event. On
 * Sandy Bridge, only counter 3 can count it (18.9.4.2, 18.9.4.3).
 */
static bool find_facility(const struct machine *machine, u16 code, struct machine_event *ret)
{
	u32 mechanisms = machine->mechanisms;

	if (mechanisms & MECHANISM_LOAD_LATENCY && code == machine->load_latency_event) {
		*ret = (struct machine_event)PRECISE(code, MACHINE_EVENT_LOAD_LATENCY);
		ret->counters = machine->load_latency_counters;
		return true;
	}
	if (mechanisms & (MECHANISM_PRECISE_STORE | MECHANISM_STORE_LATENCY) &&
	    code == machine->store_event) {
		*ret = (struct machine_event)PRECISE(code, mechanisms & MECHANISM_STORE_LATENCY
								   ? MACHINE_EVENT_STORE_LATENCY
								   : MACHINE_EVENT_PRECISE_STORE);
		ret->counters = machine->store_counters;
		return true;
	}
	if (machine->aux_event && code == machine->aux_event) {
		*ret = (struct machine_event)ALL(code, LOADS);
		ret->precise = false;
		ret->auxiliary = true;
		return true;
	}
	return false;
}

/*
 * Off-core response, tables 18-14 (Goldmont, 18.7.2), 18-25 (Nehalem) and 18-35 (18.9.5). Each register has
 * an event of its own.
 */
static bool find_offcore(const struct machine *machine, u16 code, struct machine_event *ret)
{
	for (u8 which = 0; which < 2; which++) {
		if (!machine->offcore_bits[which] || code != machine->offcore_events[which])
			continue;
		*ret = (struct machine_event)COUNTED(code, MACHINE_EVENT_OFFCORE);
		ret->offcore = which;
		return true;
	}
	return false;
}

#define STALLS(code_, mask_, stalls_, counters_)                                                     \
	{                                                                                            \
		.code = (code_), .kind = MACHINE_EVENT_STALLS, .mask = (mask_), .stalls = (stalls_), \
		.counters = (counters_)                                                              \
	}

/*
 * The stall events of perf's tables. Counters: their column "Counter", and the constraints of
 * arch/x86/events/intel/core.c.
 */
void machine_event_find_stalls(const struct machine *machine, struct machine_event *ret)
{
	/* CYCLE_ACTIVITY.STALLS_L1D_PENDING (sandybridge, jaketown): intel_snb_event_constraints[]. */
	static const struct machine_event sandy_bridge = STALLS(0x06a3, 0x06, STALLS_L1_MISS, 0x4);
	/* CYCLE_ACTIVITY.STALLS_LDM_PENDING (ivybridge to broadwellx): intel_ivb_event_constraints[]. */
	static const struct machine_event ivy_bridge = STALLS(0x06a3, 0x06, STALLS_LOAD, 0xf);
	/* CYCLE_ACTIVITY.STALLS_MEM_ANY (skylake to icelakex): intel_icl_event_constraints[]. */
	static const struct machine_event skylake = STALLS(0x14a3, 0x14, STALLS_LOAD, ~0U);
	/* EXE_ACTIVITY.BOUND_ON_LOADS (sapphirerapids, graniterapids, alderlake). */
	static const struct machine_event golden_cove = STALLS(0x21a6, 0x05, STALLS_LOAD, ~0U);
	/* MEM_BOUND_STALLS.LOAD (alderlake), MEM_BOUND_STALLS_LOAD.ALL (sierraforest). */
	static const struct machine_event gracemont = STALLS(0x0734, 0, STALLS_L1_MISS, ~0U);
	static const struct machine_event crestmont = STALLS(0x7f34, 0, STALLS_L1_MISS, ~0U);

	*ret = (struct machine_event){.kind = MACHINE_EVENT_NONE};
	switch (machine->encoding) {
	case ENCODING_SANDY_BRIDGE:
		*ret = machine->mechanisms & MECHANISM_PDIR_ALONE ? sandy_bridge : ivy_bridge;
		return;
	case ENCODING_SKYLAKE:
	case ENCODING_SKYLAKE_SERVER:
	case ENCODING_ICE_LAKE:
		*ret = skylake;
		return;
	case ENCODING_GOLDEN_COVE:
	case ENCODING_GOLDEN_COVE_CLIENT:
		*ret = golden_cove;
		return;
	case ENCODING_GRACEMONT:
		*ret = gracemont;
		return;
	case ENCODING_CRESTMONT:
		*ret = crestmont;
		return;
	case ENCODING_NONE:
	case ENCODING_NEHALEM:
		return;
	}
}

/* Architectural: LONGEST_LAT_CACHE.MISS (18.2.1.1). Without an L3, the last cache is L2. */
#define LAST_CACHE_MISSES 0x412e

void machine_event_find_misses(const struct machine *machine, struct machine_event *ret)
{
	*ret = (struct machine_event){.kind = MACHINE_EVENT_NONE};
	if (machine->mechanisms & MECHANISM_AT_RETIREMENT)
		return;
	*ret = (struct machine_event)COUNTED(LAST_CACHE_MISSES, MACHINE_EVENT_MISSES);
	ret->places = machine->memory.l3_bytes ? MISSED_L3 : MISSED_L2;
}

/* Finds an event that counts the cost of waiting. */
static bool find_waiting(const struct machine *machine, u16 code, struct machine_event *ret)
{
	machine_event_find_stalls(machine, ret);
	if (ret->kind != MACHINE_EVENT_NONE && ret->code == code)
		return true;
	machine_event_find_misses(machine, ret);
	if (code == LAST_CACHE_MISSES)
		return true;
	*ret = (struct machine_event){.code = code, .kind = MACHINE_EVENT_NONE};
	return false;
}

void machine_event_find_amd(const struct ibs_machine *machine, u64 control, struct machine_event *ret)
{
	/*
	 * perf's tables amdzen3 and amdzen5: ls_not_halted_cyc, ex_ret_instr, ls_any_fills_from_sys.dram_io_all, and
	 * since Zen 4 ex_no_retire.load_not_complete.
	 */
	static const struct machine_event events[] = {
		COUNTED(0x0076, MACHINE_EVENT_CYCLES),
		COUNTED(0x00c0, MACHINE_EVENT_INSTRUCTIONS),
		{.code = 0x4844, .kind = MACHINE_EVENT_MISSES, .places = DRAM | IN(IO), .counters = ~0U},
		STALLS(0xa2d6, 0, STALLS_RETIRE, ~0U),
		END,
	};
	const struct machine_event *event = events;
	u16 code = (u16)(control & 0xffff);

	*ret = (struct machine_event){.code = code, .kind = MACHINE_EVENT_NONE};
	if (control >> 32 & 0xf)
		return;
	while (event->kind != MACHINE_EVENT_NONE && event->code != code)
		event++;
	if (event->kind == MACHINE_EVENT_STALLS && !(machine->capabilities & IBS_CAPABILITY_ZEN4))
		return;
	if (event->kind != MACHINE_EVENT_NONE)
		*ret = *event;
}

void machine_event_find(const struct machine *machine, u16 code, struct machine_event *ret)
{
	const struct machine_event *event = events_of(machine);

	*ret = (struct machine_event){.code = code, .kind = MACHINE_EVENT_NONE};
	if (!event)
		return;
	if (!find_facility(machine, code, ret) && !find_offcore(machine, code, ret) &&
	    !find_waiting(machine, code, ret)) {
		/* Architectural: unhalted core and reference cycles (18.2.1.1). */
		if (code == 0x003c || code == 0x013c) {
			*ret = (struct machine_event)COUNTED(code, MACHINE_EVENT_CYCLES);
		} else {
			while (event->kind != MACHINE_EVENT_NONE && event->code != code)
				event++;
			if (event->kind != MACHINE_EVENT_NONE)
				*ret = *event;
		}
	}
	/* PDIR's INST_RETIRED is only available on counter 1 (18.9.4.4). */
	if (code == 0x01c0 && machine->mechanisms & MECHANISM_PDIR && machine->format != RECORD_ADAPTIVE)
		ret->counters = MODEL_BIT(1);
	/* Since Ice Lake (adaptive PEBS), every event can use PEBS. */
	if (ret->kind != MACHINE_EVENT_NONE && machine->format == RECORD_ADAPTIVE)
		ret->precise = true;
}

void machine_event_find_fixed(const struct machine *machine, u32 counter, struct machine_event *ret)
{
	static const u8 kinds[] = {MACHINE_EVENT_INSTRUCTIONS, MACHINE_EVENT_CYCLES, MACHINE_EVENT_CYCLES,
				   MACHINE_EVENT_SLOTS};

	*ret = (struct machine_event){.kind = MACHINE_EVENT_NONE,
				      .precise = machine->format == RECORD_ADAPTIVE};
	if (counter < sizeof(kinds) && counter < machine->fixed_counters)
		ret->kind = kinds[counter];
}

u64 machine_event_occurrences(const struct machine *machine, const struct machine_event *event,
			      const struct retired *retired, u64 cycles)
{
	switch (event->kind) {
	case MACHINE_EVENT_INSTRUCTIONS:
		return 1;
	case MACHINE_EVENT_UOPS:
		return retired->uops ? retired->uops : 1;
	case MACHINE_EVENT_CYCLES:
		return cycles;
	case MACHINE_EVENT_SLOTS:
		/* Golden Cove issues six slots a cycle, Sunny Cove five. */
		return cycles * (machine->mechanisms & MECHANISM_STORE_LATENCY ? 6 : 5);
	case MACHINE_EVENT_ACCESS:
		return (event->operations >> retired->operation & 1) &&
		       (event->places >> retired->place & 1) && (event->snoop >> retired->snoop & 1) &&
		       (event->translated >> retired->translated & 1) && (!event->locked || retired->locked);
	case MACHINE_EVENT_STORE_LATENCY:
		return retired->operation == OPERATION_STORE;
	case MACHINE_EVENT_STALLS:
		return event->stalls == STALLS_L1_MISS && retired->place == PLACE_L1 ? 0 : retired->stalled;
	case MACHINE_EVENT_MISSES:
		return event->places >> retired->place & 1;
	default:
		return 0;
	}
}
