// SPDX-License-Identifier: GPL-2.0
#include "window/sliding_subjects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make_chunk(struct sliding_subjects *subjects, size_t at)
{
	if (at == subjects->n_chunks) {
		size_t n = subjects->n_chunks + subjects->n_chunks / 2 + 1;
		struct subjects_chunk **chunks = reallocarray(subjects->chunks, n, sizeof(*chunks));

		if (!chunks)
			return -ENOMEM;
		memset(chunks + subjects->n_chunks, 0, (n - subjects->n_chunks) * sizeof(*chunks));
		subjects->chunks = chunks;
		subjects->n_chunks = n;
	}
	subjects->chunks[at] = calloc(1, sizeof(**subjects->chunks));
	if (!subjects->chunks[at])
		return -ENOMEM;
	subjects->held++;
	return 0;
}

int subjects_open(struct sliding_subjects *subjects, u32 *ret)
{
	struct subjects_chunk *chunk;
	size_t at = subjects->first_free;
	unsigned bit;
	int r;

	while (at < subjects->n_chunks && subjects->chunks[at] && !~subjects->chunks[at]->used)
		at++;
	subjects->first_free = at;
	if (at == subjects->n_chunks || !subjects->chunks[at]) {
		r = make_chunk(subjects, at);
		if (r < 0)
			return r;
	}
	chunk = subjects->chunks[at];
	bit = (unsigned)__builtin_ctzll(~chunk->used);
	chunk->used |= 1ULL << bit;
	chunk->subjects[bit].live = true;
	subjects->n++;
	subjects->n_live++;
	*ret = (u32)(at * SUBJECTS_CHUNK + bit);
	return 0;
}

void subjects_close(struct sliding_subjects *subjects, u32 number)
{
	subjects_get(subjects, number)->live = false;
	subjects->n_live--;
	subjects_release(subjects, number);
}

void subjects_release(struct sliding_subjects *subjects, u32 number)
{
	size_t at = number / SUBJECTS_CHUNK;
	struct sliding_subject *subject = &subjects->chunks[at]->subjects[number % SUBJECTS_CHUNK];

	if (subject->live || subject->records)
		return;
	subjects->chunks[at]->used &= ~(1ULL << number % SUBJECTS_CHUNK);
	subjects->n--;
	if (at < subjects->first_free)
		subjects->first_free = at;
}

void subjects_sweep(struct sliding_subjects *subjects)
{
	if (subjects->held <= subjects->n / SUBJECTS_CHUNK)
		return;
	for (size_t i = 0; i < subjects->n_chunks; i++) {
		if (!subjects->chunks[i] || subjects->chunks[i]->used)
			continue;
		free(subjects->chunks[i]);
		subjects->chunks[i] = NULL;
		subjects->held--;
		if (i < subjects->first_free)
			subjects->first_free = i;
	}
}

void subjects_free(struct sliding_subjects *subjects)
{
	for (size_t i = 0; i < subjects->n_chunks; i++)
		free(subjects->chunks[i]);
	free(subjects->chunks);
}

size_t subjects_bytes(const struct sliding_subjects *subjects)
{
	return subjects->held * sizeof(struct subjects_chunk) +
	       subjects->n_chunks * sizeof(struct subjects_chunk *);
}
