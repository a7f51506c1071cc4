// SPDX-License-Identifier: GPL-2.0
/* The table of the counts of an event: daemon/snapshot/event_figures.h. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "snapshot/event_figures.h"

#define COUNT_(name) {offsetof(struct reading, name), #name},
static const struct {
	size_t offset;
	const char *name;
} counts[] = {EVENT_COUNTS_OF_READING(COUNT_)};

/* Internal counts: users see values that are derived from them. */
static bool is_internal(const char *name)
{
	return strcmp(name, "seen") == 0 || strcmp(name, "expected") == 0 || strcmp(name, "missed") == 0;
}

Test(event_figures, each_count_has_a_row_or_is_internal)
{
	const struct event_figure *figures;
	size_t n;

	figures = event_figures(&n);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		size_t rows = 0;

		for (size_t k = 0; k < n; k++)
			rows += figures[k].count == counts[i].offset;
		cr_expect_eq(rows, is_internal(counts[i].name) ? 0 : 1, "%s", counts[i].name);
	}
}

Test(event_figures, the_figures_of_a_family_follow_each_other_and_the_first_has_the_help)
{
	const struct event_figure *figures;
	size_t n;

	figures = event_figures(&n);
	for (size_t i = 0; i < n; i++) {
		bool begins = i == 0 || !figures[i].family || !figures[i - 1].family ||
			      strcmp(figures[i].family, figures[i - 1].family) != 0;

		cr_expect_eq(figures[i].help != NULL, figures[i].family && begins, "%zu", i);
		for (size_t k = 0; k < i; k++) {
			cr_expect_neq(figures[i].member, figures[k].member, "%zu and %zu", i, k);
			if (begins && figures[i].family && figures[k].family)
				cr_expect_str_neq(figures[i].family, figures[k].family);
		}
	}
}

Test(event_figures, a_figure_is_known_as_its_row_says)
{
	const struct reading reading = {
		.throttled_ns = 2500000000, .rearmed = 3, .malformed = 4, .filtered = 5};
	struct snapshot_event event = {.event.settings.operations = 1};

	event_figures_take(&event, &reading);
	cr_expect_not(event.throttled_seconds.known);
	cr_expect_not(event.rearmed.known);
	cr_expect(event.lost_malformed.known);
	cr_expect_eq(event.lost_malformed.value, 4);
	cr_expect(event.filtered.known);
	cr_expect_eq(event.filtered.value, 5);
	event.event.settings.operations = 0;
	event_figures_take(
		&event,
		&(struct reading){.counted = true, .throttle_known = true, .throttled_ns = 2500000000});
	cr_expect(event.throttled_seconds.known);
	cr_expect_float_eq(event.throttled_seconds.value, 2.5, 1e-12);
	cr_expect(event.rearmed.known);
	cr_expect_not(event.filtered.known);
}
