// SPDX-License-Identifier: GPL-2.0
/*
 * The bodies of /metrics and of the page's JSON, as they are sent: descriptors from pebsd (http_bodies.h),
 * one for each form, shared by all connections. None of their bytes is copied to this process.
 *
 * Memory is bounded, whatever clients do. A body is kept while it is the current one, or while a slow client
 * is still receiving it. No new body of a form is requested while clients are receiving HTTP_CACHE_BODIES_MAX
 * bodies of that form, or if old bodies would then take more than HTTP_CACHE_BYTES_MAX. Clients that come
 * meanwhile get the current body, so slow clients never cause a refusal. Each connection ends after
 * HTTP_TIMEOUT_SECONDS, which ends this state, too.
 */
#ifndef PEBSD_HTTP_CACHE_H
#define PEBSD_HTTP_CACHE_H

#include <stdbool.h>

#include "http/shared/http_wire.h"

struct MHD_Response;

#define HTTP_JSON_TYPE "application/json"

/*
 * Maximum number of bodies of each form: the current one, and two old ones that slow clients are still
 * receiving.
 */
#define HTTP_CACHE_BODIES_MAX 3

/* Maximum bytes of the old bodies that slow clients are still receiving, for all forms together. */
#define HTTP_CACHE_BYTES_MAX (64ULL << 20)

struct http_cache_body {
	u64 generation;
	u64 size;                      /* bytes */
	struct MHD_Response *response; /* NULL: unused entry */
	unsigned int users;            /* connections that are receiving it */
	bool served;
};

/* All zero: there are no bodies. */
struct http_cache {
	struct http_cache_body bodies[HTTP_FORMS][HTTP_CACHE_BODIES_MAX];
};

/* Frees the bodies. No connection may hold one. */
void http_cache_done(struct http_cache *cache);

/* Returns the current body of a form; NULL: none has come yet. */
struct http_cache_body *http_cache_current(struct http_cache *cache, u32 form);

/* Returns true if there is no room for another body. */
bool http_cache_full(struct http_cache *cache, u32 form);

/*
 * Makes `size` bytes of `fd` the current body of that form. Takes ownership of `fd`, even on error. Returns 0
 * or -errno: -ENOSPC if there is no room.
 */
int http_cache_put(struct http_cache *cache, u32 form, u64 generation, int fd, u64 size);

/* A body is kept while it is held. */
void http_cache_hold(struct http_cache_body *body);
void http_cache_release(struct http_cache_body *body);

/* Bytes of the old bodies that still exist. */
u64 http_cache_bytes(const struct http_cache *cache);

/* Number of bodies of all forms. */
unsigned int http_cache_live(const struct http_cache *cache);

#endif
