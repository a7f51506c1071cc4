// SPDX-License-Identifier: GPL-2.0
/*
 * The sysfs trees of real machines, in the folder sysfs/ of $CORPUS. The table states for each tree and PMU
 * which events are opened, and which are refused and why. Trees that are not in the table are planned, too.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/logging.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu.h"

static const struct pmu_request request = {.ldlat = 64, .roles = (1U << EVENT_ROLES) - 1};

/* The event of a role, or words of its refusal. All zero: the PMU is not expected to have the role. */
struct cell {
	u64 config; /* 0: not opened */
	u64 config1;
	u8 precise_ip;
	const char *words;
};

#define OPENS(config, config1, precise_ip)              \
	{                                               \
		(config), (config1), (precise_ip), NULL \
	}
#define REFUSED(words)           \
	{                        \
		0, 0, 0, (words) \
	}

/* Most of these trees come from perf.data headers, which do not contain events/. */
#define NO_EVENTS "the sysfs tree lacks the directory events/ of this PMU"
#define NO_CORE   "there is no core PMU"
#define NO_PEBS   "a virtual machine whose virtual PMU has no PEBS"
#define NO_NAME   "the CPU generation is unknown (caps/pmu_name is missing)"
#define NOT_HERE              \
	{                     \
		0, 0, 0, NULL \
	}
#define COUNTS(stalls_config)                                                      \
	{                                                                          \
		OPENS(0x3c, 0, 0), OPENS(stalls_config, 0, 0), OPENS(0x412e, 0, 0) \
	}
#define EACH(words)                                                      \
	{REFUSED(words), REFUSED(words), REFUSED(words)}, 0, 0, (words), \
	{                                                                \
		REFUSED(words), REFUSED(words), REFUSED(words)           \
	}
#define EACH_OF_IBS(words)                                         \
	{REFUSED(words), REFUSED(words), NOT_HERE}, 0, 0, (words), \
	{                                                          \
		NOT_HERE                                           \
	}

static const struct row {
	const char *tree, *pmu;
	struct cell cells[EVENT_OFFCORE]; /* loads, stores, instructions */
	size_t n_counters;                /* for off-core responses */
	u16 counter_event;
	const char *counter_words;                      /* words in the reason why the counters are refused */
	struct cell counts[EVENT_ROLES - EVENT_CYCLES]; /* cycles, stalls, misses */
} rows[] = {
	{"amd-genoa-es-k4.15",
	 "cpu",
	 {REFUSED("the PMU ibs_op does"), REFUSED("the PMU ibs_op does"), REFUSED(NO_EVENTS)},
	 0,
	 0,
	 "AMD's cores cannot count off-core responses",
	 {REFUSED(NO_EVENTS), REFUSED(NO_EVENTS), REFUSED(NO_EVENTS)}},
	{"amd-genoa-es-k4.15", "ibs_op",
	 EACH_OF_IBS("the sysfs tree lacks the directory format/ of this PMU")},
	{"arl-ultra9-285k-k6.15-hybrid", "cpu_atom", EACH(NO_EVENTS)},
	{"arl-ultra9-285k-k6.15-hybrid", "cpu_core", EACH(NO_EVENTS)},
	{"arm-armv8_pmuv3_0", "armv8_pmuv3_0", EACH("look at recordings of other machines")},
	{"arm-cs_etm-armv8_pmuv3", "armv8_pmuv3", EACH("look at recordings of other machines")},
	{"bdx-e5-2683v4", "cpu", EACH(NO_EVENTS)},
	{"cfl-i7-8700", "cpu", EACH(NO_EVENTS)},
	{"cml-i7-10700k-k5.15", "cpu", EACH(NO_EVENTS)},
	{"derived-adl-rpl-hybrid",
	 "cpu_atom",
	 {OPENS(0x5d0, 64, 2), OPENS(0x6d0, 0, 2), OPENS(0xc0, 0, 3)},
	 3,
	 0x1b7,
	 NULL,
	 COUNTS(0x734)},
	{"derived-adl-rpl-hybrid",
	 "cpu_core",
	 {OPENS(0x1cd, 64, 2), OPENS(0x2cd, 0, 2), OPENS(0xc0, 0, 3)},
	 3,
	 0x12a,
	 NULL,
	 COUNTS(0x50021a6)},
	{"derived-amd-zen4",
	 "cpu",
	 {REFUSED("the PMU ibs_op does"), REFUSED("the PMU ibs_op does"), REFUSED(NO_EVENTS)},
	 0,
	 0,
	 "AMD's cores cannot count off-core responses",
	 {REFUSED(NO_EVENTS), REFUSED(NO_EVENTS), REFUSED(NO_EVENTS)}},
	{"derived-amd-zen4",
	 "ibs_op",
	 {OPENS(0x80000, 0, 0), REFUSED("leave `loads` out of `events`"), NOT_HERE},
	 0,
	 0,
	 "AMD's cores cannot count off-core responses",
	 {NOT_HERE}},
	{"derived-arm-spe", "arm_spe_0", EACH("a BPF program attached to it never runs")},
	{"derived-skl-skx-clx",
	 "cpu",
	 {OPENS(0x1cd, 64, 2), OPENS(0x82d0, 0, 2), OPENS(0x1c0, 0, 3)},
	 3,
	 0x1b7,
	 NULL,
	 COUNTS(0x140014a3)},
	{"derived-spr-emr",
	 "cpu",
	 {OPENS(0x1cd, 64, 2), OPENS(0x2cd, 0, 2), OPENS(0xc0, 0, 3)},
	 3,
	 0x12a,
	 NULL,
	 COUNTS(0x50021a6)},
	{"hsw-celeron-2955u-k4.14", "cpu", EACH(NO_EVENTS)},
	{"ivb-ep-e5-4610v2-k4.4", "cpu", EACH(NO_EVENTS)},
	{"ivb-i7-3770", "cpu", EACH(NO_EVENTS)},
	{"rpl-u-i7-1365u-hybrid-k5.15", "cpu_atom", EACH(NO_EVENTS)},
	{"rpl-u-i7-1365u-hybrid-k5.15", "cpu_core", EACH(NO_EVENTS)},
	{"skl-class-laptop-namhyung-2025", "cpu", EACH(NO_EVENTS)},
	{"skl-i7-6700k", "cpu", EACH(NO_EVENTS)},
	{"skl-m7-6y75-k4.14", "cpu", EACH(NO_EVENTS)},
	{"skx-6126", "cpu", EACH(NO_EVENTS)},
	{"skx-6154", "cpu", EACH(NO_EVENTS)},
	{"skx-8173m-google-k4.15", "cpu", EACH(NO_EVENTS)},
	{"skx-w2135-k6.10", "cpu", EACH(NO_EVENTS)},
	{"vm-aws-8124m-nopmu", "cpu", EACH(NO_CORE)},
	{"vm-gce-2.20ghz-k4.4-nopmu", "cpu", EACH(NO_CORE)},
	{"vm-gce-2.30ghz-nopmu", "cpu", EACH(NO_CORE)},
	{"vm-intel-skl-class-rtoax-2021",
	 "cpu",
	 {REFUSED(NO_PEBS), REFUSED(NO_PEBS), OPENS(0xc0, 0, 0)},
	 0,
	 0,
	 "does not know the values of MSR_OFFCORE_RSP for a core without caps/pmu_name",
	 {OPENS(0x3c, 0, 0), REFUSED(NO_NAME), OPENS(0x412e, 0, 0)}},
	{"vm-qemu-nopmu", "cpu", EACH(NO_CORE)},
};

/* PMUs whose load event needs the auxiliary event as leader. */
static const struct {
	const char *tree, *pmu;
} led[] = {{"derived-adl-rpl-hybrid", "cpu_core"}, {"derived-spr-emr", "cpu"}};

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
	cr_assert_eq(pmu_plan(path, &request, ret), 0, "%s", tree);
}

static const struct event_spec *find_spec(const struct pmu_plan *plan, const char *pmu, enum event_role role)
{
	for (size_t i = 0; i < plan->n_specs; i++)
		if (plan->specs[i].event.role == role && strcmp(plan->specs[i].event.pmu, pmu) == 0)
			return &plan->specs[i];
	return NULL;
}

static void expect_refused(const struct pmu_plan *plan, const struct row *row, enum event_role role,
			   const char *words)
{
	const char *reason = NULL;

	for (size_t i = 0; i < plan->n_refusals; i++)
		if (plan->refusals[i].role == role && strcmp(plan->refusals[i].pmu, row->pmu) == 0)
			reason = plan->refusals[i].reason;
	cr_assert_not_null(reason, "%s: nothing said of %s on %s", row->tree, event_role_name(role),
			   row->pmu);
	cr_expect_not_null(strstr(reason, words), "%s, %s on %s: %s", row->tree, event_role_name(role),
			   row->pmu, reason);
}

static bool is_led(const struct row *row)
{
	for (size_t i = 0; i < ARRAY_SIZE(led); i++)
		if (strcmp(led[i].tree, row->tree) == 0 && strcmp(led[i].pmu, row->pmu) == 0)
			return true;
	return false;
}

static void expect_role(const struct pmu_plan *plan, const struct row *row, enum event_role role)
{
	const struct cell *cell =
		role < EVENT_OFFCORE ? &row->cells[role] : &row->counts[role - EVENT_CYCLES];
	const struct event_spec *spec = find_spec(plan, row->pmu, role);
	const char *name = event_role_name(role);
	bool leads = role == EVENT_LOADS && is_led(row);

	if (cell->words) {
		cr_expect_null(spec, "%s: %s on %s", row->tree, name, row->pmu);
		expect_refused(plan, row, role, cell->words);
		return;
	}
	if (!cell->config) {
		cr_expect_null(spec, "%s: %s on %s", row->tree, name, row->pmu);
		return;
	}
	cr_assert_not_null(spec, "%s: %s on %s", row->tree, name, row->pmu);
	cr_expect_eq(spec->config, cell->config, "%s: %s on %s", row->tree, name, row->pmu);
	cr_expect_eq(spec->config1, cell->config1, "%s: %s on %s", row->tree, name, row->pmu);
	cr_expect_eq(spec->precise_ip, cell->precise_ip, "%s: %s on %s", row->tree, name, row->pmu);
	cr_expect_eq(spec->has_leader, leads, "%s: %s on %s", row->tree, name, row->pmu);
	cr_expect_eq(spec->leader_config, leads ? 0x8203 : 0, "%s: %s on %s", row->tree, name, row->pmu);
}

static void expect_counters(const struct pmu_plan *plan, const struct row *row)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n_counters; i++) {
		if (strcmp(plan->counters[i].pmu, row->pmu) != 0)
			continue;
		cr_expect_eq(plan->counters[i].config, row->counter_event, "%s", row->tree);
		cr_expect_neq(plan->counters[i].config1, 0, "%s", row->tree);
		n++;
	}
	cr_expect_eq(n, row->n_counters, "%s on %s: %zu", row->tree, row->pmu, n);
	if (row->counter_words)
		expect_refused(plan, row, EVENT_OFFCORE, row->counter_words);
}

Test(sysfs_corpus, each_tree_opens_and_refuses_as_the_table_states)
{
	const char *folder = corpus();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(pmu_plan_done) struct pmu_plan plan = {0};
		const struct row *row = &rows[i];

		plan_tree(folder, row->tree, &plan);
		for (enum event_role role = 0; role < EVENT_ROLES; role++)
			if (role != EVENT_OFFCORE)
				expect_role(&plan, row, role);
		expect_counters(&plan, row);
	}
}

static bool has_row(const char *tree, const char *pmu)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].tree, tree) == 0 && (!pmu || strcmp(rows[i].pmu, pmu) == 0))
			return true;
	return false;
}

/*
 * Expects a reason for each refusal. If the table contains the tree, it must have a row for each PMU of the
 * tree. Otherwise the tree is logged.
 */
static void expect_whole(const char *tree, const struct pmu_plan *plan)
{
	cr_expect_gt(plan->n_specs + plan->n_refusals, 0, "%s: no word on it", tree);
	cr_expect_gt(plan->n_notes, 0, "%s", tree);
	for (size_t i = 0; i < plan->n_refusals; i++)
		cr_expect_gt(strlen(plan->refusals[i].reason), 30, "%s", tree);
	if (!has_row(tree, NULL)) {
		cr_log_warn("%s: not in the table; %zu events, %zu counters, %zu refusals", tree,
			    plan->n_specs, plan->n_counters, plan->n_refusals);
		return;
	}
	for (size_t i = 0; i < plan->n_specs; i++)
		cr_expect(has_row(tree, plan->specs[i].event.pmu), "%s: %s", tree, plan->specs[i].event.pmu);
	for (size_t i = 0; i < plan->n_refusals; i++)
		cr_expect(has_row(tree, plan->refusals[i].pmu), "%s: %s", tree, plan->refusals[i].pmu);
}

Test(sysfs_corpus, the_table_has_each_tree_of_the_folder)
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
		expect_whole(entry->d_name, &plan);
		n++;
	}
	(void)closedir(directory);
	cr_expect_gt(n, 20);
}
