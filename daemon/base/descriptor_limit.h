// SPDX-License-Identifier: GPL-2.0
/* Room for file descriptors. */
#ifndef PEBSD_DESCRIPTOR_LIMIT_H
#define PEBSD_DESCRIPTOR_LIMIT_H

#include <stddef.h>
#include <sys/resource.h>

/* What is kept for all but the events: maps, sockets, connections. */
#define DESCRIPTORS_SPARE 128

/*
 * The soft limit needed for `more` descriptors beside `used` ones. Returns 0 with it in `ret`, which is the
 * one in force where that is enough, else the hard one; -EMFILE where the hard limit is too low. Pure.
 */
int descriptor_limit_for(const struct rlimit *limit, size_t used, size_t more, rlim_t *ret);

/*
 * Raises the soft limit to the hard one where `more` descriptors do not fit below it. Returns 0, -EMFILE
 * where the hard limit is too low, -errno of reading or setting the limit.
 */
int descriptor_limit_reserve(size_t more);

#endif
