// SPDX-License-Identifier: GPL-2.0
#include "origin/pmu/pmu_format.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool name_character(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Parses a bit number of one or two digits, at most 63. */
static int parse_bit(const char **text, unsigned *ret)
{
	unsigned bit = 0;
	int digits = 0;

	for (; isdigit((unsigned char)**text) && digits < 2; (*text)++, digits++)
		bit = bit * 10 + (unsigned)(**text - '0');
	if (digits == 0 || bit > 63)
		return -EINVAL;
	*ret = bit;
	return 0;
}

static int parse_bits(const char **text, u64 *mask)
{
	unsigned first, last;
	int r;

	r = parse_bit(text, &first);
	if (r < 0)
		return r;
	last = first;
	if (**text == '-') {
		(*text)++;
		r = parse_bit(text, &last);
		if (r < 0)
			return r;
	}
	if (last < first)
		return -EINVAL;
	*mask |= (~0ULL >> (63 - (last - first))) << first;
	return 0;
}

int pmu_format_parse(const char *text, struct pmu_format *ret)
{
	struct pmu_format format = {0};
	int r;

	if (strncmp(text, "config", 6) != 0)
		return -EINVAL;
	text += 6;
	if (*text >= '1' && *text < '0' + PMU_CONFIGS)
		format.config = (unsigned)(*text++ - '0');
	do {
		/* A colon precedes the first range, commas precede the others. */
		if (*text++ != (format.mask ? ',' : ':'))
			return -EINVAL;
		r = parse_bits(&text, &format.mask);
		if (r < 0)
			return r;
	} while (*text);
	*ret = format;
	return 0;
}

int pmu_format_place(const struct pmu_format *format, u64 value, u64 configs[PMU_CONFIGS])
{
	u64 placed = 0;

	for (u64 left = format->mask; left; left &= left - 1) {
		u64 bit = left & -left;

		if (value & 1)
			placed |= bit;
		value >>= 1;
	}
	if (value)
		return -ERANGE;
	configs[format->config] = (configs[format->config] & ~format->mask) | placed;
	return 0;
}

int pmu_term_next(const char **text, struct pmu_term *ret)
{
	const char *at = *text;
	struct pmu_term term = {.value = 1};
	size_t length = 0;

	while (isspace((unsigned char)*at))
		at++;
	if (!*at)
		return 0;
	while (name_character(at[length]))
		length++;
	if (length == 0 || length >= sizeof(term.name) || *at == '.')
		return -EINVAL;
	memcpy(term.name, at, length);
	at += length;
	if (*at == '=') {
		char *end;

		at++;
		if (!isdigit((unsigned char)*at))
			return -EINVAL;
		errno = 0;
		term.value = strtoull(at, &end, 0);
		if (errno != 0)
			return -EINVAL;
		at = end;
	}
	while (isspace((unsigned char)*at))
		at++;
	if (*at == ',')
		at++;
	else if (*at)
		return -EINVAL;
	*text = at;
	*ret = term;
	return 1;
}
