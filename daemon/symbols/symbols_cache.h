// SPDX-License-Identifier: GPL-2.0
/*
 * Answers that are kept, and the questions that wait for theirs. Bounded in number and bytes: what was asked
 * for least recently makes room. Nothing that was handed out is freed before symbols_cache_sweep().
 */
#ifndef PEBSD_SYMBOLS_CACHE_H
#define PEBSD_SYMBOLS_CACHE_H

#include <sys/queue.h>

#include "base/cleanup.h"
#include "symbols/shared/symbols_wire.h"

struct symbols_of_process;

struct symbols_entry {
	struct symbol_query query; /* of the kernel's half with pid 0 */
	struct symbol symbol;      /* SYMBOL_UNKNOWN while there has been no answer */
	u64 answered_ns;
	u8 answers;   /* that were SYMBOL_UNKNOWN, one after the other; no more than 255 */
	bool barred;  /* the symbolizer failed of it: not to be asked again */
	bool pending; /* asked, not answered */
	bool dropped; /* of a process that has become another one meanwhile; found no more */

	/* The cache's own. */
	void *block;
	size_t bytes;
	struct symbols_of_process *process;
	LIST_ENTRY(symbols_entry) in_bucket;
	LIST_ENTRY(symbols_entry) in_process;
	TAILQ_ENTRY(symbols_entry) in_order; /* by use where answered; in the grave where dead */
};

struct symbols_cache_limits {
	size_t entries; /* at least 1 */
	u64 bytes;
};

struct symbols_cache;

/* 0 or -errno. Of the entries that are still pending, those which are not dropped are freed with it. */
int symbols_cache_new(const struct symbols_cache_limits *limits, struct symbols_cache **ret);
struct symbols_cache *symbols_cache_free(struct symbols_cache *cache);
DEFINE_CLEANUP(struct symbols_cache *, symbols_cache_free)

/* As the cache's keys are: an address of the kernel is the same in all processes. */
struct symbol_query symbols_cache_key(const struct symbol_query *query);

/* Of a key; NULL: there is none. An answered one is the last to go then. */
struct symbols_entry *symbols_cache_get(struct symbols_cache *cache, const struct symbol_query *key);

/* A pending one for a key that has none. Another may go for it. 0 or -ENOMEM. */
int symbols_cache_add(struct symbols_cache *cache, const struct symbol_query *key,
		      struct symbols_entry **ret);

/* An answered one is pending again; it keeps its symbol till the answer. */
void symbols_cache_ask_again(struct symbols_cache *cache, struct symbols_entry *entry);

/*
 * What a pending entry waited for. Takes the answer's block; `answer` NULL: nothing is known. A dropped entry
 * is freed. Others may go for it.
 */
void symbols_cache_answer(struct symbols_cache *cache, struct symbols_entry *entry,
			  const struct symbols_wire_answer *answer, u64 now_ns);

/* A pending entry that was not asked after all goes. */
void symbols_cache_discard(struct symbols_cache *cache, struct symbols_entry *entry);

/* Forgets what is known of the process, or of its `size` addresses from `start`. */
void symbols_cache_drop(struct symbols_cache *cache, u32 pid);
void symbols_cache_drop_range(struct symbols_cache *cache, u32 pid, u64 start, u64 size);

/* Frees what has gone. Returns whether there was anything. */
bool symbols_cache_sweep(struct symbols_cache *cache);

size_t symbols_cache_count(const struct symbols_cache *cache);
u64 symbols_cache_bytes(const struct symbols_cache *cache); /* without what has gone, about */

#endif
