// SPDX-License-Identifier: GPL-2.0
/*
 * The cache of answers: pending requests, the order in which they were sent, and the process that is blamed
 * for a failure.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "random_numbers.h"
#include "scarce_memory.h"
#include "symbols/symbols_backoff.h"
#include "symbols/symbols_cache.h"
#include "symbols/symbols_queue.h"

static struct symbols_cache *cache;
static struct symbols_queue queue;

static void open_cache(size_t entries, u64 bytes)
{
	const struct symbols_cache_limits limits = {entries, bytes};

	cr_assert_eq(symbols_cache_new(&limits, &cache), 0);
}

static void end(void)
{
	cache = symbols_cache_free(cache);
	symbols_queue_clear(&queue);
}

TestSuite(symbols_cache, .fini = end);
TestSuite(symbols_queue, .fini = end);

static struct symbol_query at(u32 pid, u64 address)
{
	return symbols_cache_key(&(struct symbol_query){.address = address, .pid = pid, .kind = SYMBOL_CODE});
}

static struct symbols_entry *get(u32 pid, u64 address)
{
	struct symbol_query key = at(pid, address);

	return symbols_cache_get(cache, &key);
}

static struct symbols_entry *ask(u32 pid, u64 address)
{
	struct symbol_query key = at(pid, address);
	struct symbols_entry *entry;

	cr_assert_eq(symbols_cache_add(cache, &key, &entry), 0);
	return entry;
}

/* Answers with `bytes` bytes, all of which are the name of a module. */
static void give(struct symbols_entry *entry, size_t bytes)
{
	char *block = malloc(bytes);

	cr_assert(block);
	memset(block, 'm', bytes - 1);
	block[bytes - 1] = '\0';
	symbols_cache_answer(cache, entry,
			     &(struct symbols_wire_answer){.has_symbol = true,
							   .symbol = {.region = SYMBOL_FILE, .module = block},
							   .block = block,
							   .bytes = bytes},
			     1);
}

Test(symbols_cache, an_answer_is_found_again_for_its_process)
{
	open_cache(10, 1 << 20);
	cr_expect_null(get(1, 0x1000));
	give(ask(1, 0x1000), 8);
	cr_expect_str_eq(get(1, 0x1000)->symbol.module, "mmmmmmm");
	cr_expect_not(get(1, 0x1000)->pending);
	cr_expect_null(get(2, 0x1000));
	cr_expect_null(get(1, 0x1001));
}

Test(symbols_cache, a_kernel_address_is_shared_by_all_processes)
{
	open_cache(10, 1 << 20);
	give(ask(1, 0xffffffff81000000), 8);
	cr_expect(get(2, 0xffffffff81000000));
	symbols_cache_drop(cache, 1);
	cr_expect(get(2, 0xffffffff81000000));
}

Test(symbols_cache, the_least_recently_used_entry_is_evicted)
{
	open_cache(3, 1 << 20);
	for (u64 i = 0; i < 3; i++)
		give(ask(1, i), 8);
	cr_expect(get(1, 0));
	give(ask(1, 3), 8);
	cr_expect_null(get(1, 1));
	cr_expect(get(1, 0));
	cr_expect(get(1, 2));
	cr_expect(get(1, 3));
	cr_expect_eq(symbols_cache_count(cache), 3);
}

Test(symbols_cache, bytes_are_bounded_too)
{
	u64 empty;

	open_cache(100000, 100000);
	empty = symbols_cache_bytes(cache);
	for (u64 i = 0; i < 1000; i++)
		give(ask((u32)(i % 7), i), 1000);
	while (symbols_cache_sweep(cache))
		;
	cr_expect_leq(symbols_cache_bytes(cache) - empty, 100000);
	cr_expect_geq(symbols_cache_bytes(cache) - empty, 90000);
	cr_expect(get((u32)(999 % 7), 999));
	for (u32 pid = 0; pid < 7; pid++)
		symbols_cache_drop(cache, pid);
	cr_expect_eq(symbols_cache_count(cache), 0);
	while (symbols_cache_sweep(cache))
		;
	cr_expect_eq(symbols_cache_bytes(cache), empty);
}

Test(symbols_cache, returned_entries_are_valid_until_the_sweep)
{
	struct symbols_entry *first;

	open_cache(1, 1 << 20);
	first = ask(1, 1);
	give(first, 8);
	give(ask(1, 2), 8);
	cr_expect_null(get(1, 1));
	cr_expect_str_eq(first->symbol.module, "mmmmmmm");
	cr_expect(symbols_cache_sweep(cache));
	cr_expect_not(symbols_cache_sweep(cache));
}

Test(symbols_cache, pending_entries_are_not_evicted)
{
	struct symbols_entry *entry;

	open_cache(1, 1 << 20);
	entry = ask(1, 1);
	(void)ask(1, 2);
	(void)ask(1, 3);
	cr_expect_eq(get(1, 1), entry);
	cr_expect_eq(symbols_cache_count(cache), 3);
	give(entry, 8);
	cr_expect(get(1, 1));
}

Test(symbols_cache, an_exec_removes_the_entries_of_the_process)
{
	struct symbols_entry *waits;

	open_cache(10, 1 << 20);
	give(ask(1, 1), 8);
	give(ask(2, 1), 8);
	waits = ask(1, 2);
	symbols_cache_drop(cache, 1);
	cr_expect_null(get(1, 1));
	cr_expect_null(get(1, 2), "its answer would be the former program's");
	cr_expect(waits->dropped);
	cr_expect(get(2, 1));
	give(waits, 8);
	cr_expect_null(get(1, 2));
	cr_expect_eq(symbols_cache_count(cache), 1);
}

Test(symbols_cache, a_new_mapping_removes_the_entries_below_it)
{
	static const u64 kept[] = {0xfff, 0x3000, 0x7fff00000000}, gone[] = {0x1000, 0x1800, 0x2fff};

	open_cache(10, 1 << 20);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		give(ask(1, kept[i]), 8);
		give(ask(1, gone[i]), 8);
	}
	symbols_cache_drop_range(cache, 2, 0x1000, 0x2000);
	symbols_cache_drop_range(cache, 1, 0x7ffe00000000, 0x1000);
	symbols_cache_drop_range(cache, 1, 0x1000, 0);
	cr_expect_eq(symbols_cache_count(cache), 6);
	symbols_cache_drop_range(cache, 1, 0x1000, 0x2000);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		cr_expect(get(1, kept[i]));
		cr_expect_null(get(1, gone[i]));
	}
	/* Drop the whole address space, which has more parts than the filter has bits. */
	symbols_cache_drop_range(cache, 1, 0, 1ULL << 47);
	cr_expect_eq(symbols_cache_count(cache), 0);
}

static u64 random_number(void)
{
	static u64 state = 1;

	return xorshift(&state) >> 11;
}

/* Compares the cache with a plain table over operations in random order. */
Test(symbols_cache, the_cache_equals_an_unbounded_table)
{
	bool known[4][64] = {0};

	open_cache(1000, 1 << 20);
	for (unsigned int i = 0; i < 20000; i++) {
		u32 pid = (u32)(random_number() % 4);
		u64 address = random_number() % 64;
		u64 size = random_number() % 16;

		switch (random_number() % 8) {
		case 0:
			symbols_cache_drop_range(cache, pid, address << 20, size << 20);
			for (u64 a = address; a < address + size && a < 64; a++)
				known[pid][a] = false;
			break;
		case 1:
			if (random_number() % 8)
				break;
			symbols_cache_drop(cache, pid);
			memset(known[pid], 0, sizeof(known[pid]));
			break;
		default:
			cr_assert_eq(get(pid, address << 20) != NULL, known[pid][address], "step %u", i);
			if (!known[pid][address])
				give(ask(pid, address << 20), 8);
			known[pid][address] = true;
		}
		(void)symbols_cache_sweep(cache);
	}
}

static struct symbols_wire_request question(u64 address)
{
	return (struct symbols_wire_request){.type = SYMBOLS_WIRE_FIND, .query = at(1, address)};
}

Test(symbols_queue, requests_keep_their_order)
{
	struct symbols_entry entry = {.query = at(1, 5)};
	struct symbols_wire_request request = question(5);
	struct symbols_wire_request note = {.type = SYMBOLS_WIRE_PROCESS, .pid = 3};
	const u8 *packet;

	cr_expect_null(symbols_queue_first(&queue));
	cr_expect_eq(symbols_queue_packet(&queue, &packet), 0);
	cr_assert_eq(symbols_queue_add(&queue, &note, 3, NULL), 0);
	cr_assert_eq(symbols_queue_add(&queue, &request, 1, &entry), 0);
	cr_expect_eq(symbols_queue_first(&queue)->number, 1);
	cr_expect_eq(queue.queries, 1);
	symbols_queue_sent(&queue, symbols_queue_packet(&queue, &packet));
	cr_expect_eq(symbols_queue_packet(&queue, &packet), 0);
	symbols_queue_remove_first(&queue);
	cr_expect_eq(symbols_queue_first(&queue)->entry, &entry);
	symbols_queue_remove_first(&queue);
	cr_expect_eq(queue.queries, 0);
}

Test(symbols_queue, the_queue_is_bounded_and_wraps_around)
{
	struct symbols_wire_request request = question(5);
	const u8 *packet;
	size_t n = 0, size;

	for (u64 i = 0; i < 3 * SYMBOLS_QUEUE_MAX; i++) {
		cr_assert_eq(symbols_queue_add(&queue, &request, 1, NULL), 0);
		if (i % 3)
			continue;
		symbols_queue_sent(&queue, symbols_queue_packet(&queue, &packet));
		while (queue.n > 100)
			symbols_queue_remove_first(&queue);
	}
	cr_expect_leq(symbols_queue_bytes(&queue), 100000, "%llu",
		      (unsigned long long)symbols_queue_bytes(&queue));
	while (queue.n)
		symbols_queue_remove_first(&queue);
	while (symbols_queue_add(&queue, &request, 1, NULL) == 0)
		n++;
	cr_expect_eq(n, SYMBOLS_QUEUE_MAX);
	cr_expect_eq(symbols_queue_add(&queue, &request, 1, NULL), -ENOBUFS);
	while ((size = symbols_queue_packet(&queue, &packet))) {
		cr_assert_leq(size, SYMBOLS_WIRE_PACKET);
		symbols_queue_sent(&queue, size);
	}
}

static char path[5000];

static struct symbols_wire_request mapped(void)
{
	memset(path, 'p', sizeof(path) - 1);
	return (struct symbols_wire_request){.type = SYMBOLS_WIRE_MAPPED, .mapping.path = path};
}

Test(symbols_queue, long_paths_are_bounded_in_bytes)
{
	struct symbols_wire_request request = mapped();
	size_t n = 0;

	while (symbols_queue_add(&queue, &request, 1, NULL) == 0)
		n++;
	cr_expect_gt(n, 1500);
	cr_expect_leq(symbols_queue_bytes(&queue), SYMBOLS_QUEUE_BYTES_MAX);
}

/* Sends one packet, whose requests must have the next numbers. Returns how many there were. */
static size_t send_packet(u64 *number)
{
	struct symbols_wire_request request;
	const u8 *packet;
	size_t size = symbols_queue_packet(&queue, &packet), n = 0;

	for (size_t at = 0; at < size; n++) {
		ssize_t got = symbols_wire_read_request(packet + at, size - at, &request);

		cr_assert_gt(got, 0);
		cr_assert_eq(request.number, ++*number);
		at += (size_t)got;
	}
	symbols_queue_sent(&queue, size);
	return n;
}

/* Both parts of the queue are as large as they can be: the buffer first, then the ring. */
Test(symbols_queue, memory_of_the_largest_queue_is_bounded)
{
	struct symbols_wire_request large = mapped(), small = question(5);
	u64 number = 0;

	while (symbols_queue_add(&queue, &large, 1, NULL) == 0)
		;
	while (queue.n < SYMBOLS_QUEUE_MAX) {
		if (symbols_queue_add(&queue, &small, 1, NULL) < 0)
			cr_assert_gt(send_packet(&number), 0);
	}
	cr_expect_leq(symbols_queue_bytes(&queue), SYMBOLS_QUEUE_BYTES_MAX);
	cr_expect_geq(symbols_queue_bytes(&queue), SYMBOLS_QUEUE_BYTES_MAX - 4096);
	while (send_packet(&number))
		;
	cr_expect_eq(number, SYMBOLS_QUEUE_MAX);
}

/* The symbolizer is slower than the events for a long time, and the buffer is always nearly full. */
Test(symbols_queue, a_full_buffer_keeps_the_order_of_its_requests)
{
	struct symbols_wire_request large = mapped();
	u64 number = 0, added = 0;

	while (added < 20000) {
		if (symbols_queue_add(&queue, &large, 1, NULL) == 0) {
			added++;
			continue;
		}
		cr_assert_eq(queue.unsent_size,
			     SYMBOLS_QUEUE_BYTES_MAX - SYMBOLS_QUEUE_MAX * sizeof(*queue.ring));
		for (size_t n = send_packet(&number); n > 0; n--)
			symbols_queue_remove_first(&queue);
		cr_assert_leq(symbols_queue_bytes(&queue), SYMBOLS_QUEUE_BYTES_MAX);
	}
	while (send_packet(&number))
		;
	cr_expect_eq(number, added);
}

Test(symbols_queue, another_symbolizer_gets_only_the_requests)
{
	struct symbols_entry entries[3] = {{.query = at(1, 5)}, {.query = at(1, 6)}, {.query = at(1, 7)}};
	struct symbols_wire_request note = {.type = SYMBOLS_WIRE_PROCESS, .pid = 3}, got;
	const u8 *packet;
	size_t size, begin = 0;

	for (u64 i = 0; i < 3; i++) {
		struct symbols_wire_request request = question(5 + i);

		cr_assert_eq(symbols_queue_add(&queue, &note, 3, NULL), 0);
		cr_assert_eq(symbols_queue_add(&queue, &request, 1, &entries[i]), 0);
	}
	symbols_queue_sent(&queue, symbols_queue_packet(&queue, &packet));
	cr_assert_eq(symbols_queue_restart(&queue), 0);
	cr_expect_eq(queue.n, 3);
	cr_expect_eq(queue.queries, 3);
	size = symbols_queue_packet(&queue, &packet);
	for (u64 i = 0; i < 3; i++) {
		ssize_t n = symbols_wire_read_request(packet + begin, size - begin, &got);

		cr_assert_gt(n, 0);
		begin += (size_t)n;
		cr_expect_eq(got.query.address, 5 + i);
		cr_expect_eq(got.number, symbols_queue_first(&queue)->number);
		cr_expect_eq(symbols_queue_first(&queue)->entry, &entries[i]);
		symbols_queue_remove_first(&queue);
	}
	cr_expect_eq(begin, size);
}

/* More queries are in flight than have ever been unsent at once. */
Test(symbols_queue, without_memory_another_symbolizer_gets_nothing)
{
	struct symbols_entry entry = {.query = at(1, 5)};
	struct symbols_wire_request request = question(5);
	u64 number = 0;
	const u8 *packet;

	for (size_t i = 0; i < 1000; i++) {
		cr_assert_eq(symbols_queue_add(&queue, &request, 1, &entry), 0);
		cr_assert_eq(send_packet(&number), 1);
	}
	scarce_memory_after(0);
	cr_expect_eq(symbols_queue_restart(&queue), -ENOMEM);
	cr_assert(scarce_memory_end());
	cr_expect_eq(queue.n, 1000, "the caller gives them up");
	cr_expect_eq(symbols_queue_packet(&queue, &packet), 0);
	cr_assert_eq(symbols_queue_restart(&queue), 0);
	cr_expect_eq(symbols_queue_first(&queue)->number, number + 1);
	for (size_t n = 0; n < 1000;)
		n += send_packet(&number);
	cr_expect_eq(symbols_queue_packet(&queue, &packet), 0);
}

Test(symbols_backoff, starts_are_limited)
{
	struct symbols_backoff backoff = {0};

	for (u64 i = 0; i < SYMBOLS_BACKOFF_STARTS; i++) {
		cr_assert(symbols_backoff_may_start(&backoff, 1 + i));
		symbols_backoff_started(&backoff, 1 + i);
	}
	cr_expect_not(symbols_backoff_may_start(&backoff, SYMBOLS_BACKOFF_SPAN_NS));
	cr_expect(symbols_backoff_may_start(&backoff, 1 + SYMBOLS_BACKOFF_SPAN_NS));
	symbols_backoff_started(&backoff, 1 + SYMBOLS_BACKOFF_SPAN_NS);
	cr_expect_not(symbols_backoff_may_start(&backoff, 1 + SYMBOLS_BACKOFF_SPAN_NS));
}

Test(symbols_backoff, a_process_is_barred_temporarily)
{
	struct symbols_backoff backoff = {0};
	u64 last = 10 + SYMBOLS_BACKOFF_FAILURES - 1;

	for (u64 i = 0; i < SYMBOLS_BACKOFF_FAILURES; i++) {
		cr_expect_not(symbols_backoff_is_barred(&backoff, 7, 10 + i));
		symbols_backoff_add(&backoff, 7, 10 + i);
	}
	cr_expect(symbols_backoff_is_barred(&backoff, 7, last));
	cr_expect_not(symbols_backoff_is_barred(&backoff, 8, last));
	cr_expect(symbols_backoff_is_barred(&backoff, 7, last + SYMBOLS_BACKOFF_KEPT_NS));
	cr_expect_not(symbols_backoff_is_barred(&backoff, 7, last + SYMBOLS_BACKOFF_KEPT_NS + 1));
	symbols_backoff_add(&backoff, 7, last + 2 * SYMBOLS_BACKOFF_KEPT_NS);
	cr_expect_not(symbols_backoff_is_barred(&backoff, 7, last + 2 * SYMBOLS_BACKOFF_KEPT_NS),
		      "the former failures are forgotten");
	for (u32 pid = 100; pid < 100 + SYMBOLS_BACKOFF_PIDS; pid++)
		symbols_backoff_add(&backoff, pid, last + 3 * SYMBOLS_BACKOFF_KEPT_NS);
	cr_expect_not(symbols_backoff_is_barred(&backoff, 7, last + 3 * SYMBOLS_BACKOFF_KEPT_NS));
}
