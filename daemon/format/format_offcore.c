// SPDX-License-Identifier: GPL-2.0
#include "format/format_offcore.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json_get.h"
#include "format/figure.h"

/*
 * The places that served a read: their names as counted, and as sampled. The counter of remote reads includes
 * remote memory and remote caches.
 */
static const struct {
	const char *name;
	const char *counted;
	const char *sampled[2];
} rows[] = {
	{"L3", "l3", {"l3", NULL}},
	{"local DRAM", "local_dram", {"local_dram", NULL}},
	{"remote", "remote_dram", {"remote_dram", "remote_cache"}},
};

#define ROWS ARRAY_SIZE(rows)

/* Returns the sampled loads of that PMU; NULL: the reply has none. */
static json_object *loads_of(json_object *cgroup, const char *pmu)
{
	json_object *events = json_get_object(cgroup, "events");

	if (!events)
		return NULL;
	json_object_object_foreach (events, key, event) {
		const char *name = json_get_text(event, "pmu");

		if (strncmp(key, "loads", strlen("loads")) == 0 && name && strcmp(name, pmu) == 0)
			return event;
	}
	return NULL;
}

/* Finds out which rows are counted on that PMU. */
static void read_kinds(json_object *status, const char *pmu, bool ret[ROWS])
{
	json_object *pmus = json_get_object(json_get_object(status, "offcore"), "pmus");
	json_object *kinds = json_get_array(json_get_object(pmus, pmu), "kinds");

	for (size_t i = 0; i < ROWS; i++) {
		ret[i] = false;
		for (size_t k = 0; kinds && k < json_object_array_length(kinds); k++) {
			const char *kind = json_object_get_string(json_object_array_get_idx(kinds, k));

			ret[i] = ret[i] || (kind && strcmp(kind, rows[i].counted) == 0);
		}
	}
}

static bool read_sampled(const json_object *loads, const bool counted[ROWS], double ret[ROWS],
			 double *ret_sum)
{
	const json_object *sources = json_get_object(loads, "sources");

	*ret_sum = 0;
	if (!sources)
		return false;
	for (size_t i = 0; i < ROWS; i++) {
		ret[i] = 0;
		for (size_t k = 0; k < ARRAY_SIZE(rows[i].sampled); k++) {
			u64 samples;

			if (counted[i] && rows[i].sampled[k] &&
			    json_get_u64(json_get_object(sources, rows[i].sampled[k]), "samples", &samples))
				ret[i] += (double)samples;
		}
		*ret_sum += ret[i];
	}
	return *ret_sum > 0;
}

/* Shares of counts relate to the sum of all shown rows: if one count is not known, they are not printed. */
static void put_table(FILE *out, const struct format_style *style, const bool shown[ROWS],
		      json_object *figures, const json_object *loads)
{
	double counted_sum = 0, sampled_sum, sampled[ROWS];
	bool has_sampled = read_sampled(loads, shown, sampled, &sampled_sum);
	bool known[ROWS], all = true;
	u64 counted[ROWS];

	for (size_t i = 0; i < ROWS; i++) {
		known[i] = shown[i] && json_get_u64(figures, rows[i].counted, &counted[i]);
		all = all && (known[i] || !shown[i]);
		counted_sum += known[i] ? (double)counted[i] : 0;
	}
	line_head(out, style, "SERVED BY         COUNTED  SHARE  SAMPLED SHARE");
	for (size_t i = 0; i < ROWS; i++) {
		char count[TEXT_NUMBER_MAX] = "-", share[TEXT_NUMBER_MAX] = "-", of[TEXT_NUMBER_MAX] = "-";

		if (!shown[i])
			continue;
		if (known[i])
			text_short_count((double)counted[i], count);
		if (known[i] && all)
			line_percent((double)counted[i], counted_sum, share);
		if (has_sampled)
			line_percent(sampled[i], sampled_sum, of);
		(void)fprintf(out, "%-13s %11s %6s %14s\n", rows[i].name, count, share, of);
	}
}

static void put_failed(FILE *out, const struct format_style *style, json_object *figures)
{
	json_object *failed = json_get_object(figures, "failed_readings");

	if (!failed)
		return;
	json_object_object_foreach (failed, kind, count) {
		_cleanup_free_ char *kept = NULL;

		line_put(
			out, style, "",
			"failed readings of the %s counter: %llu; the counts that depend on them are not known",
			line_visible(kind, &kept), (unsigned long long)json_object_get_uint64(count));
	}
}

void format_offcore(FILE *out, const struct format_style *style, json_object *status, json_object *cgroup)
{
	json_object *offcore = json_get_object(cgroup, "offcore");

	if (!offcore)
		return;
	json_object_object_foreach (offcore, pmu, figures) {
		_cleanup_free_ char *kept = NULL;
		char percent[TEXT_NUMBER_MAX];
		bool shown[ROWS];
		double value;

		read_kinds(status, pmu, shown);
		(void)fputc('\n', out);
		line_put(
			out, style, "Off-core",
			"demand data reads that left the core, on PMU %s, whatever their latency; counted, not sampled",
			line_visible(pmu, &kept));
		/* A larger ratio would be printed as "at least 100.0%". */
		if (json_get_double(figures, "running_ratio", &value) && value < 0.9995) {
			line_percent(value, 1, percent);
			line_put(
				out, style, "",
				"counters were multiplexed: each ran at least %s of the time, and its count is scaled to the whole time",
				percent);
		}
		if (json_get_double(figures, "outstanding_latency_mean", &value))
			line_put(out, style, "", "a read was outstanding for %.1f cycles on average", value);
		put_failed(out, style, figures);
		put_table(out, style, shown, figures, loads_of(cgroup, pmu));
	}
}

void format_offcore_status(FILE *out, const struct format_style *style, json_object *status)
{
	json_object *offcore = json_get_object(status, "offcore");
	const char *refused = json_get_text(offcore, "refused");
	char switched[TEXT_NUMBER_MAX], read[TEXT_NUMBER_MAX],
		each[TEXT_NUMBER_MAX + 32] = "", cost[TEXT_NUMBER_MAX + 64] = "";
	u64 cpus, switches, readings;
	json_object *pmus;
	double value;

	if (refused) {
		_cleanup_free_ char *kept = NULL;

		line_put(out, style, "Off-core", "not counted: %s", line_visible(refused, &kept));
	}
	if (!json_get_u64(offcore, "cpus", &cpus) || !json_get_u64(offcore, "switches", &switches) ||
	    !json_get_u64(offcore, "readings", &readings))
		return;
	text_count(switches, switched);
	text_count(readings, read);
	if (json_get_double(offcore, "reading_ns", &value))
		(void)snprintf(each, sizeof(each), " of %.0f ns each", value);
	if (json_get_double(offcore, "cost_ratio", &value)) {
		char percent[TEXT_NUMBER_MAX];

		line_percent(value, 1, percent);
		(void)snprintf(cost, sizeof(cost), ", recently %s of the CPUs' time", percent);
	}
	line_put(out, style, "Off-core", "counted on %llu CPU%s; task switches: %s; counter readings: %s%s%s",
		 (unsigned long long)cpus, cpus == 1 ? "" : "s", switched, read, each, cost);
	pmus = json_get_object(offcore, "pmus");
	if (!pmus)
		return;
	json_object_object_foreach (pmus, pmu, figures) {
		(void)pmu;
		put_failed(out, style, figures);
	}
}
