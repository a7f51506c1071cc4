// SPDX-License-Identifier: GPL-2.0
/*
 * history_panes [CGROUPS [SAMPLES]]: adds collections up to panes as the daemon does for its history, with CGROUPS
 * cgroups (1,000) that each have SAMPLES samples (20) a second of loads, which have a latency and a data source, and as
 * many of four events that only count. Prints, as JSON, the processor time of the daemon's side in percent of one CPU,
 * with the block that the keeper is sent, and the memory. Fails if 1,000 cgroups cost more than the claim.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/heap.h"
#include "base/own_memory.h"
#include "bench_line.h"
#include "clock.h"
#include "collect/totals.h"
#include "history/panes.h"
#include "history/shared/history_wire.h"
#include "pebsd/data_source.h"
#include "pebsd/histogram.h"

#define EVENTS  5
#define SECONDS 60

/* Claims for 1,000 cgroups, in percent of one CPU and in KiB. The keeper's are in history_cost.c. */
#define CLAIM_CPU_PERCENT 0.06
#define CLAIM_MEMORY_KIB  1536

static const char group[] = "history";

/* Deltas are made before they are measured. Later collections repeat them. */
#define MADE 10

struct made {
	struct delta *list;
	size_t n;
};

static struct totals *totals;
static u64 random_state = 1;
static u64 sent_bytes, panes_sent;

static u32 some(u32 below)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return below ? (u32)(random_state >> 33) % below : 0;
}

static void demand(bool condition, const char *what)
{
	if (condition)
		return;
	(void)fprintf(stderr, "history_panes: %s\n", what);
	exit(EXIT_FAILURE);
}

/* Most latencies are short, and few are very long. */
static void add_load(struct counters *counters)
{
	static const enum source sources[] = {SOURCE_L1, SOURCE_L1, SOURCE_LFB,        SOURCE_L2,
					      SOURCE_L3, SOURCE_L3, SOURCE_LOCAL_DRAM, SOURCE_REMOTE_DRAM};
	const enum source source = sources[some(8)];
	const u32 latency = 31 + some(20) + some(200) * some(4) * some(2);

	counters->samples[source]++;
	counters->weight[source] += 1009;
	counters->latency_sum[source] += latency;
	counters->weighted_latency[source] += 1009ULL * latency;
	counters->latency[histogram_fine_index(latency)]++;
	counters->source_latency[source][histogram_octave_index(latency)]++;
	counters->snoop[SNOOP_NONE]++;
	counters->tlb[some(16) ? TLB_L1_HIT : TLB_L2_HIT]++;
}

static void make(struct made *made, u32 cgroups, u32 samples)
{
	made->list = calloc((size_t)cgroups * EVENTS, sizeof(*made->list));
	demand(made->list != NULL, "no memory");
	for (u32 cgroup = 0; cgroup < cgroups; cgroup++)
		for (u32 event = 0; event < EVENTS; event++) {
			struct counters counters = {0};
			u8 packed[PACKED_MAX], *copy;
			char path[128];
			struct delta *to = &made->list[made->n++];

			(void)snprintf(path, sizeof(path),
				       "/kubepods.slice/kubepods-burstable.slice/pod-%u/container-%u.scope",
				       cgroup / 3, cgroup);
			for (u32 i = 0; i < samples && event == 0; i++)
				add_load(&counters);
			if (event > 0) {
				counters.samples[SOURCE_UNKNOWN] = 1 + some(samples);
				counters.weight[SOURCE_UNKNOWN] = 1000003 * counters.samples[SOURCE_UNKNOWN];
			}
			to->event = event;
			to->size = (u32)packed_of(&counters, packed);
			copy = malloc(to->size);
			demand(copy && totals_get(totals, path, &to->entry) == 0, "no memory");
			memcpy(copy, packed, to->size);
			to->packed = copy;
		}
}

/* As the daemon does, but without the keeper: the descriptor is closed. */
static void on_complete(void *userdata, const struct history_pane *pane)
{
	u8 *block;
	size_t size;
	int fd;

	(void)userdata;
	demand(history_pane_write(pane, &block, &size) == 0, "no block");
	demand(history_block_new(block, size, &fd) == 0, "no memory for the block");
	(void)close(fd);
	free(block);
	sent_bytes += size;
	panes_sent++;
}

static void on_lost(void *userdata, int error)
{
	(void)userdata;
	demand(false, strerror(-error));
}

int main(int argc, char **argv)
{
	const u32 cgroups = argc > 1 ? (u32)strtoul(argv[1], NULL, 10) : 1000;
	const u32 samples = argc > 2 ? (u32)strtoul(argv[2], NULL, 10) : 20;
	const struct panes_settings settings = {.complete = on_complete, .lost = on_lost};
	const struct clocks began = {.realtime_us = 1795240800000000, .monotonic_ns = NSEC_PER_SEC};
	struct snapshot head = {.origin = "model", .n_events = EVENTS};
	struct reading readings[EVENTS_MAX] = {0};
	struct made made[MADE] = {0};
	struct panes *panes;
	u64 before_bytes, peak_bytes, longest_ns = 0, spent_ns = 0;
	double percent;

	heap_map_large(); /* as the daemon does */
	demand(totals_new(&totals) == 0, "no memory");
	for (unsigned i = 0; i < EVENTS; i++) {
		struct snapshot_event *event = &head.events[i];

		event->event = (struct event){.role = i == 0 ? EVENT_LOADS : EVENT_CYCLES, .period = 1009};
		(void)snprintf(event->key, sizeof(event->key), "event%u", i);
	}
	for (unsigned i = 0; i < MADE; i++)
		make(&made[i], cgroups, samples);
	demand(own_memory_peak(&before_bytes) == 0, "no VmHWM");
	demand(panes_new(&settings, &began, readings, &panes) == 0, "no memory");
	for (u64 second = 1; second <= SECONDS; second++) {
		const struct panes_collection collection = {
			.at = {began.realtime_us + second * 1000000,
			       began.monotonic_ns + second * NSEC_PER_SEC},
			.head = &head,
			.readings = readings,
			.list = made[second % MADE].list,
			.n = made[second % MADE].n,
		};
		const u64 from = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		u64 took;

		panes_add(panes, &collection);
		took = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - from;
		spent_ns += took;
		longest_ns = took > longest_ns ? took : longest_ns;
	}
	panes_free(panes);
	demand(own_memory_peak(&peak_bytes) == 0, "no VmHWM");
	percent = 100 * (double)spent_ns / ((double)SECONDS * (double)NSEC_PER_SEC);
	bench_line(group, "cgroups", "", cgroups);
	bench_line(group, "collections", "percent", percent);
	bench_line(group, "longest collection", "ms", (double)longest_ns / 1e6);
	bench_line(group, "memory", "KiB", (double)(peak_bytes - before_bytes) / 1024);
	bench_line(group, "block", "KiB", (double)sent_bytes / (double)(panes_sent ? panes_sent : 1) / 1024);
	demand(cgroups > 1000 || percent <= CLAIM_CPU_PERCENT, "it takes more processor time than claimed");
	demand(cgroups > 1000 || peak_bytes - before_bytes <= CLAIM_MEMORY_KIB * 1024ULL,
	       "it needs more memory than claimed");
	return 0;
}
