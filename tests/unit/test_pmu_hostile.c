// SPDX-License-Identifier: GPL-2.0
/*
 * Trees that no kernel makes. Whatever their files contain, the plan keeps within its bounds, and all of its
 * texts can be printed.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "machine_fixture.h"
#include "tree.h"

TestSuite(pmu_hostile, .init = machine_fixture_start, .fini = machine_fixture_stop);

static const char *const pmus[] = {"cpu",      "cpu_core",    "cpu_atom",  "cpu_lowpower",
				   "cpu_x",    "ibs_op",      "arm_spe_0", "armv8_pmuv3_0",
				   "software", "cpu_\033[2J", "uncore_imc"};
static const char *const files[] = {"type",
				    "cpus",
				    "cpumask",
				    "format/event",
				    "format/umask",
				    "format/ldlat",
				    "format/pc",
				    "format/cmask",
				    "format/offcore_rsp",
				    "format/cccr",
				    "format/cnt_ctl",
				    "events/mem-loads",
				    "events/mem-stores",
				    "events/mem-loads-aux",
				    "events/instructions",
				    "caps/pmu_name",
				    "caps/max_precise",
				    "caps/ldlat"};
static const char *const texts[] = {
	"4",
	"",
	"\n",
	"0",
	"3\n",
	"-1\n",
	"4294967296\n",
	"18446744073709551616\n",
	"config:0-7\n",
	"config1:0-15\n",
	"config1:0-63\n",
	"config2:0-63\n",
	"config3:0-63\n",
	"config:63-0\n",
	"config:0-7,32-35\n",
	"config9:0\n",
	"event=0xcd,umask=0x1,ldlat=3\n",
	"event=0xcd,umask=0x2\n",
	"event=0xffffffffffffffff\n",
	"event=0x03,umask=0x82\n",
	"../../../../etc/passwd=1\n",
	"event=0xcd;umask=1\n",
	"ldlat\n",
	"=,=,=\n",
	"skylake\n",
	"sandybridge\n",
	"broadwell\n",
	"alderlake_hybrid\n",
	"goldmont\n",
	"generic_arch_v5+\n",
	"sky\033[2Jlake\n",
	"0-3\n",
	"0-8191\n",
	"0-99999999\n",
	"7-1\n",
	"%s%s%n%n\n",
};

/* The C library's generator could give other trees on another machine. */
static unsigned random_below(u64 *state, size_t bound)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)((*state >> 33) % bound);
}

static void write_random(u64 *state)
{
	const char *pmu = pmus[random_below(state, ARRAY_SIZE(pmus))];
	const char *file = files[random_below(state, ARRAY_SIZE(files))];
	char noise[64];

	if (random_below(state, 4) > 0) {
		tree_pmu(root, pmu, file, texts[random_below(state, ARRAY_SIZE(texts))]);
		return;
	}
	for (size_t i = 0; i < sizeof(noise) - 1; i++)
		noise[i] = (char)(1 + random_below(state, 255));
	noise[sizeof(noise) - 1] = '\0';
	tree_pmu(root, pmu, file, noise);
}

static void expect_printable(const char *text)
{
	cr_assert_not_null(text);
	for (; *text; text++)
		cr_expect(isprint((unsigned char)*text), "0x%02x", (unsigned char)*text);
}

static void expect_sane(unsigned roles)
{
	cr_expect_leq(plan.n_specs, EVENTS_MAX);
	cr_expect_leq(plan.n_counters, PMU_COUNTERS_MAX);
	for (size_t i = 0; i < plan.n_specs; i++) {
		const struct event_spec *spec = &plan.specs[i];

		cr_expect(roles & 1U << spec->event.role);
		cr_expect_leq(spec->precise_ip, 3);
		cr_expect_geq(spec->event.period, spec->period_min);
		cr_expect_eq(spec->event.period % spec->period_step, 0);
		expect_printable(spec->event.pmu);
	}
	for (size_t i = 0; i < plan.n_refusals; i++) {
		expect_printable(plan.refusals[i].pmu);
		expect_printable(plan.refusals[i].reason);
	}
	for (size_t i = 0; i < plan.n_notes; i++)
		expect_printable(plan.notes[i]);
}

Test(pmu_hostile, random_trees_are_planned_or_refused)
{
	u64 state = 4;

	for (int tree = 0; tree < 100; tree++) {
		const struct pmu_request request = {
			.ldlat = 3 + random_below(&state, 65533),
			.roles = random_below(&state, 1U << EVENT_ROLES),
			.periods.accesses = random_below(&state, 3) ? random_below(&state, 20000) : 0};

		tree_remove(root);
		root = tree_new();
		if (tree % 2 == 0) /* half of the trees begin as a valid machine */
			machine_tree(root, &(const struct machine_core){.name = "skylake",
									.loads = LOADS_CORE,
									.stores = STORES_ALL});
		for (unsigned n = random_below(&state, 40); n > 0; n--)
			write_random(&state);
		pmu_plan_done(&plan);
		cr_assert_eq(pmu_plan(root, &request, &plan), 0);
		expect_sane(request.roles);
	}
}

/* More core PMUs than any machine has had. The events that do not fit are refused by name. */
Test(pmu_hostile, pmus_beyond_the_maximum_are_refused)
{
	size_t refused = 0;

	for (int i = 0; i < 20; i++) {
		char pmu[32];
		const struct machine_core core = {
			.pmu = pmu, .name = "alderlake_hybrid", .loads = LOADS_CORE, .stores = STORES_CD};

		(void)snprintf(pmu, sizeof(pmu), "cpu_%d", i);
		machine_tree(root, &core);
	}
	machine_plan(root, ROLE(LOADS) | ROLE(STORES) | ROLE(INSTRUCTIONS), &plan);
	cr_expect_eq(plan.n_specs, EVENTS_MAX);
	for (size_t i = 0; i < plan.n_refusals; i++)
		refused += strstr(plan.refusals[i].reason, "at most 12 events") != NULL;
	cr_expect_eq(refused, 20 * 3 - EVENTS_MAX);
	expect_sane(ALL_ROLES);
}

/* Directories instead of files, and files instead of directories. */
Test(pmu_hostile, changed_files_and_folders_are_harmless)
{
	tree_pmu(root, "cpu", "type/x", "4\n");
	tree_pmu(root, "cpu", "events/mem-loads/x", "event=1\n");
	tree_pmu(root, "cpu", "format", "event\n");
	machine_plan(root, ALL_ROLES, &plan);
	cr_expect_eq(plan.n_specs, 0);
	cr_expect_gt(plan.n_refusals, 0);
	expect_sane(ALL_ROLES);
}
