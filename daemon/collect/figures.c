// SPDX-License-Identifier: GPL-2.0
#include "collect/figures.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/siphash.h"

static u64 sum_of(const u64 *values, size_t n)
{
	u64 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = add_saturating(sum, values[i]);
	return sum;
}

u32 figures_layout(void)
{
#define WORD_(name, word) word ","
#define NAME_(name, ...)  #name ","
	static const char names[] = SOURCES(WORD_) "/" SNOOPS(WORD_) "/" TLBS(WORD_) "/" ACCESS_FLAGS(NAME_);
#undef WORD_
#undef NAME_
	static const u64 places[] = {
		offsetof(struct figures, samples),
		offsetof(struct figures, weight),
		offsetof(struct figures, latency_sum),
		offsetof(struct figures, weighted_latency),
		offsetof(struct figures, snoop),
		offsetof(struct figures, tlb),
		offsetof(struct figures, flags),
		offsetof(struct figures, instruction_latency_sum),
		offsetof(struct figures, latency),
		offsetof(struct figures, source_latency),
		offsetof(struct figures, instruction_latency),
		sizeof(struct figures),
	};
	static const struct siphash_key no_key;

	return (u32)(siphash_bytes(&no_key, names, sizeof(names)) ^
		     siphash_words(&no_key, places, ARRAY_SIZE(places)));
}

void figures_add(struct figures *sum, const struct figures *addend)
{
	u64 *to = (u64 *)sum;
	const u64 *from = (const u64 *)addend;

	_Static_assert(sizeof(*sum) % sizeof(u64) == 0, "a row of counters");
	for (size_t i = 0; i < FIGURES_COUNTERS; i++)
		to[i] = add_saturating(to[i], from[i]);
}

static void widen(u64 *to, const u32 *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

void figures_of_plain(const struct plain_record *record, struct figures *ret)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->weight, record->weight, sizeof(ret->weight));
	widen(ret->samples, record->samples, SOURCE_SLOTS);
	widen(ret->snoop, record->snoop, SNOOP_SLOTS);
	widen(ret->tlb, record->tlb, TLB_SLOTS);
	widen(ret->flags, record->flags, FLAG_COUNT);
}

void figures_of_latency(const struct latency_record *record, struct figures *ret)
{
	for (size_t i = 0; i < SOURCE_SLOTS; i++) {
		ret->weight[i] = record->sums[i].weight;
		ret->latency_sum[i] = record->sums[i].latency;
		ret->weighted_latency[i] = record->sums[i].weighted_latency;
		widen(ret->source_latency[i], record->source_latency[i], OCTAVE_BUCKETS);
		ret->samples[i] = record->without_latency[i] + sum_of(ret->source_latency[i], OCTAVE_BUCKETS);
	}
	widen(ret->snoop, record->snoop, SNOOP_SLOTS);
	widen(ret->tlb, record->tlb, TLB_SLOTS);
	widen(ret->flags, record->flags, FLAG_COUNT);
	ret->instruction_latency_sum = record->instruction_latency_sum;
	widen(ret->latency, record->latency, FINE_BUCKETS);
	widen(ret->instruction_latency, record->instruction_latency, COARSE_BUCKETS);
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
