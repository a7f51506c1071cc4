// SPDX-License-Identifier: GPL-2.0
#include "collect/last_reading.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pebsd/records.h"

/*
 * Records are read while programs add to them, in any order and without a lock. A reading may include half of
 * a sample, and the next one has the rest. Each counter is read once, by an aligned vector load. x86-64 and
 * AArch64 perform it in parts of at least 8 bytes, so no counter is torn. `volatile` keeps the compiler from
 * reading it again.
 */
typedef u32 words __attribute__((vector_size(16)));
typedef u64 wides __attribute__((vector_size(16)));

/* A record as cells, vectors of `words`. Cells of 64-bit counters come first. */
#define LANES         4  /* words in a cell */
#define CHUNK_CELLS   8U /* cells that nonzero_words() checks at once */
#define CELLS(type)   (sizeof(type) / sizeof(words))
#define CHUNKS(type)  ((CELLS(type) + CHUNK_CELLS - 1) / CHUNK_CELLS)
#define CHUNKS_MAX    CHUNKS(struct latency_record)
#define CELLS_MAX     (CHUNKS_MAX * CHUNK_CELLS)
#define PRESENT_WORDS ((CELLS_MAX + 63) / 64)

/*
 * A counter that wrapped. The true value of a 32-bit counter is `times` x 2^32 higher. That of a 64-bit counter is
 * out of range.
 */
struct wrap {
	u32 word;
	u32 times;
};

struct last_reading {
	u64 present[PRESENT_WORDS]; /* the cells stored here: all that were ever nonzero */
	u32 stripes;
	u16 n_wraps;
	bool has_latency;
	struct wrap *wraps;
	u32 samples[STRIPES_MAX]; /* last reading of each stripe, modulo 2^32 */
	words cells[];            /* the present cells, in the record's order */
};

static inline size_t cell_count(const u64 present[PRESENT_WORDS])
{
	size_t n = 0;

	for (size_t i = 0; i < PRESENT_WORDS; i++)
		n += (size_t)__builtin_popcountll(present[i]);
	return n;
}

static inline size_t bytes_for(size_t n_cells)
{
	return sizeof(struct last_reading) + n_cells * sizeof(words);
}

#define PREFETCHED_BYTES 640

/*
 * Marks functions whose shape is a constant at the call. Inlining gives each kind of record code of its own.
 */
#define SHAPED static inline __attribute__((always_inline))

#define WORD(type, member) (unsigned)(offsetof(type, member) / sizeof(u32))
#define COUNTER(member)    (unsigned)(offsetof(struct counters, member) / sizeof(u64))
#define CHUNK_WORDS        32U /* in a chunk */
#define WORDS_MAX          (CELLS_MAX * LANES)
#define INSTRUCTION_SUM    WORD(struct latency_record, instruction_latency_sum)

_Static_assert(CHUNK_WORDS == CHUNK_CELLS * LANES, "a bit of an u32 each");
_Static_assert(INSTRUCTION_SUM % LANES == 0, "the sum is the first half of its cell");

struct shape {
	u32 cells;
	u32 chunks;
	u32 wide;    /* number of cells of 64-bit counters, which come first */
	u32 mixed;   /* a cell whose first half is also a 64-bit counter; 0: none */
	u32 samples; /* from here to samples_end: cells of 32-bit counters whose sum is the number of samples */
	u32 samples_end;
};

static const struct shape latency_shape = {
	.cells = CELLS(struct latency_record),
	.chunks = CHUNKS(struct latency_record),
	.wide = WORD(struct latency_record, snoop) / LANES,
	.mixed = INSTRUCTION_SUM / LANES,
	.samples = WORD(struct latency_record, source_latency) / LANES,
	.samples_end = WORD(struct latency_record, instruction_latency_sum) / LANES,
};

static const struct shape plain_shape = {
	.cells = CELLS(struct plain_record),
	.chunks = CHUNKS(struct plain_record),
	.wide = WORD(struct plain_record, samples) / LANES,
	.samples = WORD(struct plain_record, samples) / LANES,
	.samples_end = WORD(struct plain_record, snoop) / LANES,
};

/* A record of either kind, or a sum of several. */
union record {
	words cells[CELLS_MAX];
	u32 words[WORDS_MAX];
	struct latency_record latency;
	struct plain_record plain;
};

/*
 * What the records of a slot have now. `sum` is first the sum of the stripes, then its increase since the last reading.
 */
struct fresh_sums {
	union record sum;
	u32 moved[CHUNKS_MAX]; /* a bit for each word of `sum` that is not zero */
	u32 samples[STRIPES_MAX];
};

static inline const struct shape *shape_of(bool has_latency)
{
	return has_latency ? &latency_shape : &plain_shape;
}

static inline words add_wide(words a, words b)
{
	return (words)((wides)a + (wides)b);
}

/* Returns the first half of `wide` (one 64-bit counter) and the second half of `narrow` (two 32-bit counters). */
static inline words join(words wide, words narrow)
{
	static const words first_half = {~0U, ~0U, 0, 0};

	return (wide & first_half) | (narrow & ~first_half);
}

SHAPED words add(const struct shape *shape, u32 cell, words a, words b)
{
	if (cell < shape->wide)
		return add_wide(a, b);
	return shape->mixed && cell == shape->mixed ? join(add_wide(a, b), a + b) : a + b;
}

SHAPED words subtract(const struct shape *shape, u32 cell, words a, words b)
{
	words wide = (words)((wides)a - (wides)b);

	if (cell < shape->wide)
		return wide;
	return shape->mixed && cell == shape->mixed ? join(wide, a - b) : a - b;
}

/* Adds one cell of a stripe to the sum of other stripes; the first stripe starts the sum. */
SHAPED words sum_of(const struct shape *shape, u32 cell, words sum, words now, bool first)
{
	return first ? now : add(shape, cell, sum, now);
}

/* Adds a stripe's record to the sum, or starts the sum with it. Returns the stripe's samples. */
SHAPED u32 add_record(words *sum, const void *record, const struct shape *shape, bool first)
{
	const volatile words *from = record;
	words samples = {0};
	u32 cell = 0;

#pragma GCC unroll 8
	for (; cell < shape->wide; cell++)
		sum[cell] = sum_of(shape, 0, sum[cell], from[cell], first);
#pragma GCC unroll 4
	for (; cell < shape->samples; cell++)
		sum[cell] = sum_of(shape, shape->wide, sum[cell], from[cell], first);
#pragma GCC unroll 4
	for (; cell < shape->samples_end; cell++) {
		words now = from[cell];

		sum[cell] = sum_of(shape, shape->wide, sum[cell], now, first);
		samples += now;
	}
	if (shape->mixed) {
		sum[cell] = sum_of(shape, shape->mixed, sum[cell], from[cell], first);
		cell++;
	}
#pragma GCC unroll 3
	for (; cell < shape->cells; cell++)
		sum[cell] = sum_of(shape, shape->wide, sum[cell], from[cell], first);
	return samples[0] + samples[1] + samples[2] + samples[3];
}

SHAPED void read_stripes(struct fresh_sums *fresh, const void *const *records, u32 stripes,
			 const struct shape *shape)
{
	u32 stripe = (u32)__builtin_ctz(stripes);

	/* Zero the rest of the last chunk, because chunks are checked whole. */
	for (u32 cell = shape->cells; cell < shape->chunks * CHUNK_CELLS; cell++)
		fresh->sum.cells[cell] = (words){0};
	fresh->samples[stripe] = add_record(fresh->sum.cells, records[stripe], shape, true);
	for (u32 bits = stripes & (stripes - 1); bits; bits &= bits - 1) {
		stripe = (u32)__builtin_ctz(bits);
		fresh->samples[stripe] = add_record(fresh->sum.cells, records[stripe], shape, false);
	}
}

/* Returns a bit for each word of a chunk's cells that is not zero. */
static u32 nonzero_words(const words *cells)
{
	words bits = {0};
	words weights = {1, 2, 4, 8};

#pragma GCC unroll 8
	for (size_t i = 0; i < CHUNK_CELLS; i++) {
		bits |= (words)(cells[i] != 0) & weights;
		weights <<= LANES;
	}
	return bits[0] | bits[1] | bits[2] | bits[3];
}

SHAPED void note_moved(struct fresh_sums *fresh, const struct shape *shape)
{
	for (size_t chunk = 0; chunk < shape->chunks; chunk++)
		fresh->moved[chunk] = nonzero_words(fresh->sum.cells + chunk * CHUNK_CELLS);
}

/*
 * `words_of` has four bits for each cell of a chunk, one for each word. Returns one bit for each cell: set if
 * any of the four is set.
 */
static u32 cells_of(u32 words_of)
{
	u32 any = words_of | words_of >> 1;

	any = (any | any >> 2) & 0x11111111;
	any = (any | any >> 3) & 0x03030303;
	any = (any | any >> 6) & 0x000f000f;
	return (any | any >> 12) & 0xff;
}

/*
 * Sets `present` to the cells that moved and those of the last reading. Returns true if some are not in the last
 * reading.
 */
SHAPED bool note_present(const struct fresh_sums *fresh, const struct last_reading *last,
			 const struct shape *shape, u64 present[PRESENT_WORDS])
{
	u64 others = 0;

	memset(present, 0, PRESENT_WORDS * sizeof(*present));
	for (size_t chunk = 0; chunk < shape->chunks; chunk++)
		present[chunk / CHUNK_CELLS] |= (u64)cells_of(fresh->moved[chunk])
						<< chunk % CHUNK_CELLS * CHUNK_CELLS;
	for (size_t i = 0; i < PRESENT_WORDS; i++) {
		u64 before = last ? last->present[i] : 0;

		others |= present[i] & ~before;
		present[i] |= before;
	}
	return others;
}

/* Iterates over the present cells. */
struct walk {
	const u64 *present;
	u64 bits; /* of the current word, those that are not read yet */
	u32 next;
};

static inline bool walk_next(struct walk *walk, u32 *ret_cell)
{
	while (!walk->bits) {
		if (walk->next == PRESENT_WORDS)
			return false;
		walk->bits = walk->present[walk->next++];
	}
	*ret_cell = 64 * (walk->next - 1) + (u32)__builtin_ctzll(walk->bits);
	walk->bits &= walk->bits - 1;
	return true;
}

/* The borrow of a - b, in the highest bit of a counter of any width. */
static inline words borrow(words a, words b, words difference)
{
	return (~a & b) | (~(a ^ b) & difference);
}

/*
 * Replaces the sum in `fresh` by the increase since the last reading. Returns true if a counter may have
 * wrapped.
 */
SHAPED bool subtract_last(const struct shape *shape, struct fresh_sums *fresh,
			  const struct last_reading *last)
{
	struct walk walk = {.present = last->present};
	const words *before = last->cells;
	words narrow = {0}, wide = {0};
	u32 cell;

	for (; walk_next(&walk, &cell); before++) {
		words now = fresh->sum.cells[cell], came = subtract(shape, cell, now, *before);
		words borrowed = borrow(now, *before, came);

		fresh->sum.cells[cell] = came;
		if (cell < shape->wide || (shape->mixed && cell == shape->mixed))
			wide |= borrowed;
		if (cell >= shape->wide)
			narrow |= borrowed;
	}
	/*
	 * All words of the mixed cell are in both variables, so there may be false alarms. note_wraps()
	 * discards them.
	 */
	narrow |= wide & (words){0, ~0U, 0, ~0U};
	return (narrow[0] | narrow[1] | narrow[2] | narrow[3]) >> 31;
}

static bool is_wide(const struct shape *shape, u32 word)
{
	return word / LANES < shape->wide ||
	       (shape->mixed && word / LANES == shape->mixed && word % LANES < 2);
}

/* The caller has allocated space for one more wrap. */
static void note_wrap(struct last_reading *last, u32 word)
{
	u32 i = 0;

	while (i < last->n_wraps && last->wraps[i].word != word)
		i++;
	if (i == last->n_wraps)
		last->wraps[last->n_wraps++] = (struct wrap){.word = word};
	last->wraps[i].times++;
}

/* Allocates first, so that either all wraps are noted or none. */
static int note_wraps(const struct shape *shape, const struct fresh_sums *fresh, struct last_reading *last)
{
	struct walk walk = {.present = last->present};
	u32 found[WORDS_MAX];
	size_t n = 0;
	u32 cell;

	for (u32 nth = 0; walk_next(&walk, &cell); nth++) {
		const u32 *before = (const u32 *)&last->cells[nth],
			  *came = (const u32 *)&fresh->sum.cells[cell];

		for (u32 lane = 0; lane < LANES; lane++) {
			u32 word = cell * LANES + lane;

			if (!is_wide(shape, word)) {
				if (before[lane] + came[lane] < came[lane])
					found[n++] = word;
			} else if (lane % 2 == 0) {
				u64 sum;

				if (__builtin_add_overflow(*(const u64 *)&before[lane],
							   *(const u64 *)&came[lane], &sum))
					found[n++] = word;
			}
		}
	}
	if (n > 0) {
		struct wrap *wraps = reallocarray(last->wraps, last->n_wraps + n, sizeof(*wraps));

		if (!wraps)
			return -ENOMEM;
		last->wraps = wraps;
	}
	for (size_t i = 0; i < n; i++)
		note_wrap(last, found[i]);
	return 0;
}

/* Reallocates for the cells in `present`, and keeps those it has. `*last` may be NULL. */
static int grow(struct last_reading **last, const u64 present[PRESENT_WORDS], bool has_latency)
{
	struct last_reading *old = *last, *grown = malloc(bytes_for(cell_count(present)));
	struct walk walk = {.present = present};
	u32 nth = 0, nth_old = 0, cell;

	if (!grown)
		return -ENOMEM;
	*grown = (struct last_reading){.has_latency = has_latency};
	if (old)
		*grown = *old;
	memcpy(grown->present, present, sizeof(grown->present));
	while (walk_next(&walk, &cell)) {
		bool was = old && old->present[cell / 64] >> cell % 64 & 1;

		grown->cells[nth++] = was ? old->cells[nth_old++] : (words){0};
	}
	free(old);
	*last = grown;
	return 0;
}

/* Adds the increase to the last reading. */
SHAPED void take_over(const struct shape *shape, const struct fresh_sums *fresh, u32 stripes,
		      struct last_reading *last, u64 by_stripe[STRIPES_MAX])
{
	struct walk walk = {.present = last->present};
	words *to = last->cells;
	u32 cell;

	for (; walk_next(&walk, &cell); to++)
		*to = add(shape, cell, *to, fresh->sum.cells[cell]);
	for (u32 bits = stripes; bits; bits &= bits - 1) {
		u32 stripe = (u32)__builtin_ctz(bits);

		by_stripe[stripe] += fresh->samples[stripe] - last->samples[stripe];
		last->samples[stripe] = fresh->samples[stripe];
	}
	last->stripes = stripes;
}

/* Returns the bits of `moved` for those words of the chunk that are in [first, first + n). */
static inline u32 moved_within(const struct fresh_sums *fresh, u32 chunk, u32 first, u32 n)
{
	u32 bits = fresh->moved[chunk], from = chunk * CHUNK_WORDS;

	if (first > from)
		bits &= ~0U << (first - from);
	if (first + n - from < CHUNK_WORDS)
		bits &= (1U << (first + n - from)) - 1;
	return bits;
}

/* Writes `n` words from `first` on as counters from number `counter` on. */
static void put_words(struct packed_writer *writer, const struct fresh_sums *fresh, u32 first, u32 n,
		      u32 counter)
{
	for (u32 chunk = first / CHUNK_WORDS; chunk * CHUNK_WORDS < first + n; chunk++)
		for (u32 bits = moved_within(fresh, chunk, first, n); bits; bits &= bits - 1) {
			u32 word = chunk * CHUNK_WORDS + (u32)__builtin_ctz(bits);

			packed_put(writer, counter + word - first, fresh->sum.words[word]);
		}
}

/* Sums up words from `first` on: `each` words per source, source after source. */
static void sum_sources(const struct fresh_sums *fresh, u32 first, u32 each, u64 sums[SOURCE_SLOTS])
{
	u32 n = SOURCE_SLOTS * each;

	for (u32 chunk = first / CHUNK_WORDS; chunk * CHUNK_WORDS < first + n; chunk++)
		for (u32 bits = moved_within(fresh, chunk, first, n); bits; bits &= bits - 1) {
			u32 word = chunk * CHUNK_WORDS + (u32)__builtin_ctz(bits);

			sums[(word - first) / each] += fresh->sum.words[word];
		}
}

static void put_samples(struct packed_writer *writer, const struct fresh_sums *fresh)
{
	u64 samples[SOURCE_SLOTS] = {0};

	sum_sources(fresh, WORD(struct latency_record, source_latency), OCTAVE_BUCKETS, samples);
	sum_sources(fresh, WORD(struct latency_record, without_latency), 1, samples);
	for (u32 source = 0; source < SOURCE_SLOTS; source++)
		if (samples[source])
			packed_put(writer, COUNTER(samples) + source, samples[source]);
}

/* Writes one of the 64-bit sums of each source. `apart`: distance of two sources' sums in 64-bit words. */
static void put_sums(struct packed_writer *writer, const u64 *sum, u32 apart, u32 counter)
{
	for (u32 source = 0; source < SOURCE_SLOTS; source++)
		if (sum[(size_t)source * apart])
			packed_put(writer, counter + source, sum[(size_t)source * apart]);
}

static void put_latency(struct packed_writer *writer, const struct fresh_sums *fresh)
{
	const struct latency_record *came = &fresh->sum.latency;
	const u32 apart = sizeof(struct source_sums) / sizeof(u64);

	put_samples(writer, fresh);
	put_sums(writer, &came->sums[0].weight, apart, COUNTER(weight));
	put_sums(writer, &came->sums[0].latency, apart, COUNTER(latency_sum));
	put_sums(writer, &came->sums[0].weighted_latency, apart, COUNTER(weighted_latency));
	put_words(writer, fresh, WORD(struct latency_record, snoop), SNOOP_SLOTS + TLB_SLOTS, COUNTER(snoop));
	put_words(writer, fresh, WORD(struct latency_record, flags), FLAG_COUNT, COUNTER(flags));
	if (came->instruction_latency_sum)
		packed_put(writer, COUNTER(instruction_latency_sum), came->instruction_latency_sum);
	put_words(writer, fresh, WORD(struct latency_record, latency), FINE_BUCKETS, COUNTER(latency));
	put_words(writer, fresh, WORD(struct latency_record, source_latency), SOURCE_SLOTS * OCTAVE_BUCKETS,
		  COUNTER(source_latency));
	put_words(writer, fresh, WORD(struct latency_record, instruction_latency), COARSE_BUCKETS,
		  COUNTER(instruction_latency));
}

static void put_plain(struct packed_writer *writer, const struct fresh_sums *fresh)
{
	const struct plain_record *came = &fresh->sum.plain;

	put_words(writer, fresh, WORD(struct plain_record, samples), SOURCE_SLOTS, COUNTER(samples));
	put_sums(writer, came->weight, 1, COUNTER(weight));
	put_words(writer, fresh, WORD(struct plain_record, snoop), SNOOP_SLOTS + TLB_SLOTS, COUNTER(snoop));
	put_words(writer, fresh, WORD(struct plain_record, flags), FLAG_COUNT, COUNTER(flags));
}

/* NOLINTBEGIN(readability-non-const-parameter): the writer writes to `packed`. */
SHAPED int read_shaped(struct last_reading **last, const void *const *records, u32 stripes, bool has_latency,
		       const struct shape *shape, u8 *packed, size_t *ret_size, u64 by_stripe[STRIPES_MAX])
{
	struct packed_writer writer = {.to = packed};
	u64 present[PRESENT_WORDS];
	struct fresh_sums fresh;
	bool wrapped;
	int r;

	read_stripes(&fresh, records, stripes, shape);
	wrapped = *last && subtract_last(shape, &fresh, *last);
	note_moved(&fresh, shape);
	if (note_present(&fresh, *last, shape, present)) {
		r = grow(last, present, has_latency);
		if (r < 0)
			return r;
	}
	if (!*last)
		return 0;
	if (wrapped) {
		r = note_wraps(shape, &fresh, *last);
		if (r < 0)
			return r;
	}
	take_over(shape, &fresh, stripes, *last, by_stripe);
	if (has_latency)
		put_latency(&writer, &fresh);
	else
		put_plain(&writer, &fresh);
	*ret_size = (size_t)(writer.to - packed);
	return 0;
}

/* NOLINTEND(readability-non-const-parameter) */

int last_reading_read(struct last_reading **last, const void *const *records, u32 stripes, bool has_latency,
		      u8 *packed, size_t *ret_size, u64 by_stripe[STRIPES_MAX])
{
	*ret_size = 0;
	stripes |= last_reading_stripes(*last);
	if (!stripes)
		return 0;
	return has_latency ? read_shaped(last, records, stripes, true, &latency_shape, packed, ret_size,
					 by_stripe)
			   : read_shaped(last, records, stripes, false, &plain_shape, packed, ret_size,
					 by_stripe);
}

void last_reading_prefetch(const struct last_reading *last)
{
	/*
	 * Prefetch as many bytes as the reading of a busy cgroup has. The real size is in `last`, which is
	 * not loaded yet.
	 */
	for (size_t i = 0; last && i < PREFETCHED_BYTES; i += DIRTY_LINE)
		__builtin_prefetch((const char *)last + i);
}

u32 last_reading_stripes(const struct last_reading *last)
{
	return last ? last->stripes : 0;
}

static void counters_of(bool has_latency, const union record *record, struct counters *ret)
{
	if (has_latency)
		counters_of_latency(&record->latency, ret);
	else
		counters_of_plain(&record->plain, ret);
}

/*
 * Adds what wrapped counters lack: 2^32 for each wrap of 32 bits. A 64-bit counter that wrapped becomes 2^64 - 1.
 */
static void add_wraps(const struct last_reading *last, struct counters *sum)
{
	union record narrow = {0}, wide = {0};
	struct counters narrow_counters, wide_counters;
	u64 *values = (u64 *)sum;

	for (u32 i = 0; i < last->n_wraps; i++) {
		const struct wrap *wrap = &last->wraps[i];
		bool is = is_wide(shape_of(last->has_latency), wrap->word);

		(is ? &wide : &narrow)->words[wrap->word] = wrap->times;
	}
	counters_of(last->has_latency, &narrow, &narrow_counters);
	counters_of(last->has_latency, &wide, &wide_counters);
	for (size_t i = 0; i < COUNTER_COUNT; i++) {
		((u64 *)&narrow_counters)[i] <<= 32;
		if (((u64 *)&wide_counters)[i])
			values[i] = ~0ULL;
	}
	counters_add(sum, &narrow_counters);
}

void last_reading_add(const struct last_reading *last, struct counters *sum)
{
	struct walk walk = {.present = last->present};
	union record record = {0};
	struct counters brought;
	u32 cell;

	for (u32 nth = 0; walk_next(&walk, &cell); nth++)
		record.cells[cell] = last->cells[nth];
	counters_of(last->has_latency, &record, &brought);
	counters_add(sum, &brought);
	if (last->n_wraps > 0)
		add_wraps(last, sum);
}

size_t last_reading_bytes(const struct last_reading *last)
{
	return last ? bytes_for(cell_count(last->present)) + last->n_wraps * sizeof(*last->wraps) : 0;
}

void last_reading_free(struct last_reading *last)
{
	if (!last)
		return;
	free(last->wraps);
	free(last);
}

/* Each word occurs at most once in the list. */
#define WRAPS_MAX WORDS_MAX

_Static_assert(sizeof(struct last_reading) + CELLS_MAX * sizeof(words) + WRAPS_MAX * sizeof(struct wrap) <=
		       LAST_READING_STATE_MAX,
	       "it fits any last reading");

size_t last_reading_save(const struct last_reading *last, u8 *to)
{
	size_t cells = bytes_for(cell_count(last->present)), wraps = last->n_wraps * sizeof(struct wrap);

	/* A plain copy of the memory, for speed: each collection saves it for each busy cgroup. */
	memcpy(to, last, cells);
	memset(to + offsetof(struct last_reading, wraps), 0, sizeof(last->wraps));
	if (wraps > 0)
		memcpy(to + cells, last->wraps, wraps);
	return cells + wraps;
}

static bool present_within(const struct last_reading *last, size_t n_cells)
{
	for (size_t i = 0; i < PRESENT_WORDS; i++) {
		size_t first = 64 * i;
		u64 within = n_cells >= first + 64 ? ~0ULL
			     : n_cells > first     ? (1ULL << (n_cells - first)) - 1
						   : 0;

		if (last->present[i] & ~within)
			return false;
	}
	return true;
}

/* Checks the content. The length is known to match. */
static bool is_sound(const struct last_reading *last, const struct wrap *wraps, bool has_latency)
{
	size_t n_cells = has_latency ? CELLS(struct latency_record) : CELLS(struct plain_record);

	if (last->has_latency != has_latency || last->stripes == 0 || last->stripes >> STRIPES_MAX ||
	    !present_within(last, n_cells))
		return false;
	for (u32 i = 0; i < last->n_wraps; i++)
		if (wraps[i].word >= n_cells * LANES)
			return false;
	return true;
}

int last_reading_restore(const u8 *bytes, size_t size, bool has_latency, struct last_reading **ret)
{
	_cleanup_free_ struct last_reading *last = NULL;
	_cleanup_free_ struct wrap *wraps = NULL;
	size_t cells, n_wraps;
	u8 latency;

	/* `has_latency` is a bool: read it as a byte until it is known to be 0 or 1. */
	if (size < sizeof(*last))
		return -EBADMSG;
	memcpy(&latency, bytes + offsetof(struct last_reading, has_latency), sizeof(latency));
	if (latency > 1)
		return -EBADMSG;
	last = malloc(size);
	if (!last)
		return -ENOMEM;
	memcpy(last, bytes, size);
	last->wraps = NULL;
	cells = bytes_for(cell_count(last->present));
	n_wraps = last->n_wraps;
	if (n_wraps > WRAPS_MAX || size != cells + n_wraps * sizeof(*wraps))
		return -EBADMSG;
	if (n_wraps > 0) {
		wraps = malloc(n_wraps * sizeof(*wraps));
		if (!wraps)
			return -ENOMEM;
		memcpy(wraps, bytes + cells, n_wraps * sizeof(*wraps));
	}
	if (!is_sound(last, wraps, has_latency))
		return -EBADMSG;
	last->wraps = TAKE_PTR(wraps);
	*ret = TAKE_PTR(last);
	return 0;
}
