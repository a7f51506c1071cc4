// SPDX-License-Identifier: GPL-2.0
#ifndef PEBSD_FORMAT_OUTPUT_H
#define PEBSD_FORMAT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether standard output is a terminal with more to it than lines. */
bool output_is_screen(void);

/* Its columns and rows; 0 of both where it is no terminal or does not tell. */
void output_size(size_t *ret_columns, size_t *ret_rows);

/* Writes all bytes to standard output. Returns 0 or -errno; -EPIPE: nobody reads it any more. */
int output_write(const char *bytes, size_t length);

#endif
