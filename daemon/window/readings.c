// SPDX-License-Identifier: GPL-2.0
#include "window/readings.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>

#define MOMENTS_FIRST 64 /* of the first allocation */

struct moment {
	u64 at_ns;
	struct reading events[];
};

/* A ring. It grows when it is full, because how many moments are needed depends on the interval of collections. */
struct readings {
	u64 span_ns;
	size_t n_events;
	size_t room;  /* moments allocated */
	size_t n;     /* moments stored */
	size_t first; /* index of the oldest one */
	bool forgot;
	unsigned char *moments;
};

static size_t moment_bytes(size_t n_events)
{
	return sizeof(struct moment) + n_events * sizeof(struct reading);
}

/* The moment with this number; the oldest has the number 0. */
static struct moment *moment_at(const struct readings *readings, size_t number)
{
	const size_t index = (readings->first + number) % readings->room;

	return (struct moment *)(void *)(readings->moments + index * moment_bytes(readings->n_events));
}

int readings_new(u64 span_ns, size_t n_events, struct readings **ret)
{
	_cleanup_(readings_freep) struct readings *readings = NULL;

	if (n_events > EVENTS_MAX)
		return -EINVAL;
	readings = calloc(1, sizeof(*readings));
	if (!readings)
		return -ENOMEM;
	readings->span_ns = span_ns;
	readings->n_events = n_events;
	readings->room = MOMENTS_FIRST;
	readings->moments = calloc(readings->room, moment_bytes(n_events));
	if (!readings->moments)
		return -ENOMEM;
	*ret = TAKE_PTR(readings);
	return 0;
}

struct readings *readings_free(struct readings *readings)
{
	if (!readings)
		return NULL;
	free(readings->moments);
	free(readings);
	return NULL;
}

/* The `back`th newest moment, from 1. */
static struct moment *moment_back(const struct readings *readings, size_t back)
{
	return moment_at(readings, readings->n - back);
}

static void forget_oldest(struct readings *readings)
{
	readings->first = (readings->first + 1) % readings->room;
	readings->n--;
	readings->forgot = true;
}

/* Doubles the room. Without memory, nothing changes. */
static void grow(struct readings *readings)
{
	const size_t bytes = moment_bytes(readings->n_events);
	unsigned char *moments = calloc(2 * readings->room, bytes);

	if (!moments)
		return;
	for (size_t i = 0; i < readings->n; i++)
		memcpy(moments + i * bytes, moment_at(readings, i), bytes);
	free(readings->moments);
	readings->moments = moments;
	readings->first = 0;
	readings->room *= 2;
}

static struct moment *place_for(struct readings *readings, u64 now_ns)
{
	const u64 needed_ns = now_ns > 2 * readings->span_ns ? now_ns - 2 * readings->span_ns : 0;

	if (readings->n >= 2 && now_ns - moment_back(readings, 2)->at_ns < READINGS_GAP_NS)
		return moment_back(readings, 1);
	/* Keep one more than the time needs: a window may cover one collection more. */
	while (readings->n >= 3 && moment_at(readings, 2)->at_ns <= needed_ns)
		forget_oldest(readings);
	if (readings->n == readings->room)
		grow(readings);
	if (readings->n == readings->room)
		forget_oldest(readings);
	readings->n++;
	return moment_back(readings, 1);
}

void readings_push(struct readings *readings, u64 now_ns, const struct reading events[])
{
	struct moment *moment = place_for(readings, now_ns);

	moment->at_ns = now_ns;
	memcpy(moment->events, events, readings->n_events * sizeof(*events));
}

struct reading readings_at(const struct readings *readings, unsigned event, u64 at_ns)
{
	/* Search from the newest moment, because windows are short. */
	for (size_t back = 1; back <= readings->n; back++) {
		const struct moment *moment = moment_back(readings, back);

		if (moment->at_ns <= at_ns)
			return moment->events[event];
	}
	if (readings->forgot)
		return moment_back(readings, readings->n)->events[event];
	return (struct reading){0};
}

struct reading reading_delta(const struct reading *now, const struct reading *before)
{
	struct reading delta = *now;

#define SUBTRACT_(name) delta.name -= before->name;
	EVENT_COUNTS_OF_READING(SUBTRACT_)
#undef SUBTRACT_
	return delta;
}

static u64 missing(const struct reading *reading)
{
	u64 explained = reading->seen + reading->filtered + reading->malformed;

	return reading->counted && reading->expected > explained ? reading->expected - explained : 0;
}

void reading_count_losses(struct reading *now, const struct reading *before)
{
	const u64 certain = MIN(now->missed, missing(now));
	const u64 lost = MAX(MIN(missing(before), missing(now)), certain);

	now->unexplained = before->unexplained;
	now->waiting_ns = before->waiting_ns;
	if (!now->counted)
		return;
	if (lost > now->unexplained)
		now->unexplained = lost;
	if (now->enabled_ns > now->running_ns && now->enabled_ns - now->running_ns > now->waiting_ns)
		now->waiting_ns = now->enabled_ns - now->running_ns;
}

bool reading_running_ratio(const struct reading *reading, double *ret)
{
	if (!reading->counted || reading->enabled_ns == 0)
		return false;
	*ret = (double)reading->running_ns / (double)reading->enabled_ns;
	if (*ret > 1)
		*ret = 1;
	return true;
}

double reading_scale(const struct reading *now, const struct reading *before)
{
	double enabled, running;

	if (!now->counted || now->running_ns <= before->running_ns || now->enabled_ns <= before->enabled_ns)
		return 1;
	enabled = (double)(now->enabled_ns - before->enabled_ns);
	running = (double)(now->running_ns - before->running_ns);
	return MIN(MAX(enabled / running, 1), READING_SCALE_MAX);
}
