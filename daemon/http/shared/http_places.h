// SPDX-License-Identifier: GPL-2.0
/*
 * The HTTP endpoint has a fixed number of places. Another client is always taken in, and one goes if there is
 * no place left: the client that keeps the endpoint waiting for longest, among those of the owner with the
 * most places. So one user's slow clients, or one address's, cost that user their own places. Pure.
 */
#ifndef PEBSD_HTTP_PLACES_H
#define PEBSD_HTTP_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

#define HTTP_PLACES_MAX  256
#define HTTP_PLACES_ROOM (HTTP_PLACES_MAX + 16) /* with those that were just taken in, of which some go */

#define HTTP_PLACES_LEAST_NS 1000000000ULL

/* A client owes this many bytes of progress a second, and is late by the time that it owes. */
#define HTTP_PLACES_BYTES_A_SECOND (64U << 10)

/* Who may have one client, or a thousand. */
struct http_owner {
	enum {
		HTTP_OWNER_UNKNOWN,
		HTTP_OWNER_USER, /* of this machine: a user ID */
		HTTP_OWNER_IPV4, /* an address */
		HTTP_OWNER_IPV6, /* the first 64 bits of an address: the rest is the client's choice */
	} kind;
	u64 id;
};

/* How late a client is. All zero but for `seen_ns` at the start. */
struct http_pace {
	u64 seen_ns; /* when it was looked at last */
	u64 taken;   /* bytes that it had taken then */
	u64 late_ns; /* how late it was then */
};

/* The client has taken `taken` bytes so far. Bytes in advance are not put to its account for later. */
void http_pace_advance(struct http_pace *pace, u64 now_ns, u64 taken);

/* How late the client is if it has taken nothing since. */
u64 http_pace_late(const struct http_pace *pace, u64 now_ns);

/*
 * How late a client may be whose owner has `n` places: `most_ns` up to half of all places, from there less
 * with each place, and HTTP_PLACES_LEAST_NS with all of them.
 */
u64 http_places_patience(size_t n, u64 most_ns);

struct http_place {
	struct http_owner owner;
	u64 late_ns;
	bool waits; /* for pebsd: it has done its part, and stays */
};

/* The places that the owner of each of `n` has, into `ret`. `n` is at most HTTP_PLACES_ROOM. */
void http_places_count(const struct http_place *places, size_t n, size_t *ret);

/*
 * Which of `n` clients (at most HTTP_PLACES_ROOM) goes, by its index; -1: none, because all clients of the
 * owner with the most places wait for pebsd. Of equally late clients the one that comes first goes.
 */
int http_places_yield(const struct http_place *places, size_t n);

#endif
