// SPDX-License-Identifier: GPL-2.0
/*
 * The subjects of a sliding window: a tally each, side by side, under a number that is given to another only
 * when no record has it any more. Pure.
 */
#ifndef PEBSD_SLIDING_SUBJECTS_H
#define PEBSD_SLIDING_SUBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "window/tally.h"

#define SUBJECTS_CHUNK 64

struct sliding_subject {
	struct tally *open; /* what the open pane has of it; NULL: nothing */
	u32 records;        /* panes that have it, the open one too */
	u32 changed;        /* the last collection that changed it */
	u32 place;          /* in the open pane's list, where `open` is */
	bool live;
};

struct subjects_chunk {
	u64 used; /* bits: live, or some record has it */
	struct sliding_subject subjects[SUBJECTS_CHUNK];
	struct tally tallies[SUBJECTS_CHUNK];
};

struct sliding_subjects {
	struct subjects_chunk **chunks; /* NULL where a chunk has nobody */
	size_t n_chunks;
	size_t first_free; /* no chunk before has room */
	size_t held;       /* chunks that are not NULL */
	size_t n;          /* numbers in use */
	size_t n_live;     /* of these: of subjects; only records have the others */
};

/* 0 or -ENOMEM. */
int subjects_open(struct sliding_subjects *subjects, u32 *ret);

/* The subject is no more. */
void subjects_close(struct sliding_subjects *subjects, u32 number);

/* Frees the number if nothing has it. */
void subjects_release(struct sliding_subjects *subjects, u32 number);

/* Gives back the memory of chunks with nobody. */
void subjects_sweep(struct sliding_subjects *subjects);
void subjects_free(struct sliding_subjects *subjects);
size_t subjects_bytes(const struct sliding_subjects *subjects);

/* NULL for a number that nobody has. */
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
