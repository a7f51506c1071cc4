// SPDX-License-Identifier: GPL-2.0
/* Private mounts, which nobody else sees. They work even if the test's root directory is not a mount. */
#ifndef PEBSD_OWN_MOUNTS_H
#define PEBSD_OWN_MOUNTS_H

/*
 * Moves the process into a new mount namespace that shares nothing with others. The process must have only
 * one thread. Returns 0 or -errno (-EPERM without CAP_SYS_ADMIN).
 */
int own_mounts(void);

#endif
