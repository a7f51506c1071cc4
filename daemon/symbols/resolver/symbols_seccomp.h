// SPDX-License-Identifier: GPL-2.0
/*
 * The system calls that the symboliser may make. It is root, as whom pebsd runs, so that capabilities alone
 * keep it from little: it must not write to a file, a process or the kernel's settings, though it opens them.
 */
#ifndef PEBSD_SYMBOLS_SECCOMP_H
#define PEBSD_SYMBOLS_SECCOMP_H

#include <stdbool.h>

/*
 * For good, of the calling process, which has no new privileges. A call that is not permitted fails with
 * EPERM (clone3: ENOSYS). With `debuginfod` also what fetching a file and keeping it takes. Returns 0, or
 * -errno: -EOPNOTSUPP on a processor whose calls are not known here.
 */
int symbols_seccomp(bool debuginfod);

#endif
