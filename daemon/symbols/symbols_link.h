// SPDX-License-Identifier: GPL-2.0
/*
 * Controls the symbolizer's lifetime. It is started when a request is to be sent, has a time limit for each
 * request, and is killed if it is late, misbehaves or is idle. The query that it failed on is not sent again.
 */
#ifndef PEBSD_SYMBOLS_LINK_H
#define PEBSD_SYMBOLS_LINK_H

#include <stdbool.h>

#include "pebsd/types.h"

struct symbols;

/*
 * symbols_link_open() starts no process yet and returns 0 or -errno. The child must be CHILD_NONE before.
 * Call symbols_link_close() also after a failure. It kills a running symbolizer and waits for at most a
 * second.
 */
int symbols_link_open(struct symbols *symbols);
void symbols_link_close(struct symbols *symbols);

/* CLOCK_MONOTONIC at the start of this event loop iteration; never 0. */
u64 symbols_link_now_ns(const struct symbols *symbols);

/*
 * symbols_link_runs() returns whether a symbolizer can receive requests. symbols_link_cannot_start() returns
 * whether none is running and none can be started for now.
 */
bool symbols_link_runs(const struct symbols *symbols);
bool symbols_link_cannot_start(const struct symbols *symbols, u64 now);

/*
 * Schedules work for when the event loop has control: starts the symbolizer if needed, sends, and frees
 * removed entries.
 */
void symbols_link_soon(struct symbols *symbols);

/*
 * symbols_link_begin_time() restarts the time limit of the oldest request, or of idleness. symbols_link_arm()
 * sets the timer to the end of that time limit.
 */
void symbols_link_begin_time(struct symbols *symbols);
void symbols_link_arm(struct symbols *symbols);

/* Logs that "the symbolizer" `what`, and kills it because it misbehaves. */
void symbols_link_fail(struct symbols *symbols, const char *what);

#endif
