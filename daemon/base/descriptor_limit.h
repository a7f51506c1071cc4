// SPDX-License-Identifier: GPL-2.0
/* The limit of open file descriptors (RLIMIT_NOFILE). */
#ifndef PEBSD_DESCRIPTOR_LIMIT_H
#define PEBSD_DESCRIPTOR_LIMIT_H

#include <stddef.h>
#include <sys/resource.h>

/* Reserved for everything except the events: maps, sockets, connections. */
#define DESCRIPTORS_SPARE 128

/*
 * Computes the soft limit that allows `more` descriptors and DESCRIPTORS_SPARE in addition to the `used`
 * ones. Returns 0 and sets `*ret`: the soft limit in force if that is enough, otherwise the hard limit.
 * Returns -EMFILE if the hard limit is too low. Pure function.
 */
int descriptor_limit_for(const struct rlimit *limit, size_t used, size_t more, rlim_t *ret);

/*
 * Raises the soft limit to the hard limit if the soft limit has no room for `more` descriptors and
 * DESCRIPTORS_SPARE. Returns 0, -EMFILE if the hard limit is too low, or -errno if the limit cannot be read
 * or set.
 */
int descriptor_limit_reserve(size_t more);

#endif
