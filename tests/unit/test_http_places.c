// SPDX-License-Identifier: GPL-2.0
/* The choice of the HTTP client that is ended if there are more clients than places. */
#include <criterion/criterion.h>

#include <stdint.h>

#include "base/cleanup.h"
#include "http/shared/http_places.h"

#define SECOND NSEC_PER_SEC
#define RATE   ((u64)HTTP_PLACES_BYTES_A_SECOND)

#define ALICE                         \
	{                             \
		HTTP_OWNER_USER, 1000 \
	}
#define BOB                           \
	{                             \
		HTTP_OWNER_USER, 1001 \
	}
#define HOST                          \
	{                             \
		HTTP_OWNER_IPV4, 1000 \
	}

#define PLACES(...) \
	(const struct http_place[]){__VA_ARGS__}, ARRAY_SIZE(((const struct http_place[]){__VA_ARGS__}))

Test(http_places, a_client_that_reads_nothing_is_late_by_its_age)
{
	struct http_pace pace = {.seen_ns = 5 * SECOND};

	cr_expect_eq(http_pace_late(&pace, 5 * SECOND), 0);
	cr_expect_eq(http_pace_late(&pace, 8 * SECOND), 3 * SECOND);
	http_pace_advance(&pace, 8 * SECOND, 0);
	cr_expect_eq(http_pace_late(&pace, 9 * SECOND), 4 * SECOND);
}

Test(http_places, read_bytes_extend_the_allowed_time)
{
	struct http_pace pace = {.seen_ns = 0};

	http_pace_advance(&pace, 4 * SECOND, RATE);
	cr_expect_eq(http_pace_late(&pace, 4 * SECOND), 3 * SECOND);
	http_pace_advance(&pace, 4 * SECOND, RATE);
	cr_expect_eq(pace.late_ns, 3 * SECOND, "each byte pays once");
	http_pace_advance(&pace, 5 * SECOND, 2 * RATE);
	cr_expect_eq(pace.late_ns, 3 * SECOND, "a client at the least rate stays as late as it is");
	http_pace_advance(&pace, 5 * SECOND, RATE);
	cr_expect_eq(pace.taken, 2 * RATE, "no client takes bytes back");
}

Test(http_places, occasional_bytes_hardly_extend_the_allowed_time)
{
	struct http_pace pace = {.seen_ns = 0};

	for (u64 second = 1; second <= 10; second++)
		http_pace_advance(&pace, second * SECOND, 2 * second);
	cr_expect_gt(pace.late_ns, 9990 * NSEC_PER_MSEC);
}

/* Such a client may be without CPU time for a moment, like a scrape next to a crowd of its own user. */
Test(http_places, read_bytes_allow_at_most_a_second_ahead)
{
	struct http_pace pace = {.seen_ns = 0};

	http_pace_advance(&pace, SECOND, RATE + RATE / 2);
	cr_expect_eq(http_pace_late(&pace, SECOND), -(s64)SECOND / 2);
	http_pace_advance(&pace, SECOND, 100UL * RATE);
	cr_expect_eq(http_pace_late(&pace, SECOND), -(s64)SECOND, "for no more");
	cr_expect_eq(http_pace_late(&pace, 4 * SECOND), 2 * (s64)SECOND);
	http_pace_advance(&pace, 4 * SECOND, UINT64_MAX);
	cr_expect_eq(pace.late_ns, -(s64)SECOND, "however many they are");
}

Test(http_places, from_half_of_the_connections_on_the_patience_shrinks)
{
	cr_expect_eq(http_places_patience(0, 11 * SECOND), 11 * SECOND);
	cr_expect_eq(http_places_patience(HTTP_PLACES_MAX / 2, 11 * SECOND), 11 * SECOND);
	cr_expect_eq(http_places_patience(HTTP_PLACES_MAX * 3 / 4, 11 * SECOND), 6 * SECOND);
	cr_expect_eq(http_places_patience(HTTP_PLACES_MAX, 11 * SECOND), SECOND);
	cr_expect_eq(http_places_patience(HTTP_PLACES_ROOM, 11 * SECOND), SECOND);
	cr_expect_eq(http_places_patience(HTTP_PLACES_MAX, SECOND / 2), SECOND / 2);
}

#define yield(...) http_places_yield(PLACES(__VA_ARGS__))

Test(http_places, the_most_overdue_client_is_disconnected)
{
	cr_expect_eq(yield({ALICE, 2, false}, {ALICE, 9, false}, {ALICE, 5, false}), 1);
	cr_expect_eq(yield({ALICE, 5, false}, {ALICE, 5, false}), 0, "of equals the first");
	cr_expect_eq(yield({ALICE, 0, false}), 0);
	cr_expect_eq(http_places_yield(NULL, 0), -1);
}

Test(http_places, a_client_that_read_nothing_is_disconnected_first)
{
	struct http_pace scrape = {.seen_ns = 0}, deaf = {.seen_ns = 900 * NSEC_PER_MSEC};

	http_pace_advance(&scrape, 100 * NSEC_PER_MSEC, 4UL << 20);
	cr_expect_eq(yield({ALICE, http_pace_late(&scrape, SECOND), false},
			   {ALICE, http_pace_late(&deaf, SECOND), false}),
		     1);
}

Test(http_places, the_owner_with_the_most_connections_loses_one)
{
	cr_expect_eq(yield({BOB, 900, false}, {ALICE, 3, false}, {ALICE, 4, false}, {ALICE, 2, false}), 2);
	cr_expect_eq(yield({BOB, 900, false}, {ALICE, 3, false}), 0, "of two that have as many the latest");
}

Test(http_places, a_user_and_an_address_of_one_number_are_two_owners)
{
	cr_expect_eq(yield({HOST, 900, false}, {ALICE, 3, false}, {ALICE, 4, false}), 2);
}

Test(http_places, a_client_that_waits_for_pebsd_is_not_disconnected)
{
	cr_expect_eq(yield({ALICE, 9, true}, {ALICE, 3, false}), 1);
	/* The place of a waiting client still counts for its owner, so that no other owner pays for it. */
	cr_expect_eq(yield({BOB, 9, false}, {ALICE, 9, true}, {ALICE, 3, true}), -1);
}

Test(http_places, each_owner_is_counted)
{
	size_t has[4];

	http_places_count(PLACES({BOB, 0, false}, {ALICE, 0, true}, {HOST, 0, false}, {ALICE, 0, false}),
			  has);
	cr_expect_eq(has[0], 1);
	cr_expect_eq(has[1], 2);
	cr_expect_eq(has[2], 1);
	cr_expect_eq(has[3], 2);
}
