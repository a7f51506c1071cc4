// SPDX-License-Identifier: GPL-2.0
/* Collections are made on time, however busy the event loop is, and the age of the last one is known. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "schedule/collection_timer.h"

#define INTERVAL_US 20000
#define SECOND_US   1000000ULL

Test(collection_timer, collections_keep_to_a_grid_of_intervals)
{
	cr_expect_eq(collection_timer_next_us(1000, 1000, 100), 1100);
	cr_expect_eq(collection_timer_next_us(1000, 1060, 100), 1100, "took more than half an interval");
	cr_expect_eq(collection_timer_next_us(1000, 1075, 100), 1100);
}

Test(collection_timer, missed_collections_are_not_repeated)
{
	cr_expect_eq(collection_timer_next_us(1000, 1076, 100), 1176, "the rest of the loop needs time, too");
	cr_expect_eq(collection_timer_next_us(1000, 5000, 100), 5100);
}

Test(collection_timer, three_intervals_and_ten_seconds_without_a_collection_are_overdue)
{
	cr_expect_not(collection_timer_is_overdue(0, SECOND_US));
	cr_expect_not(collection_timer_is_overdue(11 * SECOND_US, SECOND_US));
	cr_expect(collection_timer_is_overdue(11 * SECOND_US + 1, SECOND_US));
	cr_expect_not(collection_timer_is_overdue(180 * SECOND_US, 60 * SECOND_US));
	cr_expect(collection_timer_is_overdue(180 * SECOND_US + 1, 60 * SECOND_US));
}

struct loop {
	sd_event *event;
	sd_event_source *busy;
	struct collection_timer timer;
	unsigned reloads, reloads_most;
	unsigned collections;
	u64 interval_us;
};

static void on_collection(void *userdata)
{
	struct loop *loop = userdata;

	loop->collections++;
}

static int on_reload(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct loop *loop = userdata;

	collection_timer_set_interval(&loop->timer, loop->interval_us);
	if (++loop->reloads == loop->reloads_most)
		return sd_event_exit(loop->event, 0);
	(void)sd_event_source_set_time(source, usec + INTERVAL_US / 4);
	return sd_event_source_set_enabled(source, SD_EVENT_ON);
}

static void run(struct loop *loop)
{
	cr_assert_geq(sd_event_loop(loop->event), 0);
	collection_timer_done(&loop->timer);
	sd_event_source_unref(loop->busy);
	sd_event_unref(loop->event);
}

/* A hundred reloads, a quarter of an interval apart, take at least 24 intervals. */
Test(collection_timer, reloads_do_not_delay_collections)
{
	struct loop loop = {.reloads_most = 100, .interval_us = INTERVAL_US};

	cr_assert_geq(sd_event_new(&loop.event), 0);
	cr_assert_geq(
		sd_event_add_time_relative(loop.event, &loop.busy, CLOCK_MONOTONIC, 0, 1, on_reload, &loop),
		0);
	cr_assert_geq(collection_timer_start(&loop.timer, loop.event, INTERVAL_US, on_collection, &loop), 0);
	run(&loop);
	cr_expect_geq(loop.collections, 2, "%u collections during %u reloads", loop.collections,
		      loop.reloads);
}

static int on_busy(sd_event_source *source, void *userdata)
{
	struct loop *loop = userdata;
	const u64 age_us = collection_timer_age_us(&loop->timer);

	/* Acts as a client whose work never ends. */
	while (collection_timer_age_us(&loop->timer) < age_us + INTERVAL_US / 2)
		;
	if (++loop->reloads == loop->reloads_most)
		return sd_event_exit(loop->event, 0);
	return sd_event_source_set_enabled(source, SD_EVENT_ON);
}

/* Eight clients with calls of half an interval each. At most two intervals pass between collections. */
Test(collection_timer, a_due_collection_precedes_requests_of_clients)
{
	struct loop loop = {.reloads_most = 40, .interval_us = INTERVAL_US};
	sd_event_source *busy[8];

	cr_assert_geq(sd_event_new(&loop.event), 0);
	for (size_t i = 0; i < 8; i++) {
		cr_assert_geq(sd_event_add_defer(loop.event, &busy[i], on_busy, &loop), 0);
		cr_assert_geq(sd_event_source_set_enabled(busy[i], SD_EVENT_ON), 0);
	}
	cr_assert_geq(collection_timer_start(&loop.timer, loop.event, INTERVAL_US, on_collection, &loop), 0);
	run(&loop);
	for (size_t i = 0; i < 8; i++)
		sd_event_source_unref(busy[i]);
	cr_expect_geq(loop.collections, 10, "%u collections during %u calls", loop.collections, loop.reloads);
}

/* A new interval counts from the last collection, so a shorter one may already be over. */
Test(collection_timer, a_shorter_interval_does_not_wait_for_the_end_of_a_longer_one)
{
	struct loop loop = {.reloads_most = 20, .interval_us = INTERVAL_US};

	cr_assert_geq(sd_event_new(&loop.event), 0);
	cr_assert_geq(
		sd_event_add_time_relative(loop.event, &loop.busy, CLOCK_MONOTONIC, 0, 1, on_reload, &loop),
		0);
	cr_assert_geq(collection_timer_start(&loop.timer, loop.event, 3600 * SECOND_US, on_collection, &loop),
		      0);
	run(&loop);
	cr_expect_geq(loop.collections, 1);
}

/*
 * Returns the number of times that a watchdog of 20 ms is fed in at least 35 ms, if the last collection is
 * `age_us` old.
 */
static unsigned feedings(u64 age_us)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct loop loop = {.reloads_most = 8}; /* fewer messages than the socket can hold */
	unsigned fed = 0;
	char message[64];
	ssize_t n;

	cr_assert_geq(fd, 0);
	(void)snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "pebsd-test-timer-%d", getpid());
	cr_assert_eq(
		bind(fd, (const struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address.sun_path + 1))),
		0);
	address.sun_path[0] = '@';
	cr_assert_eq(setenv("NOTIFY_SOCKET", address.sun_path, 1), 0);
	cr_assert_eq(setenv("WATCHDOG_USEC", "20000", 1), 0);
	cr_assert_geq(sd_event_new(&loop.event), 0);
	cr_assert_geq(collection_timer_start(&loop.timer, loop.event, 60 * SECOND_US, on_collection, &loop),
		      0);
	cr_assert_not_null(loop.timer.watchdog);
	loop.interval_us = loop.timer.interval_us;
	loop.timer.done_us -= age_us;
	cr_assert_geq(
		sd_event_add_time_relative(loop.event, &loop.busy, CLOCK_MONOTONIC, 0, 1, on_reload, &loop),
		0);
	run(&loop);
	while ((n = recv(fd, message, sizeof(message), 0)) > 0)
		fed += n == (ssize_t)strlen("WATCHDOG=1") && memcmp(message, "WATCHDOG=1", (size_t)n) == 0;
	return fed;
}

Test(collection_timer, the_watchdog_is_fed_while_collections_are_made)
{
	unsigned fed = feedings(0);

	cr_expect_gt(fed, 0);
}

Test(collection_timer, the_watchdog_is_not_fed_when_collections_stopped)
{
	unsigned fed = feedings(181 * SECOND_US);

	cr_expect_eq(fed, 0);
}
