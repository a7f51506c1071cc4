// SPDX-License-Identifier: GPL-2.0
#include "neighbours/neighbours_report.h"

#include <errno.h>
#include <string.h>
#include <sys/param.h>

#include "cgroup/cpuset.h"
#include "machine/cpu_nodes.h"
#include "neighbours/traffic.h"

#define BIN_NS      (5 * NSEC_PER_SEC)
#define SAMPLES_MIN 8

/* The least running ratio of an event of misses that counts as traffic. */
#define RAN_MIN 0.01

/* The data from which a report is made. */
struct making {
	const struct neighbours_sources *sources;
	int cgroup_root_fd;
	struct cpu_list nodes; /* all CPUs of the victim's nodes */
	struct traffic *traffic;
	bool misses; /* they are the traffic */
	size_t n_others;
	struct other {
		const struct totals_entry *entry;
		const struct traffic_point *points;
		size_t n_points;
		double traffic; /* sum over the bins */
	} * others;  /* cgroups with traffic, neither above nor below the victim; the most traffic first */
	double *own; /* traffic of the victim and of all cgroups below it, by bin */
};

static void making_close(const struct making *making)
{
	traffic_free(making->traffic);
	free(making->others);
	free(making->own);
}

struct neighbours_report *neighbours_report_free(struct neighbours_report *report)
{
	if (!report)
		return NULL;
	for (size_t i = 0; i < report->n_cgroups; i++)
		free(report->cgroups[i]);
	free(report->cgroups);
	free(report->ranking.list);
	free(report);
	return NULL;
}

static bool holds(const struct totals_entry *above, const struct totals_entry *below)
{
	size_t length = strlen(above->path);

	if (strcmp(above->path, "/") == 0)
		return below->path[0] == '/' && below->path[1];
	return strncmp(below->path, above->path, length) == 0 && below->path[length] == '/';
}

static int compare_number(const void *key, const void *member)
{
	u32 wanted = *(const u32 *)key, number = (*(struct totals_entry *const *)member)->number;

	return (wanted > number) - (wanted < number);
}

static const struct totals_entry *find_entry(const struct making *making, u32 number)
{
	const struct neighbours_sources *sources = making->sources;
	struct totals_entry *const *found = bsearch(&number, sources->entries, sources->n_entries,
						    sizeof(*sources->entries), compare_number);

	return found ? *found : NULL;
}

/* Finds the events whose samples count as traffic, and those of them that have a latency. */
static void find_events(const struct snapshot *head, u32 *ret_traffic, u32 *ret_latency)
{
	*ret_traffic = *ret_latency = 0;
	for (unsigned i = 0; i < head->n_events; i++) {
		const struct event *event = &head->events[i].event;

		if (event->role != EVENT_LOADS || !event->settings.has_source)
			continue;
		*ret_traffic |= 1U << i;
		if (event->settings.has_latency)
			*ret_latency |= 1U << i;
	}
}

static u64 span_of(const struct neighbours_sources *sources)
{
	return sources->span_ns ? sources->span_ns : NEIGHBOURS_REPORT_SPAN_NS;
}

/* Returns false if the event ran for too short a time in the span of the report to say how much it missed. */
static bool ran(const struct neighbours_sources *sources, unsigned event)
{
	struct reading now, before, delta;
	double ratio;

	if (!sources->readings)
		return true;
	now = readings_at(sources->readings, event, sources->now_ns);
	before = readings_at(sources->readings, event,
			     sources->now_ns > span_of(sources) ? sources->now_ns - span_of(sources) : 0);
	delta = reading_delta(&now, &before);
	return !reading_running_ratio(&delta, &ratio) || ratio >= RAN_MIN;
}

/* Returns the event of misses on the cores whose loads `loads` samples; a negative number if there is none. */
static int misses_beside(const struct neighbours_sources *sources, const struct event *loads)
{
	const struct snapshot *head = sources->head;
	/* AMD's cores sample loads by a PMU of their own, and all cores are alike. */
	const bool any = strncmp(loads->pmu, "ibs_", strlen("ibs_")) == 0;

	for (unsigned i = 0; i < head->n_events; i++)
		if (head->events[i].event.role == EVENT_MISSES &&
		    (any || strcmp(head->events[i].event.pmu, loads->pmu) == 0) && ran(sources, i))
			return (int)i;
	return -1;
}

/* Finds the events of misses that say more about the traffic of all `loads` than these do. 0: there are none. */
static u32 find_misses(const struct neighbours_sources *sources, u32 loads)
{
	u32 misses = 0;

	for (; loads; loads &= loads - 1) {
		int event = misses_beside(sources, &sources->head->events[__builtin_ctz(loads)].event);

		if (event < 0)
			return 0;
		misses |= 1U << event;
	}
	return misses;
}

static int bin_traffic(struct making *making)
{
	const struct neighbours_sources *sources = making->sources;
	double interval = sources->head->interval_seconds * (double)NSEC_PER_SEC;
	struct traffic_settings settings = {
		.span_ns = span_of(sources),
		.bin_ns = interval > (double)BIN_NS ? (u64)interval : BIN_NS,
		.entry = making->sources->victim->number,
		.samples_min = SAMPLES_MIN,
		.readings = sources->readings,
	};

	find_events(sources->head, &settings.events, &settings.latency_events);
	if (!settings.latency_events)
		return -ENODATA;
	settings.misses = find_misses(sources, settings.events);
	if (settings.misses)
		settings.events = 0;
	making->misses = settings.misses != 0;
	return traffic_new(sources->window, &settings, &making->traffic);
}

static int compare_others(const void *a, const void *b)
{
	const struct other *left = a, *right = b;

	if (left->traffic != right->traffic)
		return left->traffic > right->traffic ? -1 : 1;
	return strcmp(left->entry->path, right->entry->path);
}

static void sort_out(struct making *making, const struct other *one)
{
	const struct totals_entry *victim = making->sources->victim;

	if (one->entry == victim || holds(victim, one->entry))
		for (size_t i = 0; i < one->n_points; i++)
			making->own[one->points[i].bin] += one->points[i].traffic;
	else if (!holds(one->entry, victim))
		making->others[making->n_others++] = *one;
}

static int find_others(struct making *making)
{
	const struct traffic *traffic = making->traffic;

	making->own = calloc(traffic->n + 1, sizeof(*making->own));
	making->others = calloc(making->sources->n_entries + 1, sizeof(*making->others));
	if (!making->own || !making->others)
		return -ENOMEM;
	for (size_t i = 0; i < traffic->n_points;) {
		const struct traffic_point *points = &traffic->points[i];
		struct other one = {.entry = find_entry(making, points->entry), .points = points};

		for (; i < traffic->n_points && traffic->points[i].entry == points->entry; i++) {
			one.traffic += traffic->points[i].traffic;
			one.n_points++;
		}
		/* No entry: unattributed samples, or a cgroup that was removed long ago. */
		if (one.entry)
			sort_out(making, &one);
	}
	if (making->n_others > 0)
		qsort(making->others, making->n_others, sizeof(*making->others), compare_others);
	return 0;
}

/*
 * Returns false if the cgroup cannot run on the victim's nodes. A cgroup whose CPUs cannot be read may run
 * anywhere.
 */
static bool shares_a_node(const struct making *making, const char *path)
{
	struct cpu_list cpus;

	if (cgroup_cpuset(making->cgroup_root_fd, path, &cpus) < 0)
		return true;
	cpu_list_keep(&cpus, &making->nodes);
	return cpu_list_count(&cpus) > 0;
}

/* Reduces `others` to those on the victim's nodes, within the limits of the report. */
static void choose(struct making *making, struct neighbours_report *report)
{
	const size_t most = MIN(making->n_others, NEIGHBOURS_LOOKED_AT_MAX);
	size_t n = 0, looked_at = 0;

	for (; looked_at < most && n < NEIGHBOURS_REPORT_MAX; looked_at++) {
		struct other *one = &making->others[looked_at];

		if (report->nodes_known && !shares_a_node(making, one->entry->path))
			report->apart++;
		else
			making->others[n++] = *one;
	}
	report->beyond = making->n_others - looked_at;
	making->n_others = n;
}

static int name_candidates(const struct making *making, struct neighbours_report *report)
{
	report->cgroups = calloc(making->n_others + 1, sizeof(*report->cgroups));
	if (!report->cgroups)
		return -ENOMEM;
	for (; report->n_cgroups < making->n_others; report->n_cgroups++) {
		report->cgroups[report->n_cgroups] = strdup(making->others[report->n_cgroups].entry->path);
		if (!report->cgroups[report->n_cgroups])
			return -ENOMEM;
	}
	return 0;
}

static int rank(const struct making *making, struct neighbours_report *report)
{
	const struct traffic *traffic = making->traffic;
	_cleanup_free_ struct neighbour_series *series = calloc(making->n_others + 1, sizeof(*series));
	_cleanup_free_ double *values = calloc(making->n_others * traffic->n + 1, sizeof(*values));
	const struct neighbour_series victim = {
		.cgroup = making->sources->victim->path,
		.traffic = making->own,
		.latency = traffic->latency,
		.error = traffic->error,
	};

	if (!series || !values)
		return -ENOMEM;
	for (size_t i = 0; i < making->n_others; i++) {
		const struct other *one = &making->others[i];
		double *own = values + i * traffic->n;

		for (size_t point = 0; point < one->n_points; point++)
			own[one->points[point].bin] = one->points[point].traffic;
		series[i] = (struct neighbour_series){.cgroup = report->cgroups[i], .traffic = own};
	}
	return neighbours_rank(&victim, series, making->n_others, traffic->n, &report->ranking);
}

static bool find_nodes(struct making *making, const char *sysfs_root)
{
	struct cpu_list cpus;

	return making->cgroup_root_fd >= 0 &&
	       cgroup_cpuset(making->cgroup_root_fd, making->sources->victim->path, &cpus) == 0 &&
	       cpu_nodes(sysfs_root, &cpus, &making->nodes) == 0;
}

int neighbours_report_make(const struct neighbours_sources *sources, int cgroup_root_fd,
			   const char *sysfs_root, struct neighbours_report **ret)
{
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = calloc(1, sizeof(*report));
	_cleanup_(making_close) struct making making = {.sources = sources, .cgroup_root_fd = cgroup_root_fd};
	const struct traffic *traffic;
	int r;

	if (!report)
		return -ENOMEM;
	r = bin_traffic(&making);
	if (r < 0)
		return r;
	traffic = making.traffic;
	memcpy(report->event, sources->head->events[traffic->event].key, sizeof(report->event));
	report->misses = making.misses;
	report->covered_seconds = (double)traffic->covered_ns / (double)NSEC_PER_SEC;
	report->bin_seconds = traffic->n ? report->covered_seconds / (double)traffic->n : 0;
	r = find_others(&making);
	if (r < 0)
		return r;
	report->nodes_known = find_nodes(&making, sysfs_root);
	choose(&making, report);
	r = name_candidates(&making, report);
	if (r < 0)
		return r;
	r = rank(&making, report);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(report);
	return 0;
}

int neighbours_report(struct engine *engine, int cgroup_root_fd, const char *sysfs_root, const char *path,
		      struct neighbours_report **ret)
{
	struct neighbours_sources sources = {
		.window = engine_window(engine),
		.readings = engine_readings(engine),
		.now_ns = engine_collected_ns(engine),
		.victim = engine_find(engine, path),
		.head = engine_head(engine),
	};

	if (!sources.victim)
		return -ENOENT;
	sources.entries = engine_entries(engine, &sources.n_entries);
	return neighbours_report_make(&sources, cgroup_root_fd, sysfs_root, ret);
}
