// SPDX-License-Identifier: GPL-2.0
/*
 * The bodies of /metrics and of the page's JSON, as they are sent: descriptors that pebsd gave
 * (http_bodies.h), one for each form, shared by all connections; none of their bytes is in this process.
 *
 * Memory is bounded whatever clients do. A body lives while it is the one that is served, or while somebody who
 * takes his time is still being sent it. Where HTTP_SCRAPE_BODIES_MAX of a form live, or those that are served
 * no more take HTTP_SCRAPE_BYTES_MAX, no further one is asked for until one is let go: who asks meanwhile gets
 * the last one. Nobody is refused for being slow, or for others' being so; and as a connection has an end
 * (HTTP_TIMEOUT_SECONDS), so has that.
 */
#ifndef PEBSD_HTTP_SCRAPE_H
#define PEBSD_HTTP_SCRAPE_H

#include <stdbool.h>

#include "http/shared/http_wire.h"

struct MHD_Response;

#define HTTP_JSON_TYPE "application/json"

/* Of a form: the one that is served, and two that slow clients are still being sent. */
#define HTTP_SCRAPE_BODIES_MAX 3

/* Of all forms: bodies that slow clients are still being sent while others are served. */
#define HTTP_SCRAPE_BYTES_MAX (64ULL << 20)

struct http_scrape_body {
	u64 generation;
	u64 size;                      /* bytes */
	struct MHD_Response *response; /* NULL: the place is free */
	unsigned int users;            /* who are being sent it */
	bool served;
};

/* All zero: there is none. */
struct http_scrape {
	struct http_scrape_body bodies[HTTP_FORMS][HTTP_SCRAPE_BODIES_MAX];
};

/* When nobody holds a body any more. */
void http_scrape_done(struct http_scrape *scrape);

/* The one that is served in a form; NULL: none came yet. */
struct http_scrape_body *http_scrape_current(struct http_scrape *scrape, u32 form);

/* Whether there is no place for a further one. */
bool http_scrape_full(struct http_scrape *scrape, u32 form);

/* From now on `size` bytes of `fd` are served in that form; the descriptor is taken over in any case. 0 or
 * -errno: -ENOSPC where it is full. */
int http_scrape_put(struct http_scrape *scrape, u32 form, u64 generation, int fd, u64 size);

/* A body lives while it is held. */
void http_scrape_hold(struct http_scrape_body *body);
void http_scrape_release(struct http_scrape_body *body);

/* Bytes of those that live and are served no more. */
u64 http_scrape_bytes(const struct http_scrape *scrape);

/* How many live, of all forms. */
unsigned int http_scrape_live(const struct http_scrape *scrape);

#endif
