// SPDX-License-Identifier: GPL-2.0
#include "symbols/symbols_cache.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#include "base/heap.h"

#define BUCKETS         131072U
#define PROCESS_BUCKETS 4096U
#define FILTER_BITS     512U
#define FILTER_SHIFT    21U /* one bit for 2 MiB of addresses */

LIST_HEAD(bucket, symbols_entry);
TAILQ_HEAD(order, symbols_entry);

/*
 * The entries of a process. Most new mappings lie where no address was queried. `filter` recognizes that
 * without a walk over the entries. The bits of removed entries stay set.
 */
struct symbols_of_process {
	u32 pid;
	struct bucket entries;
	u64 filter[FILTER_BITS / 64];
	LIST_ENTRY(symbols_of_process) in_bucket;
};

LIST_HEAD(process_bucket, symbols_of_process);

struct symbols_cache {
	struct symbols_cache_limits limits;
	u64 seed[2]; /* makes bucket collisions unpredictable */
	size_t count;
	u64 bytes;
	u64 dropped_bytes;   /* of dropped entries */
	u64 removed_bytes;   /* of the entries in `removed` */
	struct order by_use; /* answered entries, the least recently used first */
	struct order removed;
	struct process_bucket processes[PROCESS_BUCKETS];
	struct bucket buckets[BUCKETS];
};

int symbols_cache_new(const struct symbols_cache_limits *limits, struct symbols_cache **ret)
{
	_cleanup_(symbols_cache_freep) struct symbols_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	cache->limits = *limits;
	TAILQ_INIT(&cache->by_use);
	TAILQ_INIT(&cache->removed);
	if (getrandom(cache->seed, sizeof(cache->seed), 0) != (ssize_t)sizeof(cache->seed))
		return -EIO;
	*ret = TAKE_PTR(cache);
	return 0;
}

static void free_entry(struct symbols_entry *entry)
{
	free(entry->block);
	free(entry);
}

struct symbols_cache *symbols_cache_free(struct symbols_cache *cache)
{
	struct symbols_of_process *process;
	struct symbols_entry *entry;

	if (!cache)
		return NULL;
	(void)symbols_cache_sweep(cache);
	for (size_t i = 0; i < PROCESS_BUCKETS; i++)
		while ((process = LIST_FIRST(&cache->processes[i]))) {
			while ((entry = LIST_FIRST(&process->entries))) {
				LIST_REMOVE(entry, in_process);
				free_entry(entry);
			}
			LIST_REMOVE(process, in_bucket);
			free(process);
		}
	free(cache);
	return NULL;
}

struct symbol_query symbols_cache_key(const struct symbol_query *query)
{
	struct symbol_query key = *query;

	if (SYMBOL_IS_KERNEL(key.address))
		key.pid = 0;
	return key;
}

static u64 mix(u64 value)
{
	value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93ULL;
	value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93ULL;
	return value ^ (value >> 32);
}

static struct bucket *bucket_of(struct symbols_cache *cache, const struct symbol_query *key)
{
	u64 hash = mix(key->address ^ cache->seed[0]);

	hash = mix(hash + (((u64)key->pid << 1) | (key->kind & 1)) + cache->seed[1]);
	return &cache->buckets[hash % BUCKETS];
}

static struct process_bucket *process_bucket_of(struct symbols_cache *cache, u32 pid)
{
	return &cache->processes[mix(pid ^ cache->seed[1]) % PROCESS_BUCKETS];
}

static struct symbols_of_process *find_process(struct symbols_cache *cache, u32 pid)
{
	struct symbols_of_process *process;

	LIST_FOREACH (process, process_bucket_of(cache, pid), in_bucket) {
		if (process->pid == pid)
			return process;
	}
	return NULL;
}

static struct symbols_of_process *take_process(struct symbols_cache *cache, u32 pid)
{
	struct symbols_of_process *process = find_process(cache, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	LIST_INSERT_HEAD(process_bucket_of(cache, pid), process, in_bucket);
	cache->bytes += heap_bytes(sizeof(*process));
	return process;
}

static unsigned int filter_bit(u64 chunk)
{
	return (unsigned int)(mix(chunk) % FILTER_BITS);
}

static u64 entry_bytes(const struct symbols_entry *entry)
{
	return heap_bytes(sizeof(*entry)) + (entry->block ? heap_bytes(entry->bytes) : 0);
}

/*
 * Removes an entry from all lists. An answered entry goes to the list `removed`, which symbols_cache_sweep()
 * frees. A pending one still belongs to the queue and is marked as dropped.
 */
static void forget(struct symbols_cache *cache, struct symbols_entry *entry)
{
	struct symbols_of_process *process = entry->process;

	cache->count--;
	cache->bytes -= entry_bytes(entry);
	LIST_REMOVE(entry, in_bucket);
	LIST_REMOVE(entry, in_process);
	entry->process = NULL;
	if (LIST_EMPTY(&process->entries)) {
		LIST_REMOVE(process, in_bucket);
		cache->bytes -= heap_bytes(sizeof(*process));
		free(process);
	}
	if (entry->pending) {
		entry->dropped = true;
		cache->dropped_bytes += entry_bytes(entry);
		return;
	}
	cache->removed_bytes += entry_bytes(entry);
	TAILQ_REMOVE(&cache->by_use, entry, in_order);
	TAILQ_INSERT_TAIL(&cache->removed, entry, in_order);
}

/* Removes answered entries while a limit is exceeded. The sender bounds the number of pending ones. */
static void make_room(struct symbols_cache *cache, const struct symbols_entry *stays)
{
	struct symbols_entry *oldest;

	while ((cache->count > cache->limits.entries ||
		cache->bytes + cache->dropped_bytes > cache->limits.bytes) &&
	       (oldest = TAILQ_FIRST(&cache->by_use)) && oldest != stays)
		forget(cache, oldest);
}

struct symbols_entry *symbols_cache_get(struct symbols_cache *cache, const struct symbol_query *key)
{
	struct symbols_entry *entry;

	LIST_FOREACH (entry, bucket_of(cache, key), in_bucket) {
		if (entry->query.address != key->address || entry->query.pid != key->pid ||
		    entry->query.kind != key->kind)
			continue;
		if (!entry->pending) {
			TAILQ_REMOVE(&cache->by_use, entry, in_order);
			TAILQ_INSERT_TAIL(&cache->by_use, entry, in_order);
		}
		return entry;
	}
	return NULL;
}

int symbols_cache_add(struct symbols_cache *cache, const struct symbol_query *key, struct symbols_entry **ret)
{
	_cleanup_free_ struct symbols_entry *entry = calloc(1, sizeof(*entry));
	struct symbols_of_process *process;
	unsigned int bit = filter_bit(key->address >> FILTER_SHIFT);

	if (!entry)
		return -ENOMEM;
	process = take_process(cache, key->pid);
	if (!process)
		return -ENOMEM;
	process->filter[bit / 64] |= 1ULL << (bit % 64);
	entry->query = *key;
	entry->pending = true;
	entry->process = process;
	LIST_INSERT_HEAD(bucket_of(cache, key), entry, in_bucket);
	LIST_INSERT_HEAD(&process->entries, entry, in_process);
	cache->count++;
	cache->bytes += entry_bytes(entry);
	make_room(cache, NULL);
	*ret = TAKE_PTR(entry);
	return 0;
}

bool symbols_cache_may_change(const struct symbols_entry *entry)
{
	switch (entry->symbol.region) {
	case SYMBOL_UNKNOWN:
		return true;
	case SYMBOL_JIT:
	case SYMBOL_ANONYMOUS:
	case SYMBOL_SHARED:
		return entry->query.kind == SYMBOL_CODE;
	default:
		return false;
	}
}

void symbols_cache_ask_again(struct symbols_cache *cache, struct symbols_entry *entry)
{
	TAILQ_REMOVE(&cache->by_use, entry, in_order);
	entry->pending = true;
}

static bool says_less(const struct symbols_wire_answer *answer, const struct symbol *than)
{
	const struct symbol nothing = {0}, *symbol = answer ? &answer->symbol : &nothing;

	return (than->region != SYMBOL_UNKNOWN && symbol->region == SYMBOL_UNKNOWN) ||
	       (than->n_frames && !symbol->n_frames);
}

void symbols_cache_answer(struct symbols_cache *cache, struct symbols_entry *entry,
			  const struct symbols_wire_answer *answer, u64 now_ns)
{
	if (entry->dropped) {
		if (answer)
			free(answer->block);
		cache->dropped_bytes -= entry_bytes(entry);
		free_entry(entry);
		return;
	}
	cache->bytes -= entry_bytes(entry);
	if (says_less(answer, &entry->symbol)) {
		if (answer)
			free(answer->block);
	} else {
		/* Pending entries are not handed out, so nobody uses the previous symbol. */
		free(entry->block);
		entry->block = answer ? answer->block : NULL;
		entry->bytes = answer ? answer->bytes : 0;
		entry->symbol = answer ? answer->symbol : (struct symbol){0};
	}
	entry->answered_ns = now_ns;
	if (!symbols_cache_may_change(entry))
		entry->answers = 0;
	else if (entry->answers < UINT8_MAX)
		entry->answers++;
	entry->pending = false;
	cache->bytes += entry_bytes(entry);
	TAILQ_INSERT_TAIL(&cache->by_use, entry, in_order);
	make_room(cache, entry);
}

void symbols_cache_discard(struct symbols_cache *cache, struct symbols_entry *entry)
{
	/* A caller may still use the previous symbol, so symbols_cache_sweep() frees the entry later. */
	entry->pending = false;
	TAILQ_INSERT_TAIL(&cache->by_use, entry, in_order);
	forget(cache, entry);
}

void symbols_cache_drop_range(struct symbols_cache *cache, u32 pid, u64 start, u64 size)
{
	struct symbols_of_process *process = find_process(cache, pid);
	u64 first = start >> FILTER_SHIFT;
	u64 last = (start + size - 1) >> FILTER_SHIFT;
	struct symbols_entry *entry, *next;
	bool touched;

	if (!process || size == 0)
		return;
	touched = last < first || last - first >= FILTER_BITS;
	for (u64 chunk = first; !touched && chunk <= last; chunk++)
		touched = process->filter[filter_bit(chunk) / 64] >> (filter_bit(chunk) % 64) & 1;
	if (!touched)
		return;
	/* The last entry's removal also frees the process. `next` is NULL then. */
	for (entry = LIST_FIRST(&process->entries); entry; entry = next) {
		next = LIST_NEXT(entry, in_process);
		if (entry->query.address - start < size)
			forget(cache, entry);
	}
}

void symbols_cache_drop(struct symbols_cache *cache, u32 pid)
{
	struct symbols_of_process *process = find_process(cache, pid);
	struct symbols_entry *entry, *next;

	for (entry = process ? LIST_FIRST(&process->entries) : NULL; entry; entry = next) {
		next = LIST_NEXT(entry, in_process);
		forget(cache, entry);
	}
}

bool symbols_cache_sweep(struct symbols_cache *cache)
{
	struct symbols_entry *entry;
	bool any = false;

	while ((entry = TAILQ_FIRST(&cache->removed))) {
		TAILQ_REMOVE(&cache->removed, entry, in_order);
		free_entry(entry);
		any = true;
	}
	cache->removed_bytes = 0;
	return any;
}

size_t symbols_cache_count(const struct symbols_cache *cache)
{
	return cache->count;
}

u64 symbols_cache_bytes(const struct symbols_cache *cache)
{
	return sizeof(*cache) + cache->bytes + cache->dropped_bytes + cache->removed_bytes;
}
