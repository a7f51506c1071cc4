// SPDX-License-Identifier: GPL-2.0
/*
 * The bodies of /metrics. They are made once a collection, when they are first asked for (two formats, plain
 * and compressed), and shared by all connections from then on: a connection holds a reference and no copy.
 * All of a body is as of its making, what process_* tells, too.
 *
 * Memory is bounded whatever clients do. A generation, the bodies of one collection, lives while it is the
 * one that is served, or while somebody who takes his time is still being sent it. Where
 * SCRAPE_GENERATIONS_MAX live, no further one is made until the oldest is let go: who asks meanwhile gets the
 * last one made. Nobody is refused for being slow, or for others' being so; and as a connection has an end
 * (HTTP_TIMEOUT_SECONDS), so has that.
 */
#ifndef PEBSD_SCRAPE_H
#define PEBSD_SCRAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

struct MHD_Response;

/* Renders the metrics as they are now. Returns 0 or -errno; *ret_text, malloced, becomes the caller's. */
typedef int (*scrape_render)(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length);

/* The one that is served, and two that slow clients are still being sent. */
#define SCRAPE_GENERATIONS_MAX 3

struct scrape;
struct scrape_generation;

/* Returns 0 or -ENOMEM; free with scrape_free(), when nothing is held any more. */
int scrape_new(scrape_render render, void *userdata, struct scrape **ret);
struct scrape *scrape_free(struct scrape *scrape);

/*
 * The response to a scrape, of the generation that `sequence` names, or of the last one where no further one
 * may be made. *ret is valid while *ret_held is held: scrape_release() gives that back. Returns 0 or -errno,
 * and then nothing is held.
 */
int scrape_get(struct scrape *scrape, u64 sequence, bool openmetrics, bool gzip, struct MHD_Response **ret,
	       struct scrape_generation **ret_held);
void scrape_release(struct scrape_generation *held);

/* How many generations live: at most SCRAPE_GENERATIONS_MAX. */
unsigned int scrape_generations(const struct scrape *scrape);

/* `length` bytes in the gzip format (RFC 1952). Returns 0 or -errno; the caller frees *ret. */
int scrape_compress(const void *plain, size_t length, void **ret, size_t *ret_length);

#endif
