// SPDX-License-Identifier: GPL-2.0
/*
 * The state: records that outlive the process, in the memory of a descriptor (memfd_create(2)) that is kept
 * elsewhere. If the process is killed at any point, the next one finds either all changes between two commits
 * or none of them (state_layout.h). This module knows bytes, kinds and keys; their owners know the meaning.
 *
 * Other data that outlives the process: descriptors (store/store.h), what these descriptors are (store/handover.h), the
 * alerts on disk (act/alert_store.h), and the history on disk (history/keeper/).
 *
 * The owner of a record keeps its position (struct state_ref) next to the data that the record describes. All
 * functions accept NULL and then save nothing, unless stated otherwise.
 */
#ifndef PEBSD_STATE_H
#define PEBSD_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "state/state_layout.h"

struct state;

/* The position of a record. All zero: no record. */
struct state_ref {
	u32 unit;
};

/* A record that another process left. */
struct state_record {
	u64 key;
	u32 kind;
	struct state_ref ref;
	const u8 *bytes; /* valid until state_settle() */
	u32 length;
};

/*
 * Creates an empty state. `records`: layout version of the records in it. Returns 0 or -errno. Free with
 * state_free().
 */
int state_new(u32 records, struct state **ret);

/*
 * Duplicates `fd`, and takes over the records that another process left in its memory. From then on
 * nothing else may use the memory. Returns 0; -ENODATA: nothing was ever committed; -EBADMSG: the memory
 * cannot be used, and *ret_wrong, a constant, says why; -ENOMEM or another -errno.
 */
int state_inherit(int fd, u32 records, struct state **ret, const char **ret_wrong);

/* Frees the state of this process. The memory stays as long as another descriptor of it is open. */
struct state *state_free(struct state *state);
DEFINE_CLEANUP(struct state *, state_free)

/* The descriptor, owned by the state; -1 for NULL. */
int state_fd(const struct state *state);

/* Discards all records at once, as if the state was new. */
void state_clear(struct state *state);

/*
 * The records that were taken over, by kind, then key, both ascending; none after state_settle().
 * state_take() makes the caller the owner of a record. state_settle() marks records without an owner for
 * removal with the next commit.
 */
const struct state_record *state_records(const struct state *state, u32 kind, size_t *ret_n);
const struct state_record *state_find(const struct state *state, u32 kind, u64 key);
void state_take(struct state *state, const struct state_record *record, struct state_ref *ret);
void state_settle(struct state *state);

/*
 * Drops the records of a kind that were taken over and that nobody has taken, as if they had not been saved. Records
 * found earlier are not valid after this.
 */
void state_drop(struct state *state, u32 kind);

/*
 * Replaces the record at `ref`, or adds a new one if there is none. `kind` and `key` must not change while
 * the record exists, and no two records may have the same kind and key. At most STATE_RECORD_MAX bytes.
 */
void state_put(struct state *state, struct state_ref *ref, u32 kind, u64 key, const void *bytes,
	       size_t length);
void state_remove(struct state *state, struct state_ref *ref);

/*
 * Commits all changes. Returns 0, or -errno at the first call after a record could not be stored. From that
 * failure on, the memory is marked as incomplete for the next process, and nothing is saved; later calls
 * return 0.
 */
int state_commit(struct state *state);

/*
 * Marks the state as incomplete, as if a record could not be stored. Call it if an owner cannot save all of
 * its records (`error`, -errno): the next process would otherwise take the saved records for all of them.
 * `state` must not be NULL.
 */
void state_lose(struct state *state, int error);

/* Returns true if records are saved: `state` is neither NULL nor incomplete. */
bool state_saves(const struct state *state);

/* Memory of the records, in bytes. Includes the space of removed records, which is reused. */
size_t state_bytes(const struct state *state);

#endif
