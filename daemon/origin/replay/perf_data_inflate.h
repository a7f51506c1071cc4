// SPDX-License-Identifier: GPL-2.0
/*
 * The compressed part of a recording (perf record -z): one zstd stream over all its compressed records, whose
 * content is records that need not end where those do. Memory is bounded whatever it unpacks to.
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

/* Gives it the next piece of the stream, the caller's until perf_data_inflate_next() returned 0. */
void perf_data_inflate_input(struct perf_data_inflate *inflate, const u8 *at, size_t size);

/*
 * The next record and *ret_record, its header.size bytes with the header, valid until the next call. Returns
 * 1; 0 where it needs the next piece; -EBADMSG where this is no zstd stream or it does not hold records.
 */
int perf_data_inflate_next(struct perf_data_inflate *inflate, struct perf_event_header *ret_header,
			   const u8 **ret_record);

/* Whether a part of a record waits for its rest. */
bool perf_data_inflate_pending(const struct perf_data_inflate *inflate);

#endif
