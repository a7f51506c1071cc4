// SPDX-License-Identifier: GPL-2.0
#include "window/window.h"

#include <errno.h>
#include <string.h>
#include <sys/queue.h>

#include "base/varint.h"
#include "collect/packed.h"

/*
 * A decoded record, for one entry and event. In a collection, records lie one after another: as varints the entry, the
 * event and the number of bytes of the rest; then the packed counters (collect/packed.h).
 */
struct record {
	u32 entry;
	u32 event;
	const u8 *packed; /* in the collection */
	size_t size;
};

#define RECORD_HEADER_MAX (3 * VARINT_MAX)

/* A collection, or several consecutive ones that were merged to one. */
struct collection {
	TAILQ_ENTRY(collection) list;
	u64 begin_ns;
	u64 end_ns;
	struct timespec begin;
	size_t records;
	size_t size; /* of data */
	u8 data[];   /* records */
};

_Static_assert(sizeof(struct collection) <= WINDOW_COLLECTION_BYTES,
	       "an empty collection costs at most WINDOW_COLLECTION_BYTES");

struct window {
	size_t max_bytes;
	u64 max_ns;
	TAILQ_HEAD(collections, collection) collections; /* oldest first, each ending where the next begins */
	size_t n;
	size_t bytes;            /* of all collections, and of `open` with its spare capacity */
	struct collection *open; /* between begin and end; its `end_ns` is already set */
	size_t room;             /* capacity for data in `open` */
	int error;               /* of the open collection */
	u64 last_ns;             /* start of the next collection */
	struct timespec last;    /* the same in CLOCK_REALTIME */
	struct timespec now;     /* CLOCK_REALTIME at the end of the open collection */
};

int window_new(size_t max_bytes, u64 max_ns, u64 start_ns, const struct timespec *start, struct window **ret)
{
	struct window *window = calloc(1, sizeof(*window));

	if (!window)
		return -ENOMEM;
	TAILQ_INIT(&window->collections);
	window->max_bytes = max_bytes;
	window->max_ns = max_ns;
	window->last_ns = start_ns;
	window->last = *start;
	*ret = window;
	return 0;
}

static void drop(struct window *window, struct collection *collection)
{
	TAILQ_REMOVE(&window->collections, collection, list);
	window->bytes -= WINDOW_COLLECTION_BYTES + collection->size;
	window->n--;
	free(collection);
}

static void drop_oldest(struct window *window)
{
	drop(window, TAILQ_FIRST(&window->collections));
}

static void drop_open(struct window *window)
{
	if (window->open)
		window->bytes -= WINDOW_COLLECTION_BYTES + window->room;
	free(window->open);
	window->open = NULL;
	window->room = 0;
}

struct window *window_free(struct window *window)
{
	if (!window)
		return NULL;
	while (window->n)
		drop_oldest(window);
	drop_open(window);
	free(window);
	return NULL;
}

/* Writes the header for `size` bytes of packed counters. Returns the address for the packed counters. */
static u8 *put_header(u8 *to, u32 entry, u32 event, size_t size)
{
	to = put_varint(to, entry);
	to = put_varint(to, event);
	return put_varint(to, size);
}

static struct record get_record(const u8 *from)
{
	u64 entry, event, size;

	from = get_varint(from, &entry);
	from = get_varint(from, &event);
	from = get_varint(from, &size);
	return (struct record){.entry = (u32)entry, .event = (u32)event, .packed = from, .size = size};
}

static int compare_records(const void *a, const void *b)
{
	const struct record *left = a, *right = b;

	if (left->entry != right->entry)
		return left->entry < right->entry ? -1 : 1;
	return left->event < right->event ? -1 : left->event > right->event;
}

/*
 * Adds up the records that have the entry and event of the first of the `n` sorted ones. Writes the sum to `packed`,
 * PACKED_MAX bytes. Returns the number of these records. `sum` is empty before and after.
 */
static size_t add_up_first(const struct record *records, size_t n, struct packed_sum *sum, u8 *packed,
			   size_t *ret_size)
{
	size_t i = 0;

	for (; i < n && compare_records(&records[i], records) == 0; i++)
		packed_sum_add(sum, records[i].packed, records[i].size);
	*ret_size = packed_sum_take(sum, packed);
	return i;
}

/*
 * Adds up the `n` sorted records: writes one record for each entry and event to `to`, each counter saturating. They
 * take at most as much as all records and one byte more for each. Returns the number of records written.
 */
static size_t add_up(const struct record *records, size_t n, u8 *to, size_t *ret_size)
{
	struct packed_sum sum = {0};
	u8 *begin = to;
	size_t written = 0;

	for (size_t i = 0; i < n; written++) {
		const struct record *first = &records[i];
		u8 packed[PACKED_MAX];
		size_t size;

		i += add_up_first(first, n - i, &sum, packed, &size);
		to = put_header(to, first->entry, first->event, size);
		memcpy(to, packed, size);
		to += size;
	}
	*ret_size = (size_t)(to - begin);
	return written;
}

/*
 * Frees the capacity of a collection beyond its data. Returns the collection, whose address may have changed.
 */
static struct collection *shrunk(struct collection *collection)
{
	struct collection *smaller = realloc(collection, sizeof(*collection) + collection->size);

	return smaller ? smaller : collection;
}

/* Lists the records of the collections from `first` to before `end`, sorted. The caller frees `ret`. */
static int list_records(const struct collection *first, const struct collection *end, struct record **ret,
			size_t *ret_n)
{
	struct record *records, *next;
	size_t n = 0;

	for (const struct collection *c = first; c != end; c = TAILQ_NEXT(c, list))
		n += c->records;
	records = calloc(n + 1, sizeof(*records));
	if (!records)
		return -ENOMEM;
	next = records;
	for (const struct collection *c = first; c != end; c = TAILQ_NEXT(c, list))
		for (const u8 *from = c->data; from < c->data + c->size; next++) {
			*next = get_record(from);
			from = next->packed + next->size;
		}
	qsort(records, n, sizeof(*records), compare_records);
	*ret = records;
	*ret_n = n;
	return 0;
}

/* Merges the collections from `first` to `last`, and replaces them by the result. Returns 0 or -ENOMEM. */
static int merge(struct window *window, struct collection *first, struct collection *last)
{
	_cleanup_free_ struct record *records = NULL;
	struct collection *merged, *end = TAILQ_NEXT(last, list);
	size_t n, size = 0;
	int r;

	r = list_records(first, end, &records, &n);
	if (r < 0)
		return r;
	for (const struct collection *c = first; c != end; c = TAILQ_NEXT(c, list))
		size += c->size;
	merged = malloc(sizeof(*merged) + size + n);
	if (!merged)
		return -ENOMEM;
	*merged = (struct collection){
		.begin_ns = first->begin_ns, .end_ns = last->end_ns, .begin = first->begin};
	merged->records = add_up(records, n, merged->data, &merged->size);
	merged = shrunk(merged);
	TAILQ_INSERT_AFTER(&window->collections, last, merged, list);
	window->n++;
	window->bytes += WINDOW_COLLECTION_BYTES + merged->size;
	while (first != merged) {
		struct collection *gone = first;

		first = TAILQ_NEXT(first, list);
		drop(window, gone);
	}
	return 0;
}

/*
 * Returns the last collection of the longest run from `first` on that may be merged to one of at most `most_ns`; NULL:
 * none. The merged collection must not be longer than it is old, so that a requested span is at most doubled. No
 * collection of the run may be longer than all others together, so that data is merged again at most a logarithmic
 * number of times.
 */
static struct collection *run_from(struct collection *first, u64 newest_ns, u64 most_ns)
{
	struct collection *found = NULL;
	u64 longest_ns = 0;

	for (struct collection *last = first; last; last = TAILQ_NEXT(last, list)) {
		u64 own_ns = last->end_ns - last->begin_ns;
		u64 length_ns = last->end_ns - first->begin_ns;

		longest_ns = own_ns > longest_ns ? own_ns : longest_ns;
		if (length_ns > most_ns || length_ns > newest_ns - last->end_ns)
			break;
		if (last != first && longest_ns <= length_ns - longest_ns)
			found = last;
	}
	return found;
}

/*
 * Merges the oldest collections that can be merged to one of at most 10 s; without such, to a longer one. If nothing
 * can be merged, drops the oldest collection.
 */
static void make_way(struct window *window)
{
	static const u64 lengths_ns[] = {10 * NSEC_PER_SEC, 60 * NSEC_PER_SEC, 600 * NSEC_PER_SEC};
	u64 newest_ns = TAILQ_LAST(&window->collections, collections)->end_ns;

	for (size_t i = 0; i < ARRAY_SIZE(lengths_ns); i++) {
		struct collection *first;

		TAILQ_FOREACH (first, &window->collections, list) {
			struct collection *last = run_from(first, newest_ns, lengths_ns[i]);

			if (last && merge(window, first, last) == 0)
				return;
			if (last)
				break;
		}
	}
	drop_oldest(window);
}

void window_limit(struct window *window, size_t max_bytes)
{
	window->max_bytes = max_bytes;
	while (window->n && window->bytes > max_bytes)
		make_way(window);
}

/*
 * Sets the capacity of the open collection to `room` bytes of data, and creates it if needed. Merges or drops
 * older ones.
 */
static int set_room(struct window *window, size_t room)
{
	size_t held = window->open ? WINDOW_COLLECTION_BYTES + window->room : 0;
	struct collection *open;

	if (window->max_bytes < WINDOW_COLLECTION_BYTES || room > window->max_bytes - WINDOW_COLLECTION_BYTES)
		return -ENOSPC;
	while (window->n && window->bytes - held > window->max_bytes - WINDOW_COLLECTION_BYTES - room)
		make_way(window);
	open = realloc(window->open, sizeof(*open) + room);
	if (!open)
		return -ENOMEM;
	window->open = open;
	window->room = room;
	window->bytes += WINDOW_COLLECTION_BYTES + room - held;
	return 0;
}

void window_begin(struct window *window, u64 now_ns, const struct timespec *now)
{
	bool in_order = !window->open && now_ns >= window->last_ns;

	drop_open(window);
	window->error = in_order ? set_room(window, 0) : -EINVAL;
	if (!window->error)
		*window->open = (struct collection){
			.begin_ns = window->last_ns, .end_ns = now_ns, .begin = window->last};
	window->last_ns = now_ns;
	window->now = *now;
}

static int append(struct window *window, const u8 *bytes, size_t n)
{
	size_t needed = window->open->size + n;
	int r;

	if (needed > window->room) {
		size_t most = window->max_bytes - WINDOW_COLLECTION_BYTES;
		size_t spare = needed < most ? (most - needed) / 2 : 0;

		r = set_room(window, needed + (spare < needed ? spare : needed));
		if (r < 0)
			return r;
	}
	memcpy(window->open->data + window->open->size, bytes, n);
	window->open->size = needed;
	return 0;
}

void window_put(struct window *window, u32 entry, unsigned event, const u8 *packed, size_t size)
{
	u8 header[RECORD_HEADER_MAX];
	u8 *end;

	if (window->error || !window->open)
		return;
	if (event >= EVENTS_MAX) {
		window->error = -EINVAL;
		return;
	}
	if (!size)
		return;
	end = put_header(header, entry, event, size);
	window->error = append(window, header, (size_t)(end - header));
	if (!window->error)
		window->error = append(window, packed, size);
	window->open->records++;
}

int window_end(struct window *window)
{
	int r = window->error;

	if (!r && window->open)
		r = set_room(window, window->open->size);
	else if (!r)
		r = -EINVAL;
	window->last = window->now;
	if (r < 0) {
		drop_open(window);
		while (window->n)
			drop_oldest(window);
		return r;
	}
	TAILQ_INSERT_TAIL(&window->collections, window->open, list);
	window->n++;
	while (window->n > 1 &&
	       window->open->end_ns - TAILQ_FIRST(&window->collections)->end_ns >= window->max_ns)
		drop_oldest(window);
	window->open = NULL;
	window->room = 0;
	return 0;
}

/* The oldest collection needed to cover the span, going back from the newest. */
static const struct collection *first_of(const struct collection *newest, u64 span_ns)
{
	const struct collection *first = newest;
	const struct collection *before;

	while (newest->end_ns - first->begin_ns < span_ns && (before = TAILQ_PREV(first, collections, list)))
		first = before;
	return first;
}

/* Sets the values to 0 again that packed_add() changed in counters that were all 0. */
static void clear_packed(struct counters *sum, const u8 *packed, size_t size)
{
	struct packed_reader reader = {.from = packed, .end = packed + size};
	u64 *values = (u64 *)sum;
	unsigned counter;
	u64 value;

	while (packed_get(&reader, &counter, &value))
		values[counter] = 0;
}

typedef int (*sum_callback)(u32 entry, unsigned event, const u8 *packed, size_t size, void *userdata);

/* Same as window_each(), but calls back with the sums as packed counters. */
static int each_sum(const struct window *window, u64 span_ns, sum_callback callback, void *userdata,
		    struct window_span *ret_span)
{
	const struct collection *newest = TAILQ_LAST(&window->collections, collections), *first;
	_cleanup_free_ struct record *records = NULL;
	struct packed_sum sum = {0};
	size_t n;
	int r;

	if (!newest)
		return -ENODATA;
	first = first_of(newest, span_ns);
	r = list_records(first, NULL, &records, &n);
	if (r < 0)
		return r;
	*ret_span =
		(struct window_span){.covered_ns = newest->end_ns - first->begin_ns, .since = first->begin};
	for (size_t i = 0; i < n && r == 0;) {
		const struct record *group = &records[i];
		u8 packed[PACKED_MAX];
		size_t size;

		i += add_up_first(group, n - i, &sum, packed, &size);
		r = callback(group->entry, group->event, packed, size, userdata);
	}
	return r;
}

/* Calls back with counters that were made of packed counters. */
struct counters_call {
	window_callback callback;
	void *userdata;
	struct counters counters; /* all zero between two calls */
};

static int call_with_counters(u32 entry, unsigned event, const u8 *packed, size_t size, void *userdata)
{
	struct counters_call *call = userdata;
	int r;

	packed_add(packed, size, &call->counters);
	r = call->callback(entry, event, &call->counters, call->userdata);
	clear_packed(&call->counters, packed, size);
	return r;
}

int window_each(const struct window *window, u64 span_ns, window_callback callback, void *userdata,
		struct window_span *ret_span)
{
	struct counters_call call = {.callback = callback, .userdata = userdata};

	return each_sum(window, span_ns, call_with_counters, &call, ret_span);
}

static int visit(const struct collection *collection, const struct window_visitor *visitor,
		 struct counters_call *call)
{
	int r = visitor->collection(collection->begin_ns, collection->end_ns, visitor->userdata);

	for (const u8 *from = collection->data; !r && from < collection->data + collection->size;) {
		const struct record record = get_record(from);

		if (visitor->packed)
			r = visitor->packed(record.entry, record.event, record.packed, record.size,
					    visitor->userdata);
		else if (visitor->counters)
			r = call_with_counters(record.entry, record.event, record.packed, record.size, call);
		from = record.packed + record.size;
	}
	return r;
}

int window_walk(const struct window *window, u64 span_ns, const struct window_visitor *visitor)
{
	const struct collection *newest = TAILQ_LAST(&window->collections, collections);
	struct counters_call call = {.callback = visitor->counters, .userdata = visitor->userdata};
	int r = 0;

	if (!newest)
		return -ENODATA;
	for (const struct collection *c = first_of(newest, span_ns); c && !r; c = TAILQ_NEXT(c, list))
		r = visit(c, visitor, &call);
	return r;
}

size_t window_bytes(const struct window *window)
{
	return window->bytes;
}

size_t window_collections(const struct window *window)
{
	return window->n;
}

struct window_sums *window_sums_free(struct window_sums *sums)
{
	if (!sums)
		return NULL;
	arena_done(&sums->packed);
	free(sums->sums);
	free(sums);
	return NULL;
}

struct keeping {
	struct window_sums *sums;
	size_t room;
};

static int keep(u32 entry, unsigned event, const u8 *packed, size_t size, void *userdata)
{
	struct keeping *keeping = userdata;
	struct window_sums *sums = keeping->sums;
	u8 *copy = arena_take(&sums->packed, size);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, packed, size);
	if (sums->n == keeping->room) {
		size_t room = 2 * keeping->room + 16;
		struct window_sum *grown = reallocarray(sums->sums, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		sums->sums = grown;
		keeping->room = room;
	}
	if (sums->n)
		sums->sums[sums->n - 1].more = sums->sums[sums->n - 1].entry == entry;
	sums->sums[sums->n++] =
		(struct window_sum){.entry = entry, .event = event, .packed = copy, .size = (u32)size};
	return 0;
}

int window_sum(const struct window *window, u64 span_ns, struct window_sums **ret)
{
	_cleanup_(window_sums_freep) struct window_sums *sums = calloc(1, sizeof(*sums));
	struct keeping keeping = {.sums = sums};
	int r;

	if (!sums)
		return -ENOMEM;
	r = each_sum(window, span_ns, keep, &keeping, &sums->span);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(sums);
	return 0;
}
