// SPDX-License-Identifier: GPL-2.0
/*
 * Accounting: account_latency(), account_plain() or account_count() adds a sample to the record of its slot. The
 * perf_event program, the inject program, and plain C (trial/account_totals.c, tests, benchmarks, fuzzers) all use
 * these.
 *
 * `atomic`, a constant, is true if other writers may add to the same record at the same time: another CPU, or
 * a PMI that interrupts the inject program on the same CPU. A reader may see a sample half accounted; the
 * next reading has the rest.
 */
#ifndef PEBSD_ACCOUNT_H
#define PEBSD_ACCOUNT_H

#include <stdbool.h>

#include "pebsd/records.h"

#define ACCOUNT_ADD(atomic, counter, value)                              \
	do {                                                             \
		if (atomic)                                              \
			(void)__sync_fetch_and_add(&(counter), (value)); \
		else                                                     \
			(counter) += (value);                            \
	} while (0)

/* Hides the origin of a value, so that the compiler does not turn branchless code back into a branch. */
#define ACCOUNT_HIDE(value) __asm__("" : "+r"(value))

static inline u64 account_at_most(u64 value, u64 most)
{
	return value < most ? value : most;
}

/* Returns latency x period. Both factors are bounded, so that a sum can take many products (sample.h). */
static inline u64 account_weighted_latency(u64 latency, u64 period)
{
	return account_at_most(latency, SAMPLE_WEIGHTED_LATENCY_MAX) *
	       account_at_most(period, SAMPLE_WEIGHTED_PERIOD_MAX);
}

static inline int account_malformed(const struct sample *sample)
{
	return (sample->fields & SAMPLE_LATENCY) && sample->latency > SAMPLE_LATENCY_MAX;
}

/*
 * True if the sample's operation is unknown, or is not one of the event's `operations` (0: all, never true).
 * Hardware that samples every kind of operation needs this.
 */
static inline int account_filtered(const struct sample *sample, u8 operations)
{
	return operations && !(DATA_SOURCE_OP(sample->data_source) & operations);
}

#ifdef __bpf__
/* The loader fills these tables before it loads the programs. */
const volatile struct decode_tables decode_tables = {};

static inline __attribute__((always_inline)) u32 account_source(u64 value)
{
	return decode_source(&decode_tables, value);
}

static inline __attribute__((always_inline)) u32 account_result(u64 value)
{
	return decode_result(&decode_tables, value);
}
#else
static inline u32 account_source(u64 value)
{
	return (u32)data_source_source(value);
}

static inline u32 account_result(u64 value)
{
	return (u32)data_source_snoop(value) | (u32)data_source_tlb(value) << 4;
}
#endif

/* Returns 0 for a missing data source: 0 decodes to "unknown" everywhere. */
static inline __attribute__((always_inline)) u64 account_data_source(const struct sample *sample)
{
	return sample->fields & SAMPLE_DATA_SOURCE ? sample->data_source : 0;
}

/* The fine bucket of a latency, and its octave bucket. */
struct account_buckets {
	u32 fine;
	u32 octave;
};

/* 1 if a > b, else 0; both below 2^31. Branchless: this branch would be unpredictable. */
static inline __attribute__((always_inline)) u32 account_above(u32 a, u32 b)
{
	u32 difference = b - a;

	ACCOUNT_HIDE(difference);
	return difference >> 31;
}

/*
 * Returns histogram_fine_index() and histogram_octave_index(). The bit length of a number is that of its highest
 * nonzero nibble, from a table in one word, plus four for each nibble below.
 */
static inline __attribute__((always_inline)) struct account_buckets account_buckets(u32 cycles)
{
	u32 below = cycles ? cycles - 1 : 0;
	u32 nibbles, octave, shift;

	if (__builtin_expect(below >> HISTOGRAM_MAX_LOG2, 0))
		return (struct account_buckets){.fine = FINE_OVERFLOW, .octave = OCTAVE_OVERFLOW};
	nibbles = 4 * (account_above(below, 0xf) + account_above(below, 0xff) + account_above(below, 0xfff) +
		       account_above(below, 0xffff));
	octave = nibbles + (u32)(0x4444444433332210ULL >> (below >> nibbles) * 4 & 0xf);
	/* From 1 to 16 cycles each value has its own bucket. Above, there are 8 buckets per octave. */
	shift = octave - 1 - HISTOGRAM_SUB_LOG2;
	shift &= (shift >> 31) - 1;
	return (struct account_buckets){.fine = shift * 8 + (below >> shift), .octave = octave};
}

static inline u64 account_weight(const struct sample *sample)
{
	return account_at_most(sample->period, SAMPLE_WEIGHTED_PERIOD_MAX);
}

/*
 * Counts one access flag. Few samples have any flag, so both functions below return before they test the
 * flags if the data source has none of DATA_SOURCE_FLAG_BITS.
 */
#define ACCOUNT_FLAG(name, ...)              \
	if (data_source_##name(data_source)) \
		ACCOUNT_ADD(atomic, record->name, 1);

static inline __attribute__((always_inline)) void account_plain(struct plain_record *record,
								const struct sample *sample, bool atomic)
{
	u64 data_source = account_data_source(sample);
	u32 source = account_source(data_source);
	u32 result = account_result(data_source);

	ACCOUNT_ADD(atomic, record->weight[source], account_weight(sample));
	ACCOUNT_ADD(atomic, record->samples[source], 1);
	ACCOUNT_ADD(atomic, record->snoop[result & (SNOOP_SLOTS - 1)], 1);
	ACCOUNT_ADD(atomic, record->tlb[result >> 4 & (TLB_SLOTS - 1)], 1);
	if (__builtin_expect(!(data_source & DATA_SOURCE_FLAG_BITS), 1))
		return;
	ACCESS_FLAGS(ACCOUNT_FLAG)
}

/*
 * The same for an event without data source. The snoop and TLB results stay 0: of such an event they would repeat
 * the number of samples, and nothing shows them.
 */
static inline __attribute__((always_inline)) void account_count(struct plain_record *record,
								const struct sample *sample, bool atomic)
{
	ACCOUNT_ADD(atomic, record->weight[SOURCE_UNKNOWN], account_weight(sample));
	ACCOUNT_ADD(atomic, record->samples[SOURCE_UNKNOWN], 1);
}

static inline __attribute__((always_inline)) void account_latency(struct latency_record *record,
								  const struct sample *sample, bool atomic)
{
	u64 data_source = account_data_source(sample);
	u32 source = account_source(data_source);
	u32 result = account_result(data_source);
	struct source_sums *sums = &record->sums[source];

	ACCOUNT_ADD(atomic, sums->weight, account_weight(sample));
	ACCOUNT_ADD(atomic, record->snoop[result & (SNOOP_SLOTS - 1)], 1);
	ACCOUNT_ADD(atomic, record->tlb[result >> 4 & (TLB_SLOTS - 1)], 1);
	if (sample->fields & SAMPLE_LATENCY) {
		u32 cycles = (u32)sample->latency;
		struct account_buckets at = account_buckets(cycles);

		ACCOUNT_ADD(atomic, sums->latency, cycles);
		ACCOUNT_ADD(atomic, sums->weighted_latency, account_weighted_latency(cycles, sample->period));
		/* Always true, but the verifier cannot know. */
		if (at.fine < FINE_BUCKETS && at.octave < OCTAVE_BUCKETS) {
			ACCOUNT_ADD(atomic, record->source_latency[source][at.octave], 1);
			ACCOUNT_ADD(atomic, record->latency[at.fine], 1);
		}
	} else {
		ACCOUNT_ADD(atomic, record->without_latency[source], 1);
	}
	if (sample->fields & SAMPLE_INSTRUCTION_LATENCY) {
		u32 coarse = histogram_coarse_index(sample->instruction_latency);

		if (coarse < COARSE_BUCKETS) {
			ACCOUNT_ADD(atomic, record->instruction_latency_sum, sample->instruction_latency);
			ACCOUNT_ADD(atomic, record->instruction_latency[coarse], 1);
		}
	}
	if (__builtin_expect(!(data_source & DATA_SOURCE_FLAG_BITS), 1))
		return;
	ACCESS_FLAGS(ACCOUNT_FLAG)
}

#endif
