// SPDX-License-Identifier: GPL-2.0
#include "window/tally.h"

#include <stddef.h>
#include <string.h>

/* The 32-bit counters as one row. */
#define COUNTERS ((sizeof(struct tally) - offsetof(struct tally, sources)) / sizeof(u32))

_Static_assert(offsetof(struct tally, latency) + sizeof(u32[FINE_BUCKETS]) ==
		       offsetof(struct tally, sources) + COUNTERS * sizeof(u32),
	       "nothing but counters of 32 bits from the sources on");

static u32 *row(struct tally *tally)
{
	return (u32 *)((u8 *)tally + offsetof(struct tally, sources));
}

static const u32 *const_row(const struct tally *tally)
{
	return (const u32 *)((const u8 *)tally + offsetof(struct tally, sources));
}

/* Four counters at once. */
typedef u32 lanes __attribute__((vector_size(16), aligned(4), may_alias));

#define LANES (COUNTERS / 4)

_Static_assert(COUNTERS % 4 == 0, "no counter is left over");

static u32 narrow(u64 value)
{
	return value > ~0U ? ~0U : (u32)value;
}

static u64 add_saturating(u64 a, u64 b)
{
	u64 sum;

	return __builtin_add_overflow(a, b, &sum) ? ~0ULL : sum;
}

static u64 subtract_to_zero(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/* Adds them up, and says whether one needs more than 32 bits. */
static u64 narrow_row(u32 *restrict to, const u64 *restrict from, size_t n)
{
	u64 all = 0;
	u64 sum = 0;

	for (size_t i = 0; i < n; i++) {
		all |= from[i];
		sum += from[i];
		to[i] = (u32)from[i];
	}
	if (!(all >> 32))
		return sum;
	sum = 0;
	for (size_t i = 0; i < n; i++) {
		to[i] = narrow(from[i]);
		sum = add_saturating(sum, from[i]);
	}
	return sum;
}

void tally_of(const struct figures *difference, struct tally *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->samples = narrow_row(ret->sources, difference->samples, SOURCE_SLOTS);
	ret->latency_samples = narrow_row(ret->latency, difference->latency, FINE_BUCKETS);
	for (size_t i = 0; i < SOURCE_SLOTS; i++) {
		ret->weight = add_saturating(ret->weight, difference->weight[i]);
		ret->latency_sum = add_saturating(ret->latency_sum, difference->latency_sum[i]);
	}
	if (ret->samples)
		ret->weight_squared = (double)ret->weight * (double)ret->weight / (double)ret->samples;
	ret->hitm = narrow(difference->snoop[SNOOP_HITM]);
	ret->tlb_walk = narrow(figures_tlb_walk(difference));
	ret->locked = narrow(difference->locked);
}

void tally_add(struct tally *sum, const struct tally *addend)
{
	lanes *to = (lanes *)row(sum);
	const lanes *from = (const lanes *)const_row(addend);

	sum->samples = add_saturating(sum->samples, addend->samples);
	sum->weight = add_saturating(sum->weight, addend->weight);
	sum->weight_squared += addend->weight_squared;
	sum->latency_sum = add_saturating(sum->latency_sum, addend->latency_sum);
	sum->latency_samples = add_saturating(sum->latency_samples, addend->latency_samples);
	for (size_t i = 0; i < LANES; i++) {
		lanes added = to[i] + from[i];

		to[i] = added | (lanes)(added < from[i]);
	}
}

void tally_subtract(struct tally *sum, const struct tally *part)
{
	lanes *to = (lanes *)row(sum);
	const lanes *from = (const lanes *)const_row(part);
	double least;

	sum->samples = subtract_to_zero(sum->samples, part->samples);
	sum->latency_samples = subtract_to_zero(sum->latency_samples, part->latency_samples);
	if (!sum->samples && !sum->latency_samples) {
		memset(sum, 0, sizeof(*sum));
		return;
	}
	sum->weight = subtract_to_zero(sum->weight, part->weight);
	sum->latency_sum = subtract_to_zero(sum->latency_sum, part->latency_sum);
	/* The least that a sum of squares can be: rounding does not take it below. */
	least = sum->samples ? (double)sum->weight * (double)sum->weight / (double)sum->samples : 0;
	sum->weight_squared -= part->weight_squared;
	if (sum->weight_squared < least)
		sum->weight_squared = least;
	/* What is lost by saturation is not known: such a counter stays until all is gone. */
	for (size_t i = 0; i < LANES; i++) {
		lanes rest = (to[i] - from[i]) & (lanes)(to[i] > from[i]);

		to[i] = rest | (lanes)(to[i] == ~(lanes){0});
	}
}

u64 tally_above(const struct tally *tally, u32 bucket)
{
	u64 above = 0;

	for (u32 i = bucket + 1; i < FINE_BUCKETS; i++)
		above += tally->latency[i];
	return above;
}
