// SPDX-License-Identifier: GPL-2.0
/*
 * The symbolizer: `pebsd --symbolizer`, which pebsd or its unit runs with a socket as its standard input.
 * Before it reads anything, it gives up all privileges that it does not need: all capabilities except
 * CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE and CAP_SYSLOG, new privileges, the network and
 * writing files (both unless debuginfod is configured), and more memory than it may need.
 */
#ifndef PEBSD_SYMBOLS_WORKER_H
#define PEBSD_SYMBOLS_WORKER_H

#include <stdbool.h>

/*
 * Answers requests on the socket `fd` until it is closed. Returns an exit code. `debuginfod`: see
 * resolver_settings.
 */
int symbols_worker(int fd, bool debuginfod);

#endif
