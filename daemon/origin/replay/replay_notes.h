// SPDX-License-Identifier: GPL-2.0
/* What a reader of a replay's figures must know, one sentence each. */
#ifndef PEBSD_REPLAY_NOTES_H
#define PEBSD_REPLAY_NOTES_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/* All zero is an empty list. */
struct replay_notes {
	char **list; /* NULL-terminated, where it is not NULL */
	size_t n;
};

/* Adds one; names from outside are to be made visible (base/text.h) before. Returns 0 or -ENOMEM. */
int replay_note(struct replay_notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* NULL-terminated; the list's, until the next is added. */
const char *const *replay_notes_list(const struct replay_notes *notes);

/* What a recording had that is not in the figures: samples, but for `lost`. Each is counted once. */
struct replay_left_out {
	u64 without_memory_data; /* of events that measure no loads or stores */
	u64 unknown_event;       /* whose event the recording does not tell */
	u64 late;                /* whose event was announced too late, or is one too many */
	u64 not_mixed;           /* of an event that must not be counted with another */
	u64 unreadable;          /* that fields of a newer kernel let be read in two ways */
	u64 other_operations;    /* of IBS that are no loads */
	u64 lost;                /* samples and other records that the recording says it lost */
};

/* A note for each count that is not 0, but for `late` and `not_mixed`, whose events are to be named. Returns
 * 0 or -ENOMEM. */
int replay_note_left_out(struct replay_notes *notes, const char *recording,
			 const struct replay_left_out *left_out);

void replay_notes_clear(struct replay_notes *notes);

#endif
