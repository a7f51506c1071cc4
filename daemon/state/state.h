// SPDX-License-Identifier: GPL-2.0
/*
 * Records that outlive the process, in memory behind a descriptor (memfd_create(2)) that somebody keeps. What
 * was put and removed between two commits is there whole, or not at all, wherever the process was killed
 * (state_layout.h). Knows bytes, kinds and keys; what they mean is their owners' matter.
 *
 * Whoever has a record keeps its place (struct state_ref) beside what it is of. All functions take NULL,
 * which keeps nothing.
 */
#ifndef PEBSD_STATE_H
#define PEBSD_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "state/state_layout.h"

struct state;

/* Where a record lies. Zeroed: there is none. */
struct state_ref {
	u32 unit;
};

/* One that was taken over. */
struct state_record {
	u64 key;
	u32 kind;
	struct state_ref ref;
	const u8 *bytes; /* valid until state_settle() */
	u32 length;
};

/* Empty memory. `records`: the layout of what will be in it. 0 or -errno; free with state_free(). */
int state_new(u32 records, struct state **ret);

/*
 * Takes over what another process left in `fd`, which is duplicated. 0; -ENODATA: nothing was ever committed;
 * -EBADMSG: it can't be used, and `*ret_wrong`, a constant, says why; -ENOMEM or another -errno. Nobody else
 * may use the memory from then on.
 */
int state_adopt(int fd, u32 records, struct state **ret, const char **ret_wrong);

/* The memory stays as long as somebody has its descriptor. */
struct state *state_free(struct state *state);
DEFINE_CLEANUP(struct state *, state_free)

/* The state's; -1 for NULL. */
int state_fd(const struct state *state);

/* Forgets all records, as if it was new, at once. */
void state_clear(struct state *state);

/*
 * What is taken over, by kind, then key, both ascending; none after state_settle(). Those whose places nobody
 * took by then are removed with the next commit.
 */
const struct state_record *state_records(const struct state *state, u32 kind, size_t *ret_n);
const struct state_record *state_find(const struct state *state, u32 kind, u64 key);
void state_take(struct state *state, const struct state_record *record, struct state_ref *ret);
void state_settle(struct state *state);

/*
 * Puts a record in the place of the one at `ref`, or as a new one; `kind` and `key` stay as they are as long
 * as it exists, and no two have the same. STATE_RECORD_MAX bytes at most.
 */
void state_put(struct state *state, struct state_ref *ref, u32 kind, u64 key, const void *bytes,
	       size_t length);
void state_remove(struct state *state, struct state_ref *ref);

/*
 * All of it is there from now on. 0, or -errno the first time after a record found no room: then the memory
 * says so to whoever takes it over, and nothing is kept any more (later calls return 0).
 */
int state_commit(struct state *state);

/* Its owner can't keep all of a whole (`error`, -errno): a part would be taken for one. As if a record found
 * no room. Not NULL. */
void state_lose(struct state *state, int error);

/* Whether records are kept: neither NULL nor lost. */
bool state_keeps(const struct state *state);

/* Memory that records take, bytes; the room of those that are no more is taken again, and is in it. */
size_t state_bytes(const struct state *state);

#endif
