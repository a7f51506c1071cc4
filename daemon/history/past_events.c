// SPDX-License-Identifier: GPL-2.0
#include "history/past_events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "history/event_json.h"

const struct past_text *past_events_text(const struct past_events *events, const char *settings)
{
	for (size_t i = 0; i < events->n_texts; i++)
		if (strcmp(events->texts[i].text, settings) == 0)
			return &events->texts[i];
	return NULL;
}

static unsigned index_of(const struct past_events *events, const struct event *event)
{
	unsigned i = 0;

	while (i < events->n && (events->list[i].event.role != event->role ||
				 strcmp(events->list[i].event.pmu, event->pmu) != 0))
		i++;
	return i;
}

static bool has_key(const struct past_events *events, const char *key)
{
	for (size_t i = 0; i < events->n; i++)
		if (strcmp(events->list[i].key, key) == 0)
			return true;
	return false;
}

/* Names the event as it was named then. If another event has this name now, its PMU tells them apart. */
static bool name_event(const struct past_events *events, const char *key, struct past_event *event)
{
	int length = snprintf(event->key, sizeof(event->key), "%s", key);

	if (length <= 0 || (size_t)length >= sizeof(event->key))
		return false;
	if (has_key(events, event->key))
		(void)snprintf(event->key, sizeof(event->key), "%s:%s", event_role_name(event->event.role),
			       event->event.pmu);
	return !has_key(events, event->key);
}

/* Returns the event's number, which may be a new one; EVENTS_MAX: the past has no room for it. */
static unsigned enter(struct past_events *events, const struct history_pane *pane,
		      const struct history_event *from, const struct event *event, const char *origin)
{
	unsigned index = index_of(events, event);
	struct past_event entered = {.event = *event, .origin = origin, .frequency_hz = from->frequency_hz};

	if (index < events->n || index == EVENTS_MAX)
		return index;
	if (!name_event(events, from->key, &entered))
		return EVENTS_MAX;
	entered.event.period = from->period;
	if (from->counted && pane->covered_ns)
		entered.cpus = (double)from->enabled_ns / (double)pane->covered_ns;
	events->list[events->n++] = entered;
	return index;
}

static int read_text(struct past_events *events, const struct history_pane *pane,
		     const struct history_event *from)
{
	struct past_text text = {.text = from->settings, .event = EVENTS_MAX};
	struct event event;
	const char *origin;
	int r = event_json_read(from->settings, &event, &origin);

	if (r == -ENOMEM)
		return r;
	if (r == 0)
		text.event = enter(events, pane, from, &event, origin);
	if (text.event == EVENTS_MAX) {
		events->unread = true;
	} else {
		struct past_event *known = &events->list[text.event];

		text.same = event_json_same(&known->event, &event) && strcmp(known->origin, origin) == 0;
		if (!text.same && !known->other_origin) {
			known->other = event;
			known->other_origin = origin;
		}
	}
	events->texts[events->n_texts++] = text;
	return 0;
}

/* Returns true if the pane has later settings of the event: the keeper appends them behind earlier ones. */
static bool was_replaced(const struct history_pane *pane, size_t index)
{
	for (size_t i = index + 1; i < pane->n_events; i++)
		if (strcmp(pane->events[i].key, pane->events[index].key) == 0)
			return true;
	return false;
}

static int read_pane(struct past_events *events, const struct history_pane *pane, bool replaced)
{
	for (size_t i = 0; i < pane->n_events; i++) {
		int r;

		if (was_replaced(pane, i) != replaced || past_events_text(events, pane->events[i].settings))
			continue;
		if (events->n_texts == PAST_TEXTS_MAX) {
			events->unread = true;
			continue;
		}
		r = read_text(events, pane, &pane->events[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

int past_events_find(const struct history_pane *panes, size_t n, struct past_events *ret)
{
	int r = 0;

	*ret = (struct past_events){0};
	for (size_t pane = n; pane-- > 0 && r == 0;) {
		r = read_pane(ret, &panes[pane], false);
		if (r == 0)
			r = read_pane(ret, &panes[pane], true);
	}
	return r;
}

static void add_counts(struct reading *reading, const struct history_event *counts)
{
#define ADD(name) reading->name += counts->name;
	EVENT_COUNTS_OF_READING(ADD)
#undef ADD
	reading->counted = reading->counted && counts->counted;
	reading->throttle_known = reading->throttle_known && counts->throttle_known;
}

/* The times that a pane has for one event. */
struct share {
	bool own, other;      /* with the event's settings; with other ones */
	u64 own_ns, other_ns; /* enabled times */
};

static void leave_out(struct past_event *event, const struct history_pane *pane, const struct share *share,
		      struct reading *reading)
{
	const double covered = (double)pane->covered_ns;

	if (share->other) {
		double part = !share->own ? 1
			      : share->other_ns
				      ? (double)share->other_ns / (double)(share->own_ns + share->other_ns)
				      : 0;

		event->other_ns += (u64)(part * covered);
		reading->enabled_ns += share->other_ns;
	} else if (!share->own) {
		event->absent_ns += pane->covered_ns;
		reading->enabled_ns += (u64)(event->cpus * covered);
	}
}

void past_events_read(struct past_events *events, const struct history_pane *pane,
		      struct reading readings[EVENTS_MAX])
{
	struct share shares[EVENTS_MAX] = {0};

	for (size_t i = 0; i < pane->n_events; i++) {
		const struct history_event *counts = &pane->events[i];
		const struct past_text *text = past_events_text(events, counts->settings);

		if (!text || text->event == EVENTS_MAX)
			continue;
		if (text->same) {
			add_counts(&readings[text->event], counts);
			shares[text->event].own = true;
			shares[text->event].own_ns += counts->enabled_ns;
		} else {
			shares[text->event].other = true;
			shares[text->event].other_ns += counts->enabled_ns;
		}
	}
	for (size_t i = 0; i < events->n; i++)
		leave_out(&events->list[i], pane, &shares[i], &readings[i]);
}
