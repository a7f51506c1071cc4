// SPDX-License-Identifier: GPL-2.0
/* Starts the symbolizer's process, for pebsd or its unit. */
#ifndef PEBSD_SYMBOLS_CHILD_H
#define PEBSD_SYMBOLS_CHILD_H

#include "child/child.h"

/*
 * Runs `program` (NULL: this one) with --symbolizer. Passes on none of the environment, except settings for
 * debuginfod if `debuginfod` has URLs. Returns 0 or -errno.
 */
int symbols_child_start(const char *program, const char *debuginfod, struct child *ret);

/* Same as symbols_child_start(), but with an existing socket: see child_run(). */
int symbols_child_run(const char *program, const char *debuginfod, int socket, struct child *ret);

#endif
