// SPDX-License-Identifier: GPL-2.0
/* Notes that a reader of a replay's results must know, one sentence each. */
#ifndef PEBSD_REPLAY_NOTES_H
#define PEBSD_REPLAY_NOTES_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

/* All zero is an empty list. */
struct replay_notes {
	char **list; /* NULL-terminated, or NULL */
	size_t n;
};

/*
 * Adds a note. The caller first escapes unprintable characters in names from untrusted sources
 * (text_visible() in base/text.h). Returns 0 or -ENOMEM.
 */
int replay_note(struct replay_notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the notes, NULL-terminated. The list owns them. They are valid until the next note is added. */
const char *const *replay_notes_list(const struct replay_notes *notes);

/*
 * The samples of a recording that the results do not include, each counted once. `lost` also counts other
 * records.
 */
struct replay_left_out {
	u64 other_events;     /* of events that pebsd does not count */
	u64 unknown_event;    /* the recording does not say of which event */
	u64 late;             /* the event was announced too late or exceeded the maximum number */
	u64 not_mixed;        /* the event must not be counted together with another */
	u64 unreadable;       /* fields of a newer kernel allow two ways to decode it */
	u64 other_operations; /* IBS samples that are not loads */
	u64 lost;             /* samples and other records that the recording reports as lost */
};

/*
 * Adds a note for each count that is not 0, except for `late` and `not_mixed`, whose notes name the events.
 * Returns 0 or -ENOMEM.
 */
int replay_note_left_out(struct replay_notes *notes, const char *recording,
			 const struct replay_left_out *left_out);

void replay_notes_clear(struct replay_notes *notes);

#endif
