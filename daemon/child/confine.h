// SPDX-License-Identifier: GPL-2.0
/* What a child gives up before it reads anything: the steps that all of them take, for good. What the system
 * refuses is left out, unless a step says otherwise: less is better than nothing. */
#ifndef PEBSD_CONFINE_H
#define PEBSD_CONFINE_H

#include "pebsd/types.h"

#define CONFINE_BIT(capability) (1ULL << (capability))

/*
 * It ends with its parent and at no signal of a terminal's or of the service manager's; stands in no
 * directory of anybody's; yields to others in CPU time and in a shortage of memory; and is not looked into.
 */
void confine_begin(void);

/* RLIMIT_*, both: at most so much, and no more than it was. Of descriptors as many as it may have. */
void confine_limit(int resource, u64 most);

/*
 * It reads files as nobody, so that root's are not open to it for writing. Its other ids stay, by which pebsd
 * may kill it without CAP_KILL.
 */
void confine_files_as_nobody(void);

/* Of the capabilities it has, those in `kept` stay. Returns 0, or -errno where others cannot be given up. */
int confine_capabilities(u64 kept);

#endif
