// SPDX-License-Identifier: GPL-2.0
/*
 * Lines on their way to a core: those that its own misses wait for, one in each fill buffer, and those that
 * its prefetcher asked for. Inline, for every access looks here.
 */
#ifndef PEBSD_MODEL_FLIGHTS_H
#define PEBSD_MODEL_FLIGHTS_H

#include "freestanding.h"

#define FLIGHTS_BUFFERS_MAX    48
#define FLIGHTS_PREFETCHES_MAX 16

struct flight {
	u64 line;
	u64 ready; /* core clock cycles */
	bool prefetch;
};

struct flights {
	u32 buffers; /* fill buffers, at most FLIGHTS_BUFFERS_MAX; 0 counts as 1 */
	u32 count;
	u32 prefetches; /* of them */
	struct flight list[FLIGHTS_BUFFERS_MAX + FLIGHTS_PREFETCHES_MAX];
};

static inline void flights_land(struct flights *flights, u32 index)
{
	flights->prefetches -= flights->list[index].prefetch;
	flights->list[index] = flights->list[--flights->count];
}

/* The flight of the line, NULL where it is not on its way; those that have landed by now are gone. */
static inline const struct flight *flights_find(struct flights *flights, u64 line, u64 now)
{
	u32 found = FLIGHTS_BUFFERS_MAX + FLIGHTS_PREFETCHES_MAX;

	/* Downwards: where one lands, the last one takes its place, which has been looked at. */
	for (u32 i = flights->count; i-- > 0;) {
		if (flights->list[i].ready <= now) {
			flights_land(flights, i);
			if (found == flights->count)
				found = i;
		} else if (flights->list[i].line == line) {
			found = i;
		}
	}
	return found < flights->count ? &flights->list[found] : NULL;
}

/* Cycles until a fill buffer is free for a miss: then it is. To be called after flights_find(), as of `now`.
 */
static inline u32 flights_wait(struct flights *flights, u64 now)
{
	u32 first = flights->count;
	u32 wait;

	if (flights->count == flights->prefetches || flights->count - flights->prefetches < flights->buffers)
		return 0;
	for (u32 i = 0; i < flights->count; i++)
		if (!flights->list[i].prefetch &&
		    (first == flights->count || flights->list[i].ready < flights->list[first].ready))
			first = i;
	wait = (u32)(flights->list[first].ready - now);
	flights_land(flights, first);
	return wait;
}

/* A miss's line, after flights_wait(), or a prefetched one, where there are fewer than
 * FLIGHTS_PREFETCHES_MAX. */
static inline void flights_add(struct flights *flights, u64 line, u64 ready, bool prefetch)
{
	flights->list[flights->count++] = (struct flight){line, ready, prefetch};
	flights->prefetches += prefetch;
}

/* The line will not come: another core took it. */
static inline void flights_forget(struct flights *flights, u64 line)
{
	for (u32 i = flights->count; i-- > 0;)
		if (flights->list[i].line == line)
			flights_land(flights, i);
}

#endif
