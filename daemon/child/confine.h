// SPDX-License-Identifier: GPL-2.0
/*
 * The steps by which every child gives up privileges, permanently, before it reads anything. A step that the
 * system refuses is skipped unless stated otherwise: giving up some privileges is better than giving up none.
 */
#ifndef PEBSD_CONFINE_H
#define PEBSD_CONFINE_H

#include "pebsd/types.h"

#define CONFINE_BIT(capability) (1ULL << (capability))

/*
 * The process ends with its parent, and ignores signals of the terminal and the service manager. Its working
 * directory is the root. It yields to others in CPU time and when memory is short. Only processes of root can
 * inspect it.
 */
void confine_begin(void);

/*
 * Limits a resource (RLIMIT_*), soft and hard, to at most `most` and at most the current limit. For
 * RLIMIT_NOFILE, raises the soft limit to the hard one.
 */
void confine_limit(int resource, u64 most);

/*
 * Accesses files as nobody, so that the process cannot open root's files for writing. Its other ids stay, so
 * that pebsd can kill it without CAP_KILL.
 */
void confine_files_as_nobody(void);

/* Keeps only the capabilities in `kept`. Returns 0, or -errno if the others cannot be dropped. */
int confine_capabilities(u64 kept);

#endif
