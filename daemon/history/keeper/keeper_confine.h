// SPDX-License-Identifier: GPL-2.0
/* Confines the keeper: it can only communicate with pebsd, and read and write files in its directory. */
#ifndef PEBSD_HISTORY_KEEPER_CONFINE_H
#define PEBSD_HISTORY_KEEPER_CONFINE_H

#define KEEPER_CONFINE_DATA  (192UL << 20) /* bytes: the largest answer, while it is made */
#define KEEPER_CONFINE_FILES 32

/*
 * Confines the calling process permanently. It keeps no capabilities. Kernels with Landlock (Linux 5.13 and
 * later) also restrict it to files below the directory; on others, its user's rights do. It does not end with
 * its parent: it first stores what it has received. Returns 0, or -errno if it could not give up its rights.
 */
int keeper_confine(const char *directory);

#endif
