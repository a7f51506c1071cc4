// SPDX-License-Identifier: GPL-2.0
/*
 * The memory budget for replies that clients have not read: the limits for one user and for all users, and
 * the choice of the connection to close when another one needs memory. Pure functions.
 */
#ifndef PEBSD_VARLINK_BUDGET_H
#define PEBSD_VARLINK_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pebsd/types.h"

#define VARLINK_USER_BYTES (8U << 20)
#define VARLINK_ALL_BYTES  (24U << 20)

/*
 * A reply that has waited for a shorter time is not dropped to free memory for a call of another connection.
 */
#define VARLINK_BUDGET_US 1000000ULL

/*
 * The least that a client must read of an unread reply in each period, or its connection is closed. At this
 * rate the largest reply takes 160 seconds.
 */
#define VARLINK_PERIOD_SECONDS 10
#define VARLINK_PERIOD_BYTES   (64U << 10)

struct varlink_load {
	uid_t user;
	size_t held;  /* bytes of memory for unsent output */
	u64 since_us; /* time at which the reply began to wait for the client */
	u64 taken;    /* bytes that the kernel accepted for the client since `since_us` */
};

/* Returns true if `user` may have `bytes` more in addition to what the `n` connections hold. */
bool varlink_budget_for(const struct varlink_load *loads, size_t n, uid_t user, size_t bytes);

/*
 * Returns the index of the connection to close when `user` needs more memory than there is. -1: close none,
 * `user` has to wait.
 *
 * It is the connection of the slowest client, in bytes per second, of those whose output has waited for at
 * least `patience_us`. A user at the limit of one user, or who holds as much as any other user, loses a
 * connection of their own. Otherwise the user who holds the most memory loses one.
 */
int varlink_budget_yield(const struct varlink_load *loads, size_t n, uid_t user, size_t bytes, u64 now_us,
			 u64 patience_us);

#endif
