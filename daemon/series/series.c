// SPDX-License-Identifier: GPL-2.0
#include "series/series.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/heap.h"
#include "base/siphash.h"
#include "series/series_width.h"
#include "state/state_bytes.h"
#include "state/state_kinds.h"

/* The cgroup paths that the series table knows: paths that have recent samples, have a series or had one. */

enum path_standing {
	PATH_WAITING,  /* no series and no counters: its samples are in `other` */
	PATH_EXPORTED, /* the path has a series */
	PATH_ENDED,    /* the path had a series; the counters are kept for its return */
};

struct series_path {
	struct series series;
	struct series_path *next; /* next path in the hash bucket */
	u64 hash;
	size_t bytes; /* memory of the path without counters */
	enum path_standing standing;
	double samples; /* decays as the cost does */
	u64 seen_ns;    /* time of the path's last sample */

	/* The plan of the update under way. */
	double next_cost;
	double next_samples;
	bool has_input;
	bool excluded;
	bool in_top;
	bool owns;   /* deltas of the path go to its own series */
	bool forget; /* to be removed by paths_sweep() */
};

struct paths {
	struct series_path **buckets;
	size_t n_buckets; /* a power of two */
	struct siphash_key key;
	struct series_path **list; /* all paths, in no particular order */
	size_t n;
	size_t room;
};

/* Do not add or remove paths inside the loop. */
#define FOREACH_PATH(paths, path)                                                                            \
	for (struct series_path **_at = (paths)->list, **_end = _at + (paths)->n, *path; _at != _end; _at++) \
		if ((path = *_at))

#define BUCKETS_MIN 64

/* Memory of a path in arrays: `list` and `buckets`, which may have twice as many, `best` and `owners`. */
#define PLACES_BYTES (6 * sizeof(void *))

/* With a secret key: users choose the paths of cgroups, and could choose paths that all fall into one bucket. */
static u64 hash_of(const struct paths *paths, const char *name)
{
	return siphash_bytes(&paths->key, name, strlen(name));
}

static struct series_path **bucket_of(const struct paths *paths, u64 hash)
{
	return &paths->buckets[hash & (paths->n_buckets - 1)];
}

static struct series_path *find(const struct paths *paths, const char *name, u64 hash)
{
	struct series_path *path = *bucket_of(paths, hash);

	while (path && (path->hash != hash || strcmp(path->series.path, name) != 0))
		path = path->next;
	return path;
}

static struct series_path *paths_find(const struct paths *paths, const char *name)
{
	return find(paths, name, hash_of(paths, name));
}

static void path_free_counters(struct series *series)
{
	for (size_t event = 0; event < EVENTS_MAX; event++) {
		free(series->counters[event]);
		series->counters[event] = NULL;
	}
	free(series->offcore);
	series->offcore = NULL;
	free(series->estimates);
	series->estimates = NULL;
}

static void path_free(struct series_path *path)
{
	path_free_counters(&path->series);
	free(path->series.path);
	free(path);
}

static void put(struct paths *paths, struct series_path *path)
{
	struct series_path **bucket = bucket_of(paths, path->hash);

	path->next = *bucket;
	*bucket = path;
}

/* Without memory for more buckets, the chains grow instead. */
static void grow_buckets(struct paths *paths)
{
	struct series_path **buckets = calloc(paths->n_buckets * 2, sizeof(*buckets));

	if (!buckets)
		return;
	free(paths->buckets);
	paths->buckets = buckets;
	paths->n_buckets *= 2;
	FOREACH_PATH (paths, path)
		put(paths, path);
}

static int grow_list(struct paths *paths)
{
	size_t room = 2 * paths->room + BUCKETS_MIN;
	struct series_path **list = reallocarray(paths->list, room, sizeof(*list));

	if (!list)
		return -ENOMEM;
	paths->list = list;
	paths->room = room;
	return 0;
}

/* Finds or adds the path; a new one is WAITING and has no cost. NULL: no memory. */
static struct series_path *paths_get(struct paths *paths, const char *name)
{
	u64 hash = hash_of(paths, name);
	struct series_path *path = find(paths, name, hash);

	if (path)
		return path;
	if (paths->n == paths->room && grow_list(paths) < 0)
		return NULL;
	path = calloc(1, sizeof(*path));
	if (!path)
		return NULL;
	path->series.path = strdup(name);
	if (!path->series.path) {
		free(path);
		return NULL;
	}
	path->hash = hash;
	path->bytes = heap_bytes(sizeof(*path)) + heap_bytes(strlen(name) + 1) + PLACES_BYTES;
	if (paths->n >= paths->n_buckets)
		grow_buckets(paths);
	put(paths, path);
	paths->list[paths->n++] = path;
	return path;
}

static void unlink_path(struct paths *paths, const struct series_path *path)
{
	struct series_path **place = bucket_of(paths, path->hash);

	while (*place != path)
		place = &(*place)->next;
	*place = path->next;
}

/* Removes and frees paths with `forget` set. */
static void paths_sweep(struct paths *paths)
{
	size_t kept = 0;

	FOREACH_PATH (paths, path) {
		if (!path->forget) {
			paths->list[kept++] = path;
			continue;
		}
		unlink_path(paths, path);
		path_free(path);
	}
	paths->n = kept;
}

static int paths_init(struct paths *paths)
{
	*paths = (struct paths){.n_buckets = BUCKETS_MIN, .key = siphash_key_new()};
	paths->buckets = calloc(paths->n_buckets, sizeof(struct series_path *));
	return paths->buckets ? grow_list(paths) : -ENOMEM;
}

static void paths_done(struct paths *paths)
{
	FOREACH_PATH (paths, path)
		path_free(path);
	free(paths->buckets);
	free(paths->list);
	*paths = (struct paths){0};
}

/* Numbers of series in saved records. */
#define SERIES_ID_OTHER        0
#define SERIES_ID_UNATTRIBUTED 1
#define SERIES_ID_PATHS        2 /* lowest number of a path's series */

struct series_table {
	size_t top; /* may be SERIES_TOP_AUTO */
	size_t top_largest;
	struct series_width width;
	u32 estimated;              /* bits: events that have estimates */
	double factors[EVENTS_MAX]; /* for their next deltas */
	u64 now_ns;

	struct paths paths;
	struct series other;
	struct series unattributed;
	const struct series **list;
	size_t n_list;

	/* Temporary data of the update under way. */
	struct series_path **owners; /* of each input; NULL: not exported */
	struct series_path **best;   /* the N costliest paths, the costliest first; has room for all paths */
	size_t n_best;
	struct counters **spare; /* zeroed */
	size_t n_spare;
	size_t n_ended, n_waiting; /* number of paths with that standing */
	size_t waiting_bytes;      /* memory of waiting paths */
	bool some_idle;            /* a waiting path is to be forgotten */

	struct state *state; /* borrowed; NULL: nothing is saved */
	u32 next_id;         /* for the next path with records */
};

/* Remove the saved records of a series, or only those of its counters. */
static void forget_series(struct series_table *table, struct series *series);
static void forget_counters(struct series_table *table, struct series *series);

int series_table_new(size_t top, struct series_table **ret)
{
	struct series_table *table = calloc(1, sizeof(*table));
	int r;

	if (!table)
		return -ENOMEM;
	r = paths_init(&table->paths);
	table->list = calloc(2, sizeof(struct series *));
	table->other.path = strdup(TOTALS_OTHER);
	table->unattributed.path = strdup(TOTALS_UNATTRIBUTED);
	if (r < 0 || !table->list || !table->other.path || !table->unattributed.path) {
		series_table_free(table);
		return -ENOMEM;
	}
	table->unattributed.saved.id = SERIES_ID_UNATTRIBUTED;
	table->next_id = SERIES_ID_PATHS;
	for (size_t event = 0; event < EVENTS_MAX; event++)
		table->factors[event] = 1;
	table->list[table->n_list++] = &table->other;
	table->list[table->n_list++] = &table->unattributed;
	series_table_set_top(table, top);
	*ret = table;
	return 0;
}

static void free_spare(struct series_table *table)
{
	while (table->n_spare)
		free(table->spare[--table->n_spare]);
}

struct series_table *series_table_free(struct series_table *table)
{
	if (!table)
		return NULL;
	paths_done(&table->paths);
	path_free_counters(&table->other);
	free(table->other.path);
	path_free_counters(&table->unattributed);
	free(table->unattributed.path);
	free_spare(table);
	free(table->spare);
	free(table->owners);
	free(table->best);
	free(table->list);
	free(table);
	return NULL;
}

void series_table_set_top(struct series_table *table, size_t top)
{
	size_t most = top == SERIES_TOP_AUTO ? SERIES_TOP_DEFAULT : top;

	table->top = top;
	if (most > table->top_largest)
		table->top_largest = most;
}

void series_table_expect(struct series_table *table, const struct event *events, size_t n)
{
	for (unsigned event = 0; event < n && event < EVENTS_MAX; event++) {
		series_width_expect(&table->width, event, &events[event]);
		if (event_role_is_estimate(events[event].role))
			table->estimated |= 1U << event;
	}
}

void series_table_scale(struct series_table *table, unsigned event, double factor)
{
	if (event < EVENTS_MAX)
		table->factors[event] = factor;
}

/* Reallocates `array`, a pointer to an array's pointer, for `n` elements and keeps the first ones. */
static int reserve(void *array, size_t n, size_t size)
{
	void *bigger = reallocarray(*(void **)array, n ? n : 1, size);

	if (!bigger)
		return -ENOMEM;
	*(void **)array = bigger;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct series_path *left = *(struct series_path *const *)a;
	const struct series_path *right = *(struct series_path *const *)b;

	if (left->next_cost != right->next_cost)
		return left->next_cost > right->next_cost ? -1 : 1;
	if (left->next_samples != right->next_samples)
		return left->next_samples > right->next_samples ? -1 : 1;
	return strcmp(left->series.path, right->series.path);
}

static bool is_wanted(const struct series_path *path, u64 now_ns, u64 for_ns)
{
	return path->in_top || now_ns - path->series.wanted_ns < for_ns;
}

/*
 * Moves the first `most` elements, as compare() sorts them, to the front of `list`, in no particular order
 * (quickselect).
 */
static void select_first(struct series_path **list, size_t n, size_t most)
{
	while (n > 1 && most > 0 && most < n) {
		const struct series_path *pivot = list[n / 2];
		struct series_path **left = list, **right = list + n - 1;
		size_t n_left;

		/* Elements that sort before the pivot move to the left part, the others to the right part. */
		while (left <= right) {
			while (compare(left, &pivot) < 0)
				left++;
			while (compare(right, &pivot) > 0)
				right--;
			if (left <= right) {
				struct series_path *swapped = *left;

				*left++ = *right;
				*right-- = swapped;
			}
		}
		n_left = (size_t)(right - list) + 1;
		if (most <= n_left) {
			n = n_left;
		} else {
			/* The pivot may lie between both parts. */
			most -= (size_t)(left - list);
			n -= (size_t)(left - list);
			list = left;
		}
	}
}

/* Adds the samples and their weighted latency to the sums, in one pass. */
static void costs_of(const struct delta *delta, u64 *samples, u64 *cost)
{
	const unsigned first = offsetof(struct counters, weighted_latency) / sizeof(u64);
	struct packed_reader reader = {.from = delta->packed, .end = delta->packed + delta->size};
	unsigned counter;
	u64 value;

	_Static_assert(offsetof(struct counters, samples) == 0, "they come first");
	while (packed_get(&reader, &counter, &value) && counter < first + SOURCE_SLOTS)
		if (counter < SOURCE_SLOTS)
			*samples = add_saturating(*samples, value);
		else if (counter >= first)
			*cost = add_saturating(*cost, value);
}

/* Sets `next_cost` and `next_samples` of each path: the old value, decayed, plus that of its inputs. */
static int plan_costs(struct series_table *table, u64 now_ns, const struct series_input *inputs, size_t n)
{
	double decay = exp2(-(double)(now_ns - table->now_ns) / (double)SERIES_HALF_LIFE_NS);

	FOREACH_PATH (&table->paths, path) {
		path->next_cost = path->series.cost * decay;
		path->next_samples = path->samples * decay;
		path->has_input = path->excluded = path->in_top = path->owns = false;
	}
	for (size_t i = 0; i < n; i++) {
		const struct series_input *input = &inputs[i];
		struct series_path *path;

		table->owners[i] = NULL;
		if (!input->exported) {
			path = paths_find(&table->paths, input->path);
			if (path)
				path->excluded = true;
			continue;
		}
		table->owners[i] = path = paths_get(&table->paths, input->path);
		if (!path)
			return -ENOMEM;
		for (size_t k = 0; k < input->n_deltas; k++) {
			const struct delta *delta = &input->deltas[k];
			u64 samples = 0, cost = 0;

			costs_of(delta, &samples, &cost);
			path->next_cost += (double)cost;
			path->next_samples += (double)samples;
			path->has_input = path->has_input || samples;
		}
	}
	return 0;
}

/*
 * Returns how many paths may have series. The more series one path can have (its width, series_width.h), the fewer.
 * The width counts the series of all counters that are expected or were seen in any path.
 */
static struct series_places places_now(struct series_table *table)
{
	for (size_t i = 0; i < table->n_list; i++)
		series_width_see(&table->width, table->list[i]);
	return series_places(table->top, series_width_of(&table->width));
}

/*
 * Returns true if the path with this `rank` among the N may take one of `room` free places: more places must
 * be free than are reserved for costlier paths. The reserve grows with the rank, up to half of the places
 * beyond N.
 */
static bool may_enter(const struct series_places *places, size_t rank, size_t room)
{
	return room > (places->paths - places->top) * rank / (2 * places->top);
}

/*
 * Decides which paths are among the N, and whose series get their deltas. Returns the number of exported
 * paths.
 */
static size_t plan_series(struct series_table *table, u64 now_ns)
{
	const struct series_places places = places_now(table);
	size_t exported = 0;
	size_t promoted = 0;
	size_t room;

	table->n_best = 0;
	FOREACH_PATH (&table->paths, path)
		if (!path->excluded && path->next_samples > 0 &&
		    (path->has_input || now_ns - path->seen_ns < SERIES_KEEP_NS))
			table->best[table->n_best++] = path;
	select_first(table->best, table->n_best, places.top);
	table->n_best = MIN(table->n_best, places.top);
	if (table->n_best > 0)
		qsort(table->best, table->n_best, sizeof(*table->best), compare);
	for (size_t i = 0; i < table->n_best; i++)
		table->best[i]->in_top = true;

	FOREACH_PATH (&table->paths, path) {
		if (path->standing != PATH_EXPORTED)
			continue;
		path->owns = !path->excluded && is_wanted(path, now_ns, SERIES_KEEP_NS);
		if (is_wanted(path, now_ns, SERIES_KEEP_NS + SERIES_LINGER_NS))
			exported++;
	}
	room = places.paths > exported ? places.paths - exported : 0;
	for (size_t i = 0; i < table->n_best; i++)
		if (table->best[i]->standing != PATH_EXPORTED && may_enter(&places, i, room - promoted)) {
			table->best[i]->owns = true;
			promoted++;
		}
	return exported + promoted;
}

static struct series *owner_of(struct series_table *table, size_t input)
{
	struct series_path *path = table->owners[input];

	return path && path->owns ? &path->series : &table->other;
}

/* Upper bound of the counters to allocate: of two deltas of one event, both are counted. */
static size_t count_missing(const struct series *series, const struct delta *deltas, size_t n)
{
	size_t missing = 0;

	for (size_t i = 0; i < n; i++)
		missing += !series->counters[deltas[i].event];
	return missing;
}

/* A series without any off-core count has no `offcore`, and exports no off-core metrics. */
static int reserve_offcore(struct series *series)
{
	if (!series->offcore)
		series->offcore = calloc(1, sizeof(*series->offcore));
	return series->offcore ? 0 : -ENOMEM;
}

static int reserve_estimates(const struct series_table *table, struct series *series,
			     const struct delta *deltas, size_t n)
{
	for (size_t i = 0; i < n && !series->estimates; i++) {
		if (!(table->estimated >> deltas[i].event & 1))
			continue;
		series->estimates = calloc(EVENTS_MAX, sizeof(*series->estimates));
		if (!series->estimates)
			return -ENOMEM;
	}
	return 0;
}

/* Allocates all memory that the plan needs, so that carrying it out cannot fail. */
static int reserve_for_plan(struct series_table *table, size_t exported, const struct series_input *inputs,
			    size_t n, const struct delta *unattributed, size_t n_unattributed)
{
	size_t missing = count_missing(&table->unattributed, unattributed, n_unattributed);
	u32 others = 0; /* bits: events of which a delta goes to `other` */
	int r;

	if (reserve_estimates(table, &table->unattributed, unattributed, n_unattributed) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct series *owner = owner_of(table, i);

		if (inputs[i].offcore && reserve_offcore(owner) < 0)
			return -ENOMEM;
		if (reserve_estimates(table, owner, inputs[i].deltas, inputs[i].n_deltas) < 0)
			return -ENOMEM;
		if (owner != &table->other)
			missing += count_missing(owner, inputs[i].deltas, inputs[i].n_deltas);
		else
			for (size_t k = 0; k < inputs[i].n_deltas; k++)
				others |= 1U << inputs[i].deltas[k].event;
	}
	for (size_t event = 0; event < EVENTS_MAX; event++)
		missing += others >> event & 1 && !table->other.counters[event];
	r = reserve(&table->list, MAX(exported + 2, table->n_list), sizeof(struct series *));
	if (r < 0)
		return r;
	r = reserve(&table->spare, MAX(missing, table->n_spare), sizeof(struct counters *));
	if (r < 0)
		return r;
	while (table->n_spare < missing) {
		struct counters *counters = calloc(1, sizeof(*counters));

		if (!counters)
			return -ENOMEM;
		table->spare[table->n_spare++] = counters;
	}
	return 0;
}

static void add(struct series_table *table, struct series *series, const struct delta *deltas, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const unsigned event = deltas[i].event;
		struct counters **counters = &series->counters[event];

		if (!*counters)
			*counters = table->spare[--table->n_spare];
		series->saved.moved |= 1U << event;
		packed_add(deltas[i].packed, deltas[i].size, *counters);
		if (table->estimated >> event & 1)
			series->estimates[event] +=
				(u64)((double)packed_weight(deltas[i].packed, deltas[i].size) *
					      table->factors[event] +
				      0.5);
	}
}

static void carry_out(struct series_table *table, u64 now_ns)
{
	table->n_list = 2; /* `other` and `unattributed` come first */
	table->n_ended = table->n_waiting = table->waiting_bytes = 0;
	table->some_idle = false;
	FOREACH_PATH (&table->paths, path) {
		const enum path_standing before = path->standing;

		path->series.saved.changed |= path->has_input || (path->excluded && path->series.cost > 0);
		path->series.cost = path->excluded ? 0 : path->next_cost;
		path->samples = path->excluded ? 0 : path->next_samples;
		if (path->excluded) /* forget_cheapest() compares it */
			path->next_cost = 0;
		if (path->has_input)
			path->seen_ns = now_ns;
		if (path->owns)
			path->standing = PATH_EXPORTED;
		if (path->standing == PATH_EXPORTED) {
			if (path->in_top)
				path->series.wanted_ns = now_ns;
			if (is_wanted(path, now_ns, SERIES_KEEP_NS + SERIES_LINGER_NS))
				table->list[table->n_list++] = &path->series;
			else
				path->standing = PATH_ENDED;
		}
		path->series.saved.changed |= path->standing != before;
		table->n_ended += path->standing == PATH_ENDED;
		if (path->standing != PATH_WAITING)
			continue;
		table->n_waiting++;
		table->waiting_bytes += path->bytes;
		if (now_ns - path->seen_ns >= SERIES_KEEP_NS)
			table->some_idle = true;
	}
}

static void drop_oldest_ended(struct series_table *table)
{
	struct series_path *oldest = NULL;

	FOREACH_PATH (&table->paths, path) {
		u64 wanted_ns = path->series.wanted_ns;

		if (path->standing != PATH_ENDED)
			continue;
		if (!oldest || wanted_ns < oldest->series.wanted_ns ||
		    (wanted_ns == oldest->series.wanted_ns &&
		     strcmp(path->series.path, oldest->series.path) < 0))
			oldest = path;
	}
	if (!oldest)
		return;
	path_free_counters(&oldest->series);
	forget_counters(table, &oldest->series);
	oldest->standing = PATH_WAITING;
	oldest->series.saved.changed = true;
	table->waiting_bytes += oldest->bytes;
}

static void forget_path(struct series_table *table, struct series_path *path)
{
	path->forget = true;
	forget_series(table, &path->series);
	table->waiting_bytes -= path->bytes;
}

/* Forgets the cheapest waiting paths until three quarters of the permitted memory are left. */
static void forget_cheapest(struct series_table *table)
{
	size_t n = 0;

	FOREACH_PATH (&table->paths, path)
		if (path->standing == PATH_WAITING && !path->forget)
			table->best[n++] = path;
	qsort(table->best, n, sizeof(*table->best), compare);
	while (n > 0 && table->waiting_bytes > SERIES_WAITING_BYTES / 4 * 3)
		forget_path(table, table->best[--n]);
}

static void forget(struct series_table *table, u64 now_ns)
{
	size_t waiting;

	for (; table->n_ended > table->top_largest * SERIES_ENDED_FACTOR; table->n_ended--) {
		drop_oldest_ended(table);
		table->n_waiting++;
		table->some_idle = true;
	}
	waiting = table->n_waiting;
	if (!table->some_idle && waiting <= SERIES_WAITING_MAX &&
	    table->waiting_bytes <= SERIES_WAITING_BYTES)
		return;
	FOREACH_PATH (&table->paths, path) {
		bool idle = now_ns - path->seen_ns >= SERIES_KEEP_NS || waiting > SERIES_WAITING_MAX;

		if (path->standing == PATH_WAITING && !path->has_input && idle) {
			forget_path(table, path);
			waiting--;
		}
	}
	if (table->waiting_bytes > SERIES_WAITING_BYTES)
		forget_cheapest(table);
	paths_sweep(&table->paths);
}

int series_table_update(struct series_table *table, u64 now_ns, const struct series_input *inputs, size_t n,
			const struct delta *unattributed, size_t n_unattributed)
{
	size_t exported;
	int r;

	if (now_ns < table->now_ns)
		now_ns = table->now_ns;
	r = reserve(&table->owners, n, sizeof(struct series_path *));
	if (r < 0)
		return r;
	r = plan_costs(table, now_ns, inputs, n);
	if (r < 0)
		return r;
	r = reserve(&table->best, table->paths.n, sizeof(struct series_path *));
	if (r < 0)
		return r;
	exported = plan_series(table, now_ns);
	r = reserve_for_plan(table, exported, inputs, n, unattributed, n_unattributed);
	if (r < 0)
		return r;

	for (size_t i = 0; i < n; i++) {
		add(table, owner_of(table, i), inputs[i].deltas, inputs[i].n_deltas);
		if (inputs[i].offcore) {
			offcore_scaled_add(owner_of(table, i)->offcore, inputs[i].offcore);
			owner_of(table, i)->saved.offcore_moved = true;
		}
	}
	add(table, &table->unattributed, unattributed, n_unattributed);
	table->other.wanted_ns = table->unattributed.wanted_ns = now_ns;
	carry_out(table, now_ns);
	table->now_ns = now_ns;
	forget(table, now_ns);
	free_spare(table);
	return 0;
}

int series_table_count_unattributed(struct series_table *table, const struct offcore_counts *delta)
{
	if (reserve_offcore(&table->unattributed) < 0)
		return -ENOMEM;
	offcore_scaled_add(table->unattributed.offcore, delta);
	table->unattributed.saved.offcore_moved = true;
	return 0;
}

const struct series *const *series_table_list(const struct series_table *table, size_t *ret_n)
{
	*ret_n = table->n_list;
	return table->list;
}

/*
 * A path that is idle and among the N gets a new `wanted_ns` at each collection, but `wanted_ns` is saved only
 * once in this time. So after a restart, a series may end earlier by at most this time.
 */
#define WANTED_GAP_NS (10 * NSEC_PER_SEC)

static u64 counters_key(u32 id, unsigned event)
{
	return (u64)id << 8 | event;
}

static void forget_counters(struct series_table *table, struct series *series)
{
	for (size_t event = 0; event < EVENTS_MAX; event++)
		state_remove(table->state, &series->saved.counters[event]);
	state_remove(table->state, &series->saved.offcore);
	state_remove(table->state, &series->saved.estimates);
	series->saved.moved = 0;
	series->saved.offcore_moved = false;
}

static void forget_series(struct series_table *table, struct series *series)
{
	forget_counters(table, series);
	state_remove(table->state, &series->saved.name);
	state_remove(table->state, &series->saved.standing);
}

static void save_counters(struct series_table *table, struct series *series)
{
	struct series_saved *saved = &series->saved;
	u8 packed[PACKED_MAX];

	for (u32 bits = saved->moved; bits; bits &= bits - 1) {
		unsigned event = (unsigned)__builtin_ctz(bits);

		state_put(table->state, &saved->counters[event], STATE_COUNTERS,
			  counters_key(saved->id, event), packed, packed_of(series->counters[event], packed));
	}
	if (saved->moved & table->estimated)
		state_put(table->state, &saved->estimates, STATE_ESTIMATES, saved->id, series->estimates,
			  EVENTS_MAX * sizeof(*series->estimates));
	saved->moved = 0;
	if (saved->offcore_moved)
		state_put(table->state, &saved->offcore, STATE_OFFCORE, saved->id, series->offcore,
			  sizeof(*series->offcore));
	saved->offcore_moved = false;
}

static void save_name(struct series_table *table, struct series *series)
{
	series->saved.id = table->next_id++;
	state_put(table->state, &series->saved.name, STATE_PATH, series->saved.id, series->path,
		  strlen(series->path));
}

static void save_standing(struct series_table *table, struct series_path *path)
{
	u8 bytes[(size_t)4 * VARINT_MAX + 2 * sizeof(double)];
	struct state_writer writer = {.to = bytes};
	struct series_saved *saved = &path->series.saved;

	state_put_number(&writer, path->standing);
	state_put_number(&writer, table->now_ns);
	state_put_number(&writer, table->now_ns - path->seen_ns);
	state_put_number(&writer, table->now_ns - path->series.wanted_ns);
	state_put_bytes(&writer, &path->series.cost, sizeof(path->series.cost));
	state_put_bytes(&writer, &path->samples, sizeof(path->samples));
	state_put(table->state, &saved->standing, STATE_SERIES, saved->id, bytes,
		  (size_t)(writer.to - bytes));
	saved->wanted_ns = path->series.wanted_ns;
	saved->changed = false;
}

void series_table_save(struct series_table *table)
{
	if (!state_saves(table->state))
		return;
	save_counters(table, &table->other);
	save_counters(table, &table->unattributed);
	FOREACH_PATH (&table->paths, path) {
		struct series_saved *saved = &path->series.saved;

		if (path->series.wanted_ns >= saved->wanted_ns + WANTED_GAP_NS)
			saved->changed = true;
		if (!saved->changed && !saved->moved && !saved->offcore_moved)
			continue;
		if (saved->id == 0)
			save_name(table, &path->series);
		if (saved->changed)
			save_standing(table, path);
		save_counters(table, &path->series);
	}
}

static int restore_event(struct series_table *table, struct series *series, unsigned event)
{
	const struct state_record *record =
		state_find(table->state, STATE_COUNTERS, counters_key(series->saved.id, event));

	if (!record)
		return 0;
	if (!packed_sound(record->bytes, record->length))
		return -EBADMSG;
	series->counters[event] = calloc(1, sizeof(struct counters));
	if (!series->counters[event])
		return -ENOMEM;
	packed_add(record->bytes, record->length, series->counters[event]);
	state_take(table->state, record, &series->saved.counters[event]);
	return 0;
}

/* A version without estimates saved no record of them. Then the estimates begin at 0. */
static int restore_estimates(struct series_table *table, struct series *series)
{
	const struct state_record *record = state_find(table->state, STATE_ESTIMATES, series->saved.id);

	if (!record)
		return 0;
	/* A version with fewer events saved fewer estimates. */
	if (record->length % sizeof(*series->estimates) != 0 ||
	    record->length > EVENTS_MAX * sizeof(*series->estimates))
		return -EBADMSG;
	series->estimates = calloc(EVENTS_MAX, sizeof(*series->estimates));
	if (!series->estimates)
		return -ENOMEM;
	memcpy(series->estimates, record->bytes, record->length);
	state_take(table->state, record, &series->saved.estimates);
	return 0;
}

static int restore_counters(struct series_table *table, struct series *series)
{
	const struct state_record *record = state_find(table->state, STATE_OFFCORE, series->saved.id);
	int r = restore_estimates(table, series);

	for (unsigned event = 0; event < EVENTS_MAX && r == 0; event++)
		r = restore_event(table, series, event);
	if (r < 0 || !record)
		return r;
	if (record->length != sizeof(*series->offcore))
		return -EBADMSG;
	series->offcore = malloc(sizeof(*series->offcore));
	if (!series->offcore)
		return -ENOMEM;
	memcpy(series->offcore, record->bytes, record->length);
	state_take(table->state, record, &series->saved.offcore);
	return 0;
}

static bool is_cost(double value)
{
	return isfinite(value) && value >= 0;
}

/* Without a record, the path keeps the standing of a new path. Costs decay to the table's time. */
static int restore_standing(struct series_table *table, struct series_path *path)
{
	const struct state_record *record = state_find(table->state, STATE_SERIES, path->series.saved.id);
	struct state_reader reader;
	u64 standing, at_ns, seen, wanted;
	double decay;

	if (!record)
		return 0;
	reader = (struct state_reader){.from = record->bytes, .end = record->bytes + record->length};
	standing = state_get_number(&reader);
	at_ns = state_get_number(&reader);
	seen = state_get_number(&reader);
	wanted = state_get_number(&reader);
	state_get_bytes(&reader, &path->series.cost, sizeof(path->series.cost));
	state_get_bytes(&reader, &path->samples, sizeof(path->samples));
	if (!state_read_whole(&reader) || standing > PATH_ENDED || at_ns > table->now_ns || seen > at_ns ||
	    wanted > at_ns || !is_cost(path->series.cost) || !is_cost(path->samples))
		return -EBADMSG;
	decay = exp2(-(double)(table->now_ns - at_ns) / (double)SERIES_HALF_LIFE_NS);
	path->series.cost *= decay;
	path->samples *= decay;
	path->standing = (enum path_standing)standing;
	path->seen_ns = at_ns - seen;
	path->series.wanted_ns = path->series.saved.wanted_ns = at_ns - wanted;
	state_take(table->state, record, &path->series.saved.standing);
	return 0;
}

static int restore_path(struct series_table *table, const struct state_record *record)
{
	struct state_reader reader = {.from = record->bytes, .end = record->bytes + record->length};
	_cleanup_free_ char *name = NULL;
	struct series_path *path;
	int r = state_get_string(&reader, PATH_MAX, &name);

	if (r < 0)
		return r;
	if (record->key < table->next_id || record->key >= UINT32_MAX || paths_find(&table->paths, name))
		return -EBADMSG;
	path = paths_get(&table->paths, name);
	if (!path)
		return -ENOMEM;
	path->series.saved.id = (u32)record->key;
	table->next_id = path->series.saved.id + 1;
	state_take(table->state, record, &path->series.saved.name);
	r = restore_standing(table, path);
	return r < 0 ? r : restore_counters(table, &path->series);
}

/* Rebuilds the list as the last update left it. */
static int list_exported(struct series_table *table)
{
	const struct series **list = reallocarray(table->list, table->paths.n + 2, sizeof(*list));

	if (!list)
		return -ENOMEM;
	table->list = list;
	FOREACH_PATH (&table->paths, path)
		if (path->standing == PATH_EXPORTED)
			table->list[table->n_list++] = &path->series;
	return 0;
}

int series_table_restore(struct series_table *table, struct state *state, u64 now_ns)
{
	const struct state_record *records;
	size_t n;
	int r;

	table->state = state;
	table->now_ns = now_ns;
	r = restore_counters(table, &table->other);
	if (r == 0)
		r = restore_counters(table, &table->unattributed);
	records = state_records(state, STATE_PATH, &n);
	for (size_t i = 0; i < n && r == 0; i++)
		r = restore_path(table, &records[i]);
	return r < 0 ? r : list_exported(table);
}
