// SPDX-License-Identifier: GPL-2.0
/*
 * Software may write any values into registers and DS area, and the unit must withstand them, because it also
 * runs in a kernel. The tests are seeded and made for the sanitizers: memory has its exact size, so that any
 * access beyond it is detected.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "model/netburst.h"
#include "model/pebs.h"

#define MEMORY_BASE  0x7f1234560000ULL
#define MEMORY_BYTES 0x800
#define AREA         (MEMORY_BASE + 0x40)
#define ROUNDS       4000

/*
 * Mostly meaningful values: an address in or near the memory, one or two bits, or a small number, also below
 * 0.
 */
static u64 any_value(struct random *random, u64 base)
{
	u64 bits;

	switch (random_below(random, 7)) {
	case 0:
		return random_next(random);
	case 1:
		return base - 0x100 + random_below(random, MEMORY_BYTES + 0x200);
	case 2:
		return base + random_below(random, MEMORY_BYTES);
	case 3:
		bits = MODEL_BIT(random_below(random, 64));
		return bits | MODEL_BIT(random_below(random, 64));
	case 4:
		return -(u64)random_below(random, 6);
	default:
		return random_below(random, 0x10000);
	}
}

static void any_area(struct random *random, const struct machine *machine, struct linear_memory *memory,
		     u64 area_at)
{
	struct ds_area area;

	area.base = any_value(random, memory->base);
	area.index = any_value(random, memory->base);
	area.maximum = any_value(random, memory->base);
	area.threshold = any_value(random, memory->base);
	if (random_chance(random, 1, 2)) { /* an area that a driver could have set up */
		area.base = memory->base + 0x200;
		area.index = area.base + random_below(random, 0x400);
		area.maximum = area.base + 0x500;
	}
	for (u32 i = 0; i < DS_RESETS; i++)
		area.reset[i] = -(u64)random_below(random, 4);
	(void)ds_area_write(machine, memory, area_at, &area);
}

static struct retired any_instruction(struct random *random)
{
	return (struct retired){
		.ip = random_chance(random, 1, 4) ? ~0xfffULL : 0x1000,
		.next_ip = random_next(random),
		.address = random_next(random),
		.tsc = any_value(random, MEMORY_BASE),
		.latency = (u32)any_value(random, MEMORY_BASE),
		.instruction_latency = (u32)any_value(random, MEMORY_BASE),
		.operation = (u8)random_below(random, OPERATION_STORE + 1),
		.place = (u8)random_below(random, PLACE_COUNT),
		.snoop = (u8)random_below(random, SNOOPED_COUNT),
		.translated = (u8)random_below(random, TRANSLATED_COUNT),
		.locked = random_chance(random, 1, 2),
		.uops = (u8)random_next(random),
	};
}

/*
 * A random number is rarely an event of the machine, so these codes are taken from the event tables of all
 * machines.
 */
static u64 any_select(struct random *random)
{
	static const u64 codes[] = {0x00c0, 0x01c0, 0x81d0, 0x82d0, 0x010b,
				    0x100b, 0x01cd, 0x02cd, 0x003c, 0x01b7};
	u64 fields = random_next(random) & 0x4ffff0000ULL;

	fields &= random_next(random);
	return codes[random_below(random, sizeof(codes) / sizeof(codes[0]))] | EVTSEL_USR | EVTSEL_ENABLE |
	       fields;
}

static void any_register(struct random *random, struct pebs_unit *unit)
{
	static const u32 plain[] = {
		MSR_IA32_FIXED_CTR_CTRL, MSR_IA32_PERF_GLOBAL_CTRL, MSR_IA32_PERF_GLOBAL_OVF_CTRL,
		MSR_IA32_PEBS_ENABLE,    MSR_PEBS_DATA_CFG,         MSR_PEBS_LD_LAT_THRESHOLD,
		MSR_OFFCORE_RSP_0,       MSR_OFFCORE_RSP_1};
	u32 counter = random_below(random, PEBS_GENERAL + 1);

	switch (random_below(random, 6)) {
	case 0:
		(void)pebs_write(unit, MSR_IA32_PERFEVTSEL0 + counter, any_select(random));
		break;
	case 1:
		(void)pebs_write(unit, MSR_IA32_PMC0 + counter, -(u64)random_below(random, 4));
		break;
	case 2:
		(void)pebs_write(unit, MSR_IA32_FIXED_CTR0 + counter, any_value(random, MEMORY_BASE));
		break;
	case 3:
		(void)pebs_write(unit, MSR_IA32_DS_AREA,
				 random_chance(random, 1, 4) ? any_value(random, MEMORY_BASE) : AREA);
		break;
	default:
		(void)pebs_write(unit, plain[random_below(random, sizeof(plain) / sizeof(plain[0]))],
				 random_chance(random, 1, 2) ? 0x70000000fULL
							     : any_value(random, MEMORY_BASE));
		break;
	}
}

static void expect_sound(const struct pebs_unit *unit)
{
	u64 highest = counter_highest(unit->machine);

	cr_assert_lt(unit->pending_count, PEBS_INTERRUPTS_MAX, "none may be dropped");
	for (u32 i = 0; i < PEBS_GENERAL; i++)
		cr_assert_leq(unit->general[i].count, highest);
	for (u32 i = 0; i < PEBS_FIXED; i++)
		cr_assert_leq(unit->fixed[i].count, highest);
}

/*
 * If a record was written, the index was within the buffer and has moved, but not beyond the maximum. Otherwise
 * neither the index nor any other byte of the memory has changed.
 */
static void retire_one(struct random *random, struct pebs_unit *unit)
{
	struct retired retired = any_instruction(random);
	u64 records = unit->records;
	u8 memory[MEMORY_BYTES];
	struct ds_area before, after;
	bool there = !ds_area_read(unit->machine, &unit->memory, unit->ds_area, &before);

	memcpy(memory, unit->memory.bytes, MEMORY_BYTES);
	(void)pebs_retire(unit, &retired);
	expect_sound(unit);
	if (unit->records == records) {
		cr_assert_eq(memcmp(memory, unit->memory.bytes, MEMORY_BYTES), 0, "written without a record");
		return;
	}
	cr_assert(there);
	cr_assert_geq(before.index, before.base);
	cr_assert_lt(before.index, before.maximum);
	/*
	 * The buffer may overlap the area itself, so the record may have overwritten the area: do not
	 * compare.
	 */
	if (before.index < unit->ds_area + ds_area_size(unit->machine))
		return;
	cr_assert_eq(ds_area_read(unit->machine, &unit->memory, unit->ds_area, &after), 0);
	cr_assert_gt(after.index, before.index);
	cr_assert_leq(after.index, after.maximum);
}

Test(model_hostile, any_registers_and_any_ds_area_keep_to_the_memory)
{
	u64 written = 0;

	for (size_t n = 0; n < machines_count; n++) {
		u8 *bytes = malloc(MEMORY_BYTES);
		struct linear_memory memory = {.base = MEMORY_BASE, .size = MEMORY_BYTES, .bytes = bytes};
		struct random random;
		struct pebs_unit unit;
		struct interrupt interrupt;

		cr_assert(bytes);
		memset(bytes, 0, MEMORY_BYTES);
		random_seed(&random, 7, n);
		pebs_open(&unit, &machines[n], memory, n);
		unit.tag_interval = 2;
		for (u32 round = 0; round < ROUNDS; round++) {
			any_register(&random, &unit);
			if (random_chance(&random, 1, 3))
				any_area(&random, &machines[n], &memory, AREA);
			for (u32 i = 0; i < 10; i++)
				retire_one(&random, &unit);
			(void)pebs_pass(&unit, random_below(&random, 40), random_next(&random));
			if (random_chance(&random, 1, 4))
				pebs_uncore_overflow(&unit);
			while (random_chance(&random, 1, 2) && pebs_take_interrupt(&unit, &interrupt))
				;
			expect_sound(&unit);
		}
		written += unit.records;
		free(bytes);
	}
	cr_expect_gt(written, 1000, "%llu: the test came to little", (unsigned long long)written);
}

Test(model_hostile, any_netburst_area_keeps_to_the_memory)
{
	static const char *const names[] = {"netburst", "core"};
	u64 written = 0;

	for (size_t n = 0; n < 2; n++) {
		u8 *bytes = malloc(MEMORY_BYTES);
		struct linear_memory memory = {.base = 0xffff0000ULL, .size = MEMORY_BYTES, .bytes = bytes};
		struct netburst_uop uop = {
			.retired = {.operation = OPERATION_LOAD, .place = PLACE_L2, .next_ip = ~0ULL}};
		struct random random;
		struct netburst netburst;

		cr_assert(bytes);
		memset(bytes, 0, MEMORY_BYTES);
		random_seed(&random, 8, n);
		netburst_open(&netburst, machine_find(names[n]), memory);
		cr_assert_eq(netburst_write(&netburst, MSR_CRU_ESCR2, 0x12000204), 0); /* replay_event */
		cr_assert_eq(netburst_write(&netburst, MSR_NETBURST_PEBS_MATRIX_VERT, VERT_LOADS), 0);
		cr_assert_eq(netburst_write(&netburst, MSR_NETBURST_PEBS_ENABLE, 0x3000001), 0);
		cr_assert_eq(netburst_write(&netburst, MSR_IQ_CCCR4, 0x3b000), 0);
		for (u32 round = 0; round < ROUNDS; round++) {
			u64 at = random_chance(&random, 1, 4) ? any_value(&random, memory.base)
							      : memory.base + 0x40;

			any_area(&random, machine_find(names[n]), &memory, memory.base + 0x40);
			(void)netburst_write(&netburst, MSR_NETBURST_DS_AREA, at);
			(void)netburst_write(&netburst, MSR_IQ_COUNTER4, ~0ULL);
			(void)netburst_retire(&netburst, &uop);
			cr_assert_eq(netburst.records + netburst.not_written, round + 1ULL);
		}
		written += netburst.records;
		free(bytes);
	}
	cr_expect_gt(written, 100, "%llu: the test came to little", (unsigned long long)written);
}
