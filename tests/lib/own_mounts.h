// SPDX-License-Identifier: GPL-2.0
/* Mounts that nobody else sees, also where the test's root is a directory of somebody's and no mount. */
#ifndef PEBSD_OWN_MOUNTS_H
#define PEBSD_OWN_MOUNTS_H

/*
 * Puts the process into a mount namespace of its own, with nothing shared with any other. The process must
 * have one thread. Returns 0; or -errno (-EPERM without CAP_SYS_ADMIN).
 */
int own_mounts(void);

#endif
