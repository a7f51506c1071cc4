// SPDX-License-Identifier: GPL-2.0
/* What the symbolizer gives up before it reads anything. */
#ifndef PEBSD_SYMBOLS_CONFINE_H
#define PEBSD_SYMBOLS_CONFINE_H

#include <stdbool.h>

/* Bytes of memory of its own (RLIMIT_DATA), and of addresses: a file that it reads is mapped (RLIMIT_AS). */
#define SYMBOLS_CONFINE_DATA  (1ULL << 30)
#define SYMBOLS_CONFINE_SPACE (4ULL << 30)
#define SYMBOLS_CONFINE_FILES 4096
#define SYMBOLS_CONFINE_FETCH (1ULL << 30) /* of a file that debuginfod sends (RLIMIT_FSIZE) */

/*
 * Of the calling process, for good: it ends with its parent; yields to others in CPU time and in a shortage
 * of memory; has limits; of capabilities CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE and
 * CAP_SYSLOG at most; no files as root; no network but an empty one of its own, the last two unless
 * `debuginfod`; and no system calls but those for reading files and answering. What the
 * system refuses is left out: less is better than nothing. Returns 0, or -errno where capabilities that it
 * has cannot be given up.
 */
int symbols_confine(bool debuginfod);

#endif
