// SPDX-License-Identifier: GPL-2.0
#include "window/sliding.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/varint.h"
#include "window/tally.h"

/* A compact form of a tally: only counters that are not zero. */

#define TALLY_COUNTERS (SOURCE_SLOTS + 3 + FINE_BUCKETS)

/*
 * Upper bound of a record's size: the numbers of tally_pack() as varints, the sum of squares, and for each
 * pair an index and a value.
 */
#define TALLY_RECORD_MAX ((size_t)6 * VARINT_MAX + sizeof(double) + (size_t)TALLY_COUNTERS * 7)

/*
 * Format, as varints: samples, latency samples, weight, latency sum; then twice the number of pairs, plus 1
 * if the sum of squares follows. It follows unless it is that of equal weights. Then for each nonzero counter
 * a byte with the number of counters skipped since the previous one, and its value as a varint.
 */

_Static_assert(offsetof(struct tally, latency) + sizeof(((struct tally *)0)->latency) ==
		       offsetof(struct tally, sources) + TALLY_COUNTERS * sizeof(u32),
	       "from `sources` on, the tally has only 32-bit counters");
_Static_assert(TALLY_COUNTERS % 2 == 0 && offsetof(struct tally, sources) % sizeof(u64) == 0,
	       "two counters fit a word");

static double squares_of_equal_weights(const struct tally *tally)
{
	return tally->samples ? (double)tally->weight * (double)tally->weight / (double)tally->samples : 0;
}

/* Writes the indices of counters that are not zero to `ret`. Reads two at a time, because most are zero. */
static unsigned find_counters(const u8 *counters, u8 ret[TALLY_COUNTERS])
{
	unsigned n = 0;

	for (unsigned i = 0; i < TALLY_COUNTERS; i += 2) {
		u32 two[2];
		u64 both;

		memcpy(&both, counters + i * sizeof(u32), sizeof(both));
		if (!both)
			continue;
		memcpy(two, &both, sizeof(two));
		ret[n] = (u8)i;
		n += two[0] != 0;
		ret[n] = (u8)(i + 1);
		n += two[1] != 0;
	}
	return n;
}

_Static_assert(TALLY_COUNTERS <= 256, "a place fits a byte");

/* Writes `tally`; returns the end. */
static u8 *tally_pack(const struct tally *tally, u8 *to)
{
	const u8 *counters = (const u8 *)tally + offsetof(struct tally, sources);
	bool unequal = tally->weight_squared != squares_of_equal_weights(tally);
	u8 places[TALLY_COUNTERS + 1];
	unsigned n = find_counters(counters, places);
	unsigned next = 0;

	to = put_varint(to, tally->samples);
	to = put_varint(to, tally->latency_samples);
	to = put_varint(to, tally->weight);
	to = put_varint(to, tally->latency_sum);
	to = put_varint(to, 2 * (u64)n + unequal);
	if (unequal) {
		memcpy(to, &tally->weight_squared, sizeof(double));
		to += sizeof(double);
	}
	for (unsigned i = 0; i < n; i++) {
		u32 value;

		memcpy(&value, counters + places[i] * sizeof(u32), sizeof(value));
		*to++ = (u8)(places[i] - next);
		to = put_varint(to, value);
		next = places[i] + 1U;
	}
	return to;
}

/* Reads a record that tally_pack() wrote. Returns the end of the record. */
static const u8 *tally_unpack(const u8 *from, struct tally *ret)
{
	u8 *counter = (u8 *)ret + offsetof(struct tally, sources);
	u64 n;

	memset(ret, 0, sizeof(*ret));
	from = get_varint(from, &ret->samples);
	from = get_varint(from, &ret->latency_samples);
	from = get_varint(from, &ret->weight);
	from = get_varint(from, &ret->latency_sum);
	from = get_varint(from, &n);
	if (n & 1) {
		memcpy(&ret->weight_squared, from, sizeof(double));
		from += sizeof(double);
	} else {
		ret->weight_squared = squares_of_equal_weights(ret);
	}
	for (n >>= 1; n; n--) {
		u64 value;
		u32 narrow;

		counter += *from++ * sizeof(u32);
		from = get_varint(from, &value);
		narrow = (u32)value;
		memcpy(counter, &narrow, sizeof(narrow));
		counter += sizeof(u32);
	}
	return from;
}

/* Returns the end of a record that tally_pack() wrote. */
static const u8 *tally_skip(const u8 *from)
{
	u64 value;
	u64 n;

	for (unsigned i = 0; i < 4; i++)
		from = get_varint(from, &value);
	from = get_varint(from, &n);
	if (n & 1)
		from += sizeof(double);
	for (n >>= 1; n; n--)
		from = get_varint(from + 1, &value);
	return from;
}

/*
 * The targets of a sliding window, with a tally each. Targets have numbers. A number is reused only after
 * the last record that refers to it has left the window. Pure.
 */

#define TARGETS_CHUNK 64

struct sliding_target {
	struct tally *open; /* tally of the target in the open pane; NULL: none */
	u32 records;        /* panes with a record of the target, including the open one */
	u32 changed;        /* the last collection that changed the target */
	u32 place;          /* index in the open pane's list, if `open` is set */
	bool live;
};

struct targets_chunk {
	u64 used; /* a bit for each number that is live or that a record refers to */
	struct sliding_target targets[TARGETS_CHUNK];
	struct tally tallies[TARGETS_CHUNK];
};

struct sliding_targets {
	struct targets_chunk **chunks; /* NULL for an unused chunk */
	size_t n_chunks;
	size_t first_free; /* all chunks before this one are full */
	size_t held;       /* chunks that are not NULL */
	size_t n;          /* numbers in use */
	size_t n_live;     /* number of live targets among `n`; only records refer to the others */
};

/* NULL for a number in an unused chunk. */
static struct sliding_target *targets_get(const struct sliding_targets *targets, u32 number)
{
	size_t chunk = number / TARGETS_CHUNK;

	if (chunk >= targets->n_chunks || !targets->chunks[chunk])
		return NULL;
	return &targets->chunks[chunk]->targets[number % TARGETS_CHUNK];
}

static struct tally *targets_tally(const struct sliding_targets *targets, u32 number)
{
	return &targets->chunks[number / TARGETS_CHUNK]->tallies[number % TARGETS_CHUNK];
}

static int make_chunk(struct sliding_targets *targets, size_t at)
{
	if (at == targets->n_chunks) {
		size_t n = targets->n_chunks + targets->n_chunks / 2 + 1;
		struct targets_chunk **chunks = reallocarray(targets->chunks, n, sizeof(*chunks));

		if (!chunks)
			return -ENOMEM;
		memset(chunks + targets->n_chunks, 0, (n - targets->n_chunks) * sizeof(*chunks));
		targets->chunks = chunks;
		targets->n_chunks = n;
	}
	targets->chunks[at] = calloc(1, sizeof(**targets->chunks));
	if (!targets->chunks[at])
		return -ENOMEM;
	targets->held++;
	return 0;
}

/* Returns 0 or -ENOMEM. */
static int targets_open(struct sliding_targets *targets, u32 *ret)
{
	struct targets_chunk *chunk;
	size_t at = targets->first_free;
	unsigned bit;
	int r;

	while (at < targets->n_chunks && targets->chunks[at] && !~targets->chunks[at]->used)
		at++;
	targets->first_free = at;
	if (at == targets->n_chunks || !targets->chunks[at]) {
		r = make_chunk(targets, at);
		if (r < 0)
			return r;
	}
	chunk = targets->chunks[at];
	bit = (unsigned)__builtin_ctzll(~chunk->used);
	chunk->used |= 1ULL << bit;
	chunk->targets[bit].live = true;
	targets->n++;
	targets->n_live++;
	*ret = (u32)(at * TARGETS_CHUNK + bit);
	return 0;
}

/* Frees the number if it is neither live nor referred to by a record. */
static void targets_release(struct sliding_targets *targets, u32 number)
{
	size_t at = number / TARGETS_CHUNK;
	struct sliding_target *target = &targets->chunks[at]->targets[number % TARGETS_CHUNK];

	if (target->live || target->records)
		return;
	targets->chunks[at]->used &= ~(1ULL << number % TARGETS_CHUNK);
	targets->n--;
	if (at < targets->first_free)
		targets->first_free = at;
}

/* Marks the target as no longer live, and frees its number if no record refers to it. */
static void targets_close(struct sliding_targets *targets, u32 number)
{
	targets_get(targets, number)->live = false;
	targets->n_live--;
	targets_release(targets, number);
}

/* Frees the memory of unused chunks. */
static void targets_sweep(struct sliding_targets *targets)
{
	if (targets->held <= targets->n / TARGETS_CHUNK)
		return;
	for (size_t i = 0; i < targets->n_chunks; i++) {
		if (!targets->chunks[i] || targets->chunks[i]->used)
			continue;
		free(targets->chunks[i]);
		targets->chunks[i] = NULL;
		targets->held--;
		if (i < targets->first_free)
			targets->first_free = i;
	}
}

static void targets_free(struct sliding_targets *targets)
{
	for (size_t i = 0; i < targets->n_chunks; i++)
		free(targets->chunks[i]);
	free(targets->chunks);
}

static size_t targets_bytes(const struct sliding_targets *targets)
{
	return targets->held * sizeof(struct targets_chunk) +
	       targets->n_chunks * sizeof(struct targets_chunk *);
}

/* The window itself. */

#define SCRATCH_KEPT ((size_t)64 << 10)
#define RECORD_MAX   (VARINT_MAX + TALLY_RECORD_MAX)

/* The position of a target's record in a pane. */
struct position {
	u32 number;
	u32 place;
};

/*
 * Records per position. A search reads half as many records on average, and a position costs half a byte per record.
 */
#define POSITION_EACH 16

/* `data` has for each target its number as a varint, then the record of tally_pack(). Numbers ascend. */
struct pane {
	TAILQ_ENTRY(pane) list;
	u64 begin_ns;
	struct sliding_time time;
	struct position *positions;
	size_t n_positions;
	size_t size;
	u8 data[];
};

/* A list with space for every target, so that functions that must not fail need not allocate. */
struct numbers {
	u32 *list;
	size_t n;
};

struct sliding {
	struct sliding_settings settings;
	struct sliding_targets targets;
	TAILQ_HEAD(panes, pane) panes; /* oldest first, each ending where the next begins */
	size_t pane_bytes;
	struct sliding_time total; /* of all panes and the open one */

	/* The open pane. */
	u64 begin_ns;
	struct sliding_time time;
	struct numbers in_pane; /* targets with a record in the pane */
	struct tally *spare;    /* unused tallies for sliding_target.open, linked through their first bytes */
	size_t n_spare;
	u8 *scratch;
	size_t scratch_room;

	/* The open collection. */
	u64 last_ns; /* start of the open collection */
	u64 now_ns;
	struct sliding_time now_time;
	bool is_open;
	int error;
	u32 serial; /* number of the collection that began last */
	struct numbers changed;
	size_t room; /* capacity of both lists of numbers */
};

int sliding_new(const struct sliding_settings *settings, u64 start_ns, struct sliding **ret)
{
	struct sliding *sliding = calloc(1, sizeof(*sliding));

	if (!sliding)
		return -ENOMEM;
	sliding->settings = *settings;
	TAILQ_INIT(&sliding->panes);
	sliding->begin_ns = start_ns;
	sliding->last_ns = start_ns;
	*ret = sliding;
	return 0;
}

static struct tally *take_spare(struct sliding *sliding)
{
	struct tally *tally = sliding->spare;

	if (!tally)
		return malloc(sizeof(*tally));
	memcpy(&sliding->spare, tally, sizeof(struct tally *));
	sliding->n_spare--;
	return tally;
}

static void give_spare(struct sliding *sliding, struct tally *tally)
{
	memcpy(tally, &sliding->spare, sizeof(struct tally *));
	sliding->spare = tally;
	sliding->n_spare++;
}

static void free_spare(struct sliding *sliding, size_t but)
{
	while (sliding->n_spare > but)
		free(take_spare(sliding));
}

static size_t pane_size(const struct pane *pane)
{
	return sizeof(*pane) + pane->size + pane->n_positions * sizeof(struct position);
}

/* Notes the position of the `nth` record of a pane if `nth` is a multiple of POSITION_EACH. */
static void set_position(struct position *positions, size_t nth, u32 number, size_t place)
{
	if (nth % POSITION_EACH == 0)
		positions[nth / POSITION_EACH] = (struct position){number, (u32)place};
}

static size_t count_positions(size_t records)
{
	return (records + POSITION_EACH - 1) / POSITION_EACH;
}

static void free_oldest(struct sliding *sliding)
{
	struct pane *pane = TAILQ_FIRST(&sliding->panes);

	TAILQ_REMOVE(&sliding->panes, pane, list);
	sliding->pane_bytes -= pane_size(pane);
	free(pane->positions);
	free(pane);
}

struct sliding *sliding_free(struct sliding *sliding)
{
	if (!sliding)
		return NULL;
	while (!TAILQ_EMPTY(&sliding->panes))
		free_oldest(sliding);
	for (size_t i = 0; i < sliding->in_pane.n; i++)
		free(targets_get(&sliding->targets, sliding->in_pane.list[i])->open);
	free_spare(sliding, 0);
	targets_free(&sliding->targets);
	free(sliding->in_pane.list);
	free(sliding->changed.list);
	free(sliding->scratch);
	free(sliding);
	return NULL;
}

/* Resizes both lists. Returns 0 or -ENOMEM. After a failure both still have at least the room in `room`. */
static int set_room(struct sliding *sliding, size_t room)
{
	u32 *list;

	if (room < sliding->room)
		sliding->room = room;
	list = reallocarray(sliding->in_pane.list, room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	sliding->in_pane.list = list;
	list = reallocarray(sliding->changed.list, room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	sliding->changed.list = list;
	sliding->room = room;
	return 0;
}

/*
 * Returns the room that both lists need: an item for each number in the chunks. The list of changes may still
 * have a number that was freed in this collection, so its chunk counts until the next collection.
 */
static size_t room_needed(const struct sliding *sliding)
{
	return sliding->targets.held * TARGETS_CHUNK;
}

int sliding_open(struct sliding *sliding, u32 *ret)
{
	int r;

	r = targets_open(&sliding->targets, ret);
	if (r < 0)
		return r;
	if (room_needed(sliding) <= sliding->room)
		return 0;
	r = set_room(sliding, room_needed(sliding) + room_needed(sliding) / 2);
	if (r < 0)
		targets_close(&sliding->targets, *ret);
	return r;
}

static void leave_open(struct sliding *sliding, struct sliding_target *target)
{
	u32 last = sliding->in_pane.list[--sliding->in_pane.n];

	sliding->in_pane.list[target->place] = last;
	targets_get(&sliding->targets, last)->place = target->place;
	give_spare(sliding, target->open);
	target->open = NULL;
	target->records--;
}

void sliding_close(struct sliding *sliding, u32 number)
{
	struct sliding_target *target = targets_get(&sliding->targets, number);

	if (!target || !target->live)
		return;
	memset(targets_tally(&sliding->targets, number), 0, sizeof(struct tally));
	if (target->open)
		leave_open(sliding, target);
	targets_close(&sliding->targets, number);
}

/* Removes the records of closed targets from the pane. Returns the pane, whose address may have changed. */
static struct pane *compact(struct sliding *sliding, struct pane *pane)
{
	struct pane *before = TAILQ_PREV(pane, panes, list);
	const u8 *from = pane->data;
	const u8 *end = pane->data + pane->size;
	u8 *to = pane->data;
	size_t before_size = pane_size(pane);
	size_t kept = 0;
	struct pane *smaller;

	while (from < end) {
		const u8 *record = from;
		u64 number;

		from = tally_skip(get_varint(from, &number));
		if (targets_get(&sliding->targets, (u32)number)->live) {
			set_position(pane->positions, kept++, (u32)number, (size_t)(to - pane->data));
			memmove(to, record, (size_t)(from - record));
			to += from - record;
			continue;
		}
		targets_get(&sliding->targets, (u32)number)->records--;
		targets_release(&sliding->targets, (u32)number);
	}
	if (to == end)
		return pane;
	pane->n_positions = count_positions(kept);
	pane->size = (size_t)(to - pane->data);
	sliding->pane_bytes -= before_size - pane_size(pane);
	TAILQ_REMOVE(&sliding->panes, pane, list);
	smaller = realloc(pane, sizeof(*pane) + pane->size);
	pane = smaller ? smaller : pane;
	if (before)
		TAILQ_INSERT_AFTER(&sliding->panes, before, pane, list);
	else
		TAILQ_INSERT_HEAD(&sliding->panes, pane, list);
	return pane;
}

/*
 * Closed targets keep their number and a tally as long as a record refers to them. With many short-lived
 * targets in a long window these would take too much memory. Each walk frees more targets than are left,
 * which justifies its cost.
 */
static void forget_closed(struct sliding *sliding)
{
	const struct sliding_targets *targets = &sliding->targets;
	struct pane *pane = TAILQ_FIRST(&sliding->panes);

	if (targets->n - targets->n_live <= targets->n_live + TARGETS_CHUNK)
		return;
	for (; pane; pane = TAILQ_NEXT(pane, list))
		pane = compact(sliding, pane);
}

static void mark_changed(struct sliding *sliding, struct sliding_target *target, u32 number)
{
	if (target->changed == sliding->serial)
		return;
	target->changed = sliding->serial;
	sliding->changed.list[sliding->changed.n++] = number;
}

static void add_time(struct sliding_time *sum, const struct sliding_time *addend)
{
	sum->elapsed_ns += addend->elapsed_ns;
	sum->enabled_ns += addend->enabled_ns;
	sum->running_ns += addend->running_ns;
	sum->unsampled_ns += addend->unsampled_ns;
	sum->expected += addend->expected;
	sum->lost += addend->lost;
}

static void subtract_time(struct sliding_time *sum, const struct sliding_time *part)
{
	sum->elapsed_ns -= part->elapsed_ns;
	sum->enabled_ns -= part->enabled_ns;
	sum->running_ns -= part->running_ns;
	sum->unsampled_ns -= part->unsampled_ns;
	sum->expected -= part->expected;
	sum->lost -= part->lost;
}

/* Removes the oldest pane from the window. */
static void leave(struct sliding *sliding)
{
	const struct sliding_settings *settings = &sliding->settings;
	const struct pane *pane = TAILQ_FIRST(&sliding->panes);
	const u8 *from = pane->data;

	if (settings->passing)
		settings->passing(settings->userdata, &pane->time);
	while (from < pane->data + pane->size) {
		struct sliding_target *target;
		struct tally tally;
		u64 number;

		from = get_varint(from, &number);
		from = tally_unpack(from, &tally);
		target = targets_get(&sliding->targets, (u32)number);
		target->records--;
		if (!target->live) {
			targets_release(&sliding->targets, (u32)number);
			continue;
		}
		if (settings->leaving)
			settings->leaving(settings->userdata, (u32)number, &tally, &pane->time);
		tally_subtract(targets_tally(&sliding->targets, (u32)number), &tally);
		mark_changed(sliding, target, (u32)number);
	}
	subtract_time(&sliding->total, &pane->time);
	free_oldest(sliding);
}

static void clear_open(struct sliding *sliding)
{
	for (size_t i = 0; i < sliding->in_pane.n; i++) {
		struct sliding_target *target = targets_get(&sliding->targets, sliding->in_pane.list[i]);

		give_spare(sliding, target->open);
		target->open = NULL;
	}
	sliding->in_pane.n = 0;
	sliding->time = (struct sliding_time){0};
}

static void start_again(struct sliding *sliding)
{
	clear_open(sliding);
	while (!TAILQ_EMPTY(&sliding->panes))
		free_oldest(sliding);
	sliding->total = (struct sliding_time){0};
	sliding->begin_ns = sliding->now_ns;
	for (u32 i = 0; i < sliding->targets.n_chunks * TARGETS_CHUNK; i++) {
		struct sliding_target *target = targets_get(&sliding->targets, i);

		if (!target || !(sliding->targets.chunks[i / TARGETS_CHUNK]->used >> i % TARGETS_CHUNK & 1))
			continue;
		target->records = 0;
		if (target->live)
			mark_changed(sliding, target, i);
		else
			targets_release(&sliding->targets, i);
		memset(targets_tally(&sliding->targets, i), 0, sizeof(struct tally));
	}
}

void sliding_begin(struct sliding *sliding, u64 now_ns, const struct sliding_time *time)
{
	forget_closed(sliding);
	targets_sweep(&sliding->targets);
	if (sliding->room / 4 > room_needed(sliding) + TARGETS_CHUNK && !sliding->in_pane.n)
		(void)set_room(sliding, room_needed(sliding) + TARGETS_CHUNK);
	sliding->changed.n = 0;
	if (!++sliding->serial)
		sliding->serial = 1;
	sliding->error = sliding->is_open || now_ns < sliding->last_ns ? -EINVAL : 0;
	sliding->is_open = true;
	sliding->now_ns = now_ns;
	sliding->now_time = *time;
	sliding->now_time.elapsed_ns = now_ns - sliding->last_ns;
}

void sliding_put(struct sliding *sliding, u32 number, const struct tally *delta)
{
	struct sliding_target *target = targets_get(&sliding->targets, number);

	if (sliding->error || !sliding->is_open || !target || !target->live)
		return;
	if (!delta->samples && !delta->latency_samples)
		return;
	if (target->open) {
		tally_add(target->open, delta);
	} else {
		target->open = take_spare(sliding);
		if (!target->open) {
			sliding->error = -ENOMEM;
			return;
		}
		*target->open = *delta;
		target->records++;
		target->place = (u32)sliding->in_pane.n;
		sliding->in_pane.list[sliding->in_pane.n++] = number;
	}
	tally_add(targets_tally(&sliding->targets, number), delta);
	mark_changed(sliding, target, number);
}

static int reserve_scratch(struct sliding *sliding, size_t needed)
{
	u8 *scratch;

	if (needed <= sliding->scratch_room)
		return 0;
	needed += needed / 2;
	scratch = realloc(sliding->scratch, needed);
	if (!scratch)
		return -ENOMEM;
	sliding->scratch = scratch;
	sliding->scratch_room = needed;
	return 0;
}

#define CACHE_LINE  64
#define FETCH_AHEAD 3

static void fetch(const struct tally *tally)
{
	for (size_t i = 0; i < sizeof(*tally); i += CACHE_LINE)
		__builtin_prefetch((const u8 *)tally + i);
}

static int compare_numbers(const void *a, const void *b)
{
	const u32 *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/*
 * Sorts the numbers of the open pane. Collections put them in about the same order, so they are often sorted
 * already.
 */
static void sort_open(struct sliding *sliding)
{
	const u32 *list = sliding->in_pane.list;
	size_t i = 1;

	while (i < sliding->in_pane.n && list[i - 1] < list[i])
		i++;
	if (i >= sliding->in_pane.n)
		return;
	qsort(sliding->in_pane.list, sliding->in_pane.n, sizeof(u32), compare_numbers);
	for (i = 0; i < sliding->in_pane.n; i++)
		targets_get(&sliding->targets, sliding->in_pane.list[i])->place = (u32)i;
}

/* Writes the records of the open pane to `scratch`. */
static int pack_open(struct sliding *sliding, struct position *positions, size_t *ret_size)
{
	size_t size = 0;

	for (size_t i = 0; i < sliding->in_pane.n; i++) {
		u32 number = sliding->in_pane.list[i];
		struct sliding_target *target = targets_get(&sliding->targets, number);
		int r;

		if (i + FETCH_AHEAD < sliding->in_pane.n)
			fetch(targets_get(&sliding->targets, sliding->in_pane.list[i + FETCH_AHEAD])->open);
		r = reserve_scratch(sliding, size + RECORD_MAX);
		if (r < 0)
			return r;
		set_position(positions, i, number, size);
		size = (size_t)(tally_pack(target->open, put_varint(sliding->scratch + size, number)) -
				sliding->scratch);
	}
	*ret_size = size;
	return 0;
}

static int close_pane(struct sliding *sliding)
{
	size_t used = sliding->in_pane.n;
	_cleanup_free_ struct position *positions = calloc(count_positions(used) + 1, sizeof(*positions));
	struct pane *pane;
	size_t size;
	int r;

	if (!positions)
		return -ENOMEM;
	sort_open(sliding);
	r = pack_open(sliding, positions, &size);
	if (r < 0)
		return r;
	if (size > ~(u32)0)
		return -ENOMEM;
	pane = malloc(sizeof(*pane) + size);
	if (!pane)
		return -ENOMEM;
	pane->n_positions = count_positions(used);
	pane->positions = TAKE_PTR(positions);
	pane->begin_ns = sliding->begin_ns;
	pane->time = sliding->time;
	pane->size = size;
	if (size)
		memcpy(pane->data, sliding->scratch, size);
	TAILQ_INSERT_TAIL(&sliding->panes, pane, list);
	sliding->pane_bytes += pane_size(pane);
	clear_open(sliding);
	sliding->begin_ns = sliding->now_ns;
	free_spare(sliding, used);
	if (sliding->scratch_room > SCRATCH_KEPT && size < sliding->scratch_room / 4) {
		free(TAKE_PTR(sliding->scratch));
		sliding->scratch_room = 0;
	}
	return 0;
}

static u64 first_ns(const struct sliding *sliding)
{
	const struct pane *first = TAILQ_FIRST(&sliding->panes);

	return first ? first->begin_ns : sliding->begin_ns;
}

/* Start of the window if the oldest pane leaves. */
static u64 second_ns(const struct sliding *sliding)
{
	const struct pane *second = TAILQ_NEXT(TAILQ_FIRST(&sliding->panes), list);

	return second ? second->begin_ns : sliding->begin_ns;
}

void sliding_limit(struct sliding *sliding, size_t max_bytes)
{
	sliding->settings.max_bytes = max_bytes;
	while (sliding->pane_bytes > max_bytes)
		leave(sliding);
}

int sliding_end(struct sliding *sliding)
{
	int r = sliding->is_open ? sliding->error : -EINVAL;

	if (!r) {
		add_time(&sliding->time, &sliding->now_time);
		add_time(&sliding->total, &sliding->now_time);
		/*
		 * Close the pane at seven eighths of its length: intervals are not equal to the nanosecond,
		 * and a pane that is a little too short must not get one more collection.
		 */
		if ((sliding->now_ns - sliding->begin_ns) * 8 >=
		    sliding->settings.window_ns / SLIDING_PANES * 7)
			r = close_pane(sliding);
	}
	sliding->last_ns = sliding->now_ns;
	sliding->is_open = false;
	if (r < 0) {
		start_again(sliding);
		return r;
	}
	while (!TAILQ_EMPTY(&sliding->panes) &&
	       sliding->now_ns - second_ns(sliding) >= sliding->settings.window_ns)
		leave(sliding);
	sliding_limit(sliding, sliding->settings.max_bytes);
	return 0;
}

const struct tally *sliding_tally(const struct sliding *sliding, u32 number)
{
	static const struct tally nothing;

	return targets_get(&sliding->targets, number) ? targets_tally(&sliding->targets, number) : &nothing;
}

void sliding_fetch(const struct sliding *sliding, u32 number)
{
	fetch(sliding_tally(sliding, number));
}

/* The last position not after a number; NULL: the number has no record. */
static const struct position *position_before(const struct pane *pane, u32 number)
{
	size_t low = 0;
	size_t high = pane->n_positions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pane->positions[middle].number <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &pane->positions[low - 1] : NULL;
}

static void find_record(const struct pane *pane, u32 number, struct tally *ret)
{
	const struct position *position = position_before(pane, number);
	const u8 *from = position ? pane->data + position->place : pane->data + pane->size;

	memset(ret, 0, sizeof(*ret));
	while (from < pane->data + pane->size) {
		u64 found;

		from = get_varint(from, &found);
		if (found == number)
			(void)tally_unpack(from, ret);
		if (found >= number)
			return;
		from = tally_skip(from);
	}
}

void sliding_parts(const struct sliding *sliding, u32 number, sliding_part part, void *userdata)
{
	static const struct tally nothing;
	const struct sliding_target *target = targets_get(&sliding->targets, number);
	const struct pane *pane;

	if (!target)
		return;
	TAILQ_FOREACH (pane, &sliding->panes, list) {
		struct tally tally;

		find_record(pane, number, &tally);
		part(userdata, &tally, &pane->time);
	}
	if (sliding->time.elapsed_ns)
		part(userdata, target->open ? target->open : &nothing, &sliding->time);
}

struct sliding_time sliding_time(const struct sliding *sliding)
{
	return sliding->total;
}

bool sliding_covered(const struct sliding *sliding)
{
	return sliding->last_ns - first_ns(sliding) >= sliding->settings.window_ns;
}

const u32 *sliding_changed(const struct sliding *sliding, size_t *ret_n)
{
	*ret_n = sliding->changed.n;
	return sliding->changed.list;
}

size_t sliding_pane_bytes(const struct sliding *sliding)
{
	return sliding->pane_bytes;
}

size_t sliding_bytes(const struct sliding *sliding)
{
	return sizeof(*sliding) + sliding->pane_bytes + targets_bytes(&sliding->targets) +
	       (sliding->in_pane.n + sliding->n_spare) * sizeof(struct tally) + sliding->scratch_room +
	       2 * sliding->room * sizeof(u32);
}
