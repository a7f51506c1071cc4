// SPDX-License-Identifier: GPL-2.0
/*
 * The bodies of /metrics and of the page's JSON, as pebsd makes them: once a collection, when they are first
 * asked for (each document plain and compressed), each in sealed memory that the process which speaks HTTP is
 * given to send, and cannot change. Of one collection at a time: older ones are that process's to keep.
 */
#ifndef PEBSD_HTTP_BODIES_H
#define PEBSD_HTTP_BODIES_H

#include "http/http_source.h"
#include "http/shared/http_wire.h"

struct http_body_made {
	u64 generation; /* of this body, unlike any other's; 0: there is none */
	u64 size;       /* bytes */
	int fd;         /* the bodies' */
};

struct http_bodies {
	const struct http_source *source; /* not owned */
	u64 sequence;
	u64 last_generation;
	struct http_body_made made[HTTP_FORMS];
};

void http_bodies_init(struct http_bodies *bodies, const struct http_source *source);
void http_bodies_done(struct http_bodies *bodies);

/* The body of the source's sequence in that form, made where it is not yet. 0; *ret is valid until the next
 * call; or -errno. */
int http_bodies_get(struct http_bodies *bodies, u32 form, struct http_body_made *ret);

/* `size` bytes in memory that nobody can change any more. 0, and the caller closes *ret_fd; or -errno. */
int http_bodies_seal(const void *data, size_t size, int *ret_fd);

/* `length` bytes in the gzip format (RFC 1952). Returns 0 or -errno; the caller frees *ret. */
int http_bodies_compress(const void *plain, size_t length, void **ret, size_t *ret_length);

#endif
