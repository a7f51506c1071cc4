// SPDX-License-Identifier: GPL-2.0
/*
 * Saves the engine's own part of the state and restores it. Defines the order in which all parts are restored.
 */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/siphash.h"
#include "collect/packed.h"
#include "engine/engine_internal.h"
#include "state/state_bytes.h"
#include "state/state_kinds.h"

static void save_head(struct engine *engine)
{
	u8 bytes[(size_t)5 * VARINT_MAX];
	struct state_writer writer = {.to = bytes};

	state_put_number(&writer, kernel_hot_seed(engine->kernel));
	state_put_number(&writer, (u64)engine->head.since.tv_sec);
	state_put_number(&writer, (u64)engine->head.since.tv_nsec);
	state_put_number(&writer, engine->head.sequence);
	state_put_number(&writer, engine->settings.n_events);
	state_put(engine->settings.state, &engine->head_record, STATE_HEAD, 0, bytes,
		  (size_t)(writer.to - bytes));
}

/*
 * Only CLOCK_MONOTONIC is saved: the state does not outlive the kernel, and the other clock may have been set since
 * then.
 */
static void save_collected(struct engine *engine)
{
	u8 bytes[VARINT_MAX];
	struct state_writer writer = {.to = bytes};

	state_put_number(&writer, engine->collected_ns);
	state_put(engine->settings.state, &engine->collected_record, STATE_COLLECTED, 0, bytes,
		  (size_t)(writer.to - bytes));
}

/* Describes an event: saved counters must not be continued for a different event. */
static size_t describe_event(const struct engine *engine, unsigned event, u8 *to)
{
	const struct event *what = &engine->settings.events[event];
	struct state_writer writer = {.to = to};

	state_put_number(&writer, what->role);
	state_put_number(&writer, what->latency_kind);
	state_put_number(&writer, what->settings.has_latency);
	state_put_bytes(&writer, what->pmu, strnlen(what->pmu, sizeof(what->pmu)));
	if (what->count_kind != COUNT_NONE)
		state_put_number(&writer, what->count_kind);
	return (size_t)(writer.to - to);
}

#define EVENT_BYTES_MAX (4 * VARINT_MAX + EVENT_PMU_MAX)

static void save_event(struct engine *engine, unsigned event)
{
	u8 bytes[EVENT_BYTES_MAX];

	/* The description of an event does not change, so it is saved once. */
	if (engine->event_records[event].unit == 0)
		state_put(engine->settings.state, &engine->event_records[event], STATE_EVENT, event, bytes,
			  describe_event(engine, event, bytes));
}

/*
 * The saved numbers of a reading. The next process reads them in this order. The samples seen are not among them: they
 * follow from the totals.
 */
#define SAVED_NUMBERS(X)      \
	X(malformed)          \
	X(filtered)           \
	EVENT_COUNTS_SAVED(X) \
	X(unexplained)        \
	X(waiting_ns)

#define COUNT_(name) +1
enum { NUMBERS = SAVED_NUMBERS(COUNT_) };
#undef COUNT_

static void list_numbers(struct reading *reading, u64 *ret[NUMBERS])
{
	size_t n = 0;

#define APPEND_(name) ret[n++] = &reading->name;
	SAVED_NUMBERS(APPEND_)
#undef APPEND_
}

/*
 * Saves `base` separately: the counts of earlier processes are not part of the counts that the kernel side or
 * the origin continues.
 */
static void save_reading(struct engine *engine, unsigned event)
{
	u8 bytes[(size_t)2 * NUMBERS * VARINT_MAX];
	struct state_writer writer = {.to = bytes};
	u64 *numbers[NUMBERS];

	list_numbers(&engine->now[event], numbers);
	for (size_t i = 0; i < NUMBERS; i++)
		state_put_number(&writer, *numbers[i]);
	list_numbers(&engine->base[event], numbers);
	for (size_t i = 0; i < NUMBERS; i++)
		state_put_number(&writer, *numbers[i]);
	state_put(engine->settings.state, &engine->reading_records[event], STATE_READING, event, bytes,
		  (size_t)(writer.to - bytes));
}

static void save_offcore(struct engine *engine)
{
	u8 bytes[VARINT_MAX];
	struct state_writer writer = {.to = bytes};

	if (!engine->offcore_hash || engine->offcore_record.unit)
		return;
	state_put_number(&writer, engine->offcore_hash);
	state_put(engine->settings.state, &engine->offcore_record, STATE_OFFCORE_PMUS, 0, bytes,
		  (size_t)(writer.to - bytes));
}

void engine_save(struct engine *engine)
{
	struct state *state = engine->settings.state;
	int r;

	if (!state)
		return;
	/*
	 * By the first collection, all owners have restored their records. Remove records without an owner.
	 */
	state_settle(state);
	if (state_saves(state)) {
		save_head(engine);
		save_collected(engine);
		save_offcore(engine);
		for (unsigned event = 0; event < engine->settings.n_events; event++) {
			save_event(engine, event);
			save_reading(engine, event);
		}
		totals_save(engine->totals);
		collect_save(engine->collect);
		series_table_save(engine->series);
	}
	r = state_commit(state);
	if (r < 0)
		(void)log_warning(
			0,
			"cannot save the counters for the next process: %s; after a restart all counters start from zero%s",
			r == -ENOSPC ? "the saved state has reached its maximum size" : strerror(-r),
			r == -ENOMEM ? "; give pebsd more memory (MemoryMax= of the unit), then restart it"
				     : "");
}

u32 engine_records(void)
{
#define NAME_(name) #name ","
	static const char numbers[] = SAVED_NUMBERS(NAME_);
#undef NAME_
	static const struct siphash_key no_key;

	return STATE_RECORDS ^ counters_layout() ^ (u32)siphash_bytes(&no_key, numbers, sizeof(numbers));
}

struct state *engine_state(const struct engine *engine)
{
	return engine->settings.state;
}

bool engine_has_before(const struct engine_settings *settings)
{
	return state_find(settings->state, STATE_HEAD, 0);
}

/* The seed identifies the maps: it is drawn when they are created. */
static bool has_same_maps(const struct engine *engine)
{
	const struct state_record *record = state_find(engine->settings.state, STATE_HEAD, 0);
	struct state_reader reader = {.from = record->bytes, .end = record->bytes + record->length};

	return state_get_number(&reader) == kernel_hot_seed(engine->kernel);
}

/* Sets *ret_events to the number of events that the previous process had. */
static int restore_head(struct engine *engine, bool same_maps, unsigned *ret_events)
{
	struct state *state = engine->settings.state;
	const struct state_record *record = state_find(state, STATE_HEAD, 0);
	struct state_reader reader = {.from = record->bytes, .end = record->bytes + record->length};
	u64 seed = state_get_number(&reader), seconds = state_get_number(&reader),
	    ns = state_get_number(&reader), sequence = state_get_number(&reader),
	    n_events = state_get_number(&reader);

	(void)seed;
	if (!state_read_whole(&reader) || seconds >> 62 || ns >= NSEC_PER_SEC ||
	    n_events > engine->settings.n_events || (same_maps && n_events != engine->settings.n_events))
		return -EBADMSG;
	*ret_events = (unsigned)n_events;
	engine->head.since = (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)ns};
	engine->head.sequence = sequence;
	state_take(state, record, &engine->head_record);
	return 0;
}

/* Earlier versions did not save the time. A time after the start of this process is not of this kernel. */
static void restore_collected(struct engine *engine)
{
	struct state *state = engine->settings.state;
	const struct state_record *record = state_find(state, STATE_COLLECTED, 0);
	struct state_reader reader;
	u64 collected_ns, since_us;

	if (!record)
		return;
	reader = (struct state_reader){.from = record->bytes, .end = record->bytes + record->length};
	collected_ns = state_get_number(&reader);
	if (!state_read_whole(&reader) || collected_ns > engine->began.monotonic_ns)
		return;
	state_take(state, record, &engine->collected_record);
	since_us = (engine->began.monotonic_ns - collected_ns) / NSEC_PER_USEC;
	engine->began.monotonic_ns = collected_ns;
	engine->began.realtime_us -= since_us < engine->began.realtime_us ? since_us : 0;
}

/*
 * Off-core counts are saved by the number of their PMU. If another PMU may have that number now, they are dropped:
 * they would be shown as counts of that PMU. If this process counts none, they stay for a later one.
 */
static int restore_offcore(struct engine *engine)
{
	struct state *state = engine->settings.state;
	const struct state_record *record = state_find(state, STATE_OFFCORE_PMUS, 0);
	const u64 hash = engine->settings.offcore_hash;
	struct state_reader reader;

	if (!record)
		return 0;
	reader = (struct state_reader){.from = record->bytes, .end = record->bytes + record->length};
	engine->offcore_hash = state_get_number(&reader);
	if (!state_read_whole(&reader))
		return -EBADMSG;
	state_take(state, record, &engine->offcore_record);
	if (!hash || hash == engine->offcore_hash)
		return 0;
	(void)log_warning(
		0,
		"cannot continue the off-core counts of the previous process: they are of other PMUs; these counts start from zero");
	engine->offcore_hash = hash;
	state_remove(state, &engine->offcore_record);
	state_drop(state, STATE_COUNTED);
	state_drop(state, STATE_COUNTED_NEXT);
	state_drop(state, STATE_OFFCORE);
	return 0;
}

static int restore_event(struct engine *engine, unsigned event)
{
	struct state *state = engine->settings.state;
	const struct state_record *record = state_find(state, STATE_EVENT, event);
	u8 bytes[EVENT_BYTES_MAX];
	size_t size = describe_event(engine, event, bytes);

	if (!record || record->length != size || memcmp(record->bytes, bytes, size) != 0)
		return -EBADMSG;
	state_take(state, record, &engine->event_records[event]);
	return 0;
}

/* Counts whose source restarted at zero move to `base`, which is added to the live ones. */
static void begin_base(const struct reading *now, bool same_maps, bool counts_inherited, struct reading *base)
{
	const struct reading before = *base;

	*base = *now;
	if (same_maps) {
		base->malformed = before.malformed;
		base->filtered = before.filtered;
	}
	if (counts_inherited)
		event_counts_copy(base, &before);
}

static int restore_reading(struct engine *engine, unsigned event, bool same_maps)
{
	struct state *state = engine->settings.state;
	const struct state_record *record = state_find(state, STATE_READING, event);
	struct reading *now = &engine->now[event], *base = &engine->base[event];
	struct state_reader reader;
	u64 *numbers[NUMBERS];

	if (!record)
		return -EBADMSG;
	reader = (struct state_reader){.from = record->bytes, .end = record->bytes + record->length};
	list_numbers(now, numbers);
	for (size_t i = 0; i < NUMBERS; i++)
		*numbers[i] = state_get_number(&reader);
	list_numbers(base, numbers);
	for (size_t i = 0; i < NUMBERS; i++)
		*numbers[i] = state_get_number(&reader);
	if (!state_read_whole(&reader))
		return -EBADMSG;
	begin_base(now, same_maps, same_maps && engine->settings.counts_inherited, base);
	state_take(state, record, &engine->reading_records[event]);
	return 0;
}

/* Events that were added after those of the previous process begin at zero. */
static int restore_engine(struct engine *engine, bool same_maps)
{
	unsigned n_events = 0;
	int r = restore_head(engine, same_maps, &n_events);

	if (r == 0)
		r = restore_offcore(engine);
	for (unsigned event = 0; event < n_events && r == 0; event++) {
		r = restore_event(engine, event);
		if (r == 0)
			r = restore_reading(engine, event, same_maps);
	}
	return r;
}

static void add_entry(struct engine *engine, const struct totals_entry *entry)
{
	struct counters total;

	for (unsigned event = 0; event < engine->settings.n_events; event++)
		if (totals_has(entry, event)) {
			totals_counters(entry, event, &total);
			counters_add(&engine->sums[event], &total);
		}
}

/*
 * Early deltas are already in the totals, but the next collection adds them to the sums. Subtract them
 * here, so that they do not count twice.
 */
static int subtract_early(struct engine *engine)
{
	const struct delta *early;
	size_t n;

	early = deltas_list(collect_early(engine->collect), &n);
	for (size_t i = 0; i < n; i++) {
		struct packed_reader reader = {.from = early[i].packed,
					       .end = early[i].packed + early[i].size};
		u64 *values = (u64 *)&engine->sums[early[i].event];
		unsigned counter;
		u64 value;

		while (packed_get(&reader, &counter, &value)) {
			if (values[counter] < value)
				return -EBADMSG;
			values[counter] -= value;
		}
	}
	return 0;
}

static int add_up(struct engine *engine)
{
	struct totals_entry *const *entries;
	size_t n;
	int r;

	entries = totals_entries(engine->totals, &n);
	for (size_t i = 0; i < n; i++)
		add_entry(engine, entries[i]);
	add_entry(engine, totals_other(engine->totals));
	add_entry(engine, totals_unattributed(engine->totals));
	r = subtract_early(engine);
	for (unsigned event = 0; event < engine->settings.n_events; event++)
		engine->now[event].seen = counters_samples(&engine->sums[event]);
	return r;
}

bool engine_restore_times(struct engine *engine, bool same_maps)
{
	const bool before = engine_has_before(&engine->settings);

	engine->offcore_hash = engine->settings.offcore_hash;
	if (before)
		restore_collected(engine);
	/*
	 * Another process may have created new maps and died before its first commit. The slots of such maps
	 * began at zero, so the saved readings do not apply to them.
	 */
	same_maps = same_maps && before && has_same_maps(engine);
	if (same_maps)
		engine->windows_began = engine->began;
	return same_maps;
}

int engine_restore(struct engine *engine, bool same_maps)
{
	struct state *state = engine->settings.state;
	const bool before = engine_has_before(&engine->settings);
	u64 now_ns = engine->collected_ns;
	int r = 0;

	if (!state)
		return 0;
	if (before)
		r = restore_engine(engine, same_maps);
	if (r == 0)
		r = totals_restore(engine->totals, state);
	if (r == 0)
		r = collect_restore(engine->collect, same_maps, now_ns);
	if (r == 0)
		r = series_table_restore(engine->series, state, now_ns);
	if (r == 0 && before)
		r = add_up(engine);
	if (r < 0)
		return r;
	/* Windows begin there. Counts up to then are not part of them. */
	if (before)
		readings_push(engine->readings, engine->windows_began.monotonic_ns, engine->now);
	return 0;
}
