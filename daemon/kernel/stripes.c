// SPDX-License-Identifier: GPL-2.0
#include "kernel/stripes.h"

#include <errno.h>
#include <string.h>

/* The place of a CPU in the machine. order_places() names caches and cores by their lowest CPU. */
struct place {
	u32 cache;
	u32 core;
	u32 cpu;
};

static int compare(u32 a, u32 b)
{
	return (a > b) - (a < b);
}

static int compare_places(const void *a, const void *b)
{
	const struct place *one = a;
	const struct place *other = b;
	int order = compare(one->cache, other->cache);

	if (order == 0)
		order = compare(one->core, other->core);
	return order ? order : compare(one->cpu, other->cpu);
}

/*
 * run_of_cache() and run_of_core() return how many of the first places share the cache, or cache and core, of
 * the first one.
 */
static u32 run_of_cache(const struct place *places, u32 n)
{
	u32 length = 1;

	while (length < n && places[length].cache == places[0].cache)
		length++;
	return length;
}

static u32 run_of_core(const struct place *places, u32 n)
{
	u32 length = 1;

	while (length < n && places[length].cache == places[0].cache && places[length].core == places[0].core)
		length++;
	return length;
}

static u32 lowest_cpu(const struct place *places, u32 n)
{
	u32 lowest = places[0].cpu;

	for (u32 i = 1; i < n; i++)
		if (places[i].cpu < lowest)
			lowest = places[i].cpu;
	return lowest;
}

/*
 * Sorts by cache and then core, in the order of their lowest CPUs. If each socket has a contiguous range of
 * CPUs, its caches are then neighbours.
 */
static void order_places(struct place *places, u32 n)
{
	qsort(places, n, sizeof(*places), compare_places);
	for (u32 first = 0, length; first < n; first += length) {
		u32 lowest;

		length = run_of_cache(&places[first], n - first);
		lowest = lowest_cpu(&places[first], length);
		for (u32 core = 0, threads; core < length; core += threads) {
			struct place *thread = &places[first + core];
			u32 name = thread->cpu;

			threads = run_of_core(thread, length - core);
			for (u32 i = 0; i < threads; i++)
				thread[i].core = name;
		}
		for (u32 i = first; i < first + length; i++)
			places[i].cache = lowest;
	}
	qsort(places, n, sizeof(*places), compare_places);
}

/*
 * Divides the CPUs of one cache if it has at least as many stripes as cores. Threads of a core share a stripe
 * only if stripes are too few.
 */
static void split_cores(const struct place *places, u32 n, u32 first_stripe, u32 stripes, u8 *of_cpu)
{
	u32 threads[STRIPES_MAX] = {0};
	u32 parts[STRIPES_MAX] = {0};
	u32 cores = 0;

	for (u32 i = 0; i < n; i += threads[cores++]) {
		threads[cores] = run_of_core(&places[i], n - i);
		parts[cores] = 1;
	}
	for (u32 given = cores; given < stripes; given++) {
		u32 fullest = 0;

		for (u32 core = 1; core < cores; core++)
			if (threads[core] * parts[fullest] > threads[fullest] * parts[core])
				fullest = core;
		parts[fullest]++;
	}
	for (u32 core = 0, i = 0; core < cores; core++) {
		for (u32 thread = 0; thread < threads[core]; thread++, i++)
			of_cpu[places[i].cpu] = (u8)(first_stripe + thread % parts[core]);
		first_stripe += parts[core];
	}
}

/*
 * Divides the CPUs of one cache if it has fewer stripes than cores. Keeps cores whole, and assigns the
 * largest core first, each to the stripe with the fewest CPUs.
 */
static void join_cores(const struct place *places, u32 n, u32 first_stripe, u32 stripes, u8 *of_cpu)
{
	u32 load[STRIPES_MAX] = {0};
	u32 biggest = 0;

	for (u32 i = 0, threads; i < n; i += threads) {
		threads = run_of_core(&places[i], n - i);
		if (threads > biggest)
			biggest = threads;
	}
	for (u32 size = biggest; size > 0; size--) {
		for (u32 i = 0, threads; i < n; i += threads) {
			u32 least = 0;

			threads = run_of_core(&places[i], n - i);
			if (threads != size)
				continue;
			for (u32 stripe = 1; stripe < stripes; stripe++)
				if (load[stripe] < load[least])
					least = stripe;
			load[least] += threads;
			for (u32 thread = 0; thread < threads; thread++)
				of_cpu[places[i + thread].cpu] = (u8)(first_stripe + least);
		}
	}
}

static u32 count_cores(const struct place *places, u32 n)
{
	u32 cores = 0;

	for (u32 i = 0; i < n; i += run_of_core(&places[i], n - i))
		cores++;
	return cores;
}

static u32 count_caches(const struct place *places, u32 n)
{
	u32 caches = 0;

	for (u32 i = 0; i < n; i += run_of_cache(&places[i], n - i))
		caches++;
	return caches;
}

/*
 * Assigns stripes if there are at most as many caches as stripes: each cache gets stripes of its own, and
 * more of them if more CPUs share it.
 */
static u32 divide_caches(const struct place *places, u32 n, u8 *of_cpu)
{
	u32 size[STRIPES_MAX] = {0};
	u32 parts[STRIPES_MAX] = {0};
	u32 caches = 0;
	u32 first_stripe = 0;

	for (u32 i = 0; i < n; i += size[caches++]) {
		size[caches] = run_of_cache(&places[i], n - i);
		parts[caches] = 1;
	}
	for (u32 given = caches; given < STRIPES_MAX; given++) {
		u32 fullest = 0;

		for (u32 cache = 1; cache < caches; cache++)
			if (size[cache] * parts[fullest] > size[fullest] * parts[cache])
				fullest = cache;
		parts[fullest]++;
	}
	for (u32 cache = 0, i = 0; cache < caches; i += size[cache++]) {
		if (parts[cache] >= count_cores(&places[i], size[cache]))
			split_cores(&places[i], size[cache], first_stripe, parts[cache], of_cpu);
		else
			join_cores(&places[i], size[cache], first_stripe, parts[cache], of_cpu);
		first_stripe += parts[cache];
	}
	return STRIPES_MAX;
}

/* Assigns stripes if there are more caches than stripes: neighbouring caches share a stripe. */
static u32 join_caches(const struct place *places, u32 n, u8 *of_cpu)
{
	u32 stripes = 0;
	u32 last = STRIPES_MAX;

	for (u32 i = 0, size; i < n; i += size) {
		u32 part;

		size = run_of_cache(&places[i], n - i);
		part = (u32)((u64)i * STRIPES_MAX / n);
		if (part != last)
			stripes++;
		last = part;
		for (u32 cpu = 0; cpu < size; cpu++)
			of_cpu[places[i + cpu].cpu] = (u8)(stripes - 1);
	}
	return stripes;
}

/*
 * Gives absent CPUs the stripes that present CPUs left over, but no more than present CPUs have. If none are
 * left over, absent CPUs share all stripes. Returns the number of stripes in use.
 */
static u32 place_absent(const struct stripes_cpu *topology, u32 cpus, u32 taken, u8 *of_cpu)
{
	u32 more = STRIPES_MAX - taken < taken ? STRIPES_MAX - taken : taken;
	u32 first = more > 0 ? taken : 0;
	u32 n = more > 0 ? more : STRIPES_MAX;
	u32 next = 0;

	for (u32 cpu = 0; cpu < cpus; cpu++) {
		if (!topology[cpu].absent)
			continue;
		of_cpu[cpu] = (u8)(first + next % n);
		next++;
	}
	return next < more ? taken + next : taken + more;
}

static u32 assign_many(const struct stripes_cpu *topology, u32 cpus, struct place *places, u8 *of_cpu,
		       u32 *ret_caches)
{
	u32 present = 0;
	u32 n;

	for (u32 cpu = 0; cpu < cpus; cpu++)
		if (!topology[cpu].absent)
			places[present++] = (struct place){topology[cpu].cache, topology[cpu].core, cpu};
	if (present == 0)
		return place_absent(topology, cpus, 1, of_cpu);
	if (present <= STRIPES_MAX) {
		for (n = 0; n < present; n++)
			of_cpu[places[n].cpu] = (u8)n;
	} else {
		order_places(places, present);
		*ret_caches = count_caches(places, present);
		n = *ret_caches <= STRIPES_MAX ? divide_caches(places, present, of_cpu)
					       : join_caches(places, present, of_cpu);
	}
	return present < cpus ? place_absent(topology, cpus, n, of_cpu) : n;
}

int stripes_assign(const struct stripes_cpu *topology, u32 cpus, struct stripes *ret)
{
	_cleanup_free_ struct place *places = NULL;
	_cleanup_free_ u8 *of_cpu = NULL;
	u32 n = cpus, caches = 0;

	if (cpus == 0)
		return -EINVAL;
	of_cpu = calloc(cpus, sizeof(*of_cpu));
	if (!of_cpu)
		return -ENOMEM;
	if (cpus <= STRIPES_MAX) {
		for (u32 cpu = 0; cpu < cpus; cpu++)
			of_cpu[cpu] = (u8)cpu;
	} else {
		places = calloc(cpus, sizeof(*places));
		if (!places)
			return -ENOMEM;
		n = assign_many(topology, cpus, places, of_cpu, &caches);
	}
	*ret = (struct stripes){
		.n = n, .cpus = cpus, .caches = caches, .alone = n == cpus, .of_cpu = TAKE_PTR(of_cpu)};
	return 0;
}

int stripes_single(struct stripes *ret)
{
	u8 *of_cpu = calloc(1, sizeof(*of_cpu));

	if (!of_cpu)
		return -ENOMEM;
	*ret = (struct stripes){.n = 1, .cpus = 1, .of_cpu = of_cpu};
	return 0;
}

void stripes_done(struct stripes *stripes)
{
	free(stripes->of_cpu);
	*stripes = (struct stripes){0};
}
