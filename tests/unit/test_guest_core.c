// SPDX-License-Identifier: GPL-2.0
/* The PMU of an emulated CPU (tests/guest/pmu/): counters without PEBS, and the time that loads take. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* Include the sources: they belong to a plugin for QEMU, and no program here links them. */
#include "../guest/pmu/branches.c" /* NOLINT(bugprone-suspicious-include) */
#include "../guest/pmu/caches.c"   /* NOLINT(bugprone-suspicious-include) */
#include "../guest/pmu/core.c"     /* NOLINT(bugprone-suspicious-include) */

#define USER_IP   0x401000ULL
#define KERNEL_IP 0xffffffff81000000ULL
#define SAMPLES   64

static const struct core_operands no_operands = {CORE_NO_REGISTER, CORE_NO_REGISTER, CORE_NO_REGISTER, false};

struct fixture {
	struct core core;
	unsigned int sampled[SAMPLES]; /* counters in the order of their samples */
	unsigned int count;
};

static int copy(void *owner, u64 address, void *buffer, u64 size, bool write)
{
	(void)owner, (void)address, (void)buffer, (void)size, (void)write;
	return -EFAULT;
}

static void no_registers(void *owner, struct retired_registers *ret)
{
	(void)owner;
	*ret = (struct retired_registers){0};
}

static void no_record(void *owner, const struct core_record *record)
{
	(void)owner, (void)record;
}

static void no_count(void *owner, unsigned int counter, u64 occurrences)
{
	(void)owner, (void)counter, (void)occurrences;
}

static void nothing(void *owner, unsigned int counter)
{
	(void)owner, (void)counter;
}

static void sampled(void *owner, unsigned int counter)
{
	struct fixture *fixture = owner;

	cr_assert_lt(fixture->count, SAMPLES);
	fixture->sampled[fixture->count++] = counter;
}

static void fixture_open(struct fixture *fixture, const char *machine)
{
	struct core_callbacks callbacks = {.owner = fixture,
					   .copy = copy,
					   .registers = no_registers,
					   .recorded = no_record,
					   .counted = no_count,
					   .counter_read = nothing,
					   .overflowed = nothing,
					   .sampled = sampled,
					   .went_on = no_count};

	*fixture = (struct fixture){.count = 0};
	cr_assert_eq(core_open(&fixture->core, machine, 0, caches_open(1, 0), &callbacks), 0);
	cr_assert_eq(caches_add_cpu(fixture->core.caches, 0, core_memory_shape(&fixture->core)), 0);
}

static void fixture_close(struct fixture *fixture)
{
	free(fixture->core.caches->memory[0]);
	free(fixture->core.caches->directory);
	free(fixture->core.caches);
}

static void write_msr(struct fixture *fixture, u32 msr, u64 value)
{
	cr_assert_eq(core_write_msr(&fixture->core, msr, value), 0, "%x", msr);
}

static u64 read_msr(struct fixture *fixture, u32 msr)
{
	u64 value;

	cr_assert_eq(core_read_msr(&fixture->core, msr, &value), 0, "%x", msr);
	return value;
}

static void pass(struct fixture *fixture, u64 ip, u64 instructions)
{
	struct core_moment moment = {.ip = ip, .next_ip = ip + 4};

	core_passed(&fixture->core, &moment, instructions, 0, 0);
}

/* Makes an access as the plugin does if core_wants_misses(). */
static void touch(struct fixture *fixture, u64 address, bool store, struct core_operands operands)
{
	struct core_moment moment = {.ip = USER_IP, .next_ip = USER_IP + 4};
	struct caches_access access = {.linear = address, .physical = address, .store = store};

	core_missed(&fixture->core, &moment, &access, &operands);
}

#define STALLS_SKYLAKE (0x14a3 | 0x14ULL << 24)
#define ON             (EVTSEL_USR | EVTSEL_OS | EVTSEL_INT | EVTSEL_ENABLE)
#define PERIOD(n)      ((1ULL << 48) - (n))
#define PAGE           0x1000ULL

Test(guest_core, misses_and_stalls_count_and_raise_an_interrupt)
{
	_cleanup_(fixture_close) struct fixture fixture;
	struct core *core = &fixture.core;

	fixture_open(&fixture, "skylake-server");
	cr_expect(!core_wants_accesses(core));
	write_msr(&fixture, MSR_IA32_PERFEVTSEL0, 0x412e | ON);
	write_msr(&fixture, MSR_IA32_A_PMC0, PERIOD(3) & 0xffffffffffff);
	write_msr(&fixture, MSR_IA32_PERFEVTSEL0 + 1, STALLS_SKYLAKE | ON);
	write_msr(&fixture, MSR_IA32_PERF_GLOBAL_CTRL, 3);
	cr_expect(core_wants_accesses(core) && core_wants_misses(core));
	for (u64 i = 0; i < 2; i++)
		touch(&fixture, 0x10000000 + i * PAGE, i == 1, no_operands);
	cr_expect_eq(fixture.count, 0);
	cr_expect(!core_take_interrupt(core));
	touch(&fixture, 0x10000000, false, no_operands); /* in L1 */
	cr_expect_eq(fixture.count, 0);
	touch(&fixture, 0x20000000, false, no_operands);
	cr_expect_eq(fixture.count, 1);
	cr_expect_eq(fixture.sampled[0], 0);
	cr_expect(core_sample_is_due(core, 0) && !core_sample_is_due(core, 1));
	write_msr(&fixture, MSR_IA32_PERF_GLOBAL_OVF_CTRL, 1);
	cr_expect(!core_sample_is_due(core, 0));
	cr_expect(core_take_interrupt(core));
	cr_expect_eq(read_msr(&fixture, MSR_IA32_PMC0), 0);
	/* A store does not stall. The clock has the stalls and one cycle for each instruction. */
	cr_expect_eq(core->misses, 3);
	cr_expect_eq(core->instructions, 4);
	cr_expect_eq(read_msr(&fixture, MSR_IA32_PMC0 + 1), core->stalls);
	cr_expect_gt(core->stalls, 2 * 240 / CORE_OVERLAP);
	cr_expect_gt(core->cycles, core->stalls + 4);
}

Test(guest_core, fixed_counters_sample_cycles_that_stalls_take)
{
	_cleanup_(fixture_close) struct fixture fixture;

	fixture_open(&fixture, "generic-vm");
	write_msr(&fixture, MSR_IA32_FIXED_CTR_CTRL, 0xb0);
	write_msr(&fixture, MSR_IA32_FIXED_CTR0 + 1, PERIOD(1000) & 0xffffffffffff);
	write_msr(&fixture, MSR_IA32_PERF_GLOBAL_CTRL, 1ULL << 33);
	pass(&fixture, USER_IP, 1); /* cycles count from one instruction to the next */
	pass(&fixture, USER_IP, 990);
	cr_expect_eq(fixture.count, 0);
	cr_expect(!core_wants_accesses(&fixture.core), "cycles alone need no accesses");
	cr_expect(core_wants_misses(&fixture.core), "the next miss may overflow");
	touch(&fixture, 0x10000000, false, no_operands);
	cr_expect_eq(fixture.count, 1);
	cr_expect_eq(fixture.sampled[0], PEBS_FIXED_0 + 1);
	cr_expect(core_take_interrupt(&fixture.core));
}

Test(guest_core, without_the_interrupt_bit_an_overflow_makes_no_sample)
{
	_cleanup_(fixture_close) struct fixture fixture;

	fixture_open(&fixture, "haswell");
	write_msr(&fixture, MSR_IA32_PERFEVTSEL0, 0xc0 | (ON & ~EVTSEL_INT));
	write_msr(&fixture, MSR_IA32_A_PMC0, PERIOD(10) & 0xffffffffffff);
	write_msr(&fixture, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	pass(&fixture, USER_IP, 20);
	cr_expect_eq(read_msr(&fixture, MSR_IA32_PMC0), 10);
	cr_expect_eq(fixture.count, 0);
}

/* The driver masks its interrupt while it handles one. An interrupt without a cause after that is one too many. */
Test(guest_core, a_pebs_counter_before_its_record_is_no_cause_for_an_interrupt)
{
	_cleanup_(fixture_close) struct fixture fixture;
	struct core *core = &fixture.core;

	fixture_open(&fixture, "skylake-server");
	write_msr(&fixture, MSR_IA32_PERFEVTSEL0, 0xc0 | (ON & ~EVTSEL_INT));
	write_msr(&fixture, MSR_IA32_A_PMC0, PERIOD(3) & 0xffffffffffff);
	write_msr(&fixture, MSR_IA32_PERFEVTSEL0 + 1, 0xc0 | ON);
	write_msr(&fixture, MSR_IA32_A_PMC0 + 1, PERIOD(100) & 0xffffffffffff);
	write_msr(&fixture, MSR_IA32_PEBS_ENABLE, 1);
	write_msr(&fixture, MSR_IA32_PERF_GLOBAL_CTRL, 3);
	pass(&fixture, USER_IP, 3);
	cr_expect_eq(read_msr(&fixture, MSR_IA32_PERF_GLOBAL_STATUS), 1 | STATUS_CONDITIONS);
	cr_expect(!core_take_interrupt(core));
	cr_expect(!core_interrupt_is_due(core));
	pass(&fixture, USER_IP, 97);
	cr_expect(core_take_interrupt(core));
	cr_expect(core_interrupt_is_due(core), "the counter without PEBS");
	write_msr(&fixture, MSR_IA32_PERF_GLOBAL_OVF_CTRL, 2);
	cr_expect(!core_interrupt_is_due(core));
	core->unit.global_status |= STATUS_DS_BUFFER;
	cr_expect(core_interrupt_is_due(core), "the buffer of records");
}

#define AMD_SELECT(i) (MSR_AMD_CORE0 + 2 * (i))
#define AMD_COUNT(i)  (MSR_AMD_CORE0 + 2 * (i) + 1)

Test(guest_core, amd_core_counters_count_and_interrupt)
{
	static const u32 selects[] = {0x76, 0xc0, 0x4844, 0xa2d6, 0x1234};
	_cleanup_(fixture_close) struct fixture fixture;
	struct core *core = &fixture.core;

	fixture_open(&fixture, "zen5");
	for (u32 i = 0; i < 5; i++)
		write_msr(&fixture, AMD_SELECT(i), selects[i] | ON);
	write_msr(&fixture, AMD_SELECT(5), 0xc0 | EVTSEL_USR | EVTSEL_ENABLE | EVTSEL_INT);
	write_msr(&fixture, AMD_COUNT(5), PERIOD(100) & 0xffffffffffff);
	cr_expect(core_wants_accesses(core));
	pass(&fixture, KERNEL_IP, 50);
	pass(&fixture, USER_IP, 98);
	touch(&fixture, 0x10000000, false, no_operands);
	cr_expect_eq(fixture.count, 0);
	touch(&fixture, 0x20000000, false, no_operands);
	cr_expect_eq(read_msr(&fixture, AMD_COUNT(0)), core->cycles);
	cr_expect_eq(read_msr(&fixture, AMD_COUNT(1)), 150);
	cr_expect_eq(read_msr(&fixture, AMD_COUNT(2)), 2);
	cr_expect_eq(read_msr(&fixture, AMD_COUNT(3)), core->cycles - 150);
	cr_expect_eq(read_msr(&fixture, AMD_COUNT(4)), 0);
	/* The last one counts only what runs in user space. */
	cr_expect_eq(read_msr(&fixture, AMD_COUNT(5)), 0);
	cr_expect_eq(fixture.count, 1);
	cr_expect_eq(fixture.sampled[0], 5);
	cr_expect(core_take_interrupt(core));
	cr_expect(core_interrupt_is_due(core));
	cr_expect(core_sample_is_due(core, 5) && !core_sample_is_due(core, 4));
	write_msr(&fixture, AMD_COUNT(5), PERIOD(100) & 0xffffffffffff);
	for (u32 i = 0; i < 5; i++)
		write_msr(&fixture, AMD_SELECT(i), 0);
	cr_expect(!core_interrupt_is_due(core));
	cr_expect(!core_wants_accesses(core));
}

/*
 * Runs loads in exact time, one for each `instructions`. `chains`: how many registers hold the addresses in turns; 0:
 * a register that no load changes. Returns the share of stalled cycles.
 */
static double stalled_share(u32 chains, u64 instructions)
{
	_cleanup_(fixture_close) struct fixture fixture;
	struct core *core = &fixture.core;

	fixture_open(&fixture, "skylake-server");
	core_set_exact(core, true);
	cr_expect(core_wants_accesses(core) && core_wants_misses(core));
	for (u64 i = 0; i < 20000; i++) {
		u8 target = (u8)(chains ? i % chains : 0);
		struct core_operands operands = {(u8)(chains ? target : 15), CORE_NO_REGISTER, target, false};

		touch(&fixture, 0x10000000 + i * 40013 % 65536 * 64, false, operands);
		/* The address is computed in another register. */
		core_compute(core, (u16)(1U << 14), (u16)(1U << target));
		core_compute(core, (u16)(1U << target), (u16)(1U << 14));
		pass(&fixture, USER_IP, instructions - 1);
	}
	cr_expect_eq(core->instructions, 20000 * instructions);
	cr_expect_eq(core->cycles, core->instructions + core->stalls);
	cr_expect_eq(core_occurrences(core, 3).cycles, core->cycles + 3);
	return (double)core->stalls / (double)core->cycles;
}

Test(guest_core, independent_loads_overlap)
{
	double one = stalled_share(1, 18), four = stalled_share(4, 18), free = stalled_share(0, 18);

	cr_expect(one > 0.9, "one chain: %f", one);
	cr_expect(four > 0.6 && four < 0.85, "four chains: %f", four);
	cr_expect(free < four, "no chain: %f", free);
}

/* A register that gets a constant, or another value, no longer waits for its load. */
Test(guest_core, an_overwritten_register_waits_for_nothing)
{
	_cleanup_(fixture_close) struct fixture fixture;
	struct core *core = &fixture.core;

	fixture_open(&fixture, "skylake-server");
	core_set_exact(core, true);
	touch(&fixture, 0x10000000, false, (struct core_operands){1, CORE_NO_REGISTER, 2, false});
	cr_expect_gt(core->known[2], 240);
	touch(&fixture, 0x20000000, false, (struct core_operands){1, CORE_NO_REGISTER, 3, false});
	touch(&fixture, 0x30000000, true, (struct core_operands){2, 3, CORE_NO_REGISTER, false});
	cr_expect_eq(core->misses, 3);
	core_compute(core, 1U << 2 | 1U << 4, 0);
	cr_expect_eq(core->known[2], 0);
	cr_expect_eq(core->known[4], 0);
	core_compute(core, 1U << 4, 1U << 2 | 1U << 3);
	cr_expect_eq(core->known[4], core->known[3]);
}

Test(guest_core, nothing_is_counted_while_paused)
{
	_cleanup_(fixture_close) struct fixture fixture;
	struct core *core = &fixture.core;

	fixture_open(&fixture, "skylake-server");
	write_msr(&fixture, MSR_IA32_PERFEVTSEL0, 0x412e | ON);
	write_msr(&fixture, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	cr_expect(core_counts(core));
	core->paused = true;
	cr_expect(!core_counts(core) && !core_wants_accesses(core) && !core_wants_misses(core));
	touch(&fixture, 0x10000000, false, no_operands);
	cr_expect_eq(core->misses, 0);
	cr_expect_eq(read_msr(&fixture, MSR_IA32_PMC0), 0);
	core->paused = false;
	write_msr(&fixture, MSR_IA32_PERF_GLOBAL_CTRL, 0);
	cr_expect(!core_counts(core));
}
