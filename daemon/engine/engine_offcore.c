// SPDX-License-Identifier: GPL-2.0
#include "engine/engine_offcore.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "collect/packed.h"
#include "kernel/kernel_offcore.h"
#include "window/window.h"

/*
 * A cgroup's delta takes about 60 bytes a collection, so this is enough for 100 busy cgroups for ten
 * minutes.
 */
#define OFFCORE_WINDOW_BYTES ((size_t)8 << 20)

struct engine_offcore {
	const struct kernel_offcore *kernel;
	const struct totals *totals;
	struct window *window; /* holds rows made by offcore_pack() */
	u64 entered_ns;
	double spent_ns; /* estimated time that all CPUs had spent on counting at the last collection */
};

static u64 load(const u64 *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static double spent_on(u64 settles, u64 timed, u64 timed_ns)
{
	return timed ? (double)timed_ns / (double)timed * (double)settles : 0;
}

/* The time that counting took before this process: the counters in the maps are those of all processes. */
static double spent_before(const struct kernel_offcore *kernel)
{
	u64 settles = 0, timed = 0, timed_ns = 0;

	for (u32 cpu = 0; cpu < kernel_offcore_cpus(kernel); cpu++) {
		const struct offcore_cpu *state = kernel_offcore_cpu(kernel, cpu);

		settles += load(&state->settles);
		timed += load(&state->timed);
		timed_ns += load(&state->timed_ns);
	}
	return spent_on(settles, timed, timed_ns);
}

int engine_offcore_new(const struct kernel *kernel, const struct totals *totals, u64 max_ns, u64 start_ns,
		       const struct timespec *start, u64 now_ns, struct engine_offcore **ret)
{
	_cleanup_(engine_offcore_freep) struct engine_offcore *offcore = NULL;
	int r;

	*ret = NULL;
	if (!kernel_offcore(kernel))
		return 0;
	offcore = calloc(1, sizeof(*offcore));
	if (!offcore)
		return -ENOMEM;
	offcore->kernel = kernel_offcore(kernel);
	offcore->totals = totals;
	offcore->entered_ns = now_ns;
	offcore->spent_ns = spent_before(offcore->kernel);
	r = window_new(OFFCORE_WINDOW_BYTES, max_ns, start_ns, start, &offcore->window);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(offcore);
	return 0;
}

struct engine_offcore *engine_offcore_free(struct engine_offcore *offcore)
{
	if (!offcore)
		return NULL;
	window_free(offcore->window);
	free(offcore);
	return NULL;
}

static void put(struct engine_offcore *offcore, const struct totals_entry *entry)
{
	struct counters row;
	u8 packed[PACKED_MAX];

	if (!entry->offcore_delta)
		return;
	offcore_pack(entry->offcore_delta, &row);
	window_put(offcore->window, entry->number, 0, packed, packed_of(&row, packed));
}

static void add_cpu(struct snapshot_offcore *sum, const struct offcore_cpu *state, u32 pmu, u64 *timed,
		    u64 *timed_ns)
{
	sum->cpus += !(__atomic_load_n(&state->generation, __ATOMIC_RELAXED) & 1);
	sum->switches += load(&state->switches);
	sum->settles += load(&state->settles);
	*timed += load(&state->timed);
	*timed_ns += load(&state->timed_ns);
	for (size_t kind = 0; pmu < sum->n_pmus && kind < OFFCORE_KINDS; kind++)
		sum->pmus[pmu].errors[kind] += load(&state->errors[kind]);
}

/* Sets the members about errors and cost. The origin has already set those about its PMUs. */
static void describe_cost(struct engine_offcore *offcore, u64 now_ns, struct snapshot_offcore *ret)
{
	u64 timed = 0, timed_ns = 0;
	double spent;

	ret->cpus = ret->switches = ret->settles = 0;
	for (size_t pmu = 0; pmu < ret->n_pmus; pmu++)
		for (size_t kind = 0; kind < OFFCORE_KINDS; kind++)
			ret->pmus[pmu].errors[kind] = 0;
	for (u32 cpu = 0; cpu < kernel_offcore_cpus(offcore->kernel); cpu++) {
		u32 pmu;

		if (kernel_offcore_pmu(offcore->kernel, cpu, &pmu))
			add_cpu(ret, kernel_offcore_cpu(offcore->kernel, cpu), pmu, &timed, &timed_ns);
	}
	ret->settle_ns = ret->cost_ratio = (struct maybe_double){0};
	if (timed == 0)
		return;
	ret->settle_ns = (struct maybe_double){true, (double)timed_ns / (double)timed};
	spent = spent_on(ret->settles, timed, timed_ns);
	if (now_ns > offcore->entered_ns && ret->cpus > 0 && spent >= offcore->spent_ns)
		ret->cost_ratio = (struct maybe_double){true, (spent - offcore->spent_ns) /
								      (double)(now_ns - offcore->entered_ns) /
								      (double)ret->cpus};
	offcore->spent_ns = spent;
}

void engine_offcore_enter(struct engine_offcore *offcore, u64 now_ns, const struct timespec *now,
			  struct snapshot *head)
{
	struct totals_entry *const *entries;
	size_t n;
	int r;

	if (!offcore)
		return;
	window_begin(offcore->window, now_ns, now);
	entries = totals_entries(offcore->totals, &n);
	for (size_t i = 0; i < n; i++)
		put(offcore, entries[i]);
	put(offcore, totals_unattributed(offcore->totals));
	r = window_end(offcore->window);
	if (r < 0)
		(void)log_warning(
			0,
			"cannot add the off-core responses of this collection to their window: %s; it is empty and starts again",
			strerror(-r));
	describe_cost(offcore, now_ns, &head->offcore);
	head->offcore_known = true;
	offcore->entered_ns = now_ns;
}

static int add_row(u32 entry, unsigned event, const struct counters *row, void *userdata)
{
	struct offcore_counts counters;

	(void)event;
	offcore_unpack(row, &counters);
	return offcore_sums_add(userdata, entry, &counters);
}

/* Sums are sorted by entry: `other` and `unattributed` have the lowest numbers. */
static int add_totals(const struct engine_offcore *offcore, struct offcore_sums *sums)
{
	const struct totals_entry *first[] = {totals_other(offcore->totals),
					      totals_unattributed(offcore->totals)};
	struct totals_entry *const *entries;
	size_t n;
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(first); i++)
		if (first[i]->offcore_total)
			r = offcore_sums_add(sums, first[i]->number, first[i]->offcore_total);
	entries = totals_entries(offcore->totals, &n);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (entries[i]->offcore_total)
			r = offcore_sums_add(sums, entries[i]->number, entries[i]->offcore_total);
	return r;
}

int engine_offcore_sums(const struct engine_offcore *offcore, u64 span_ns, struct offcore_sums **ret)
{
	_cleanup_(offcore_sums_freep) struct offcore_sums *sums = NULL;
	struct window_span span;
	int r;

	*ret = NULL;
	if (!offcore)
		return 0;
	sums = calloc(1, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	r = span_ns ? window_each(offcore->window, span_ns, add_row, sums, &span) : add_totals(offcore, sums);
	/* An empty window means that nothing was counted. */
	if (r < 0 && r != -ENODATA)
		return r;
	*ret = TAKE_PTR(sums);
	return 0;
}
