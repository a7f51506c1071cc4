// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus/prometheus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "export/prometheus/cgroup_label.h"
#include "export/prometheus/exposition.h"
#include "export/prometheus/label.h"
#include "export/prometheus/prometheus_cost.h"
#include "export/prometheus/prometheus_offcore.h"
#include "export/prometheus/prometheus_resctrl.h"
#include "series/cgroup_counters.h"
#include "series/series.h"
#include "snapshot/event_figures.h"

#define SOURCE_LABEL_(name, word) "source=\"" word "\"",
static const char *const source_labels[] = {SOURCES(SOURCE_LABEL_)};
#undef SOURCE_LABEL_

#define SNOOP_LABEL_(name, word) "snoop=\"" word "\"",
static const char *const snoop_labels[] = {SNOOPS(SNOOP_LABEL_)};
#undef SNOOP_LABEL_

#define TLB_LABEL_(name, word) "tlb=\"" word "\"",
static const char *const tlb_labels[] = {TLBS(TLB_LABEL_)};
#undef TLB_LABEL_

/* The counters of one series and one event, and their labels. */
struct cell {
	const struct counters *counters;
	const struct event *event;
	char *labels;          /* cgroup="...",event="...",pmu="..." */
	u64 estimate;          /* see struct series; 0: none */
	char *estimate_labels; /* cgroup="...",pmu="...": the name of the metric says the event; NULL: no estimate */
};

struct rendering {
	struct exposition *out;
	const struct snapshot *snapshot;
	struct cgroup_label_request request;
	char *event_labels[EVENTS_MAX];     /* event="...",pmu="..." */
	const char *pmu_labels[EVENTS_MAX]; /* ,pmu="...": the end of event_labels; may be "" */
	char edges[COARSE_BUCKETS - 1][24]; /* le="16.0" and so on */
	struct cell *cells;
	size_t n_cells;
};

static void rendering_done(struct rendering *rendering)
{
	for (size_t i = 0; i < EVENTS_MAX; i++)
		free(rendering->event_labels[i]);
	for (size_t i = 0; i < rendering->n_cells; i++) {
		free(rendering->cells[i].labels);
		free(rendering->cells[i].estimate_labels);
	}
	free(rendering->cells);
}

/* Returns the number of earlier events with the same role and PMU, which would have the same labels. */
static unsigned int count_duplicates(const struct snapshot *snapshot, size_t index)
{
	const struct event *event = &snapshot->events[index].event;
	unsigned int duplicates = 0;

	for (size_t i = 0; i < index; i++)
		if (snapshot->events[i].event.role == event->role &&
		    strcmp(snapshot->events[i].event.pmu, event->pmu) == 0)
			duplicates++;
	return duplicates;
}

static int label_event(struct rendering *rendering, size_t index)
{
	const struct event *event = &rendering->snapshot->events[index].event;
	unsigned int duplicates = count_duplicates(rendering->snapshot, index);
	_cleanup_free_ char *pmu = NULL;
	char **ret = &rendering->event_labels[index];
	int r;

	r = label_escape(event->pmu, &pmu);
	if (r < 0)
		return r;
	if (duplicates)
		r = asprintf(ret, "event=\"%s\",pmu=\"%s#%u\"", event_role_name(event->role), pmu,
			     duplicates + 1);
	else if (*pmu)
		r = asprintf(ret, "event=\"%s\",pmu=\"%s\"", event_role_name(event->role), pmu);
	else
		r = asprintf(ret, "event=\"%s\"", event_role_name(event->role));
	if (r < 0) {
		*ret = NULL;
		return -ENOMEM;
	}
	rendering->pmu_labels[index] = *ret + strcspn(*ret, ",");
	return 0;
}

static int add_cells(struct rendering *rendering, const struct series *series)
{
	_cleanup_free_ char *cgroup = NULL;
	int r;

	r = cgroup_label(&rendering->request, series->path, &cgroup);
	if (r < 0)
		return r;
	for (size_t event = 0; event < rendering->snapshot->n_events; event++) {
		struct cell *cell = &rendering->cells[rendering->n_cells];

		if (!series->counters[event])
			continue;
		if (asprintf(&cell->labels, "%s,%s", cgroup, rendering->event_labels[event]) < 0)
			return -ENOMEM;
		rendering->n_cells++;
		cell->counters = series->counters[event];
		cell->event = &rendering->snapshot->events[event].event;
		cell->estimate = series->estimates ? series->estimates[event] : 0;
		if (cell->estimate &&
		    asprintf(&cell->estimate_labels, "%s%s", cgroup, rendering->pmu_labels[event]) < 0) {
			cell->estimate_labels = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

static int label_all(struct rendering *rendering, const struct series *const *series, size_t n_series)
{
	size_t n_events = rendering->snapshot->n_events;
	int r;

	for (u32 i = 0; i < ARRAY_SIZE(rendering->edges); i++)
		(void)snprintf(rendering->edges[i], sizeof(rendering->edges[i]), "le=\"%u.0\"",
			       histogram_coarse_upper(i));
	for (size_t i = 0; i < n_events; i++) {
		r = label_event(rendering, i);
		if (r < 0)
			return r;
	}
	rendering->cells = calloc(n_series * n_events + 1, sizeof(struct cell));
	if (!rendering->cells)
		return -ENOMEM;
	for (size_t i = 0; i < n_series; i++) {
		r = add_cells(rendering, series[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The input of a histogram: how many values each bucket has, and where the bucket ends. */
struct buckets {
	const u64 *counts;
	u32 n;
	u32 (*upper)(u32 index); /* inclusive, cycles */
};

/* Writes one histogram over the octaves 16 to 8192, whose edges are also edges of `buckets`. */
static void write_histogram(const struct rendering *rendering, const struct family *family,
			    const char *labels, const struct buckets *buckets, u64 sum, u64 count)
{
	struct exposition *out = rendering->out;
	u64 below = 0;
	u32 i = 0;

	if (!count)
		return;
	for (u32 octave = 0; octave < ARRAY_SIZE(rendering->edges); octave++) {
		for (; i < buckets->n && buckets->upper(i) <= histogram_coarse_upper(octave); i++)
			below += buckets->counts[i];
		exposition_u64(out, family, "_bucket", labels, rendering->edges[octave], below);
	}
	exposition_u64(out, family, "_bucket", labels, "le=\"+Inf\"", count);
	exposition_u64(out, family, "_sum", labels, NULL, sum);
	exposition_u64(out, family, "_count", labels, NULL, count);
}

static void write_histograms(struct rendering *rendering)
{
	static const struct family latency = {
		"pebsd_latency_cycles", FAMILY_HISTOGRAM,
		"Latency of sampled accesses in core clock cycles. pebsd_sampler_info has the kind of latency, and pebsd_ldlat_cycles has the threshold of sampled loads."};
	static const struct family instruction_latency = {
		"pebsd_instruction_latency_cycles", FAMILY_HISTOGRAM,
		"Core clock cycles from dispatch to retirement of sampled accesses. pebsd_ldlat_cycles has the threshold of sampled loads."};

	for (size_t i = 0; i < rendering->n_cells; i++) {
		const struct cell *cell = &rendering->cells[i];
		const struct buckets fine = {cell->counters->latency, FINE_BUCKETS, histogram_fine_upper};

		if (cell->event->settings.has_latency)
			write_histogram(rendering, &latency, cell->labels, &fine,
					counters_latency_sum(cell->counters),
					counters_latency_samples(cell->counters));
	}
	for (size_t i = 0; i < rendering->n_cells; i++) {
		const struct cell *cell = &rendering->cells[i];
		const struct buckets coarse = {cell->counters->instruction_latency, COARSE_BUCKETS,
					       histogram_coarse_upper};

		if (cell->event->settings.has_instruction_latency)
			write_histogram(rendering, &instruction_latency, cell->labels, &coarse,
					cell->counters->instruction_latency_sum,
					counters_instruction_latency_samples(cell->counters));
	}
}

/* Writes counters that are an array, each under its own label. */
static void write_words(struct rendering *rendering, const struct family *family,
			const char *const *word_labels, size_t n_words,
			const u64 *(*counters_of)(const struct counters *))
{
	for (size_t i = 0; i < rendering->n_cells; i++) {
		const struct cell *cell = &rendering->cells[i];
		const u64 *values = counters_of(cell->counters);

		/* Samples of an event without a data source are all counted as "unknown": write none of them. */
		for (size_t word = 0; cell->event->settings.has_source && word < n_words; word++)
			if (values[word])
				exposition_u64(rendering->out, family, "_total", cell->labels,
					       word_labels[word], values[word]);
	}
}

static const u64 *samples_of(const struct counters *counters)
{
	return counters->samples;
}

static const u64 *latency_sum_of(const struct counters *counters)
{
	return counters->latency_sum;
}

static const u64 *snoop_of(const struct counters *counters)
{
	return counters->snoop;
}

static const u64 *tlb_of(const struct counters *counters)
{
	return counters->tlb;
}

static void write_estimates(struct rendering *rendering)
{
	static const struct {
		enum event_role role;
		struct family family;
	} estimates[] = {
		{EVENT_CYCLES,
		 {"pebsd_cycles", FAMILY_COUNTER,
		  "Core clock cycles, estimated: samples, each multiplied by the period, and scaled for the time in which the event did not run."}},
		{EVENT_INSTRUCTIONS,
		 {"pebsd_instructions", FAMILY_COUNTER,
		  "Retired instructions, estimated as pebsd_cycles_total is."}},
		{EVENT_STALLS,
		 {"pebsd_stalled_cycles", FAMILY_COUNTER,
		  "Core clock cycles that were stalled while a load was outstanding, estimated as pebsd_cycles_total is. An upper bound of what memory costs. pebsd_event_info says what this CPU counts."}},
		{EVENT_MISSES,
		 {"pebsd_llc_misses", FAMILY_COUNTER,
		  "Misses of the last level cache, estimated as pebsd_cycles_total is. pebsd_event_info says what this CPU counts."}},
	};

	for (size_t k = 0; k < ARRAY_SIZE(estimates); k++)
		for (size_t i = 0; i < rendering->n_cells; i++) {
			const struct cell *cell = &rendering->cells[i];

			if (cell->estimate && cell->event->role == estimates[k].role)
				exposition_u64(rendering->out, &estimates[k].family, "_total",
					       cell->estimate_labels, NULL, cell->estimate);
		}
}

static void write_cgroup_counters(struct rendering *rendering)
{
	const struct cgroup_counter *counters;
	size_t n;

	counters = cgroup_counters(&n);
	for (size_t k = 0; k < n; k++) {
		const struct family family = {counters[k].family, FAMILY_COUNTER, counters[k].help};

		for (size_t i = 0; i < rendering->n_cells; i++) {
			const struct cell *cell = &rendering->cells[i];
			u64 value = counters[k].value(cell->counters);

			/* Only the estimate says something about an event of counts. */
			if (value && !event_is_count(cell->event))
				exposition_u64(rendering->out, &family, "_total", cell->labels, NULL, value);
		}
	}
}

static void write_counters(struct rendering *rendering, bool detail)
{
	static const struct family source_samples = {
		"pebsd_source_samples", FAMILY_COUNTER,
		"Samples by the cache or memory that served the access."};
	static const struct family source_latency = {
		"pebsd_source_latency_cycles", FAMILY_COUNTER,
		"Sum of the latencies of sampled accesses in core clock cycles, by the cache or memory that served them."};
	static const struct family snoop = {"pebsd_snoop_samples", FAMILY_COUNTER,
					    "Samples by the result of the snoop."};
	static const struct family tlb = {"pebsd_tlb_samples", FAMILY_COUNTER,
					  "Samples by how the address was translated."};

	write_words(rendering, &source_samples, source_labels, ARRAY_SIZE(source_labels), samples_of);
	write_words(rendering, &source_latency, source_labels, ARRAY_SIZE(source_labels), latency_sum_of);
	write_cgroup_counters(rendering);
	write_estimates(rendering);
	if (!detail)
		return;
	write_words(rendering, &snoop, snoop_labels, ARRAY_SIZE(snoop_labels), snoop_of);
	write_words(rendering, &tlb, tlb_labels, ARRAY_SIZE(tlb_labels), tlb_of);
}

static struct maybe_u64 known_if_not_0(u64 value)
{
	return (struct maybe_u64){value != 0, value};
}

static void write_event_figure(struct rendering *rendering, const struct family *family, size_t event,
			       const struct event_figure *figure)
{
	const struct event_figure_value value = event_figure_of(&rendering->snapshot->events[event], figure);
	const char *labels = rendering->event_labels[event];

	if (figure->seconds)
		exposition_maybe_double(rendering->out, family, "_total", labels, figure->label,
					(struct maybe_double){value.known, value.seconds});
	else
		exposition_maybe_u64(rendering->out, family, "_total", labels, figure->label,
				     (struct maybe_u64){value.known, value.count});
}

static void write_event_figures(struct rendering *rendering)
{
	const struct event_figure *figures;
	size_t n;

	figures = event_figures(&n);
	for (size_t first = 0, end; first < n; first = end) {
		const struct family family = {figures[first].family, FAMILY_COUNTER, figures[first].help};

		for (end = first + 1; end < n && figures[end].family && family.name &&
				      strcmp(figures[end].family, family.name) == 0;)
			end++;
		for (size_t event = 0; family.name && event < rendering->snapshot->n_events; event++)
			for (size_t i = first; i < end; i++)
				write_event_figure(rendering, &family, event, &figures[i]);
	}
}

static void write_events(struct rendering *rendering)
{
	static const struct family seen = {"pebsd_samples_seen", FAMILY_COUNTER,
					   "Samples that were counted."};
	static const struct family unattributed = {
		"pebsd_samples_unattributed", FAMILY_COUNTER,
		"Samples of cgroups without a slot, counted under cgroup=unattributed."};
	static const struct family period = {"pebsd_sample_period", FAMILY_GAUGE,
					     "Number of events from one sample to the next."};
	static const struct family ldlat = {
		"pebsd_ldlat_cycles", FAMILY_GAUGE,
		"Only loads that take more cycles than this are sampled. Every latency is conditional on it."};
	static const struct family running = {
		"pebsd_running_ratio", FAMILY_GAUGE,
		"Share of the time since the event was opened in which it was counting."};
	const struct snapshot *snapshot = rendering->snapshot;
	struct exposition *out = rendering->out;
	char *const *labels = rendering->event_labels;

	for (size_t i = 0; i < snapshot->n_events; i++)
		exposition_u64(out, &seen, "_total", labels[i], NULL,
			       counters_samples(&snapshot->events[i].total));
	for (size_t i = 0; i < snapshot->n_events; i++)
		exposition_u64(out, &unattributed, "_total", labels[i], NULL,
			       snapshot->events[i].unattributed);
	for (size_t i = 0; i < snapshot->n_events; i++)
		exposition_maybe_u64(out, &period, "", labels[i], NULL,
				     known_if_not_0(snapshot->events[i].event.period));
	for (size_t i = 0; i < snapshot->n_events; i++)
		exposition_maybe_u64(out, &ldlat, "", labels[i], NULL,
				     known_if_not_0(snapshot->events[i].event.ldlat));
	for (size_t i = 0; i < snapshot->n_events; i++)
		exposition_maybe_double(out, &running, "", labels[i], NULL,
					snapshot->events[i].running_ratio);
	write_event_figures(rendering);
}

/* Returns whether an earlier event has the PMU, too. */
static bool pmu_is_written(const struct snapshot *snapshot, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(snapshot->events[i].event.pmu, snapshot->events[index].event.pmu) == 0)
			return true;
	return false;
}

static int write_hertz(struct rendering *rendering, const struct family *family, const char *pmu,
		       struct maybe_double hz)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_free_ char *labels = NULL;

	if (!hz.known)
		return 0;
	if (label_escape(pmu, &name) < 0 || asprintf(&labels, "pmu=\"%s\"", name) < 0) {
		labels = NULL;
		return -ENOMEM;
	}
	exposition_maybe_double(rendering->out, family, "", labels, NULL, hz);
	return 0;
}

/* The frequencies of the cores of each PMU. Only one event of a PMU counts cycles. */
static int write_frequencies(struct rendering *rendering)
{
	static const struct family running = {
		"pebsd_core_frequency_hertz", FAMILY_GAUGE,
		"Mean frequency at which the cores of the PMU ran while they were busy."};
	static const struct family nominal = {
		"pebsd_core_nominal_frequency_hertz", FAMILY_GAUGE,
		"Nominal frequency of the cores of the PMU. Divide a latency in cycles by it to get seconds."};
	const struct snapshot *snapshot = rendering->snapshot;
	int r = 0;

	for (size_t i = 0; r == 0 && i < snapshot->n_events; i++)
		r = write_hertz(rendering, &running, snapshot->events[i].event.pmu,
				snapshot->events[i].frequency_hz);
	for (size_t i = 0; r == 0 && i < snapshot->n_events; i++) {
		const struct event *event = &snapshot->events[i].event;

		if (!pmu_is_written(snapshot, i))
			r = write_hertz(rendering, &nominal, event->pmu,
					(struct maybe_double){event->nominal_hz > 0, event->nominal_hz});
	}
	return r;
}

static struct maybe_double seconds_of(const struct timespec *time)
{
	double seconds = (double)time->tv_sec + (double)time->tv_nsec / (double)NSEC_PER_SEC;

	return (struct maybe_double){time->tv_sec != 0, seconds};
}

/* Metrics of the daemon itself: slots, configuration, process. */
static void write_daemon(struct rendering *rendering, const struct process_usage *process)
{
	static const struct family paused = {
		"pebsd_paused", FAMILY_GAUGE,
		"1 while sampling is paused on request and all counters are free for other tools."};
	static const struct family cgroups = {"pebsd_cgroups", FAMILY_GAUGE,
					      "Living cgroups that have a slot."};
	static const struct family slots = {"pebsd_cgroup_slots", FAMILY_GAUGE,
					    "Slots for cgroups, used and free."};
	static const struct family limit = {
		"pebsd_cgroup_slots_limit", FAMILY_GAUGE,
		"Maximum number of slots, set by max-memory or max in [cgroups]."};
	static const struct family births = {"pebsd_cgroup_births_without_slot", FAMILY_COUNTER,
					     "Cgroups that found no free slot when they were created."};
	static const struct family without = {
		"pebsd_cgroups_without_slot", FAMILY_GAUGE,
		"Cgroups that have no slot now. Their samples are unattributed, and no rule judges them."};
	static const struct family maps = {"pebsd_map_bytes", FAMILY_GAUGE, "Memory of the BPF maps."};
	static const struct family duration = {"pebsd_collection_duration_seconds", FAMILY_GAUGE,
					       "Duration of the last collection."};
	static const struct family reloaded = {"pebsd_config_last_reload_successful", FAMILY_GAUGE,
					       "1 if the last reload of the configuration was successful."};
	static const struct family reload_time = {
		"pebsd_config_last_reload_success_timestamp_seconds", FAMILY_GAUGE,
		"When the configuration in force was read, in seconds since the epoch."};
	static const struct family cpu = {"process_cpu_seconds", FAMILY_COUNTER,
					  "User and system time of the daemon."};
	static const struct family resident = {"process_resident_memory_bytes", FAMILY_GAUGE,
					       "Resident memory of the daemon."};
	static const struct family start = {"process_start_time_seconds", FAMILY_GAUGE,
					    "Start time of the daemon, in seconds since the epoch."};
	static const struct family fds = {"process_open_fds", FAMILY_GAUGE,
					  "Open file descriptors of the daemon."};
	const struct snapshot *snapshot = rendering->snapshot;
	struct exposition *out = rendering->out;

	exposition_u64(out, &paused, "", NULL, NULL, snapshot->paused);
	exposition_u64(out, &cgroups, "", NULL, NULL, snapshot->cgroups_alive);
	exposition_u64(out, &slots, "", NULL, NULL, snapshot->slots);
	exposition_u64(out, &limit, "", NULL, NULL, snapshot->slots_limit);
	exposition_u64(out, &births, "_total", NULL, NULL, snapshot->births_without_slot);
	exposition_u64(out, &without, "", NULL, NULL, snapshot->without_slot);
	exposition_u64(out, &maps, "", NULL, NULL, snapshot->map_bytes);
	exposition_maybe_double(out, &duration, "", NULL, NULL,
				(struct maybe_double){true, snapshot->collection_seconds});
	exposition_u64(out, &reloaded, "", NULL, NULL, snapshot->config_reloaded);
	exposition_maybe_double(out, &reload_time, "", NULL, NULL, seconds_of(&snapshot->config_time));
	if (!process)
		return;
	exposition_maybe_double(out, &cpu, "_total", NULL, NULL, process->cpu_seconds);
	exposition_maybe_u64(out, &resident, "", NULL, NULL, process->resident_bytes);
	exposition_maybe_double(out, &start, "", NULL, NULL, process->start_seconds);
	exposition_maybe_u64(out, &fds, "", NULL, NULL, process->open_fds);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int write_guest(struct rendering *rendering, const char *cgroup)
{
	static const struct family guests = {
		"pebsd_guest_not_sampled", FAMILY_GAUGE,
		"1 for a cgroup with a virtual machine. Its accesses in guest mode are not sampled, so the figures cover only the host's side."};
	_cleanup_free_ char *labels = NULL;
	int r = cgroup_label(&rendering->request, cgroup, &labels);

	if (r < 0)
		return r;
	exposition_u64(rendering->out, &guests, "", labels, NULL, 1);
	return 0;
}

/* Writes only cgroups that have series: the names of other cgroups may be unwanted in the metrics. */
static int write_guests(struct rendering *rendering, const struct series *const *series, size_t n)
{
	const struct snapshot *snapshot = rendering->snapshot;
	_cleanup_free_ const char **paths = calloc(n + 1, sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		paths[i] = series[i]->path;
	qsort(paths, n, sizeof(*paths), compare_paths);
	for (size_t i = 0; i < snapshot->n_cgroups; i++) {
		const struct snapshot_cgroup *cgroup = &snapshot->cgroups[i];
		int r;

		if (!cgroup->guest_not_sampled ||
		    !bsearch(&cgroup->path, paths, n, sizeof(*paths), compare_paths))
			continue;
		r = write_guest(rendering, cgroup->path);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Returns true if the event's kind of latency adds nothing about its PMU: an earlier event of the PMU has the
 * same kind, or the event has no latency and another event of the PMU has one.
 */
static bool is_redundant_sampler(const struct snapshot *snapshot, size_t index)
{
	const struct event *event = &snapshot->events[index].event;

	for (size_t i = 0; i < snapshot->n_events; i++) {
		const struct event *other = &snapshot->events[i].event;

		if (i == index || strcmp(other->pmu, event->pmu) != 0)
			continue;
		if (i < index && other->latency_kind == event->latency_kind)
			return true;
		if (event->latency_kind == LATENCY_NONE && other->latency_kind != LATENCY_NONE)
			return true;
	}
	return false;
}

static int write_counted(struct rendering *rendering)
{
	static const struct family event = {
		"pebsd_event", FAMILY_INFO,
		"What the event counts on this CPU. Figures with different values of `counts` are not comparable."};

	for (size_t i = 0; i < rendering->snapshot->n_events; i++) {
		const char *kind = event_count_kind_name(rendering->snapshot->events[i].event.count_kind);
		_cleanup_free_ char *counts = NULL;

		if (!kind)
			continue;
		if (asprintf(&counts, "counts=\"%s\"", kind) < 0) {
			counts = NULL;
			return -ENOMEM;
		}
		exposition_u64(rendering->out, &event, "_info", rendering->event_labels[i], counts, 1);
	}
	return 0;
}

/* Zooms and hot tables. `detail` may be NULL: nothing is written. */
static void write_detail(struct exposition *out, const struct detail_counts *detail)
{
	static const struct family running = {"pebsd_zooms_running", FAMILY_GAUGE, "Zooms that run now."};
	static const struct family samples = {
		"pebsd_zoom_samples", FAMILY_COUNTER,
		"Samples of zooms by result. taken: recorded. limited: over the limit of samples a second. lost: a ring buffer was full. dropped: there was no memory to record them."};
	static const struct family hot = {"pebsd_hot_cgroups", FAMILY_GAUGE,
					  "Cgroups that have tables of hot code and data now."};
	u64 n_hot = 0;

	if (!detail)
		return;
	while (detail->hot && detail->hot[n_hot])
		n_hot++;
	exposition_u64(out, &running, "", NULL, NULL, detail->zooms_running);
	exposition_u64(out, &samples, "_total", "result=\"taken\"", NULL, detail->taken);
	exposition_u64(out, &samples, "_total", "result=\"limited\"", NULL, detail->limited);
	exposition_u64(out, &samples, "_total", "result=\"lost\"", NULL, detail->lost);
	exposition_u64(out, &samples, "_total", "result=\"dropped\"", NULL, detail->dropped);
	exposition_u64(out, &hot, "", NULL, NULL, n_hot);
}

static void write_http(struct exposition *out, struct maybe_u64 restarts)
{
	static const struct family family = {
		"pebsd_http_restarts", FAMILY_COUNTER,
		"How often pebsd tried to restart the process that serves HTTP."};

	exposition_maybe_u64(out, &family, "_total", NULL, NULL, restarts);
}

static void write_history(struct exposition *out, const struct prometheus_history *history)
{
	static const struct family bytes = {"pebsd_history_bytes", FAMILY_GAUGE,
					    "Size of the history on disk."};
	static const struct family oldest = {"pebsd_history_oldest_timestamp_seconds", FAMILY_GAUGE,
					     "Start of the oldest part of the history."};
	static const struct family lost = {"pebsd_history_panes_lost", FAMILY_COUNTER,
					   "Panes of 10 s that are missing from the history."};
	static const struct family restarts = {"pebsd_history_restarts", FAMILY_COUNTER,
					       "How often the process that keeps the history has ended."};

	exposition_maybe_u64(out, &bytes, "", NULL, NULL, history->bytes);
	exposition_maybe_double(out, &oldest, "", NULL, NULL, history->oldest_seconds);
	exposition_maybe_u64(out, &lost, "_total", NULL, NULL, history->panes_lost);
	exposition_maybe_u64(out, &restarts, "_total", NULL, NULL, history->restarts);
}

static int write_infos(struct rendering *rendering)
{
	static const struct family build = {"pebsd_build", FAMILY_INFO, "Version of the daemon."};
	static const struct family sampler = {
		"pebsd_sampler", FAMILY_INFO,
		"Origin of the samples, and what their latency measures on each PMU."};
	const struct snapshot *snapshot = rendering->snapshot;
	int r;

	exposition_u64(rendering->out, &build, "_info", "version=\"" PEBSD_VERSION "\"", NULL, 1);
	for (size_t i = 0; i < snapshot->n_events; i++) {
		const struct event *event = &snapshot->events[i].event;
		const char *kind = event_latency_kind_name(event->latency_kind);
		_cleanup_free_ char *pmu = NULL;
		_cleanup_free_ char *labels = NULL;

		if (is_redundant_sampler(snapshot, i))
			continue;
		r = label_escape(event->pmu, &pmu);
		if (r < 0)
			return r;
		if (asprintf(&labels, "origin=\"%s\"%s%s%s%s%s%s", snapshot->origin, *pmu ? ",pmu=\"" : "",
			     pmu, *pmu ? "\"" : "", kind ? ",latency_kind=\"" : "", kind ? kind : "",
			     kind ? "\"" : "") < 0) {
			labels = NULL;
			return -ENOMEM;
		}
		exposition_u64(rendering->out, &sampler, "_info", labels, NULL, 1);
	}
	return 0;
}

int prometheus_render(const struct snapshot *snapshot, const struct series *const *series, size_t n_series,
		      const struct prometheus_options *options, const struct process_usage *process,
		      char **ret_text, size_t *ret_length)
{
	struct rendering rendering = {
		.snapshot = snapshot,
		.request = {.containers = snapshot->containers, .labels = options->labels},
	};
	struct exposition out;
	int r, ended;

	exposition_begin(&out, options->openmetrics);
	rendering.out = &out;
	r = label_all(&rendering, series, n_series);
	if (r >= 0) {
		write_histograms(&rendering);
		write_counters(&rendering, options->detail);
		write_events(&rendering);
		r = write_frequencies(&rendering);
		prometheus_cost(&out, snapshot, rendering.event_labels);
		if (r >= 0)
			r = prometheus_offcore(&out, snapshot, series, n_series, &rendering.request);
		if (r >= 0 && options->resctrl)
			r = prometheus_resctrl(&out, options->resctrl);
		if (r >= 0 && options->alerts)
			r = prometheus_alerts(&out, options->alerts, &rendering.request);
		write_detail(&out, snapshot->detail);
		write_http(&out, options->http_restarts);
		write_history(&out, &options->history);
		write_daemon(&rendering, process);
		if (r >= 0)
			r = write_guests(&rendering, series, n_series);
	}
	if (r >= 0)
		r = write_counted(&rendering);
	if (r >= 0)
		r = write_infos(&rendering);
	rendering_done(&rendering);
	ended = exposition_end(&out, ret_text, ret_length);
	if (r < 0 && ended >= 0) {
		free(*ret_text);
		*ret_text = NULL;
	}
	return r < 0 ? r : ended;
}
