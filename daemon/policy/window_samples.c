// SPDX-License-Identifier: GPL-2.0
#include "policy/window_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "window/sliding.h"

/* As many parts as the windows of rules have. */
#define PARTS_MAX SLIDING_PANES

_Static_assert(PARTS_MAX <= BURSTS_PARTS_MAX, "all parts fit");

struct summing {
	const u32 *entries;
	size_t n_entries;
	struct window_samples *samples;
	size_t collections;
	u64 begin_ns, end_ns; /* of all collections */
	size_t part;          /* the part of time to which the collection belongs, of PARTS_MAX */
};

static int measure_collection(u64 begin_ns, u64 end_ns, void *userdata)
{
	struct summing *summing = userdata;

	if (summing->collections++ == 0)
		summing->begin_ns = begin_ns;
	summing->end_ns = end_ns;
	return 0;
}

/* A collection belongs to the part in which it ends. A part in which none ends is left out. */
static int begin_collection(u64 begin_ns, u64 end_ns, void *userdata)
{
	struct summing *summing = userdata;
	struct window_samples *samples = summing->samples;
	u64 all_ns = summing->end_ns - summing->begin_ns;
	u64 before_ns = end_ns > summing->begin_ns ? end_ns - summing->begin_ns - 1 : 0;
	size_t part = all_ns ? (size_t)((double)before_ns / (double)all_ns * PARTS_MAX) : 0;

	if (samples->n_parts == 0 || part != summing->part) {
		for (unsigned event = 0; event < EVENTS_MAX; event++)
			samples->parts[event][samples->n_parts] = (struct measured_part){0};
		samples->n_parts++;
		summing->part = part;
	}
	for (unsigned event = 0; event < EVENTS_MAX; event++)
		samples->parts[event][samples->n_parts - 1].seconds +=
			(double)(end_ns - begin_ns) / (double)NSEC_PER_SEC;
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	u32 one = *(const u32 *)a, other = *(const u32 *)b;

	return (one > other) - (one < other);
}

static int add_record(u32 entry, unsigned event, const u8 *pairs, size_t size, void *userdata)
{
	struct summing *summing = userdata;
	struct window_samples *samples = summing->samples;
	struct tally tally;

	if (!bsearch(&entry, summing->entries, summing->n_entries, sizeof(entry), compare_entries))
		return 0;
	tally_of(pairs, size, &tally);
	tally_add(&samples->parts[event][samples->n_parts - 1].tally, &tally);
	tally_add(&samples->sums[event], &tally);
	return 0;
}

int window_samples_of(const struct window *window, u64 span_ns, u32 *entries, size_t n_entries,
		      struct window_samples *ret)
{
	struct summing summing = {.entries = entries, .n_entries = n_entries, .samples = ret};
	int r;

	qsort(entries, n_entries, sizeof(*entries), compare_entries);
	ret->n_parts = 0;
	memset(ret->sums, 0, sizeof(ret->sums));
	r = window_walk(window, span_ns,
			&(struct window_visitor){.collection = measure_collection, .userdata = &summing});
	if (r < 0)
		return r;
	if (summing.collections < BURSTS_COLLECTIONS_MIN)
		return -ENODATA;
	return window_walk(window, span_ns,
			   &(struct window_visitor){.collection = begin_collection,
						    .pairs = add_record,
						    .userdata = &summing});
}

static void estimate_metric(const struct window_samples *samples, unsigned event, const struct metric *metric,
			    double confidence, struct estimate *ret)
{
	const struct rule rule = {.metric = *metric, .confidence = confidence};
	struct measured measured = {
		.tally = &samples->sums[event],
		.parts = samples->parts[event],
		.n_parts = samples->n_parts,
	};

	measured.effect = estimate_effect(&rule, NULL, &measured);
	estimate_of(&rule, NULL, &measured, ret);
}

void window_samples_quantile(const struct window_samples *samples, unsigned event, double q,
			     double confidence, struct estimate *ret)
{
	estimate_metric(samples, event, &(struct metric){.kind = METRIC_QUANTILE, .quantile = q}, confidence,
			ret);
}

void window_samples_share(const struct window_samples *samples, unsigned event, u32 source, double confidence,
			  struct estimate *ret)
{
	estimate_metric(
		samples, event,
		&(struct metric){.kind = METRIC_SHARE, .share = METRIC_SHARE_SOURCE, .source = source},
		confidence, ret);
}
