// SPDX-License-Identifier: GPL-2.0
/*
 * Writes perf.data recordings in memory, as inputs for tests and benchmarks. It follows the description of
 * the format (tools/perf/Documentation/perf.data-file-format.txt), and shares no code with the reader. For
 * tests only: it aborts if memory runs out.
 */
#ifndef PEBSD_PERF_DATA_WRITER_H
#define PEBSD_PERF_DATA_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/* PERF_SAMPLE_BRANCH_COUNTERS, which perf_event.h of Linux 6.1 does not define. */
#define WRITER_BRANCH_COUNTERS (1U << 19)

/* Types of the records that perf itself writes. */
enum {
	WRITER_TRACING_DATA = 66,
	WRITER_BUILD_ID = 67,
	WRITER_ROUND = 68,
	WRITER_AUXTRACE = 71,
	WRITER_EVENT_UPDATE = 78,
	WRITER_COMPRESSED = 81,
	WRITER_COMPRESSED2 = 83,
};

enum writer_layout {
	WRITER_FILE,
	WRITER_PIPE,
	WRITER_FILE_UNFINISHED, /* as a killed perf leaves it: no data size, no features */
};

struct writer_event {
	u32 type;
	u64 config;
	u64 config1; /* ldlat */
	u64 period;
	bool freq;
	bool exclude_kernel;
	u64 sample_type;
	u64 read_format;
	u64 branch_sample_type;
	u64 registers_user;
	u64 registers_intr;
	bool no_trailer; /* sample_id_all off */
	const char *name;
	bool name_by_update; /* the name is in an EVENT_UPDATE record instead of the EVENT_DESC feature */
	const u64 *ids;
	size_t n_ids;
};

/*
 * A sample. Fields that the event's sample_type lacks are not written. Fields of sample_type that are not
 * listed here are filled with 0xa5.
 */
struct writer_sample {
	u64 id; /* 0: the event's first id */
	u32 pid;
	u32 tid;
	u64 time;
	u64 address;
	u64 code_address;
	u64 period;
	u64 weight;
	u64 data_source;
	u64 cgroup_id;
	u64 branches;
	bool no_branch_stack; /* 0 branches and no hardware index, as if the PMU delivered none */
};

struct writer;

/* `attr_size`: bytes of an attribute in the recording, 64 to 4096 and a multiple of 8; 0: this system's size. */
struct writer *writer_new(enum writer_layout layout, size_t attr_size);
void writer_free(struct writer *writer);

/* Call all of these before the first record is written. */
void writer_cpuid(struct writer *writer, const char *cpuid);
void writer_machine(struct writer *writer, const char *host, const char *kernel, const char *cpu_name);
void writer_pmu(struct writer *writer, u32 type, const char *name);
void writer_clock(struct writer *writer, u64 real_time,
		  u64 own_time); /* the same moment on both clocks, ns */
size_t writer_event(struct writer *writer, const struct writer_event *event);

/*
 * Write records in the order of the calls. `time` 0 fills the trailer with zeros, as in the records that perf
 * synthesizes.
 */
void writer_sample(struct writer *writer, size_t event, const struct writer_sample *sample);
void writer_comm(struct writer *writer, size_t event, u64 time, u32 pid, u32 tid, const char *comm);
void writer_fork(struct writer *writer, size_t event, u64 time, u32 tid, u32 parent_tid);
void writer_exit(struct writer *writer, size_t event, u64 time, u32 tid);
void writer_cgroup(struct writer *writer, size_t event, u64 time, u64 id, const char *path);
void writer_lost(struct writer *writer, size_t event, u64 time, u64 lost);
void writer_lost_samples(struct writer *writer, size_t event, u64 time, u64 lost);
void writer_filtered(struct writer *writer, size_t event,
		     u64 n); /* samples dropped by perf record --filter */
void writer_round(struct writer *writer);

/* Write any record, or any bytes. */
void writer_record(struct writer *writer, u32 type, const void *body, size_t size);
void writer_bytes(struct writer *writer, const void *bytes, size_t size);

/*
 * Everything that is written between these two calls is compressed and added to the recording's only zstd
 * stream. The result is split into records of `type` with at most `piece` compressed bytes each.
 */
void writer_begin_compressed(struct writer *writer);
void writer_end_compressed(struct writer *writer, u32 type, size_t piece);

/* Returns the recording, which the caller frees. Call it once. */
u8 *writer_finish(struct writer *writer, size_t *ret_size);

/* Returns a memory file with the recording, positioned at its start. The caller keeps `bytes`. */
int writer_memfd(const u8 *bytes, size_t size);

#endif
