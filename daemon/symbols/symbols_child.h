// SPDX-License-Identifier: GPL-2.0
/* The symboliser's process, as pebsd starts it. */
#ifndef PEBSD_SYMBOLS_CHILD_H
#define PEBSD_SYMBOLS_CHILD_H

#include "child/child.h"

/*
 * Runs `program` (NULL: this one) with --symbolizer; of the environment nothing but what debuginfod takes,
 * where URLs are given. 0 or -errno.
 */
int symbols_child_start(const char *program, const char *debuginfod, struct child *ret);

#endif
