// SPDX-License-Identifier: GPL-2.0
/* These figures define the workloads. tests/unit/test_model_workload.c checks the resulting shares. */
#include "workload_data.h"

#define WORD 8UL
#define LINE 64UL
#define PAGE 4096UL

#define STACK_BYTES 1024UL
#define HOT_BYTES   (16UL << 10)

/*
 * Sizes in units of the largest cache. It holds a quarter of the pointer-chase nodes, and an eighth of the
 * remote nodes.
 */
#define ARRAY_CACHES  8U
#define CHASE_CACHES  4U
#define REMOTE_CACHES 8U
#define COLD_CACHES   8U

/*
 * The array's prefetcher: the maximum number of lines by which it is ahead within a page, and the number of
 * lines that it fetches for each line read.
 */
#define PREFETCH_LINES   16UL
#define PREFETCH_AT_ONCE 2U

/* TLB thrash: pages for each entry of the second TLB, so that a quarter of the accesses hit that TLB. */
#define THRASH_TLBS 4U

#define OWN_COUNTERS    16UL
#define SHARED_COUNTERS 4UL
#define SHARED_LINES    8UL

/*
 * Chances in sixty:
 * - REMOTE_MODIFIED, REMOTE_CLEAN: the other socket's caches have a remote node modified, or clean.
 * - SHARED_WRITTEN, COUNTER_WRITTEN: another core has written a shared line, or counter, since the last access.
 * - SHARED_REMOTE, COUNTER_REMOTE: such a write comes from the other socket.
 */
#define CHANCES         60U
#define REMOTE_MODIFIED 2U
#define REMOTE_CLEAN    4U
#define SHARED_WRITTEN  40U
#define SHARED_REMOTE   15U
#define COUNTER_WRITTEN 30U
#define COUNTER_REMOTE  12U

/* The mix of DATA_ANY, in 64 cases. The one remaining case is a line that another core writes. */
#define ANY_CASES  64U
#define ANY_HOT    44U
#define ANY_SECOND 9U
#define ANY_THIRD  6U
#define ANY_COLD   3U
#define ANY_REMOTE 1U

/*
 * The scenario, chances in sixty:
 * - INDEX_LEAF: the search of an index reaches a leaf. The levels above the leaves are in L2.
 * - RECORD_RECENT: a record of the database was read recently, so it is in L2.
 * - RECORD_REMOTE: any other record is in memory of the other socket.
 * - SESSION_OLD: a session of the shop is not in L2.
 * - TALLY_WRITTEN: the shop's other worker has written the shared tallies since the last access. Both workers run
 *   on one socket.
 */
#define INDEX_LEAF    12U
#define RECORD_RECENT 44U
#define RECORD_REMOTE 2U
#define SESSION_OLD   4U
#define TALLY_WRITTEN 50U
#define TALLY_LINES   4UL

#define LOG_LINES 64UL

/*
 * The bytes that the batch job and the backup read at once. The blocks of the backup's files are scattered, so
 * that a prefetcher does not help.
 */
#define ROW_BYTES   WORD
#define VECTOR      (4 * WORD)
#define BLOCK_BYTES (2 * LINE)

/* The data ranges of each workload. */
enum range {
	RANGE_MAIN,
	RANGE_STACK,
	RANGE_SHARED,
	RANGE_SECOND, /* half of L2 */
	RANGE_THIRD,  /* half of L3 */
	RANGE_COLD,
	RANGE_REMOTE,
	RANGE_COUNT,
};

#define RANGE_BYTES (WORKLOAD_DATA_SIZE / RANGE_COUNT / PAGE * PAGE)

/* Names that the variables of such programs might have. The stack and unused ranges have no name. */
static const char *const range_names[WORKLOAD_KINDS][RANGE_COUNT] = {
	[WORKLOAD_STREAMING] = {[RANGE_MAIN] = "array"},
	[WORKLOAD_POINTER_CHASE] = {[RANGE_MAIN] = "nodes"},
	[WORKLOAD_REMOTE_NUMA] = {[RANGE_MAIN] = "nodes"},
	[WORKLOAD_FALSE_SHARING] = {[RANGE_SHARED] = "request_counters"},
	[WORKLOAD_TLB_THRASH] = {[RANGE_MAIN] = "pages"},
	[WORKLOAD_LOCKED_COUNTERS] = {[RANGE_MAIN] = "own_counters", [RANGE_SHARED] = "shared_counters"},
	[WORKLOAD_MIX] = {[RANGE_MAIN] = "hot",
			  [RANGE_SHARED] = "shared",
			  [RANGE_SECOND] = "warm",
			  [RANGE_THIRD] = "cool",
			  [RANGE_COLD] = "cold",
			  [RANGE_REMOTE] = "remote"},
	[WORKLOAD_DATABASE] = {[RANGE_MAIN] = "cursors",
			       [RANGE_SHARED] = "log_buffer",
			       [RANGE_SECOND] = "recent_pages",
			       [RANGE_THIRD] = "index",
			       [RANGE_COLD] = "buffer_pool",
			       [RANGE_REMOTE] = "buffer_pool_other_node"},
	[WORKLOAD_BACKUP] = {[RANGE_MAIN] = "dictionary", [RANGE_REMOTE] = "page_cache"},
	[WORKLOAD_SHOP] = {[RANGE_MAIN] = "templates",
			   [RANGE_SHARED] = "order_tallies",
			   [RANGE_SECOND] = "sessions",
			   [RANGE_THIRD] = "old_sessions"},
	[WORKLOAD_BATCH] = {[RANGE_MAIN] = "groups", [RANGE_COLD] = "rows"},
	[WORKLOAD_CACHE] =
		{[RANGE_MAIN] = "table", [RANGE_SHARED] = "entry_locks", [RANGE_SECOND] = "values"},
	[WORKLOAD_MONITOR] = {[RANGE_THIRD] = "counters"},
};

static u64 range_base(const struct workload *workload, enum range range)
{
	return WORKLOAD_DATA + (u64)workload->kind * WORKLOAD_DATA_SIZE + (u64)range * RANGE_BYTES;
}

bool workload_data_name(u64 address, struct workload_name *ret)
{
	u64 kind = (address - WORKLOAD_DATA) / WORKLOAD_DATA_SIZE;
	u64 offset = (address - WORKLOAD_DATA) % WORKLOAD_DATA_SIZE;
	u64 range = offset / RANGE_BYTES;

	if (range >= RANGE_COUNT || (range != RANGE_STACK && !range_names[kind][range]))
		return false;
	*ret = (struct workload_name){.kind = (enum workload_kind)kind,
				      .name = range_names[kind][range],
				      .offset = offset % RANGE_BYTES,
				      .remote = range == RANGE_REMOTE ||
						(kind == WORKLOAD_REMOTE_NUMA && range == RANGE_MAIN)};
	return true;
}

/* Returns a random word in the first `bytes` of the range. */
static u64 word_in(struct workload *workload, enum range range, u64 bytes)
{
	return range_base(workload, range) + random_below(&workload->random, (u32)(bytes / WORD)) * WORD;
}

static u64 line_in(struct workload *workload, enum range range, u64 lines)
{
	return range_base(workload, range) + random_below(&workload->random, (u32)lines) * LINE;
}

static u32 largest_cache(const struct memory_shape *shape)
{
	return shape->l3_bytes ? shape->l3_bytes : shape->l2_bytes;
}

static u32 thrash_pages(const struct memory_shape *shape)
{
	return (shape->l2_tlb_pages ? shape->l2_tlb_pages : shape->l1_tlb_pages) * THRASH_TLBS;
}

/* Uses a different line in each of 64 pages, so that the lines do not all compete for one set of L1. */
static u64 thrash_address(const struct workload *workload, u32 page)
{
	return range_base(workload, RANGE_MAIN) + page * PAGE + page % (PAGE / LINE) * LINE;
}

static void prefetch_ahead(struct workload *workload, u64 address)
{
	u64 *next = &workload->position[1];
	u64 line = address / LINE * LINE;
	u64 end = address / PAGE * PAGE + PAGE;
	struct access access = {.tsc = workload->tsc, .kind = ACCESS_PREFETCH};
	struct retired nobody;

	if (end > line + (PREFETCH_LINES + 1) * LINE)
		end = line + (PREFETCH_LINES + 1) * LINE;
	if (*next <= line || *next > end)
		*next = line + LINE;
	for (u32 i = 0; i < PREFETCH_AT_ONCE && *next < end; i++, *next += LINE) {
		access.address = *next;
		memory_access(workload->memory, &access, &nobody);
	}
}

static u64 next_of_array(struct workload *workload, enum range range, u64 bytes)
{
	u64 address = range_base(workload, range) + workload->position[0];

	if (address % LINE == 0)
		prefetch_ahead(workload, address);
	workload->position[0] += bytes;
	if (workload->position[0] >= (u64)largest_cache(workload->shape) * ARRAY_CACHES)
		workload->position[0] = 0;
	return address;
}

static u64 next_node(struct workload *workload, u32 caches)
{
	workload->position[0] = line_in(workload, RANGE_MAIN, largest_cache(workload->shape) / LINE * caches);
	return workload->position[0];
}

static u64 next_remote_node(struct workload *workload)
{
	u64 address = next_node(workload, REMOTE_CACHES);
	u32 luck = random_below(&workload->random, CHANCES);

	if (luck < REMOTE_MODIFIED)
		memory_other_writes(workload->memory, address, true);
	else if (luck < REMOTE_MODIFIED + REMOTE_CLEAN)
		memory_other_reads(workload->memory, address, true);
	return address;
}

/*
 * Returns one of `lines` lines. In `written` of sixty cases, another core has written the line meanwhile. In
 * `remote` of sixty such cases, that core is on the other socket.
 */
static u64 next_shared(struct workload *workload, u64 lines, u32 written, u32 remote)
{
	u64 address = line_in(workload, RANGE_SHARED, lines) + workload->thread * WORD;

	workload->position[0] = address;
	if (random_chance(&workload->random, written, CHANCES))
		memory_other_writes(workload->memory, address,
				    random_chance(&workload->random, remote, CHANCES));
	return address;
}

/* Returns a word in a line of the thread's own or, after the deploy, in a line that the other thread writes. */
static u64 next_tally(struct workload *workload)
{
	u64 address = next_shared(workload, TALLY_LINES, workload->shared_tallies ? TALLY_WRITTEN : 0, 0);

	if (!workload->shared_tallies)
		address += workload->thread * TALLY_LINES * LINE;
	workload->position[0] = address;
	return address;
}

static void locate_any(struct workload *workload, struct access *access)
{
	u32 largest = largest_cache(workload->shape);
	u32 luck = random_below(&workload->random, ANY_CASES);

	if (luck < ANY_HOT) {
		access->address = word_in(workload, RANGE_MAIN, HOT_BYTES);
	} else if (luck < ANY_HOT + ANY_SECOND) {
		access->address = word_in(workload, RANGE_SECOND, workload->shape->l2_bytes / 2);
	} else if (luck < ANY_HOT + ANY_SECOND + ANY_THIRD) {
		access->address = word_in(workload, RANGE_THIRD, largest / 2);
	} else if (luck < ANY_HOT + ANY_SECOND + ANY_THIRD + ANY_COLD) {
		access->address = line_in(workload, RANGE_COLD, largest / LINE * COLD_CACHES);
	} else if (luck < ANY_HOT + ANY_SECOND + ANY_THIRD + ANY_COLD + ANY_REMOTE) {
		access->address = line_in(workload, RANGE_REMOTE, largest / LINE * COLD_CACHES);
		access->remote = true;
	} else {
		access->address = next_shared(workload, SHARED_LINES, CHANCES, SHARED_REMOTE);
	}
}

static void locate_record(struct workload *workload, struct access *access)
{
	u32 lines = largest_cache(workload->shape) / LINE * COLD_CACHES;

	access->large_page = true;
	if (random_chance(&workload->random, RECORD_RECENT, CHANCES)) {
		access->address = word_in(workload, RANGE_SECOND, workload->shape->l2_bytes / 2);
		workload->position[0] = access->address / LINE * LINE;
		workload->position[1] = false;
		return;
	}
	access->remote = random_chance(&workload->random, RECORD_REMOTE, CHANCES);
	access->address = line_in(workload, access->remote ? RANGE_REMOTE : RANGE_COLD, lines);
	workload->position[0] = access->address;
	workload->position[1] = access->remote;
}

static u64 next_of_file(struct workload *workload)
{
	const u64 blocks = (u64)largest_cache(workload->shape) * COLD_CACHES / BLOCK_BYTES;
	u64 address;

	if (workload->position[1] == 0)
		workload->position[0] = range_base(workload, RANGE_REMOTE) +
					random_below(&workload->random, (u32)blocks) * BLOCK_BYTES;
	address = workload->position[0] + workload->position[1];
	workload->position[1] = (workload->position[1] + VECTOR) % BLOCK_BYTES;
	return address;
}

static u64 next_session(struct workload *workload)
{
	if (random_chance(&workload->random, SESSION_OLD, CHANCES))
		return word_in(workload, RANGE_THIRD, largest_cache(workload->shape) / 2);
	return word_in(workload, RANGE_SECOND, workload->shape->l2_bytes / 2);
}

static u64 next_log_line(struct workload *workload)
{
	workload->position[2] = (workload->position[2] + WORD) % (LOG_LINES * LINE);
	return range_base(workload, RANGE_SHARED) + workload->position[2];
}

static void locate_of_program(struct workload *workload, enum data data, struct access *access)
{
	switch (data) {
	case DATA_INDEX:
		access->address = word_in(workload, RANGE_THIRD,
					  random_chance(&workload->random, INDEX_LEAF, CHANCES)
						  ? largest_cache(workload->shape) / 4
						  : workload->shape->l2_bytes / 4);
		access->large_page = true;
		break;
	case DATA_RECORD:
		locate_record(workload, access);
		break;
	case DATA_FIELD:
		access->address = workload->position[0] + WORD;
		access->remote = workload->position[1];
		access->large_page = true;
		break;
	case DATA_LOG:
		access->address = next_log_line(workload);
		break;
	case DATA_FILE:
		access->address = next_of_file(workload);
		access->remote = true;
		break;
	case DATA_ROWS:
		access->address = next_of_array(workload, RANGE_COLD, ROW_BYTES);
		break;
	case DATA_SESSION:
		access->address = next_session(workload);
		access->large_page = true;
		break;
	case DATA_TALLY:
		access->address = next_tally(workload);
		break;
	case DATA_TALLY_AGAIN:
		access->address = workload->position[0];
		break;
	default:
		access->address = word_in(workload, RANGE_SECOND, HOT_BYTES);
		break;
	}
}

void workload_data_locate(struct workload *workload, enum data data, struct access *access)
{
	switch (data) {
	case DATA_NONE:
		break;
	case DATA_STACK:
		access->address = word_in(workload, RANGE_STACK, STACK_BYTES);
		break;
	case DATA_ARRAY:
		access->address = next_of_array(workload, RANGE_MAIN, WORD);
		break;
	case DATA_NODE:
		access->address = next_node(workload, CHASE_CACHES);
		access->large_page = true;
		break;
	case DATA_REMOTE_NODE:
		access->address = next_remote_node(workload);
		access->large_page = true;
		access->remote = true;
		break;
	case DATA_PAYLOAD:
		access->address = workload->position[0] + WORD;
		access->large_page = true;
		break;
	case DATA_SHARED:
		access->address = next_shared(workload, SHARED_LINES, SHARED_WRITTEN, SHARED_REMOTE);
		break;
	case DATA_SHARED_AGAIN:
		access->address = workload->position[0];
		break;
	case DATA_PAGE:
		access->address = thrash_address(
			workload, random_below(&workload->random, thrash_pages(workload->shape)));
		break;
	case DATA_OWN_COUNTER:
		access->address = line_in(
			workload, workload->kind == WORKLOAD_CACHE ? RANGE_SHARED : RANGE_MAIN, OWN_COUNTERS);
		break;
	case DATA_SHARED_COUNTER:
		access->address = next_shared(workload, SHARED_COUNTERS, COUNTER_WRITTEN, COUNTER_REMOTE);
		break;
	case DATA_HOT:
		access->address = word_in(workload, RANGE_MAIN, HOT_BYTES);
		break;
	case DATA_ANY:
		locate_any(workload, access);
		break;
	default:
		locate_of_program(workload, data, access);
		break;
	}
}

void workload_data_warm(struct workload *workload)
{
	u32 largest = largest_cache(workload->shape);
	u64 main = range_base(workload, RANGE_MAIN);

	switch (workload->kind) {
	case WORKLOAD_POINTER_CHASE:
	case WORKLOAD_REMOTE_NUMA:
		/* Warms more than L3 holds, so that all sets of L3 are full. */
		memory_warm(workload->memory, main, largest + largest / 2);
		break;
	case WORKLOAD_FALSE_SHARING:
		memory_warm(workload->memory, range_base(workload, RANGE_SHARED), SHARED_LINES * LINE);
		break;
	case WORKLOAD_TLB_THRASH:
		for (u32 page = 0; page < thrash_pages(workload->shape); page++)
			memory_warm(workload->memory, thrash_address(workload, page), LINE);
		break;
	case WORKLOAD_LOCKED_COUNTERS:
		memory_warm(workload->memory, main, OWN_COUNTERS * LINE);
		memory_warm(workload->memory, range_base(workload, RANGE_SHARED), SHARED_COUNTERS * LINE);
		break;
	case WORKLOAD_MIX:
		memory_warm(workload->memory, range_base(workload, RANGE_THIRD), largest / 2);
		memory_warm(workload->memory, range_base(workload, RANGE_SECOND),
			    workload->shape->l2_bytes / 2);
		memory_warm(workload->memory, main, HOT_BYTES);
		break;
	case WORKLOAD_DATABASE:
		memory_warm(workload->memory, range_base(workload, RANGE_COLD), largest);
		memory_warm(workload->memory, range_base(workload, RANGE_SECOND),
			    workload->shape->l2_bytes / 2);
		memory_warm(workload->memory, range_base(workload, RANGE_SHARED), LOG_LINES * LINE);
		memory_warm(workload->memory, range_base(workload, RANGE_THIRD), largest / 2);
		memory_warm(workload->memory, main, HOT_BYTES);
		break;
	case WORKLOAD_SHOP:
		memory_warm(workload->memory, range_base(workload, RANGE_THIRD), largest / 2);
		memory_warm(workload->memory, range_base(workload, RANGE_SECOND),
			    workload->shape->l2_bytes / 2);
		memory_warm(workload->memory, main, HOT_BYTES);
		memory_warm(workload->memory, range_base(workload, RANGE_SHARED), 2 * TALLY_LINES * LINE);
		break;
	case WORKLOAD_CACHE:
		for (u32 page = 0; page < thrash_pages(workload->shape); page++)
			memory_warm(workload->memory, thrash_address(workload, page), LINE);
		memory_warm(workload->memory, range_base(workload, RANGE_SECOND), HOT_BYTES);
		memory_warm(workload->memory, range_base(workload, RANGE_SHARED), OWN_COUNTERS * LINE);
		break;
	case WORKLOAD_MONITOR:
		memory_warm(workload->memory, range_base(workload, RANGE_THIRD), largest / 2);
		break;
	case WORKLOAD_BACKUP:
	case WORKLOAD_BATCH:
		memory_warm(workload->memory, main, HOT_BYTES);
		break;
	case WORKLOAD_STREAMING: /* each word was last read long ago, so no cache has it */
	default:
		break;
	}
}
