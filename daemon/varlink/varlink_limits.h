// SPDX-License-Identifier: GPL-2.0
/*
 * Limits the number of connections of the control socket. When all are in use and another client connects,
 * decides which connection to close, so that neither idle clients nor the many connections of one user keep
 * others out. Pure functions.
 */
#ifndef PEBSD_VARLINK_LIMITS_H
#define PEBSD_VARLINK_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pebsd/types.h"

/*
 * A connection on which a byte moved within this time is not closed for another connection of its own user.
 * The new connection is refused instead.
 */
#define VARLINK_BUSY_US 1000000ULL

struct varlink_limited_connection {
	u64 moved_us; /* time of the connection's last sent or read byte, or of its start */
	uid_t user;
	bool subscribed; /* a subscriber is idle by design */
};

/*
 * `n` connections exist, which is the maximum, and `user` opens another. Returns the index of the connection
 * to close, or -1 to refuse the new one.
 *
 * The user who has the most connections loses the one that has been idle for longest, subscribed ones last.
 * This is `user` if, with the new connection, nobody would have more than `user`. A connection of another
 * user can be closed at any time. A connection of `user` can be closed only after VARLINK_BUSY_US without
 * traffic, and never while it is subscribed.
 */
int varlink_limits_yield(const struct varlink_limited_connection *connections, size_t n, uid_t user,
			 u64 now_us);

#endif
