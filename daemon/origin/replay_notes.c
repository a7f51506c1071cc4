// SPDX-License-Identifier: GPL-2.0
#include "origin/replay_notes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

void replay_notes_clear(struct replay_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->list[i]);
	free(notes->list);
	*notes = (struct replay_notes){};
}
