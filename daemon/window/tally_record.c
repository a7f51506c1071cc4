// SPDX-License-Identifier: GPL-2.0
#include "window/tally_record.h"

#include <stddef.h>
#include <string.h>

/*
 * Format, as varints: samples, latency samples, weight, latency sum; then twice the number of pairs, plus 1
 * if the sum of squares follows, because it is not that of equal weights. Then for each nonzero counter a
 * byte with the number of counters skipped since the previous one, and its value as a varint.
 */

_Static_assert(offsetof(struct tally, latency) + sizeof(((struct tally *)0)->latency) ==
		       offsetof(struct tally, sources) + TALLY_COUNTERS * sizeof(u32),
	       "nothing but counters of 32 bits from the sources on");
_Static_assert(TALLY_COUNTERS % 2 == 0 && offsetof(struct tally, sources) % sizeof(u64) == 0,
	       "two counters fit a word");

static double squares_of_equal_weights(const struct tally *tally)
{
	return tally->samples ? (double)tally->weight * (double)tally->weight / (double)tally->samples : 0;
}

/* Writes the indices of counters that are not zero to `ret`. Reads two at a time, because most are zero. */
static unsigned find_counters(const u8 *counters, u8 ret[TALLY_COUNTERS])
{
	unsigned n = 0;

	for (unsigned i = 0; i < TALLY_COUNTERS; i += 2) {
		u32 two[2];
		u64 both;

		memcpy(&both, counters + i * sizeof(u32), sizeof(both));
		if (!both)
			continue;
		memcpy(two, &both, sizeof(two));
		ret[n] = (u8)i;
		n += two[0] != 0;
		ret[n] = (u8)(i + 1);
		n += two[1] != 0;
	}
	return n;
}

_Static_assert(TALLY_COUNTERS <= 256, "a place fits a byte");

u8 *tally_pack(const struct tally *tally, u8 *to)
{
	const u8 *counters = (const u8 *)tally + offsetof(struct tally, sources);
	bool unequal = tally->weight_squared != squares_of_equal_weights(tally);
	u8 places[TALLY_COUNTERS + 1];
	unsigned n = find_counters(counters, places);
	unsigned next = 0;

	to = put_varint(to, tally->samples);
	to = put_varint(to, tally->latency_samples);
	to = put_varint(to, tally->weight);
	to = put_varint(to, tally->latency_sum);
	to = put_varint(to, 2 * (u64)n + unequal);
	if (unequal) {
		memcpy(to, &tally->weight_squared, sizeof(double));
		to += sizeof(double);
	}
	for (unsigned i = 0; i < n; i++) {
		u32 value;

		memcpy(&value, counters + places[i] * sizeof(u32), sizeof(value));
		*to++ = (u8)(places[i] - next);
		to = put_varint(to, value);
		next = places[i] + 1U;
	}
	return to;
}

const u8 *tally_unpack(const u8 *from, struct tally *ret)
{
	u8 *counter = (u8 *)ret + offsetof(struct tally, sources);
	u64 n;

	memset(ret, 0, sizeof(*ret));
	from = get_varint(from, &ret->samples);
	from = get_varint(from, &ret->latency_samples);
	from = get_varint(from, &ret->weight);
	from = get_varint(from, &ret->latency_sum);
	from = get_varint(from, &n);
	if (n & 1) {
		memcpy(&ret->weight_squared, from, sizeof(double));
		from += sizeof(double);
	} else {
		ret->weight_squared = squares_of_equal_weights(ret);
	}
	for (n >>= 1; n; n--) {
		u64 value;
		u32 narrow;

		counter += *from++ * sizeof(u32);
		from = get_varint(from, &value);
		narrow = (u32)value;
		memcpy(counter, &narrow, sizeof(narrow));
		counter += sizeof(u32);
	}
	return from;
}

const u8 *tally_skip(const u8 *from)
{
	u64 value;
	u64 n;

	for (unsigned i = 0; i < 4; i++)
		from = get_varint(from, &value);
	from = get_varint(from, &n);
	if (n & 1)
		from += sizeof(double);
	for (n >>= 1; n; n--)
		from = get_varint(from + 1, &value);
	return from;
}
