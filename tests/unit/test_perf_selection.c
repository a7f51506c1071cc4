// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/pmu/perf_selection.h"
#include "tree.h"

static char *root;

static void begin(void)
{
	root = tree_new();
}

static void end(void)
{
	tree_remove(root);
}

TestSuite(perf_selection, .init = begin, .fini = end);

static struct cpu_list list(const char *text)
{
	struct cpu_list cpus;

	cr_assert_eq(cpu_list_parse(text, &cpus), 0);
	return cpus;
}

static void expect_list(const struct cpu_list *cpus, const char *expected)
{
	_cleanup_free_ char *text = cpu_list_format(cpus);

	cr_expect_str_eq(text, expected);
}

static struct perf_selection selected(const char *named, const char *isolated)
{
	return (struct perf_selection){.named = list(named), .isolated = list(isolated)};
}

Test(perf_selection, isolated_cpus_are_those_of_both_files)
{
	struct cpu_list cpus = perf_selection_isolated(root);

	expect_list(&cpus, "");
	tree_write(root, "devices/system/cpu/isolated", "\n");
	tree_write(root, "devices/system/cpu/nohz_full", "(null)\n");
	cpus = perf_selection_isolated(root);
	expect_list(&cpus, "");
	tree_write(root, "devices/system/cpu/isolated", "2-3\n");
	cpus = perf_selection_isolated(root);
	expect_list(&cpus, "2-3");
	tree_write(root, "devices/system/cpu/nohz_full", "3-5\n");
	cpus = perf_selection_isolated(root);
	expect_list(&cpus, "2-5");
}

Test(perf_selection, selecting_all_cpus_changes_nothing)
{
	const struct perf_selection all = {0};
	struct event_spec spec = {.cpus = list("0-7"), .cpus_known = true};

	perf_selection_apply(&all, &spec);
	cr_expect_not(spec.has_members, "CPUs that come later are sampled, too");
	expect_list(&spec.cpus, "0-7");
}

Test(perf_selection, named_cpus_without_isolated_ones_are_selected)
{
	const struct perf_selection selection = selected("0-3,9", "1");
	struct event_spec any = {.cpus = list("0-7"), .cpus_known = true};
	struct event_spec atoms = {.has_members = true, .members = list("3-9"), .cpus = list("3-7")};
	const struct perf_selection quiet = selected("", "0,8191");

	perf_selection_apply(&selection, &any);
	cr_expect(any.has_members);
	expect_list(&any.members, "0,2-3,9");
	expect_list(&any.cpus, "0,2-3");
	perf_selection_apply(&selection, &atoms);
	expect_list(&atoms.members, "3,9");
	expect_list(&atoms.cpus, "3");

	any = (struct event_spec){0};
	perf_selection_apply(&quiet, &any);
	cr_expect(any.has_members);
	expect_list(&any.members, "1-8190");
}

Test(perf_selection, the_selection_holds_for_cpus_that_the_pmu_lists_later)
{
	const struct perf_selection selection = selected("2-6", "4");
	struct event_spec spec = {.has_members = true, .members = list("2,7")};

	cr_assert_lt(snprintf(spec.members_source.path, PMU_MEMBERS_PATH_MAX, "%s/cpus", root),
		     PMU_MEMBERS_PATH_MAX);
	perf_selection_apply(&selection, &spec);
	expect_list(&spec.members, "2");
	perf_selection_update_members(&spec.members_source, &spec.members);
	expect_list(&spec.members, "2");
	/* CPU 2 is offline now: an event may still have counts of it. */
	tree_write(root, "cpus", "3-8\n");
	perf_selection_update_members(&spec.members_source, &spec.members);
	expect_list(&spec.members, "2-3,5-6");
}

Test(perf_selection, without_a_selection_all_cpus_that_the_pmu_lists_are_members)
{
	struct event_spec spec = {.has_members = true, .members = list("2")};

	cr_assert_lt(snprintf(spec.members_source.path, PMU_MEMBERS_PATH_MAX, "%s/cpus", root),
		     PMU_MEMBERS_PATH_MAX);
	tree_write(root, "cpus", "2-3,8191\n");
	perf_selection_apply(&(struct perf_selection){0}, &spec);
	perf_selection_update_members(&spec.members_source, &spec.members);
	expect_list(&spec.members, "2-3,8191");
}

static void expect_refused(const struct perf_selection *selection, const char *online, const char *expected)
{
	const struct cpu_list cpus = list(online);
	_cleanup_free_ char *message = NULL;

	cr_expect_eq(perf_selection_check(selection, &cpus, &message), -ENODEV);
	cr_expect_str_eq(message, expected);
}

Test(perf_selection, a_selection_without_an_online_cpu_is_refused)
{
	const struct perf_selection some = selected("2-5", "2"), away = selected("64-71", ""),
				    quiet = selected("", "0-3"), both = selected("1,9", "1");
	const struct cpu_list online = list("0-3");
	char *message;

	cr_expect_eq(perf_selection_check(&some, &online, &message), 0);
	cr_expect_null(message);
	expect_refused(
		&away, "0-3",
		"cpus = 64-71 in [sampling]: none of these CPUs is online; the online CPUs are 0-3; name some of them, or set cpus = all");
	expect_refused(
		&quiet, "0-3",
		"isolated = no in [sampling]: every online CPU is isolated (isolcpus, nohz_full), so no CPU is left to sample; set isolated = yes");
	expect_refused(
		&both, "0-3",
		"isolated = no in [sampling]: every online CPU of cpus = 1,9 is isolated (isolcpus, nohz_full), so no CPU is left to sample; set isolated = yes, or name other CPUs in cpus");
}

static void expect_note(const char *named, const char *isolated, const char *expected)
{
	const struct perf_selection selection = selected(named, isolated);
	_cleanup_free_ char *note = perf_selection_note(&selection);

	cr_expect_str_eq(note, expected);
}

Test(perf_selection, unsampled_cpus_are_noted)
{
	const struct perf_selection all = {0};

	cr_expect_null(perf_selection_note(&all));
	expect_note(
		"0-3", "",
		"pebsd samples only CPUs 0-3 (cpus in [sampling]): nothing that runs on other CPUs is counted");
	expect_note(
		"", "2-3",
		"isolated CPUs are not sampled (isolated = no in [sampling]): nothing that runs on CPUs 2-3 is counted");
	expect_note(
		"", "2",
		"isolated CPUs are not sampled (isolated = no in [sampling]): nothing that runs on CPU 2 is counted");
	expect_note(
		"0-3", "2",
		"pebsd samples only CPUs 0-3 (cpus in [sampling]), except the isolated CPU 2 (isolated = no): nothing that runs on other CPUs is counted");
}
