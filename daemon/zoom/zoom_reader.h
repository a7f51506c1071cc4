// SPDX-License-Identifier: GPL-2.0
/*
 * Looks at processes (zoom_process.h) on a thread of its own: reading what a process has mapped waits for
 * that process' mmap_lock (m_start(), fs/proc/task_mmu.c, Linux 6.1), which it can hold for as long as it
 * likes, and nothing that samples may wait with it. What was found is fetched without waiting.
 */
#ifndef PEBSD_ZOOM_READER_H
#define PEBSD_ZOOM_READER_H

#include "base/cleanup.h"
#include "zoom/zoom_process.h"

/* Processes that are asked for and not fetched yet, at most. */
#define ZOOM_READER_MAX 4096

struct zoom_reader;

/* `socket`: SYMBOLS_SOCKET, which outlives it, or NULL: where pebsd itself may not look nobody does. 0 or -errno.
 */
int zoom_reader_new(const char *socket, struct zoom_reader **ret);

/* Does not wait for a process that is being looked at. */
struct zoom_reader *zoom_reader_free(struct zoom_reader *reader);
DEFINE_CLEANUP(struct zoom_reader *, zoom_reader_free)

/* Asks for a process on behalf of the zoom of that number. 0, -ENOSPC, -ENOMEM. */
int zoom_reader_ask(struct zoom_reader *reader, u64 zoom, u32 pid);

/* The next that was looked at, in the order of asking: true, and `ret` is the caller's, to be freed with
 * zoom_process_done(). */
bool zoom_reader_fetch(struct zoom_reader *reader, u64 *ret_zoom, struct zoom_process *ret);

#endif
