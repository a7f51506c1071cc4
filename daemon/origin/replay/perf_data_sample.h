// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes a PERF_RECORD_SAMPLE, and the trailer that other records end with (sample_id_all). Pure functions.
 * The order of the fields is that of perf_output_sample() and __perf_event__output_id_sample() in
 * kernel/events/core.c, not the order of the bits.
 */
#ifndef PEBSD_PERF_DATA_SAMPLE_H
#define PEBSD_PERF_DATA_SAMPLE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/* A field is 0 and has no meaning if its bit in `sample_type` is not set. */
struct perf_data_sample {
	u64 sample_type; /* PERF_SAMPLE_* */
	u32 pid;
	u32 tid;
	u64 time;
	u64 address;
	u64 code_address;
	u64 period;
	u64 weight; /* the complete union perf_sample_weight */
	u64 data_source;
	u64 cgroup_id;
};

/*
 * Decodes the `size` bytes after a sample's record header, in the layout given by `attr`. Returns 0, -EBADMSG
 * if the sample is shorter or longer than that, or -ENOTUNIQ if unknown fields allow two ways to decode it.
 */
int perf_data_sample_decode(const struct perf_event_attr *attr, const u8 *body, size_t size,
			    struct perf_data_sample *ret);

/*
 * Returns the position of the event's id in a sample, in words of 8 bytes from its start, or -1 if it has no
 * id.
 */
int perf_data_sample_id_word(u64 sample_type);

/*
 * Returns the position of the id in a trailer, in words from the record's end. The last word is 1. 0: there
 * is no id.
 */
unsigned int perf_data_trailer_id_word(u64 sample_type);

/*
 * Reads the time from the trailer of a record with the body `body` of `size` bytes. Returns false if there is
 * none.
 */
bool perf_data_trailer_time(const struct perf_event_attr *attr, const u8 *body, size_t size, u64 *ret);

#endif
