// SPDX-License-Identifier: GPL-2.0
/*
 * Code addresses and filtered operations in the running kernel: through the inject door against exact counts,
 * and through the perf_event door with a timer, which knows the instruction it interrupted.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "books.h"
#include "cgroup_fixture.h"
#include "software_event.h"

#define ITEMS 3000

static struct books books;

static void open_books(struct event_settings event, bool hardware)
{
	struct kernel_settings settings = books_settings(false);

	settings.n_events = 2;
	settings.events[0] = (struct event_settings){.has_source = 1};
	settings.events[1] = event;
	settings.births = settings.hardware = hardware;
	books_open(&books, &settings, 0);
}

static void name_and_adopt(u64 id, const char *path)
{
	cr_assert_eq(names_add_path(books.names, id, path), 0);
	cr_assert_gt(kernel_adopt(books.kernel, id, 0, path), 0);
}

static struct sample sample_at(u64 cgroup_id, u64 address)
{
	return (struct sample){.cgroup_id = cgroup_id,
			       .code_address = address,
			       .period = 1000,
			       .event = 1,
			       .fields = SAMPLE_CODE_ADDRESS};
}

static void inject_at(u64 cgroup_id, u64 address, size_t n)
{
	static struct sample samples[INJECT_MAX];

	cr_assert_leq(n, INJECT_MAX);
	for (size_t i = 0; i < n; i++)
		samples[i] = sample_at(cgroup_id, address);
	cr_assert_eq(kernel_inject(books.kernel, samples, n), 0);
}

static const struct hot_item *find(const struct hot_list *list, u64 address)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].item == address)
			return &list->items[i];
	return NULL;
}

Test(code, few_addresses_are_exact_and_each_cgroups_own)
{
	struct hot_list list;

	open_books((struct event_settings){.has_code_address = 1}, false);
	name_and_adopt(7, "seven");
	name_and_adopt(8, "eight");
	inject_at(7, 0x401000, 100);
	inject_at(7, 0xffffffff81000000, 30);
	inject_at(8, 0x401000, 5);
	inject_at(9, 0x401000, 50); /* has no slot */
	books_collect(&books);
	inject_at(7, 0x402000, 3);

	cr_assert_eq(collect_hot(books.collect, "seven", 1, &list), 0);
	cr_expect_eq(list.samples, 133, "also what came after the last collection");
	cr_assert_eq(list.n, 3);
	cr_expect_eq(list.items[0].item, 0x401000);
	cr_expect_eq(list.items[0].samples, 100);
	cr_expect_eq(list.items[0].error, 0);
	cr_expect_eq(list.items[1].samples, 30);
	cr_expect_eq(list.items[2].samples, 3);
	hot_list_done(&list);
	cr_assert_eq(collect_hot(books.collect, "eight", 1, &list), 0);
	cr_assert_eq(list.n, 1);
	cr_expect_eq(list.items[0].samples, 5);
	hot_list_done(&list);
	cr_expect_eq(collect_hot(books.collect, "nobody", 1, &list), -ENOENT);
	cr_expect_eq(collect_hot(books.collect, "seven", 0, &list), -EOPNOTSUPP);
	cr_expect_eq(collect_hot(books.collect, "seven", 2, &list), -EOPNOTSUPP);
	books_close(&books);
}

/* More addresses than the table has cells: no estimate is off by more than its bound. */
Test(code, many_addresses_keep_their_bounds)
{
	static u32 exact[ITEMS];
	static struct sample samples[INJECT_MAX];
	struct hot_list list;
	u64 random = 88172645463325252ULL, certain = 0, all = 0;

	open_books((struct event_settings){.has_code_address = 1}, false);
	name_and_adopt(7, "seven");
	for (size_t batch = 0; batch < 40; batch++) {
		for (size_t i = 0; i < INJECT_MAX; i++) {
			u32 item;

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			item = (u32)(random % ITEMS) >> (random >> 60);
			exact[item]++;
			samples[i] = sample_at(7, 0x400000 + 16 * (u64)item);
		}
		cr_assert_eq(kernel_inject(books.kernel, samples, INJECT_MAX), 0);
		all += INJECT_MAX;
	}
	books_collect(&books);
	cr_assert_eq(collect_hot(books.collect, "seven", 1, &list), 0);
	cr_expect_eq(list.samples, all);
	for (size_t i = 0; i < list.n; i++) {
		const struct hot_item *item = &list.items[i];
		u32 really = exact[(item->item - 0x400000) / 16];

		certain += item->samples;
		cr_expect_leq(item->samples, really);
		cr_expect_geq(item->samples + item->error, really);
	}
	printf("%zu of %u addresses have a cell, with %.1f%% of the samples for certain\n", list.n, ITEMS,
	       100 * (double)certain / (double)all);
	for (u32 item = 0; item < ITEMS; item++)
		if (exact[item] > all / 200)
			cr_expect_not_null(find(&list, 0x400000 + 16 * (u64)item), "item %u of %u samples",
					   item, exact[item]);
	hot_list_done(&list);
	books_close(&books);
}

/* A slot that passes to another cgroup takes none of the old one's addresses with it. */
Test(code, the_next_owner_of_a_slot_begins_with_nothing)
{
	struct hot_list list;
	int slot;

	open_books((struct event_settings){.has_code_address = 1}, false);
	name_and_adopt(7, "seven");
	inject_at(7, 0x401000, 100);
	books_collect(&books);
	slot = kernel_adopt(books.kernel, 7, 0, "seven");
	cr_assert_eq(kernel_bury(books.kernel, 7), 0);
	books_collect(&books);
	cr_assert_eq(collect_hot(books.collect, "seven", 1, &list), 0);
	cr_expect_eq(list.n, 1, "as long as its slot rests");
	hot_list_done(&list);
	for (int i = 0; i < 100 && kernel_owner(books.kernel, (u32)slot)->state != SLOT_FREE; i++) {
		(void)usleep(10000);
		books_collect(&books);
	}
	cr_expect_eq(collect_hot(books.collect, "seven", 1, &list), -ENOENT);
	/* Those never used are handed out first. */
	for (u64 id = 100; id < 600; id++) {
		cr_assert_eq(names_add_path(books.names, id, "next"), 0);
		if (kernel_adopt(books.kernel, id, 0, "next") == slot) {
			inject_at(id, 0x402000, 2);
			break;
		}
		cr_assert_lt(id, 599);
	}
	books_collect(&books);
	cr_assert_eq(collect_hot(books.collect, "next", 1, &list), 0);
	cr_expect_eq(list.samples, 2);
	cr_assert_eq(list.n, 1);
	cr_expect_eq(list.items[0].item, 0x402000);
	hot_list_done(&list);
	books_close(&books);
}

/* IBS samples every operation: those of others are counted apart, and nowhere else. */
Test(code, operations_that_the_event_is_not_about_are_filtered)
{
	const struct sample samples[] = {
		{.cgroup_id = 7,
		 .event = 1,
		 .data_source = OP_STORE,
		 .period = 1,
		 .fields = SAMPLE_DATA_SOURCE},
		{.cgroup_id = 7,
		 .event = 1,
		 .data_source = OP_LOAD,
		 .period = 1,
		 .fields = SAMPLE_DATA_SOURCE},
		{.cgroup_id = 7, .event = 1, .data_source = 1, .period = 1, .fields = SAMPLE_DATA_SOURCE},
		{.cgroup_id = 9, .event = 1, .data_source = 1, .period = 1, .fields = SAMPLE_DATA_SOURCE},
		{.cgroup_id = 7, .event = 1, .period = 1},
		{.cgroup_id = 7, .event = 1, .latency = SAMPLE_LATENCY_MAX + 1, .fields = SAMPLE_LATENCY},
		{.cgroup_id = 7, .event = 0, .data_source = 1, .period = 1, .fields = SAMPLE_DATA_SOURCE},
	};

	open_books((struct event_settings){.has_source = 1, .operations = OP_LOAD}, false);
	name_and_adopt(7, "seven");
	cr_assert_eq(kernel_inject(books.kernel, samples, ARRAY_SIZE(samples)), 0);
	books_collect(&books);
	cr_expect_eq(books_samples(&books, "seven", 1), 1);
	cr_expect_eq(books_losses(&books, 1).filtered, 5);
	cr_expect_eq(books_losses(&books, 1).malformed, 0, "what is not the event's is nothing to it");
	cr_expect_eq(books_unattributed(&books, 1), 0);
	cr_expect_eq(books_samples(&books, "seven", 0), 1, "the other event takes all");
	cr_expect_eq(books_losses(&books, 0).filtered, 0);
	books_close(&books);
}

static struct cgroup_fixture fixture;

static void setup_fixture(void)
{
	cgroup_fixture_setup(&fixture);
}

static void teardown_fixture(void)
{
	books_close(&books);
	cgroup_fixture_teardown(&fixture);
}

TestSuite(code_door, .init = setup_fixture, .fini = teardown_fixture);

static void adopt_fixture(void)
{
	cr_assert_gt(kernel_adopt(books.kernel, 1, 0, ""), 0);
	cr_assert_gt(kernel_adopt(books.kernel, cgroup_fixture_id(&fixture), 1, fixture.path + 1), 0);
}

static volatile u64 turns;

static void __attribute__((noinline)) turn(u64 n)
{
	for (u64 i = 0; i < n; i++)
		turns = turns + i;
}

/* Behind turn() in the text. */
static void __attribute__((noinline)) turn_end(void)
{
	turns = 0;
}

static int spin(void *userdata)
{
	turn(*(const u64 *)userdata);
	turn_end();
	return 0;
}

/* A loop of a few instructions is found where it stands. */
Test(code_door, a_timer_finds_the_loop)
{
	static const u64 n = 600000000;
	_cleanup_free_ char *path = NULL;
	struct hot_list list;
	struct cgroup_child child;
	_cleanup_close_ int fd = -1;
	u64 begin = (u64)(uintptr_t)turn, within = 0;

	open_books((struct event_settings){.has_code_address = 1}, true);
	adopt_fixture();
	cgroup_fixture_make(&fixture, "spinner");
	child = cgroup_fixture_child(&fixture, "spinner", spin, (void *)&n);
	fd = software_event_open(&(struct software_event){.config = PERF_COUNT_SW_CPU_CLOCK,
							  .period = NSEC_PER_MSEC,
							  .pid = child.pid,
							  .cpu = -1},
				 kernel_program_fd(books.kernel, 1));
	software_event_enable(fd);
	cgroup_fixture_go(&child);
	books_collect(&books);
	cr_assert_geq(asprintf(&path, "%s/spinner", fixture.path), 0);
	cr_assert_eq(collect_hot(books.collect, path, 1, &list), 0);
	for (size_t i = 0; i < list.n; i++)
		if (list.items[i].item >= begin && list.items[i].item < begin + 64)
			within += list.items[i].samples;
	printf("%llu of %llu samples of 1 ms are in the loop; the hottest address has %llu\n",
	       (unsigned long long)within, (unsigned long long)list.samples,
	       (unsigned long long)(list.n ? list.items[0].samples : 0));
	cr_expect_gt(list.samples, 50);
	cr_expect_eq(list.samples, books_samples(&books, path, 1));
	cr_expect_gt(10 * within, 8 * list.samples);
	hot_list_done(&list);
	cgroup_fixture_remove(&fixture, "spinner");
}

/* A page fault has no data source: to an event of loads alone it is another operation. */
Test(code_door, filtered_samples_are_all_that_came)
{
	_cleanup_free_ char *path = NULL;
	unsigned pages = 2000;
	struct cgroup_child child;
	_cleanup_close_ int fd = -1;

	open_books((struct event_settings){.has_source = 1, .operations = OP_LOAD}, true);
	adopt_fixture();
	cgroup_fixture_make(&fixture, "worker");
	child = cgroup_fixture_child(&fixture, "worker", touch_pages, &pages);
	fd = software_event_open(&(struct software_event){.config = PERF_COUNT_SW_PAGE_FAULTS,
							  .period = 1,
							  .sample_type = PERF_SAMPLE_DATA_SRC,
							  .pid = child.pid,
							  .cpu = -1},
				 kernel_program_fd(books.kernel, 1));
	software_event_enable(fd);
	cgroup_fixture_go(&child);
	books_collect(&books);
	cr_assert_geq(asprintf(&path, "%s/worker", fixture.path), 0);
	cr_expect_geq(books_losses(&books, 1).filtered, pages);
	cr_expect_eq(books_losses(&books, 1).filtered, software_event_count(fd));
	cr_expect_eq(books_samples(&books, path, 1), 0);
	cgroup_fixture_remove(&fixture, "worker");
}
