// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/replay_notes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"

int replay_note(struct replay_notes *notes, const char *format, ...)
{
	va_list arguments;
	char **list;
	int r;

	list = reallocarray(notes->list, notes->n + 2, sizeof(*list));
	if (!list)
		return -ENOMEM;
	notes->list = list;
	va_start(arguments, format);
	r = vasprintf(&list[notes->n], format, arguments);
	va_end(arguments);
	if (r >= 0)
		notes->n++;
	list[notes->n] = NULL;
	return r < 0 ? -ENOMEM : 0;
}

const char *const *replay_notes_list(const struct replay_notes *notes)
{
	static const char *const none[] = {NULL};

	return notes->list ? (const char *const *)notes->list : none;
}

int replay_note_left_out(struct replay_notes *notes, const char *recording,
			 const struct replay_left_out *left_out)
{
	const struct {
		u64 count;
		const char *item, *reason;
	} kinds[] = {
		{left_out->other_events, "sample",
		 "left out: only events of loads, stores, cycles, instructions, stalls and misses count"},
		{left_out->unknown_event, "sample",
		 "left out: the recording does not say for every sample to which event it belongs"},
		{left_out->unreadable, "sample",
		 "left out: a field that this version of pebsd does not know can be read in two ways; replay the recording with a newer pebsd"},
		{left_out->other_operations, "sample",
		 "left out: IBS samples operations of all kinds, and only loads count"},
		{left_out->lost, "record",
		 "missing (samples or others): perf was too slow to read everything; record with a larger buffer (-m) or a longer period (-c)"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const bool one = kinds[i].count == 1;
		char count[TEXT_NUMBER_MAX];

		if (!kinds[i].count)
			continue;
		text_count(kinds[i].count, count);
		if (replay_note(notes, "%s: %s %s%s %s %s", recording, count, kinds[i].item, one ? "" : "s",
				one ? "is" : "are", kinds[i].reason) < 0)
			return -ENOMEM;
	}
	return 0;
}

void replay_notes_clear(struct replay_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->list[i]);
	free(notes->list);
	*notes = (struct replay_notes){};
}
