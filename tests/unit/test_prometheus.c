// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "expect_metrics.h"
#include "export/prometheus/label.h"
#include "export/prometheus/prometheus.h"

/* The data that these tests render, with room for three series. */
struct rendered {
	struct snapshot snapshot;
	struct series series[3];
	struct counters counters[3][2];
	const struct series *list[3];
	size_t n;
	struct process_usage process;
};

static struct rendered rendered;

static void add_sample(struct counters *counters, enum source source, u32 cycles, u64 period)
{
	counters->samples[source]++;
	counters->weight[source] += period;
	counters->latency_sum[source] += cycles;
	counters->weighted_latency[source] += cycles * period;
	counters->latency[histogram_fine_index(cycles)]++;
	counters->snoop[SNOOP_NONE]++;
	counters->tlb[TLB_HIT]++;
}

static void setup(void)
{
	static const char *const paths[] = {"/system.slice/a.service", "other", "unattributed"};

	rendered = (struct rendered){0};
	rendered.n = ARRAY_SIZE(paths);
	rendered.snapshot = (struct snapshot){
		.origin = "perf",
		.n_events = 2,
		.cgroups_alive = 7,
		.slots = 512,
		.map_bytes = 1310720,
		.slots_limit = 4096,
		.births_without_slot = 191,
		.without_slot = 190,
		.collection_seconds = 0.00025,
		.config_reloaded = true,
		.config_time = {1795240000, 250000000},
	};
	rendered.snapshot.events[0] = (struct snapshot_event){
		.event = {.role = EVENT_LOADS,
			  .pmu = "cpu",
			  .ldlat = 30,
			  .latency_kind = LATENCY_USE,
			  .period = 10007,
			  .settings = {.has_latency = 1, .has_source = 1}},
		.unattributed = 2,
		.lost_malformed = {true, 1},
	};
	rendered.snapshot.events[1] = (struct snapshot_event){
		.event = {.role = EVENT_STORES, .pmu = "cpu", .settings = {.has_source = 1}},
	};
	for (size_t i = 0; i < rendered.n; i++) {
		rendered.series[i].path = (char *)paths[i];
		rendered.list[i] = &rendered.series[i];
	}
	rendered.series[0].counters[0] = &rendered.counters[0][0];
}

static char *render_all(bool openmetrics, bool detail)
{
	const struct prometheus_options options = {.openmetrics = openmetrics, .detail = detail};
	char *text = NULL;
	size_t length = 0;

	cr_assert_eq(prometheus_render(&rendered.snapshot, rendered.list, rendered.n, &options,
				       &rendered.process, &text, &length),
		     0);
	cr_assert_eq(strlen(text), length);
	return text;
}

/* Renders in one format, and reads the text. */
static void read_all(bool openmetrics, bool detail)
{
	_cleanup_free_ char *text = render_all(openmetrics, detail);

	metrics_read(text, openmetrics);
}

#define LOADS_OF_A "cgroup=\"/system.slice/a.service\",event=\"loads\",pmu=\"cpu\""

TestSuite(prometheus, .init = setup);

Test(prometheus, each_le_is_an_exact_bucket_edge)
{
	for (int openmetrics = 0; openmetrics < 2; openmetrics++)
		for (u32 edge = 16; edge <= 8192; edge *= 2) {
			setup();
			add_sample(&rendered.counters[0][0], SOURCE_L1, edge, 1);
			add_sample(&rendered.counters[0][0], SOURCE_L1, edge + 1, 1);
			read_all(openmetrics, false);
			for (u32 le = 16; le <= 8192; le *= 2) {
				char series[256];

				(void)snprintf(series, sizeof(series),
					       "pebsd_latency_cycles_bucket{" LOADS_OF_A ",le=\"%u.0\"}", le);
				metrics_expect(series, le < edge ? "0" : le == edge ? "1" : "2");
			}
			metrics_expect("pebsd_latency_cycles_bucket{" LOADS_OF_A ",le=\"+Inf\"}", "2");
			metrics_expect("pebsd_latency_cycles_count{" LOADS_OF_A "}", "2");
		}
}

Test(prometheus, instruction_latency_is_exported_if_reported)
{
	add_sample(&rendered.counters[0][0], SOURCE_L1, 5, 1);
	rendered.counters[0][0].instruction_latency[histogram_coarse_index(64)]++;
	rendered.counters[0][0].instruction_latency[histogram_coarse_index(9000)]++;
	rendered.counters[0][0].instruction_latency_sum = 9064;
	read_all(true, false);
	metrics_expect("pebsd_instruction_latency_cycles_count{" LOADS_OF_A "}", NULL);

	rendered.snapshot.events[0].event.settings.has_instruction_latency = 1;
	read_all(true, false);
	metrics_expect("pebsd_instruction_latency_cycles_bucket{" LOADS_OF_A ",le=\"32.0\"}", "0");
	metrics_expect("pebsd_instruction_latency_cycles_bucket{" LOADS_OF_A ",le=\"64.0\"}", "1");
	metrics_expect("pebsd_instruction_latency_cycles_bucket{" LOADS_OF_A ",le=\"8192.0\"}", "1");
	metrics_expect("pebsd_instruction_latency_cycles_bucket{" LOADS_OF_A ",le=\"+Inf\"}", "2");
	metrics_expect("pebsd_instruction_latency_cycles_sum{" LOADS_OF_A "}", "9064");
	metrics_expect("pebsd_instruction_latency_cycles_count{" LOADS_OF_A "}", "2");
}

Test(prometheus, counters_of_a_cgroup_are_exported)
{
	struct counters *counters;

	counters = &rendered.counters[0][0];
	add_sample(counters, SOURCE_L3, 60, 1000);
	add_sample(counters, SOURCE_L3, 70, 3000);
	add_sample(counters, SOURCE_LOCAL_DRAM, 300, 1000);
	counters->snoop[SNOOP_HITM] = 4;
	counters->tlb[TLB_WALK] = 3;
	counters->tlb[TLB_MISS] = 2;
	counters->locked = 9;
	/* A sum above 2^53 must not be converted to a double. */
	counters->weight[SOURCE_IO] = 9007199254740993 - 5000;
	read_all(false, false);
	metrics_expect("pebsd_source_samples_total{" LOADS_OF_A ",source=\"l3\"}", "2");
	metrics_expect("pebsd_source_samples_total{" LOADS_OF_A ",source=\"local_dram\"}", "1");
	metrics_expect("pebsd_source_samples_total{" LOADS_OF_A ",source=\"l1\"}", NULL);
	metrics_expect("pebsd_source_latency_cycles_total{" LOADS_OF_A ",source=\"l3\"}", "130");
	metrics_expect("pebsd_weighted_samples_total{" LOADS_OF_A "}", "9007199254740993");
	metrics_expect("pebsd_weighted_latency_cycles_total{" LOADS_OF_A "}", "570000");
	metrics_expect("pebsd_latency_cycles_sum{" LOADS_OF_A "}", "430");
	metrics_expect("pebsd_hitm_samples_total{" LOADS_OF_A "}", "4");
	metrics_expect("pebsd_tlb_walk_samples_total{" LOADS_OF_A "}", "5");
	metrics_expect("pebsd_locked_samples_total{" LOADS_OF_A "}", "9");
	metrics_expect("pebsd_blocked_samples_total{" LOADS_OF_A "}", NULL);
	metrics_expect("pebsd_snoop_samples_total{" LOADS_OF_A ",snoop=\"hitm\"}", NULL);

	read_all(true, true);
	metrics_expect("pebsd_snoop_samples_total{" LOADS_OF_A ",snoop=\"hitm\"}", "4");
	metrics_expect("pebsd_snoop_samples_total{" LOADS_OF_A ",snoop=\"none\"}", "3");
	metrics_expect("pebsd_tlb_samples_total{" LOADS_OF_A ",tlb=\"walk\"}", "3");
	metrics_expect("pebsd_tlb_samples_total{" LOADS_OF_A ",tlb=\"miss\"}", "2");
}

Test(prometheus, an_event_without_latency_exports_none)
{
	const char *stores = "cgroup=\"other\",event=\"stores\",pmu=\"cpu\"";
	char series[256];

	rendered.series[1].counters[1] = &rendered.counters[1][1];
	rendered.counters[1][1].samples[SOURCE_L1] = 5;
	read_all(true, false);
	(void)snprintf(series, sizeof(series), "pebsd_source_samples_total{%s,source=\"l1\"}", stores);
	metrics_expect(series, "5");
	(void)snprintf(series, sizeof(series), "pebsd_latency_cycles_count{%s}", stores);
	metrics_expect(series, NULL);
	(void)snprintf(series, sizeof(series), "pebsd_source_latency_cycles_total{%s,source=\"l1\"}", stores);
	metrics_expect(series, NULL);
	metrics_expect("pebsd_sampler_info{origin=\"perf\",pmu=\"cpu\",latency_kind=\"use\"}", "1");
	metrics_expect("pebsd_sampler_info{origin=\"perf\",pmu=\"cpu\"}", NULL);
}

Test(prometheus, unknown_values_are_absent)
{
	rendered.snapshot.events[0].total.samples[SOURCE_L2] = 11;
	read_all(false, false);
	metrics_expect("pebsd_samples_seen_total{event=\"loads\",pmu=\"cpu\"}", "11");
	metrics_expect("pebsd_samples_seen_total{event=\"stores\",pmu=\"cpu\"}", "0");
	metrics_expect("pebsd_samples_unattributed_total{event=\"loads\",pmu=\"cpu\"}", "2");
	metrics_expect("pebsd_samples_lost_total{event=\"loads\",pmu=\"cpu\",reason=\"malformed\"}", "1");
	metrics_expect("pebsd_samples_lost_total{event=\"loads\",pmu=\"cpu\",reason=\"unexplained\"}", NULL);
	metrics_expect("pebsd_unsampled_seconds_total{event=\"loads\",pmu=\"cpu\",reason=\"multiplexed\"}",
		       NULL);
	metrics_expect("pebsd_unsampled_seconds_total{event=\"loads\",pmu=\"cpu\",reason=\"throttled\"}",
		       NULL);
	metrics_expect("pebsd_running_ratio{event=\"loads\",pmu=\"cpu\"}", NULL);
	metrics_expect("pebsd_event_enabled_seconds_total{event=\"loads\",pmu=\"cpu\"}", NULL);
	metrics_expect("pebsd_event_running_seconds_total{event=\"loads\",pmu=\"cpu\"}", NULL);
	metrics_expect("pebsd_sample_period{event=\"loads\",pmu=\"cpu\"}", "10007");
	metrics_expect("pebsd_sample_period{event=\"stores\",pmu=\"cpu\"}", NULL);
	metrics_expect("pebsd_ldlat_cycles{event=\"loads\",pmu=\"cpu\"}", "30");
	metrics_expect("pebsd_ldlat_cycles{event=\"stores\",pmu=\"cpu\"}", NULL);
	metrics_expect("pebsd_cgroups", "7");
	metrics_expect("pebsd_cgroup_slots", "512");
	metrics_expect("pebsd_cgroup_slots_limit", "4096");
	metrics_expect("pebsd_cgroup_births_without_slot_total", "191");
	metrics_expect("pebsd_cgroups_without_slot", "190");
	metrics_expect("pebsd_map_bytes", "1310720");
	metrics_expect("pebsd_collection_duration_seconds", "0.00025");
	metrics_expect("pebsd_config_last_reload_successful", "1");
	metrics_expect("pebsd_config_last_reload_success_timestamp_seconds", "1795240000.25");
	metrics_expect("pebsd_build_info{version=\"" PEBSD_VERSION "\"}", "1");
	metrics_expect("process_open_fds", NULL);

	rendered.snapshot.events[0].lost_unexplained = (struct maybe_u64){true, 0};
	rendered.snapshot.events[0].multiplexed_seconds = (struct maybe_double){true, 1.5};
	rendered.snapshot.events[0].throttled_seconds = (struct maybe_double){true, 0.25};
	rendered.snapshot.events[0].running_ratio = (struct maybe_double){true, 0.1};
	rendered.snapshot.events[0].enabled_seconds = (struct maybe_double){true, 8};
	rendered.snapshot.events[0].running_seconds = (struct maybe_double){true, 0.75};
	rendered.process = (struct process_usage){
		.cpu_seconds = {true, 0.25}, .resident_bytes = {true, 4096}, .open_fds = {true, 12}};
	read_all(true, false);
	metrics_expect("pebsd_samples_lost_total{event=\"loads\",pmu=\"cpu\",reason=\"unexplained\"}", "0");
	metrics_expect("pebsd_unsampled_seconds_total{event=\"loads\",pmu=\"cpu\",reason=\"multiplexed\"}",
		       "1.5");
	metrics_expect("pebsd_unsampled_seconds_total{event=\"loads\",pmu=\"cpu\",reason=\"throttled\"}",
		       "0.25");
	metrics_expect("pebsd_running_ratio{event=\"loads\",pmu=\"cpu\"}", "0.1");
	metrics_expect("pebsd_event_enabled_seconds_total{event=\"loads\",pmu=\"cpu\"}", "8");
	metrics_expect("pebsd_event_running_seconds_total{event=\"loads\",pmu=\"cpu\"}", "0.75");
	metrics_expect("process_cpu_seconds_total", "0.25");
	metrics_expect("process_resident_memory_bytes", "4096");
	metrics_expect("process_open_fds", "12");
	metrics_expect("process_start_time_seconds", NULL);
}

Test(prometheus, a_recording_without_a_pmu_has_no_pmu_label)
{
	rendered.snapshot.origin = "replay";
	for (size_t i = 0; i < 2; i++) {
		rendered.snapshot.events[i].event.role = EVENT_LOADS;
		rendered.snapshot.events[i].event.pmu[0] = '\0';
		rendered.snapshot.events[i].event.latency_kind = LATENCY_NONE;
	}
	read_all(true, false);
	metrics_expect("pebsd_samples_seen_total{event=\"loads\"}", "0");
	metrics_expect("pebsd_samples_seen_total{event=\"loads\",pmu=\"#2\"}", "0");
	metrics_expect("pebsd_sampler_info{origin=\"replay\"}", "1");
}

Test(prometheus, several_pmus_stay_apart)
{
	rendered.snapshot.events[1].event = rendered.snapshot.events[0].event;
	(void)snprintf(rendered.snapshot.events[0].event.pmu, EVENT_PMU_MAX, "cpu_core");
	(void)snprintf(rendered.snapshot.events[1].event.pmu, EVENT_PMU_MAX, "cpu_atom");
	rendered.snapshot.events[1].event.latency_kind = LATENCY_CACHE;
	rendered.series[0].counters[1] = &rendered.counters[0][1];
	add_sample(&rendered.counters[0][0], SOURCE_L1, 5, 1);
	add_sample(&rendered.counters[0][1], SOURCE_L1, 6, 1);
	read_all(true, false);
	metrics_expect("pebsd_latency_cycles_sum{cgroup=\"/system.slice/"
		       "a.service\",event=\"loads\",pmu=\"cpu_core\"}",
		       "5");
	metrics_expect("pebsd_latency_cycles_sum{cgroup=\"/system.slice/"
		       "a.service\",event=\"loads\",pmu=\"cpu_atom\"}",
		       "6");
	metrics_expect("pebsd_sampler_info{origin=\"perf\",pmu=\"cpu_core\",latency_kind=\"use\"}", "1");
	metrics_expect("pebsd_sampler_info{origin=\"perf\",pmu=\"cpu_atom\",latency_kind=\"cache\"}", "1");
}

/* Names that any owner of a cgroup can choose. */
Test(prometheus, hostile_names_stay_apart_and_valid)
{
	static const char *const paths[] = {"/\"},up{a=\"\n\\", "/caf\xe9", "/caf\xef\xbf\xbd"};
	static const char *const labels[] = {"/\\\"},up{a=\\\"\\n\\\\",
					     "/caf\xef\xbf\xbd"
					     "e9",
					     "/caf\xef\xbf\xbd"
					     "ef\xef\xbf\xbd"
					     "bf\xef\xbf\xbd"
					     "bd"};

	for (int openmetrics = 0; openmetrics < 2; openmetrics++) {
		setup();
		for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
			rendered.series[i].path = (char *)paths[i];
			rendered.series[i].counters[0] = &rendered.counters[i][0];
			rendered.counters[i][0].locked = i + 1;
		}
		read_all(openmetrics, false);
		for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
			char series[256];
			char value[] = {(char)('1' + i), '\0'};

			(void)snprintf(
				series, sizeof(series),
				"pebsd_locked_samples_total{cgroup=\"%s\",event=\"loads\",pmu=\"cpu\"}",
				labels[i]);
			metrics_expect(series, value);
		}
	}
}

Test(prometheus, labels_are_valid_utf8_and_unique)
{
	static const struct {
		const char *value;
		const char *label;
	} cases[] = {
		{"", ""},
		{"/system.slice/system-getty\\x2d1.slice", "/system.slice/system-getty\\\\x2d1.slice"},
		{"/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"\xc0\xaf", "\xef\xbf\xbd"
			     "c0\xef\xbf\xbd"
			     "af"}, /* overlong form */
		{"\xed\xa0\x80", "\xef\xbf\xbd"
				 "ed\xef\xbf\xbd"
				 "a0\xef\xbf\xbd"
				 "80"}, /* surrogate */
		{"\xf4\x90\x80\x80", "\xef\xbf\xbd"
				     "f4\xef\xbf\xbd"
				     "90\xef\xbf\xbd"
				     "80\xef\xbf\xbd"
				     "80"},
		{"a\xe2\x82", "a\xef\xbf\xbd"
			      "e2\xef\xbf\xbd"
			      "82"}, /* cut */
		{"\xe2\x82\"", "\xef\xbf\xbd"
			       "e2\xef\xbf\xbd"
			       "82\\\""},
		{"\xff\xfe", "\xef\xbf\xbd"
			     "ff\xef\xbf\xbd"
			     "fe"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *label = NULL;

		cr_assert_eq(label_escape(cases[i].value, &label), 0);
		cr_expect_str_eq(label, cases[i].label, "case %zu: %s", i, label);
	}
}

Test(prometheus, openmetrics_has_its_own_family_names)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *openmetrics = NULL;

	rendered.counters[0][0].locked = 1;
	text = render_all(false, false);
	openmetrics = render_all(true, false);
	cr_expect(strstr(text, "# TYPE pebsd_locked_samples_total counter\n"));
	cr_expect(strstr(text, "# TYPE pebsd_build_info gauge\n"));
	cr_expect_not(strstr(text, "# EOF"));
	cr_expect(strstr(openmetrics, "# TYPE pebsd_locked_samples counter\npebsd_locked_samples_total{"));
	cr_expect(strstr(openmetrics, "# TYPE pebsd_build info\npebsd_build_info{"));
	cr_expect_str_eq(openmetrics + strlen(openmetrics) - 6, "# EOF\n");
}

/* An event without a source has no series by source. */
Test(prometheus, an_event_without_source_exports_none)
{
	const char *labels = "cgroup=\"other\",event=\"instructions\",pmu=\"cpu\"";
	char series[256];

	rendered.snapshot.events[1].event =
		(struct event){.role = EVENT_INSTRUCTIONS, .pmu = "cpu", .settings = {.has_code_address = 1}};
	rendered.series[1].counters[1] = &rendered.counters[1][1];
	rendered.counters[1][1].samples[SOURCE_UNKNOWN] = 5;
	rendered.counters[1][1].weight[SOURCE_UNKNOWN] = 500;
	rendered.counters[1][1].snoop[SNOOP_NA] = 5;
	rendered.counters[1][1].tlb[TLB_NA] = 5;
	read_all(true, true);
	(void)snprintf(series, sizeof(series), "pebsd_weighted_samples_total{%s}", labels);
	metrics_expect(series, "500");
	(void)snprintf(series, sizeof(series), "pebsd_source_samples_total{%s,source=\"unknown\"}", labels);
	metrics_expect(series, NULL);
	(void)snprintf(series, sizeof(series), "pebsd_snoop_samples_total{%s,snoop=\"na\"}", labels);
	metrics_expect(series, NULL);
	(void)snprintf(series, sizeof(series), "pebsd_tlb_samples_total{%s,tlb=\"na\"}", labels);
	metrics_expect(series, NULL);
}

Test(prometheus, pauses_and_filtered_samples_are_exported)
{
	const char *paused = "pebsd_unsampled_seconds_total{event=\"loads\",pmu=\"cpu\",reason=\"paused\"}";

	read_all(false, false);
	metrics_expect("pebsd_paused", "0");
	metrics_expect(paused, NULL);
	metrics_expect("pebsd_samples_filtered_total{event=\"loads\",pmu=\"cpu\"}", NULL);

	rendered.snapshot.paused = true;
	rendered.snapshot.events[0].paused_seconds = (struct maybe_double){true, 2.5};
	rendered.snapshot.events[0].filtered = (struct maybe_u64){true, 0};
	read_all(true, false);
	metrics_expect("pebsd_paused", "1");
	metrics_expect(paused, "2.5");
	metrics_expect("pebsd_samples_filtered_total{event=\"loads\",pmu=\"cpu\"}", "0");
	metrics_expect("pebsd_samples_filtered_total{event=\"stores\",pmu=\"cpu\"}", NULL);
}

Test(prometheus, resctrl_groups_have_their_bytes)
{
	static struct resctrl_domain domains[] = {
		{.group = (char *)"", .domain = 0, .known = {true, true}, .bytes = {100, 0}},
		{.group = (char *)"mon_groups/a\"b\n", .domain = 3, .known = {true, false}, .bytes = {7, 9}},
	};
	const struct resctrl resctrl = {.list = domains, .n = 2};
	struct prometheus_options options = {.openmetrics = true, .resctrl = &resctrl};
	_cleanup_free_ char *text = NULL;
	size_t length;

	cr_assert_eq(prometheus_render(&rendered.snapshot, rendered.list, rendered.n, &options, NULL, &text,
				       &length),
		     0);
	metrics_read(text, true);
	metrics_expect("pebsd_resctrl_bytes_total{group=\"/\",domain=\"0\",kind=\"total\"}", "100");
	metrics_expect("pebsd_resctrl_bytes_total{group=\"/\",domain=\"0\",kind=\"local\"}", "0");
	metrics_expect(
		"pebsd_resctrl_bytes_total{group=\"/mon_groups/a\\\"b\\n\",domain=\"3\",kind=\"total\"}",
		"7");
	metrics_expect(
		"pebsd_resctrl_bytes_total{group=\"/mon_groups/a\\\"b\\n\",domain=\"3\",kind=\"local\"}",
		NULL);
}

Test(prometheus, frequencies_of_each_pmu_are_exported)
{
	const char *running = "pebsd_core_frequency_hertz{pmu=\"cpu\"}";
	const char *nominal = "pebsd_core_nominal_frequency_hertz{pmu=\"cpu\"}";

	read_all(true, false);
	metrics_expect(running, NULL);
	metrics_expect(nominal, NULL);

	/* Both events are of one PMU, and the second one counts cycles. */
	rendered.snapshot.events[0].event.nominal_hz = rendered.snapshot.events[1].event.nominal_hz = 2.6e9;
	rendered.snapshot.events[1].frequency_hz = (struct maybe_double){true, 3141592653.5};
	read_all(true, false);
	metrics_expect(running, "3141592653.5");
	metrics_expect(nominal, "2600000000");
}

Test(prometheus, virtual_machines_that_have_series_are_marked)
{
	struct snapshot_cgroup cgroups[] = {{.path = "/system.slice/a.service", .guest_not_sampled = true},
					    {.path = "/secret", .guest_not_sampled = true},
					    {.path = "other"}};

	rendered.snapshot.cgroups = cgroups;
	rendered.snapshot.n_cgroups = ARRAY_SIZE(cgroups);
	read_all(true, false);
	metrics_expect("pebsd_guest_not_sampled{cgroup=\"/system.slice/a.service\"}", "1");
	metrics_expect("pebsd_guest_not_sampled{cgroup=\"/secret\"}", NULL);
	metrics_expect("pebsd_guest_not_sampled{cgroup=\"other\"}", NULL);
}

#define OF_A(pmu) "{cgroup=\"/system.slice/a.service\",pmu=\"" pmu "\"}"

/* An event of counts has one series for each cgroup: its estimate, without the label `event`. */
Test(prometheus, counts_are_exported_as_estimates_under_their_own_names)
{
	static const struct event events[] = {
		{.role = EVENT_CYCLES, .pmu = "cpu_core", .period = 1000003},
		{.role = EVENT_INSTRUCTIONS, .pmu = "cpu_core", .settings = {.has_code_address = 1}},
		{.role = EVENT_STALLS, .pmu = "cpu_core", .count_kind = COUNT_STALLS_LOAD},
		{.role = EVENT_MISSES, .pmu = "cpu_core", .count_kind = COUNT_MISSES_L3},
		{.role = EVENT_STALLS, .pmu = "cpu_atom", .count_kind = COUNT_STALLS_L1_MISS},
	};
	/* The second is above 2^53, which must not be converted to a double. */
	u64 estimates[EVENTS_MAX] = {5000000, 9007199254740993, 2000000, 30000, 70};
	struct counters counters[ARRAY_SIZE(events)] = {0};

	for (int openmetrics = 0; openmetrics < 2; openmetrics++) {
		setup();
		rendered.snapshot.n_events = ARRAY_SIZE(events);
		for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
			rendered.snapshot.events[i] = (struct snapshot_event){.event = events[i]};
			counters[i].samples[SOURCE_UNKNOWN] = 5;
			counters[i].weight[SOURCE_UNKNOWN] = 5000;
			rendered.series[0].counters[i] = &counters[i];
		}
		rendered.series[0].estimates = estimates;
		read_all(openmetrics, true);
		metrics_expect("pebsd_cycles_total" OF_A("cpu_core"), "5000000");
		metrics_expect("pebsd_instructions_total" OF_A("cpu_core"), "9007199254740993");
		metrics_expect("pebsd_stalled_cycles_total" OF_A("cpu_core"), "2000000");
		metrics_expect("pebsd_stalled_cycles_total" OF_A("cpu_atom"), "70");
		metrics_expect("pebsd_llc_misses_total" OF_A("cpu_core"), "30000");
		metrics_expect(
			"pebsd_weighted_samples_total{cgroup=\"/system.slice/a.service\",event=\"cycles\",pmu=\"cpu_core\"}",
			NULL);
		/* Precise instructions also have the counter that they always had. */
		metrics_expect(
			"pebsd_weighted_samples_total{cgroup=\"/system.slice/a.service\",event=\"instructions\",pmu=\"cpu_core\"}",
			"5000");
		metrics_expect("pebsd_event_info{event=\"stalls\",pmu=\"cpu_core\",counts=\"load\"}", "1");
		metrics_expect("pebsd_event_info{event=\"stalls\",pmu=\"cpu_atom\",counts=\"l1_miss\"}", "1");
		metrics_expect("pebsd_event_info{event=\"misses\",pmu=\"cpu_core\",counts=\"l3\"}", "1");
		metrics_expect("pebsd_event_info{event=\"cycles\",pmu=\"cpu_core\"}", NULL);
	}
}

Test(prometheus, counts_of_a_recording_without_a_pmu_have_only_the_cgroup)
{
	u64 estimates[EVENTS_MAX] = {0, 40};

	rendered.snapshot.events[1].event = (struct event){.role = EVENT_CYCLES};
	rendered.series[0].counters[1] = &rendered.counters[0][1];
	rendered.series[0].estimates = estimates;
	read_all(true, false);
	metrics_expect("pebsd_cycles_total{cgroup=\"/system.slice/a.service\"}", "40");
}
