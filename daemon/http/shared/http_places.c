// SPDX-License-Identifier: GPL-2.0
#include "http/shared/http_places.h"

#include <stdint.h>
#include <sys/param.h>

#include "base/cleanup.h"

s64 http_pace_late(const struct http_pace *pace, u64 now_ns)
{
	return pace->late_ns + (s64)(now_ns - pace->seen_ns);
}

void http_pace_advance(struct http_pace *pace, u64 now_ns, u64 taken)
{
	s64 late_ns = http_pace_late(pace, now_ns);
	/* More bytes than this make up for any lateness. Without the limit, the product could overflow. */
	u64 bytes = MIN(taken - MIN(taken, pace->taken), UINT32_MAX);
	s64 paid_ns = (s64)(bytes * NSEC_PER_SEC / HTTP_PLACES_BYTES_A_SECOND);

	pace->late_ns = MAX(late_ns - paid_ns, -HTTP_PLACES_LEAST_NS);
	pace->taken = MAX(taken, pace->taken);
	pace->seen_ns = now_ns;
}

s64 http_places_patience(size_t n, s64 most_ns)
{
	const size_t half = HTTP_PLACES_MAX / 2;
	size_t over = MIN(MAX(n, half) - half, half);

	return most_ns - (most_ns - MIN(most_ns, HTTP_PLACES_LEAST_NS)) * (s64)over / (s64)half;
}

bool http_owner_is_same(const struct http_owner *a, const struct http_owner *b)
{
	return a->kind == b->kind && a->id == b->id;
}

void http_places_count(const struct http_place *places, size_t n, size_t *ret)
{
	size_t firsts[HTTP_PLACES_ROOM]; /* the first place of each owner */
	size_t owner[HTTP_PLACES_ROOM];  /* index into `firsts`, for each place */
	size_t has[HTTP_PLACES_ROOM] = {0};
	size_t n_owners = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		while (at < n_owners && !http_owner_is_same(&places[firsts[at]].owner, &places[i].owner))
			at++;
		if (at == n_owners)
			firsts[n_owners++] = i;
		owner[i] = at;
		has[at]++;
	}
	for (size_t i = 0; i < n; i++)
		ret[i] = has[owner[i]];
}

int http_places_yield(const struct http_place *places, size_t n)
{
	size_t has[HTTP_PLACES_ROOM], most = 0;
	int found = -1;

	http_places_count(places, n, has);
	for (size_t i = 0; i < n; i++)
		most = MAX(most, has[i]);
	for (size_t i = 0; i < n; i++)
		if (has[i] == most && !places[i].waits &&
		    (found < 0 || places[i].late_ns > places[found].late_ns))
			found = (int)i;
	return found;
}
