// SPDX-License-Identifier: GPL-2.0
/* Memory that nobody can change any more, in a descriptor to pass to another process (memfd_create(2)). */
#ifndef PEBSD_SEALED_H
#define PEBSD_SEALED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes a memfd of this name with a copy of the bytes, and seals it. Returns 0, and the caller closes `*ret_fd`; or
 * -errno.
 */
int sealed_new(const char *name, const void *bytes, size_t size, int *ret_fd);

/* Returns true if the descriptor is a memfd that is sealed against every change. */
bool sealed_is(int fd);

#endif
