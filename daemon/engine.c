// SPDX-License-Identifier: GPL-2.0
#include "engine.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "engine_offcore.h"
#include "snapshot_build.h"
#include "snapshot_cpus.h"

/* How far back a window reaches: as long as the entry of a removed cgroup is kept. */
#define WINDOW_NS SERIES_KEEP_NS

/* In so much memory: what many busy cgroups bring in ten minutes is far more; older collections are added up
 * then (window.h), and of thousands it reaches less far back (tests/bench/window_reach). Of what is busy
 * counts the most of late, which is forgotten by half in so long. */
#define WINDOW_BYTES               ((size_t)3 << 20)
#define WINDOW_BYTES_A_ACTIVE      256 /* cgroup and event */
#define WINDOW_ACTIVE_HALF_LIFE_NS (60 * NSEC_PER_SEC)

/* Removed cgroups whose figures are kept apart for that long: at least so many, or twice the slots. */
#define DEAD_MIN 1024

struct engine {
	struct engine_settings settings;
	struct kernel *kernel;
	struct names *names;
	struct ledger *ledger;
	struct collect *collect;
	struct series_table *series;
	struct window *window;
	struct readings *readings;
	struct engine_offcore *offcore;           /* NULL: none are counted */
	struct reading now[EVENTS_MAX];           /* of the last collection */
	struct snapshot_cpu *per_cpu[EVENTS_MAX]; /* the head's */
	u64 filtered_by_stripe[EVENTS_MAX][STRIPES_MAX];
	struct figures *totals; /* of each event, since the start */
	double active;          /* differences a collection, the most of late */
	u32 exports_as_of;      /* number of the patterns that `exported` goes by */
	u64 collected_ns;       /* CLOCK_MONOTONIC of the last collection */
	struct snapshot head;
	struct snapshot *all;      /* of the last collection; NULL: not asked for yet */
	struct snapshot *summary;  /* likewise */
	struct snapshot *windowed; /* the last one asked for */
	u64 births_without_slot;   /* when the last adoption began */
	bool adoption_incomplete;  /* it found too few free slots */
	u64 *guests;               /* ids of cgroups with virtual machines, ascending */
	size_t n_guests;
};

static u64 to_ns(const struct timespec *time)
{
	return (u64)time->tv_sec * NSEC_PER_SEC + (u64)time->tv_nsec;
}

static u64 monotonic_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return to_ns(&now);
}

static void describe_events(struct engine *engine)
{
	struct snapshot *head = &engine->head;

	head->n_events = engine->settings.n_events;
	for (size_t i = 0; i < head->n_events; i++) {
		head->events[i].event = engine->settings.events[i];
		event_key(engine->settings.events, head->n_events, i, head->events[i].key);
	}
}

static int open_books(struct engine *engine)
{
	const struct engine_settings *settings = &engine->settings;
	int r;

	(void)clock_gettime(CLOCK_REALTIME, &engine->head.since);
	engine->collected_ns = monotonic_ns();
	engine->exports_as_of = 1;
	engine->totals = calloc(settings->n_events + 1, sizeof(*engine->totals));
	if (!engine->totals)
		return -ENOMEM;
	if ((r = names_new(2 * (size_t)settings->slots + 1024, &engine->names)) < 0 ||
	    (r = ledger_new(&engine->ledger)) < 0 ||
	    (r = series_table_new(settings->top, &engine->series)) < 0 ||
	    (r = window_new(WINDOW_BYTES, WINDOW_NS, engine->collected_ns, &engine->head.since,
			    &engine->window)) < 0 ||
	    (r = readings_new(WINDOW_NS, settings->n_events, &engine->readings)) < 0 ||
	    (r = engine_offcore_new(engine->kernel, engine->ledger, WINDOW_NS, monotonic_ns(),
				    &engine->head.since, &engine->offcore)) < 0)
		return r;
	series_table_expect(engine->series, settings->events, settings->n_events);
	return collect_new(
		&(struct collect_settings){
			.kernel = engine->kernel,
			.names = engine->names,
			.ledger = engine->ledger,
			.names_from_slots = settings->births,
			.grace_ns = COLLECT_GRACE_NS,
			.listener = settings->listener,
			.hot = settings->hot,
			.hot_userdata = settings->userdata,
		},
		&engine->collect);
}

int engine_open(const struct engine_settings *settings, struct engine **ret, char **ret_message)
{
	_cleanup_(engine_freep) struct engine *engine = calloc(1, sizeof(*engine));
	struct kernel_settings kernel = {
		.slots = settings->slots,
		.stripes = settings->stripes,
		.births = settings->births,
		.hardware = settings->hardware,
		.offcore_cpus = settings->offcore_cpus,
		.hot_max = settings->hot_max,
		.n_events = settings->n_events,
	};
	int r;

	*ret_message = NULL;
	if (!engine)
		return -ENOMEM;
	engine->settings = *settings;
	for (size_t i = 0; i < settings->n_events; i++)
		kernel.events[i] = settings->events[i].settings;
	r = kernel_open(&kernel, &engine->kernel, ret_message);
	if (r < 0)
		return r;
	r = open_books(engine);
	if (r < 0)
		return r;
	engine->head.origin = settings->origin;
	engine->head.slots = settings->slots;
	engine->head.stripes = kernel_stripes(engine->kernel);
	engine->head.map_bytes = kernel_map_bytes(engine->kernel);
	engine->head.interval_seconds = (double)settings->interval_ns / (double)NSEC_PER_SEC;
	describe_events(engine);
	*ret = TAKE_PTR(engine);
	return 0;
}

static void forget_snapshots(struct engine *engine)
{
	engine->all = snapshot_free(engine->all);
	engine->summary = snapshot_free(engine->summary);
	engine->windowed = snapshot_free(engine->windowed);
}

struct engine *engine_free(struct engine *engine)
{
	if (!engine)
		return NULL;
	forget_snapshots(engine);
	for (size_t event = 0; event < EVENTS_MAX; event++)
		free(engine->per_cpu[event]);
	engine_offcore_free(engine->offcore);
	readings_free(engine->readings);
	window_free(engine->window);
	series_table_free(engine->series);
	collect_free(engine->collect);
	ledger_free(engine->ledger);
	names_free(engine->names);
	kernel_free(engine->kernel);
	free(engine->guests);
	free(engine->totals);
	free(engine);
	return NULL;
}

struct kernel *engine_kernel(const struct engine *engine)
{
	return engine->kernel;
}

struct names *engine_names(const struct engine *engine)
{
	return engine->names;
}

int engine_adopt(struct engine *engine, u64 cgroup_id, const char *path)
{
	int r = names_add_path(engine->names, cgroup_id, path);

	if (r == 0)
		r = kernel_adopt(engine->kernel, cgroup_id, 0, path);
	if (r < 0)
		return r;
	collect_adopted(engine->collect, (u32)r, path, monotonic_ns());
	return 0;
}

size_t engine_window_bytes(double active)
{
	return WINDOW_BYTES + (size_t)(active * WINDOW_BYTES_A_ACTIVE);
}

/* How much of the past is held follows what a collection brings, with some patience. */
static void size_window(struct engine *engine, u64 elapsed_ns, size_t n)
{
	engine->active *= exp2(-(double)elapsed_ns / (double)WINDOW_ACTIVE_HALF_LIFE_NS);
	engine->active = fmax(engine->active, (double)n);
	window_limit(engine->window, engine_window_bytes(engine->active));
}

/* Less of a window is no loss of figures: a failure is told and no more. */
static void fill_window(struct engine *engine, u64 elapsed_ns)
{
	const struct difference *list;
	size_t n;
	int r;

	list = engine_differences(engine, &n);
	size_window(engine, elapsed_ns, n);
	window_begin(engine->window, engine->collected_ns, &engine->head.taken);
	for (size_t i = 0; i < n; i++)
		window_put(engine->window, list[i].entry->number, list[i].event, list[i].pairs, list[i].size);
	r = window_end(engine->window);
	if (r < 0)
		(void)log_warning(r, "cannot keep this collection for windows; they begin anew");
}

static void add_totals(struct engine *engine)
{
	const struct difference *list;
	size_t n;

	list = engine_differences(engine, &n);
	for (size_t i = 0; i < n; i++) {
		engine->now[list[i].event].seen += pairs_samples(list[i].pairs, list[i].size);
		pairs_add(list[i].pairs, list[i].size, &engine->totals[list[i].event]);
	}
}

bool engine_exports(const struct engine *engine, struct ledger_entry *entry)
{
	if (entry == ledger_unattributed(engine->ledger))
		return false;
	if (entry->exports_as_of != engine->exports_as_of) {
		entry->exports = engine->settings.exported(entry->path, engine->settings.userdata);
		entry->exports_as_of = engine->exports_as_of;
	}
	return entry->exports;
}

void engine_exports_changed(struct engine *engine)
{
	engine->exports_as_of++;
}

/* What a collection brought, as the series take it. */
struct series_inputs {
	struct series_input *list;
	size_t n;
	const struct difference *unattributed;
	size_t n_unattributed;
};

/* Differences of one entry, or of one of its slots, come one after another. */
static void list_sampled(const struct engine *engine, struct series_inputs *inputs)
{
	const struct difference *list;
	size_t n;

	list = engine_differences(engine, &n);
	for (size_t i = 0, next; i < n; i = next) {
		struct ledger_entry *entry = list[i].entry;

		for (next = i + 1; next < n && list[next].entry == entry;)
			next++;
		if (entry == ledger_unattributed(engine->ledger)) {
			inputs->unattributed = &list[i];
			inputs->n_unattributed = next - i;
		} else {
			inputs->list[inputs->n++] = (struct series_input){
				.path = entry->path,
				.exported = engine_exports(engine, entry),
				.differences = &list[i],
				.n_differences = next - i,
			};
		}
	}
}

static void list_counted(const struct engine *engine, struct series_inputs *inputs)
{
	struct ledger_entry *const *entries;
	size_t n;

	entries = ledger_entries(engine->ledger, &n);
	for (size_t i = 0; i < n; i++)
		if (entries[i]->offcore_difference)
			inputs->list[inputs->n++] = (struct series_input){
				.path = entries[i]->path,
				.exported = engine_exports(engine, entries[i]),
				.offcore = entries[i]->offcore_difference,
			};
}

static int fill_series(struct engine *engine)
{
	const struct ledger_entry *unattributed = ledger_unattributed(engine->ledger);
	_cleanup_free_ struct series_input *list = NULL;
	struct series_inputs inputs = {0};
	size_t n, n_entries = 0;
	int r;

	(void)engine_differences(engine, &n);
	if (engine->offcore)
		(void)ledger_entries(engine->ledger, &n_entries);
	inputs.list = list = calloc(n + n_entries + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	list_sampled(engine, &inputs);
	if (engine->offcore)
		list_counted(engine, &inputs);
	r = series_table_update(engine->series, engine->collected_ns, inputs.list, inputs.n,
				inputs.unattributed, inputs.n_unattributed);
	if (r == 0 && unattributed->offcore_difference)
		r = series_table_count_unattributed(engine->series, unattributed->offcore_difference);
	return r;
}

static void read_losses(struct engine *engine, unsigned event)
{
	struct reading *now = &engine->now[event];

	now->malformed = now->filtered = 0;
	for (u32 stripe = 0; stripe < engine->head.stripes; stripe++) {
		struct loss_record losses = kernel_losses(engine->kernel, event, stripe);

		now->malformed += losses.malformed;
		now->filtered += losses.filtered;
		engine->filtered_by_stripe[event][stripe] = losses.filtered;
	}
}

static void read_events(struct engine *engine)
{
	if (engine->settings.count)
		engine->settings.count(engine->now, engine->settings.count_userdata);
	for (unsigned event = 0; event < engine->settings.n_events; event++)
		read_losses(engine, event);
}

/* After the slots were read. Without memory for it an event has no figures by CPU this time. */
static void fill_cpus(struct engine *engine, unsigned event)
{
	struct snapshot_event *head = &engine->head.events[event];
	const struct cpu_counts *counts;
	struct snapshot_cpu *longer;
	size_t n;

	head->n_per_cpu = 0;
	if (!engine->settings.count_cpus || head->event.period == 0)
		return;
	counts = engine->settings.count_cpus(event, &n, engine->settings.count_userdata);
	longer = n ? reallocarray(engine->per_cpu[event], n, sizeof(*longer)) : NULL;
	if (!longer)
		return;
	engine->per_cpu[event] = longer;
	snapshot_cpus(counts, n, collect_seen_by_stripe(engine->collect, event),
		      head->event.settings.operations ? engine->filtered_by_stripe[event] : NULL,
		      engine->settings.stripes, longer);
	head->per_cpu = longer;
	head->n_per_cpu = n;
}

static int enter_differences(struct engine *engine, u64 elapsed_ns,
			     int (*read)(struct collect *collect, u64 now_ns))
{
	struct reading before[EVENTS_MAX];
	int r;

	memcpy(before, engine->now, sizeof(before));
	/* The origin's count first: samples that come while the slots are read are seen, not lost. */
	read_events(engine);
	if (engine->settings.offcore_collect)
		engine->settings.offcore_collect(engine->settings.count_userdata);
	r = read(engine->collect, engine->collected_ns);
	/* Also where it ended early: what it has entered is in this collection's differences alone. */
	add_totals(engine);
	fill_window(engine, elapsed_ns);
	engine_offcore_enter(engine->offcore, engine->collected_ns, &engine->head.taken, &engine->head);
	if (r == 0)
		r = fill_series(engine);
	else
		(void)fill_series(engine);
	for (unsigned event = 0; event < engine->settings.n_events; event++) {
		reading_settle(&engine->now[event], &before[event]);
		fill_cpus(engine, event);
	}
	readings_push(engine->readings, engine->collected_ns, engine->now);
	return r;
}

/* Entries of cgroups long gone, or of more of them than there ever were slots, are folded. */
static int fold(struct engine *engine)
{
	u64 before_ns = engine->collected_ns > WINDOW_NS ? engine->collected_ns - WINDOW_NS : 0;
	size_t most = 2 * (size_t)engine->settings.slots;

	return ledger_fold(engine->ledger, before_ns, most < DEAD_MIN ? DEAD_MIN : most);
}

static int collect(struct engine *engine, int (*read)(struct collect *collect, u64 now_ns))
{
	const u64 before_ns = engine->collected_ns;
	struct snapshot *head = &engine->head;
	int r, folded;

	forget_snapshots(engine);
	engine->collected_ns = monotonic_ns();
	(void)clock_gettime(CLOCK_REALTIME, &head->taken);
	/* Before the slots are read: differences name their entries until the next collection. */
	folded = fold(engine);
	r = enter_differences(engine, engine->collected_ns - before_ns, read);
	if (r == 0)
		r = folded;
	ledger_mark_guests(engine->ledger, engine->guests, engine->n_guests);

	head->sequence++;
	head->cgroups_alive = collect_cgroups_alive(engine->collect);
	head->slots_free = collect_slots_free(engine->collect);
	head->births_without_slot = kernel_slot_counters(engine->kernel).births_without_slot;
	head->collection_seconds = (double)(monotonic_ns() - engine->collected_ns) / (double)NSEC_PER_SEC;
	return r < 0 ? log_error(r, "not all figures of this collection are entered") : 0;
}

int engine_collect(struct engine *engine)
{
	return collect(engine, collect_run);
}

int engine_collect_last(struct engine *engine)
{
	return collect(engine, collect_last);
}

/* `span_ns` 0: the whole time. */
static int snapshot_of(struct engine *engine, struct window_sums *sums, u64 span_ns,
		       const struct reading *readings, struct snapshot **ret)
{
	struct offcore_sums *offcore;
	int r = engine_offcore_sums(engine->offcore, span_ns, &offcore);

	if (r < 0) {
		window_sums_free(sums);
		return r;
	}
	return snapshot_build(
		&(struct snapshot_sources){
			.head = &engine->head,
			.ledger = engine->ledger,
			.sums = sums,
			.offcore = offcore,
			.readings = readings,
			.synthetic = engine->settings.synthetic,
		},
		ret);
}

static int windowed_snapshot(struct engine *engine, double seconds)
{
	struct reading readings[EVENTS_MAX] = {0};
	struct window_sums *sums;
	u64 since_ns, span_ns;
	int r;

	/* Longer than is ever held is all that is held. */
	if (seconds > (double)WINDOW_NS / (double)NSEC_PER_SEC)
		seconds = (double)WINDOW_NS / (double)NSEC_PER_SEC;
	span_ns = (u64)(seconds * (double)NSEC_PER_SEC);
	r = window_sum(engine->window, span_ns, &sums);
	if (r < 0)
		return r;
	since_ns = engine->collected_ns > sums->span.covered_ns ? engine->collected_ns - sums->span.covered_ns
								: 0;
	for (unsigned event = 0; event < engine->settings.n_events; event++) {
		struct reading before = readings_at(engine->readings, event, since_ns);

		readings[event] = reading_difference(&engine->now[event], &before);
	}
	engine->windowed = snapshot_free(engine->windowed);
	/* Both windows have the same collections; at least the last one is taken. */
	return snapshot_of(engine, sums, span_ns ? span_ns : 1, readings, &engine->windowed);
}

/* What may have changed since the collection that a snapshot was built from. */
static void refresh(struct snapshot *snapshot, const struct snapshot *head)
{
	snapshot->notes = head->notes;
	snapshot->replay_done = head->replay_done;
	snapshot->config_reloaded = head->config_reloaded;
	snapshot->config_time = head->config_time;
	snapshot->interval_seconds = head->interval_seconds;
	snapshot->paused = head->paused;
	snapshot->paused_until = head->paused_until;
}

int engine_snapshot(struct engine *engine, const struct maybe_double *window_seconds,
		    const struct snapshot **ret)
{
	int r;

	if (engine->head.sequence == 0)
		return -ENODATA;
	if (window_seconds->known) {
		r = windowed_snapshot(engine, window_seconds->value);
		*ret = engine->windowed;
		return r;
	}
	if (!engine->all) {
		r = snapshot_of(engine, NULL, 0, engine->now, &engine->all);
		if (r < 0)
			return r;
	}
	refresh(engine->all, &engine->head);
	*ret = engine->all;
	return 0;
}

void engine_release_window(struct engine *engine)
{
	engine->windowed = snapshot_free(engine->windowed);
}

int engine_summary(struct engine *engine, const struct snapshot **ret)
{
	const struct snapshot_sources sources = {
		.head = &engine->head,
		.ledger = engine->ledger,
		.readings = engine->now,
		.synthetic = engine->settings.synthetic,
	};
	int r;

	if (engine->head.sequence == 0)
		return -ENODATA;
	if (!engine->summary) {
		r = snapshot_build_summary(&sources, engine->totals, &engine->summary);
		if (r < 0)
			return r;
	}
	refresh(engine->summary, &engine->head);
	*ret = engine->summary;
	return 0;
}

u64 engine_collected_ns(const struct engine *engine)
{
	return engine->collected_ns;
}

const struct difference *engine_differences(const struct engine *engine, size_t *ret_n)
{
	return differences_list(collect_differences(engine->collect), ret_n);
}

int engine_slots_short_fd(const struct engine *engine)
{
	return kernel_slots_short_fd(engine->kernel);
}

int engine_make_room(struct engine *engine, u64 *ret_again_ns)
{
	/* It may read slots: snapshots make cgroups' figures of what is in the books. */
	forget_snapshots(engine);
	/* First: who needs a slot after the look at them tells again. */
	kernel_slots_told(engine->kernel);
	return collect_make_room(engine->collect, monotonic_ns(), ret_again_ns);
}

struct reading engine_reading(const struct engine *engine, unsigned event)
{
	return engine->now[event];
}

const struct series *const *engine_series(const struct engine *engine, size_t *ret_n)
{
	return series_table_list(engine->series, ret_n);
}

const struct ledger_entry *engine_find(const struct engine *engine, const char *path)
{
	return ledger_find(engine->ledger, path);
}

struct ledger_entry *const *engine_entries(const struct engine *engine, size_t *ret_n)
{
	return ledger_entries(engine->ledger, ret_n);
}

const struct window *engine_window(const struct engine *engine)
{
	return engine->window;
}

int engine_hot_choose(struct engine *engine, const char *path, u64 until_ns)
{
	return collect_hot_choose(engine->collect, path, until_ns, monotonic_ns());
}

bool engine_hot_choice(const struct engine *engine, const char *path, struct hot_choice *ret)
{
	return hot_choices_find(collect_hot(engine->collect), path, ret);
}

const char *engine_hot_nth(const struct engine *engine, size_t index)
{
	return hot_choices_nth(collect_hot(engine->collect), index);
}

size_t engine_hot_max(const struct engine *engine)
{
	return kernel_hot_max(engine->kernel);
}

void engine_set_hot(struct engine *engine, bool (*chosen)(const char *path, void *userdata), void *userdata)
{
	collect_set_hot(engine->collect, chosen, userdata);
}

int engine_hot_places(const struct engine *engine, const char *path, unsigned event, enum hot_kind kind,
		      struct hot_places *ret)
{
	return collect_hot_places(engine->collect, path, event, kind, ret);
}

struct snapshot *engine_head(struct engine *engine)
{
	return &engine->head;
}

void engine_mark_guests(struct engine *engine, u64 *ids, size_t n)
{
	free(engine->guests);
	engine->guests = ids;
	engine->n_guests = n;
}

void engine_set_top(struct engine *engine, size_t top)
{
	engine->settings.top = top;
	series_table_set_top(engine->series, top);
}

bool engine_should_adopt(const struct engine *engine)
{
	bool wanted =
		engine->adoption_incomplete || engine->head.births_without_slot > engine->births_without_slot;

	return wanted && engine->head.slots_free > engine->head.slots / 8;
}

void engine_adopting(struct engine *engine)
{
	engine->births_without_slot = kernel_slot_counters(engine->kernel).births_without_slot;
}

void engine_adopted(struct engine *engine, bool complete)
{
	engine->adoption_incomplete = !complete;
}
