// SPDX-License-Identifier: GPL-2.0
/* Counted off-core responses, from the totals to the JSON, the metrics and the text. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "example_snapshot.h"
#include "expect_metrics.h"
#include "export/json/json.h"
#include "export/prometheus/prometheus.h"
#include "format/format.h"
#include "in_packed.h"
#include "series/series.h"
#include "snapshot/snapshot_build.h"

#define SECOND NSEC_PER_SEC

static struct offcore_counted counter(u64 count, u64 enabled_ns, u64 running_ns)
{
	return (struct offcore_counted){.count = count, .enabled_ns = enabled_ns, .running_ns = running_ns};
}

/* Three kinds that took turns in two registers. */
static struct offcore_counts reads(u64 l3, u64 local, u64 remote)
{
	struct offcore_counts counters = {0};

	counters.of[0][OFFCORE_L3] = counter(l3, 300, 200);
	counters.of[0][OFFCORE_LOCAL_DRAM] = counter(local, 300, 200);
	counters.of[0][OFFCORE_REMOTE_DRAM] = counter(remote, 300, 200);
	return counters;
}

static void name_pmu(struct snapshot *snapshot)
{
	snapshot->offcore_known = true;
	snapshot->offcore = (struct snapshot_offcore){
		.n_pmus = 1,
		.pmus[0] = {.name = "cpu_core", .kinds = 7},
		.cpus = 8,
		.switches = 5000,
		.settles = 4000,
		.settle_ns = {true, 150},
		.cost_ratio = {true, 0.0012},
	};
}

static const struct snapshot_cgroup *cgroup_of(const struct snapshot *snapshot, const char *path)
{
	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		if (strcmp(snapshot->cgroups[i].path, path) == 0)
			return &snapshot->cgroups[i];
	return NULL;
}

static struct totals_entry *enter(struct totals *totals, const char *path)
{
	struct totals_entry *entry;

	cr_assert_eq(totals_get(totals, path, &entry), 0);
	return entry;
}

Test(offcore_export, a_snapshot_has_all_counts_even_of_unsampled_and_folded_cgroups)
{
	const struct snapshot head = {.origin = "perf", .sequence = 1, .n_events = 1};
	struct offcore_sums *sums = calloc(1, sizeof(*sums));
	struct reading readings[EVENTS_MAX] = {{0}};
	struct totals_entry *sampled, *unsampled;
	struct counters samples = {0};
	struct in_packed room;
	struct offcore_counts of[4];
	struct snapshot *snapshot;
	struct totals *totals;

	cr_assert_eq(totals_new(&totals), 0);
	sampled = enter(totals, "/sampled");
	unsampled = enter(totals, "/a-unsampled");
	samples.samples[SOURCE_L3] = 3;
	(void)in_packed(&room, 0, &samples);
	cr_assert_eq(totals_add(sampled, 0, room.room, room.delta.size), 0);
	for (u64 i = 0; i < 4; i++)
		of[i] = reads(10 * (i + 1), 0, 0);
	cr_assert_eq(offcore_sums_add(sums, totals_unattributed(totals)->number, &of[0]), 0);
	cr_assert_eq(offcore_sums_add(sums, sampled->number, &of[1]), 0);
	cr_assert_eq(offcore_sums_add(sums, unsampled->number, &of[2]), 0);
	cr_assert_eq(offcore_sums_add(sums, 999, &of[3]), 0);
	cr_assert_eq(snapshot_build(
			     &(struct snapshot_sources){
				     .head = &head, .totals = totals, .readings = readings, .offcore = sums},
			     &snapshot),
		     0);
	cr_assert_eq(snapshot->n_cgroups, 3);
	cr_expect_str_eq(snapshot->cgroups[0].path, "/sampled", "those with samples come first");
	cr_expect_eq(cgroup_of(snapshot, "/sampled")->offcore->of[0][OFFCORE_L3].count, 20);
	cr_expect_eq(cgroup_of(snapshot, "/a-unsampled")->offcore->of[0][OFFCORE_L3].count, 30);
	cr_expect_eq(example_samples(snapshot, cgroup_of(snapshot, "/a-unsampled"), 0), 0);
	cr_expect_eq(example_samples(snapshot, cgroup_of(snapshot, "/sampled"), 0), 3);
	cr_expect_eq(cgroup_of(snapshot, "other")->offcore->of[0][OFFCORE_L3].count, 40);
	cr_expect_eq(snapshot->offcore_unattributed->of[0][OFFCORE_L3].count, 10);
	cr_expect_eq(snapshot->offcore_total->of[0][OFFCORE_L3].count, 100);
	snapshot_free(snapshot);
	totals_free(totals);
}

Test(offcore_export, json_has_only_known_counts)
{
	struct snapshot *snapshot = example_perf();
	struct offcore_counts counters = reads(100, 50, 0);
	_cleanup_json_ json_object *top = NULL;
	json_object *first, *pmu;
	double ratio;
	u64 count;

	name_pmu(snapshot);
	counters.of[0][OFFCORE_LOCAL_DRAM].errors = 4;
	snapshot->cgroups[0].offcore = snapshot->offcore_total = &counters;
	top = json_top(snapshot);
	cr_assert_not_null(top);
	first = json_object_array_get_idx(json_get_array(top, "cgroups"), 0);
	pmu = json_get_object(json_get_object(first, "offcore"), "cpu_core");
	cr_assert_not_null(pmu);
	cr_expect(json_get_u64(pmu, "l3", &count));
	cr_expect_eq(count, 150, "scaled by 300 over 200");
	cr_expect_null(json_get(pmu, "local_dram"), "a reading failed");
	cr_expect(json_get_u64(pmu, "remote_dram", &count));
	cr_expect_eq(count, 0, "counted, and none");
	cr_expect(json_get_double(pmu, "running_ratio", &ratio));
	cr_expect_float_eq(ratio, 2.0 / 3, 1e-5);
	cr_expect_null(json_get(pmu, "outstanding_latency_mean"), "not counted here");
	cr_expect(json_get_u64(json_get_object(pmu, "failed_readings"), "local_dram", &count));
	cr_expect_eq(count, 4);
	cr_expect_not_null(json_get_object(json_get_object(top, "total"), "offcore"));
	cr_expect_null(json_get(json_object_array_get_idx(json_get_array(top, "cgroups"), 1), "offcore"));
}

Test(offcore_export, without_off_core_counting_no_reply_mentions_it)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *top = json_top(snapshot), *status = json_status(snapshot);

	cr_expect_null(strstr(json_object_to_json_string(top), "offcore"));
	cr_expect_null(strstr(json_object_to_json_string(status), "offcore"));
}

Test(offcore_export, status_has_the_cost_or_the_reason)
{
	struct snapshot *snapshot = example_perf();
	_cleanup_json_ json_object *refused = NULL, *counted = NULL;
	json_object *offcore;
	double cost;

	snapshot->offcore_refusal = "cpu: this core has none";
	refused = json_status(snapshot);
	cr_expect_str_eq(json_get_text(json_get_object(refused, "offcore"), "refused"),
			 "cpu: this core has none");
	snapshot->offcore_refusal = NULL;
	name_pmu(snapshot);
	counted = json_status(snapshot);
	offcore = json_get_object(counted, "offcore");
	cr_expect_null(json_get(offcore, "refused"));
	cr_expect(json_get_double(offcore, "cost_ratio", &cost));
	cr_expect_float_eq(cost, 0.0012, 1e-9);
	cr_expect(json_get_double(offcore, "reading_ns", &cost));
	cr_expect_float_eq(cost, 150, 1e-9);
	cr_expect_eq(json_object_array_length(json_get_array(
			     json_get_object(json_get_object(offcore, "pmus"), "cpu_core"), "kinds")),
		     3);
}

static char *show(struct snapshot *snapshot)
{
	_cleanup_json_ json_object *status = json_status(snapshot), *cgroup = json_cgroup(snapshot, 0, NULL);
	const struct format_style style = {.width = 120};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	cr_assert_not_null(out);
	format_status(out, status, NULL, &style);
	format_cgroup(out, status, cgroup, NULL, &style);
	cr_assert_eq(fclose(out), 0);
	return text;
}

/* Finds a row by its words, with runs of blanks reduced to one. */
static bool has_row(const char *text, const char *row)
{
	_cleanup_free_ char *plain = strdup(text);
	char *to = plain;

	for (const char *from = text; *from; from++)
		if (*from != ' ' || (to > plain && to[-1] != ' ' && to[-1] != '\n'))
			*to++ = *from;
	*to = '\0';
	return strstr(plain, row);
}

Test(offcore_export, show_has_counted_and_sampled_shares)
{
	struct snapshot *snapshot = example_perf();
	struct offcore_counts counters = reads(100, 200, 100);
	_cleanup_free_ char *text = NULL;

	/* The ten loads of db.service on cpu_core are all from remote memory. */
	name_pmu(snapshot);
	snapshot->cgroups[0].offcore = &counters;
	text = show(snapshot);
	cr_expect(has_row(text, "L3 150 25.0% 0.0%"), "%s", text);
	cr_expect(has_row(text, "local DRAM 300 50.0% 0.0%"), "%s", text);
	cr_expect(has_row(text, "remote 150 25.0% 100.0%"), "%s", text);
	cr_expect(has_row(text, "at least 66.7% of the time"), "%s", text);
	cr_expect(has_row(text, "counter readings: 4,000 of 150 ns each, recently 0.1%"), "%s", text);
}

Test(offcore_export, show_has_no_shares_if_one_kind_is_unknown)
{
	struct snapshot *snapshot = example_perf();
	struct offcore_counts counters = reads(100, 200, 100);
	_cleanup_free_ char *text = NULL;

	name_pmu(snapshot);
	counters.of[0][OFFCORE_LOCAL_DRAM].errors = 2;
	snapshot->cgroups[0].offcore = &counters;
	text = show(snapshot);
	cr_expect(has_row(text, "L3 150 - 0.0%"), "%s", text);
	cr_expect(has_row(text, "local DRAM - - 0.0%"), "%s", text);
	cr_expect(has_row(text, "failed readings of the local_dram counter: 2"), "%s", text);
}

Test(offcore_export, uncounted_kinds_have_no_row_and_no_share)
{
	struct snapshot *snapshot = example_perf();
	struct offcore_counts counters = reads(100, 300, 0);
	_cleanup_free_ char *text = NULL;

	name_pmu(snapshot);
	snapshot->offcore.pmus[0].kinds = 3;
	counters.of[0][OFFCORE_REMOTE_DRAM] = (struct offcore_counted){0};
	snapshot->cgroups[0].offcore = &counters;
	text = show(snapshot);
	cr_expect(has_row(text, "L3 150 25.0% -"), "%s", text);
	cr_expect(has_row(text, "local DRAM 450 75.0% -"), "%s", text);
	cr_expect_null(strstr(text, "\nremote  "), "%s", text);
}

static const struct series *const *table_of(struct series_table **table, size_t *ret_n)
{
	struct offcore_counts db = reads(100, 200, 0), root = reads(2, 0, 0), slot_0 = reads(4, 0, 0);
	struct counters samples = {0};
	struct in_packed room;

	samples.samples[SOURCE_L3] = samples.weight[SOURCE_L3] = samples.weighted_latency[SOURCE_L3] = 1;
	db.of[0][OFFCORE_OUTSTANDING] = counter(9000, 100, 100);
	db.of[0][OFFCORE_REQUESTS] = counter(30, 100, 100);
	cr_assert_eq(series_table_new(1, table), 0);
	cr_assert_eq(series_table_update(*table, SECOND,
					 (const struct series_input[]){
						 {"/db", true, in_packed(&room, 0, &samples), 1, &db},
						 {"/", true, NULL, 0, &root},
					 },
					 2, NULL, 0),
		     0);
	cr_assert_eq(series_table_count_unattributed(*table, &slot_0), 0);
	return series_table_list(*table, ret_n);
}

Test(offcore_export, metrics_of_series_and_other_sum_to_the_total)
{
	struct snapshot *snapshot = example_perf();

	name_pmu(snapshot);
	for (int openmetrics = 0; openmetrics < 2; openmetrics++) {
		const struct prometheus_options options = {.openmetrics = openmetrics};
		const struct series *const *list;
		struct series_table *table;
		_cleanup_free_ char *text = NULL;
		size_t n, length;

		list = table_of(&table, &n);
		cr_assert_eq(prometheus_render(snapshot, list, n, &options, NULL, &text, &length), 0);
		metrics_read(text, openmetrics);
		metrics_expect("pebsd_offcore_reads_total{cgroup=\"/db\",pmu=\"cpu_core\",source=\"l3\"}",
			       "150");
		metrics_expect("pebsd_offcore_reads_total{cgroup=\"other\",pmu=\"cpu_core\",source=\"l3\"}",
			       "3");
		metrics_expect(
			"pebsd_offcore_reads_total{cgroup=\"unattributed\",pmu=\"cpu_core\",source=\"l3\"}",
			"6");
		metrics_expect(
			"pebsd_offcore_reads_total{cgroup=\"/db\",pmu=\"cpu_core\",source=\"remote_dram\"}",
			"0");
		metrics_expect("pebsd_offcore_latency_cycles_sum{cgroup=\"/db\",pmu=\"cpu_core\"}", "9000");
		metrics_expect("pebsd_offcore_latency_cycles_count{cgroup=\"/db\",pmu=\"cpu_core\"}", "30");
		metrics_expect("pebsd_offcore_latency_cycles_sum{cgroup=\"other\",pmu=\"cpu_core\"}", NULL);
		metrics_expect("pebsd_offcore_failed_readings_total{pmu=\"cpu_core\",source=\"l3\"}", "0");
		metrics_expect("pebsd_offcore_readings_total", "4000");
		series_table_free(table);
	}
}
