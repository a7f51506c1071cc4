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

/* A recording with a path. It stays open for as long as the test runs. */
struct recorded {
	int fd;
	char path[64];
};

/* Returns a writer of a file for a CPU, with `event` as its first event. */
struct writer *recorded_writer(const char *cpuid, const struct writer_event *event);

/* Returns a load that hit L1, in a process with one thread. recorded_load() writes such a load. */
struct writer_sample recorded_sample(u32 tid, u64 time);
void recorded_load(struct writer *writer, size_t event, u32 tid, u64 time);

/* Finishes the writer's recording, and frees the writer. */
struct recorded recorded_finish(struct writer *writer);

/* Opens at most four recordings as one replay. Fails the test on error. */
struct replay *recorded_open_all(const struct recorded *files, size_t n);

/* Opens the writer's recording alone, and frees the writer. Fails the test on error. */
struct replay *recorded_open(struct writer *writer);

#endif
