// SPDX-License-Identifier: GPL-2.0
#include "window/tally.h"

#include <stddef.h>
#include <string.h>

#include "base/subtract.h"
#include "collect/packed.h"

/* The 32-bit counters, seen as one row. */
#define COUNTERS ((sizeof(struct tally) - offsetof(struct tally, sources)) / sizeof(u32))

_Static_assert(offsetof(struct tally, latency) + sizeof(u32[FINE_BUCKETS]) ==
		       offsetof(struct tally, sources) + COUNTERS * sizeof(u32),
	       "from `sources` on, the tally has only 32-bit counters");

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

/* Index of a member of struct counters in the row of its counters. */
#define AT(member) (offsetof(struct counters, member) / sizeof(u64))

_Static_assert(AT(samples) < AT(weight) && AT(weight) < AT(latency_sum) &&
		       AT(latency_sum) < AT(weighted_latency) && AT(weighted_latency) < AT(snoop) &&
		       AT(snoop) < AT(latency) && AT(tlb) < AT(latency) && AT(locked) < AT(latency) &&
		       AT(latency) < AT(source_latency),
	       "the counters are in the order in which they are read");

static void take_result(struct tally *tally, unsigned counter, u64 value, u64 *walks)
{
	switch (counter) {
	case AT(snoop) + SNOOP_HITM:
		tally->hitm = narrow(value);
		break;
	case AT(tlb) + TLB_WALK:
	case AT(tlb) + TLB_MISS:
	case AT(tlb) + TLB_FAULT:
		*walks = add_saturating(*walks, value);
		break;
	case AT(locked):
		tally->locked = narrow(value);
		break;
	default:
		break;
	}
}

void tally_of(const u8 *packed, size_t size, struct tally *ret)
{
	struct packed_reader reader = {.from = packed, .end = packed + size};
	unsigned counter;
	u64 value, walks = 0;

	memset(ret, 0, sizeof(*ret));
	while (packed_get(&reader, &counter, &value) && counter < AT(source_latency)) {
		if (counter < AT(weight)) {
			ret->sources[counter - AT(samples)] = narrow(value);
			ret->samples = add_saturating(ret->samples, value);
		} else if (counter < AT(latency_sum)) {
			ret->weight = add_saturating(ret->weight, value);
		} else if (counter < AT(weighted_latency)) {
			ret->latency_sum = add_saturating(ret->latency_sum, value);
		} else if (counter >= AT(latency)) {
			ret->latency[counter - AT(latency)] = narrow(value);
			ret->latency_samples = add_saturating(ret->latency_samples, value);
		} else {
			take_result(ret, counter, value, &walks);
		}
	}
	ret->tlb_walk = narrow(walks);
	if (ret->samples)
		ret->weight_squared = (double)ret->weight * (double)ret->weight / (double)ret->samples;
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
	/*
	 * Rounding could make the sum of squares smaller than its smallest possible value: raise it to that
	 * value.
	 */
	least = sum->samples ? (double)sum->weight * (double)sum->weight / (double)sum->samples : 0;
	sum->weight_squared -= part->weight_squared;
	if (sum->weight_squared < least)
		sum->weight_squared = least;
	/* The excess of a saturated counter is unknown: the counter stays saturated until all samples are gone. */
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
