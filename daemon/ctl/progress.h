// SPDX-License-Identifier: GPL-2.0
/*
 * Shows the progress of a long operation in one line on standard error, if that is a terminal. The line is
 * redrawn each time and erased at the end. Meanwhile SIGINT, SIGTERM and SIGHUP are blocked, and
 * progress_wait() reports them.
 */
#ifndef PEBSD_CTL_PROGRESS_H
#define PEBSD_CTL_PROGRESS_H

#include <stdbool.h>

#include "base/cleanup.h"

struct progress;

/* Returns 0 or -errno. */
int progress_open(struct progress **ret);
struct progress *progress_close(struct progress *progress);
DEFINE_CLEANUP(struct progress *, progress_close)

/* Shows `text`, which must be safe to print, cut to the terminal's width. */
void progress_show(struct progress *progress, const char *text);

/* Erases the line, so that something else can be printed. */
void progress_clear(struct progress *progress);

/* Waits. Returns true if a signal asked the program to end. */
bool progress_wait(struct progress *progress, int milliseconds);

#endif
