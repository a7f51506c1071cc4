// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/replay_recording.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/text.h"

/* Limit for one recording, because a hostile one could have thousands. */
#define EVENT_NOTES_MAX 16

static int note_left_out_event(const struct replay_recording *recording,
			       const struct replay_event_set *events, struct replay_notes *notes,
			       size_t index)
{
	const struct replay_event_use *use = &recording->events.list[index];
	const struct perf_data_event *recorded = &perf_data_events(recording->data)->list[index];
	const struct event *clash = &events->list[use->clash];
	_cleanup_free_ char *name = text_visible(recorded->name ? recorded->name : "(no name)");

	if (!name)
		return -ENOMEM;
	if (use->event == REPLAY_LATE)
		return replay_note(
			notes,
			"%s: %llu samples of its event %s are left out: it is announced after the first "
			"sample, or there are more than %d events; replay it separately",
			recording->name, (unsigned long long)use->left_out, name, EVENTS_MAX);
	return replay_note(
		notes,
		"%s: %llu samples of its event %s are left out: its ldlat, its PMU or its recorded fields "
		"differ from those of the %s that are already counted (ldlat %u), and such counts must "
		"not be mixed; replay it separately",
		recording->name, (unsigned long long)use->left_out, name, event_role_name(clash->role),
		clash->ldlat);
}

/* Adds a note with the reason for each event that was left out, up to the limit. */
static int note_left_out_events(const struct replay_recording *recording,
				const struct replay_event_set *events, struct replay_notes *notes)
{
	size_t told = 0;
	u64 others = 0;

	for (size_t i = 0; i < recording->events.n; i++) {
		u64 left_out = recording->events.list[i].left_out;

		if (!left_out)
			continue;
		if (told == EVENT_NOTES_MAX)
			others += left_out;
		else if (told++, note_left_out_event(recording, events, notes, i) < 0)
			return -ENOMEM;
	}
	if (!others)
		return 0;
	return replay_note(notes, "%s: %llu samples of more events are left out for similar reasons",
			   recording->name, (unsigned long long)others);
}

static bool has_latency_of_unknown_kind(const struct replay_recording *recording,
					const struct replay_event_set *events)
{
	for (size_t i = 0; i < recording->events.n; i++) {
		int event = recording->events.list[i].event;

		if (event >= 0 && events->list[event].settings.has_latency &&
		    events->list[event].latency_kind == LATENCY_NONE)
			return true;
	}
	return false;
}

static int note_end(const struct replay_recording *recording, struct replay_notes *notes, bool *ret_cut)
{
	u64 position;
	int r;

	*ret_cut = false;
	if (perf_data_cut(recording->data, &position)) {
		r = replay_note(notes,
				"%s is truncated at byte %llu: only the %llu samples before that are "
				"counted; copy the whole file again, or record it again",
				recording->name, (unsigned long long)position,
				(unsigned long long)recording->samples);
		*ret_cut = r == 0;
		return r;
	}
	if (perf_data_unfinished(recording->data))
		return replay_note(
			notes,
			"%s was not completed, probably because perf was killed: everything in it is "
			"read, but its CPU and the names of its events are missing; end perf with Ctrl-C",
			recording->name);
	return 0;
}

int replay_recording_notes(const struct replay_recording *recording, const struct replay_event_set *events,
			   struct replay_notes *notes, bool *ret_cut)
{
	int r = note_end(recording, notes, ret_cut);

	if (r == 0 && has_latency_of_unknown_kind(recording, events))
		r = replay_note(
			notes,
			"%s does not name a CPU that pebsd knows: it is unknown whether its latencies are "
			"use latency or cache latency",
			recording->name);
	if (r == 0)
		r = note_left_out_events(recording, events, notes);
	if (r == 0)
		r = replay_note_left_out(notes, recording->name, &recording->left_out);
	return r;
}
