// SPDX-License-Identifier: GPL-2.0
/* Text for people and for the wire: times, numbers, bars, and names that nobody vouches for. Pure. */
#ifndef PEBSD_TEXT_H
#define PEBSD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "pebsd/types.h"

/* "2026-11-21T06:00:00Z"; years beyond four digits are cut off at the end of `ret`. */
#define TEXT_TIME_MAX 32
void text_time(const struct timespec *time, char ret[TEXT_TIME_MAX]);

/* The reverse, of exactly that form. Returns 0 or -EINVAL. */
int text_parse_time(const char *text, time_t *ret);

/* "1,234,567". */
#define TEXT_NUMBER_MAX 32
void text_count(u64 count, char ret[TEXT_NUMBER_MAX]);

/* At most five characters: "0" to "99999", "123k", "45.6M", "7.89G". For columns. */
void text_short_count(double count, char ret[TEXT_NUMBER_MAX]);

/* "512 B", "10.2 MiB". */
void text_bytes(u64 bytes, char ret[TEXT_NUMBER_MAX]);

/* "0.4ms", "10s", "2min 5s", "3h 4min", "5d 6h". */
void text_span(double seconds, char ret[TEXT_NUMBER_MAX]);

/*
 * `name` as it can go to a terminal: what is not a visible character of the current locale (controls,
 * invalid or invisible code points) becomes \xNN. Returns NULL where memory is short; the caller frees.
 */
char *text_visible(const char *name);

/* Columns that `text`, made by text_visible() or by this program, takes on a terminal. */
size_t text_width(const char *text);

/*
 * The end of `text` that fits in `width` columns, after an ellipsis where it was cut: of a cgroup's path the
 * last names tell the most. Returns NULL where memory is short; the caller frees.
 */
char *text_tail(const char *text, size_t width, bool utf8);

/* Bytes of `text` that fit in `width` columns; "\033[...m", which this program writes, takes none. */
size_t text_cut(const char *text, size_t width);

/*
 * A bar of `share` (0 to 1) of `width` columns, in eighths of a column with UTF-8, else in whole ones; some
 * mark is shown for all that is above 0. `ret` holds TEXT_BAR_MAX bytes.
 */
#define TEXT_BAR_COLUMNS 100
#define TEXT_BAR_MAX     (3 * TEXT_BAR_COLUMNS + 1)
void text_bar(double share, size_t width, bool utf8, char ret[TEXT_BAR_MAX]);

/*
 * Cells for `n` parts of a whole: `ret[i]` of `cells`, by largest remainder, so that they sum to `cells`
 * where the parts are not all 0. `n` is at most TEXT_PARTS_MAX.
 */
#define TEXT_PARTS_MAX 16
void text_divide(const u64 *parts, size_t n, u32 cells, u32 *ret);

#endif
