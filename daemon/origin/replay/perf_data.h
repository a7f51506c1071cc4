// SPDX-License-Identifier: GPL-2.0
/*
 * A perf.data recording, record by record: those of a file (perf record -o) and those of a pipe
 * (perf record -o -), of any perf since 3.x on a machine of this byte order. Nothing is held in memory but
 * one buffer and what the recording says of its events.
 *
 * What comes out of it is checked: a length that leaves its record, a record that leaves the data section or
 * a sample that is not as long as its event says end the reading with -EBADMSG.
 */
#ifndef PEBSD_PERF_DATA_H
#define PEBSD_PERF_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "origin/replay/perf_data_events.h"
#include "origin/replay/perf_data_sample.h"

enum perf_data_kind {
	PERF_DATA_SAMPLE,
	PERF_DATA_UNREADABLE, /* a sample that can be read in two ways, so that what it says is not known */
	PERF_DATA_COMM,
	PERF_DATA_FORK,
	PERF_DATA_CGROUP,
	PERF_DATA_LOST,  /* samples and other records that the recording itself lost */
	PERF_DATA_ROUND, /* perf has read each CPU's buffer once more */
	PERF_DATA_OTHER,
};

/* One record; what it points to is valid until the next one is read. */
struct perf_data_record {
	enum perf_data_kind kind;
	int event;  /* of a sample: index of its event; -1: not known, as for all others */
	bool timed; /* `time` is known */
	u64 time;   /* the recording's clock, ns */
	union {
		struct perf_data_sample sample; /* all 0 where its event is not known */
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
		u64 lost;
	};
};

struct perf_data;

/*
 * Reads the head of the recording in `fd` and takes over `fd` in every case. Waits for a pipe. Returns 0;
 * -EBADMSG where it is no recording that can be read, -errno; then *ret_message, the caller's, says why and
 * what to do, to be put behind its name and a space.
 */
int perf_data_open(int fd, struct perf_data **ret, char **ret_message);
struct perf_data *perf_data_free(struct perf_data *data);

/*
 * Reads the next record. Returns 1; 0 at the end, also where the recording was cut; -EBADMSG where it is
 * damaged, -errno; perf_data_message() then says why and what to do. Not to be called again after an error,
 * but for -EAGAIN, see perf_data_no_wait().
 */
int perf_data_next(struct perf_data *data, struct perf_data_record *ret);

/* From now on perf_data_next() returns -EAGAIN, in the place of waiting, where a pipe does not have the whole
 * next record yet; perf_data_fd() can be polled for more. */
void perf_data_no_wait(struct perf_data *data);
int perf_data_fd(const struct perf_data *data);

/* Of the last error of perf_data_next(), as that of perf_data_open(). */
const char *perf_data_message(const struct perf_data *data);

/* What is known of the events so far. In a pipe they come as records, before the first sample of each. */
const struct perf_data_events *perf_data_events(const struct perf_data *data);

/* Whether the recording ends before its end: in the middle of a record, or before the size in its header. The
 * records before that are whole. *ret_position: its length in bytes. */
bool perf_data_cut(const struct perf_data *data, u64 *ret_position);

/* Whether perf never completed the file: its header does not say where the data ends, so no section behind
 * it tells of the machine and of the events' names. */
bool perf_data_unfinished(const struct perf_data *data);

#endif
