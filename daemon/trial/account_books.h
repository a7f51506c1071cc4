// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts samples without the kernel: in this process, with the accounting function of the BPF programs
 * (bpf/account.h). The result is the same differences that a collection reads from the slots.
 */
#ifndef PEBSD_ACCOUNT_BOOKS_H
#define PEBSD_ACCOUNT_BOOKS_H

#include <stddef.h>

#include "base/cleanup.h"
#include "collect/figures.h"
#include "pebsd/sample.h"

/* The samples of one event that were not counted in any collection, by reason. */
struct account_losses {
	u64 malformed; /* as in struct rejected_record */
	u64 filtered;
};

struct account_books;

/*
 * Makes the books for `n_events` events (at most EVENTS_MAX) and at most `max` cgroups. Samples of cgroups
 * that were not named are counted as unattributed. Returns 0, -EINVAL or -ENOMEM. The caller frees `*ret`
 * with account_books_free().
 */
int account_books_new(const struct event_settings *events, size_t n_events, size_t max,
		      struct account_books **ret);
struct account_books *account_books_free(struct account_books *books);
DEFINE_CLEANUP(struct account_books *, account_books_free)

/*
 * Names a cgroup. Call it before its first sample; another call for it has no effect. `path` is copied.
 * Returns 0, -ENOSPC if there are `max` cgroups already, or -ENOMEM.
 */
int account_books_name(struct account_books *books, u64 cgroup_id, const char *path);

/* Accounts samples. Returns 0, or -ENOMEM: then some of them are not counted. */
int account_books_add(struct account_books *books, const struct sample *samples, size_t n);

/*
 * Receives the differences of one cgroup, which are valid during the call; NULL for an event without samples.
 * `path` is valid until the books are freed. `entry` is the number of the cgroup, counted from 0 and never
 * used again.
 */
typedef void (*account_books_callback)(void *userdata, u32 entry, const char *path,
				       const struct figures *const differences[EVENTS_MAX]);

/*
 * Makes a collection: calls back for each cgroup with samples since the last one, in the order of their first
 * sample.
 */
void account_books_collect(struct account_books *books, account_books_callback callback, void *userdata);

/* Return numbers of samples since the start. */
u64 account_books_unattributed(const struct account_books *books);
struct account_losses account_books_losses(const struct account_books *books, unsigned event);

#endif
