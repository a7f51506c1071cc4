// SPDX-License-Identifier: GPL-2.0
/*
 * The head of a recording: which of the two layouts it has, where its data lies, and, in a file, its events
 * and what the sections behind the data say of them.
 */
#ifndef PEBSD_PERF_DATA_HEAD_H
#define PEBSD_PERF_DATA_HEAD_H

#include <stdbool.h>

#include "origin/replay/perf_data_events.h"
#include "origin/replay/perf_data_input.h"

struct perf_data_head {
	bool pipe;       /* events and features come as records, in the data */
	u64 data_start;  /* bytes from the start of the recording */
	bool bounded;    /* `data_end` is known */
	u64 data_end;    /* position behind the data's last byte */
	bool unfinished; /* a file whose header perf never completed */
	bool cut;        /* the sections behind the data are not all there */
};

/*
 * Reads it from the start of `input`, of which nothing is consumed, and adds to `events`. Returns 0,
 * -EBADMSG, -errno; *message then says why, as perf_data_fail() does.
 */
int perf_data_head_read(struct perf_data_input *input, struct perf_data_events *events,
			struct perf_data_head *ret, char **message);

#endif
