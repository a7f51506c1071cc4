// SPDX-License-Identifier: GPL-2.0
#include "window/readings.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>

struct moment {
	u64 at_ns;
	struct reading events[];
};

struct readings {
	size_t length;
	size_t n_events;
	size_t n;    /* number of moments stored */
	size_t next; /* index of the next moment */
	bool forgot;
	unsigned char *moments;
};

static size_t moment_bytes(size_t n_events)
{
	return sizeof(struct moment) + n_events * sizeof(struct reading);
}

static struct moment *moment_at(const struct readings *readings, size_t index)
{
	return (struct moment *)(void *)(readings->moments + index * moment_bytes(readings->n_events));
}

int readings_new(u64 span_ns, size_t n_events, struct readings **ret)
{
	_cleanup_(readings_freep) struct readings *readings = NULL;
	size_t length = (size_t)(span_ns / READINGS_GAP_NS) + 2;

	if (n_events > EVENTS_MAX)
		return -EINVAL;
	readings = calloc(1, sizeof(*readings));
	if (!readings)
		return -ENOMEM;
	readings->length = length;
	readings->n_events = n_events;
	readings->moments = calloc(length, moment_bytes(n_events));
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
	return moment_at(readings, (readings->next + readings->length - back) % readings->length);
}

static struct moment *place_for(struct readings *readings, u64 now_ns)
{
	struct moment *place;

	if (readings->n >= 2 && now_ns - moment_back(readings, 2)->at_ns < READINGS_GAP_NS)
		return moment_back(readings, 1);
	place = moment_at(readings, readings->next);
	readings->next = (readings->next + 1) % readings->length;
	if (readings->n < readings->length)
		readings->n++;
	else
		readings->forgot = true;
	return place;
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

struct reading reading_difference(const struct reading *now, const struct reading *before)
{
	struct reading difference = *now;

#define SUBTRACT_(name) difference.name -= before->name;
	EVENT_COUNTS_OF_READING(SUBTRACT_)
#undef SUBTRACT_
	return difference;
}

static u64 missing(const struct reading *reading)
{
	u64 explained = reading->seen + reading->filtered + reading->malformed;

	return reading->counted && reading->expected > explained ? reading->expected - explained : 0;
}

void reading_settle(struct reading *now, const struct reading *before)
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
