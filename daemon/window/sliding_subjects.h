// SPDX-License-Identifier: GPL-2.0
/*
 * The subjects of a sliding window, with a tally each. Subjects have numbers, which are reused only when no
 * record refers to them any more. Pure.
 */
#ifndef PEBSD_SLIDING_SUBJECTS_H
#define PEBSD_SLIDING_SUBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "window/tally.h"

#define SUBJECTS_CHUNK 64

struct sliding_subject {
	struct tally *open; /* tally of the subject in the open pane; NULL: none */
	u32 records;        /* panes with a record of it, including the open one */
	u32 changed;        /* the last collection that changed the subject */
	u32 place;          /* index in the open pane's list, if `open` is set */
	bool live;
};

struct subjects_chunk {
	u64 used; /* bits: live, or referred to by a record */
	struct sliding_subject subjects[SUBJECTS_CHUNK];
	struct tally tallies[SUBJECTS_CHUNK];
};

struct sliding_subjects {
	struct subjects_chunk **chunks; /* NULL for an unused chunk */
	size_t n_chunks;
	size_t first_free; /* all chunks before this one are full */
	size_t held;       /* chunks that are not NULL */
	size_t n;          /* numbers in use */
	size_t n_live;     /* number of live subjects among `n`; only records refer to the others */
};

/* Returns 0 or -ENOMEM. */
int subjects_open(struct sliding_subjects *subjects, u32 *ret);

/* Marks the subject as no longer live, and frees its number if no record refers to it. */
void subjects_close(struct sliding_subjects *subjects, u32 number);

/* Frees the number if it is neither live nor referred to by a record. */
void subjects_release(struct sliding_subjects *subjects, u32 number);

/* Frees the memory of unused chunks. */
void subjects_sweep(struct sliding_subjects *subjects);
void subjects_free(struct sliding_subjects *subjects);
size_t subjects_bytes(const struct sliding_subjects *subjects);

/* NULL for a number in an unused chunk. */
static inline struct sliding_subject *subjects_get(const struct sliding_subjects *subjects, u32 number)
{
	size_t chunk = number / SUBJECTS_CHUNK;

	if (chunk >= subjects->n_chunks || !subjects->chunks[chunk])
		return NULL;
	return &subjects->chunks[chunk]->subjects[number % SUBJECTS_CHUNK];
}

static inline struct tally *subjects_tally(const struct sliding_subjects *subjects, u32 number)
{
	return &subjects->chunks[number / SUBJECTS_CHUNK]->tallies[number % SUBJECTS_CHUNK];
}

#endif
