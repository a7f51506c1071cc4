// SPDX-License-Identifier: GPL-2.0
/*
 * The symbolizer: `pebsd --symbolizer`, which pebsd runs itself with a socket as its standard input. Before
 * it reads anything it gives up what it does not need: capabilities other than CAP_SYS_PTRACE,
 * CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE (and CAP_SYSLOG while it reads kallsyms), new privileges, the
 * network (unless debuginfod is configured), writing files, more memory and CPU time than it may need.
 */
#ifndef PEBSD_SYMBOLS_WORKER_H
#define PEBSD_SYMBOLS_WORKER_H

#include <stdbool.h>

/* Answers what comes on the socket `fd` until it closes. Returns an exit code. `debuginfod`: see
 * resolver_settings. */
int symbols_worker(int fd, bool debuginfod);

#endif
