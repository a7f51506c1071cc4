// SPDX-License-Identifier: GPL-2.0
/*
 * What takes its time, in one line on standard error where that is a terminal, drawn over again and gone in
 * the end. SIGINT, SIGTERM and SIGHUP arrive here meanwhile.
 */
#ifndef PEBSD_CTL_PROGRESS_H
#define PEBSD_CTL_PROGRESS_H

#include <stdbool.h>

#include "base/cleanup.h"

struct progress;

/* 0 or -errno. */
int progress_open(struct progress **ret);
struct progress *progress_close(struct progress *progress);
DEFINE_CLEANUP(struct progress *, progress_close)

/* A text made visible, cut to the terminal's width. */
void progress_show(struct progress *progress, const char *text);

/* Takes the line away, so that something else can be said. */
void progress_clear(struct progress *progress);

/* Returns whether it is time to end: a signal came. */
bool progress_wait(struct progress *progress, int milliseconds);

#endif
