// SPDX-License-Identifier: GPL-2.0
#ifndef PEBSD_CTL_OUTPUT_H
#define PEBSD_CTL_OUTPUT_H

#include <stddef.h>

/* Writes all bytes to standard output. Returns 0 or -errno; -EPIPE: nobody reads it any more. */
int output_write(const char *bytes, size_t length);

#endif
