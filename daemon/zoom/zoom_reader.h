// SPDX-License-Identifier: GPL-2.0
/*
 * Reads processes (zoom_process.h) on a separate thread. Reading the mappings of a process waits for that
 * process' mmap_lock (m_start(), fs/proc/task_mmu.c, Linux 6.1), which the process can hold as long as it
 * likes. The sampling thread must not wait for it. It fetches the results without waiting.
 */
#ifndef PEBSD_ZOOM_READER_H
#define PEBSD_ZOOM_READER_H

#include "base/cleanup.h"
#include "zoom/zoom_process.h"

/* Maximum processes that are requested and not fetched yet. */
#define ZOOM_READER_MAX 4096

struct zoom_reader;

/*
 * `socket` is SYMBOLS_SOCKET and must outlive the reader. If it is NULL, only the names of processes that
 * pebsd itself may not read are found. Returns 0 or -errno.
 */
int zoom_reader_new(const char *socket, struct zoom_reader **ret);

/* Does not wait for a read in progress. */
struct zoom_reader *zoom_reader_free(struct zoom_reader *reader);
DEFINE_CLEANUP(struct zoom_reader *, zoom_reader_free)

/*
 * Requests a process for the zoom with the id `zoom`. Returns 0, -ENOSPC (ZOOM_READER_MAX reached) or
 * -ENOMEM.
 */
int zoom_reader_ask(struct zoom_reader *reader, u64 zoom, u32 pid);

/*
 * Fetches the next finished process, in the order of the requests. Returns true if there is one. The caller
 * owns `ret` and frees it with zoom_process_done().
 */
bool zoom_reader_fetch(struct zoom_reader *reader, u64 *ret_zoom, struct zoom_process *ret);

#endif
