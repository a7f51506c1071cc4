// SPDX-License-Identifier: GPL-2.0
#include "collect/figures.h"

#include <string.h>

static u64 add_saturating(u64 a, u64 b)
{
	u64 sum;

	return __builtin_add_overflow(a, b, &sum) ? ~0ULL : sum;
}

static u64 sum_of(const u64 *values, size_t n)
{
	u64 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = add_saturating(sum, values[i]);
	return sum;
}

void figures_add(struct figures *sum, const struct figures *addend)
{
	u64 *to = (u64 *)sum;
	const u64 *from = (const u64 *)addend;

	_Static_assert(sizeof(*sum) % sizeof(u64) == 0, "a row of counters");
	for (size_t i = 0; i < FIGURES_COUNTERS; i++)
		to[i] = add_saturating(to[i], from[i]);
}

static void subtract32(u64 *ret, const u32 *now, const u32 *before, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = now[i] - before[i]; /* modulo 2^32, before it is widened */
}

static void subtract64(u64 *ret, const u64 *now, const u64 *before, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = now[i] - before[i];
}

bool figures_plain_difference(const struct sample_counts *now, const struct sample_counts *before,
			      struct figures *ret)
{
	memset(ret, 0, sizeof(*ret));
	subtract64(ret->weight, now->weight, before->weight, SOURCE_SLOTS);
	subtract32(ret->samples, now->samples, before->samples, SOURCE_SLOTS);
	subtract32(ret->snoop, now->snoop, before->snoop, SNOOP_SLOTS);
	subtract32(ret->tlb, now->tlb, before->tlb, TLB_SLOTS);
	subtract32(&ret->locked, &now->locked, &before->locked, 1);
	subtract32(&ret->blocked, &now->blocked, &before->blocked, 1);
	return figures_samples(ret) > 0;
}

bool figures_difference(const struct latency_record *now, const struct latency_record *before,
			struct figures *ret)
{
	bool any = figures_plain_difference(&now->counts, &before->counts, ret);

	subtract64(ret->latency_sum, now->latency_sum, before->latency_sum, SOURCE_SLOTS);
	subtract64(ret->weighted_latency, now->weighted_latency, before->weighted_latency, SOURCE_SLOTS);
	subtract64(&ret->instruction_latency_sum, &now->instruction_latency_sum,
		   &before->instruction_latency_sum, 1);
	subtract32(ret->latency, now->latency, before->latency, FINE_BUCKETS);
	for (size_t i = 0; i < SOURCE_SLOTS; i++)
		subtract32(ret->source_latency[i], now->source_latency[i], before->source_latency[i],
			   OCTAVE_BUCKETS);
	subtract32(ret->instruction_latency, now->instruction_latency, before->instruction_latency,
		   COARSE_BUCKETS);
	return any;
}

u64 figures_samples(const struct figures *figures)
{
	return sum_of(figures->samples, SOURCE_SLOTS);
}

u64 figures_weight(const struct figures *figures)
{
	return sum_of(figures->weight, SOURCE_SLOTS);
}

u64 figures_latency_sum(const struct figures *figures)
{
	return sum_of(figures->latency_sum, SOURCE_SLOTS);
}

u64 figures_weighted_latency(const struct figures *figures)
{
	return sum_of(figures->weighted_latency, SOURCE_SLOTS);
}

u64 figures_latency_samples(const struct figures *figures)
{
	return sum_of(figures->latency, FINE_BUCKETS);
}

u64 figures_instruction_latency_samples(const struct figures *figures)
{
	return sum_of(figures->instruction_latency, COARSE_BUCKETS);
}

u64 figures_tlb_walk(const struct figures *figures)
{
	return add_saturating(figures->tlb[TLB_WALK],
			      add_saturating(figures->tlb[TLB_MISS], figures->tlb[TLB_FAULT]));
}
