// SPDX-License-Identifier: GPL-2.0
/*
 * Which cgroups hold virtual machines of KVM, by a walk of the kernel's own over its threads
 * (bpf/guests.bpf.c): it takes no right that pebsd has not anyway, and sees threads that a hidden /proc would
 * not show.
 */
#ifndef PEBSD_GUESTS_H
#define PEBSD_GUESTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

struct guests;

/*
 * Loads and attaches. `every_thread`: finds the cgroups of all threads, for tests. Returns 0, or -errno with
 * `ret_message`, the caller's to free (NULL: out of memory), set.
 */
int guests_open(bool every_thread, struct guests **ret, char **ret_message);
struct guests *guests_free(struct guests *guests);
DEFINE_CLEANUP(struct guests *, guests_free)

/* More threads that ever ran a guest are not looked at. */
#define GUESTS_THREADS_MAX 65536

/*
 * The ids of cgroups with a thread that has run a guest, ascending, each once. The caller frees. Returns 0 or
 * -errno.
 */
int guests_find(const struct guests *guests, u64 **ret, size_t *ret_n);

/* Sorts, and leaves each once. Returns how many that are. Pure. */
size_t guests_unique(u64 *ids, size_t n);

#endif
