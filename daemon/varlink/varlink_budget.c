// SPDX-License-Identifier: GPL-2.0
#include "varlink/varlink_budget.h"

static size_t held_by(const struct varlink_load *loads, size_t n, uid_t user)
{
	size_t held = 0;

	for (size_t i = 0; i < n; i++)
		if (loads[i].user == user)
			held += loads[i].held;
	return held;
}

static size_t held_by_all(const struct varlink_load *loads, size_t n)
{
	size_t held = 0;

	for (size_t i = 0; i < n; i++)
		held += loads[i].held;
	return held;
}

bool varlink_budget_for(const struct varlink_load *loads, size_t n, uid_t user, size_t bytes)
{
	return held_by(loads, n, user) + bytes <= VARLINK_USER_BYTES &&
	       held_by_all(loads, n) + bytes <= VARLINK_ALL_BYTES;
}

static uid_t who_pays(const struct varlink_load *loads, size_t n, uid_t user, size_t bytes)
{
	size_t most = held_by(loads, n, user);
	uid_t payer = user;

	if (most + bytes > VARLINK_USER_BYTES)
		return user;
	for (size_t i = 0; i < n; i++) {
		size_t held = held_by(loads, n, loads[i].user);

		if (held > most) {
			most = held;
			payer = loads[i].user;
		}
	}
	return payer;
}

/* Compares bytes per second, without a division. */
static bool is_slower(const struct varlink_load *load, const struct varlink_load *other, u64 now_us)
{
	return load->taken * (now_us - other->since_us) < other->taken * (now_us - load->since_us);
}

int varlink_budget_yield(const struct varlink_load *loads, size_t n, uid_t user, size_t bytes, u64 now_us,
			 u64 patience_us)
{
	uid_t payer = who_pays(loads, n, user, bytes);
	int found = -1;

	for (size_t i = 0; i < n; i++) {
		if (loads[i].user != payer || loads[i].held == 0 || now_us - loads[i].since_us < patience_us)
			continue;
		if (found < 0 || is_slower(&loads[i], &loads[found], now_us))
			found = (int)i;
	}
	return found;
}
