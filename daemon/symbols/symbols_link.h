// SPDX-License-Identifier: GPL-2.0
/*
 * The symbolizer's life, as pebsd sees it: it is started when something is to be sent, has a time for each
 * request, and is killed where it is late, at fault or idle. What it was at then is not asked again.
 */
#ifndef PEBSD_SYMBOLS_LINK_H
#define PEBSD_SYMBOLS_LINK_H

#include <stdbool.h>

#include "pebsd/types.h"

struct symbols;

/* Starts nothing yet. 0 or -errno; symbols_link_close() ends what runs, in each case, and waits a second for
 * it. The child is CHILD_NONE before. */
int symbols_link_open(struct symbols *symbols);
void symbols_link_close(struct symbols *symbols);

/* CLOCK_MONOTONIC as of this turn of the event loop; never 0. */
u64 symbols_link_now_ns(const struct symbols *symbols);

/* Whether there is one that can be sent to; whether there is none, and none can be started for now. */
bool symbols_link_runs(const struct symbols *symbols);
bool symbols_link_cannot_start(const struct symbols *symbols, u64 now);

/* Starts it where it is needed, sends, and frees what has gone, once the event loop has control. */
void symbols_link_soon(struct symbols *symbols);

/* The time for the oldest request, or for idleness, begins now; or what is left of it is waited for. */
void symbols_link_begin_time(struct symbols *symbols);
void symbols_link_arm(struct symbols *symbols);

/* It is at fault: the log says `what`, after "the symbolizer", and it is killed. */
void symbols_link_fail(struct symbols *symbols, const char *what);

#endif
