// SPDX-License-Identifier: GPL-2.0
#include "window/baseline.h"

#include <math.h>
#include <string.h>

/* Smaller values become 0: subnormal floats are slow to calculate with. */
#define NOTHING 1e-12F

static void age_row(float *row, size_t n, float factor)
{
	for (size_t i = 0; i < n; i++)
		row[i] = row[i] > NOTHING ? row[i] * factor : 0;
}

static void age(struct baseline *baseline, double factor)
{
	float narrow = (float)factor;

	baseline->seconds *= factor;
	baseline->seconds_squared *= factor * factor;
	baseline->samples *= factor;
	baseline->samples_squared *= factor * factor;
	baseline->weight *= factor;
	baseline->weight_squared *= factor * factor;
	baseline->latency_sum *= factor;
	age_row(&baseline->hitm, 1, narrow);
	age_row(&baseline->tlb_walk, 1, narrow);
	age_row(&baseline->locked, 1, narrow);
	age_row(baseline->sources, SOURCE_SLOTS, narrow);
	age_row(baseline->latency, FINE_BUCKETS, narrow);
}

void baseline_add(struct baseline *baseline, u64 half_life_ns, u64 now_ns, double seconds,
		  const struct tally *tally)
{
	if (now_ns > baseline->at_ns) {
		if (baseline->seconds > 0)
			age(baseline, exp2(-(double)(now_ns - baseline->at_ns) / (double)half_life_ns));
		baseline->at_ns = now_ns;
	}
	baseline->seconds += seconds;
	baseline->seconds_squared += seconds;
	if (!tally->samples && !tally->latency_samples)
		return;

	baseline->samples += (double)tally->samples;
	baseline->samples_squared += (double)tally->samples;
	baseline->weight += (double)tally->weight;
	baseline->weight_squared += tally->weight_squared;
	baseline->latency_sum += (double)tally->latency_sum;
	baseline->hitm += (float)tally->hitm;
	baseline->tlb_walk += (float)tally->tlb_walk;
	baseline->locked += (float)tally->locked;
	for (u32 i = 0; i < SOURCE_SLOTS; i++)
		baseline->sources[i] += (float)tally->sources[i];
	for (u32 i = 0; i < FINE_BUCKETS; i++)
		baseline->latency[i] += (float)tally->latency[i];
}

double baseline_covered(const struct baseline *baseline)
{
	return baseline->seconds_squared > 0
		       ? baseline->seconds * baseline->seconds / baseline->seconds_squared
		       : 0;
}

static u32 to_u32(double count)
{
	return count < ~0U ? (u32)count : ~0U;
}

static u64 to_u64(double count)
{
	return count < 0x1p64 ? (u64)count : ~0ULL;
}

/* Rounds the running sum, not each bucket, so that the few samples in a tail are not lost. */
static u64 scale_histogram(const float from[FINE_BUCKETS], double factor, u32 to[FINE_BUCKETS])
{
	double sum = 0;
	u64 before = 0;
	u64 total = 0;

	for (u32 i = 0; i < FINE_BUCKETS; i++) {
		u64 whole;

		sum += (double)from[i] * factor;
		whole = to_u64(sum + 0.5);
		to[i] = to_u32((double)(whole - before));
		total += to[i];
		before = whole;
	}
	return total;
}

void baseline_tally(const struct baseline *baseline, struct tally *ret, double *ret_seconds)
{
	double factor;

	memset(ret, 0, sizeof(*ret));
	*ret_seconds = baseline->seconds;
	if (!(baseline->samples_squared > 0))
		return;

	/*
	 * Factor from sums of weights to the number of equally weighted samples with the same information (Kish).
	 */
	factor = baseline->samples / baseline->samples_squared;
	/* Rounds down; the slack is for an error in the last digit. */
	ret->samples = to_u64(baseline->samples * factor * (1 + 1e-9));
	/* Rates use their own sums of weights, which are aged as well, and need no scaling. */
	ret->weight = to_u64(baseline->weight + 0.5);
	ret->weight_squared = baseline->weight_squared;
	ret->latency_sum = to_u64(baseline->latency_sum * factor + 0.5);
	ret->hitm = to_u32(baseline->hitm * factor + 0.5);
	ret->tlb_walk = to_u32(baseline->tlb_walk * factor + 0.5);
	ret->locked = to_u32(baseline->locked * factor + 0.5);
	for (u32 i = 0; i < SOURCE_SLOTS; i++)
		ret->sources[i] = to_u32(baseline->sources[i] * factor + 0.5);
	ret->latency_samples = scale_histogram(baseline->latency, factor, ret->latency);
}
