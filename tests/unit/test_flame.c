// SPDX-License-Identifier: GPL-2.0
/* The tree of functions for the page, and how it is pruned. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/flame.h"
#include "profile_fixture.h"
#include "scarce_memory.h"

/* Copies the nodes, because flame_prune() frees them. */
static struct flame tree(const struct flame_node *nodes, size_t n)
{
	struct flame flame = {.nodes = calloc(n, sizeof(*nodes)), .n = n};

	cr_assert_not_null(flame.nodes);
	memcpy(flame.nodes, nodes, n * sizeof(*nodes));
	return flame;
}

static void expect(const struct flame *flame, size_t i, const char *name, u32 parent, u64 samples,
		   u64 latency)
{
	const struct flame_node *node = &flame->nodes[i];

	cr_assert_lt(i, flame->n);
	if (name)
		cr_expect_str_eq(node->name, name, "node %zu", i);
	else
		cr_expect_null(node->name, "node %zu", i);
	cr_expect_eq(node->parent, parent, "node %zu: %u", i, node->parent);
	cr_expect_eq(node->samples, samples, "node %zu", i);
	cr_expect_eq(node->latency, latency, "node %zu", i);
}

static const struct flame_node some[] = {
	{.parent = FLAME_NONE, .samples = 100, .latency = 1000, .sources = {100}},
	{.parent = 0, .name = "cheap", .samples = 60, .latency = 100, .sources = {60}},
	{.parent = 0, .name = "dear", .samples = 30, .latency = 800, .sources = {30}},
	{.parent = 1, .name = "below", .samples = 50, .latency = 90, .sources = {50}},
	{.parent = 0,
	 .name = "small",
	 .samples = 10,
	 .latency = 100,
	 .sources = {10},
	 .source_latencies = {100}},
	{.parent = 2,
	 .name = "leaf",
	 .samples = 30,
	 .latency = 700,
	 .sources = {10, 20},
	 .source_latencies = {650, 50}},
};

Test(flame, sorted_by_cost_with_parents_first)
{
	_cleanup_(flame_done) struct flame flame = tree(some, ARRAY_SIZE(some));

	cr_assert_eq(flame_prune(&flame, true, 6), 0);
	cr_assert_eq(flame.n, 6);
	expect(&flame, 0, NULL, FLAME_NONE, 100, 1000);
	expect(&flame, 1, "dear", 0, 30, 800);
	expect(&flame, 2, "leaf", 1, 30, 700);
	expect(&flame, 3, "cheap", 0, 60, 100);
	expect(&flame, 4, "small", 0, 10, 100);
	expect(&flame, 5, "below", 3, 50, 90);
	flame_done(&flame);
	flame = tree(some, ARRAY_SIZE(some));
	cr_assert_eq(flame_prune(&flame, false, 6), 0);
	expect(&flame, 1, "cheap", 0, 60, 100);
	expect(&flame, 2, "below", 1, 50, 90);
}

Test(flame, omitted_nodes_are_one_node_below_each_parent)
{
	_cleanup_(flame_done) struct flame flame = tree(some, ARRAY_SIZE(some));

	/* Two nodes are kept: the root and `dear`. */
	cr_assert_eq(flame_prune(&flame, true, 4), 0);
	cr_assert_eq(flame.n, 4);
	expect(&flame, 0, NULL, FLAME_NONE, 100, 1000);
	expect(&flame, 1, "dear", 0, 30, 800);
	expect(&flame, 2, NULL, 1, 30, 700);
	cr_expect_eq(flame.nodes[2].sources[1], 20);
	cr_expect_eq(flame.nodes[2].source_latencies[0], 650);
	cr_expect_eq(flame.nodes[2].source_latencies[1], 50);
	/* `below` is part of `cheap`, which is counted once. */
	expect(&flame, 3, NULL, 0, 70, 200);
	cr_expect_eq(flame.nodes[3].sources[0], 70);
}

Test(flame, a_large_tree_is_pruned_to_the_maximum)
{
	const size_t n = 10000;
	struct flame_node *nodes = calloc(n, sizeof(*nodes));

	cr_assert_not_null(nodes);
	for (size_t max = 2; max <= 2000; max *= 10) {
		struct flame flame;
		u64 leaves = 0;

		for (size_t i = 0; i < n; i++)
			nodes[i] = (struct flame_node){
				.parent = i ? (u32)((i - 1) / 3) : FLAME_NONE, .name = "f", .samples = n - i};
		flame = tree(nodes, n);
		cr_assert_eq(flame_prune(&flame, false, max), 0);
		cr_expect_leq(flame.n, max);
		cr_expect_geq(flame.n, max / 2);
		for (size_t i = 1; i < flame.n; i++) {
			cr_assert_lt(flame.nodes[i].parent, i, "parents come first");
			leaves += flame.nodes[i].parent == 0 ? flame.nodes[i].samples : 0;
		}
		cr_expect_eq(leaves, 3 * n - 6, "nothing below the root is lost");
		flame_done(&flame);
	}
	free(nodes);
}

Test(flame, a_profile_becomes_a_flame_graph)
{
	const u64 stack[] = {AT_WORK + 1, AT_MAIN + 1, AT_START + 1};
	struct zoom_sample sample = profile_fixture_sample(AT_LOAD_ROW + 0x20, AT_HEAP, 100);
	struct profile_fixture_names fixture;
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_(flame_done) struct flame flame;

	profile_fixture_names_init(&fixture);
	cr_assert_eq(profile_new(true, &profile), 0);
	sample.user = stack;
	sample.n_user = ARRAY_SIZE(stack);
	cr_assert_eq(profile_add(profile, &sample), 0);
	/* The same function in another process and at another line is one node, with the line of the greater cost. */
	sample.of.code_address = AT_LOAD_ROW + 0x30;
	sample.of.latency = 300;
	sample.pid = sample.tid = 200;
	cr_assert_eq(profile_add(profile, &sample), 0);
	sample.of.code_address = AT_MAIN;
	sample.of.latency = 50;
	sample.user = stack + 2;
	sample.n_user = 1;
	cr_assert_eq(profile_add(profile, &sample), 0);

	cr_assert_eq(flame_make(profile, &fixture.names, 100, &flame), 0);
	cr_assert_eq(flame.n, 5);
	expect(&flame, 0, NULL, FLAME_NONE, 3, 450);
	expect(&flame, 1, "_start", 0, 3, 450);
	expect(&flame, 2, "main", 1, 3, 450);
	expect(&flame, 3, "work", 2, 2, 400);
	expect(&flame, 4, "load;row", 3, 2, 400);
	cr_expect_str_eq(flame.nodes[4].file, "work.c");
	cr_expect_eq(flame.nodes[4].line, 33);
}

/* Many samples of a near cache can have less latency than a few of a far one. */
Test(flame, each_source_has_its_own_latency)
{
	struct zoom_sample near = profile_fixture_sample(AT_WORK + 1, AT_HEAP, 10);
	struct zoom_sample far = profile_fixture_sample(AT_WORK + 1, AT_HEAP, 900);
	struct profile_fixture_names fixture;
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_(flame_done) struct flame flame;

	profile_fixture_names_init(&fixture);
	far.of.data_source = profile_fixture_hitm();
	cr_assert_eq(profile_new(true, &profile), 0);
	for (int i = 0; i < 5; i++)
		cr_assert_eq(profile_add(profile, &near), 0);
	cr_assert_eq(profile_add(profile, &far), 0);
	cr_assert_eq(flame_make(profile, &fixture.names, 100, &flame), 0);
	cr_assert_eq(flame.n, 2);
	for (size_t i = 0; i < flame.n; i++) {
		cr_expect_eq(flame.nodes[i].sources[SOURCE_L1], 5);
		cr_expect_eq(flame.nodes[i].source_latencies[SOURCE_L1], 50);
		cr_expect_eq(flame.nodes[i].sources[SOURCE_L3], 1);
		cr_expect_eq(flame.nodes[i].source_latencies[SOURCE_L3], 900);
	}
}

Test(flame, a_profile_without_samples_is_only_the_root)
{
	struct profile_fixture_names fixture;
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_(flame_done) struct flame flame;

	profile_fixture_names_init(&fixture);
	cr_assert_eq(profile_new(true, &profile), 0);
	cr_assert_eq(flame_make(profile, &fixture.names, 100, &flame), 0);
	cr_expect_eq(flame.n, 1);
}

/* -E2BIG would make the caller advise a shorter zoom. */
Test(flame, a_failed_allocation_is_not_reported_as_a_large_tree)
{
	struct zoom_sample sample = profile_fixture_sample(AT_WORK + 1, AT_HEAP, 10);
	bool failed = true;
	struct profile_fixture_names fixture;
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct flame flame;
	size_t n = 0;

	profile_fixture_names_init(&fixture);
	cr_assert_eq(profile_new(true, &profile), 0);
	cr_assert_eq(profile_add(profile, &sample), 0);
	(void)profile_resolve(profile, &fixture.names);
	for (; failed; n++) {
		int r;

		scarce_memory_after(n);
		r = flame_make(profile, &fixture.names, 100, &flame);
		failed = scarce_memory_end();
		cr_expect_eq(r, failed ? -ENOMEM : 0, "allocation %zu: %d", n, r);
		if (r == 0)
			flame_done(&flame);
	}
	cr_expect_gt(n, 5);
}
