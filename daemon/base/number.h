// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers and durations that people write: strict parsers, and the format that messages use. Pure functions
 * that do not depend on the locale.
 */
#ifndef PEBSD_NUMBER_H
#define PEBSD_NUMBER_H

#include <stddef.h>

#include "pebsd/types.h"

#define NUMBER_TEXT_MAX 32

/*
 * Parses a decimal number without sign, blank, point or unit. Returns 0, -EINVAL if `text` is not a number,
 * or -ERANGE if it is below `min` or above `max`. `*ret` is written on success only.
 */
int number_parse(const char *text, u64 min, u64 max, u64 *ret);

/*
 * Parses a whole number with one of the units ms, s, m or min, h, d, or no unit (seconds): "250ms", "1s",
 * "10m", "1min", "1h", "1d", "5". The limits and the result are in nanoseconds. Returns as number_parse(). More
 * than 2^64 - 1 ns is -ERANGE.
 */
int duration_parse(const char *text, u64 min_ns, u64 max_ns, u64 *ret_ns);

/*
 * Parses a whole number of bytes with one of the units K, M, G, T (powers of 1024), or no unit: "64M".
 * Returns as number_parse(). More than 2^64 - 1 bytes is -ERANGE.
 */
int size_parse(const char *text, u64 min, u64 max, u64 *ret);

/*
 * Formats bytes as "64M", "1G" or "1536K": a multiple of the largest unit that divides the number. Writes to
 * `ret` and returns it.
 */
const char *size_format(u64 bytes, char ret[static NUMBER_TEXT_MAX]);

/*
 * Parses a number with or without a fraction, such as "900" or "0.3". It has at most 15 digits, which a
 * double holds exactly. A `%` at the end divides it by 100. Sign, exponent and blanks are refused. Returns 0,
 * or -EINVAL if `text` is not such a number.
 */
int decimal_parse(const char *text, double *ret);

/*
 * Parses bytes a second: a number as decimal_parse() reads it, without `%`, and one of the units B/s, kB/s,
 * MB/s, GB/s, TB/s (powers of 1000), or no unit: "5.2GB/s". Returns as decimal_parse().
 */
int byte_rate_parse(const char *text, double *ret);

/*
 * Formats a duration as "90ns", "1.5ms", "250ms", "12.3s", "5m 12s", "1h 5m", "1d 3h" or "0s". Writes at most
 * NUMBER_TEXT_MAX bytes to `ret` and returns it. The rest is truncated, never rounded up: a value never looks
 * larger than it is.
 */
const char *duration_format(u64 ns, char ret[static NUMBER_TEXT_MAX]);

#endif
