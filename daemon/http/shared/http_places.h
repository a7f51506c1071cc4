// SPDX-License-Identifier: GPL-2.0
/*
 * The HTTP endpoint has a fixed number of places. A further client is always accepted. If no place is left,
 * one client is disconnected: the one that keeps the endpoint waiting for longest, among those of the owner
 * with the most places. So slow clients cost only places of their own user or address. Pure functions.
 */
#ifndef PEBSD_HTTP_PLACES_H
#define PEBSD_HTTP_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

#define HTTP_PLACES_MAX  256
#define HTTP_PLACES_ROOM (HTTP_PLACES_MAX + 16) /* more than there are places: some were just accepted */

#define HTTP_PLACES_LEAST_NS 1000000000LL

/*
 * A client must receive this many bytes per second. Its lateness is the time by which it falls behind this
 * rate. It is negative for a client that is ahead.
 */
#define HTTP_PLACES_BYTES_A_SECOND (64U << 10)

/* The owner of one or more clients. */
struct http_owner {
	enum {
		HTTP_OWNER_UNKNOWN,
		HTTP_OWNER_USER, /* a user ID of this machine */
		HTTP_OWNER_IPV4, /* an address */
		HTTP_OWNER_IPV6, /* the first 64 bits of an address: the client can choose the rest */
	} kind;
	u64 id;
};

/* Returns whether both are one owner. All clients of HTTP_OWNER_UNKNOWN with one id are one. */
bool http_owner_is_same(const struct http_owner *a, const struct http_owner *b);

/* The lateness of a client. At the start, `late_ns` is zero. */
struct http_pace {
	u64 seen_ns; /* time of the last look */
	u64 taken;   /* bytes received by then */
	s64 late_ns; /* lateness of the client at that time */
};

/*
 * The client has received `taken` bytes in all. A client that was faster than required is ahead by at most
 * HTTP_PLACES_LEAST_NS. It can thus be without CPU time for a moment and still keep its place next to clients
 * that have received nothing.
 */
void http_pace_advance(struct http_pace *pace, u64 now_ns, u64 taken);

/* Returns how late the client is if it has received nothing since the last look. */
s64 http_pace_late(const struct http_pace *pace, u64 now_ns);

/*
 * Returns how late a client may be if its owner has `n` places: `most_ns` for up to half of all places, then
 * less with each place, down to HTTP_PLACES_LEAST_NS for all of them.
 */
s64 http_places_patience(size_t n, s64 most_ns);

struct http_place {
	struct http_owner owner;
	s64 late_ns;
	bool waits; /* the client waits for pebsd, and is not disconnected */
};

/* Writes for each of `n` places how many places its owner has. `n` is at most HTTP_PLACES_ROOM. */
void http_places_count(const struct http_place *places, size_t n, size_t *ret);

/*
 * Returns the index of the client to disconnect, out of `n` (at most HTTP_PLACES_ROOM). -1: none, because all
 * clients of the owner with the most places wait for pebsd. Of equally late clients it is the first one.
 */
int http_places_yield(const struct http_place *places, size_t n);

#endif
