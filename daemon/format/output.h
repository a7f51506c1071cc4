// SPDX-License-Identifier: GPL-2.0
#ifndef PEBSD_FORMAT_OUTPUT_H
#define PEBSD_FORMAT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if standard output is a terminal that can do more than print lines. */
bool output_is_screen(void);

/* Returns the columns and rows of standard output; both 0 if it is not a terminal or has no known size. */
void output_size(size_t *ret_columns, size_t *ret_rows);

/* Writes all bytes to standard output. Returns 0 or -errno; -EPIPE: its reader has closed it. */
int output_write(const char *bytes, size_t length);

#endif
