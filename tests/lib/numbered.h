// SPDX-License-Identifier: GPL-2.0
/* Samples whose fields are derived from their number, to be written into a recording and recognized in it. */
#ifndef PEBSD_NUMBERED_H
#define PEBSD_NUMBERED_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "origin/replay/perf_data.h"
#include "perf_data_writer.h"

#define NUMBERED_FIELDS                                                                            \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)

/* An event for loads, with NUMBERED_FIELDS and two ids. */
extern const struct writer_event numbered_event;

struct writer_sample numbered_sample(u64 n);
void numbered_write(struct writer *writer, size_t event, u64 n);

/* Reads the next sample. Returns false at the end. Fails the test on error. */
bool numbered_next(struct perf_data *data, struct perf_data_record *ret);

/* Expects the fields of sample `n` that are in `sample_type`, and 0 in the others. */
void numbered_expect(const struct perf_data_record *record, u64 sample_type, u64 n);

/* Expects the first `n` samples of the first event, and then the end. */
void numbered_expect_all(struct perf_data *data, u64 sample_type, u64 n);

#endif
