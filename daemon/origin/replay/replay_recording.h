// SPDX-License-Identifier: GPL-2.0
/* One recording of a replay: the position of the reader, and the notes about the recording at its end. */
#ifndef PEBSD_REPLAY_RECORDING_H
#define PEBSD_REPLAY_RECORDING_H

#include <stdbool.h>

#include "origin/replay/perf_data.h"
#include "origin/replay/replay_event_set.h"
#include "origin/replay/replay_names.h"
#include "origin/replay/replay_notes.h"
#include "origin/replay/replay_queue.h"

struct replay_recording {
	char *name; /* for messages */
	struct perf_data *data;
	bool has_pending; /* `pending` holds the recording's first sample, which replay_open() has read */
	struct perf_data_record pending;
	struct replay_event_map events; /* one entry for each event of `data` */
	struct replay_machine machine;
	struct replay_queue queue;
	u64 samples;          /* accepted or in the queue */
	bool real_time_known; /* as in struct perf_data_events */
	s64 real_time_offset;
	struct replay_left_out left_out;
};

/*
 * Adds the notes about a recording that is read to its end. They say that the recording is cut (first, with
 * `ret_cut` set) or was never completed, that the kind of its latencies is unknown, and which samples are not
 * in the results. `events` are those that are counted. Returns 0 or -ENOMEM.
 */
int replay_recording_notes(const struct replay_recording *recording, const struct replay_event_set *events,
			   struct replay_notes *notes, bool *ret_cut);

#endif
