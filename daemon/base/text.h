// SPDX-License-Identifier: GPL-2.0
/*
 * Text for people and for protocols: times, numbers, bars, and names from untrusted sources. Pure functions.
 */
#ifndef PEBSD_TEXT_H
#define PEBSD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "pebsd/types.h"

/* Formats "2026-11-21T06:00:00Z". Writes "" if the year does not fit in an int. */
#define TEXT_TIME_MAX 32
void text_time(const struct timespec *time, char ret[TEXT_TIME_MAX]);

/*
 * Parses the form that text_time() writes, with strptime(3): fields may have fewer digits. Returns 0, or -EINVAL,
 * also for a day that does not exist.
 */
int text_parse_time(const char *text, time_t *ret);

/* Formats "1,234,567". */
#define TEXT_NUMBER_MAX 32
void text_count(u64 count, char ret[TEXT_NUMBER_MAX]);

/* Formats a count for columns, in at most five characters: "0" to "99999", "123k", "45.6M", "7.89G". */
void text_short_count(double count, char ret[TEXT_NUMBER_MAX]);

/* Formats "512 B" or "10.2 MiB". */
void text_bytes(u64 bytes, char ret[TEXT_NUMBER_MAX]);

/* Formats "0.4ms", "10s", "2min 5s", "3h 4min" or "5d 6h". A negative or huge number, or NaN, becomes "-". */
void text_span(double seconds, char ret[TEXT_NUMBER_MAX]);

/* Formats a short time with three digits: "59 ns", "3.14 ns", "1.5 us", "2.3 ms". NaN or infinity becomes "-". */
void text_nanoseconds(double seconds, char ret[TEXT_NUMBER_MAX]);

/* Formats a frequency in Hz with at most four digits: "2.6 GHz", "2.596 GHz", "800 MHz". */
void text_frequency(double hz, char ret[TEXT_NUMBER_MAX]);

/*
 * Makes `name` safe for a terminal: every byte that is not part of a visible character in the current locale
 * (controls, invalid or invisible code points) becomes \xNN. Returns NULL if memory runs out. The caller
 * frees the result.
 */
char *text_visible(const char *name);

/* Returns the number of terminal columns of `text`, which comes from text_visible() or from this program. */
size_t text_width(const char *text);

/*
 * Returns the end of `text` that fits in `width` columns, with an ellipsis before it if it was cut: the last
 * names of a cgroup's path say the most. Returns NULL if memory runs out. The caller frees the result.
 */
char *text_tail(const char *text, size_t width, bool utf8);

/*
 * Returns the number of bytes of `text` that fit in `width` columns. The sequence "\033[...m", which this
 * program writes, takes no columns.
 */
size_t text_cut(const char *text, size_t width);

/*
 * Draws a bar of `share` (0 to 1) of `width` columns: in eighths of a column with UTF-8, otherwise in whole
 * columns. Every share above 0 is visible. `ret` holds TEXT_BAR_MAX bytes.
 */
#define TEXT_BAR_COLUMNS 100
#define TEXT_BAR_MAX     (3 * TEXT_BAR_COLUMNS + 1)
void text_bar(double share, size_t width, bool utf8, char ret[TEXT_BAR_MAX]);

/*
 * Distributes `cells` among `n` parts of a whole by largest remainder, and writes each part's cells to
 * `ret[i]`. The cells sum to `cells` unless all parts are 0. `n` is at most TEXT_PARTS_MAX.
 */
#define TEXT_PARTS_MAX 16
void text_divide(const u64 *parts, size_t n, u32 cells, u32 *ret);

#endif
