// SPDX-License-Identifier: GPL-2.0
/* Recordings of loads, opened as a replay. */
#ifndef PEBSD_RECORDED_H
#define PEBSD_RECORDED_H

#include <linux/perf_event.h>
#include <stddef.h>

#include "origin/replay/replay.h"
#include "perf_data_writer.h"

#define RECORDED_L1_HIT 0x10268100142ULL

#define RECORDED_FIELDS                                                                   \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | \
	 PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)

/* Intel's load latency event, with the ids 1 and 2. */
extern const struct writer_event recorded_event;

/* A recording under a path, kept open for as long as the test runs. */
struct recorded {
	int fd;
	char path[64];
};

/* A writer of a file of that CPU with that event, its first. */
struct writer *recorded_writer(const char *cpuid, const struct writer_event *event);

/* A load that hit L1, by a process of one thread. */
struct writer_sample recorded_sample(u32 tid, u64 time);
void recorded_load(struct writer *writer, size_t event, u32 tid, u64 time);

/* Frees the writer. */
struct recorded recorded_finish(struct writer *writer);

/* At most four. Fails the test on error. */
struct replay *recorded_open_all(const struct recorded *files, size_t n);

/* What the writer has, alone. Frees the writer; fails the test on error. */
struct replay *recorded_open(struct writer *writer);

#endif
