// SPDX-License-Identifier: GPL-2.0
/* The sysfs trees of real machines, in the folder sysfs/ of $CORPUS: each gives its events or its refusal. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/perf/pmu.h"

static const struct pmu_wish wish = {.ldlat = 64, .period = 10007, .roles = 1U << EVENT_LOADS};

static const char *corpus(void)
{
	const char *folder = getenv("CORPUS");

	if (!folder)
		cr_skip_test("CORPUS does not say where the recordings are: make test-corpus CORPUS=DIR");
	return folder;
}

static void plan_tree(const char *folder, const char *tree, struct pmu_plan *ret)
{
	char path[PATH_MAX];

	cr_assert_lt(snprintf(path, sizeof(path), "%s/sysfs/%s", folder, tree), PATH_MAX);
	cr_assert_eq(pmu_plan(path, &wish, ret), 0, "%s", tree);
}

Test(sysfs_corpus, each_tree_is_planned_or_refused_with_reasons)
{
	const char *folder = corpus();
	char path[PATH_MAX];
	struct dirent *entry;
	size_t n = 0;
	DIR *directory;

	cr_assert_lt(snprintf(path, sizeof(path), "%s/sysfs", folder), PATH_MAX);
	directory = opendir(path);
	cr_assert_not_null(directory, "cannot open %s", path);
	while ((entry = readdir(directory))) {
		_cleanup_(pmu_plan_done) struct pmu_plan plan = {0};

		if (entry->d_name[0] == '.')
			continue;
		plan_tree(folder, entry->d_name, &plan);
		cr_expect_gt(plan.n_openings + plan.n_refusals, 0, "%s: no word on it", entry->d_name);
		cr_expect_gt(plan.n_notes, 0, "%s", entry->d_name);
		for (size_t i = 0; i < plan.n_refusals; i++)
			cr_expect_gt(strlen(plan.refusals[i].reason), 30, "%s", entry->d_name);
		n++;
	}
	(void)closedir(directory);
	cr_expect_gt(n, 20);
}

Test(sysfs_corpus, machines_with_load_latency)
{
	static const struct {
		const char *tree;
		bool has_leader;
		enum latency_kind kind;
	} cases[] = {
		{"derived-skl-skx-clx", false, LATENCY_USE},
		{"derived-spr-emr", true, LATENCY_CACHE},
	};
	const char *folder = corpus();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(pmu_plan_done) struct pmu_plan plan = {0};
		const struct pmu_opening *opening = &plan.openings[0];

		plan_tree(folder, cases[i].tree, &plan);
		cr_assert_eq(plan.n_openings, 1, "%s", cases[i].tree);
		cr_expect_eq(plan.n_refusals, 0, "%s", cases[i].tree);
		cr_expect_str_eq(opening->event.pmu, "cpu");
		cr_expect_eq(opening->type, 4);
		cr_expect_eq(opening->config, 0x1cd);
		cr_expect_eq(opening->config1, 64); /* not 67 */
		cr_expect_eq(opening->precise_ip, 2);
		cr_expect_eq(opening->has_leader, cases[i].has_leader, "%s", cases[i].tree);
		cr_expect_eq(opening->leader_config, cases[i].has_leader ? 0x8203 : 0);
		cr_expect_eq(opening->event.latency_kind, cases[i].kind, "%s", cases[i].tree);
	}
}

#define NO_EVENTS  "events/ of this PMU is not in the tree" /* perf.data headers do not hold them */
#define NO_CORE    "there is no core PMU"
#define HYBRID     "hybrid"
#define NO_SOURCE  "neither latency nor source"
#define NO_PEBS    "has no PEBS"
#define AMD_LATER  "instruction based sampling comes with a later version"
#define NEVER_RUNS "a BPF program attached to it never runs"

Test(sysfs_corpus, machines_that_are_refused)
{
	static const struct {
		const char *tree, *pmu, *words;
	} cases[] = {
		{"amd-genoa-es-k4.15", "cpu", NO_SOURCE},
		{"amd-genoa-es-k4.15", "ibs_op", AMD_LATER},
		{"arl-ultra9-285k-k6.15-hybrid", "cpu_atom", HYBRID},
		{"arl-ultra9-285k-k6.15-hybrid", "cpu_core", HYBRID},
		{"arm-armv8_pmuv3_0", "armv8_pmuv3_0", NO_SOURCE},
		{"arm-cs_etm-armv8_pmuv3", "armv8_pmuv3", NO_SOURCE},
		{"bdx-e5-2683v4", "cpu", NO_EVENTS},
		{"cfl-i7-8700", "cpu", NO_EVENTS},
		{"cml-i7-10700k-k5.15", "cpu", NO_EVENTS},
		{"derived-adl-rpl-hybrid", "cpu_atom", HYBRID},
		{"derived-adl-rpl-hybrid", "cpu_core", HYBRID},
		{"derived-amd-zen4", "cpu", NO_SOURCE},
		{"derived-amd-zen4", "ibs_op", AMD_LATER},
		{"derived-arm-spe", "arm_spe_0", NEVER_RUNS},
		{"hsw-celeron-2955u-k4.14", "cpu", NO_EVENTS},
		{"ivb-ep-e5-4610v2-k4.4", "cpu", NO_EVENTS},
		{"ivb-i7-3770", "cpu", NO_EVENTS},
		{"rpl-u-i7-1365u-hybrid-k5.15", "cpu_atom", HYBRID},
		{"rpl-u-i7-1365u-hybrid-k5.15", "cpu_core", HYBRID},
		{"skl-class-laptop-namhyung-2025", "cpu", NO_EVENTS},
		{"skl-i7-6700k", "cpu", NO_EVENTS},
		{"skl-m7-6y75-k4.14", "cpu", NO_EVENTS},
		{"skx-6126", "cpu", NO_EVENTS},
		{"skx-6154", "cpu", NO_EVENTS},
		{"skx-8173m-google-k4.15", "cpu", NO_EVENTS},
		{"skx-w2135-k6.10", "cpu", NO_EVENTS},
		{"vm-aws-8124m-nopmu", "cpu", NO_CORE},
		{"vm-gce-2.20ghz-k4.4-nopmu", "cpu", NO_CORE},
		{"vm-gce-2.30ghz-nopmu", "cpu", NO_CORE},
		{"vm-intel-skl-class-rtoax-2021", "cpu", NO_PEBS},
		{"vm-qemu-nopmu", "cpu", NO_CORE},
	};
	const char *folder = corpus();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(pmu_plan_done) struct pmu_plan plan = {0};
		const char *reason = NULL;

		plan_tree(folder, cases[i].tree, &plan);
		cr_expect_eq(plan.n_openings, 0, "%s", cases[i].tree);
		for (size_t k = 0; k < plan.n_refusals; k++)
			if (strcmp(plan.refusals[k].pmu, cases[i].pmu) == 0)
				reason = plan.refusals[k].reason;
		cr_assert_not_null(reason, "%s: nothing said of %s", cases[i].tree, cases[i].pmu);
		cr_expect_not_null(strstr(reason, cases[i].words), "%s, %s: %s", cases[i].tree, cases[i].pmu,
				   reason);
	}
}
