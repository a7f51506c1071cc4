// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <string.h>

#include "model/load_latency.h"
#include "model/offcore.h"
#include "model/program.h"

#define VM_SUFFIX "-vm"
/* A virtual machine with this name has a CPU model that no driver knows, and the counters and caches of GENERIC_AS. */
#define GENERIC       "generic"
#define GENERIC_AS    "skylake-server"
#define UNKNOWN_MODEL 0xff /* of family 6; no CPU has it */

#define MANY (1ULL << 20)
/* The highest value of a core counter of AMD. */
#define AMD_HIGHEST ((1ULL << 48) - 1)
/* Upper limits: slots per cycle, and core clock cycles that an access adds. */
#define SLOTS_MOST       6
#define STALL_MOST       1024
#define STALL_MOST_EXACT 65536
/* IBS tags any operation. One tag in this many goes to an access, the others go to operations without one. */
#define TAGS_PER_ACCESS 3
/* The enable field of a fixed counter, in IA32_FIXED_CTR_CTRL. */
#define FIXED_ENABLE 3ULL

/* -- registers that the model does not have, stored so that a driver reads what it wrote -- */

enum {
	MSR_PERF_METRICS = 0x329,
	MSR_IA32_PERF_CAPABILITIES = 0x345,
	MSR_PEBS_FRONTEND = 0x3f7,
	MSR_IA32_MISC_ENABLE = 0x1a0,
	MSR_AMD_SELECT0 = 0xc0010000, /* four, followed by their counters */
	MSR_AMD_CORE0 = 0xc0010200,   /* six pairs of select and counter */
	MSR_IBS_FETCH0 = 0xc0011030,
	MSR_IBS_CONTROL = 0xc001103a,
	MSR_IBS_BRANCH_TARGET = 0xc001103b,
	MSR_IBS_OP_DATA4 = 0xc001103d,
};

static int kept_index(u32 msr)
{
	static const u32 kept[] = {MSR_PERF_METRICS,   MSR_PEBS_FRONTEND,  MSR_IBS_FETCH0,
				   MSR_IBS_FETCH0 + 1, MSR_IBS_FETCH0 + 2, MSR_IBS_BRANCH_TARGET,
				   MSR_IBS_OP_DATA4};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (kept[i] == msr)
			return (int)i;
	return -1;
}

/* ex_no_retire.load_not_complete and ls_any_fills_from_sys.dram_io_all. */
#define AMD_STALLS 0xa2d6
#define AMD_MISSES 0x4844

/* -- opening -- */

int core_open(struct core *core, const char *name, unsigned int cpu, struct caches *caches,
	      const struct core_callbacks *callbacks)
{
	size_t length = strlen(name), suffix = strlen(VM_SUFFIX);
	char plain[32];

	*core = (struct core){
		.cpu = cpu, .caches = caches, .callbacks = *callbacks, .tag_interval = CORE_TAG_INTERVAL};
	if (length >= sizeof(plain))
		return -ENOENT;
	strcpy(plain, name);
	core->counters_only = length > suffix && strcmp(plain + length - suffix, VM_SUFFIX) == 0;
	if (core->counters_only)
		plain[length - suffix] = '\0';
	core->unknown_model = core->counters_only && strcmp(plain, GENERIC) == 0;
	if (core->unknown_model)
		strcpy(plain, GENERIC_AS);
	random_seed(&core->random, cpu + 1, 0x706d75); /* a separate random stream: "pmu" */
	core->amd = ibs_machine_find(plain);
	if (core->amd) {
		ibs_open(&core->ibs, core->amd, cpu + 1);
		machine_event_find_amd(core->amd, AMD_STALLS, &core->stall_event);
		machine_event_find_amd(core->amd, AMD_MISSES, &core->miss_event);
		return 0;
	}
	core->first = core->machine = machine_find(plain);
	if (!core->first)
		return -ENOENT;
	if (core->first->companion && cpu % 2 == 1)
		core->machine = machine_find(core->first->companion);
	pebs_open(&core->unit, core->machine,
		  (struct linear_memory){.copy = callbacks->copy, .userdata = callbacks->owner}, cpu + 1);
	core->branches.has_info = core->machine->format >= RECORD_SKYLAKE;
	core->branches.depth = core->branches.has_info ? 32 : 16;
	core->unit.tag_interval = 1; /* core_loads_left() picks the loads */
	core->unit.skid = 0;         /* many instructions lie between those that the core sees */
	machine_event_find_stalls(core->machine, &core->stall_event);
	machine_event_find_misses(core->machine, &core->miss_event);
	return 0;
}

const struct memory_shape *core_memory_shape(const struct core *core)
{
	return core->amd ? &core->amd->memory : &core->machine->memory;
}

/* -- CPUID -- */

/*
 * Leaf 1: family and model in the encoding of CPUID. The stepping is 7, because Linux enables Sandy Bridge's PEBS
 * only for steppings whose microcode it knows (pebs_ucodes in arch/x86/events/intel/core.c, Linux 6.12).
 */
static u32 version_of(u32 family, u32 model)
{
	u32 base = family < 0xf ? family : 0xf;

	return (family - base) << 20 | (model >> 4) << 16 | base << 8 | (model & 15) << 4 | 7;
}

/* Bits: LBR format 5:0, PEBS trap 6, architectural registers 7, PEBS format 11:8, SMM freeze 12, full width
 * 13, baseline 14 (manual volume 4, IA32_PERF_CAPABILITIES). */
static u64 capabilities_of(const struct machine *machine)
{
	switch (machine->format) {
	case RECORD_NEHALEM:
		return machine->encoding >= ENCODING_SANDY_BRIDGE ? 0x31c4 : 0x11c1;
	case RECORD_HASWELL:
		return 0x32c4;
	case RECORD_SKYLAKE:
		return 0x33c5;
	case RECORD_ADAPTIVE:
		return 0x74c5;
	default:
		return 0;
	}
}

static u32 architectural_version(const struct machine *machine)
{
	return machine->format == RECORD_ADAPTIVE ? 5 : machine->format == RECORD_SKYLAKE ? 4 : 3;
}

static void intel_counters(const struct core *core, u32 registers[4])
{
	/* Leaf 0AH of a hybrid part describes what both kinds of cores have. */
	const struct machine *common =
		core->first->companion ? machine_find(core->first->companion) : core->machine;
	u32 version = core->counters_only ? 2 : architectural_version(core->machine);
	u32 events = version >= 5 ? 8 : 7;

	registers[0] = events << 24 | (u32)common->counter_bits << 16 | (u32)common->counters << 8 | version;
	registers[1] = 0;
	registers[2] = version >= 5 ? (1U << common->fixed_counters) - 1 : 0;
	registers[3] =
		(u32)common->counter_bits << 5 | common->fixed_counters | (version >= 5 ? 1U << 15 : 0);
}

/*
 * Leaf 4: one cache per subleaf. They are the model's caches, so that programs that adapt to cache sizes fit
 * the model. The values are type, level, not inclusive of others, ways and sets. All CPUs of a socket share
 * the last cache.
 */
static void intel_caches(const struct core *core, u32 subleaf, u32 registers[4])
{
	const struct memory_shape *shape = core_memory_shape(core);
	const struct {
		u32 type, level, bytes, ways, shared;
	} caches[] = {
		{1, 1, shape->l1_bytes, shape->l1_ways, 0},
		{2, 1, shape->l1_bytes, shape->l1_ways, 0},
		{3, 2, shape->l2_bytes, shape->l2_ways, 0},
		{3, 3, shape->l3_bytes, shape->l3_ways, 15},
	};

	if (subleaf >= sizeof(caches) / sizeof(caches[0]) || !caches[subleaf].bytes) {
		memset(registers, 0, 4 * sizeof(registers[0]));
		return;
	}
	registers[0] =
		caches[subleaf].type | caches[subleaf].level << 5 | 1U << 8 | caches[subleaf].shared << 14;
	registers[1] = (64 - 1) | (caches[subleaf].ways - 1) << 22;
	registers[2] = caches[subleaf].bytes / 64 / caches[subleaf].ways - 1;
	registers[3] = 0;
}

static bool intel_cpuid(const struct core *core, u32 leaf, u32 subleaf, u32 registers[4])
{
	switch (leaf) {
	case 4:
		intel_caches(core, subleaf, registers);
		return true;
	case 1:
		registers[0] = version_of(core->first->family,
					  core->unknown_model ? UNKNOWN_MODEL : core->first->model);
		if (core->counters_only) {
			registers[2] |= 1U << 31; /* a hypervisor is present */
			return true;
		}
		registers[2] |= 1U << 15 | 1U << 2; /* PDCM, DTES64 */
		registers[3] |= 1U << 21;           /* DS */
		return true;
	case 7:
		if (subleaf == 0 && core->first->companion)
			registers[3] |= 1U << 15; /* hybrid */
		return true;
	case 0xa:
		intel_counters(core, registers);
		return true;
	case 0x1a:
		memset(registers, 0, 4 * sizeof(registers[0]));
		if (core->first->companion)
			registers[0] = (core->machine == core->first ? 0x40U : 0x20U) << 24;
		return true;
	default:
		return false;
	}
}

static bool amd_cpuid(const struct core *core, u32 leaf, u32 registers[4])
{
	switch (leaf) {
	case 1:
	case 0x80000001:
		registers[0] = version_of(core->amd->family, core->amd->model);
		if (leaf != 1)
			registers[2] |= 1U << 23; /* six core counters */
		if (leaf != 1 && !core->counters_only)
			registers[2] |= 1U << 10; /* IBS */
		if (leaf == 1 && core->counters_only)
			registers[2] |= 1U << 31; /* a hypervisor is present */
		return true;
	case 0x80000000:
		if (registers[0] < 0x8000001f)
			registers[0] = 0x8000001f;
		return true;
	case 0x8000001b:
		registers[0] = core->counters_only ? 0 : core->amd->capabilities;
		registers[1] = registers[2] = registers[3] = 0;
		return true;
	default:
		return false;
	}
}

bool core_cpuid(const struct core *core, u32 leaf, u32 subleaf, u32 registers[4])
{
	return core->amd ? amd_cpuid(core, leaf, registers) : intel_cpuid(core, leaf, subleaf, registers);
}

/* -- what counts -- */

static bool counts_access(const struct pebs_counter *counter, u8 operation)
{
	const struct machine_event *event = &counter->program.event;

	switch (event->kind) {
	case MACHINE_EVENT_LOAD_LATENCY:
		return operation == OPERATION_LOAD;
	case MACHINE_EVENT_PRECISE_STORE:
	case MACHINE_EVENT_STORE_LATENCY:
		return operation == OPERATION_STORE;
	case MACHINE_EVENT_ACCESS:
		return event->operations >> operation & 1;
	default:
		return false;
	}
}

static bool counts_instructions(const struct pebs_counter *counter)
{
	u8 kind = counter->program.event.kind;

	return kind == MACHINE_EVENT_INSTRUCTIONS || kind == MACHINE_EVENT_UOPS;
}

static bool is_waiting(const struct machine_event *event)
{
	return event->kind == MACHINE_EVENT_STALLS || event->kind == MACHINE_EVENT_MISSES;
}

static bool counts_cycles(const struct pebs_counter *counter)
{
	u8 kind = counter->program.event.kind;

	return kind == MACHINE_EVENT_CYCLES || kind == MACHINE_EVENT_SLOTS;
}

/* Returns the counter. The machine must have it. */
static const struct pebs_counter *counter_of(const struct core *core, u32 index)
{
	return index < PEBS_FIXED_0 ? &core->unit.general[index] : &core->unit.fixed[index - PEBS_FIXED_0];
}

#define FOR_EACH_OF(set, index) \
	for (u64 left_ = (set); left_ && ((index) = (u32)__builtin_ctzll(left_), true); left_ &= left_ - 1)
#define FOR_EACH_COUNTER(core, index) FOR_EACH_OF((core)->unit.counting, index)

static u64 counter_left(const struct core *core, const struct pebs_counter *counter)
{
	return counter->armed ? 1 : counter_highest(core->unit.machine) - counter->count + 1;
}

/* Returns the cycles that are not counted yet: pebs_retire() counts them from one instruction to the next. */
static u64 untold_cycles(const struct core *core)
{
	return core->cycles > core->unit.tsc ? core->cycles - core->unit.tsc : 0;
}

static u64 amd_left(const struct core *core, unsigned int i)
{
	return AMD_HIGHEST - core->amd_count[i] + 1;
}

static bool ibs_counts(const struct core *core)
{
	return core->amd && !core->paused && ibs_left(&core->ibs) != 0;
}

static void note_programs(struct core *core)
{
	u32 i;

	core->of_loads = core->of_stores = core->of_offcore = core->of_waiting = 0;
	FOR_EACH_COUNTER(core, i)
	{
		const struct pebs_counter *counter = counter_of(core, i);

		if (counts_access(counter, OPERATION_LOAD))
			core->of_loads |= 1ULL << i;
		if (counts_access(counter, OPERATION_STORE))
			core->of_stores |= 1ULL << i;
		if (counter->program.event.kind == MACHINE_EVENT_OFFCORE)
			core->of_offcore |= 1ULL << i;
		if (is_waiting(&counter->program.event))
			core->of_waiting |= 1ULL << i;
	}
}

/* As note_programs(), for an AMD machine. */
static void note_amd_programs(struct core *core)
{
	core->of_waiting = 0;
	for (u32 i = 0; i < CORE_AMD_COUNTERS; i++) {
		u64 select = core->amd_select[i];
		struct counter_program *program = &core->amd_program[i];

		*program = (struct counter_program){
			.counts = select & EVTSEL_ENABLE,
			.interrupts = select & EVTSEL_INT,
			.os = select & EVTSEL_OS,
			.user = select & EVTSEL_USR,
			.inverted = select & EVTSEL_INV,
			.edge = select & EVTSEL_EDGE,
			.mask = (u8)((select & EVTSEL_CMASK) >> 24),
		};
		machine_event_find_amd(core->amd, select, &program->event);
		program->counts &= program->event.kind != MACHINE_EVENT_NONE;
		if (program->counts && is_waiting(&program->event))
			core->of_waiting |= 1ULL << i;
	}
}

bool core_wants_accesses(const struct core *core)
{
	if (core->paused)
		return false;
	if (core->exact || core->of_waiting)
		return true;
	return core->amd ? (core->ibs.registers[0] & IBS_CTL_ENABLE) != 0
			 : (core->of_loads | core->of_stores | core->of_offcore) != 0;
}

/* Returns whether a counter of cycles may overflow with the next miss. */
static bool cycles_are_near(const struct core *core)
{
	u32 i;

	if (core->amd) {
		u64 near = core->cycles - core->amd_tsc + STALL_MOST;

		for (i = 0; i < CORE_AMD_COUNTERS; i++)
			if (core->amd_program[i].counts &&
			    core->amd_program[i].event.kind == MACHINE_EVENT_CYCLES &&
			    amd_left(core, i) <= near)
				return true;
		return false;
	}
	FOR_EACH_COUNTER(core, i)
	{
		const struct pebs_counter *counter = counter_of(core, i);

		if (counts_cycles(counter) &&
		    counter_left(core, counter) <= SLOTS_MOST * (untold_cycles(core) + STALL_MOST))
			return true;
	}
	return false;
}

bool core_wants_misses(const struct core *core)
{
	return !core->paused && (core->exact || core->of_waiting || cycles_are_near(core));
}

bool core_counts(const struct core *core)
{
	return !core->paused && (core->amd || core->unit.global_ctrl);
}

bool core_wants_next_access(const struct core *core)
{
	return core->ibs_tag_left && !core->paused;
}

static u64 accesses_left(struct core *core, u8 operation)
{
	u64 most = MANY;
	u32 i;

	if (core->paused)
		return most;
	if (core->amd) {
		if (core->ibs_tag_left)
			return 1;
		return most;
	}
	if (operation == OPERATION_LOAD && core->unit.tagging)
		most = 1 + random_below(&core->random, 2 * core->tag_interval - 1);
	FOR_EACH_OF(operation == OPERATION_LOAD ? core->of_loads : core->of_stores, i)
	{
		const struct pebs_counter *counter = counter_of(core, i);
		u64 left = counter_left(core, counter);

		if (counter->program.event.kind != MACHINE_EVENT_LOAD_LATENCY && left < most)
			most = left;
	}
	return most;
}

u64 core_loads_left(struct core *core)
{
	return accesses_left(core, OPERATION_LOAD);
}

u64 core_stores_left(struct core *core)
{
	return accesses_left(core, OPERATION_STORE);
}

u64 core_instructions_left(const struct core *core)
{
	u64 most = MANY;
	u32 i;

	if (core->paused)
		return most;
	if (core->amd) {
		u64 left = ibs_counts(core) ? ibs_left(&core->ibs) : most;

		for (i = 0; i < CORE_AMD_COUNTERS; i++)
			if (core->amd_program[i].counts && !(core->of_waiting >> i & 1) &&
			    amd_left(core, i) < left)
				left = amd_left(core, i);
		return left < most ? left : most;
	}
	FOR_EACH_COUNTER(core, i)
	{
		const struct pebs_counter *counter = counter_of(core, i);
		u64 left = counter_left(core, counter);

		/*
		 * There are at least as many cycles as instructions, so `left` cycles take at most `left`
		 * instructions.
		 */
		if ((counts_instructions(counter) || counts_cycles(counter)) && left < most)
			most = left;
	}
	return most;
}

/* -- records -- */

static struct retired at_moment(const struct core *core, const struct core_moment *moment)
{
	return (struct retired){.ip = moment->ip,
				.next_ip = moment->next_ip,
				.tsc = core->cycles,
				.time_stamp = moment->time_stamp,
				.operation = OPERATION_NONE};
}

bool core_may_record(const struct core *core, u64 instructions, u64 loads, u64 stores)
{
	u64 cycles = instructions + untold_cycles(core);
	u64 stall = core->exact ? STALL_MOST_EXACT : STALL_MOST;
	u32 i;

	if (core->amd)
		return core->ibs_tag_left || (ibs_counts(core) && ibs_left(&core->ibs) <= instructions + 1);
	FOR_EACH_COUNTER(core, i)
	{
		const struct pebs_counter *counter = counter_of(core, i);
		u64 near = 1;

		if (counts_cycles(counter))
			near += SLOTS_MOST * (cycles + stall);
		else if (counts_instructions(counter))
			near += instructions + 1;
		else if (is_waiting(&counter->program.event))
			near += stall;
		else if (counter->program.event.kind != MACHINE_EVENT_LOAD_LATENCY)
			near += loads + stores;
		if (counter->program.pebs && counter_left(core, counter) <= near)
			return true;
	}
	return false;
}

/* Reports counters that have just overflowed. */
static void report_overflows(struct core *core)
{
	u32 i;

	FOR_EACH_COUNTER(core, i)
	{
		const struct pebs_counter *counter = counter_of(core, i);
		u64 bit = 1ULL << i;

		if (counter->armed && !(core->armed & bit)) {
			core->callbacks.overflowed(core->callbacks.owner, i);
			core->armed |= bit;
		} else if (!counter->armed) {
			core->armed &= ~bit;
		}
	}
}

/* Returns the size of the records in the buffer, in bytes. */
static u64 buffered(const struct core *core)
{
	struct ds_area area;

	if (!core->unit.ds_area || ds_area_read(core->machine, &core->unit.memory, core->unit.ds_area, &area))
		return 0;
	return area.index - area.base;
}

bool core_is_drained(const struct core *core)
{
	return core->amd ? !(core->ibs.registers[0] & IBS_CTL_VALID) : buffered(core) == 0;
}

bool core_owes_record(const struct core *core)
{
	u32 i;

	if (core->amd)
		return false;
	FOR_EACH_OF(program_counters(core->machine), i)
	{
		const struct pebs_counter *counter = counter_of(core, i);

		/* A counter whose event was closed meanwhile stays armed, but is not enabled. */
		if (counter->armed && counter->select & (i < PEBS_FIXED_0 ? EVTSEL_ENABLE : FIXED_ENABLE))
			return true;
	}
	return false;
}

/* `before`: counters whose overflow was reported before this instruction. */
static void report_record(struct core *core, const struct retired *retired, u64 before)
{
	struct core_record made = {.retired = *retired};
	u64 after = 0;
	u32 i;

	FOR_EACH_OF(program_counters(core->machine), i)
	after |= counter_of(core, i)->armed ? 1ULL << i : 0;
	made.record = core->unit.written;
	made.counters = core->unit.written_counters;
	made.first = buffered(core) <= record_size(core->machine->format, core->unit.data_cfg);
	for (u64 missed = made.counters & ~before; missed; missed &= missed - 1)
		core->callbacks.overflowed(core->callbacks.owner, (unsigned int)__builtin_ctzll(missed));
	core->armed = (core->armed & ~made.counters) | (core->armed & after);
	if (core->machine->format < RECORD_SKYLAKE) {
		u64 named = made.record.values[RECORD_GLOBAL_STATUS] & core->unit.pebs_enable &
			    core->machine->pebs_counters;

		made.collision = named & (named - 1);
	}
	core->callbacks.recorded(core->callbacks.owner, &made);
}

/* Reports counters without PEBS that have just overflowed. `before`: the status before. */
static void report_samples(struct core *core, u64 before)
{
	u32 i;

	FOR_EACH_OF(core->unit.global_status & ~before & core->unit.counting, i)
	{
		const struct counter_program *program = &counter_of(core, i)->program;

		if (!program->pebs && program->interrupts)
			core->callbacks.sampled(core->callbacks.owner, i);
	}
}

static void retire(struct core *core, struct retired *retired)
{
	u64 records = core->unit.records;
	u64 before = core->armed;
	u64 status = core->unit.global_status;

	/* Read the registers before the PEBS assist, which stores them in the record. */
	if (core_may_record(core, 0, 0, 0)) {
		core->callbacks.registers(core->callbacks.owner, &core->registers);
		retired->registers = &core->registers;
	}
	(void)pebs_retire(&core->unit, retired);
	retired->registers = NULL;
	if (core->unit.records != records)
		report_record(core, retired, before);
	report_overflows(core);
	report_samples(core, status);
}

/* -- time -- */

/*
 * Counts instructions with AMD's core counters, and the cycles since the last call. If an access is given, it belongs
 * to the last instruction. Its place and its stalled cycles count.
 */
static void amd_passed(struct core *core, u64 ip, u64 instructions, const struct retired *access)
{
	u64 cycles = core->cycles - core->amd_tsc;

	core->amd_tsc = core->cycles;
	for (u32 i = 0; i < CORE_AMD_COUNTERS; i++) {
		const struct counter_program *program = &core->amd_program[i];
		u64 events = 0;

		if (!program->counts)
			continue;
		if (program->event.kind == MACHINE_EVENT_INSTRUCTIONS)
			events = instructions;
		else if (program->event.kind == MACHINE_EVENT_CYCLES)
			events = cycles;
		else if (access)
			events = machine_event_occurrences(NULL, &program->event, access, cycles);
		events = counter_filter(program, ip, events, cycles, &core->amd_asserted[i]);
		core->amd_count[i] += events;
		if (core->amd_count[i] <= AMD_HIGHEST)
			continue;
		core->amd_count[i] &= AMD_HIGHEST;
		if (!program->interrupts)
			continue;
		core->amd_interrupt = true;
		core->callbacks.sampled(core->callbacks.owner, i);
	}
}

static void report_ibs(struct core *core, const struct retired *retired)
{
	struct core_record made = {.counters = 1ULL << CORE_IBS, .first = true, .retired = *retired};

	memcpy(made.ibs, core->ibs.registers, sizeof(made.ibs));
	core->interrupt = true;
	core->callbacks.overflowed(core->callbacks.owner, CORE_IBS);
	core->callbacks.recorded(core->callbacks.owner, &made);
}

/*
 * Passes instructions up to the operation that IBS tags, which can be of any kind. If it is an access, the
 * next access goes to core_access().
 */
static void ibs_passed(struct core *core, const struct core_moment *moment, u64 instructions)
{
	struct retired retired = at_moment(core, moment);
	u64 left = ibs_left(&core->ibs);

	if (!left || core->ibs_tag_left)
		return;
	core->ibs.tsc = core->cycles - (instructions ? 1 : 0);
	if (instructions < left) {
		(void)ibs_pass(&core->ibs, instructions);
		return;
	}
	(void)ibs_pass(&core->ibs, left - 1);
	if (random_below(&core->random, TAGS_PER_ACCESS) == 0) {
		core->ibs_tag_left = 1;
		return;
	}
	retired.uops = 1;
	core->ibs.tsc = core->cycles - 1;
	if (ibs_retire(&core->ibs, &retired))
		report_ibs(core, &retired);
}

/*
 * Passes instructions to the counters that count them. All instructions before an overflow pass together, and the one
 * at which a counter overflows passes alone. If no counter overflows, the last instruction passes alone. The core
 * learns about instructions with a short delay, so instructions after an overflow are counted, too. Cycles are spread
 * evenly over the instructions.
 */
static void pass_instructions(struct core *core, const struct core_moment *moment, u64 instructions)
{
	while (instructions) {
		u64 cycles = untold_cycles(core), step = instructions - 1;
		struct retired retired = at_moment(core, moment);
		u32 i;

		FOR_EACH_COUNTER(core, i)
		{
			const struct pebs_counter *counter = counter_of(core, i);
			u64 left = counter_left(core, counter) - 1;

			/* The number of instructions that take `left` cycles. */
			if (counts_cycles(counter) && left < cycles)
				left = left * instructions / cycles;
			if ((counts_instructions(counter) || counts_cycles(counter)) && left < step)
				step = left;
		}
		FOR_EACH_COUNTER(core, i)
		if (counts_instructions(counter_of(core, i)))
			(void)pebs_pass(&core->unit, i, step);
		retired.tsc = core->cycles - cycles + cycles * (step + 1) / instructions;
		instructions -= step + 1;
		retire(core, &retired);
	}
}

void core_passed(struct core *core, const struct core_moment *moment, u64 instructions, u64 loads, u64 stores)
{
	u32 i;

	core->instructions += instructions;
	core->cycles += instructions;
	if (core->exact)
		pipeline_pass(&core->pipeline, instructions);
	if (core->paused) {
		core->unit.tsc = core->amd_tsc = core->cycles;
		return;
	}
	if (core->amd) {
		amd_passed(core, moment->ip, instructions, NULL);
		ibs_passed(core, moment, instructions);
		return;
	}
	FOR_EACH_COUNTER(core, i)
	{
		const struct pebs_counter *counter = counter_of(core, i);

		if (counter->program.event.kind == MACHINE_EVENT_LOAD_LATENCY)
			continue;
		if (loads && counts_access(counter, OPERATION_LOAD))
			(void)pebs_pass(&core->unit, i, loads);
		if (stores && counts_access(counter, OPERATION_STORE))
			(void)pebs_pass(&core->unit, i, stores);
	}
	pass_instructions(core, moment, instructions);
}

/* -- accesses -- */

static u64 known_at(const struct core *core, u8 index)
{
	return index < CORE_REGISTERS ? core->known[index] : 0;
}

/* Makes the access in exact time. A store retires without waiting for its line, unless it is locked. */
static u64 exact_access(struct core *core, struct caches_access *access, const struct core_operands *operands,
			struct retired *ret)
{
	u64 base = known_at(core, operands->base), index = known_at(core, operands->index), data, stalled;
	bool waits = !access->store || access->locked;

	access->now = pipeline_enter(&core->pipeline, base > index ? base : index);
	caches_access(core->caches, core->cpu, access, ret);
	data = access->now + ret->latency;
	stalled = pipeline_retire(&core->pipeline, waits ? data : access->now + 1);
	if (!access->store && operands->target < CORE_REGISTERS &&
	    (!operands->combines || data > core->known[operands->target]))
		core->known[operands->target] = data;
	core->cycles = core->pipeline.retired;
	return stalled;
}

/* Makes the access, and advances the clock by the cycles for which it stalls the core. */
static void make_access(struct core *core, const struct caches_access *access,
			const struct core_operands *operands, struct retired *ret)
{
	struct caches_access now = *access;
	u64 stalled = 0;

	ret->operation = access->store ? OPERATION_STORE : OPERATION_LOAD;
	now.now = core->cycles;
	if (core->exact) {
		stalled = exact_access(core, &now, operands, ret);
	} else {
		caches_access(core->caches, core->cpu, &now, ret);
		if (ret->place != PLACE_L1)
			stalled = ret->latency / CORE_OVERLAP;
		core->cycles += stalled;
	}
	core->took_line |= ret->snoop == SNOOPED_MODIFIED;
	ret->tsc = core->cycles;
	/* A stalled cycle is one in which a load is outstanding. */
	ret->stalled = access->store && !access->locked ? 0 : (u32)stalled;
	if (core->paused)
		return;
	core->stalls += machine_event_occurrences(core->machine, &core->stall_event, ret, 0);
	core->misses += machine_event_occurrences(core->machine, &core->miss_event, ret, 0);
}

/*
 * Counts an access with the off-core response counters. `retires`: the access also goes to pebs_retire(),
 * which counts it in the unit.
 */
static void count_offcore(struct core *core, const struct retired *access, bool retires)
{
	u32 i;

	FOR_EACH_OF(core->of_offcore, i)
	{
		const struct machine_event *event = &counter_of(core, i)->program.event;
		u64 occurrences;

		occurrences = offcore_occurrences(core->machine, event->offcore,
						  core->unit.offcore[event->offcore], access);
		if (occurrences)
			core->callbacks.counted(core->callbacks.owner, i, occurrences);
		if (!retires)
			(void)pebs_pass(&core->unit, i, occurrences);
	}
}

void core_missed(struct core *core, const struct core_moment *moment, const struct caches_access *access,
		 const struct core_operands *operands)
{
	bool passes = core_wants_misses(core);
	struct retired retired = at_moment(core, moment);

	if (passes) {
		core->instructions++;
		if (!core->exact) /* the pipeline counts the instruction's own cycle, too */
			core->cycles++;
	}
	make_access(core, access, operands, &retired);
	if (!core->amd && !core->paused)
		count_offcore(core, &retired, false);
	if (!passes)
		return;
	if (core->amd) {
		amd_passed(core, moment->ip, 1, &retired);
		ibs_passed(core, moment, 1);
		return;
	}
	/* Counters of loads and stores get this access by core_passed(), and it is not tagged. */
	retired.operation = OPERATION_NONE;
	retire(core, &retired);
}

void core_access(struct core *core, const struct core_moment *moment, const struct caches_access *access,
		 const struct core_operands *operands)
{
	struct retired retired;

	core->instructions++;
	if (!core->exact)
		core->cycles++;
	retired = at_moment(core, moment);
	make_access(core, access, operands, &retired);
	if (core->paused) {
		core->unit.tsc = core->amd_tsc = core->cycles;
		return;
	}
	if (!core->amd) {
		count_offcore(core, &retired, true);
		retire(core, &retired);
		return;
	}
	amd_passed(core, moment->ip, 1, &retired);
	retired.uops = 1;
	core->ibs.tsc = core->cycles - 1;
	core->ibs_tag_left = 0;
	if (ibs_retire(&core->ibs, &retired))
		report_ibs(core, &retired);
}

void core_compute(struct core *core, u16 targets, u16 sources)
{
	u64 known = 0;
	u32 i;

	FOR_EACH_OF(sources, i)
	if (core->known[i] > known)
		known = core->known[i];
	FOR_EACH_OF(targets, i)
	core->known[i] = known;
}

void core_set_exact(struct core *core, bool exact)
{
	if (exact && !core->exact) {
		pipeline_open(&core->pipeline, core->cycles);
		memset(core->known, 0, sizeof(core->known));
	}
	core->exact = exact;
}

struct core_occurrences core_occurrences(const struct core *core, u64 instructions)
{
	return (struct core_occurrences){.instructions = core->instructions + instructions,
					 .cycles = core->cycles + instructions,
					 .stalls = core->stalls,
					 .misses = core->misses};
}

/* -- registers -- */

static bool is_intel_msr(u32 msr)
{
	return (msr >= MSR_IA32_PMC0 && msr < MSR_IA32_PMC0 + 8) ||
	       (msr >= MSR_IA32_A_PMC0 && msr < MSR_IA32_A_PMC0 + 8) ||
	       (msr >= MSR_IA32_PERFEVTSEL0 && msr < MSR_IA32_PERFEVTSEL0 + 8) || msr == MSR_OFFCORE_RSP_0 ||
	       msr == MSR_OFFCORE_RSP_1 || (msr >= MSR_IA32_FIXED_CTR0 && msr < MSR_IA32_FIXED_CTR0 + 4) ||
	       (msr >= MSR_IA32_FIXED_CTR_CTRL && msr <= MSR_IA32_PERF_GLOBAL_OVF_CTRL) ||
	       msr == MSR_IA32_PEBS_ENABLE || msr == MSR_PEBS_DATA_CFG || msr == MSR_PEBS_LD_LAT_THRESHOLD ||
	       msr == MSR_IA32_DS_AREA;
}

static u64 *amd_register(struct core *core, u32 msr)
{
	if (msr >= MSR_AMD_SELECT0 && msr < MSR_AMD_SELECT0 + 4)
		return &core->amd_select[msr - MSR_AMD_SELECT0];
	if (msr >= MSR_AMD_SELECT0 + 4 && msr < MSR_AMD_SELECT0 + 8)
		return &core->amd_count[msr - MSR_AMD_SELECT0 - 4];
	if (msr >= MSR_AMD_CORE0 && msr < MSR_AMD_CORE0 + 12)
		return (msr - MSR_AMD_CORE0) % 2 ? &core->amd_count[(msr - MSR_AMD_CORE0) / 2]
						 : &core->amd_select[(msr - MSR_AMD_CORE0) / 2];
	return NULL;
}

static bool is_ibs_msr(u32 msr)
{
	return (msr >= MSR_IBS_FETCH0 && msr <= MSR_IBS_BRANCH_TARGET) || msr == MSR_IBS_OP_DATA4;
}

static bool is_amd_msr(u32 msr)
{
	return (msr >= MSR_AMD_SELECT0 && msr < MSR_AMD_SELECT0 + 8) ||
	       (msr >= MSR_AMD_CORE0 && msr < MSR_AMD_CORE0 + 12) || is_ibs_msr(msr);
}

bool core_has_msr(const struct core *core, u32 msr)
{
	if (core->amd)
		return is_amd_msr(msr);
	return is_intel_msr(msr) || msr == MSR_IA32_PERF_CAPABILITIES || msr == MSR_PERF_METRICS ||
	       branches_has_msr(&core->branches, msr) || msr == MSR_PEBS_FRONTEND;
}

static int amd_write(struct core *core, u32 msr, u64 value)
{
	u64 *plain = amd_register(core, msr);

	if (plain) {
		bool selects = plain >= core->amd_select && plain < core->amd_select + CORE_AMD_COUNTERS;

		*plain = selects ? value : value & AMD_HIGHEST;
		if (selects) {
			core->amd_asserted[plain - core->amd_select] = false;
			note_amd_programs(core);
		}
		return 0;
	}
	if (msr < IBS_OP_CTL || msr >= IBS_REGISTERS_END)
		return 0;
	if (msr == IBS_OP_CTL)
		core->ibs_tag_left = 0;
	return ibs_write(&core->ibs, msr, value);
}

/*
 * Unless PEBS reloads the counter itself, the counter continues from 0 until the driver writes it, or disables it
 * first, which it does before it gives the counter away.
 */
static void report_count(struct core *core, u32 msr, u64 value)
{
	u32 index = msr >= MSR_IA32_A_PMC0 ? msr - MSR_IA32_A_PMC0 : msr - MSR_IA32_PMC0;
	const struct pebs_counter *counter;

	if (msr - MSR_IA32_PERFEVTSEL0 < PEBS_GENERAL && !(value & EVTSEL_ENABLE))
		index = msr - MSR_IA32_PERFEVTSEL0;
	if (index >= PEBS_GENERAL)
		return;
	counter = counter_of(core, index);
	if (counter->select & EVTSEL_ENABLE && counter->count <= counter_highest(core->unit.machine) / 2)
		core->callbacks.went_on(core->callbacks.owner, index, counter->count);
}

int core_write_msr(struct core *core, u32 msr, u64 value)
{
	int kept = kept_index(msr);
	int r;

	if (core->counters_only && is_ibs_msr(msr))
		return -EINVAL;
	if (kept >= 0) {
		core->kept[kept] = value;
		return 0;
	}
	if (core->amd)
		return amd_write(core, msr, value);
	if (branches_has_msr(&core->branches, msr)) {
		branches_write(&core->branches, msr, value);
		return 0;
	}
	if (msr == MSR_IA32_PERF_CAPABILITIES)
		return -EINVAL;
	report_count(core, msr, value);
	r = pebs_write(&core->unit, msr, value);
	note_programs(core);
	report_overflows(core);
	return r;
}

int core_read_msr(struct core *core, u32 msr, u64 *ret)
{
	int kept = kept_index(msr);
	u64 *plain;

	*ret = 0;
	if (core->counters_only && is_ibs_msr(msr))
		return -EINVAL;
	if (kept >= 0) {
		*ret = core->kept[kept];
		return 0;
	}
	if (core->amd) {
		plain = amd_register(core, msr);
		if (plain)
			*ret = *plain;
		else if (msr == MSR_IBS_CONTROL)
			*ret = 1U << 8; /* vector table entry 0, valid */
		else if (msr >= IBS_OP_CTL && msr < IBS_REGISTERS_END)
			return ibs_read(&core->ibs, msr, ret);
		return 0;
	}
	if (branches_has_msr(&core->branches, msr)) {
		*ret = branches_read(&core->branches, msr);
		return 0;
	}
	if (msr == MSR_IA32_PERF_CAPABILITIES) {
		*ret = core->counters_only ? 0x2000 : capabilities_of(core->machine);
		return 0;
	}
	return pebs_read(&core->unit, msr, ret);
}

int core_read_counter(struct core *core, u32 index, u64 *ret)
{
	const struct pebs_counter *counter;

	*ret = 0;
	if (core->amd) {
		if (index >= CORE_AMD_COUNTERS)
			return -EINVAL;
		*ret = core->amd_count[index];
		return 0;
	}
	index = index & 1U << 30 ? PEBS_FIXED_0 + (index & 0xffff) : index;
	counter = program_counter(&core->unit, index);
	if (!counter)
		return -EINVAL;
	*ret = counter->count;
	if (counter->program.event.kind == MACHINE_EVENT_OFFCORE)
		core->callbacks.counter_read(core->callbacks.owner, index);
	return 0;
}

/* -- interrupts -- */

bool core_sample_is_due(const struct core *core, unsigned int counter)
{
	if (!core->amd)
		return core->unit.global_status >> counter & 1;
	/* A counter is written with a negative value, so it has overflowed if it is positive. */
	return core->amd_program[counter].counts && core->amd_program[counter].interrupts &&
	       core->amd_count[counter] <= AMD_HIGHEST / 2;
}

bool core_take_interrupt(struct core *core)
{
	struct interrupt interrupt;
	bool any = core->interrupt || core->amd_interrupt;

	core->interrupt = core->amd_interrupt = false;
	while (!core->amd && pebs_take_interrupt(&core->unit, &interrupt))
		any = true;
	return any;
}

/*
 * Returns the bits of the status that stand for an interrupt. The bit of a PEBS counter, which is set from its overflow
 * to its record, and that of changed conditions, which any overflow sets, do not. The driver takes neither for a cause.
 */
static u64 interrupt_causes(const struct core *core)
{
	u64 causes = core->unit.global_status & STATUS_DS_BUFFER;
	u32 i;

	FOR_EACH_OF(core->unit.global_status & core->unit.counting, i)
	{
		const struct counter_program *program = &counter_of(core, i)->program;

		if (!program->pebs && program->interrupts)
			causes |= 1ULL << i;
	}
	return causes;
}

bool core_interrupt_is_due(const struct core *core)
{
	if (!core->amd)
		return interrupt_causes(core) != 0;
	for (u32 i = 0; i < CORE_AMD_COUNTERS; i++)
		if (core_sample_is_due(core, i))
			return true;
	return core->ibs.registers[0] & IBS_CTL_VALID;
}
