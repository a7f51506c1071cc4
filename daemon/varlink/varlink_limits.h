// SPDX-License-Identifier: GPL-2.0
/*
 * The control socket has so many connections and no more. Which of them goes where all are taken and another
 * comes, so that who says nothing, or one user's crowd, keeps nobody out. Pure.
 */
#ifndef PEBSD_VARLINK_LIMITS_H
#define PEBSD_VARLINK_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pebsd/types.h"

/* Who sent or took something since then is not sent away for another connection of the same user, or of a
 * user who has as many: there the one that comes is. */
#define VARLINK_SEAT_US 1000000ULL

struct varlink_seat {
	u64 moved_us; /* when it last sent or took a byte, or was let in */
	uid_t user;
	bool subscribed; /* it is quiet for good reason */
};

/*
 * Of `n` connections, all that may be, the one that goes for another of `user`. -1: none, the new one does.
 *
 * It is one of the user's who has the most, the one on which nothing has moved for longest, those subscribed
 * last. Another user's goes at once; one's own only after VARLINK_SEAT_US, and never while it is subscribed.
 */
int varlink_limits_yield(const struct varlink_seat *seats, size_t n, uid_t user, u64 now_us);

#endif
