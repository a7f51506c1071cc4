// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a perf.data recording, record by record: a file (perf record -o) or a pipe (perf record -o -), of any perf
 * since 3.x on a machine with this byte order. Only bounded buffers and the description of the events are in
 * memory.
 *
 * The contents are checked. Reading ends with -EBADMSG if a length exceeds its record, if a record exceeds
 * the data section, or if a sample does not have the length that its event implies.
 */
#ifndef PEBSD_PERF_DATA_H
#define PEBSD_PERF_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "origin/replay/perf_data_events.h"
#include "origin/replay/perf_data_sample.h"

enum perf_data_kind {
	PERF_DATA_SAMPLE,
	PERF_DATA_UNREADABLE, /* a sample that can be decoded in two ways, so that its contents are not known */
	PERF_DATA_COMM,
	PERF_DATA_FORK,
	PERF_DATA_CGROUP,
	PERF_DATA_LOST,         /* records, samples or others, for which perf's buffer had no space */
	PERF_DATA_LOST_SAMPLES, /* samples that the kernel discarded for another reason */
	PERF_DATA_LOST_TOTAL,   /* perf's total of an event on a CPU, which includes PERF_DATA_LOST */
	PERF_DATA_ROUND,        /* perf has read the buffer of each CPU once more */
	PERF_DATA_OTHER,
};

/* One record. Its pointers are valid until the next record is read. */
struct perf_data_record {
	enum perf_data_kind kind;
	int event;  /* index of a sample's event; -1: not known, or not a sample */
	bool timed; /* `time` is known */
	u64 time;   /* ns of the recording's clock */
	union {
		struct perf_data_sample sample; /* all 0 if the event is not known */
		struct {
			u32 tid;
			const char *name; /* not terminated */
			size_t length;
		} comm;
		struct {
			u32 tid;
			u32 parent_tid;
		} fork;
		struct {
			u64 id;
			const char *path; /* not terminated */
			size_t length;
		} cgroup;
		u64 lost; /* of all kinds of lost samples and records */
	};
};

struct perf_data;

/*
 * Reads the header of the recording in `fd`. Takes ownership of `fd` in every case. Waits for a pipe. Returns
 * 0, -EBADMSG if this is not a readable recording, or another -errno. On an error *ret_message says why and
 * what to do. It is meant to follow the name of the recording and a space. The caller frees it.
 */
int perf_data_open(int fd, struct perf_data **ret, char **ret_message);
struct perf_data *perf_data_free(struct perf_data *data);

/*
 * Reads the next record. Returns 1; 0 at the end, also if the recording was cut; -EBADMSG if it is damaged;
 * or another -errno. perf_data_message() then says why and what to do. Do not call it again after an error
 * other than -EAGAIN, see perf_data_no_wait().
 */
int perf_data_next(struct perf_data *data, struct perf_data_record *ret);

/*
 * Makes perf_data_next() return -EAGAIN, instead of waiting, if a pipe does not have the whole next record
 * yet. The caller can poll perf_data_fd() for more.
 */
void perf_data_no_wait(struct perf_data *data);
int perf_data_fd(const struct perf_data *data);

/* Returns the message for the last error of perf_data_next(), like that of perf_data_open(). */
const char *perf_data_message(const struct perf_data *data);

/*
 * Returns the description of the events that are known so far. In a pipe, they are announced in records before
 * their first samples.
 */
const struct perf_data_events *perf_data_events(const struct perf_data *data);

/*
 * Returns true if the recording was cut: in the middle of a record, before the end of the data that its header
 * gives, or in the sections after the data. The records before that are complete. *ret_position is then the
 * length of the recording in bytes.
 */
bool perf_data_cut(const struct perf_data *data, u64 *ret_position);

/*
 * Returns true if perf never completed the file. Its header does not say where the data ends, so there are no
 * sections with the machine and the names of the events.
 */
bool perf_data_unfinished(const struct perf_data *data);

/*
 * Returns true if a file (perf record -o) came through a pipe. The sections with the machine and the names of the
 * events follow the data, so they would be known only after all samples, and are not read.
 */
bool perf_data_no_features(const struct perf_data *data);

#endif
