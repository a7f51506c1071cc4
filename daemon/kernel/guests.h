// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the cgroups that hold virtual machines of KVM. A BPF iterator (bpf/guests.bpf.c) walks over all
 * threads inside the kernel. It needs no capability besides those that pebsd has anyway, and it also sees
 * threads that a restricted /proc (hidepid) would hide.
 */
#ifndef PEBSD_GUESTS_H
#define PEBSD_GUESTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "pebsd/types.h"

struct guests;

/*
 * Loads and attaches the iterator. With `every_thread` it lists the cgroups of all threads, for tests.
 * Returns 0 or -errno. On failure `*ret_message` has a message, which the caller frees, or NULL if memory ran
 * out.
 */
int guests_open(bool every_thread, struct guests **ret, char **ret_message);
struct guests *guests_free(struct guests *guests);
DEFINE_CLEANUP(struct guests *, guests_free)

/* Limit of one walk. Further threads that have run a guest are ignored. */
#define GUESTS_THREADS_MAX 65536

/*
 * Finds the ids of all cgroups with a thread that has run a guest, in ascending order and without duplicates.
 * The caller frees `*ret`. Returns 0 or -errno.
 */
int guests_find(const struct guests *guests, u64 **ret, size_t *ret_n);

/* Sorts the ids and removes duplicates. Returns how many are left. Pure: no system call. */
size_t guests_unique(u64 *ids, size_t n);

#endif
