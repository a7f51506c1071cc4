// SPDX-License-Identifier: GPL-2.0
/* What a reader of a replay's figures must know, one sentence each. */
#ifndef PEBSD_REPLAY_NOTES_H
#define PEBSD_REPLAY_NOTES_H

#include <stddef.h>

/* All zero is an empty list. */
struct replay_notes {
	char **list; /* NULL-terminated, where it is not NULL */
	size_t n;
};

/* Adds one. Returns 0 or -ENOMEM. */
int replay_note(struct replay_notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* NULL-terminated; the list's, until the next is added. */
const char *const *replay_notes_list(const struct replay_notes *notes);

void replay_notes_clear(struct replay_notes *notes);

#endif
