// SPDX-License-Identifier: GPL-2.0
/* WRMSR and RDMSR: which registers exist, and which accesses cause a general protection fault. */
#include <criterion/criterion.h>

#include "pebs_fixture.h"

/* Each row has a write that faults on the machine, and a similar one that does not. */
Test(model_registers, reserved_bits_fault)
{
	static const struct {
		const char *machine;
		u32 msr;
		u64 bad, good;
	} table[] = {
		{"nehalem", MSR_IA32_PERFEVTSEL0, 1ULL << 32, 0xffffffff},
		{"skylake", MSR_IA32_PERFEVTSEL0, EVTSEL_ADAPTIVE, 3ULL << 32},
		{"icelake", MSR_IA32_PERFEVTSEL0 + 7, 1ULL << 35, EVTSEL_ADAPTIVE},
		{"core", MSR_IA32_PERFEVTSEL0, EVTSEL_ANY, EVTSEL_INV},
		{"nehalem", MSR_IA32_PEBS_ENABLE, 0x10, 0xf0000000fULL},
		{"nehalem", MSR_IA32_PEBS_ENABLE, 1ULL << 63, 1},
		{"sandybridge", MSR_IA32_PEBS_ENABLE, 1ULL << 36, 1ULL << 63},
		{"haswell", MSR_IA32_PEBS_ENABLE, 1ULL << 63, 1ULL << 35},
		{"icelake", MSR_IA32_PEBS_ENABLE, 1ULL << 36, 0xf000000ffULL},
		{"nehalem", MSR_PEBS_LD_LAT_THRESHOLD, 0x10000, 0xffff},
		{"nehalem", MSR_IA32_PERF_GLOBAL_CTRL, 0x10, 0x70000000fULL},
		{"nehalem", MSR_IA32_PERF_GLOBAL_OVF_CTRL, 0x10, 0xe00000070000000fULL},
		{"nehalem", MSR_UNCORE_PERF_GLOBAL_OVF_CTRL, 0x100, 0xa0000001000000ffULL},
		{"nehalem", MSR_IA32_FIXED_CTR_CTRL, 0x1000, 0xbbb},
		{"icelake", MSR_IA32_FIXED_CTR_CTRL, 2ULL << 32, 0x11110000bbbbULL},
		{"nehalem", MSR_IA32_FIXED_CTR0 + 2, 1ULL << 48, 0xffffffffffffULL},
		{"sandybridge", MSR_IA32_A_PMC0 + 3, 1ULL << 48, 0xffffffffffffULL},
		{"nehalem", MSR_IA32_DS_AREA, 1ULL << 47, 0xffff800000000000ULL},
		{"icelake", MSR_PEBS_DATA_CFG, 0x10, 0x1f00000f},
		{"sandybridge", MSR_OFFCORE_RSP_1, 1ULL << 23, 0x3f807f8fffULL},
		{"sandybridge-ep", MSR_OFFCORE_RSP_1, 1ULL << 38, 0x3fffff8fffULL},
		{"skylake", MSR_OFFCORE_RSP_0, 1ULL << 12, 0x3fffff8fffULL},
		{"icelake", MSR_OFFCORE_RSP_0, 1ULL << 14, 0x3fffffbfffULL},
		{"sapphirerapids", MSR_OFFCORE_RSP_1, 1ULL << 38, 0x3fffffffffULL},
		{"goldmont", MSR_OFFCORE_RSP_0, 1ULL << 6, 0x760005ffbfULL},
		{"goldmont", MSR_OFFCORE_RSP_1, 1ULL << 38, 0x360005ffbfULL},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		pebs_fixture_open(table[i].machine);
		cr_expect_eq(pebs_write(&fixture.unit, table[i].msr, table[i].bad), -EINVAL, "row %zu", i);
		cr_expect_eq(pebs_write(&fixture.unit, table[i].msr, table[i].good), 0, "row %zu", i);
		if (table[i].msr == MSR_IA32_PERF_GLOBAL_OVF_CTRL ||
		    table[i].msr == MSR_UNCORE_PERF_GLOBAL_OVF_CTRL)
			continue;
		cr_expect_eq(pebs_write(&fixture.unit, table[i].msr, table[i].bad), -EINVAL, "row %zu", i);
		cr_expect_eq(pebs_fixture_read(table[i].msr), table[i].good, "row %zu", i);
	}
}

Test(model_registers, registers_that_a_machine_lacks_fault)
{
	static const struct {
		const char *machine;
		u32 msr;
	} table[] = {
		{"core", MSR_IA32_PMC0 + 2},        {"nehalem", MSR_IA32_PMC0 + 4},
		{"nehalem", MSR_IA32_A_PMC0},       {"nehalem", MSR_IA32_FIXED_CTR0 + 3},
		{"core", MSR_OFFCORE_RSP_0},        {"core", MSR_PEBS_LD_LAT_THRESHOLD},
		{"skylake", MSR_PEBS_DATA_CFG},     {"skylake", MSR_IA32_PERFEVTSEL0 + 4},
		{"netburst", MSR_IA32_DS_AREA},     {"netburst", MSR_IA32_PERFEVTSEL0},
		{"netburst", MSR_IA32_PEBS_ENABLE}, {"skylake", 0x10},
	};
	u64 value;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct pebs_unit unit;
		const struct machine *machine = machine_find(table[i].machine);

		pebs_open(&unit, machine, (struct linear_memory){0}, 1);
		cr_expect_eq(pebs_write(&unit, table[i].msr, 0), -EINVAL, "row %zu", i);
		cr_expect_eq(pebs_read(&unit, table[i].msr, &value), -EINVAL, "row %zu", i);
	}
}

/* IA32_PMCx: bits 31:0 are written and sign-extended. IA32_A_PMCx: the whole width is written. */
Test(model_registers, counters_are_written_sign_extended_or_in_full_width)
{
	pebs_fixture_open("skylake");
	pebs_fixture_write(MSR_IA32_PMC0, 0x80000000);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 0xffff80000000);
	pebs_fixture_write(MSR_IA32_PMC0, 0x1234500000007fULL);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 0x7f, "the upper half is not looked at");
	pebs_fixture_write(MSR_IA32_A_PMC0, 0x123400000000);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_PMC0), 0x123400000000);
	cr_expect_eq(pebs_fixture_read(MSR_IA32_A_PMC0), 0x123400000000);
}

/* After pebs_open() all registers are 0, nothing counts, and no interrupt is pending. */
Test(model_registers, reset_restores_the_initial_registers)
{
	for (size_t i = 0; i < machines_count; i++) {
		static u8 bytes[0x1000];
		struct linear_memory memory = {.base = 0x1000, .size = sizeof(bytes), .bytes = bytes};
		struct pebs_unit unit;
		struct interrupt interrupt;
		u64 value;

		pebs_open(&unit, &machines[i], memory, 1);
		for (u32 n = 0; n < 100; n++)
			cr_expect_eq(pebs_retire(&unit, &LOAD(100)), 0);
		cr_expect_eq(unit.tag_interval, 80);
		cr_expect_null(pebs_undefined(&unit));
		cr_expect_not(pebs_take_interrupt(&unit, &interrupt));
		for (u32 msr = 0; msr < 0x1000; msr++)
			if (!pebs_read(&unit, msr, &value))
				cr_expect_eq(value, 0, "%s: %#x", machines[i].name, msr);
	}
}
