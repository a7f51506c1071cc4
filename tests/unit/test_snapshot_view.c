// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "example_snapshot.h"
#include "snapshot/snapshot_figures.h"
#include "snapshot/snapshot_view.h"

/* Five paths of a tree, and one name that is not a path, with 1, 2, 4, 8, 16 and 32 samples of one event. */
static const struct snapshot *tree(void)
{
	static const char *const paths[] = {"/",
					    "/system.slice/a.service",
					    "/system.slice/b.service",
					    "/system.slice/b.service/inner",
					    "/user.slice/x",
					    "comm:a/b"};
	static struct snapshot_cgroup cgroups[ARRAY_SIZE(paths)];
	static struct figures figures[ARRAY_SIZE(paths)];
	struct snapshot *snapshot = example_perf();

	memset(figures, 0, sizeof(figures));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		example_add(&figures[i], 1U << i, SOURCE_L3, 100, 1009, SNOOP_NONE, TLB_L1_HIT);
		cgroups[i] = (struct snapshot_cgroup){
			.path = paths[i], .id = 100 + i, .alive = i != 2, .figures = {[0] = &figures[i]}};
	}
	snapshot->cgroups = cgroups;
	snapshot->n_cgroups = ARRAY_SIZE(paths);
	return snapshot;
}

static struct snapshot_view *view_of(const struct snapshot *snapshot, const struct view_request *request)
{
	struct snapshot_view *view;

	cr_assert_eq(snapshot_view_new(snapshot, request, &view), 0);
	return view;
}

static void expect_row(const struct snapshot_view *view, size_t row, const char *path, u64 samples,
		       size_t members)
{
	const struct snapshot *snapshot = snapshot_view_of(view);

	cr_assert_lt(row, snapshot->n_cgroups);
	cr_expect_str_eq(snapshot->cgroups[row].path, path);
	cr_expect_eq(example_samples(snapshot, &snapshot->cgroups[row], 0), samples, "%s", path);
	cr_expect_eq(snapshot->cgroups[row].n_members, members, "%s", path);
}

Test(snapshot_view, sums_of_subtrees)
{
	struct snapshot_view *view = view_of(tree(), &(struct view_request){.sums = true, .depth = 2});
	const struct snapshot *snapshot = snapshot_view_of(view);

	cr_expect_eq(snapshot->n_cgroups, 7);
	expect_row(view, 0, "comm:a/b", 32, 0);
	expect_row(view, 1, "/", 31, 5);
	expect_row(view, 2, "/user.slice", 16, 1);
	expect_row(view, 3, "/user.slice/x", 16, 0);
	expect_row(view, 4, "/system.slice", 14, 3);
	expect_row(view, 5, "/system.slice/b.service", 12, 2);
	expect_row(view, 6, "/system.slice/a.service", 2, 0);
	cr_expect_eq(snapshot->cgroups[1].id, 100, "its own id");
	cr_expect_eq(snapshot->cgroups[2].id, 0, "not sampled itself: its id is not known");
	snapshot_view_free(view);
}

/* A path that only begins with the characters of a sum's path is not part of that sum. */
Test(snapshot_view, sums_count_their_cgroups_without_a_slot)
{
	static char *paths[] = {(char *)"/system.slice",
				(char *)"/system.slice-x",
				(char *)"/system.slice/b.service/inner/y",
				(char *)"/system.slice/c",
				(char *)"/system.slice0",
				(char *)"/user.slice.x"};
	static const struct no_slot no_slot = {.paths = paths, .n = ARRAY_SIZE(paths)};
	static const u64 expected[] = {0, 6, 0, 0, 3, 1, 0};
	struct snapshot without = *tree();
	struct snapshot_view *view, *cgroups;

	without.no_slot = &no_slot;
	view = view_of(&without, &(struct view_request){.sums = true, .depth = 2});
	cgroups = view_of(&without, &(struct view_request){.filter = "slice"});
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		cr_expect_eq(snapshot_view_of(view)->cgroups[i].without_slot, expected[i], "%s",
			     snapshot_view_of(view)->cgroups[i].path);
	cr_expect_eq(snapshot_view_of(cgroups)->cgroups[0].without_slot, 0, "it is not a sum");
	snapshot_view_free(view);
	snapshot_view_free(cgroups);
}

Test(snapshot_view, the_root_alone)
{
	struct snapshot_view *view = view_of(tree(), &(struct view_request){.sums = true, .depth = 0});

	cr_expect_eq(snapshot_view_of(view)->n_cgroups, 2);
	expect_row(view, 0, "comm:a/b", 32, 0);
	expect_row(view, 1, "/", 31, 5);
	snapshot_view_free(view);
}

Test(snapshot_view, one_subtree)
{
	static const struct {
		const char *subtree, *path;
		u64 samples;
		size_t members;
	} cases[] = {
		{"/system.slice", "/system.slice", 14, 3},
		{"/system.slice/b.service", "/system.slice/b.service", 12, 2},
		{"/", "/", 31, 5},
		{"/user.slice/x", "/user.slice/x", 16, 0},
		{"comm:a/b", "comm:a/b", 32, 0},
	};
	static const char *const none[] = {"/system", "/system.slice/", "comm:a", "", "system.slice"};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct snapshot_view *view =
			view_of(tree(), &(struct view_request){.subtree = cases[i].subtree});

		cr_expect_eq(snapshot_view_of(view)->n_cgroups, 1, "%s", cases[i].subtree);
		expect_row(view, 0, cases[i].path, cases[i].samples, cases[i].members);
		snapshot_view_free(view);
	}
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		struct snapshot_view *view = view_of(tree(), &(struct view_request){.subtree = none[i]});

		cr_expect_eq(snapshot_view_of(view)->n_cgroups, 0, "%s", none[i]);
		snapshot_view_free(view);
	}
}

Test(snapshot_view, a_filter_is_of_names_shown)
{
	static const struct {
		const char *filter;
		size_t n;
	} cases[] = {{"", 6},      {"service", 3}, {"b.service", 2}, {"slice/?.serv", 3},
		     {"s*e/b", 2}, {"/*/*/", 1},   {"comm:", 1},     {"none", 0},
		     {"S", 0}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct snapshot_view *view =
			view_of(tree(), &(struct view_request){.filter = cases[i].filter});

		cr_expect_eq(snapshot_view_of(view)->n_cgroups, cases[i].n, "'%s': %zu", cases[i].filter,
			     snapshot_view_of(view)->n_cgroups);
		snapshot_view_free(view);
	}
}

Test(snapshot_view, a_filter_leaves_sums_as_they_are)
{
	struct snapshot_view *view =
		view_of(tree(), &(struct view_request){.sums = true, .depth = 1, .filter = "system.slice"});

	cr_expect_eq(snapshot_view_of(view)->n_cgroups, 1);
	expect_row(view, 0, "/system.slice", 14, 3);
	snapshot_view_free(view);
}

Test(snapshot_view, one_event_decides_alone)
{
	const struct snapshot *several = example_several();
	struct snapshot_view *view = view_of(several, &(struct view_request){.one_event = true, .event = 3});
	const struct snapshot *snapshot = snapshot_view_of(view);
	u64 before = ~0ULL;

	cr_expect_eq(snapshot->n_cgroups, 3, "all three have instructions");
	for (size_t i = 0; i < snapshot->n_cgroups; i++) {
		u64 samples = example_samples(snapshot, &snapshot->cgroups[i], 3);

		cr_expect(samples > 0 && samples <= before, "by their number");
		before = samples;
		for (unsigned event = 0; event < 3; event++)
			cr_expect_eq(example_samples(snapshot, &snapshot->cgroups[i], event), 0);
	}
	snapshot_view_free(view);

	view = view_of(several, &(struct view_request){.one_event = true, .event = 2});
	cr_expect_eq(snapshot_view_of(view)->n_cgroups, 2, "the virtual machine has no stores");
	snapshot_view_free(view);
}

/* Off-core responses, which are counted instead of sampled, are summed as well. */
Test(snapshot_view, offcore_adds_up)
{
	static const struct offcore_figures counted = {.of[0][0].count = 5};
	const struct snapshot *snapshot = tree();
	struct snapshot_view *view;

	snapshot->cgroups[1].offcore = snapshot->cgroups[3].offcore = &counted;
	view = view_of(snapshot, &(struct view_request){.subtree = "/system.slice"});
	cr_assert_not_null(snapshot_view_of(view)->cgroups[0].offcore);
	cr_expect_eq(snapshot_view_of(view)->cgroups[0].offcore->of[0][0].count, 10);
	snapshot_view_free(view);
}
