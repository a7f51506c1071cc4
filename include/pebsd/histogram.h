// SPDX-License-Identifier: GPL-2.0
/*
 * Latency histograms, in cycles. A bucket counts lower < cycles <= upper, so that every upper edge is an
 * exact `le` of Prometheus. The functions use integer shifts only: BPF has no floating point, and the sample
 * path has no division.
 *
 *   fine    one per event: log-linear, 8 sub-buckets an octave, 1 to 2^20 and an overflow
 *   octave  one per source class: one bucket an octave, 1 to 2^20 and an overflow
 *   coarse  instruction latency: the octaves from 16 to 8192, and an overflow
 */
#ifndef PEBSD_HISTOGRAM_H
#define PEBSD_HISTOGRAM_H

#include "types.h"

#define HISTOGRAM_MAX_LOG2 20
#define HISTOGRAM_SUB_LOG2 3

/* Cycles 1 to 8 have a bucket each; the 17 octaves above have 8 each. */
#define FINE_BUCKETS    (8 * (HISTOGRAM_MAX_LOG2 - HISTOGRAM_SUB_LOG2 + 1) + 1)
#define FINE_OVERFLOW   (FINE_BUCKETS - 1)
#define OCTAVE_BUCKETS  (HISTOGRAM_MAX_LOG2 + 2)
#define OCTAVE_OVERFLOW (OCTAVE_BUCKETS - 1)
#define COARSE_LOG2_MIN 4
#define COARSE_LOG2_MAX 13
#define COARSE_BUCKETS  (COARSE_LOG2_MAX - COARSE_LOG2_MIN + 2)
#define COARSE_OVERFLOW (COARSE_BUCKETS - 1)

_Static_assert(FINE_BUCKETS == 145, "bucket count is part of the map layout");
_Static_assert(OCTAVE_BUCKETS == 22, "bucket count is part of the map layout");
_Static_assert(COARSE_BUCKETS == 11, "bucket count is part of the map layout");

/* Bits needed for `value`: 0 for 0, 1 for 1, 32 for 2^31 and above. */
static inline u32 histogram_bit_length(u32 value)
{
	u32 length = 0;

	if (value >> 16) {
		value >>= 16;
		length += 16;
	}
	if (value >> 8) {
		value >>= 8;
		length += 8;
	}
	if (value >> 4) {
		value >>= 4;
		length += 4;
	}
	if (value >> 2) {
		value >>= 2;
		length += 2;
	}
	if (value >> 1)
		return length + 2;
	return length + value;
}

/*
 * Index in a fine histogram. 0 cycles are counted in the first bucket, so a caller whose latency is unknown
 * must not call this.
 */
static inline u32 histogram_fine_index(u32 cycles)
{
	u32 below = cycles ? cycles - 1 : 0;
	u32 shift;

	if (below >> HISTOGRAM_MAX_LOG2)
		return FINE_OVERFLOW;
	if (below < 8)
		return below;
	shift = histogram_bit_length(below) - 1 - HISTOGRAM_SUB_LOG2;
	return shift * 8 + (below >> shift);
}

/*
 * Inclusive upper edge of a fine bucket, in cycles. The edge of the overflow bucket is 2^32 - 1, the largest
 * possible latency.
 */
static inline u32 histogram_fine_upper(u32 index)
{
	u32 shift;

	if (index >= FINE_OVERFLOW)
		return ~0U;
	if (index < 8)
		return index + 1;
	shift = index / 8 - 1;
	return (8 + index % 8 + 1) << shift;
}

/* Exclusive lower edge in cycles: 0 for the first bucket. */
static inline u32 histogram_fine_lower(u32 index)
{
	return index ? histogram_fine_upper((index > FINE_OVERFLOW ? FINE_OVERFLOW : index) - 1) : 0;
}

static inline u32 histogram_octave_index(u32 cycles)
{
	u32 below = cycles ? cycles - 1 : 0;

	return below >> HISTOGRAM_MAX_LOG2 ? OCTAVE_OVERFLOW : histogram_bit_length(below);
}

static inline u32 histogram_octave_upper(u32 index)
{
	return index >= OCTAVE_OVERFLOW ? ~0U : 1U << index;
}

static inline u32 histogram_coarse_index(u32 cycles)
{
	u32 octave = histogram_octave_index(cycles);

	if (octave <= COARSE_LOG2_MIN)
		return 0;
	return octave > COARSE_LOG2_MAX ? COARSE_OVERFLOW : octave - COARSE_LOG2_MIN;
}

static inline u32 histogram_coarse_upper(u32 index)
{
	return index >= COARSE_OVERFLOW ? ~0U : 1U << (index + COARSE_LOG2_MIN);
}

#endif
