// SPDX-License-Identifier: GPL-2.0
#include "varlink/varlink_limits.h"

static size_t count(const struct varlink_limited_connection *connections, size_t n, uid_t user)
{
	size_t has = 0;

	for (size_t i = 0; i < n; i++)
		has += connections[i].user == user;
	return has;
}

/* Returns the user with the most connections; the first such user if there are several. */
static uid_t greediest(const struct varlink_limited_connection *connections, size_t n, size_t *ret_has)
{
	uid_t user = connections[0].user;

	*ret_has = 0;
	for (size_t i = 0; i < n; i++) {
		size_t has = count(connections, n, connections[i].user);

		if (has > *ret_has) {
			*ret_has = has;
			user = connections[i].user;
		}
	}
	return user;
}

static bool goes_before(const struct varlink_limited_connection *connection,
			const struct varlink_limited_connection *other)
{
	if (connection->subscribed != other->subscribed)
		return other->subscribed;
	return connection->moved_us < other->moved_us;
}

int varlink_limits_yield(const struct varlink_limited_connection *connections, size_t n, uid_t user,
			 u64 now_us)
{
	size_t most;
	uid_t victim;
	int found = -1;

	if (n == 0)
		return -1;
	victim = greediest(connections, n, &most);
	/* With the new connection, `user` would have at least as many as the greediest user. */
	if (victim != user && most <= count(connections, n, user) + 1)
		victim = user;
	for (size_t i = 0; i < n; i++) {
		if (connections[i].user != victim)
			continue;
		if (victim == user &&
		    (connections[i].subscribed || now_us - connections[i].moved_us < VARLINK_BUSY_US))
			continue;
		if (found < 0 || goes_before(&connections[i], &connections[found]))
			found = (int)i;
	}
	return found;
}
