// SPDX-License-Identifier: GPL-2.0
#include "varlink/varlink_limits.h"

static size_t count(const struct varlink_seat *seats, size_t n, uid_t user)
{
	size_t has = 0;

	for (size_t i = 0; i < n; i++)
		has += seats[i].user == user;
	return has;
}

/* Returns the user with the most connections; the first such user if there are several. */
static uid_t greediest(const struct varlink_seat *seats, size_t n, size_t *ret_has)
{
	uid_t user = seats[0].user;

	*ret_has = 0;
	for (size_t i = 0; i < n; i++) {
		size_t has = count(seats, n, seats[i].user);

		if (has > *ret_has) {
			*ret_has = has;
			user = seats[i].user;
		}
	}
	return user;
}

static bool goes_before(const struct varlink_seat *seat, const struct varlink_seat *other)
{
	if (seat->subscribed != other->subscribed)
		return other->subscribed;
	return seat->moved_us < other->moved_us;
}

int varlink_limits_yield(const struct varlink_seat *seats, size_t n, uid_t user, u64 now_us)
{
	size_t most;
	uid_t victim;
	int found = -1;

	if (n == 0)
		return -1;
	victim = greediest(seats, n, &most);
	/* With the new connection, `user` would have at least as many as the greediest user. */
	if (victim != user && most <= count(seats, n, user) + 1)
		victim = user;
	for (size_t i = 0; i < n; i++) {
		if (seats[i].user != victim)
			continue;
		if (victim == user && (seats[i].subscribed || now_us - seats[i].moved_us < VARLINK_SEAT_US))
			continue;
		if (found < 0 || goes_before(&seats[i], &seats[found]))
			found = (int)i;
	}
	return found;
}
