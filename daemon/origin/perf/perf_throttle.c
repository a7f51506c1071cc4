// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_throttle.h"

#include <linux/perf_event.h>
#include <stddef.h>

/*
 * THROTTLE and UNTHROTTLE records begin with the same fields. The id, the stream id and the fields of
 * sample_id_all follow.
 */
struct throttle_record {
	struct perf_event_header header;
	u64 time;
};

struct lost_record {
	struct perf_event_header header;
	u64 id;
	u64 lost;
};

/*
 * The space that the kernel needs for its next record: the throttle record and, if records were lost, the
 * record with their number.
 */
#define ROOM (sizeof(struct throttle_record) + 2 * sizeof(u64) + sizeof(struct lost_record))

/* A record may wrap around the end of the ring. */
static void ring_copy(const unsigned char *data, u64 size, u64 position, void *ret, size_t n)
{
	unsigned char *bytes = ret;

	for (size_t i = 0; i < n; i++)
		bytes[i] = data[(position + i) & (size - 1)];
}

/* Counts a stop up to `time`, except for the part already counted. */
static void count_until(struct perf_throttle *throttle, u64 time)
{
	if (time <= throttle->until_ns)
		return;
	if (throttle->stopped)
		throttle->throttled_ns += time - throttle->until_ns;
	throttle->until_ns = time;
}

/*
 * If a second stop follows without an end of the first, it is not known when the first ended, so no further
 * time of the first is counted.
 */
static void note_throttle(struct perf_throttle *throttle, u64 time)
{
	throttle->stopped = false;
	count_until(throttle, time);
	throttle->stopped = true;
	throttle->since_ns = time;
	throttle->throttles++;
}

static void note_unthrottle(struct perf_throttle *throttle, u64 time)
{
	count_until(throttle, time);
	throttle->stopped = false;
}

/* Handles one record of `header->size` bytes, which lies completely in the ring. */
static void take(const unsigned char *data, u64 size, u64 position, const struct perf_event_header *header,
		 u64 now_ns, struct perf_throttle *throttle)
{
	struct throttle_record record;
	struct lost_record lost;

	switch (header->type) {
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		if (header->size < sizeof(record))
			return;
		ring_copy(data, size, position, &record, sizeof(record));
		if (record.time > now_ns)
			record.time = now_ns;
		if (header->type == PERF_RECORD_THROTTLE)
			note_throttle(throttle, record.time);
		else
			note_unthrottle(throttle, record.time);
		return;
	case PERF_RECORD_LOST:
		if (header->size < sizeof(lost))
			return;
		ring_copy(data, size, position, &lost, sizeof(lost));
		throttle->lost += lost.lost;
		throttle->stopped = false;
		return;
	default:
		/*
		 * Ignore samples: the kernel writes them here when it drains a PEBS buffer outside of its
		 * interrupt.
		 */
		return;
	}
}

static bool take_all(const unsigned char *data, u64 size, u64 tail, u64 head, u64 now_ns,
		     struct perf_throttle *throttle)
{
	u64 left = head - tail;

	if (left > size)
		return false;
	while (left > 0) {
		struct perf_event_header header;

		if (left < sizeof(header))
			return false;
		ring_copy(data, size, head - left, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > left)
			return false;
		take(data, size, head - left, &header, now_ns, throttle);
		left -= header.size;
	}
	return true;
}

/* Counts a stop that has not ended, up to now but not longer than a stop can last. */
static void count_current(struct perf_throttle *throttle, u64 now_ns)
{
	u64 end_ns = throttle->since_ns + PERF_THROTTLE_MAX_NS;

	if (throttle->stopped)
		count_until(throttle, now_ns < end_ns ? now_ns : end_ns);
}

void perf_throttle_read(const unsigned char *data, u64 size, u64 tail, u64 head, u64 now_ns,
			struct perf_throttle *throttle)
{
	bool readable = take_all(data, size, tail, head, now_ns, throttle);

	/*
	 * The ring is full if the kernel's next record does not fit. One byte always stays free (CIRC_SPACE).
	 * Records may have been lost then, and one of them may have been the end of the stop.
	 */
	throttle->full = head - tail + ROOM >= size;
	if (!readable || throttle->full)
		throttle->stopped = false;
	count_current(throttle, now_ns);
}
