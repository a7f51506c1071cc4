// SPDX-License-Identifier: GPL-2.0
/*
 * A text that describes the code that a process executes. The first line is the process' name. The other
 * lines are those of /proc/PID/maps that are executable and have a name.
 */
#ifndef PEBSD_PROCESS_CODE_H
#define PEBSD_PROCESS_CODE_H

#include <stddef.h>

#include "pebsd/types.h"

/* Bytes including the terminating 0. Further lines are left out. */
#define PROCESS_CODE_MAX (64U << 10)

/*
 * Reads the text. May block for as long as the process makes it wait. Returns 0, even if the process has no
 * mappings, or -errno if its mappings cannot be read. `ret_text` then has only the name, which may be empty.
 */
int process_code_read(const char *proc, u32 pid, char ret_text[static PROCESS_CODE_MAX]);

#endif
