// SPDX-License-Identifier: GPL-2.0
/*
 * Reading must not blind the sampler. On one CPU a 4 kHz timer samples while a reader works as fast as it
 * can: the collector through its mapping, and, to prove that this test can see a loss, a reader that uses
 * batch lookups of a hash (each such call disables perf_event programs on its CPU: kernel/bpf/syscall.c,
 * Linux 6.18).
 */
#include <criterion/criterion.h>

#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>

#include "books.h"
#include "software_event.h"

#define SAMPLES_PER_SECOND 4000
#define MEASURED_NS        (2 * NSEC_PER_SEC)
#define HASH_ENTRIES       1000

static u64 now_ns(void)
{
	struct timespec now;

	cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static u64 program_runs(int program_fd)
{
	struct bpf_prog_info info = {0};
	u32 bytes = sizeof(info);

	cr_assert_eq(bpf_obj_get_info_by_fd(program_fd, &info, &bytes), 0);
	return info.run_cnt;
}

static void read_mapping(void *userdata)
{
	books_collect(userdata);
}

struct hash_reader {
	int map_fd;
	u64 *keys;
	u8 *values;
};

static void read_batches(void *userdata)
{
	struct hash_reader *reader = userdata;
	u32 count = HASH_ENTRIES;
	u64 cursor;

	(void)bpf_map_lookup_batch(reader->map_fd, NULL, &cursor, reader->keys, reader->values, &count, NULL);
}

/* Samples that the event counted and the program did not, while `reader` works on the same CPU. */
static s64 lost_while(struct books *books, void (*reader)(void *userdata), void *userdata, const char *what)
{
	int program_fd = kernel_program_fd(books->kernel, 0);
	_cleanup_close_ int statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);
	_cleanup_close_ int fd = -1;
	u64 end, readings = 0, expected, runs;

	cr_assert_geq(statistics, 0);
	fd = software_event_open(&(struct software_event){.config = PERF_COUNT_SW_CPU_CLOCK,
							  .period = NSEC_PER_SEC / SAMPLES_PER_SECOND,
							  .pid = -1,
							  .cpu = 0},
				 program_fd);
	runs = program_runs(program_fd);
	software_event_enable(fd);
	for (end = now_ns() + MEASURED_NS; now_ns() < end; readings++)
		reader(userdata);
	software_event_disable(fd);
	runs = program_runs(program_fd) - runs;
	expected = software_event_count(fd) / (NSEC_PER_SEC / SAMPLES_PER_SECOND);
	printf("%s: %llu readings, %llu samples expected, %llu counted\n", what, (unsigned long long)readings,
	       (unsigned long long)expected, (unsigned long long)runs);
	return (s64)(expected - runs);
}

static struct hash_reader make_hash(void)
{
	struct hash_reader reader = {
		.map_fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_HASH, "drained", sizeof(u64), 224, HASH_ENTRIES,
					 NULL),
		.keys = calloc(HASH_ENTRIES, sizeof(u64)),
		.values = calloc(HASH_ENTRIES, (size_t)224 * (size_t)libbpf_num_possible_cpus()),
	};

	cr_assert_geq(reader.map_fd, 0);
	for (u64 key = 0; key < HASH_ENTRIES; key++)
		cr_assert_eq(bpf_map_update_elem(reader.map_fd, &key, reader.values, BPF_ANY), 0);
	return reader;
}

Test(drain, at_full_speed_loses_no_sample, .timeout = 60)
{
	struct kernel_settings settings = books_settings(true);
	struct hash_reader reader;
	struct books books;
	cpu_set_t first;
	s64 by_mapping, by_batches;
	u64 seen;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	cr_assert_eq(sched_setaffinity(0, sizeof(first), &first), 0);
	settings.hardware = true;
	books_open(&books, &settings, COLLECT_GRACE_NS);
	reader = make_hash();

	by_mapping = lost_while(&books, read_mapping, &books, "collector, mapped slots");
	books_collect(&books);
	seen = books_unattributed(&books, 0);
	by_batches = lost_while(&books, read_batches, &reader, "batch lookups of a hash");

	/* The timer's own tick may be under way at each end. */
	cr_expect_leq(by_mapping, 2);
	cr_expect_gt(seen, 0);
	cr_expect_gt(by_batches, SAMPLES_PER_SECOND / 10, "this test could not have seen a loss");
	(void)close(reader.map_fd);
	free(reader.keys);
	free(reader.values);
	books_close(&books);
}
