// SPDX-License-Identifier: GPL-2.0
/* The symbolizer's process, as pebsd or its unit starts it. */
#ifndef PEBSD_SYMBOLS_CHILD_H
#define PEBSD_SYMBOLS_CHILD_H

#include "child/child.h"

/*
 * Runs `program` (NULL: this one) with --symbolizer; of the environment nothing but what debuginfod takes,
 * where URLs are given. 0 or -errno.
 */
int symbols_child_start(const char *program, const char *debuginfod, struct child *ret);

/* The same with a socket that is there: as child_run(). */
int symbols_child_run(const char *program, const char *debuginfod, int socket, struct child *ret);

#endif
