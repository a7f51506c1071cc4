// SPDX-License-Identifier: GPL-2.0
/* Confines the symbolizer before it reads anything. */
#ifndef PEBSD_SYMBOLS_CONFINE_H
#define PEBSD_SYMBOLS_CONFINE_H

#include <stdbool.h>

/* Maximum bytes of private memory (RLIMIT_DATA) and of address space (RLIMIT_AS). */
#define SYMBOLS_CONFINE_DATA  (1ULL << 30)
#define SYMBOLS_CONFINE_SPACE (4ULL << 30)
#define SYMBOLS_CONFINE_FILES 4096
#define SYMBOLS_CONFINE_FETCH (1ULL << 30) /* of a file from debuginfod (RLIMIT_FSIZE) */

/*
 * Confines the calling process permanently:
 * - It ends with its parent.
 * - It has a low CPU priority (SCHED_BATCH and a nice value of 10), and is killed before others when memory
 *   is short.
 * - It has resource limits.
 * - It keeps at most the capabilities CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE and
 *   CAP_SYSLOG.
 * - It does not access files as root, and has only an empty network namespace. Neither applies if
 *   `debuginfod` is set.
 * - It may only use system calls for reading files and answering, and with `debuginfod` also for fetching and
 *   storing files.
 *
 * A restriction that the system does not support is skipped, because fewer privileges are better than all of
 * them. Returns 0, or -errno if capabilities cannot be dropped.
 */
int symbols_confine(bool debuginfod);

#endif
