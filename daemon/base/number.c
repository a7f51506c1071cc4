// SPDX-License-Identifier: GPL-2.0
#include "base/number.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define NSEC_PER_MINUTE (60 * NSEC_PER_SEC)
#define NSEC_PER_HOUR   (60 * NSEC_PER_MINUTE)
#define NSEC_PER_DAY    (24 * NSEC_PER_HOUR)

/*
 * Reads the digits at the start of `text`. Returns a pointer to the byte after them, or NULL if there are
 * none. `*ret_large` says whether the number exceeds u64.
 */
static const char *read_digits(const char *text, u64 *ret, bool *ret_large)
{
	const char *at = text;
	u64 value = 0;
	bool large = false;

	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (u64)(*at - '0'), &value))
			large = true;
	if (at == text)
		return NULL;
	*ret = value;
	*ret_large = large;
	return at;
}

int number_parse(const char *text, u64 min, u64 max, u64 *ret)
{
	u64 value;
	bool large;
	const char *rest = read_digits(text, &value, &large);

	if (!rest || *rest)
		return -EINVAL;
	if (large || value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int duration_parse(const char *text, u64 min_ns, u64 max_ns, u64 *ret_ns)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = {
		{"", NSEC_PER_SEC},       {"ms", NSEC_PER_MSEC}, {"s", NSEC_PER_SEC}, {"m", NSEC_PER_MINUTE},
		{"min", NSEC_PER_MINUTE}, {"h", NSEC_PER_HOUR},  {"d", NSEC_PER_DAY},
	};
	u64 value;
	bool large;
	const char *rest = read_digits(text, &value, &large);

	if (!rest)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		u64 ns;

		if (strcmp(rest, units[i].name) != 0)
			continue;
		if (large || __builtin_mul_overflow(value, units[i].ns, &ns) || ns < min_ns || ns > max_ns)
			return -ERANGE;
		*ret_ns = ns;
		return 0;
	}
	return -EINVAL;
}

static const struct {
	const char *name;
	u64 bytes;
} sizes[] = {{"T", 1ULL << 40}, {"G", 1ULL << 30}, {"M", 1ULL << 20}, {"K", 1ULL << 10}, {"", 1}};

int size_parse(const char *text, u64 min, u64 max, u64 *ret)
{
	u64 value, bytes;
	bool large;
	const char *rest = read_digits(text, &value, &large);

	for (size_t i = 0; rest && i < ARRAY_SIZE(sizes); i++) {
		if (strcmp(rest, sizes[i].name) != 0)
			continue;
		if (large || __builtin_mul_overflow(value, sizes[i].bytes, &bytes) || bytes < min ||
		    bytes > max)
			return -ERANGE;
		*ret = bytes;
		return 0;
	}
	return -EINVAL;
}

const char *size_format(u64 bytes, char ret[static NUMBER_TEXT_MAX])
{
	size_t i = 0;

	while (bytes % sizes[i].bytes || (bytes == 0 && sizes[i].bytes > 1))
		i++;
	(void)snprintf(ret, NUMBER_TEXT_MAX, "%llu%s", (unsigned long long)(bytes / sizes[i].bytes),
		       sizes[i].name);
	return ret;
}

int decimal_parse(const char *text, double *ret)
{
	static const size_t digits_max = 15;
	bool fraction = false;
	double value = 0;
	double scale = 1;
	size_t digits = 0;

	for (; (*text >= '0' && *text <= '9') || (*text == '.' && digits > 0 && !fraction); text++) {
		if (*text == '.') {
			fraction = true;
			continue;
		}
		if (++digits > digits_max)
			return -EINVAL;
		value = value * 10 + (*text - '0');
		if (fraction)
			scale *= 10;
	}
	if (digits == 0 || text[-1] == '.')
		return -EINVAL;
	if (*text == '%') {
		scale *= 100;
		text++;
	}
	if (*text)
		return -EINVAL;
	/* Both numbers are whole and exact, so the quotient is the double nearest to the text. */
	*ret = value / scale;
	return 0;
}

int byte_rate_parse(const char *text, double *ret)
{
	static const struct {
		const char *name;
		double bytes;
	} units[] = {{"", 1}, {"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
	const size_t length = strspn(text, "0123456789.");
	char digits[NUMBER_TEXT_MAX];
	double value;

	if (length >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, length);
	digits[length] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(text + length, units[i].name) != 0)
			continue;
		if (decimal_parse(digits, &value) < 0)
			return -EINVAL;
		*ret = value * units[i].bytes;
		return 0;
	}
	return -EINVAL;
}

/* Formats "12.3" and the unit. The tenth is left out if it is 0 or if the number has three digits. */
static const char *format_tenths(u64 value, u64 unit, const char *name, char *ret)
{
	u64 whole = value / unit;
	u64 tenth = (u64)((unsigned __int128)(value % unit) * 10 / unit);

	if (tenth && whole < 100)
		(void)snprintf(ret, NUMBER_TEXT_MAX, "%llu.%llu%s", (unsigned long long)whole,
			       (unsigned long long)tenth, name);
	else
		(void)snprintf(ret, NUMBER_TEXT_MAX, "%llu%s", (unsigned long long)whole, name);
	return ret;
}

static const char *format_pair(u64 ns, u64 large, char large_name, u64 small, char small_name, char *ret)
{
	u64 rest = ns % large / small;

	if (rest)
		(void)snprintf(ret, NUMBER_TEXT_MAX, "%llu%c %llu%c", (unsigned long long)(ns / large),
			       large_name, (unsigned long long)rest, small_name);
	else
		(void)snprintf(ret, NUMBER_TEXT_MAX, "%llu%c", (unsigned long long)(ns / large), large_name);
	return ret;
}

const char *duration_format(u64 ns, char ret[static NUMBER_TEXT_MAX])
{
	if (ns >= NSEC_PER_DAY)
		return format_pair(ns, NSEC_PER_DAY, 'd', NSEC_PER_HOUR, 'h', ret);
	if (ns >= NSEC_PER_HOUR)
		return format_pair(ns, NSEC_PER_HOUR, 'h', NSEC_PER_MINUTE, 'm', ret);
	if (ns >= NSEC_PER_MINUTE)
		return format_pair(ns, NSEC_PER_MINUTE, 'm', NSEC_PER_SEC, 's', ret);
	if (ns >= NSEC_PER_SEC)
		return format_tenths(ns, NSEC_PER_SEC, "s", ret);
	if (ns >= NSEC_PER_MSEC)
		return format_tenths(ns, NSEC_PER_MSEC, "ms", ret);
	if (ns >= NSEC_PER_USEC)
		return format_tenths(ns, NSEC_PER_USEC, "us", ret);
	return format_tenths(ns, 1, ns > 0 ? "ns" : "s", ret);
}
