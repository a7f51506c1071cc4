// SPDX-License-Identifier: GPL-2.0
/*
 * Names for those who may not see where the kernel lies: its functions and variables by their names alone,
 * without addresses, offsets and lines, and what has no name as "[kernel]". All else as it is.
 */
#ifndef PEBSD_HIDDEN_NAMES_H
#define PEBSD_HIDDEN_NAMES_H

#include "profile/profile.h"

#define HIDDEN_KERNEL "[kernel]"

struct hidden_names {
	struct profile_names of;
	struct symbol symbol; /* the one that was found last; borrows its texts */
	struct symbol_frame frame;
};

/* `hidden` is the caller's and outlives what is returned; nothing in it is to be freed. */
struct profile_names hidden_names(struct hidden_names *hidden, const struct profile_names *of);

#endif
