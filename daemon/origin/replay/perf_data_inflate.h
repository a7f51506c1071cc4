// SPDX-License-Identifier: GPL-2.0
/*
 * Decompresses a recording (perf record -z). All its compressed records together are one zstd stream, which
 * contains records. These need not end where the compressed records end. Memory is bounded for any stream.
 */
#ifndef PEBSD_PERF_DATA_INFLATE_H
#define PEBSD_PERF_DATA_INFLATE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

struct perf_data_inflate;

/* Returns 0 or -ENOMEM. */
int perf_data_inflate_new(struct perf_data_inflate **ret);
struct perf_data_inflate *perf_data_inflate_free(struct perf_data_inflate *inflate);

/* Sets the next piece of the stream. The caller keeps it until perf_data_inflate_next() has returned 0. */
void perf_data_inflate_input(struct perf_data_inflate *inflate, const u8 *at, size_t size);

/*
 * Returns the next record: its header, and in *ret_record all header.size bytes including the header, valid
 * until the next call. Returns 1, 0 if it needs the next piece, or -EBADMSG if this is not a zstd stream or
 * does not contain records.
 */
int perf_data_inflate_next(struct perf_data_inflate *inflate, struct perf_event_header *ret_header,
			   const u8 **ret_record);

/* Returns true if a part of a record waits for the rest. */
bool perf_data_inflate_pending(const struct perf_data_inflate *inflate);

#endif
