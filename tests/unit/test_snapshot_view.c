// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/offcore_counts.h"
#include "ctl/call/ctl_options.h"
#include "example_snapshot.h"
#include "heap.h"
#include "pebsd/records.h"
#include "scarce_memory.h"
#include "snapshot/snapshot_counters.h"
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
	static struct counters counters[ARRAY_SIZE(paths)];
	struct snapshot *snapshot = example_perf();

	memset(counters, 0, sizeof(counters));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		example_add(&counters[i], 1U << i, SOURCE_L3, 100, 1009, SNOOP_NONE, TLB_L1_HIT);
		cgroups[i] = (struct snapshot_cgroup){
			.path = paths[i], .id = 100 + i, .alive = i != 2, .counters = {[0] = &counters[i]}};
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

Test(snapshot_view, sums_of_subtrees_are_right)
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

Test(snapshot_view, a_view_can_have_only_the_root)
{
	struct snapshot_view *view = view_of(tree(), &(struct view_request){.sums = true, .depth = 0});

	cr_expect_eq(snapshot_view_of(view)->n_cgroups, 2);
	expect_row(view, 0, "comm:a/b", 32, 0);
	expect_row(view, 1, "/", 31, 5);
	snapshot_view_free(view);
}

Test(snapshot_view, a_view_can_have_one_subtree)
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

/* Whichever allocation fails: no cgroup is missing in a view. */
Test(snapshot_view, scarce_memory_leaves_out_no_cgroup)
{
	static const struct view_request requests[] = {
		{.subtree = "/system.slice"}, {.sums = true, .depth = 2}, {.filter = "s"}};

	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		const struct snapshot *snapshot = tree();
		struct snapshot_view *all = view_of(snapshot, &requests[i]);

		for (size_t n = 0;; n++) {
			struct snapshot_view *view = NULL;
			bool failed;
			int r;

			scarce_memory_after(n);
			r = snapshot_view_new(snapshot, &requests[i], &view);
			failed = scarce_memory_end();
			cr_expect_eq(r, failed ? -ENOMEM : 0, "request %zu, allocation %zu", i, n);
			if (r == 0)
				cr_expect_eq(snapshot_view_of(view)->n_cgroups,
					     snapshot_view_of(all)->n_cgroups);
			snapshot_view_free(view);
			if (!failed)
				break;
		}
		snapshot_view_free(all);
	}
}

Test(snapshot_view, a_filter_matches_the_shown_names)
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

Test(snapshot_view, a_filter_does_not_change_sums)
{
	struct snapshot_view *view =
		view_of(tree(), &(struct view_request){.sums = true, .depth = 1, .filter = "system.slice"});

	cr_expect_eq(snapshot_view_of(view)->n_cgroups, 1);
	expect_row(view, 0, "/system.slice", 14, 3);
	snapshot_view_free(view);
}

Test(snapshot_view, a_view_of_one_event_ignores_the_others)
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
Test(snapshot_view, off_core_counts_add_up)
{
	static const struct offcore_counts counted = {.of[0][0].count = 5};
	const struct snapshot *snapshot = tree();
	_cleanup_(snapshot_view_freep) struct snapshot_view *view = NULL;

	snapshot->cgroups[1].offcore = snapshot->cgroups[3].offcore = &counted;
	view = view_of(snapshot, &(struct view_request){.subtree = "/system.slice"});
	cr_assert_not_null(snapshot_view_of(view)->cgroups[0].offcore);
	cr_expect_eq(snapshot_view_of(view)->cgroups[0].offcore->of[0][0].count, 10);
}

/* How often the counters of a cgroup were read since the last large_tree(), and values were computed. */
static size_t reads, computed;

static bool read_one(const struct snapshot_cgroup *cgroup, unsigned event, struct counters *ret)
{
	(void)event;
	reads++;
	memset(ret, 0, sizeof(*ret));
	example_add(ret, 1 + cgroup->id % 3, SOURCE_L3, 100, 1009, SNOOP_NONE, TLB_L1_HIT);
	return true;
}

/* The samples of the first event. */
static double count_samples(const struct snapshot *snapshot, const struct snapshot_counters *counters,
			    const void *userdata)
{
	(void)snapshot;
	computed += userdata != NULL;
	return counters->of[0] ? (double)counters_samples(counters->of[0]) : -1;
}

/* `n` cgroups with one event, whose counters read_one() makes, and whose paths `name` writes. */
static const struct snapshot *large_tree(size_t n, void (*name)(size_t number, char path[4096]))
{
	struct snapshot *snapshot = example_perf();
	char path[4096];

	snapshot->n_events = 1;
	snapshot->make_counters = read_one;
	snapshot->n_cgroups = n;
	snapshot->cgroups = calloc(n, sizeof(*snapshot->cgroups));
	cr_assert_not_null(snapshot->cgroups);
	for (size_t i = 0; i < n; i++) {
		name(i, path);
		snapshot->cgroups[i] =
			(struct snapshot_cgroup){.path = strdup(path), .id = 1 + i, .alive = true};
		cr_assert_not_null(snapshot->cgroups[i].path);
	}
	reads = computed = 0;
	return snapshot;
}

static void free_tree(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		free((char *)snapshot->cgroups[i].path);
	free(snapshot->cgroups);
}

/* A chain of nested cgroups as long as a path can be. */
#define CHAIN 2000

static size_t chain(size_t names, char path[4096])
{
	for (size_t i = 0; i < names; i++)
		memcpy(path + 2 * i, "/d", 2);
	path[2 * names] = '\0';
	return 2 * names;
}

/* The chain, and all others at its end. */
static void name_hostile(size_t number, char path[4096])
{
	size_t length = chain(number < CHAIN ? number + 1 : CHAIN, path);

	if (number >= CHAIN)
		(void)snprintf(path + length, 32, "/%zu", number);
}

static void name_plain(size_t number, char path[4096])
{
	(void)snprintf(path, 32, "/%zu", number);
}

/* Chains that have nothing in common. */
static void name_chains(size_t number, char path[4096])
{
	size_t length = chain(VIEW_DEPTH_MAX, path);

	(void)snprintf(path, 32, "/%05zu", number);
	path[strlen(path)] = '/';
	path[length] = '\0';
}

Test(snapshot_view, nested_cgroups_cost_a_row_for_each_level_and_are_read_once)
{
	enum { CGROUPS = 10000 };
	const struct snapshot *hostile = large_tree(CGROUPS, name_hostile);
	const struct view_request sorted = {.sums = true,
					    .depth = VIEW_DEPTH_MAX,
					    .filter = "**d**d**d",
					    .value = count_samples,
					    .userdata = ""};
	const size_t before = heap_bytes();
	struct snapshot_view *view = view_of(hostile, &sorted);
	const size_t bytes = heap_bytes() - before;

	cr_expect_eq(snapshot_view_of(view)->n_cgroups, VIEW_DEPTH_MAX - 2, "filtered: / and the first two");
	cr_expect_eq(reads, CGROUPS, "%zu", reads);
	cr_expect_leq(computed, VIEW_DEPTH_MAX + 1, "%zu", computed);
	cr_expect_leq(bytes, snapshot_view_bytes(view), "%zu", bytes);
	cr_expect_leq(snapshot_view_bytes(view), 8U << 20, "%zu", snapshot_view_bytes(view));
	expect_row(view, 0, "/d/d/d", 2 * CGROUPS - 5, CGROUPS - 2);
	snapshot_view_free(view);
	free_tree(hostile);
}

Test(snapshot_view, sums_that_take_too_much_memory_are_refused_unread)
{
	const struct snapshot *chains = large_tree(3000, name_chains);
	struct view_request request = {
		.sums = true, .depth = VIEW_DEPTH_MAX, .value = count_samples, .userdata = ""};
	const size_t before = heap_bytes();
	struct snapshot_view *view;
	size_t bytes;

	cr_expect_eq(snapshot_view_new(chains, &request, &view), -E2BIG);
	cr_expect_eq(reads, 0);
	cr_expect_leq(heap_bytes(), before);
	request.depth = 50;
	view = view_of(chains, &request);
	bytes = heap_bytes() - before;
	cr_expect_eq(snapshot_view_of(view)->n_cgroups, 1 + 3000 * 50);
	cr_expect_eq(reads, 3000);
	cr_expect_eq(computed, 3000 + 1, "%zu: the rows of a chain have one value", computed);
	cr_expect_leq(bytes, snapshot_view_bytes(view), "%zu", bytes);
	cr_expect_leq(snapshot_view_bytes(view), VIEW_BYTES, "%zu", snapshot_view_bytes(view));
	snapshot_view_free(view);
	free_tree(chains);
}

/* The totals have at most one cgroup for each slot, and two removed ones (fold() in engine_collect.c). */
Test(snapshot_view, a_view_without_sums_always_fits)
{
	const struct snapshot *many = large_tree(2000, name_plain);
	const struct view_request request = {.filter = "", .value = count_samples};
	struct snapshot_view *view = view_of(many, &request);
	size_t bytes = snapshot_view_bytes(view), each;

	snapshot_view_free(view);
	((struct snapshot *)many)->n_cgroups = 1000;
	view = view_of(many, &request);
	each = (bytes - snapshot_view_bytes(view)) / 1000;
	cr_expect_leq(snapshot_view_bytes(view) + (3 * SLOTS_MAX + 1) * each, VIEW_BYTES, "%zu each", each);
	snapshot_view_free(view);
	((struct snapshot *)many)->n_cgroups = 2000;
	free_tree(many);
}

Test(snapshot_view, the_depth_has_a_maximum)
{
	struct view_request request = {.sums = true, .depth = VIEW_DEPTH_MAX};
	struct snapshot_view *view = view_of(tree(), &request);

	cr_expect_eq(snapshot_view_of(view)->n_cgroups, 8);
	snapshot_view_free(view);
	request.depth++;
	cr_expect_eq(snapshot_view_new(tree(), &request, &view), -EINVAL);
	cr_expect_leq(OPTIONS_DEPTH_MAX, VIEW_DEPTH_MAX, "pebsctl offers what the daemon refuses");
}

/* Rows are sorted by values that were computed from sums of sums. They are the values of the rows' own counters. */
Test(snapshot_view, values_equal_those_of_the_rows)
{
	static struct snapshot_counters counters;
	const struct view_request requests[] = {
		{.sums = true, .depth = 3, .value = count_samples},
		{.sums = true, .depth = 1, .filter = "slice", .value = count_samples},
		{.filter = "s", .value = count_samples},
		{.one_event = true, .value = count_samples},
	};

	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		struct snapshot_view *view = view_of(tree(), &requests[i]);
		const struct snapshot *snapshot = snapshot_view_of(view);

		cr_expect_gt(snapshot->n_cgroups, 1);
		for (size_t row = 0; row < snapshot->n_cgroups; row++) {
			snapshot_counters_of(snapshot, &snapshot->cgroups[row], &counters);
			cr_expect_eq(snapshot_view_values(view)[row],
				     count_samples(snapshot, &counters, NULL), "%s",
				     snapshot->cgroups[row].path);
		}
		snapshot_view_free(view);
	}
}

/* Names that sort between a path and the paths below it by their bytes, names without letters, and equal names. */
Test(snapshot_view, names_of_any_bytes_are_summed)
{
	static const char *const paths[] = {"/a/b", "/a-b/x", "/a", "/a/b", "/a//",
					    "//",   "/a.b",   "a",  "a/b",  ""};
	static const struct {
		const char *path;
		u64 samples;
		size_t members;
	} expected[] = {{"", 512, 0},    {"/", 127, 7},  {"a/b", 256, 0}, {"a", 128, 0},
			{"/a.b", 64, 0}, {"//", 32, 0},  {"/a", 29, 4},   {"/a/", 16, 1},
			{"/a//", 16, 0}, {"/a/b", 9, 2}, {"/a-b", 2, 1},  {"/a-b/x", 2, 0}};
	static struct counters counters[ARRAY_SIZE(paths)];
	static struct snapshot_cgroup cgroups[ARRAY_SIZE(paths)];
	struct snapshot *snapshot = example_perf();
	_cleanup_(snapshot_view_freep) struct snapshot_view *view = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		example_add(&counters[i], 1U << i, SOURCE_L3, 100, 1009, SNOOP_NONE, TLB_L1_HIT);
		cgroups[i] = (struct snapshot_cgroup){.path = paths[i], .counters = {[0] = &counters[i]}};
	}
	snapshot->cgroups = cgroups;
	snapshot->n_cgroups = ARRAY_SIZE(paths);
	view = view_of(snapshot, &(struct view_request){.sums = true, .depth = 9});
	cr_expect_eq(snapshot_view_of(view)->n_cgroups, ARRAY_SIZE(expected));
	for (size_t i = 0; i < snapshot_view_of(view)->n_cgroups; i++) {
		const struct snapshot_cgroup *row = &snapshot_view_of(view)->cgroups[i];
		size_t at = 0;

		while (at < ARRAY_SIZE(expected) && strcmp(expected[at].path, row->path) != 0)
			at++;
		cr_assert_lt(at, ARRAY_SIZE(expected), "'%s'", row->path);
		expect_row(view, i, expected[at].path, expected[at].samples, expected[at].members);
	}
}

/* Each row with several parts has off-core counts of its own, in memory for exactly these rows. */
Test(snapshot_view, off_core_counts_add_up_at_every_level)
{
	static const struct offcore_counts counted = {.of[0][0].count = 5};
	static const u64 expected[] = {0, 20, 0, 0, 15, 10, 5};
	const struct snapshot *snapshot = tree();
	_cleanup_(snapshot_view_freep) struct snapshot_view *view = NULL;

	for (size_t i = 0; i < 4; i++)
		snapshot->cgroups[i].offcore = &counted;
	view = view_of(snapshot, &(struct view_request){.sums = true, .depth = 2});
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct snapshot_cgroup *row = &snapshot_view_of(view)->cgroups[i];

		cr_expect_eq(row->offcore ? row->offcore->of[0][0].count : 0, expected[i], "%s", row->path);
	}
}
