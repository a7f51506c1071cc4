// SPDX-License-Identifier: GPL-2.0
/*
 * The bodies of /metrics and of the page's JSON, as pebsd makes them. Each form of a body, plain or compressed,
 * is made at most once per collection, when it is first requested. It is in sealed memory: the process that
 * speaks HTTP gets the descriptor and can send the memory, but not change it. Only the bodies of one
 * collection are kept here. That process may keep older ones.
 */
#ifndef PEBSD_HTTP_BODIES_H
#define PEBSD_HTTP_BODIES_H

#include "http/http_source.h"
#include "http/shared/http_wire.h"

struct http_body_made {
	u64 generation; /* unique to this body; 0: there is none */
	u64 size;       /* bytes */
	int fd;         /* owned by the bodies */
};

struct http_bodies {
	const struct http_source *source; /* not owned */
	u64 sequence;
	u64 last_generation;
	struct http_body_made made[HTTP_FORMS];
};

void http_bodies_init(struct http_bodies *bodies, const struct http_source *source);
void http_bodies_done(struct http_bodies *bodies);

/*
 * Returns the body of the source's current sequence in that form, and makes it if needed. Returns 0, and *ret
 * is valid until the next call; or -errno.
 */
int http_bodies_get(struct http_bodies *bodies, u32 form, struct http_body_made *ret);

/* Compresses `length` bytes to the gzip format (RFC 1952). Returns 0 or -errno; the caller frees *ret. */
int http_bodies_compress(const void *plain, size_t length, void **ret, size_t *ret_length);

#endif
