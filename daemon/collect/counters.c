// SPDX-License-Identifier: GPL-2.0
#include "collect/counters.h"

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

u32 counters_layout(void)
{
#define WORD_(name, word) word ","
#define NAME_(name, ...)  #name ","
	static const char names[] = SOURCES(WORD_) "/" SNOOPS(WORD_) "/" TLBS(WORD_) "/" ACCESS_FLAGS(NAME_);
#undef WORD_
#undef NAME_
	static const u64 places[] = {
		offsetof(struct counters, samples),
		offsetof(struct counters, weight),
		offsetof(struct counters, latency_sum),
		offsetof(struct counters, weighted_latency),
		offsetof(struct counters, snoop),
		offsetof(struct counters, tlb),
		offsetof(struct counters, flags),
		offsetof(struct counters, instruction_latency_sum),
		offsetof(struct counters, latency),
		offsetof(struct counters, source_latency),
		offsetof(struct counters, instruction_latency),
		sizeof(struct counters),
	};
	static const struct siphash_key no_key;

	return (u32)(siphash_bytes(&no_key, names, sizeof(names)) ^
		     siphash_words(&no_key, places, ARRAY_SIZE(places)));
}

void counters_add(struct counters *sum, const struct counters *addend)
{
	u64 *to = (u64 *)sum;
	const u64 *from = (const u64 *)addend;

	_Static_assert(sizeof(*sum) % sizeof(u64) == 0, "a row of counters");
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		to[i] = add_saturating(to[i], from[i]);
}

static void widen(u64 *to, const u32 *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

void counters_of_plain(const struct plain_record *record, struct counters *ret)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->weight, record->weight, sizeof(ret->weight));
	widen(ret->samples, record->samples, SOURCE_SLOTS);
	widen(ret->snoop, record->snoop, SNOOP_SLOTS);
	widen(ret->tlb, record->tlb, TLB_SLOTS);
	widen(ret->flags, record->flags, FLAG_COUNT);
}

void counters_of_latency(const struct latency_record *record, struct counters *ret)
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

u64 counters_samples(const struct counters *counters)
{
	return sum_of(counters->samples, SOURCE_SLOTS);
}

u64 counters_weight(const struct counters *counters)
{
	return sum_of(counters->weight, SOURCE_SLOTS);
}

u64 counters_latency_sum(const struct counters *counters)
{
	return sum_of(counters->latency_sum, SOURCE_SLOTS);
}

u64 counters_weighted_latency(const struct counters *counters)
{
	return sum_of(counters->weighted_latency, SOURCE_SLOTS);
}

u64 counters_latency_samples(const struct counters *counters)
{
	return sum_of(counters->latency, FINE_BUCKETS);
}

u64 counters_instruction_latency_samples(const struct counters *counters)
{
	return sum_of(counters->instruction_latency, COARSE_BUCKETS);
}

u64 counters_tlb_walk(const struct counters *counters)
{
	return add_saturating(counters->tlb[TLB_WALK],
			      add_saturating(counters->tlb[TLB_MISS], counters->tlb[TLB_FAULT]));
}
