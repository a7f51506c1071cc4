// SPDX-License-Identifier: GPL-2.0
#include "ibs.h"

#define MAXIMUM_UNIT_SHIFT  4 /* bits 15:0 of the register are bits 19:4 of the maximum */
#define FIELD_HIGHEST       0xffffU
#define PHYSICAL_ADDRESS    0xfffffffffffULL /* 44 bits */
#define REGISTER(unit, msr) ((unit)->registers[(msr)-IBS_OP_CTL])

#define KB(n) ((n) << 10)

/*
 * CPUID 8000001BH as kernels print it on such machines ("AMD IBS detected"): 3ffh up to Zen 3, bffh on Zen 4,
 * and also bit 12 on Zen 5. Caches: AMD's software optimization guides for families 19h and 1ah. Latencies
 * are approximate: they have the order of magnitude that these guides give.
 */
const struct ibs_machine ibs_machines[] = {
	{
		.name = "zen3",
		.title = "Zen 3",
		.family = 0x19,
		.model = 0x01,
		.capabilities = 0x3ff,
		.memory = {.l1_bytes = KB(32),
			   .l1_ways = 8,
			   .l1_cycles = 4,
			   .l2_bytes = KB(512),
			   .l2_ways = 8,
			   .l2_cycles = 12,
			   .l3_bytes = KB(4096),
			   .l3_ways = 16,
			   .l3_cycles = 46,
			   .l1_tlb_pages = 64,
			   .l2_tlb_pages = 2048,
			   .walk_cycles = 30,
			   .fill_buffers = 24,
			   .snoop_cycles = 60,
			   .modified_cycles = 90,
			   .remote_cache_cycles = 420,
			   .local_dram_cycles = 300,
			   .remote_dram_cycles = 560,
			   .locked_cycles = 18},
	},
	{
		.name = "zen5",
		.title = "Zen 5",
		.family = 0x1a,
		.model = 0x02,
		.capabilities = 0x1bff,
		.memory = {.l1_bytes = KB(48),
			   .l1_ways = 12,
			   .l1_cycles = 4,
			   .l2_bytes = KB(1024),
			   .l2_ways = 16,
			   .l2_cycles = 14,
			   .l3_bytes = KB(4096),
			   .l3_ways = 16,
			   .l3_cycles = 50,
			   .l1_tlb_pages = 96,
			   .l2_tlb_pages = 4096,
			   .walk_cycles = 32,
			   .fill_buffers = 24,
			   .snoop_cycles = 70,
			   .modified_cycles = 100,
			   .remote_cache_cycles = 460,
			   .local_dram_cycles = 340,
			   .remote_dram_cycles = 620,
			   .locked_cycles = 16},
	},
};

const size_t ibs_machines_count = sizeof(ibs_machines) / sizeof(ibs_machines[0]);

const struct ibs_machine *ibs_machine_find(const char *name)
{
	for (size_t i = 0; i < ibs_machines_count; i++)
		if (same_text(ibs_machines[i].name, name))
			return &ibs_machines[i];
	return NULL;
}

void ibs_open(struct ibs_unit *unit, const struct ibs_machine *machine, u64 seed)
{
	*unit = (struct ibs_unit){.machine = machine};
	random_seed(&unit->random, seed, 0x696273); /* a separate random stream: "ibs" */
}

/* -- registers -- */

static u64 control_bits(const struct ibs_machine *machine)
{
	u64 bits = IBS_CTL_MAXIMUM | IBS_CTL_ENABLE | IBS_CTL_VALID;

	if (machine->capabilities & IBS_CAPABILITY_OP_COUNT)
		bits |= IBS_CTL_COUNT_OPS;
	if (machine->capabilities & IBS_CAPABILITY_COUNT_WRITABLE)
		bits |= IBS_CTL_COUNT;
	if (machine->capabilities & IBS_CAPABILITY_LONG_COUNT)
		bits |= IBS_CTL_MAXIMUM_UPPER;
	if (machine->capabilities & IBS_CAPABILITY_ZEN4)
		bits |= IBS_CTL_L3_MISS_ONLY;
	if (machine->capabilities & IBS_CAPABILITY_LOAD_LATENCY)
		bits |= IBS_CTL_LATENCY | IBS_CTL_LATENCY_ENABLE;
	return bits;
}

int ibs_write(struct ibs_unit *unit, u32 msr, u64 value)
{
	if (msr < IBS_OP_CTL || msr >= IBS_REGISTERS_END)
		return -EINVAL;
	if (msr == IBS_OP_CTL && value & ~control_bits(unit->machine))
		return -EINVAL;
	REGISTER(unit, msr) = value;
	return 0;
}

int ibs_read(const struct ibs_unit *unit, u32 msr, u64 *ret)
{
	if (msr < IBS_OP_CTL || msr >= IBS_REGISTERS_END)
		return -EINVAL;
	*ret = REGISTER(unit, msr);
	return 0;
}

/* -- counting -- */

static u64 maximum_of(u64 control)
{
	return (control & IBS_CTL_MAXIMUM) << MAXIMUM_UNIT_SHIFT | (control & IBS_CTL_MAXIMUM_UPPER);
}

static u64 count_of(u64 control)
{
	return (control & IBS_CTL_COUNT) >> IBS_CTL_COUNT_SHIFT;
}

static void set_count(struct ibs_unit *unit, u64 count)
{
	u64 *control = &REGISTER(unit, IBS_OP_CTL);

	*control = (*control & ~IBS_CTL_COUNT) | (count << IBS_CTL_COUNT_SHIFT & IBS_CTL_COUNT);
}

u64 ibs_left(const struct ibs_unit *unit)
{
	u64 control = REGISTER(unit, IBS_OP_CTL);
	u64 maximum = maximum_of(control);

	/* Until software has handled a sample, nothing else is tagged. */
	if (!(control & IBS_CTL_ENABLE) || control & IBS_CTL_VALID || !maximum)
		return 0;
	return count_of(control) < maximum ? maximum - count_of(control) : 1;
}

u64 ibs_pass(struct ibs_unit *unit, u64 count)
{
	u64 left = ibs_left(unit);

	if (!left)
		return 0;
	if (count > left - 1)
		count = left - 1;
	set_count(unit, count_of(REGISTER(unit, IBS_OP_CTL)) + count);
	return count;
}

/* -- a tagged operation -- */

/* Returns whether the line was not in the caches of this core complex. */
static bool missed_l3(const struct retired *access)
{
	switch (access->place) {
	case PLACE_L1:
	case PLACE_L2:
	case PLACE_FILL_BUFFER:
		return false;
	case PLACE_L3: /* if the snoop found the line in another core, that core is in another complex */
		return access->snoop == SNOOPED_HIT || access->snoop == SNOOPED_MODIFIED;
	default:
		return true;
	}
}

static u64 cycles_field(u32 cycles)
{
	return cycles < FIELD_HIGHEST ? cycles : FIELD_HIGHEST;
}

/* Returns the cycles from the miss in L1 to the data. */
static u32 miss_latency(const struct ibs_unit *unit, const struct retired *access)
{
	u32 hit = unit->machine->memory.l1_cycles;

	return access->latency > hit ? access->latency - hit : 1;
}

static bool is_load(const struct retired *operation)
{
	return operation->operation == OPERATION_LOAD;
}

/*
 * Returns whether the filters let the sample pass. With a latency threshold, only loads that missed L1 pass,
 * and only if their miss latency exceeds the threshold.
 */
static bool passes(const struct ibs_unit *unit, const struct retired *operation)
{
	u64 control = REGISTER(unit, IBS_OP_CTL);
	bool accesses = operation->operation != OPERATION_NONE;
	u32 steps = 1 + (u32)((control & IBS_CTL_LATENCY) >> IBS_CTL_LATENCY_SHIFT);

	if (control & IBS_CTL_L3_MISS_ONLY && (!accesses || !missed_l3(operation)))
		return false;
	if (control & IBS_CTL_LATENCY_ENABLE && (!is_load(operation) || operation->place == PLACE_L1 ||
						 miss_latency(unit, operation) <= steps * IBS_LATENCY_STEP))
		return false;
	return true;
}

static u64 source_before_zen4(const struct retired *load)
{
	switch (load->place) {
	case PLACE_L3: /* this source includes the caches of other cores of the node */
		return IBS_SOURCE_LOCAL_CACHE;
	case PLACE_REMOTE_CACHE:
		return IBS_SOURCE_REMOTE_CACHE;
	case PLACE_LOCAL_DRAM:
	case PLACE_UNCACHED:
		return IBS_SOURCE_DRAM;
	case PLACE_REMOTE_DRAM:
		return IBS_SOURCE_DRAM | IBS_DATA2_REMOTE;
	case PLACE_IO:
		return IBS_SOURCE_IO;
	default: /* L1 and L2 are not sources; a miss in flight has no known source */
		return IBS_SOURCE_NONE;
	}
}

static u64 source_since_zen4(const struct retired *load)
{
	switch (load->place) {
	case PLACE_L3:
		return missed_l3(load) ? IBS_SOURCE_ZEN4_NEAR_CACHE : IBS_SOURCE_ZEN4_LOCAL_CACHE;
	case PLACE_REMOTE_CACHE:
		return IBS_SOURCE_ZEN4_FAR_CACHE;
	default:
		return source_before_zen4(load);
	}
}

static u64 data2_of(const struct ibs_machine *machine, const struct retired *load)
{
	u64 value = machine->capabilities & IBS_CAPABILITY_ZEN4 ? source_since_zen4(load)
								: source_before_zen4(load);

	/*
	 * A line from L3 or another node's cache is reported as owned (state O), unless another core had
	 * modified it.
	 */
	if ((load->place == PLACE_L3 || load->place == PLACE_REMOTE_CACHE) && load->snoop != SNOOPED_MODIFIED)
		value |= IBS_DATA2_OWNED;
	return value;
}

static u64 data3_of(const struct ibs_unit *unit, const struct retired *access)
{
	u64 value = IBS_DATA3_LINEAR_VALID | IBS_DATA3_PHYSICAL_VALID;

	/* A locked load also stores. */
	if (is_load(access))
		value |= IBS_DATA3_LOAD;
	if (!is_load(access) || access->locked)
		value |= IBS_DATA3_STORE;
	if (access->locked)
		value |= IBS_DATA3_LOCKED;
	if (access->translated != TRANSLATED_L1)
		value |= IBS_DATA3_L1_TLB_MISS;
	if (access->translated == TRANSLATED_WALK)
		value |= IBS_DATA3_L2_TLB_MISS;
	if (access->place == PLACE_UNCACHED || access->place == PLACE_IO)
		value |= IBS_DATA3_UNCACHEABLE;
	if (access->place == PLACE_L1)
		return value;
	value |= IBS_DATA3_MISS;
	if (access->place != PLACE_L2)
		value |= IBS_DATA3_L2_MISS;
	if (access->place == PLACE_FILL_BUFFER)
		value |= IBS_DATA3_NO_BUFFER;
	if (is_load(access))
		value |= cycles_field(miss_latency(unit, access)) << IBS_DATA3_LATENCY_SHIFT;
	return value;
}

static void report(struct ibs_unit *unit, const struct retired *operation)
{
	u32 tag_to_retire = operation->instruction_latency;
	u32 done = is_load(operation) ? operation->latency : 1;

	if (tag_to_retire <= done) /* a store or other operation only waits for older ones */
		tag_to_retire = done + 1 + random_below(&unit->random, 64);
	REGISTER(unit, IBS_OP_RIP) = operation->ip;
	REGISTER(unit, IBS_OP_DATA) = cycles_field(tag_to_retire - done) |
				      cycles_field(tag_to_retire) << IBS_DATA_TAG_TO_RETIRE_SHIFT;
	REGISTER(unit, IBS_OP_DATA2) = is_load(operation) ? data2_of(unit->machine, operation) : 0;
	REGISTER(unit, IBS_OP_DATA3) = 0;
	REGISTER(unit, IBS_DC_LINEAR_ADDRESS) = operation->address;
	REGISTER(unit, IBS_DC_PHYSICAL_ADDRESS) =
		(operation->physical ? operation->physical : operation->address) & PHYSICAL_ADDRESS;
	if (operation->operation != OPERATION_NONE)
		REGISTER(unit, IBS_OP_DATA3) = data3_of(unit, operation);
	REGISTER(unit, IBS_OP_CTL) |= IBS_CTL_VALID;
	unit->samples++;
}

/* Returns operation `number` (from 0) of the instruction, as if it were a separate instruction. */
static struct retired operation_of(const struct retired *instruction, u64 number)
{
	if (number == 0)
		return *instruction;
	return (struct retired){
		.ip = instruction->ip, .next_ip = instruction->next_ip, .tsc = instruction->tsc, .uops = 1};
}

bool ibs_retire(struct ibs_unit *unit, const struct retired *instruction)
{
	u64 left = ibs_left(unit);
	u64 cycles = unit->tsc && instruction->tsc > unit->tsc ? instruction->tsc - unit->tsc : 0;
	bool counts_ops = REGISTER(unit, IBS_OP_CTL) & IBS_CTL_COUNT_OPS;
	u64 count = counts_ops ? (instruction->uops ? instruction->uops : 1) : cycles;
	struct retired operation;

	unit->tsc = instruction->tsc;
	if (!left)
		return false;
	if (count < left) {
		set_count(unit, count_of(REGISTER(unit, IBS_OP_CTL)) + count);
		return false;
	}
	operation = operation_of(instruction, counts_ops ? left - 1 : 0);
	set_count(unit, 1 + random_below(&unit->random, IBS_COUNT_RANDOM));
	if (!passes(unit, &operation)) {
		unit->filtered++;
		return false;
	}
	report(unit, &operation);
	return true;
}
