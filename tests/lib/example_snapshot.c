// SPDX-License-Identifier: GPL-2.0
#include "example_snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "export/json/json.h"
#include "snapshot/snapshot_counters.h"

void example_add(struct counters *counters, u64 n, enum source source, u32 latency, u64 period,
		 enum snoop snoop, enum tlb tlb)
{
	counters->samples[source] += n;
	counters->weight[source] += n * period;
	counters->latency_sum[source] += n * latency;
	counters->weighted_latency[source] += n * latency * period;
	counters->latency[histogram_fine_index(latency)] += n;
	counters->source_latency[source][histogram_octave_index(latency)] += n;
	counters->snoop[snoop] += n;
	counters->tlb[tlb] += n;
}

struct snapshot *example_replay(void)
{
	static struct snapshot snapshot;
	static struct snapshot_cgroup cgroups[2];
	static struct counters kstaled, evil;

	memset(&kstaled, 0, sizeof(kstaled));
	memset(&evil, 0, sizeof(evil));
	example_add(&kstaled, 3, SOURCE_L1, 100, 0, SNOOP_NONE, TLB_HIT);
	example_add(&kstaled, 1, SOURCE_L2, 77, 0, SNOOP_NONE, TLB_HIT);
	example_add(&kstaled, 4, SOURCE_LFB, 140, 0, SNOOP_NONE, TLB_HIT);
	example_add(&kstaled, 1, SOURCE_LFB, 169, 0, SNOOP_NONE, TLB_MISS);
	example_add(&kstaled, 3, SOURCE_L3, 120, 0, SNOOP_NONE, TLB_HIT);
	example_add(&kstaled, 1, SOURCE_L3, 147, 0, SNOOP_NONE, TLB_HIT);
	kstaled.locked = 2;
	example_add(&evil, 1, SOURCE_L1, 112, 0, SNOOP_NONE, TLB_HIT);

	cgroups[0] =
		(struct snapshot_cgroup){.path = "comm:kstaled", .alive = true, .counters = {[0] = &kstaled}};
	cgroups[1] = (struct snapshot_cgroup){
		.path = "comm:evil\033[2J", .alive = true, .counters = {[0] = &evil}};
	snapshot = (struct snapshot){
		.origin = "replay",
		.since = {.tv_sec = 1795240800},
		.taken = {.tv_sec = 1795240860},
		.n_events = 1,
		.events[0] = {.event = {.role = EVENT_LOADS,
					.pmu = "cpu",
					.ldlat = 64,
					.latency_kind = LATENCY_USE,
					.settings = {.has_latency = 1, .has_source = 1}},
			      .key = "loads"},
		.n_cgroups = 2,
		.cgroups = cgroups,
		.cgroups_alive = 2,
		.slots = 512,
		.slots_free = 509,
		.stripes = 1,
		.map_bytes = 1310720,
		.collection_seconds = 0.0004,
		.interval_seconds = 1,
		.config_reloaded = true,
		.config_time = {.tv_sec = 1795240799},
		.replay_done = true,
	};
	counters_add(&snapshot.events[0].total, &kstaled);
	counters_add(&snapshot.events[0].total, &evil);
	return &snapshot;
}

struct snapshot *example_perf(void)
{
	static const char *const notes[] = {"cpu_atom: no counter was free on CPU 4", NULL};
	static const char *const files[] = {"/etc/pebsd/pebsd.conf", "/etc/pebsd/pebsd.conf.d/a.conf",
					    "/etc/pebsd/pebsd.conf.d/b.conf", NULL};
	static struct snapshot snapshot;
	static struct snapshot_cgroup cgroups[2];
	static struct snapshot_cpu per_cpu[4];
	static struct counters database, database_atom, root, lost;

	memset(&database, 0, sizeof(database));
	memset(&database_atom, 0, sizeof(database_atom));
	memset(&root, 0, sizeof(root));
	memset(&lost, 0, sizeof(lost));
	example_add(&database, 5, SOURCE_REMOTE_DRAM, 400, 1009, SNOOP_MISS, TLB_WALK);
	example_add(&database, 5, SOURCE_REMOTE_CACHE, 400, 1009, SNOOP_HITM, TLB_L1_HIT);
	database.blocked = 1;
	example_add(&database_atom, 1, SOURCE_L2, 30, 2003, SNOOP_NA, TLB_NA);
	example_add(&root, 90, SOURCE_L1, 20, 1009, SNOOP_NONE, TLB_L1_HIT);
	example_add(&lost, 2, SOURCE_L1, 2000000, 1009, SNOOP_NONE, TLB_L1_HIT);

	cgroups[0] = (struct snapshot_cgroup){.path = "/system.slice/db.service",
					      .id = 1234,
					      .alive = true,
					      .counters = {[0] = &database, [1] = &database_atom}};
	cgroups[1] = (struct snapshot_cgroup){.path = "/", .id = 1, .alive = true, .counters = {[0] = &root}};
	per_cpu[0] = (struct snapshot_cpu){.cpu = 0,
					   .online = true,
					   .expected = 70,
					   .seen = {.known = true, .value = 69},
					   .running_ratio = {.known = true, .value = 1},
					   .throttled_seconds = {.known = true, .value = 0.25}};
	per_cpu[1] = (struct snapshot_cpu){.cpu = 1,
					   .online = true,
					   .expected = 35,
					   .running_ratio = {.known = true, .value = 0.9},
					   .throttled_seconds = {.known = true, .value = 0}};
	per_cpu[2] = (struct snapshot_cpu){.cpu = 2, .online = true, .in_error = true};
	per_cpu[3] = (struct snapshot_cpu){.cpu = 3, .online = true, .in_error = true};
	snapshot = (struct snapshot){
		.origin = "perf",
		.sequence = 17,
		.since = {.tv_sec = 1795240800},
		.taken = {.tv_sec = 1795240860},
		.n_events = 2,
		.events[0] = {.event = {.role = EVENT_LOADS,
					.pmu = "cpu_core",
					.ldlat = 30,
					.latency_kind = LATENCY_CACHE,
					.period = 1009,
					.settings = {.has_latency = 1, .has_source = 1}},
			      .key = "loads:cpu_core",
			      .cpus = "0-3",
			      .unattributed = 2,
			      .lost_unexplained = {.known = true, .value = 3},
			      .multiplexed_seconds = {.known = true, .value = 1.5},
			      .running_ratio = {.known = true, .value = 0.975},
			      .throttled_seconds = {.known = true, .value = 0.25},
			      .throttles = {.known = true, .value = 63},
			      .rearmed = {.known = true, .value = 2},
			      .n_per_cpu = 4,
			      .per_cpu = per_cpu},
		.events[1] = {.event = {.role = EVENT_LOADS,
					.pmu = "cpu_atom",
					.ldlat = 30,
					.latency_kind = LATENCY_CACHE,
					.period = 2003,
					.settings = {.has_latency = 1, .has_source = 1}},
			      .key = "loads:cpu_atom",
			      .cpus = "4-7",
			      .lost_malformed = {true, 1},
			      .multiplexed_seconds = {.known = true, .value = 0}},
		.n_cgroups = 2,
		.cgroups = cgroups,
		.cgroups_alive = 57,
		.slots = 512,
		.slots_free = 454,
		.slots_limit = 4096,
		.stripes = 4,
		.map_bytes = 10485760,
		.map_bytes_max = 67108864,
		.anonymous_bytes = {.known = true, .value = 3565158},
		.anonymous_peak_bytes = {.known = true, .value = 11744051},
		.births_without_slot = 3,
		.slots_missing = true,
		.collection_seconds = 0.000412,
		.interval_seconds = 1,
		.config_reloaded = false,
		.config_time = {.tv_sec = 1795240799},
		.config_files = files,
		.notes = notes,
	};
	counters_add(&snapshot.events[0].total, &database);
	counters_add(&snapshot.events[0].total, &root);
	counters_add(&snapshot.events[0].total, &lost);
	counters_add(&snapshot.events[1].total, &database_atom);
	return &snapshot;
}

static void add_without_latency(struct counters *counters, u64 n, enum source source, u64 period,
				enum tlb tlb)
{
	counters->samples[source] += n;
	counters->weight[source] += n * period;
	counters->snoop[SNOOP_NA] += n;
	counters->tlb[tlb] += n;
}

static struct snapshot_event several_event(enum event_role role, const char *key, const char *pmu, u64 period,
					   struct event_settings settings)
{
	struct snapshot_event event = {
		.event = {.role = role, .period = period, .settings = settings},
		.unattributed = 0,
		.lost_unexplained = {.known = true},
		.multiplexed_seconds = {.known = true},
		.running_ratio = {.known = true, .value = 1},
		.throttled_seconds = {.known = true},
		.throttles = {.known = true},
	};

	(void)stpcpy(event.key, key);
	(void)stpcpy(event.event.pmu, pmu);
	if (settings.has_latency) {
		event.event.ldlat = 30;
		event.event.latency_kind = LATENCY_CACHE;
	}
	return event;
}

struct snapshot *example_several(void)
{
	static struct snapshot snapshot;
	static struct snapshot_cgroup cgroups[3];
	static struct counters counters[3][4];
	const struct event_settings latency = {.has_latency = 1, .has_source = 1};

	memset(counters, 0, sizeof(counters));
	example_add(&counters[0][0], 40, SOURCE_L3, 100, 1009, SNOOP_HIT, TLB_L1_HIT);
	example_add(&counters[0][1], 10, SOURCE_LOCAL_DRAM, 300, 2003, SNOOP_NONE, TLB_L1_HIT);
	add_without_latency(&counters[0][2], 30, SOURCE_L1, 5003, TLB_HIT);
	add_without_latency(&counters[0][2], 10, SOURCE_UNKNOWN, 5003, TLB_MISS);
	counters[0][2].locked = 4;
	add_without_latency(&counters[0][3], 200, SOURCE_UNKNOWN, 2000003, TLB_NA);
	example_add(&counters[1][0], 5, SOURCE_L1, 20, 1009, SNOOP_NONE, TLB_L1_HIT);
	add_without_latency(&counters[1][3], 20, SOURCE_UNKNOWN, 2000003, TLB_NA);
	add_without_latency(&counters[2][2], 10, SOURCE_L1, 5003, TLB_HIT);
	add_without_latency(&counters[2][3], 400, SOURCE_UNKNOWN, 2000003, TLB_NA);

	cgroups[0] = (struct snapshot_cgroup){.path = "/system.slice/db.service", .id = 1234, .alive = true};
	cgroups[1] = (struct snapshot_cgroup){
		.path = "/machine.slice/vm.scope", .id = 77, .alive = true, .guest_not_sampled = true};
	cgroups[2] = (struct snapshot_cgroup){.path = "/batch", .id = 9, .alive = true};
	snapshot = *example_perf();
	snapshot.n_events = 4;
	snapshot.events[0] = several_event(EVENT_LOADS, "loads:cpu_core", "cpu_core", 1009, latency);
	snapshot.events[1] = several_event(EVENT_LOADS, "loads:cpu_atom", "cpu_atom", 2003, latency);
	snapshot.events[2] = several_event(EVENT_STORES, "stores", "cpu_core", 5003,
					   (struct event_settings){.has_source = 1});
	snapshot.events[3] = several_event(EVENT_INSTRUCTIONS, "instructions", "cpu_core", 2000003,
					   (struct event_settings){.has_code_address = 1});
	for (size_t i = 0; i < 4; i++) {
		(void)strcpy(snapshot.events[i].cpus, i == 1 ? "4-7" : "0-3");
		for (size_t j = 0; j < 3; j++) {
			if (counters_samples(&counters[j][i]) == 0)
				continue;
			cgroups[j].counters[i] = &counters[j][i];
			counters_add(&snapshot.events[i].total, &counters[j][i]);
		}
	}
	snapshot.cgroups = cgroups;
	snapshot.n_cgroups = 3;
	snapshot.notes = NULL;
	snapshot.config_reloaded = true;
	snapshot.events[0].multiplexed = snapshot.events[2].multiplexed = true;
	snapshot.events[0].running_ratio.value = 0.625;
	snapshot.events[2].running_ratio.value = 0.375;
	return &snapshot;
}

static struct snapshot_event count_event(enum event_role role, u64 period, enum count_kind kind)
{
	struct snapshot_event event =
		several_event(role, event_role_name(role), "cpu", period, (struct event_settings){0});

	(void)strcpy(event.cpus, "0-7");
	event.n_cpus = 8;
	event.event.count_kind = kind;
	return event;
}

struct snapshot *example_counts(void)
{
	static const u64 periods[5] = {1009, 100000000, 100000000, 100000000, 100000};
	static const u64 samples[3][5] = {{40, 800, 400, 250, 3000}, {0, 1000, 4000, 25, 100}, {5}};
	static struct snapshot snapshot;
	static struct snapshot_cgroup cgroups[3];
	static struct counters counters[3][5];

	snapshot = *example_perf();
	memset(counters, 0, sizeof(counters));
	cgroups[0] = (struct snapshot_cgroup){.path = "/checkout", .id = 11, .alive = true};
	cgroups[1] = (struct snapshot_cgroup){.path = "/old", .id = 13, .alive = true};
	cgroups[2] = (struct snapshot_cgroup){.path = "/batch", .id = 12, .alive = true};
	snapshot.n_events = 5;
	snapshot.events[0] = several_event(EVENT_LOADS, "loads", "cpu", periods[0],
					   (struct event_settings){.has_latency = 1, .has_source = 1});
	(void)strcpy(snapshot.events[0].cpus, "0-7");
	snapshot.events[0].n_cpus = 8;
	snapshot.events[1] = count_event(EVENT_CYCLES, periods[1], COUNT_NONE);
	snapshot.events[1].frequency_hz = (struct maybe_double){true, 2.5e9};
	snapshot.events[2] = count_event(EVENT_INSTRUCTIONS, periods[2], COUNT_NONE);
	snapshot.events[3] = count_event(EVENT_STALLS, periods[3], COUNT_STALLS_LOAD);
	snapshot.events[3].running_ratio.value = 0.5;
	snapshot.events[4] = count_event(EVENT_MISSES, periods[4], COUNT_MISSES_L3);
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 5; j++) {
			struct counters *of = &counters[i == 0 ? 0 : 3 - i][j];

			if (samples[i][j] == 0)
				continue;
			if (j == 0)
				example_add(of, samples[i][j], i == 0 ? SOURCE_LOCAL_DRAM : SOURCE_L3, 100,
					    periods[j], SNOOP_NONE, TLB_L1_HIT);
			else
				add_without_latency(of, samples[i][j], SOURCE_UNKNOWN, periods[j], TLB_NA);
			cgroups[i == 0 ? 0 : 3 - i].counters[j] = of;
			counters_add(&snapshot.events[j].total, of);
		}
	snapshot.window_seconds = (struct maybe_double){true, 10};
	snapshot.nominal_hz = (struct maybe_double){true, 2e9};
	snapshot.cgroups = cgroups;
	snapshot.n_cgroups = 3;
	snapshot.notes = NULL;
	snapshot.config_reloaded = true;
	return &snapshot;
}

u64 example_samples(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup, unsigned event)
{
	static struct snapshot_counters counters;

	snapshot_counters_of(snapshot, cgroup, &counters);
	return counters.of[event] ? counters_samples(counters.of[event]) : 0;
}

static int write_text(const char *text, size_t length, void *userdata)
{
	FILE *file = userdata;

	return fwrite(text, 1, length, file) == length ? 0 : -ENOMEM;
}

json_object *example_top(const struct snapshot *snapshot, const size_t *cgroups, size_t n)
{
	_cleanup_free_ char *text = NULL;
	json_object *top = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);
	int r;

	if (!file)
		return NULL;
	r = json_write_top(snapshot, cgroups, n, NULL, JSON_C_TO_STRING_PLAIN, write_text, file);
	if (fclose(file) != 0 || r < 0 || json_parse(text, length, 32, &top) < 0)
		return NULL;
	return top;
}
