// SPDX-License-Identifier: GPL-2.0
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "origin/perf/perf_throttle.h"
#include "random_numbers.h"

#define SIZE 4096

/* A ring as the kernel fills it: `head` grows, and records that do not fit are counted as lost. */
struct ring {
	unsigned char data[SIZE];
	u64 head, tail, lost;
	struct perf_throttle throttle;
};

static struct ring ring;

static bool has_room(size_t n)
{
	return SIZE - 1 - (ring.head - ring.tail) >= n;
}

static void put_bytes(const void *bytes, size_t n)
{
	size_t at = ring.head % SIZE, first = n < SIZE - at ? n : SIZE - at;

	memcpy(ring.data + at, bytes, first);
	memcpy(ring.data, (const char *)bytes + first, n - first);
	ring.head += n;
}

static void put_record(u32 type, u64 first, u64 second, u64 third)
{
	const struct {
		struct perf_event_header header;
		u64 body[3];
	} record = {{.type = type, .size = sizeof(record)}, {first, second, third}};
	const struct {
		struct perf_event_header header;
		u64 id, lost;
	} lost = {{.type = PERF_RECORD_LOST, .size = sizeof(lost)}, 7, ring.lost};

	if (!has_room(sizeof(record) + (ring.lost ? sizeof(lost) : 0))) {
		ring.lost++;
		return;
	}
	if (ring.lost)
		put_bytes(&lost, sizeof(lost));
	ring.lost = 0;
	put_bytes(&record, sizeof(record));
}

static void stop(u64 time)
{
	put_record(PERF_RECORD_THROTTLE, time, 1, 1);
}

static void go(u64 time)
{
	put_record(PERF_RECORD_UNTHROTTLE, time, 1, 1);
}

static void read_ring(u64 now)
{
	perf_throttle_read(ring.data, SIZE, ring.tail, ring.head, now, &ring.throttle);
	ring.tail = ring.head;
}

static void expect(u64 ns, u64 throttles)
{
	cr_expect_eq(ring.throttle.throttled_ns, ns, "throttled for %llu ns, not %llu",
		     (unsigned long long)ring.throttle.throttled_ns, (unsigned long long)ns);
	cr_expect_eq(ring.throttle.throttles, throttles, "throttled %llu times, not %llu",
		     (unsigned long long)ring.throttle.throttles, (unsigned long long)throttles);
}

Test(perf_throttle, throttled_times_are_added_up)
{
	read_ring(50);
	expect(0, 0);
	stop(100);
	go(400);
	stop(1000);
	go(1007);
	read_ring(2000);
	expect(307, 2);
	read_ring(3000);
	expect(307, 2);
}

Test(perf_throttle, a_lasting_stop_is_counted_up_to_now_and_not_twice)
{
	stop(1000);
	read_ring(1500);
	expect(500, 1);
	read_ring(1600);
	expect(600, 1);
	go(2000);
	read_ring(9000);
	expect(1000, 1);
}

/* The event continued just before the reading, but the record of this came only after the reading. */
Test(perf_throttle, an_end_before_the_counted_time_subtracts_nothing)
{
	stop(1000);
	read_ring(1500);
	go(1499);
	stop(1800);
	go(1900);
	read_ring(2000);
	expect(600, 2);
}

/* The CPU went offline, or the end was not logged. */
Test(perf_throttle, a_stop_without_an_end_is_bounded)
{
	stop(1000);
	read_ring(1000 + PERF_THROTTLE_MAX_NS / 2);
	read_ring(1000 + 10 * PERF_THROTTLE_MAX_NS);
	read_ring(1000 + 20 * PERF_THROTTLE_MAX_NS);
	expect(PERF_THROTTLE_MAX_NS, 1);
}

/* An idle CPU had no tick, so the stop ended late. */
Test(perf_throttle, a_late_end_makes_a_long_stop_whole)
{
	stop(1000);
	read_ring(1000 + 5 * PERF_THROTTLE_MAX_NS);
	expect(PERF_THROTTLE_MAX_NS, 1);
	go(1000 + 6 * PERF_THROTTLE_MAX_NS);
	read_ring(1000 + 7 * PERF_THROTTLE_MAX_NS);
	expect(6 * PERF_THROTTLE_MAX_NS, 1);
}

Test(perf_throttle, a_stop_whose_end_is_missing_is_not_counted)
{
	stop(100);
	stop(5000);
	go(5010);
	go(7000);
	read_ring(9000);
	expect(10, 2);
}

Test(perf_throttle, records_across_the_end_of_the_ring_are_read)
{
	for (u64 first = SIZE - 64; first < SIZE; first += 8) {
		ring = (struct ring){.head = first, .tail = first};
		stop(100);
		go(400);
		read_ring(1000);
		expect(300, 1);
	}
}

/* The kernel's positions are 64-bit counters. Here they wrap around to 0 between the two records. */
Test(perf_throttle, wrapped_positions_are_read_right)
{
	ring = (struct ring){.head = UINT64_MAX - 31, .tail = UINT64_MAX - 31};
	stop(100);
	go(400);
	read_ring(1000);
	expect(300, 1);
}

Test(perf_throttle, stops_beyond_the_ring_are_not_guessed)
{
	u64 time = 1000;

	/* 127 records fit. The last one is a stop, and its end is lost. */
	for (unsigned i = 0; i < 100; i++, time += 20) {
		stop(time);
		go(time + 10);
	}
	cr_assert_eq(ring.lost, 73);
	read_ring(time);
	expect(630, 64);
	cr_expect(ring.throttle.full);
	cr_expect_eq(ring.throttle.lost, 0, "the kernel has not told yet");
	read_ring(time + 1000);
	expect(630, 64);
	cr_expect_not(ring.throttle.full);

	/* The next record ends a stop whose beginning is unknown. */
	go(time + 2000);
	stop(time + 3000);
	go(time + 3003);
	read_ring(time + 5000);
	expect(633, 65);
	cr_expect_eq(ring.throttle.lost, 73);
	cr_expect_not(ring.throttle.full);
}

/* Records were lost, although those before and after them had room. The state is then unknown as well. */
Test(perf_throttle, lost_records_make_the_state_unknown)
{
	stop(1000);
	ring.lost = 2;
	go(9000);
	read_ring(9500);
	expect(0, 1);
	cr_expect_eq(ring.throttle.lost, 2);
}

Test(perf_throttle, other_records_are_skipped)
{
	put_record(PERF_RECORD_SAMPLE, 1, 2, 3);
	stop(100);
	put_record(PERF_RECORD_LOST_SAMPLES, 9, 0, 0);
	put_record(4711, 1, 2, 3);
	go(150);
	read_ring(200);
	expect(50, 1);
}

Test(perf_throttle, impossible_times_are_ignored)
{
	stop(1000);
	go(UINT64_MAX);
	read_ring(1200);
	expect(200, 1);
	stop(UINT64_MAX);
	read_ring(1300);
	expect(200, 2);
	go(5);
	read_ring(1400);
	expect(200, 2);
}

static void put_header(u32 type, u16 size)
{
	put_bytes(&(struct perf_event_header){.type = type, .size = size}, sizeof(struct perf_event_header));
}

/*
 * The last record has 16 bytes. With any of these sizes, it does not end where the content of the ring ends.
 */
Test(perf_throttle, impossible_sizes_end_the_reading)
{
	static const u16 sizes[] = {0, 1, 7, 9, 15, 24, 40, 4096, 65535};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		ring = (struct ring){0};
		stop(100);
		go(110);
		stop(200);
		put_header(PERF_RECORD_UNTHROTTLE, sizes[i]);
		put_bytes("\0\0\0\0\0\0\0", 8);
		read_ring(1000);
		expect(10, 2);
		/* The next reading begins at the new position. */
		stop(2000);
		go(2005);
		read_ring(3000);
		expect(15, 3);
	}
}

Test(perf_throttle, records_too_short_for_their_type_are_skipped)
{
	put_header(PERF_RECORD_THROTTLE, 8);
	put_header(PERF_RECORD_LOST, 8);
	put_header(PERF_RECORD_UNTHROTTLE, 8);
	read_ring(1000);
	expect(0, 0);
	cr_expect_eq(ring.throttle.lost, 0);
}

Test(perf_throttle, impossible_positions_are_ignored)
{
	static const u64 heads[] = {SIZE + 1, SIZE * 3ULL, UINT64_MAX, UINT64_MAX - SIZE};

	stop(100);
	read_ring(110);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		perf_throttle_read(ring.data, SIZE, 0, heads[i], 1000, &ring.throttle);
	expect(10, 1);
}

/*
 * Any content: nothing outside of the ring is read, the reading ends, and the throttled time never exceeds
 * the time that has passed.
 */
Test(perf_throttle, random_bytes_are_harmless)
{
	u64 random = XORSHIFT_SEED;

	for (unsigned round = 0; round < 20000; round++) {
		/*
		 * The ring has its exact size on the heap, so that a sanitizer notices any access beyond it.
		 */
		size_t size = (size_t)8 << (round % 6);
		unsigned char *data = malloc(size);
		struct perf_throttle throttle = {0};
		u64 tail = 0;

		cr_assert_not_null(data);
		for (u64 now = 1000; now <= 5000; now += 1000) {
			u64 before = throttle.throttled_ns, head;

			for (size_t i = 0; i < size; i++) {
				(void)xorshift(&random);
				/* Mostly small values, because these are almost valid types and sizes. */
				data[i] = random & 1024 ? (unsigned char)(random & 31 & (random >> 16)) : 0;
			}
			head = tail + (random >> 32) % (size + 2);
			perf_throttle_read(data, size, tail, head, now, &throttle);
			tail = head;
			cr_assert_leq(throttle.throttled_ns, now);
			cr_assert_geq(throttle.throttled_ns, before);
		}
		free(data);
	}
}
