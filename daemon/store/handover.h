// SPDX-License-Identifier: GPL-2.0
/*
 * What one process has to tell the next of the descriptors that it stores: plain memory in parts, behind a
 * descriptor that is stored too (memfd_create(2)). Whose names go with which memory is told by their numbers:
 * no number is given twice as long as one of before is stored.
 *
 * A memory counts only once it is committed: until then, at a start that begins anew, the one of before does.
 * Whoever changes a part later has it whole at any instruction: handover_flip().
 */
#ifndef PEBSD_HANDOVER_H
#define PEBSD_HANDOVER_H

#include "pebsd/types.h"
#include "store/store.h"
#include "store/stored_name.h"

/* To be raised with each change of what a part holds that its size does not tell (handover_before()). */
#define HANDOVER_LAYOUT 1

enum handover_part {
	HANDOVER_KERNEL,  /* kernel/kernel_keep.c */
	HANDOVER_EVENTS,  /* origin/perf/perf_keep.c */
	HANDOVER_OFFCORE, /* origin/perf/perf_offcore.c */
	HANDOVER_PAUSE,   /* pause.c */
	HANDOVER_PARTS,
};

struct handover;

/*
 * Looks for the memory of the process before in `store`, which outlives the handover. 0 or -errno.
 *
 * One with which so many processes one after the other ended before they said handover_confirm() is gone
 * on with no more, whatever it is that is wrong with it: the log says so, and it is removed.
 */
#define HANDOVER_STARTS_MAX 3
int handover_open(struct store *store, struct handover **ret);

/* Whether one was removed for that: what else the processes before stored is then of no use either. */
bool handover_gave_up(const struct handover *handover);

/* This process goes on well with what was before, as far as it goes on with it. */
void handover_confirm(struct handover *handover);
struct handover *handover_free(struct handover *handover);
DEFINE_CLEANUP(struct handover *, handover_free)

/* Whether a process before left a memory, whatever its parts are. */
bool handover_has_before(const struct handover *handover);

/* A part as the process before left it, of exactly so many bytes; NULL: there is none. The books'. */
const void *handover_before(const struct handover *handover, enum handover_part part, size_t bytes);

/* Whether handover_part() could give the part in the memory of before: it has that size there, or there is
 * none. */
bool handover_fits(const struct handover *handover, enum handover_part part, size_t bytes);

/* Begins a memory of its own: what was before counts no more once it is committed. 0 or -errno. */
int handover_anew(struct handover *handover);

/* The part, to read and write: as it was before, or zeros where it is new. -EBADMSG: it has another size. */
int handover_part(struct handover *handover, enum handover_part part, size_t bytes, void **ret);

/* From now on this memory is what the next process goes on with: all that it names is stored. Then a memory
 * of before is removed. 0 or -errno. */
int handover_commit(struct handover *handover);

struct store *handover_store(const struct handover *handover);

/* A number that no stored name has as its last one. */
u32 handover_number(struct handover *handover);

/* Stores a descriptor, or has it removed, under a name of HANDOVER_LAYOUT, "" for no label. `n_numbers` of
 * `numbers`. */
void handover_name(enum stored_kind kind, const char *label, u32 n_numbers, const u32 *numbers,
		   char ret[STORED_NAME_MAX]);

/*
 * Two copies of `bytes` lie behind one another at `copies`, and `*current` says which counts. Writes the
 * other one, then has it count.
 */
void handover_flip(u32 *current, void *copies, const void *with, size_t bytes);

#endif
