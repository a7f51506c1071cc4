// SPDX-License-Identifier: GPL-2.0
/*
 * Lines in flight to a core: those of its own misses, one in each fill buffer, and those that its prefetcher
 * requested. Inline, because every access searches here.
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
	u32 buffers; /* number of fill buffers, at most FLIGHTS_BUFFERS_MAX; 0 counts as 1 */
	u32 count;
	u32 prefetches; /* number of prefetches in `list` */
	struct flight list[FLIGHTS_BUFFERS_MAX + FLIGHTS_PREFETCHES_MAX];
};

static inline void flights_land(struct flights *flights, u32 index)
{
	flights->prefetches -= flights->list[index].prefetch;
	flights->list[index] = flights->list[--flights->count];
}

/* Returns the flight of the line, or NULL. Removes flights that have landed by now. */
static inline const struct flight *flights_find(struct flights *flights, u64 line, u64 now)
{
	u32 found = FLIGHTS_BUFFERS_MAX + FLIGHTS_PREFETCHES_MAX;

	/* Downwards: when a flight lands, the last one takes its place, and that one was already checked. */
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

/*
 * Returns the cycles until a fill buffer is free for a miss, and frees that buffer. Call flights_find() with the
 * same `now` first.
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

/*
 * Adds the line of a miss, after flights_wait(), or of a prefetch. A prefetch needs fewer than
 * FLIGHTS_PREFETCHES_MAX prefetches in `list`.
 */
static inline void flights_add(struct flights *flights, u64 line, u64 ready, bool prefetch)
{
	flights->list[flights->count++] = (struct flight){line, ready, prefetch};
	flights->prefetches += prefetch;
}

/* Removes the flight of a line that another core took. */
static inline void flights_forget(struct flights *flights, u64 line)
{
	for (u32 i = flights->count; i-- > 0;)
		if (flights->list[i].line == line)
			flights_land(flights, i);
}

#endif
