// SPDX-License-Identifier: GPL-2.0
/* Reading a ring: records that wrap around its end, invalid records, and the sizes of rings. */
#include <criterion/criterion.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "heap.h"
#include "zoom/zoom_ring.h"

static u8 data[64];
static u8 copy[ZOOM_RECORD_BYTES_MAX];
static struct perf_event_mmap_page page;

static struct zoom_ring ring_at(u64 tail)
{
	return (struct zoom_ring){
		.page = &page, .data = data, .size = sizeof(data), .tail = tail, .copy = copy};
}

/*
 * Writes a record of `size` bytes with the last byte `mark`. `at` is its position among all bytes ever
 * written.
 */
static void put(u64 at, u16 size, u8 mark)
{
	struct perf_event_header header = {.type = 9, .size = size};
	u8 bytes[sizeof(header)];

	memcpy(bytes, &header, sizeof(header));
	for (size_t i = 0; i < sizeof(header); i++)
		data[(at + i) % sizeof(data)] = bytes[i];
	data[(at + size - 1) % sizeof(data)] = mark;
}

Test(zoom_ring, records_are_read_in_order_across_the_end)
{
	struct zoom_ring ring = ring_at(40);
	const u8 *record;
	size_t size;

	put(40, 16, 1);
	put(56, 24, 2);
	put(80, 16, 3);
	cr_assert_eq(zoom_ring_next(&ring, 96, &record, &size), 1);
	cr_expect_eq(size, 16);
	cr_expect_eq(record, data + 40, "no copy where there is no need of one");
	cr_assert_eq(zoom_ring_next(&ring, 96, &record, &size), 1);
	cr_expect_eq(size, 24);
	cr_expect_eq(record[23], 2);
	cr_expect_eq(record[0], 9);
	cr_assert_eq(zoom_ring_next(&ring, 96, &record, &size), 1);
	cr_expect_eq(record[15], 3);
	cr_expect_eq(zoom_ring_next(&ring, 96, &record, &size), 0);
	cr_expect_eq(ring.tail, 96);
	zoom_ring_free_up(&ring);
	cr_expect_eq(page.data_tail, 96);
}

Test(zoom_ring, malformed_records_are_refused)
{
	const u8 *record;
	size_t size;
	struct zoom_ring ring = ring_at(0);

	put(0, 7, 0); /* shorter than its header */
	cr_expect_eq(zoom_ring_next(&ring, 32, &record, &size), -EBADMSG);
	cr_expect_eq(zoom_ring_next(&ring, 32, &record, &size), 0, "all is passed over");

	ring = ring_at(0);
	put(0, 40, 0); /* longer than the written part */
	cr_expect_eq(zoom_ring_next(&ring, 32, &record, &size), -EBADMSG);

	ring = ring_at(0); /* less than a header, then more than the ring can hold */
	cr_expect_eq(zoom_ring_next(&ring, 4, &record, &size), -EBADMSG);
	ring = ring_at(0);
	cr_expect_eq(zoom_ring_next(&ring, 72, &record, &size), -EBADMSG);
}

/* More rings than an ordinary user may have: kernel.perf_event_mlock_kb, by default 516 KiB, for each CPU. */
#define RINGS     4096
#define RING_SIZE (64UL << 10)
#define NOBODY    65534

Test(zoom_ring, too_little_locked_memory_is_named)
{
	const struct rlimit none = {0}, files = {RINGS + 64, RINGS + 64};
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .disabled = 1,
				       .exclude_kernel = 1};
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int paranoid = -1, r = 0;

	cr_assert(file && fscanf(file, "%d", &paranoid) == 1);
	(void)fclose(file);
	if (getuid() != 0)
		cr_skip_test("needs root to become someone else");
	if (paranoid < 0)
		cr_skip_test("kernel.perf_event_paranoid is %d: the kernel limits no locked memory",
			     paranoid);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	cr_assert_eq(setuid(NOBODY), 0);
	for (size_t i = 0; i < RINGS && r == 0; i++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		struct zoom_ring ring;

		cr_assert_geq(fd, 0, "%s", strerror(errno));
		r = zoom_ring_open(fd, RING_SIZE, copy, &ring);
	}
	cr_expect_eq(r, -EPERM, "%s", strerror(-r));
}

/* A zoom has a ring for each CPU. On a large machine, anything that each ring allocates adds up. */
Test(zoom_ring, rings_take_no_memory_besides_their_mappings)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = sizeof(attr)};
	struct zoom_ring rings[8];
	size_t before, n = 0;
	int fds[8];

	for (; n < ARRAY_SIZE(fds); n++) {
		fds[n] = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (fds[n] < 0)
			cr_skip_test("this machine does not permit software events: %s", strerror(errno));
	}
	before = heap_bytes();
	for (size_t i = 0; i < n; i++)
		cr_assert_eq(zoom_ring_open(fds[i], 4096, copy, &rings[i]), 0);
	cr_expect_eq(heap_bytes(), before);
	for (size_t i = 0; i < n; i++) {
		zoom_ring_close(&rings[i]);
		(void)close(fds[i]);
	}
}

Test(zoom_ring, ring_memory_is_divided_among_the_cpus)
{
	/* 16 MiB divided among the CPUs, at least 64 KiB and at most 512 KiB. */
	cr_expect_eq(zoom_ring_size(1, 16 << 20, 64 << 10, 512 << 10), 512 << 10);
	cr_expect_eq(zoom_ring_size(32, 16 << 20, 64 << 10, 512 << 10), 512 << 10);
	cr_expect_eq(zoom_ring_size(33, 16 << 20, 64 << 10, 512 << 10), 256 << 10);
	cr_expect_eq(zoom_ring_size(256, 16 << 20, 64 << 10, 512 << 10), 64 << 10);
	cr_expect_eq(zoom_ring_size(1024, 16 << 20, 64 << 10, 512 << 10), 64 << 10);
}
