// SPDX-License-Identifier: GPL-2.0
/*
 * What a PERF_RECORD_SAMPLE says, and the trailer that other records end with (sample_id_all). Pure. The
 * order of the fields is that of perf_output_sample() and __perf_event__output_id_sample() in
 * kernel/events/core.c, not that of the bits.
 */
#ifndef PEBSD_PERF_DATA_SAMPLE_H
#define PEBSD_PERF_DATA_SAMPLE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/* A field without its bit in `sample_type` is 0 and means nothing. */
struct perf_data_sample {
	u64 sample_type; /* PERF_SAMPLE_* */
	u32 pid;
	u32 tid;
	u64 time;
	u64 address;
	u64 code_address;
	u64 period;
	u64 weight; /* union perf_sample_weight, whole */
	u64 data_source;
	u64 cgroup_id;
};

/*
 * Reads the `size` bytes behind a sample's record header as `attr` says they are laid out. Returns 0, or
 * -EBADMSG where they are shorter or longer than that, -ENOTUNIQ where fields that are not known here let
 * them be read in two ways.
 */
int perf_data_sample_decode(const struct perf_event_attr *attr, const u8 *body, size_t size,
			    struct perf_data_sample *ret);

/* Where in a sample the event's id stands, in words of 8 bytes from its start; -1 where it has none. */
int perf_data_sample_id_word(u64 sample_type);

/* Where in a trailer the id stands, in words from the record's end, the last being 1; 0 where it has none. */
unsigned int perf_data_trailer_id_word(u64 sample_type);

/* The time in the trailer of a record with the `size` bytes `body`; false where there is none. */
bool perf_data_trailer_time(const struct perf_event_attr *attr, const u8 *body, size_t size, u64 *ret);

#endif
