// SPDX-License-Identifier: GPL-2.0
#ifndef PEBSD_CTL_OUTPUT_H
#define PEBSD_CTL_OUTPUT_H

#include <stddef.h>

#include "ctl/format.h"

/* How text is best shown on standard output: a terminal's width and locale. Wants setlocale(3) before. */
struct format_style output_style(void);

/* Writes all bytes to standard output. Returns 0 or -errno; -EPIPE: nobody reads it any more. */
int output_write(const char *bytes, size_t length);

#endif
