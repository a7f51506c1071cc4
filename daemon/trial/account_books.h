// SPDX-License-Identifier: GPL-2.0
/*
 * The books without the kernel: samples are accounted in this process, by the accounting function of the BPF
 * programs (bpf/account.h), and come out as the differences that a collection reads from the slots.
 */
#ifndef PEBSD_ACCOUNT_BOOKS_H
#define PEBSD_ACCOUNT_BOOKS_H

#include <stddef.h>

#include "base/cleanup.h"
#include "collect/figures.h"
#include "pebsd/sample.h"

/* Samples of no collection so far, and what became of them, of one event. */
struct account_losses {
	u64 malformed; /* as in struct loss_record */
	u64 filtered;
};

struct account_books;

/*
 * For `n_events` events, at most EVENTS_MAX, and at most `max` cgroups: samples of further ones, and of those
 * without a name, are `unattributed`. 0, -EINVAL or -ENOMEM; free with account_books_free().
 */
int account_books_new(const struct event_settings *events, size_t n_events, size_t max,
		      struct account_books **ret);
struct account_books *account_books_free(struct account_books *books);
DEFINE_CLEANUP(struct account_books *, account_books_free)

/* A cgroup, before its first sample; told again, nothing changes. `path` is copied. 0, -ENOSPC or -ENOMEM. */
int account_books_name(struct account_books *books, u64 cgroup_id, const char *path);

/* 0, or -ENOMEM with some of the samples not in the books. */
int account_books_add(struct account_books *books, const struct sample *samples, size_t n);

/* One cgroup's differences; NULL for an event without one. Valid during the call; so is `path`, until the
 * books are freed. `entry` is the cgroup's number, from 0 on, never another's. */
typedef void (*account_books_callback)(void *userdata, u32 entry, const char *path,
				       const struct figures *const differences[EVENTS_MAX]);

/* A collection: calls back for each cgroup that had a sample since the last one, in the order of their first.
 */
void account_books_collect(struct account_books *books, account_books_callback callback, void *userdata);

/* Since the start. */
u64 account_books_unattributed(const struct account_books *books);
struct account_losses account_books_losses(const struct account_books *books, unsigned event);

#endif
