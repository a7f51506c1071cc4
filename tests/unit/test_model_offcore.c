// SPDX-License-Identifier: GPL-2.0
/* Off-core response: manual 18.9.5 (tables 18-35 to 18-38), 18.7.2 and 18.6.3 (Goldmont), 18.8.1.3. */
#include <criterion/criterion.h>

#include "model/offcore.h"
#include "pebs_fixture.h"

static struct retired access_to(u8 operation, u8 place, u8 snoop)
{
	struct retired retired = LOAD(200);

	retired.operation = operation;
	retired.place = place;
	retired.snoop = snoop;
	return retired;
}

#define READ     OFFCORE_DEMAND_DATA_READ
#define RFO      OFFCORE_DEMAND_RFO
#define LOAD_    OPERATION_LOAD
#define READ_ANY (READ | OFFCORE_ANY_RESPONSE)

/*
 * Bits 15:0 are the request type, bits 30:16 the supplier, and bits 37:31 the snoop response. A match needs a
 * bit of the request type, and either ANY (bit 16) or a bit of the supplier and one of the snoop response.
 */
Test(model_offcore, request_supplier_and_snoop_fields_select_responses)
{
	static const struct {
		u64 config;
		u8 operation, place, snoop;
		bool counts;
	} table[] = {
		{READ | OFFCORE_ANY_RESPONSE, LOAD_, PLACE_L3, SNOOPED_NONE, true},
		{READ | OFFCORE_ANY_RESPONSE, LOAD_, PLACE_REMOTE_DRAM, SNOOPED_MISS, true},
		{READ | OFFCORE_ANY_RESPONSE, OPERATION_STORE, PLACE_L3, SNOOPED_NONE, false},
		{RFO | OFFCORE_ANY_RESPONSE, OPERATION_STORE, PLACE_L3, SNOOPED_NONE, true},
		{RFO | OFFCORE_ANY_RESPONSE, LOAD_, PLACE_L3, SNOOPED_NONE, false},
		/* an access that stays in the core is not a request */
		{0xffff | OFFCORE_ANY_RESPONSE, LOAD_, PLACE_L1, SNOOPED_NONE, false},
		{0xffff | OFFCORE_ANY_RESPONSE, LOAD_, PLACE_FILL_BUFFER, SNOOPED_NONE, false},
		{0xffff | OFFCORE_ANY_RESPONSE, LOAD_, PLACE_L2, SNOOPED_NONE, false},
		{0xffff | OFFCORE_ANY_RESPONSE, OPERATION_NONE, PLACE_L3, SNOOPED_NONE, false},
		/* 18.9.5: nothing counts without a request type, or without a response */
		{OFFCORE_ANY_RESPONSE, LOAD_, PLACE_L3, SNOOPED_NONE, false},
		{READ, LOAD_, PLACE_L3, SNOOPED_NONE, false},
		{READ | (OFFCORE_SUPPLIERS & ~OFFCORE_ANY_RESPONSE), LOAD_, PLACE_L3, SNOOPED_NONE, false},
		{READ | OFFCORE_SNOOPS, LOAD_, PLACE_L3, SNOOPED_NONE, false},
		/* supplier and snoop */
		{READ | OFFCORE_L3_MODIFIED | OFFCORE_HITM, LOAD_, PLACE_L3, SNOOPED_MODIFIED, true},
		{READ | OFFCORE_L3_MODIFIED | OFFCORE_HITM, LOAD_, PLACE_L3, SNOOPED_HIT, false},
		{READ | OFFCORE_L3_MODIFIED | OFFCORE_HIT_FORWARD, LOAD_, PLACE_L3, SNOOPED_MODIFIED, false},
		{READ | OFFCORE_L3_SHARED | OFFCORE_HIT_NO_FORWARD, LOAD_, PLACE_L3, SNOOPED_HIT, true},
		{READ | OFFCORE_L3_EXCLUSIVE | OFFCORE_SNOOP_NOT_NEEDED, LOAD_, PLACE_L3, SNOOPED_NONE, true},
		{READ | OFFCORE_LOCAL | OFFCORE_SNOOPS, LOAD_, PLACE_LOCAL_DRAM, SNOOPED_MISS, true},
		{READ | OFFCORE_LOCAL | OFFCORE_SNOOP_MISS, LOAD_, PLACE_LOCAL_DRAM, SNOOPED_MISS, true},
		{READ | OFFCORE_LOCAL | OFFCORE_SNOOPS, LOAD_, PLACE_REMOTE_DRAM, SNOOPED_MISS, false},
		{READ | OFFCORE_REMOTE | OFFCORE_SNOOPS, LOAD_, PLACE_REMOTE_DRAM, SNOOPED_MISS, true},
		{READ | OFFCORE_REMOTE | OFFCORE_HIT_FORWARD, LOAD_, PLACE_REMOTE_CACHE, SNOOPED_HIT, true},
		{READ | OFFCORE_REMOTE | OFFCORE_HITM, LOAD_, PLACE_REMOTE_CACHE, SNOOPED_MODIFIED, true},
		{OFFCORE_OTHER | OFFCORE_NO_SUPPLIER | OFFCORE_NON_DRAM, LOAD_, PLACE_IO, SNOOPED_NONE, true},
		{READ | OFFCORE_NO_SUPPLIER | OFFCORE_NON_DRAM, LOAD_, PLACE_IO, SNOOPED_NONE, false},
	};
	const struct machine *machine = machine_find("sandybridge-ep");

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct retired retired = access_to(table[i].operation, table[i].place, table[i].snoop);

		cr_expect_eq(offcore_occurrences(machine, 0, table[i].config, &retired), table[i].counts,
			     "row %zu", i);
		cr_expect_eq(offcore_occurrences(machine, 1, table[i].config, &retired), table[i].counts,
			     "row %zu", i);
	}
}

/* Nehalem: request type in bits 7:0, response in bits 15:8, and only one register. */
Test(model_offcore, nehalem_has_one_register_with_fields_of_8_bits)
{
	static const struct {
		u64 config;
		u8 place, snoop;
		bool counts;
	} table[] = {
		{0x0101, PLACE_L3, SNOOPED_NONE, true},
		{0x0101, PLACE_L3, SNOOPED_HIT, false},
		{0x0201, PLACE_L3, SNOOPED_HIT, true},
		{0x0401, PLACE_L3, SNOOPED_MODIFIED, true},
		{0x1001, PLACE_REMOTE_CACHE, SNOOPED_HIT, true},
		{0x2001, PLACE_REMOTE_DRAM, SNOOPED_MISS, true},
		{0x4001, PLACE_LOCAL_DRAM, SNOOPED_MISS, true},
		{0x2001, PLACE_LOCAL_DRAM, SNOOPED_MISS, false},
		{0x8080, PLACE_UNCACHED, SNOOPED_NONE, true},
		{0xff02, PLACE_LOCAL_DRAM, SNOOPED_MISS, false},
		{0xff00, PLACE_LOCAL_DRAM, SNOOPED_MISS, false},
	};

	pebs_fixture_open("nehalem");
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct retired retired = access_to(LOAD_, table[i].place, table[i].snoop);

		cr_expect_eq(offcore_occurrences(fixture.unit.machine, 0, table[i].config, &retired),
			     table[i].counts, "row %zu", i);
	}
	pebs_fixture_write(MSR_OFFCORE_RSP_0, 0xffff);
	cr_expect_eq(pebs_write(&fixture.unit, MSR_OFFCORE_RSP_0, 0x10000), -EINVAL);
	cr_expect_eq(pebs_write(&fixture.unit, MSR_OFFCORE_RSP_1, 1), -EINVAL);
}

/*
 * Table 18-35: B7H/01H with MSR_OFFCORE_RSP_0, BBH/01H with MSR_OFFCORE_RSP_1. Goldmont: B7H with 01H and 02H
 * (18.7.2). Golden Cove: 2AH and 2BH (intel_spr_extra_regs in core.c, Linux 6.1).
 */
Test(model_offcore, event_codes_select_their_registers)
{
	static const struct {
		const char *machine;
		u64 select, config;
		u32 msr; /* the register that makes it count; 0: none */
	} table[] = {
		{"sandybridge", 0x01b7, READ_ANY, MSR_OFFCORE_RSP_0},
		{"sandybridge", 0x01bb, READ_ANY, MSR_OFFCORE_RSP_1},
		{"sandybridge", 0x02b7, READ_ANY, 0},
		{"goldmont", 0x01b7, READ_ANY, MSR_OFFCORE_RSP_0},
		{"goldmont", 0x02b7, READ_ANY, MSR_OFFCORE_RSP_1},
		{"goldmont", 0x01bb, READ_ANY, 0},
		{"nehalem", 0x01b7, 0x4001, MSR_OFFCORE_RSP_0},
		{"nehalem", 0x01bb, 0x4001, 0},
		{"sapphirerapids", 0x012a, READ_ANY, MSR_OFFCORE_RSP_0},
		{"sapphirerapids", 0x012b, READ_ANY, MSR_OFFCORE_RSP_1},
		{"sapphirerapids", 0x01b7, READ_ANY, 0},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		for (u32 msr = MSR_OFFCORE_RSP_0; msr <= MSR_OFFCORE_RSP_1; msr++) {
			pebs_fixture_open(table[i].machine);
			pebs_fixture_program(2, table[i].select | COUNTING, 1ULL << 20);
			pebs_write(&fixture.unit, MSR_IA32_PMC0 + 2, 0);
			pebs_write(&fixture.unit, msr, table[i].config); /* Nehalem has only one */
			pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 4);
			pebs_fixture_retire(access_to(LOAD_, PLACE_LOCAL_DRAM, SNOOPED_MISS), 7);
			pebs_fixture_retire(LOAD(4), 7);
			cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0 + 2), msr == table[i].msr ? 7 : 0,
				     "row %zu, %#x", i, msr);
		}
	}
}

/* Goldmont: an L2 hit is a supplier (bit 18). Beyond L2, the snoop response decides (bits 37:31). */
Test(model_offcore, goldmont_l2_hit_is_a_supplier_and_a_miss_has_a_snoop_response)
{
	static const struct {
		u64 config;
		u8 place, snoop;
		bool counts;
	} table[] = {
		{READ | OFFCORE_GOLDMONT_L2_HIT, PLACE_L2, SNOOPED_NONE, true},
		{READ | OFFCORE_SNOOPS, PLACE_L2, SNOOPED_NONE, false},
		{READ | OFFCORE_GOLDMONT_L2_HIT, PLACE_LOCAL_DRAM, SNOOPED_MISS, false},
		{READ | OFFCORE_SNOOP_MISS, PLACE_LOCAL_DRAM, SNOOPED_MISS, true},
		{READ | OFFCORE_SNOOP_MISS, PLACE_LOCAL_DRAM, SNOOPED_NONE, true},
		{READ | OFFCORE_HITM, PLACE_REMOTE_CACHE, SNOOPED_MODIFIED, true},
		{READ | OFFCORE_HITM, PLACE_LOCAL_DRAM, SNOOPED_MISS, false},
		{OFFCORE_PARTIAL_READ | OFFCORE_NON_DRAM, PLACE_UNCACHED, SNOOPED_NONE, true},
	};
	const struct machine *machine = machine_find("goldmont");

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct retired retired = access_to(LOAD_, table[i].place, table[i].snoop);

		cr_expect_eq(offcore_occurrences(machine, 0, table[i].config, &retired), table[i].counts,
			     "row %zu", i);
	}
}

/*
 * 18.6.3: MSR_OFFCORE_RSP0 with a request type and bit 38 counts weighted cycles. MSR_OFFCORE_RSP1 with the
 * same type and ANY_RESPONSE counts the requests. The quotient is the average latency.
 */
Test(model_offcore, bit_38_measures_the_average_latency_with_two_counters)
{
	struct retired load = access_to(LOAD_, PLACE_LOCAL_DRAM, SNOOPED_MISS);
	u64 cycles, requests;

	pebs_fixture_open("goldmont");
	pebs_fixture_write(MSR_OFFCORE_RSP_0, READ | OFFCORE_OUTSTANDING);
	pebs_fixture_write(MSR_OFFCORE_RSP_1, READ | OFFCORE_ANY_RESPONSE);
	pebs_fixture_write(MSR_IA32_PERFEVTSEL0, 0x01b7 | COUNTING);
	pebs_fixture_write(MSR_IA32_PERFEVTSEL0 + 1, 0x02b7 | COUNTING);
	pebs_fixture_write(MSR_IA32_PERF_GLOBAL_CTRL, 3);
	for (u32 i = 0; i < 10; i++) {
		load.latency = 100 + 20 * i;
		pebs_fixture_retire(load, 1);
		pebs_fixture_retire(LOAD(3), 1); /* an L1 hit is not a request */
		pebs_fixture_retire(access_to(OPERATION_STORE, PLACE_L2, SNOOPED_NONE), 1);
	}
	cycles = pebs_fixture_read(MSR_IA32_PMC0);
	requests = pebs_fixture_read(MSR_IA32_PMC0 + 1);
	cr_expect_eq(requests, 10);
	cr_expect_eq(cycles, 1900);
	cr_expect_eq(cycles / requests, 190);
	cr_expect_eq(pebs_write(&fixture.unit, MSR_OFFCORE_RSP_1, OFFCORE_OUTSTANDING), -EINVAL,
		     "register 0 alone has the bit");
	pebs_fixture_open("sandybridge");
	cr_expect_eq(pebs_write(&fixture.unit, MSR_OFFCORE_RSP_0, OFFCORE_OUTSTANDING), -EINVAL);
}
