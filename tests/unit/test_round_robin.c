// SPDX-License-Identifier: GPL-2.0
/* The choice of the cgroups whose directories are read next, when more are pending than fit in one turn. */
#include <criterion/criterion.h>
#include <string.h>

#include "alerts/round_robin.h"
#include "base/cleanup.h"

/* `expected` has a blank after each name. `names` is separated by blanks and may be in any order. */
static void expect(const char *names, const char *last, size_t max, const char *expected)
{
	_cleanup_free_ char *copy = strdup(names);
	const char *list[16];
	char found[64] = "";
	size_t n = 0;

	for (char *name = strtok(copy, " "); name; name = strtok(NULL, " "))
		list[n++] = name;
	n = round_robin(list, n, last, max);
	for (size_t i = 0; i < n; i++) {
		strcat(found, list[i]);
		strcat(found, " ");
	}
	cr_expect_str_eq(found, expected, "'%s' after %s: '%s', not '%s'", names, last ? last : "none", found,
			 expected);
}

Test(round_robin, the_next_turn_starts_after_the_last)
{
	expect("", NULL, 2, "");
	expect("", "b", 2, "");
	expect("c a b", NULL, 2, "a b ");
	expect("c a b", "b", 2, "c a ");
	expect("c a b", "a", 2, "b c ");
	expect("c a b", "c", 2, "a b ");
	expect("c a b", "b", 9, "c a b ");
}

Test(round_robin, if_the_last_is_gone_its_successor_is_next)
{
	expect("c a d", "b", 2, "c d ");
	expect("c a d", "e", 2, "a c ");
}

/* Several rules may have an alert pending for the same cgroup. */
Test(round_robin, each_is_asked_once_per_round)
{
	expect("b a b c a", NULL, 3, "a b c ");
	expect("b a b c a", "a", 2, "b c ");
}

Test(round_robin, each_of_many_gets_a_turn)
{
	char texts[200][8];
	const char *list[200];
	unsigned asked[200] = {0};
	char last[8] = "";

	for (unsigned i = 0; i < 200; i++)
		(void)snprintf(texts[i], sizeof(texts[i]), "%03u", i);
	for (unsigned round = 0; round < 4; round++) {
		size_t n;

		for (unsigned i = 0; i < 200; i++)
			list[i] = texts[(i * 37 + round) % 200];
		n = round_robin(list, 200, round ? last : NULL, 64);
		cr_assert_eq(n, 64);
		for (size_t i = 0; i < n; i++)
			asked[atoi(list[i])]++;
		(void)stpcpy(last, list[n - 1]);
	}
	for (unsigned i = 0; i < 200; i++)
		cr_expect_eq(asked[i], i < 4 * 64 - 200 ? 2 : 1, "%u: %u times", i, asked[i]);
}
