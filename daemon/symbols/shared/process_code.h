// SPDX-License-Identifier: GPL-2.0
/* What a process executes from, as text: its name in the first line, then the lines of /proc/PID/maps of
 * what is mapped to be executed and has a name. */
#ifndef PEBSD_PROCESS_CODE_H
#define PEBSD_PROCESS_CODE_H

#include <stddef.h>

#include "pebsd/types.h"

/* Bytes with the 0; lines past it are left out. */
#define PROCESS_CODE_MAX (64U << 10)

/* Waits where the process makes it wait. 0, also of a process without mappings; -errno where its mappings
 * cannot be read: then the name stands there alone, or nothing. */
int process_code_read(const char *proc, u32 pid, char ret_text[static PROCESS_CODE_MAX]);

#endif
