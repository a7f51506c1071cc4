// SPDX-License-Identifier: GPL-2.0
/* The memory of the maps, by the formula (map_size.h) and as the kernel reports it for each map. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "kernel/kernel.h"
#include "kernel/map_size.h"
#include "some_stripes.h"

/* The constant part: the maps' own pages, the programs' variables, the ring. */
#define FIXED_MAX (256ULL * 1024)

/*
 * Returns "memlock:" of a descriptor that has a "map_id:", and 0 for one that is not a map
 * (kernel/bpf/syscall.c, bpf_map_show_fdinfo()).
 */
static u64 map_of(const char *name)
{
	char path[300], line[256];
	unsigned long long bytes = 0;
	bool map = false;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		map |= strncmp(line, "map_id:", 7) == 0;
		(void)sscanf(line, "memlock: %llu", &bytes);
	}
	(void)fclose(file);
	return map ? bytes : 0;
}

static u64 told_by_the_kernel(void)
{
	DIR *directory = opendir("/proc/self/fdinfo");
	const struct dirent *entry;
	u64 bytes = 0;

	cr_assert_not_null(directory);
	while ((entry = readdir(directory)))
		bytes += map_of(entry->d_name);
	(void)closedir(directory);
	return bytes;
}

struct told {
	u64 formula;
	u64 kernel;
};

static struct told take(u32 slots, const struct stripes *stripes, size_t with_latency, size_t without,
			u32 hot_max, u32 offcore_cpus)
{
	struct kernel_settings settings = {
		.slots = slots,
		.stripes = stripes,
		.births = true,
		.hardware = true,
		.hot_max = hot_max,
		.offcore_cpus = offcore_cpus,
	};
	struct kernel *kernel;
	struct told told;
	char *message;

	for (size_t i = 0; i < with_latency + without; i++)
		settings.events[settings.n_events++] = (struct event_settings){
			.has_latency = i < with_latency, .has_source = 1, .has_code_address = 1};
	cr_assert_eq(told_by_the_kernel(), 0);
	cr_assert_eq(kernel_open(&settings, &kernel, &message), 0, "%s", message);
	told = (struct told){.formula = kernel_map_bytes(kernel), .kernel = told_by_the_kernel()};
	kernel_free(kernel);
	cr_expect_leq(told.formula, told.kernel);
	cr_expect_leq(told.kernel - told.formula, FIXED_MAX, "%llu by the formula, %llu as the kernel tells",
		      (unsigned long long)told.formula, (unsigned long long)told.kernel);
	return told;
}

static struct stripes sixteen_stripes_of_256_cpus(void)
{
	struct stripes_cpu topology[256];
	struct stripes stripes;

	for (u32 cpu = 0; cpu < 256; cpu++)
		topology[cpu] = (struct stripes_cpu){.cache = cpu % 128 / 8, .core = cpu % 128};
	cr_assert_eq(stripes_assign(topology, 256, &stripes), 0);
	cr_assert_eq(stripes.n, 16);
	return stripes;
}

Test(map_memory, map_memory_equals_the_formula)
{
	struct stripes many = sixteen_stripes_of_256_cpus();
	const struct stripes *here = machine_stripes();
	const struct told small = take(64, one_stripe(), 0, 0, 0, 0);
	/* Each record has a dirty byte. */
	const u64 records = sizeof(struct latency_record) + sizeof(struct plain_record) + 2;
	const u64 owner = sizeof(struct slot_owner) + 1;
	struct told one, two;

	/* One slot, stripe and event with latency takes a record and a dirty byte, by the formula and in the kernel. */
	one = take(2048, &many, 1, 0, 0, 0);
	two = take(2048, &many, 2, 0, 0, 0);
	cr_expect_eq(two.formula - one.formula, 2048ULL * 16 * (sizeof(struct latency_record) + 1));
	cr_expect_eq(two.kernel - one.kernel, 2048ULL * 16 * (sizeof(struct latency_record) + 1));

	/* The memory added to a small table is right within 64 KiB, with 64 to 80 bytes per slot for the index. */
	one = take(4096, &many, 1, 1, 0, 0);
	cr_expect_leq(one.kernel - small.kernel, 4096ULL * (16 * records + owner + 80) + 65536);
	cr_expect_geq(one.kernel - small.kernel, 4096ULL * (16 * records + owner + 64) - 65536);
	(void)take(512, here, 1, 2, 3, here->cpus);
	stripes_done(&many);
}

/*
 * A table for 256 CPUs: the records of all stripes and events can be read, and samples of one event change no
 * records of the others.
 */
Test(map_memory, sixteen_stripes_of_twelve_events_do_not_overlap)
{
	struct stripes many = sixteen_stripes_of_256_cpus();
	struct kernel_settings settings = {.slots = 257, .stripes = &many, .n_events = EVENTS_MAX};
	const struct sample sample = {.cgroup_id = 256, .fields = 0, .period = 1, .event = 1};
	struct kernel *kernel;
	u64 samples = 0;
	char *message;

	for (size_t i = 0; i < EVENTS_MAX; i++)
		settings.events[i].has_latency = i % 2 == 0;
	cr_assert_eq(kernel_open(&settings, &kernel, &message), 0, "%s", message);
	cr_expect_eq(kernel_stripes(kernel), 16);
	for (u32 cpu = 0; cpu < 256; cpu++)
		cr_expect_eq(kernel_stripe_of(kernel, cpu), many.of_cpu[cpu]);
	for (u64 id = 1; id < 257; id++)
		cr_assert_gt(kernel_adopt(kernel, id, 0, "a"), 0);
	cr_expect_eq(kernel_adopt(kernel, 257, 0, "a"), -ENOSPC);
	for (unsigned i = 0; i < 1000; i++)
		cr_assert_eq(kernel_inject(kernel, &sample, 1), 0);
	for (unsigned event = 0; event < EVENTS_MAX; event++)
		for (u32 stripe = 0; stripe < 16; stripe++)
			for (u32 slot = 0; slot < 257; slot++) {
				const struct plain_record *plain;
				u64 sum = 0;

				if (event % 2 == 0) {
					const u32 *words = (const u32 *)kernel_latency_record(kernel, event,
											      stripe, slot);

					for (size_t i = 0; i < sizeof(struct latency_record) / 4; i++)
						cr_assert_eq(words[i], 0);
					continue;
				}
				plain = kernel_plain_record(kernel, event, stripe, slot);
				for (size_t i = 0; i < SOURCE_SLOTS; i++)
					sum += plain->samples[i];
				cr_expect(sum == 0 || event == 1);
				samples += sum;
			}
	cr_expect_eq(samples, 1000);
	kernel_free(kernel);
	stripes_done(&many);
}
