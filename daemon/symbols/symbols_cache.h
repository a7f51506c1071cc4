// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps answers, and the entries that wait for one (pending). Bounded in number and bytes: the least recently
 * used answers are removed first. A removed entry that was handed out stays valid until
 * symbols_cache_sweep().
 */
#ifndef PEBSD_SYMBOLS_CACHE_H
#define PEBSD_SYMBOLS_CACHE_H

#include <sys/queue.h>

#include "base/cleanup.h"
#include "symbols/shared/symbols_wire.h"

struct symbols_of_process;

struct symbols_entry {
	struct symbol_query query; /* kernel addresses have pid 0 */
	struct symbol symbol;      /* SYMBOL_UNKNOWN until the first answer */
	u64 answered_ns;
	u8 answers;   /* consecutive answers that may change (symbols_cache_may_change()), at most 255 */
	bool barred;  /* the symbolizer failed on it: do not ask again */
	bool pending; /* the query is in flight */
	bool dropped; /* no longer found, because the process changed while the entry was pending */

	/* Private to the cache. */
	void *block;
	size_t bytes;
	struct symbols_of_process *process;
	LIST_ENTRY(symbols_entry) in_bucket;
	LIST_ENTRY(symbols_entry) in_process;
	TAILQ_ENTRY(symbols_entry) in_order; /* in the list by use, or in that of removed entries */
};

struct symbols_cache_limits {
	size_t entries; /* at least 1 */
	u64 bytes;      /* of all entries but those that wait for symbols_cache_sweep() */
};

struct symbols_cache;

/*
 * Returns 0 or -errno. symbols_cache_free() also frees pending entries, except dropped ones, which
 * symbols_cache_answer() frees.
 */
int symbols_cache_new(const struct symbols_cache_limits *limits, struct symbols_cache **ret);
struct symbols_cache *symbols_cache_free(struct symbols_cache *cache);
DEFINE_CLEANUP(struct symbols_cache *, symbols_cache_free)

/* Returns the cache key of a query: a kernel address is the same in all processes. */
struct symbol_query symbols_cache_key(const struct symbol_query *query);

/* Finds the entry of a key, or returns NULL. If it is answered, it becomes the most recently used. */
struct symbols_entry *symbols_cache_get(struct symbols_cache *cache, const struct symbol_query *key);

/* Adds a pending entry for a key that has none. May remove other entries. Returns 0 or -ENOMEM. */
int symbols_cache_add(struct symbols_cache *cache, const struct symbol_query *key,
		      struct symbols_entry **ret);

/*
 * Returns whether another answer may come later to an answered query: the address was unknown, or is in code without
 * a file, which gets names, and other names, as the process lists them (resolver_jit.h).
 */
bool symbols_cache_may_change(const struct symbols_entry *entry);

/* Makes an answered entry pending again. It keeps its symbol until the new answer. */
void symbols_cache_ask_again(struct symbols_cache *cache, struct symbols_entry *entry);

/*
 * Stores the answer of a pending entry. Takes ownership of the answer's block. `answer` NULL means that no
 * answer came, and gives SYMBOL_UNKNOWN. If the entry has an answer already, one that says less does not replace it:
 * the process may have ended since, and callers may still use it. A dropped entry is freed. May remove other entries.
 */
void symbols_cache_answer(struct symbols_cache *cache, struct symbols_entry *entry,
			  const struct symbols_wire_answer *answer, u64 now_ns);

/* Removes a pending entry whose query could not be sent. */
void symbols_cache_discard(struct symbols_cache *cache, struct symbols_entry *entry);

/* Drop all entries of a process, or those in `size` bytes from `start`. */
void symbols_cache_drop(struct symbols_cache *cache, u32 pid);
void symbols_cache_drop_range(struct symbols_cache *cache, u32 pid, u64 start, u64 size);

/* Frees the removed entries. Returns whether there were any. */
bool symbols_cache_sweep(struct symbols_cache *cache);

size_t symbols_cache_count(const struct symbols_cache *cache);
/* Returns all memory of the cache: its tables, and also the removed entries that are not freed yet. */
u64 symbols_cache_bytes(const struct symbols_cache *cache);

#endif
