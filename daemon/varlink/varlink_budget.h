// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that replies take which their clients have not taken yet: how much of it one user and all users
 * may have, and which connection is closed when another one waits for memory. Pure.
 */
#ifndef PEBSD_VARLINK_BUDGET_H
#define PEBSD_VARLINK_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pebsd/types.h"

#define VARLINK_USER_BYTES (8U << 20)
#define VARLINK_ALL_BYTES  (24U << 20)

/* A reply that has waited for less is not given up for another one's memory. */
#define VARLINK_BUDGET_US 1000000ULL

/* The least that a client must read of an unread reply in each period; the connection of a slower one is
 * closed. At this rate the largest reply takes 160 seconds. */
#define VARLINK_PERIOD_SECONDS 10
#define VARLINK_PERIOD_BYTES   (64U << 10)

struct varlink_load {
	uid_t user;
	size_t held;  /* bytes of memory for what waits to be sent */
	u64 since_us; /* when it began to wait */
	u64 taken;    /* bytes that the client took since then */
};

/* Whether `user` may have `bytes` more beside what the `n` connections hold. */
bool varlink_budget_for(const struct varlink_load *loads, size_t n, uid_t user, size_t bytes);

/*
 * The connection to close when `user` needs more memory than there is. -1: none, `user` has to wait.
 *
 * It is the slowest client, in bytes a second, of those that have had `patience_us`. A user at the user's
 * limit, or one who holds as much as anybody, pays with a connection of its own; otherwise the user who holds
 * the most pays.
 */
int varlink_budget_yield(const struct varlink_load *loads, size_t n, uid_t user, size_t bytes, u64 now_us,
			 u64 patience_us);

#endif
