// SPDX-License-Identifier: GPL-2.0
#include "base/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Longer than any known name. A longer word has no suggestion. */
#define WORD_MAX 48

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t rows[3][WORD_MAX + 1];

	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3];
		const size_t *two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t exchanged = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);

			row[j] = smaller(smaller(above[j], row[j - 1]) + 1, exchanged);
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]))
				row[j] = smaller(row[j], two_above[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

const char *suggest_nearest(const char *word, const char *const *candidates, size_t n)
{
	const char *nearest = NULL;
	size_t best = WORD_MAX;
	size_t length = strlen(word);

	if (length > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t candidate_length = strlen(candidates[i]);
		size_t distance;

		if (candidate_length > WORD_MAX)
			continue;
		distance = edit_distance(word, length, candidates[i], candidate_length);
		if (distance < best && distance <= 1 + candidate_length / 4) {
			best = distance;
			nearest = candidates[i];
		}
	}
	return nearest;
}
