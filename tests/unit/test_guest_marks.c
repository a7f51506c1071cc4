// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>

#include "sampling/guest_marks.h"

#define SECOND NSEC_PER_SEC

Test(guest_marks, guests_are_looked_for_at_the_start_after_births_and_periodically)
{
	struct guest_marks marks = {0};

	cr_expect(guest_marks_due(&marks, 5 * SECOND, 0), "never looked");
	marks = (struct guest_marks){.looked_ns = 100 * SECOND, .births = 7};
	cr_expect_not(guest_marks_due(&marks, 100 * SECOND, 7));
	cr_expect_not(guest_marks_due(&marks, 130 * SECOND - 1, 7));
	cr_expect(guest_marks_due(&marks, 130 * SECOND, 7));
	cr_expect_not(guest_marks_due(&marks, 103 * SECOND - 1, 8));
	cr_expect(guest_marks_due(&marks, 103 * SECOND, 8));
}

Test(guest_marks, a_slow_search_is_done_rarely)
{
	const struct guest_marks slow = {.looked_ns = SECOND, .took_ns = SECOND / 10};

	cr_expect_not(guest_marks_due(&slow, 100 * SECOND, 1));
	cr_expect(guest_marks_due(&slow, 101 * SECOND, 1), "a thousandth of the time");
}

Test(guest_marks, ids_are_sorted_and_unique)
{
	u64 ids[] = {9, 3, 9, 1ULL << 40, 3, 3};

	cr_assert_eq(guests_unique(ids, 6), 3);
	cr_expect(ids[0] == 3 && ids[1] == 9 && ids[2] == 1ULL << 40);
	cr_expect_eq(guests_unique(ids, 1), 1);
	cr_expect_eq(guests_unique(NULL, 0), 0);
}

Test(guest_marks, guests_are_marked_only_if_an_event_excludes_them)
{
	const struct event events[] = {{.role = EVENT_LOADS, .settings = {.operations = 2}},
				       {.role = EVENT_STORES}};

	cr_expect_not(guest_marks_wanted(events, 1, false), "IBS samples guests, too");
	cr_expect(guest_marks_wanted(events + 1, 1, false));
	cr_expect(guest_marks_wanted(events, 2, false));
	cr_expect(guest_marks_wanted(NULL, 0, true), "off-core counters leave them out");
}
