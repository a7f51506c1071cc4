// SPDX-License-Identifier: GPL-2.0
/*
 * The bodies of /metrics: two formats, plain and compressed, each made when it is first asked for and then
 * shared by all connections until the figures change.
 */
#ifndef PEBSD_SCRAPE_H
#define PEBSD_SCRAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

struct MHD_Response;

/* Renders the metrics as they are now. Returns 0 or -errno; *ret_text, malloced, becomes the caller's. */
typedef int (*scrape_render)(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length);

/* How old a body may be when the sequence stands still; what process_* tells moves on. */
#define SCRAPE_AGE_MAX_NS 1000000000ULL

struct scrape;

/* Returns 0 or -ENOMEM; free with scrape_free(). */
int scrape_new(scrape_render render, void *userdata, struct scrape **ret);
struct scrape *scrape_free(struct scrape *scrape);

/*
 * The response to a scrape at `now_ns` (CLOCK_MONOTONIC), rendered anew where `sequence` is not that of the
 * last call or the one at hand is too old. *ret is the scrape's own: valid until the next call. Returns 0 or
 * -errno.
 */
int scrape_get(struct scrape *scrape, u64 sequence, u64 now_ns, bool openmetrics, bool gzip,
	       struct MHD_Response **ret);

/* `length` bytes in the gzip format (RFC 1952). Returns 0 or -errno; the caller frees *ret. */
int scrape_compress(const void *plain, size_t length, void **ret, size_t *ret_length);

#endif
