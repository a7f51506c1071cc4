// SPDX-License-Identifier: GPL-2.0
#include "history/past.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/json_get.h"
#include "collect/totals.h"
#include "history/past_events.h"
#include "snapshot/snapshot_build.h"

#define USEC_PER_SEC 1000000ULL

/* Shorter gaps are those between the end of a pane and the end of the range. */
#define GAP_MIN_US USEC_PER_SEC

/* Memory of the trend: at most this. */
#define PAST_TREND_BYTES (TREND_BYTES / 2)

/* Twice this time does not overflow. */
#define TREND_SPAN_MAX_NS (UINT64_MAX / 4)

/* Neighbours are compared in bins of at least one pane, and about this many if there are more panes. */
#define NEIGHBOURS_BINS 120

/* Half panes of 20 minutes. */
#define PANES_BINS 240

/* A pane that claims to cover more is not believed: no history keeps panes that long. */
#define COVERED_MAX_NS (3660ULL * 86400 * NSEC_PER_SEC)

/* Notes: two for each event, one for what cannot be read, one of the caller, and NULL. */
#define NOTES_MAX (2 * EVENTS_MAX + 3)

/* The labels of a cgroup. */
struct past_labels {
	const char *json;            /* borrowed from a pane; NULL: none */
	struct container *container; /* made of it when it is needed first */
	struct container_labels *texts;
};

struct past {
	struct past_span range;
	const struct history_pane *panes;
	size_t n;
	struct past_events events;
	struct totals *totals;
	struct window *window;
	struct trend *trend;
	struct readings *readings;
	struct reading *after; /* of all events after each pane, EVENTS_MAX for a pane */
	u64 now_ns;            /* the time that the panes cover */
	u64 longest_ns;        /* of one pane */
	u64 trend_ns;          /* end of the last collection of the trend */
	struct snapshot head;
	struct snapshot *snapshot;
	size_t n_gaps;
	struct past_span *gaps;
	size_t n_notes;
	char *notes[NOTES_MAX];
	size_t n_labels;
	struct past_labels *labels; /* by the number of an entry of the totals */
	struct container_lookup lookup;
};

struct past *past_free(struct past *past)
{
	if (!past)
		return NULL;
	snapshot_free(past->snapshot);
	window_free(past->window);
	trend_free(past->trend);
	readings_free(past->readings);
	totals_free(past->totals);
	free(past->after);
	free(past->gaps);
	for (size_t i = 0; i < past->n_notes; i++)
		free(past->notes[i]);
	for (size_t i = 0; i < past->n_labels; i++) {
		free(past->labels[i].container);
		free(past->labels[i].texts);
	}
	free(past->labels);
	free(past);
	return NULL;
}

/* A pane without any time would make rates infinite. */
static u64 covered_ns(const struct history_pane *pane)
{
	u64 covered = pane->covered_ns ? pane->covered_ns : NSEC_PER_MSEC;

	return covered < COVERED_MAX_NS ? covered : COVERED_MAX_NS;
}

static int entry_of(const struct past *past, const char *path, struct totals_entry **ret)
{
	*ret = totals_other(past->totals);
	if (strcmp(path, (*ret)->path) == 0)
		return 0;
	*ret = totals_unattributed(past->totals);
	if (strcmp(path, (*ret)->path) == 0)
		return 0;
	return totals_get(past->totals, path, ret);
}

static const struct container *find_labels(void *userdata, const char *path)
{
	struct past *past = userdata;
	const struct totals_entry *entry = totals_find(past->totals, path);
	struct past_labels *labels;
	_cleanup_json_ json_object *object = NULL;

	if (!entry || entry->number >= past->n_labels)
		return NULL;
	labels = &past->labels[entry->number];
	if (labels->container || !labels->json)
		return labels->container;
	if (json_parse(labels->json, strlen(labels->json), 4, &object) < 0)
		return NULL;
	labels->container = calloc(1, sizeof(*labels->container));
	labels->texts = calloc(1, sizeof(*labels->texts));
	if (!labels->container || !labels->texts)
		return labels->container;
	for (enum container_label label = 0; label < CONTAINER_LABELS; label++) {
		const char *text = json_get_text(object, container_label_name(label));

		if (!text || !text[0] || strlen(text) >= CONTAINER_TEXT_MAX)
			continue;
		(void)stpcpy(labels->texts->text[label], text);
		labels->container->text[label] = labels->texts->text[label];
	}
	return labels->container;
}

static int enter_cgroup(struct past *past, const struct history_cgroup *cgroup, struct totals_entry **ret)
{
	int r = entry_of(past, cgroup->path, ret);

	if (r < 0)
		return r;
	if (cgroup->id)
		(*ret)->id = cgroup->id;
	/* The cgroup existed then. `other` is not a cgroup. */
	(*ret)->living = *ret != totals_other(past->totals);
	if (!cgroup->labels[0])
		return 0;
	if ((*ret)->number >= past->n_labels) {
		size_t room = 2 * (size_t)(*ret)->number + 16;
		struct past_labels *grown = reallocarray(past->labels, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + past->n_labels, 0, (room - past->n_labels) * sizeof(*grown));
		past->labels = grown;
		past->n_labels = room;
	}
	past->labels[(*ret)->number].json = cgroup->labels;
	return 0;
}

/* The rows of a pane that count, with the numbers of the entry and the event. */
struct put_rows {
	const struct past *past;
	const struct history_pane *pane;
	const struct totals_entry *const *entries; /* by the pane's numbers of cgroups */
	void (*put)(void *userdata, u32 entry, unsigned event, const struct history_row *row);
	void *userdata;
};

static void put_rows(const struct put_rows *rows)
{
	for (size_t i = 0; i < rows->pane->n_rows; i++) {
		const struct history_row *row = &rows->pane->rows[i];
		const struct past_text *text =
			past_events_text(&rows->past->events, rows->pane->events[row->event].settings);

		if (text && text->same)
			rows->put(rows->userdata, rows->entries[row->cgroup]->number, text->event, row);
	}
}

static void put_window(void *userdata, u32 entry, unsigned event, const struct history_row *row)
{
	window_put(userdata, entry, event, row->packed, row->size);
}

/* A row that the trend has no memory for is missing in the trend alone. */
static void put_both(void *userdata, u32 entry, unsigned event, const struct history_row *row)
{
	struct past *past = userdata;

	window_put(past->window, entry, event, row->packed, row->size);
	(void)trend_put(past->trend, entry, event, row->packed, row->size);
}

/* Returns true if sampling was paused all the time: a pane begins and ends with a pause (panes.h). */
static bool was_paused(const struct history_pane *pane)
{
	bool paused = false;

	for (size_t i = 0; i < pane->n_events; i++) {
		if (pane->events[i].seen || pane->events[i].running_ns)
			return false;
		paused = paused || pane->events[i].paused_ns;
	}
	return paused;
}

/* The time from the start of the range, which is before it if negative. */
static s64 trend_time(const struct past *past, u64 us)
{
	const u64 since_us = past->range.since_us;
	const s64 distance_us =
		(s64)MIN(us > since_us ? us - since_us : since_us - us, TREND_SPAN_MAX_NS / 1000);

	return us > since_us ? distance_us * 1000 : -distance_us * 1000;
}

/* The trend's clock may not go back, as the clock of the panes may. */
static int begin_trend(struct past *past, const struct history_pane *pane)
{
	const s64 end_ns = trend_time(past, pane->end_us);
	const s64 start_ns = MIN(trend_time(past, pane->start_us), end_ns - 1);
	const u64 clock_ns = (u64)MAX(end_ns, 0);
	int r;

	past->trend_ns = clock_ns > past->trend_ns ? clock_ns : past->trend_ns + 1;
	r = trend_begin(past->trend, past->trend_ns);
	return r < 0 ? r
		     : trend_stretch(past->trend, start_ns, end_ns, was_paused(pane) ? 0 : covered_ns(pane));
}

static int enter_cgroups(struct past *past, const struct history_pane *pane, const struct totals_entry ***ret)
{
	_cleanup_free_ const struct totals_entry **entries = calloc(pane->n_cgroups + 1, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < pane->n_cgroups; i++) {
		struct totals_entry *entry;
		int r = enter_cgroup(past, &pane->cgroups[i], &entry);

		if (r < 0)
			return r;
		entries[i] = entry;
	}
	*ret = TAKE_PTR(entries);
	return 0;
}

static int enter_pane(struct past *past, size_t index)
{
	const struct history_pane *pane = &past->panes[index];
	struct reading *after = past->after + index * EVENTS_MAX;
	const struct timespec end = realtime_of_us(pane->end_us);
	_cleanup_free_ const struct totals_entry **entries = NULL;
	struct put_rows rows = {.past = past, .pane = pane, .put = put_both, .userdata = past};
	int r = enter_cgroups(past, pane, &entries);

	if (r == 0)
		r = begin_trend(past, pane);
	if (r < 0)
		return r;
	rows.entries = entries;
	past->now_ns += covered_ns(pane);
	past->longest_ns = covered_ns(pane) > past->longest_ns ? covered_ns(pane) : past->longest_ns;
	window_begin(past->window, past->now_ns, &end);
	put_rows(&rows);
	r = window_end(past->window);
	if (r < 0)
		return r;
	for (size_t event = 0; event < EVENTS_MAX; event++)
		after[event] = index ? after[(ssize_t)event - EVENTS_MAX]
				     : (struct reading){.counted = true, .throttle_known = true};
	past_events_read(&past->events, pane, after);
	readings_push(past->readings, past->now_ns, after);
	return 0;
}

static int find_gaps(struct past *past)
{
	u64 at = past->range.since_us;

	past->gaps = calloc(past->n + 1, sizeof(*past->gaps));
	if (!past->gaps)
		return -ENOMEM;
	for (size_t i = 0; i <= past->n; i++) {
		u64 next = i < past->n ? past->panes[i].start_us : past->range.until_us;

		if (i < past->n && was_paused(&past->panes[i]))
			continue;
		if (next > at && next - at >= GAP_MIN_US)
			past->gaps[past->n_gaps++] = (struct past_span){at, next};
		if (i < past->n && past->panes[i].end_us > at)
			at = past->panes[i].end_us;
	}
	return 0;
}

static void describe_settings(const struct event *event, const char *origin, const char *present, char *ret,
			      size_t size)
{
	if (strcmp(origin, present) != 0)
		(void)snprintf(ret, size, " (origin %s)", origin);
	else if (event->ldlat)
		(void)snprintf(ret, size, " (ldlat %u)", event->ldlat);
	else
		*ret = 0;
}

static int add_note(struct past *past, char *note)
{
	if (!note)
		return -ENOMEM;
	past->notes[past->n_notes++] = note;
	return 0;
}

static int note_event(struct past *past, const struct past_event *event)
{
	char *note = NULL, settings[64];
	int r = 0;

	if (event->other_ns) {
		describe_settings(&event->other, event->other_origin, event->origin, settings,
				  sizeof(settings));
		r = asprintf(
			&note,
			"%s had other settings%s for %.0f s of this time, which its figures do not include; ask for a shorter time to see them",
			event->key, settings, (double)event->other_ns / (double)NSEC_PER_SEC);
		r = add_note(past, r < 0 ? NULL : note);
	}
	if (r == 0 && event->absent_ns) {
		r = asprintf(&note,
			     "%s was not sampled for %.0f s of this time, which its figures do not include",
			     event->key, (double)event->absent_ns / (double)NSEC_PER_SEC);
		r = add_note(past, r < 0 ? NULL : note);
	}
	return r;
}

static int make_notes(struct past *past, const struct past_settings *settings)
{
	int r = settings->note ? add_note(past, strdup(settings->note)) : 0;

	for (size_t i = 0; i < past->events.n && r == 0; i++)
		r = note_event(past, &past->events.list[i]);
	if (r == 0 && past->events.unread)
		r = add_note(
			past,
			strdup("some events have settings that this version of pebsd does not know; their figures are left out"));
	return r;
}

static void describe(struct past *past)
{
	struct snapshot *head = &past->head;

	*head = (struct snapshot){
		.origin = past->events.list[0].origin,
		.sequence = past->n,
		.taken = realtime_of_us(past->panes[past->n - 1].end_us),
		.n_events = past->events.n,
		.interval_seconds = (double)past->longest_ns / (double)NSEC_PER_SEC,
		.notes = (const char *const *)past->notes,
		.containers = &past->lookup,
		.config_reloaded = true,
	};
	for (size_t i = 0; i < past->events.n; i++) {
		const struct past_event *from = &past->events.list[i];
		struct snapshot_event *event = &head->events[i];

		event->event = from->event;
		memcpy(event->key, from->key, sizeof(event->key));
		event->frequency_hz =
			(struct maybe_double){from->frequency_hz != 0, (double)from->frequency_hz};
		if (from->event.nominal_hz > head->nominal_hz.value)
			head->nominal_hz = (struct maybe_double){true, from->event.nominal_hz};
	}
}

static int build(const struct past *past, const struct window *window, const struct snapshot *head,
		 const struct reading *readings, struct snapshot **ret)
{
	struct snapshot_sources sources = {.head = head, .totals = past->totals, .readings = readings};
	int r = window_sum(window, UINT64_MAX, &sources.sums);

	return r < 0 ? r : snapshot_build(&sources, ret);
}

static int open_past(struct past *past)
{
	const struct timespec start = realtime_of_us(past->panes[0].start_us);
	int r = totals_new(&past->totals);

	if (r == 0)
		r = window_new(SIZE_MAX, UINT64_MAX, 0, &start, &past->window);
	if (r == 0)
		r = trend_new(PAST_TREND_BYTES, TREND_SPAN_MAX_NS, 0, &past->trend);
	if (r == 0)
		r = readings_new(past->n * READINGS_GAP_NS, EVENTS_MAX, &past->readings);
	past->after = calloc(past->n * EVENTS_MAX, sizeof(*past->after));
	return r == 0 && !past->after ? -ENOMEM : r;
}

int past_new(const struct past_settings *settings, const struct history_pane *panes, size_t n,
	     struct past **ret)
{
	_cleanup_(past_freep) struct past *past = calloc(1, sizeof(*past));
	int r;

	if (!past)
		return -ENOMEM;
	past->range = settings->range;
	past->panes = panes;
	past->n = n;
	past->lookup = (struct container_lookup){.find = find_labels, .userdata = past};
	r = past_events_find(panes, n, &past->events);
	if (r == 0 && past->events.n == 0)
		r = -ENODATA;
	if (r == 0)
		r = open_past(past);
	for (size_t i = 0; i < n && r == 0; i++)
		r = enter_pane(past, i);
	if (r == 0)
		r = find_gaps(past);
	if (r == 0)
		r = make_notes(past, settings);
	if (r < 0)
		return r;
	describe(past);
	r = build(past, past->window, &past->head, past->after + (n - 1) * EVENTS_MAX, &past->snapshot);
	if (r < 0)
		return r;
	past->snapshot->window = past->window;
	past->snapshot->trend = past->trend;
	*ret = TAKE_PTR(past);
	return 0;
}

const struct snapshot *past_snapshot(const struct past *past)
{
	return past->snapshot;
}

struct past_span past_range(const struct past *past)
{
	return past->range;
}

u64 past_trend_end_ns(const struct past *past)
{
	return (u64)trend_time(past, past->range.until_us);
}

const struct past_span *past_gaps(const struct past *past, size_t *ret_n)
{
	*ret_n = past->n_gaps;
	return past->gaps;
}

size_t past_bins(const struct past *past)
{
	return past->n;
}

struct past_bin past_bin(const struct past *past, size_t index)
{
	const struct history_pane *pane = &past->panes[index];

	return (struct past_bin){.span = {pane->start_us, pane->end_us}, .covered_ns = covered_ns(pane)};
}

int past_bin_snapshot(const struct past *past, size_t index, struct snapshot **ret)
{
	const struct history_pane *pane = &past->panes[index];
	const struct reading *after = past->after + index * EVENTS_MAX;
	const struct timespec start = realtime_of_us(pane->start_us), end = realtime_of_us(pane->end_us);
	_cleanup_(window_freep) struct window *window = NULL;
	_cleanup_free_ const struct totals_entry **entries = calloc(pane->n_cgroups + 1, sizeof(*entries));
	struct reading readings[EVENTS_MAX];
	struct snapshot head = past->head;
	struct put_rows rows = {.past = past, .pane = pane, .entries = entries, .put = put_window};
	int r;

	if (!entries)
		return -ENOMEM;
	r = window_new(SIZE_MAX, UINT64_MAX, 0, &start, &window);
	if (r < 0)
		return r;
	for (size_t i = 0; i < pane->n_cgroups; i++) {
		struct totals_entry *entry;

		/* All paths have their entry by now. */
		r = entry_of(past, pane->cgroups[i].path, &entry);
		if (r < 0)
			return r;
		entries[i] = entry;
	}
	rows.userdata = window;
	window_begin(window, covered_ns(pane), &end);
	put_rows(&rows);
	r = window_end(window);
	if (r < 0)
		return r;
	for (size_t event = 0; event < EVENTS_MAX; event++)
		readings[event] = index ? reading_delta(&after[event], &after[(ssize_t)event - EVENTS_MAX])
					: after[event];
	head.taken = end;
	return build(past, window, &head, readings, ret);
}

int past_panes(past_get get, void *userdata, u64 since_us, u64 until_us, const struct past **ret)
{
	/* Two panes that follow each other never lie in one bin of half a pane. */
	const u64 halves = 2 * (until_us - since_us) / HISTORY_PANE_US + 1;
	u32 bins = (u32)MIN(halves, PANES_BINS);
	int r = get ? -E2BIG : -EOPNOTSUPP;

	/*
	 * A caller that waits calls this again from the start. answers.h remembers which numbers of bins were too
	 * large.
	 */
	for (; r == -E2BIG && bins > 0; bins /= 2)
		r = get(userdata, since_us, until_us, bins, NULL, false, ret);
	return r;
}

static int compare_lengths(const void *a, const void *b)
{
	const u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* The length that half of the panes do not exceed: a single longer one must not make all bins longer. */
static int usual_length(const struct past *past, u64 *ret_ns)
{
	_cleanup_free_ u64 *lengths = calloc(past->n, sizeof(*lengths));

	if (!lengths)
		return -ENOMEM;
	for (size_t i = 0; i < past->n; i++)
		lengths[i] = covered_ns(&past->panes[i]);
	qsort(lengths, past->n, sizeof(*lengths), compare_lengths);
	*ret_ns = lengths[past->n / 2];
	return 0;
}

int past_neighbours(const struct past *past, const char *path, int cgroup_root_fd, const char *sysfs_root,
		    struct neighbours_report **ret)
{
	struct snapshot head = past->head;
	struct neighbours_sources sources = {
		.window = past->window,
		.readings = past->readings,
		.now_ns = past->now_ns,
		.span_ns = past->now_ns,
		.victim = totals_find(past->totals, path),
		.head = &head,
	};
	u64 bin_ns;
	int r;

	if (!sources.victim)
		return -ENOENT;
	r = usual_length(past, &bin_ns);
	if (r < 0)
		return r;
	bin_ns = MAX(bin_ns, past->now_ns / NEIGHBOURS_BINS);
	head.interval_seconds = (double)bin_ns / (double)NSEC_PER_SEC;
	sources.entries = totals_entries(past->totals, &sources.n_entries);
	return neighbours_report_make(&sources, cgroup_root_fd, sysfs_root, ret);
}
