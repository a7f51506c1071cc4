// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the header of a recording: which of the two layouts it has and where its data is. From a file, it
 * also reads the events, and what the sections behind the data say about them.
 */
#ifndef PEBSD_PERF_DATA_HEAD_H
#define PEBSD_PERF_DATA_HEAD_H

#include <stdbool.h>

#include "origin/replay/perf_data_events.h"
#include "origin/replay/perf_data_input.h"

struct perf_data_head {
	bool pipe;       /* events and features are records in the data */
	u64 data_start;  /* bytes from the start of the recording */
	bool bounded;    /* `data_end` is known */
	u64 data_end;    /* position after the last byte of the data */
	bool unfinished; /* a file whose header perf never completed */
	bool cut;        /* the sections behind the data are not complete */
};

/*
 * Reads the header from the start of `input` without consuming anything, and adds to `events`. Returns 0,
 * -EBADMSG or another -errno. On an error *message says why, see perf_data_fail().
 */
int perf_data_head_read(struct perf_data_input *input, struct perf_data_events *events,
			struct perf_data_head *ret, char **message);

#endif
