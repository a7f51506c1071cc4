// SPDX-License-Identifier: GPL-2.0
/*
 * Hides kernel addresses from clients that may not see them. Kernel functions and variables are shown by name
 * only, without addresses, offsets and lines. Kernel addresses without a name are shown as "[kernel]". All
 * other names are unchanged.
 */
#ifndef PEBSD_HIDDEN_NAMES_H
#define PEBSD_HIDDEN_NAMES_H

#include "profile/profile.h"

#define HIDDEN_KERNEL "[kernel]"

struct hidden_names {
	struct profile_names of;
	struct symbol symbol; /* the last result; borrows its strings */
	struct symbol_frame frame;
};

/*
 * Wraps `of`. `hidden` is provided by the caller and must outlive the result. Nothing in it needs to be
 * freed.
 */
struct profile_names hidden_names(struct hidden_names *hidden, const struct profile_names *of);

#endif
