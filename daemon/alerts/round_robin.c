// SPDX-License-Identifier: GPL-2.0
#include "alerts/round_robin.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names and drops duplicates. */
static size_t put_in_order(const char **names, size_t n)
{
	size_t kept = 0;

	if (n == 0)
		return 0;
	qsort(names, n, sizeof(*names), compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(names[i], names[kept - 1]) != 0)
			names[kept++] = names[i];
	return kept;
}

static void reverse(const char **names, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		const char *name = names[i];

		names[i] = names[n - 1 - i];
		names[n - 1 - i] = name;
	}
}

size_t round_robin(const char **names, size_t n, const char *last, size_t max)
{
	size_t first = 0;

	n = put_in_order(names, n);
	while (last && first < n && strcmp(names[first], last) <= 0)
		first++;
	/* Swap the two parts of the list. */
	reverse(names, first);
	reverse(names + first, n - first);
	reverse(names, n);
	return n < max ? n : max;
}
