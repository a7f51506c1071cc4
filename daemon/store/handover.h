// SPDX-License-Identifier: GPL-2.0
/*
 * The handover: the data that a process passes to the next one about the descriptors that it stores. It is
 * plain memory in parts, in a memfd (memfd_create(2)) that is stored, too. Numbers in the names connect
 * descriptors with their memory. A number is not reused as long as a descriptor with it is stored.
 *
 * A memory is valid only once it is committed. Until then, the memory of the previous process stays valid. A
 * part that changes after the commit is consistent at any instruction if handover_commit_copy() writes it.
 */
#ifndef PEBSD_HANDOVER_H
#define PEBSD_HANDOVER_H

#include "pebsd/types.h"
#include "store/store.h"
#include "store/stored_name.h"

/* Raise this when the content of a part changes in a way that its size does not show (handover_before()). */
#define HANDOVER_LAYOUT 1

enum handover_part {
	HANDOVER_KERNEL,  /* kernel/kernel_inherit.c */
	HANDOVER_EVENTS,  /* origin/perf/perf_save.c */
	HANDOVER_OFFCORE, /* origin/perf/perf_offcore_save.c */
	HANDOVER_PAUSE,   /* sampling/pause_saved.c */
	HANDOVER_PARTS,
};

struct handover;

/*
 * Looks for the previous process's memory in `store`, which must outlive the handover. Returns 0 or -errno.
 *
 * A memory is given up if HANDOVER_STARTS_MAX processes in a row inherited it and ended before
 * handover_confirm(), for any reason. The log says so, and the memory is removed.
 */
#define HANDOVER_STARTS_MAX 3
int handover_open(struct store *store, struct handover **ret);

/*
 * Returns whether a memory was given up. Everything else that the previous processes stored, including older
 * memories, is then useless, too.
 */
bool handover_gave_up(const struct handover *handover);

/* Confirms that the inherited state works, or as much of it as this process uses. */
void handover_confirm(struct handover *handover);
struct handover *handover_free(struct handover *handover);
DEFINE_CLEANUP(struct handover *, handover_free)

/* Returns whether a previous process left a memory, with any parts. */
bool handover_has_before(const struct handover *handover);

/*
 * Returns a part as the previous process left it, if it has exactly `bytes` bytes, else NULL. The handover
 * owns it.
 */
const void *handover_before(const struct handover *handover, enum handover_part part, size_t bytes);

/*
 * Returns whether handover_part() can return the previous memory's part: the part has `bytes` bytes there, or
 * does not exist.
 */
bool handover_fits(const struct handover *handover, enum handover_part part, size_t bytes);

/* Starts a new memory. Once it is committed, the previous one is no longer valid. Returns 0 or -errno. */
int handover_begin(struct handover *handover);

/*
 * Gives access to a part, for reading and writing: with its previous content, or zeroed if it is new. Call
 * handover_begin() first, unless the previous process left a memory that is used further. Returns 0 or -errno;
 * -EBADMSG: the part has another size, or no memory was inherited or begun.
 */
int handover_part(struct handover *handover, enum handover_part part, size_t bytes, void **ret);

/*
 * Makes this memory the one that the next process inherits. Every descriptor that it names must be stored
 * already. Then removes the previous memory. Returns 0 or -errno.
 */
int handover_commit(struct handover *handover);

struct store *handover_store(const struct handover *handover);

/* Returns a number that no stored name has as its last number. */
u32 handover_number(struct handover *handover);

/*
 * Builds the name under which a descriptor is stored or removed, with HANDOVER_LAYOUT as its layout. `label`
 * is "" for none. `numbers` has `n_numbers` elements.
 */
void handover_name(enum stored_kind kind, const char *label, u32 n_numbers, const u32 *numbers,
		   char ret[STORED_NAME_MAX]);

/*
 * Returns the highest number below `below` among the stored names of a kind that consist of a number, as
 * handover_name() builds them with one number and no label. 0: there is none.
 */
u32 handover_highest(const struct store *store, enum stored_kind kind, u32 below);

/*
 * `copies` holds two copies of `bytes` bytes, one after the other, and `*current` selects the valid one.
 * Writes the other copy, then makes it the valid one.
 */
void handover_commit_copy(u32 *current, void *copies, const void *with, size_t bytes);

#endif
