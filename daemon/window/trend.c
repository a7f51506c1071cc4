// SPDX-License-Identifier: GPL-2.0
#include "window/trend.h"

#include <errno.h>
#include <sys/param.h>

#include "collect/packed.h"
#include "collect/totals.h"

/* Means are stored in sixteenths of a cycle, plus one. 0 means no mean. */
#define MEAN_STEPS 16

#define MANTISSA_BITS 11
#define MANTISSA_ONE  (1ULL << MANTISSA_BITS)
#define COUNT_MAX     ((u64)(2 * MANTISSA_ONE - 1) << 30)

#define COLUMNS_FIRST 64 /* columns of a page's first allocation */

struct point {
	u16 samples;
	u16 mean;
};

struct column {
	u32 entry;
	u32 event;
	struct point points[TREND_PAGE];
};

/* The time of a collection. */
struct stretch {
	s64 start_ns, end_ns;
	double covered_ns;
};

struct page {
	struct page *newer;
	struct stretch *stretches; /* of TREND_PAGE collections; NULL: not known */
	u64 begin_ns;
	u64 end_ns[TREND_PAGE]; /* end of each collection */
	unsigned int n;         /* number of collections */
	u32 n_columns, room;
	struct column *columns;
	u32 slots;  /* of the index: a power of two, at least 2 x room */
	u32 *index; /* 1 + a column's number, by its hash; 0: free */
};

struct trend {
	size_t max_bytes;
	u64 span_ns;
	u64 end_ns;
	struct page *oldest, *newest;
	size_t bytes;
};

/*
 * Stores a count in 16 bits: exact below 4,096, above rounded to 12 significant bits. Counts above COUNT_MAX are stored
 * as COUNT_MAX.
 */
static u16 pack(u64 count)
{
	unsigned int exponent = 0;

	if (count >= COUNT_MAX)
		count = COUNT_MAX;
	while ((count >> exponent) >= 2 * MANTISSA_ONE)
		exponent++;
	if (exponent > 0) {
		count += 1ULL << (exponent - 1);
		if ((count >> exponent) >= 2 * MANTISSA_ONE)
			exponent++;
	}
	count >>= exponent;
	if (count < MANTISSA_ONE)
		return (u16)count;
	return (u16)(((exponent + 1) << MANTISSA_BITS) + (count - MANTISSA_ONE));
}

static u64 unpack(u16 packed)
{
	unsigned int exponent = packed >> MANTISSA_BITS;
	u64 mantissa = packed & (MANTISSA_ONE - 1);

	return exponent ? (mantissa + MANTISSA_ONE) << (exponent - 1) : mantissa;
}

int trend_new(size_t max_bytes, u64 span_ns, u64 start_ns, struct trend **ret)
{
	struct trend *trend = calloc(1, sizeof(*trend));

	if (!trend)
		return -ENOMEM;
	trend->max_bytes = max_bytes;
	trend->span_ns = span_ns;
	trend->end_ns = start_ns;
	trend->bytes = sizeof(*trend);
	*ret = trend;
	return 0;
}

static size_t page_bytes(const struct page *page)
{
	return sizeof(*page) + page->room * sizeof(*page->columns) + page->slots * sizeof(*page->index) +
	       (page->stretches ? TREND_PAGE * sizeof(*page->stretches) : 0);
}

static void drop_oldest(struct trend *trend)
{
	struct page *page = trend->oldest;

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): without a page, oldest and newest are NULL */
	trend->oldest = page->newer;
	if (!trend->oldest)
		trend->newest = NULL;
	trend->bytes -= page_bytes(page);
	free(page->stretches);
	free(page->columns);
	free(page->index);
	free(page);
}

struct trend *trend_free(struct trend *trend)
{
	if (!trend)
		return NULL;
	while (trend->oldest)
		drop_oldest(trend);
	free(trend);
	return NULL;
}

/* Returns the index slot of an entry and event, or the free slot for it. At least half of the slots are free. */
static u32 *find_slot(const struct page *page, u32 entry, unsigned event)
{
	u32 mask = page->slots - 1;
	u32 at = (entry * 64 + event) * 2654435761U;

	for (at = (at >> 16 ^ at) & mask;; at = (at + 1) & mask) {
		const struct column *column = page->columns + page->index[at] - 1;

		if (!page->index[at] || (column->entry == entry && column->event == event))
			return &page->index[at];
	}
}

static const struct column *find_column(const struct page *page, u32 entry, unsigned event)
{
	u32 place = page->slots ? *find_slot(page, entry, event) : 0;

	return place ? &page->columns[place - 1] : NULL;
}

/* Drops the oldest pages until `more` bytes fit. The newest page stays. */
static int make_room(struct trend *trend, size_t more)
{
	while (trend->bytes + more > trend->max_bytes && trend->oldest != trend->newest)
		drop_oldest(trend);
	return trend->bytes + more > trend->max_bytes ? -ENOSPC : 0;
}

static u32 slots_for(u32 room)
{
	u32 slots = 2 * COLUMNS_FIRST;

	while (slots / 2 < room)
		slots *= 2;
	return slots;
}

static int index_columns(struct page *page, u32 slots)
{
	u32 *index = calloc(slots, sizeof(*index));

	if (!index)
		return -ENOMEM;
	free(page->index);
	page->index = index;
	page->slots = slots;
	for (u32 i = 0; i < page->n_columns; i++)
		*find_slot(page, page->columns[i].entry, page->columns[i].event) = i + 1;
	return 0;
}

/* Sets the capacity of a page to `room` columns, at least as many as the page has. */
static int resize(struct trend *trend, struct page *page, u32 room)
{
	size_t before = page_bytes(page);
	struct column *columns = reallocarray(page->columns, room, sizeof(*columns));
	u32 slots = slots_for(room);
	int r = 0;

	if (!columns)
		return -ENOMEM;
	page->columns = columns;
	if (slots != page->slots)
		r = index_columns(page, slots);
	/* If the index could not grow, keep the old capacity, because the index has no room for more columns. */
	if (r == 0 || room < page->room)
		page->room = room;
	trend->bytes = trend->bytes - before + page_bytes(page);
	return r;
}

static int grow(struct trend *trend, struct page *page)
{
	u32 room = page->room + page->room / 4 + COLUMNS_FIRST;
	int r = make_room(trend, (room - page->room) * sizeof(struct column) +
					 (slots_for(room) - page->slots) * sizeof(u32));

	return r < 0 ? r : resize(trend, page, room);
}

static int add_page(struct trend *trend)
{
	struct page *page = calloc(1, sizeof(*page));

	if (!page)
		return -ENOMEM;
	if (trend->newest && trend->newest->n_columns > 0)
		(void)resize(trend, trend->newest, trend->newest->n_columns);
	page->begin_ns = trend->end_ns;
	if (trend->newest)
		trend->newest->newer = page;
	else
		trend->oldest = page;
	trend->newest = page;
	trend->bytes += sizeof(*page);
	return 0;
}

int trend_begin(struct trend *trend, u64 now_ns)
{
	struct page *page;
	int r;

	while (trend->oldest && trend->oldest != trend->newest &&
	       trend->oldest->newer->begin_ns + trend->span_ns < now_ns)
		drop_oldest(trend);
	if (!trend->newest || trend->newest->n == TREND_PAGE) {
		r = add_page(trend);
		if (r < 0)
			return r;
		(void)make_room(trend, 0);
	}
	page = trend->newest;
	page->end_ns[page->n++] = now_ns;
	trend->end_ns = now_ns;
	return 0;
}

int trend_stretch(struct trend *trend, s64 start_ns, s64 end_ns, u64 covered_ns)
{
	struct page *page = trend->newest;

	if (!page || !page->n || start_ns >= end_ns)
		return -EINVAL;
	if (!page->stretches) {
		page->stretches = calloc(TREND_PAGE, sizeof(*page->stretches));
		if (!page->stretches)
			return -ENOMEM;
		trend->bytes += TREND_PAGE * sizeof(*page->stretches);
	}
	page->stretches[page->n - 1] = (struct stretch){start_ns, end_ns, (double)covered_ns};
	return 0;
}

static int get_column(struct trend *trend, u32 entry, unsigned event, struct column **ret)
{
	struct page *page = trend->newest;
	u32 *slot;
	int r;

	if (page->n_columns == page->room && !find_column(page, entry, event)) {
		r = grow(trend, page);
		if (r < 0)
			return r;
	}
	slot = find_slot(page, entry, event);
	if (!*slot) {
		page->columns[page->n_columns] = (struct column){.entry = entry, .event = event};
		*slot = ++page->n_columns;
	}
	*ret = &page->columns[*slot - 1];
	return 0;
}

/* Returns the samples, and the mean of those with a latency; -1: none has one. */
static void read_pairs(const u8 *packed, size_t size, u64 *ret_samples, double *ret_mean)
{
	enum {
		SAMPLES = offsetof(struct counters, samples) / sizeof(u64),
		LATENCY_SUM = offsetof(struct counters, latency_sum) / sizeof(u64),
		LATENCY = offsetof(struct counters, latency) / sizeof(u64),
	};
	struct packed_reader reader = {.from = packed, .end = packed + size};
	u64 samples = 0, sum = 0, with_latency = 0, value;
	unsigned counter;

	while (packed_get(&reader, &counter, &value)) {
		if (counter >= LATENCY + FINE_BUCKETS)
			break;
		if (counter >= LATENCY)
			with_latency += value;
		else if (counter >= LATENCY_SUM && counter < LATENCY_SUM + SOURCE_SLOTS)
			sum += value;
		else if (counter < SAMPLES + SOURCE_SLOTS)
			samples += value;
	}
	*ret_samples = samples;
	*ret_mean = with_latency ? (double)sum / (double)with_latency : -1;
}

static double mean_of(u16 packed)
{
	return packed ? (double)(unpack(packed) - 1) / MEAN_STEPS : -1;
}

int trend_put(struct trend *trend, u32 entry, unsigned event, const u8 *packed, size_t size)
{
	const struct page *page = trend->newest;
	struct column *column;
	struct point *point;
	u64 samples, before;
	double mean, other;
	int r;

	if (!page || !page->n)
		return -EINVAL;
	r = get_column(trend, entry, event, &column);
	if (r < 0)
		return r;
	read_pairs(packed, size, &samples, &mean);
	point = &column->points[page->n - 1];
	/*
	 * If a service is stopped and started within a collection, it has two slots, and two deltas: add
	 * them.
	 */
	before = unpack(point->samples);
	other = mean_of(point->mean);
	if (mean < 0)
		mean = other;
	else if (other >= 0 && before + samples > 0)
		mean = (mean * (double)samples + other * (double)before) / (double)(samples + before);
	point->samples = pack(samples + before);
	point->mean = mean < 0 ? 0 : pack((u64)(mean * MEAN_STEPS + 0.5) + 1);
	return 0;
}

int trend_collect(struct trend *trend, u64 now_ns, const struct delta *list, size_t n)
{
	int result = trend_begin(trend, now_ns);

	if (result < 0)
		return result;
	for (size_t i = 0; i < n; i++) {
		int r = trend_put(trend, list[i].entry->number, list[i].event, list[i].packed, list[i].size);

		if (r < 0 && (result == 0 || result == -ENOSPC))
			result = r;
	}
	return result;
}

/* The bin in which a collection ended; bins->n: none. */
static size_t bin_of(const struct trend *trend, const struct trend_bins *bins, u64 end_ns)
{
	/* Bins begin at multiples of their length, so that they do not shift with every collection. */
	u64 last = (trend->end_ns - 1) / bins->bin_ns, bin = (end_ns - 1) / bins->bin_ns;

	return bin > last || last - bin >= bins->n ? bins->n : bins->n - 1 - (size_t)(last - bin);
}

/* Adds to each bin the part of the addend that a collection of this time has in it. */
static void divide(const struct stretch *stretch, const struct trend_bin *addend, struct trend_bins *bins)
{
	const s64 length = (s64)bins->bin_ns, begin = (s64)bins->end_ns - (s64)bins->n * length;
	size_t i = stretch->start_ns > begin ? (size_t)((stretch->start_ns - begin) / length) : 0;

	for (; i < bins->n; i++) {
		const s64 from = begin + (s64)i * length;
		const s64 within = MIN(stretch->end_ns, from + length) - MAX(stretch->start_ns, from);
		struct trend_bin *bin = &bins->bins[i];
		double part;

		if (within <= 0)
			return;
		part = (double)within / (double)(stretch->end_ns - stretch->start_ns);
		bin->covered_ns += part * addend->covered_ns;
		bin->covered = bin->covered_ns > 0;
		bin->samples += part * addend->samples;
		bin->latency += part * addend->latency;
		bin->latency_samples += part * addend->latency_samples;
	}
}

void trend_cover(const struct trend *trend, struct trend_bins *bins)
{
	for (const struct page *page = trend->oldest; page; page = page->newer)
		for (unsigned int i = 0; i < page->n; i++) {
			size_t bin;

			if (bins->end_ns) {
				if (page->stretches)
					divide(&page->stretches[i],
					       &(struct trend_bin){.covered_ns =
									   page->stretches[i].covered_ns},
					       bins);
				continue;
			}
			bin = bin_of(trend, bins, page->end_ns[i]);
			if (bin < bins->n)
				bins->bins[bin].covered = true;
		}
}

static struct trend_bin bin_of_point(const struct point *point)
{
	double samples = (double)unpack(point->samples);

	if (!point->mean)
		return (struct trend_bin){.samples = samples};
	return (struct trend_bin){
		.samples = samples, .latency = mean_of(point->mean) * samples, .latency_samples = samples};
}

static void divide_column(const struct page *page, const struct column *column, struct trend_bins *bins)
{
	for (unsigned int i = 0; page->stretches && i < page->n; i++) {
		const struct trend_bin addend = bin_of_point(&column->points[i]);

		if (addend.samples > 0)
			divide(&page->stretches[i], &addend, bins);
	}
}

static void add_column(const struct page *page, const struct column *column,
		       const size_t bin_of_end[TREND_PAGE], struct trend_bins *bins)
{
	for (unsigned int i = 0; i < page->n; i++) {
		const struct point *point = &column->points[i];
		struct trend_bin *bin = &bins->bins[bin_of_end[i]], addend;

		if (!point->samples || bin_of_end[i] == bins->n)
			continue;
		addend = bin_of_point(point);
		bin->samples += addend.samples;
		bin->latency += addend.latency;
		bin->latency_samples += addend.latency_samples;
	}
}

void trend_add(const struct trend *trend, const u32 *entries, size_t n, unsigned event,
	       struct trend_bins *bins)
{
	for (const struct page *page = trend->oldest; page; page = page->newer) {
		size_t bin_of_end[TREND_PAGE];
		bool known = false;

		for (size_t i = 0; i < n; i++) {
			const struct column *column = find_column(page, entries[i], event);

			if (!column)
				continue;
			if (bins->end_ns) {
				divide_column(page, column, bins);
				continue;
			}
			/* The divisions take longer than all that is done with the points. */
			for (unsigned int end = 0; !known && end < page->n; end++)
				bin_of_end[end] = bin_of(trend, bins, page->end_ns[end]);
			known = true;
			add_column(page, column, bin_of_end, bins);
		}
	}
}

size_t trend_bytes(const struct trend *trend)
{
	return trend->bytes;
}
