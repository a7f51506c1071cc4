// SPDX-License-Identifier: GPL-2.0
/*
 * The one accounting function: what a sample adds to the record of its slot. Three doors lead here: the
 * perf_event program, the inject program, and plain C in tests, benchmarks and fuzzers.
 *
 * `atomic`, a constant, says whether another CPU, or the inject program and a PMI on one CPU, may add to the
 * same record meanwhile. A reader may see a sample's additions half done; the next reading has the rest.
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

static inline u64 account_at_most(u64 value, u64 most)
{
	return value < most ? value : most;
}

/* latency x period, bounded so that a sum can take many (sample.h). */
static inline u64 account_weighted_latency(u64 latency, u64 period)
{
	return account_at_most(latency, SAMPLE_WEIGHED_LATENCY_MAX) *
	       account_at_most(period, SAMPLE_WEIGHED_PERIOD_MAX);
}

static inline int account_malformed(const struct sample *sample)
{
	return (sample->fields & SAMPLE_LATENCY) && sample->latency > SAMPLE_LATENCY_MAX;
}

/* An operation that the event is not about: hardware that samples every kind of them is filtered here. */
static inline int account_filtered(const struct sample *sample, u8 operations)
{
	return operations && !(DATA_SOURCE_OP(sample->data_source) & operations);
}

/*
 * Functions that BPF verifies once, on their own: to their caller the result is any number, so that the many
 * paths through them do not multiply with each other. In plain C they are ordinary.
 */
#ifdef __bpf__
#define ACCOUNT_FUNCTION __attribute__((noinline, weak))
#else
#define ACCOUNT_FUNCTION static inline
#endif

/* A decoded data source in one word. */
#define DECODED_SOURCE(decoded)  ((decoded) & (SOURCE_SLOTS - 1))
#define DECODED_SNOOP(decoded)   ((decoded) >> 4 & (SNOOP_SLOTS - 1))
#define DECODED_TLB(decoded)     ((decoded) >> 8 & (TLB_SLOTS - 1))
#define DECODED_LOCKED(decoded)  ((decoded) >> 12 & 1)
#define DECODED_BLOCKED(decoded) ((decoded) >> 13 & 1)
#define DECODED_NOTHING          ((u32)SOURCE_UNKNOWN | SNOOP_NA << 4 | TLB_NA << 8)

ACCOUNT_FUNCTION u32 account_decode(u64 value)
{
	return (u32)data_source_source(value) | (u32)data_source_snoop(value) << 4 |
	       (u32)data_source_tlb(value) << 8 | data_source_locked(value) << 12 |
	       data_source_blocked(value) << 13;
}

/* The fine bucket of a latency, and above it the octave. */
#define BUCKETS_FINE(buckets)   ((buckets)&0xff)
#define BUCKETS_OCTAVE(buckets) ((buckets) >> 8 & 0xff)

ACCOUNT_FUNCTION u32 account_buckets(u32 cycles)
{
	return histogram_fine_index(cycles) | histogram_octave_index(cycles) << 8;
}

static inline u32 account_decoded(const struct sample *sample)
{
	return sample->fields & SAMPLE_DATA_SOURCE ? account_decode(sample->data_source) : DECODED_NOTHING;
}

static inline u64 account_weight(const struct sample *sample)
{
	return account_at_most(sample->period, SAMPLE_WEIGHED_PERIOD_MAX);
}

static inline __attribute__((always_inline)) void account_plain(struct plain_record *record,
								const struct sample *sample, bool atomic)
{
	u32 decoded = account_decoded(sample);
	u32 source = DECODED_SOURCE(decoded);

	ACCOUNT_ADD(atomic, record->weight[source], account_weight(sample));
	ACCOUNT_ADD(atomic, record->samples[source], 1);
	ACCOUNT_ADD(atomic, record->snoop[DECODED_SNOOP(decoded)], 1);
	ACCOUNT_ADD(atomic, record->tlb[DECODED_TLB(decoded)], 1);
	if (DECODED_LOCKED(decoded))
		ACCOUNT_ADD(atomic, record->locked, 1);
	if (DECODED_BLOCKED(decoded))
		ACCOUNT_ADD(atomic, record->blocked, 1);
}

static inline __attribute__((always_inline)) void account_latency(struct latency_record *record,
								  const struct sample *sample, bool atomic)
{
	u32 decoded = account_decoded(sample);
	u32 source = DECODED_SOURCE(decoded);
	struct source_sums *sums = &record->sums[source];

	if (sample->fields & SAMPLE_LATENCY) {
		u32 cycles = (u32)sample->latency;
		u32 buckets = account_buckets(cycles);
		u32 fine = BUCKETS_FINE(buckets);
		u32 octave = BUCKETS_OCTAVE(buckets);

		/* The verifier wants the bounds in sight. */
		if (fine >= FINE_BUCKETS || octave >= OCTAVE_BUCKETS)
			return;
		ACCOUNT_ADD(atomic, sums->latency, cycles);
		ACCOUNT_ADD(atomic, sums->weighted_latency, account_weighted_latency(cycles, sample->period));
		ACCOUNT_ADD(atomic, record->source_latency[source][octave], 1);
		ACCOUNT_ADD(atomic, record->latency[fine], 1);
	} else {
		ACCOUNT_ADD(atomic, record->without_latency[source], 1);
	}
	ACCOUNT_ADD(atomic, sums->weight, account_weight(sample));
	ACCOUNT_ADD(atomic, record->snoop[DECODED_SNOOP(decoded)], 1);
	ACCOUNT_ADD(atomic, record->tlb[DECODED_TLB(decoded)], 1);
	if (DECODED_LOCKED(decoded))
		ACCOUNT_ADD(atomic, record->locked, 1);
	if (DECODED_BLOCKED(decoded))
		ACCOUNT_ADD(atomic, record->blocked, 1);
	if (sample->fields & SAMPLE_INSTRUCTION_LATENCY) {
		u32 coarse = histogram_coarse_index(sample->instruction_latency);

		if (coarse >= COARSE_BUCKETS)
			return;
		ACCOUNT_ADD(atomic, record->instruction_latency_sum, sample->instruction_latency);
		ACCOUNT_ADD(atomic, record->instruction_latency[coarse], 1);
	}
}

#endif
