// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "kernel/stripes.h"
#include "tree.h"

#define CPUS_MAX 512

/* A machine with the CPU numbers of Linux: first one thread of each core, then the second threads. */
struct machine {
	u32 sockets;
	u32 cores;   /* cores of a socket */
	u32 threads; /* threads of a core */
	u32 llc;     /* cores that share a last-level cache */
};

static struct stripes stripes;

static void end(void)
{
	stripes_done(&stripes);
}

static u32 draw(const struct machine *machine, struct stripes_cpu topology[CPUS_MAX])
{
	u32 cores = machine->sockets * machine->cores;

	for (u32 thread = 0; thread < machine->threads; thread++)
		for (u32 core = 0; core < cores; core++)
			topology[thread * cores + core] = (struct stripes_cpu){
				.cache = 7 + core / machine->llc,
				.core = 1000 - core % machine->cores, /* unique only within the socket */
			};
	return cores * machine->threads;
}

static void assign(const struct stripes_cpu *topology, u32 cpus, struct stripes *ret)
{
	cr_assert_eq(stripes_assign(topology, cpus, ret), 0);
	cr_assert_eq(ret->cpus, cpus);
	cr_assert(ret->n >= 1 && ret->n <= STRIPES_MAX, "%u", ret->n);
	for (u32 cpu = 0; cpu < cpus; cpu++)
		cr_assert_lt(ret->of_cpu[cpu], ret->n);
}

/* Returns how many present CPUs write to the emptiest and to the fullest stripe. */
static void spread(const struct stripes_cpu *topology, u32 *ret_least, u32 *ret_most)
{
	u32 writers[STRIPES_MAX] = {0};

	for (u32 cpu = 0; cpu < stripes.cpus; cpu++)
		if (!topology[cpu].absent)
			writers[stripes.of_cpu[cpu]]++;
	*ret_least = UINT32_MAX;
	*ret_most = 0;
	for (u32 stripe = 0; stripe < stripes.n; stripe++) {
		*ret_least = writers[stripe] < *ret_least ? writers[stripe] : *ret_least;
		*ret_most = writers[stripe] > *ret_most ? writers[stripe] : *ret_most;
	}
}

static void expect_spread(const struct stripes_cpu *topology, u32 least, u32 most)
{
	u32 is_least, is_most;

	spread(topology, &is_least, &is_most);
	cr_expect_eq(is_least, least, "%u CPUs in the emptiest stripe", is_least);
	cr_expect_eq(is_most, most, "%u CPUs in the fullest stripe", is_most);
}

/*
 * spans_caches() is true if CPUs of two caches write to one stripe. splits_cores() is true if the threads of
 * one core write to two stripes.
 */
static bool spans_caches(const struct stripes_cpu *topology)
{
	for (u32 a = 0; a < stripes.cpus; a++)
		for (u32 b = 0; b < a; b++)
			if (stripes.of_cpu[a] == stripes.of_cpu[b] && topology[a].cache != topology[b].cache)
				return true;
	return false;
}

static bool splits_cores(const struct stripes_cpu *topology)
{
	for (u32 a = 0; a < stripes.cpus; a++)
		for (u32 b = 0; b < a; b++)
			if (stripes.of_cpu[a] != stripes.of_cpu[b] &&
			    topology[a].cache == topology[b].cache && topology[a].core == topology[b].core)
				return true;
	return false;
}

TestSuite(stripes, .fini = end);

Test(stripes, up_to_16_cpus_have_a_stripe_each)
{
	/* All CPUs are threads of one core, but they still get a stripe each. */
	const struct stripes_cpu topology[STRIPES_MAX] = {0};

	for (u32 cpus = 1; cpus <= STRIPES_MAX; cpus++) {
		assign(topology, cpus, &stripes);
		cr_expect_eq(stripes.n, cpus);
		cr_expect(stripes.alone);
		for (u32 cpu = 0; cpu < cpus; cpu++)
			cr_expect_eq(stripes.of_cpu[cpu], cpu);
		stripes_done(&stripes);
	}
}

Test(stripes, with_17_cores_two_share_a_stripe)
{
	struct stripes_cpu topology[CPUS_MAX] = {0};
	u32 cpus = draw(&(struct machine){1, 17, 1, 17}, topology);

	assign(topology, cpus, &stripes);
	cr_expect_eq(stripes.n, 16);
	cr_expect_not(stripes.alone);
	expect_spread(topology, 1, 2);
}

Test(stripes, the_threads_of_a_core_share_before_others)
{
	/* 10 cores of 2 threads each: 6 cores have two stripes each, and 4 have one. */
	struct stripes_cpu topology[CPUS_MAX] = {0};
	u32 cpus = draw(&(struct machine){1, 10, 2, 10}, topology);
	u32 together = 0;

	assign(topology, cpus, &stripes);
	expect_spread(topology, 1, 2);
	for (u32 core = 0; core < 10; core++)
		together += stripes.of_cpu[core] == stripes.of_cpu[core + 10];
	cr_expect_eq(together, 4, "%u", together);
	stripes_done(&stripes);

	cpus = draw(&(struct machine){1, 16, 2, 16}, topology);
	assign(topology, cpus, &stripes);
	expect_spread(topology, 2, 2);
	cr_expect_not(splits_cores(topology));
}

Test(stripes, two_sockets_of_28_cores_share_16_stripes_by_cache)
{
	struct stripes_cpu topology[CPUS_MAX] = {0};
	u32 cpus = draw(&(struct machine){2, 28, 2, 28}, topology);

	cr_assert_eq(cpus, 112);
	assign(topology, cpus, &stripes);
	cr_expect_eq(stripes.n, 16);
	cr_expect_not(spans_caches(topology));
	cr_expect_not(splits_cores(topology));
	expect_spread(topology, 6, 8); /* three or four cores */
}

Test(stripes, an_epyc_of_16_caches_has_a_stripe_per_cache)
{
	struct stripes_cpu topology[CPUS_MAX] = {0};
	u32 cpus = draw(&(struct machine){2, 64, 2, 8}, topology);

	cr_assert_eq(cpus, 256);
	assign(topology, cpus, &stripes);
	cr_expect_eq(stripes.n, 16);
	cr_expect_not(spans_caches(topology));
	expect_spread(topology, 16, 16);
}

Test(stripes, an_epyc_of_32_caches_has_a_stripe_for_two_adjacent_caches)
{
	struct stripes_cpu topology[CPUS_MAX] = {0};
	u32 cpus = draw(&(struct machine){2, 64, 2, 4}, topology);

	cr_assert_eq(cpus, 256);
	assign(topology, cpus, &stripes);
	cr_expect_eq(stripes.n, 16);
	expect_spread(topology, 16, 16);
	cr_expect_not(splits_cores(topology));
	for (u32 core = 0; core < 128; core++) /* eight successive cores share two caches of one socket */
		cr_expect_eq(stripes.of_cpu[core], core / 8);
	stripes_done(&stripes);

	/* 128 CPUs including second threads, with a cache for each 8 of them. */
	cpus = draw(&(struct machine){1, 64, 2, 4}, topology);
	assign(topology, cpus, &stripes);
	cr_expect_eq(stripes.n, 16);
	cr_expect_not(spans_caches(topology));
	expect_spread(topology, 8, 8);
}

Test(stripes, a_cache_of_more_cpus_has_more_stripes)
{
	/* A chip of 12 caches with 8 cores each: four of the caches have two stripes. */
	struct stripes_cpu topology[CPUS_MAX] = {0};
	u32 cpus = draw(&(struct machine){1, 96, 2, 8}, topology);

	assign(topology, cpus, &stripes);
	cr_expect_eq(stripes.n, 16);
	cr_expect_not(spans_caches(topology));
	cr_expect_not(splits_cores(topology));
	expect_spread(topology, 8, 16);
	stripes_done(&stripes);

	/* One cache has 40 CPUs and the other has 8: they get 13 and 3 stripes. */
	memset(topology, 0, sizeof(topology));
	for (u32 cpu = 0; cpu < 48; cpu++)
		topology[cpu] = (struct stripes_cpu){.cache = cpu >= 40, .core = cpu};
	assign(topology, 48, &stripes);
	cr_expect_not(spans_caches(topology));
	expect_spread(topology, 2, 4);
}

Test(stripes, more_caches_than_stripes_share_them_evenly)
{
	for (u32 caches = 17; caches <= 64; caches++) {
		struct stripes_cpu topology[CPUS_MAX] = {0};
		u32 cpus = draw(&(struct machine){1, caches * 4, 2, 4}, topology);
		u32 least, most;

		assign(topology, cpus, &stripes);
		cr_expect_eq(stripes.n, 16, "%u caches", caches);
		spread(topology, &least, &most);
		cr_expect_leq(most - least, 8, "%u caches: %u to %u", caches, least, most);
		for (u32 a = 0; a < cpus; a++)
			for (u32 b = 0; b < a; b++)
				if (topology[a].cache == topology[b].cache)
					cr_assert_eq(stripes.of_cpu[a], stripes.of_cpu[b]);
		stripes_done(&stripes);
	}
}

Test(stripes, up_to_16_caches_never_share_a_stripe)
{
	for (u32 caches = 1; caches <= 16; caches++) {
		for (u32 cores = 1; cores <= 16; cores++) {
			struct stripes_cpu topology[CPUS_MAX] = {0};
			u32 cpus = draw(&(struct machine){1, caches * cores, 2, cores}, topology);
			u32 least, most;

			assign(topology, cpus, &stripes);
			cr_expect_not(spans_caches(topology), "%u of %u", caches, cores);
			cr_expect_eq(stripes.n, cpus < 16 ? cpus : 16);
			cr_expect_eq(stripes.alone, cpus <= 16);
			spread(topology, &least, &most);
			/*
			 * Each cache has at least its share of the stripes, rounded down. A core is two CPUs.
			 */
			cr_expect_leq(most, (2 * cores + 16 / caches - 1) / (16 / caches) + 1, "%u of %u: %u",
				      caches, cores, most);
			cr_expect_geq(least, 1);
			stripes_done(&stripes);
		}
	}
}

Test(stripes, hybrid_cores_count_their_threads)
{
	/* One cache with 8 cores of two threads and 16 cores of one thread, and 2 CPUs outside of it. */
	struct stripes_cpu topology[34] = {0};

	for (u32 cpu = 0; cpu < 16; cpu++)
		topology[cpu] = (struct stripes_cpu){.cache = 0, .core = cpu / 2};
	for (u32 cpu = 16; cpu < 32; cpu++)
		topology[cpu] = (struct stripes_cpu){.cache = 0, .core = cpu};
	for (u32 cpu = 32; cpu < 34; cpu++)
		topology[cpu] = (struct stripes_cpu){.cache = 32, .core = cpu};
	assign(topology, 34, &stripes);
	cr_expect_eq(stripes.n, 16);
	cr_expect_not(spans_caches(topology));
	cr_expect_not(splits_cores(topology));
	expect_spread(topology, 2, 3); /* 32 CPUs share 15 stripes, and 2 CPUs share one */
}

Test(stripes, offline_cpus_take_no_stripe_from_online_ones)
{
	struct stripes_cpu topology[CPUS_MAX] = {0};

	/*
	 * A guest that can grow: 8 of 128 CPUs are present, and each has a stripe of its own. Eight more
	 * stripes are reserved for the absent CPUs.
	 */
	for (u32 cpu = 0; cpu < 128; cpu++)
		topology[cpu].absent = cpu >= 8;
	assign(topology, 128, &stripes);
	cr_expect_eq(stripes.n, 16);
	cr_expect_not(stripes.alone, "one of them may come");
	for (u32 cpu = 0; cpu < 128; cpu++)
		cr_expect_eq(stripes.of_cpu[cpu], cpu < 8 ? cpu : 8 + cpu % 8);
	stripes_done(&stripes);

	for (u32 cpu = 0; cpu < 128; cpu++)
		topology[cpu].absent = cpu != 5 && cpu != 9;
	assign(topology, 128, &stripes);
	cr_expect_eq(stripes.n, 4);
	cr_expect_eq(stripes.of_cpu[5], 0);
	cr_expect_eq(stripes.of_cpu[9], 1);
	cr_expect_eq(stripes.of_cpu[0], 2);
	cr_expect_eq(stripes.of_cpu[1], 3);
	stripes_done(&stripes);

	/*
	 * Of 17 possible CPUs one is absent. Each present CPU has a stripe of its own, but `alone` is false,
	 * because the absent CPU may come.
	 */
	memset(topology, 0, sizeof(topology));
	topology[3].absent = true;
	assign(topology, 17, &stripes);
	cr_expect_eq(stripes.n, 16);
	cr_expect_not(stripes.alone);
	expect_spread(topology, 1, 1);
	stripes_done(&stripes);

	/*
	 * The second thread of every core is off. The other CPUs are spread as if the second threads did not
	 * exist.
	 */
	draw(&(struct machine){2, 28, 2, 28}, topology);
	for (u32 cpu = 56; cpu < 112; cpu++)
		topology[cpu].absent = true;
	assign(topology, 112, &stripes);
	cr_expect_eq(stripes.n, 16);
	expect_spread(topology, 3, 4);
	stripes_done(&stripes);

	for (u32 cpu = 0; cpu < 112; cpu++)
		topology[cpu].absent = true;
	assign(topology, 112, &stripes);
	cr_expect_leq(stripes.n, 2);
}

Test(stripes, without_cpus_there_is_an_error)
{
	cr_expect_eq(stripes_assign(NULL, 0, &stripes), -EINVAL);
	cr_expect_eq(stripes_of_machine("/nonexistent", 0, &stripes), -ENODATA);
	cr_expect_eq(stripes_of_machine(NULL, 8193, &stripes), -EINVAL);
}

Test(stripes, a_single_writer_has_one_stripe)
{
	cr_assert_eq(stripes_single(&stripes), 0);
	cr_expect_eq(stripes.n, 1);
	cr_expect_eq(stripes.cpus, 1);
	cr_expect_eq(stripes.of_cpu[0], 0);
	/* The only writer may run on any CPU, where the programs of two events may meet. */
	cr_expect_not(stripes.alone);
	stripes_done(&stripes);
	cr_expect_null(stripes.of_cpu);
}

static void write_cpu(const char *root, u32 cpu, const char *file, const char *format, u32 a, u32 b)
{
	char path[128], text[128];

	(void)snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/%s", cpu, file);
	/* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral): callers pass literals */
	(void)snprintf(text, sizeof(text), format, a, b);
	tree_write(root, path, text);
}

/*
 * Two sockets with ten cores of two threads each, as Linux describes them. CPUs 0-9 and 20-29 share a cache.
 */
static void write_two_sockets(const char *root)
{
	for (u32 cpu = 0; cpu < 40; cpu++) {
		u32 socket = cpu % 20 / 10;

		write_cpu(root, cpu, "cache/index0/level", "1\n", 0, 0);
		write_cpu(root, cpu, "cache/index0/type", "Data\n", 0, 0);
		write_cpu(root, cpu, "cache/index0/shared_cpu_list", "%u,%u\n", cpu % 20, cpu % 20 + 20);
		write_cpu(root, cpu, "cache/index1/level", "3\n", 0, 0);
		write_cpu(root, cpu, "cache/index1/type", "Unified\n", 0, 0);
		write_cpu(root, cpu, "cache/index1/shared_cpu_list", socket ? "10-19,30-39\n" : "0-9,20-29\n",
			  0, 0);
		write_cpu(root, cpu, "cache/index3/level", "2\n", 0, 0);
		write_cpu(root, cpu, "cache/index3/type", "Unified\n", 0, 0);
		write_cpu(root, cpu, "cache/index3/shared_cpu_list", "%u,%u\n", cpu % 20, cpu % 20 + 20);
		/* This level is an instruction cache, which must be ignored. */
		write_cpu(root, cpu, "cache/index2/level", "4\n", 0, 0);
		write_cpu(root, cpu, "cache/index2/type", "Instruction\n", 0, 0);
		write_cpu(root, cpu, "cache/index2/shared_cpu_list", "%u\n", cpu, 0);
		write_cpu(root, cpu, "topology/thread_siblings_list", "%u,%u\n", cpu % 20, cpu % 20 + 20);
	}
	tree_write(root, "devices/system/cpu/online", "0-39\n");
}

Test(stripes, the_topology_is_read_from_sysfs)
{
	struct stripes_cpu topology[CPUS_MAX] = {0};
	u32 cpus = draw(&(struct machine){2, 10, 2, 10}, topology);
	_cleanup_(tree_removep) char *root = tree_new();
	_cleanup_(stripes_done) struct stripes expected;

	write_two_sockets(root);
	cr_assert_eq(stripes_of_machine(root, cpus, &stripes), 0);
	assign(topology, cpus, &expected);
	cr_expect_eq(stripes.n, 16);
	cr_expect_not(spans_caches(topology));
	cr_expect_arr_eq(stripes.of_cpu, expected.of_cpu, cpus);
	stripes_done(&stripes);
	stripes_done(&expected);

	/* The highest possible CPU number decides, even if a lower number is not possible. */
	tree_write(root, "devices/system/cpu/possible", "0-31,33-39\n");
	cr_assert_eq(stripes_of_machine(root, 0, &stripes), 0);
	cr_expect_eq(stripes.cpus, 40);
	stripes_done(&stripes);

	/* CPUs 36 to 39 are offline, and 40 to 47 were never present. */
	tree_write(root, "devices/system/cpu/online", "0-35\n");
	for (u32 cpu = 36; cpu < 48; cpu++)
		topology[cpu].absent = true;
	cr_assert_eq(stripes_of_machine(root, 48, &stripes), 0);
	assign(topology, 48, &expected);
	cr_expect_arr_eq(stripes.of_cpu, expected.of_cpu, 48);
}

Test(stripes, a_missing_or_invalid_topology_has_a_fallback)
{
	struct stripes_cpu topology[CPUS_MAX] = {0};
	u32 cpus = draw(&(struct machine){1, 24, 1, 24}, topology);
	_cleanup_(tree_removep) char *root = tree_new();
	struct stripes told, expected;

	assign(topology, cpus, &expected);
	cr_assert_eq(stripes_of_machine("/nonexistent", cpus, &told), 0);
	cr_expect_arr_eq(told.of_cpu, expected.of_cpu, cpus);
	stripes_done(&told);

	/* Lists without their own CPU or without any number, and caches of an impossible level. */
	for (u32 cpu = 0; cpu < cpus; cpu++) {
		write_cpu(root, cpu, "cache/index0/level", cpu % 2 ? "3\n" : "-3\n", 0, 0);
		write_cpu(root, cpu, "cache/index0/type", "Unified\n", 0, 0);
		write_cpu(root, cpu, "cache/index0/shared_cpu_list", cpu % 3 ? "9000\n" : "none\n", 0, 0);
		write_cpu(root, cpu, "topology/thread_siblings_list", "%u\n", cpu + 1, 0);
	}
	tree_write(root, "devices/system/cpu/online", "all\n");
	cr_assert_eq(stripes_of_machine(root, cpus, &told), 0);
	cr_expect_arr_eq(told.of_cpu, expected.of_cpu, cpus);
	stripes_done(&told);
	stripes_done(&expected);
}

Test(stripes, the_stripes_of_this_machine_are_valid)
{
	u32 cpus = (u32)sysconf(_SC_NPROCESSORS_CONF);

	cr_assert_eq(stripes_of_machine(NULL, cpus, &stripes), 0);
	cr_expect_eq(stripes.cpus, cpus);
	cr_expect_eq(stripes.alone, cpus <= STRIPES_MAX);
	cr_expect_eq(stripes.n, cpus < STRIPES_MAX ? cpus : STRIPES_MAX);
}
