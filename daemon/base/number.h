// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers and durations that people write: strict parsers, and the form that messages about them use. Pure,
 * and independent of the locale.
 */
#ifndef PEBSD_NUMBER_H
#define PEBSD_NUMBER_H

#include <stddef.h>

#include "pebsd/types.h"

#define NUMBER_TEXT_MAX 32

/*
 * A decimal number and nothing else: no sign, blank, point or unit. Returns 0; -EINVAL where it is not one,
 * -ERANGE where it is one below `min` or above `max`. `*ret` is written with 0 only.
 */
int number_parse(const char *text, u64 min, u64 max, u64 *ret);

/*
 * A whole number with one of the units ms, s, m, h, d, or none (seconds): "250ms", "1s", "10m", "1h", "1d",
 * "5". Limits and result in nanoseconds. Returns as number_parse(); more than 2^64 - 1 ns is -ERANGE.
 */
int duration_parse(const char *text, u64 min_ns, u64 max_ns, u64 *ret_ns);

/*
 * A whole number of bytes with one of the units K, M, G, T (of 1024 each), or none: "64M". Returns as
 * number_parse(); more than 2^64 - 1 bytes is -ERANGE.
 */
int size_parse(const char *text, u64 min, u64 max, u64 *ret);

/* "64M", "1G", "1536K": a whole number of the largest unit that it is one of. Writes to `ret` and returns it. */
const char *size_format(u64 bytes, char ret[static NUMBER_TEXT_MAX]);

/*
 * A number with or without a fraction, "900", "0.3", of at most 15 digits, which a double holds as they
 * stand; with `%` at its end a hundredth of it. No sign, exponent or blank. Returns 0, and -EINVAL where it
 * is none.
 */
int decimal_parse(const char *text, double *ret);

/*
 * "90ns", "1.5ms", "250ms", "12.3s", "5m 12s", "1h 5m", "1d 3h". Writes at most NUMBER_TEXT_MAX bytes to
 * `ret` and returns it. What does not fit the form is cut off, never rounded up: a value never looks larger
 * than it is.
 */
const char *duration_format(u64 ns, char ret[static NUMBER_TEXT_MAX]);

#endif
