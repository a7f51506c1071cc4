// SPDX-License-Identifier: GPL-2.0
/* The guest module's pure part: which counters an event may use, and who shares them. */
#include <criterion/criterion.h>

#include "base/cleanup.h"

/* A kernel module's file, which no program here is linked with. */
#include "../guest/module/constraint.c" /* NOLINT(bugprone-suspicious-include) */

#define INV (1ULL << 23)

enum { MSR_PEBS_LD_LAT = 0x3f6 };

static u64 counters_of(const char *machine, u64 config, u8 precise)
{
	const struct demand demand = {.config = config, .precise = precise};

	return constraint_counters(machine_find(machine), &demand);
}

/* Linux 6.12 (Sierra Forest's stores: 7.3): intel_*_pebs_event_constraints of ds.c, *_get_event_constraints()
 * of core.c. */
Test(guest_constraint, counters_of_each_machines_events)
{
	static const struct {
		const char *machine;
		u64 config;
		u8 precise;
		u64 counters;
	} facts[] = {
		{"nehalem", 0x100b, 2, 0xf},
		{"nehalem", 0x00c0, 2, 0xf},
		{"nehalem", 0x02cd, 2, 0},
		{"nehalem", 0x81d0, 2, 0},
		{"nehalem", 0x81d0, 0, 0xf},
		{"sandybridge", 0x01cd, 2, 0x8},
		{"sandybridge", 0x02cd, 2, 0x8},
		{"sandybridge", 0x01c0, 2, 0x2},
		{"sandybridge", 0x01c0, 0, 0x2},
		{"sandybridge", 0x00c0, 0, 0x10000000f},
		{"ivybridge", 0x02cd, 2, 0x8},
		{"ivybridge", 0x01c0, 3, 0x2},
		{"haswell", 0x82d0, 2, 0xf},
		{"skylake", 0x01cd, 3, 0xf},
		{"skylake", 0x82d0, 3, 0xf},
		{"skylake", 0x01c0, 3, 0x2},
		{"goldmont", 0x81d0, 2, 0x1},
		{"goldmont", 0x00c0, 3, 0x1},
		{"icelake", 0x01cd, 2, 0xff},
		{"icelake", 0x01cd, 3, 0xff},
		{"icelake", 0x82d0, 2, 0xf},
		{"icelake", 0x00c0, 2, 0x1000000ff},
		{"icelake", 0x00c0, 3, 0x100000000},
		{"icelake", 0x01c0, 2, 0x100000000},
		{"icelake", 0x0100, 3, 0x100000000},
		{"icelake", 0x0100, 0, 0x100000000},
		{"icelake", 0x0479, 0, 0xf}, /* a select below 90H */
		{"icelake", 0x412e, 0, 0xff},
		{"sapphirerapids", 0x01cd, 2, 0xfe},
		{"sapphirerapids", 0x01cd, 3, 0},
		{"sapphirerapids", 0x8203, 0, 0xf},
		{"sapphirerapids", 0x02cd, 2, 0x1},
		{"sapphirerapids", 0x02cd, 3, 0x1},
		{"sapphirerapids", 0x00c0, 2, 0xfe},
		{"sapphirerapids", 0x00c0, 3, 0x100000000},
		{"sapphirerapids", 0x00c0 | INV, 3, 0},
		{"sapphirerapids", 0x01c0, 2, 0xfe},
		{"sapphirerapids", 0x0100, 2, 0x100000000},
		{"sapphirerapids", 0x0100, 3, 0},
		{"alderlake", 0x01cd, 2, 0xfe},
		{"graniterapids", 0x01cd, 2, 0xfe},
		{"graniterapids", 0x02cd, 2, 0x1},
		{"graniterapids", 0x00c0, 3, 0x100000000},
		{"gracemont", 0x05d0, 2, 0x3},
		{"gracemont", 0x05d0, 3, 0x1},
		{"gracemont", 0x06d0, 2, 0x3f},
		{"gracemont", 0x06d0, 3, 0x1},
		{"gracemont", 0x00c0, 3, 0x100000001},
		{"gracemont", 0x0100, 0, 0x3f},
		{"sierraforest", 0x05d0, 3, 0x3},
		{"sierraforest", 0x06d0, 2, 0xff},
		{"sierraforest", 0x06d0, 3, 0x3},
		{"sierraforest", 0x00c0, 3, 0x100000003},
	};

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		u64 counters = counters_of(facts[i].machine, facts[i].config, facts[i].precise);

		cr_expect_eq(counters, facts[i].counters, "%s, %#llx with precise_ip %u: %#llx, not %#llx",
			     facts[i].machine, (unsigned long long)facts[i].config, facts[i].precise,
			     (unsigned long long)counters, (unsigned long long)facts[i].counters);
	}
}

/* Loads, stores and instructions side by side, where each has a counter of its own. */
Test(guest_constraint, who_fits_beside_whom)
{
	static const struct {
		const char *machine;
		struct demand demands[4];
		unsigned int n;
		bool fits;
	} cases[] = {
		{"sandybridge", {{.config = 0x1cd, .precise = 2}, {.config = 0x2cd, .precise = 2}}, 2, false},
		{"sandybridge", {{.config = 0x1cd, .precise = 2}, {.config = 0x1c0, .precise = 2}}, 2, true},
		{"skylake",
		 {{.config = 0x1cd, .precise = 2},
		  {.config = 0x82d0, .precise = 2},
		  {.config = 0x1c0, .precise = 3}},
		 3,
		 true},
		{"sapphirerapids",
		 {{.config = 0x8203},
		  {.config = 0x1cd, .precise = 2},
		  {.config = 0x2cd, .precise = 2},
		  {.config = 0xc0, .precise = 3}},
		 4,
		 true},
		{"sapphirerapids",
		 {{.config = 0x2cd, .precise = 2}, {.config = 0x82d0, .precise = 3}},
		 2,
		 false},
		{"gracemont", {{.config = 0x5d0, .precise = 3}, {.config = 0x6d0, .precise = 3}}, 2, false},
		{"sierraforest", {{.config = 0x5d0, .precise = 3}, {.config = 0x6d0, .precise = 3}}, 2, true},
		{"goldmont", {{.config = 0x81d0, .precise = 2}, {.config = 0xc0, .precise = 3}}, 2, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int counters[4] = {-1, -1, -1, -1};

		cr_expect_eq(constraint_schedule(machine_find(cases[i].machine), cases[i].demands, cases[i].n,
						 counters),
			     cases[i].fits, "%s, case %zu", cases[i].machine, i);
	}
}

/* One that has a counter moves where that makes room, and stays where it does not. */
Test(guest_constraint, who_is_there_makes_room)
{
	const struct machine *sapphire_rapids = machine_find("sapphirerapids");
	const struct demand demands[] = {{.config = 0x81d0}, {.config = 0x2cd, .precise = 2}};
	int counters[] = {0, -1};

	cr_assert(constraint_schedule(sapphire_rapids, demands, 2, counters));
	cr_expect_eq(counters[1], 0);
	cr_expect_neq(counters[0], 0);
}

Test(guest_constraint, one_extra_register_has_one_value)
{
	const struct machine *skylake = machine_find("skylake");
	struct demand demands[] = {
		{.config = 0x1cd, .precise = 2, .extra_register = MSR_PEBS_LD_LAT, .extra_value = 30},
		{.config = 0x1cd, .precise = 2, .extra_register = MSR_PEBS_LD_LAT, .extra_value = 60},
	};
	int counters[] = {-1, -1};

	cr_expect_not(constraint_schedule(skylake, demands, 2, counters));
	cr_expect_eq(counters[0], -1, "left as it was");
	demands[1].extra_value = 30;
	cr_expect(constraint_schedule(skylake, demands, 2, counters));
}
