// SPDX-License-Identifier: GPL-2.0
/*
 * The one accounting function: what a sample adds to the record of its slot. Three doors lead here: the
 * perf_event program, the inject program, and plain C in tests, benchmarks and fuzzers.
 *
 * Additions are atomic because stripes may be shared: two CPUs with one stripe, or the inject program and a
 * PMI on one CPU. A reader may see a sample's additions half done; the next reading has the rest.
 */
#ifndef PEBSD_ACCOUNT_H
#define PEBSD_ACCOUNT_H

#include "pebsd/records.h"

#define ACCOUNT_ADD(counter, value) ((void)__sync_fetch_and_add(&(counter), (value)))

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

/* The source, or `unknown` where the sample has none; below SOURCE_SLOTS. */
static inline u32 account_source(const struct sample *sample)
{
	if (!(sample->fields & SAMPLE_DATA_SOURCE))
		return SOURCE_UNKNOWN;
	return (u32)data_source_source(sample->data_source) & (SOURCE_SLOTS - 1);
}

/* Adds what every event has. Call it last: a reader takes unmoved `samples` for an unchanged record. */
static inline void account_counts(struct sample_counts *counts, const struct sample *sample, u32 source)
{
	u64 period = account_at_most(sample->period, SAMPLE_WEIGHED_PERIOD_MAX);

	if (sample->fields & SAMPLE_DATA_SOURCE) {
		u64 value = sample->data_source;

		ACCOUNT_ADD(counts->snoop[(u32)data_source_snoop(value) & (SNOOP_SLOTS - 1)], 1);
		ACCOUNT_ADD(counts->tlb[(u32)data_source_tlb(value) & (TLB_SLOTS - 1)], 1);
		if (data_source_locked(value))
			ACCOUNT_ADD(counts->locked, 1);
		if (data_source_blocked(value))
			ACCOUNT_ADD(counts->blocked, 1);
	} else {
		ACCOUNT_ADD(counts->snoop[SNOOP_NA], 1);
		ACCOUNT_ADD(counts->tlb[TLB_NA], 1);
	}
	ACCOUNT_ADD(counts->weight[source], period);
	ACCOUNT_ADD(counts->samples[source], 1);
}

static inline void account_plain(struct plain_record *record, const struct sample *sample)
{
	account_counts(&record->counts, sample, account_source(sample));
}

static inline void account_latency(struct latency_record *record, const struct sample *sample)
{
	u32 source = account_source(sample);

	if (sample->fields & SAMPLE_LATENCY) {
		u32 cycles = (u32)sample->latency;
		u32 fine = histogram_fine_index(cycles);
		u32 octave = histogram_octave_index(cycles);

		/* The verifier wants the bound in sight. */
		if (fine >= FINE_BUCKETS || octave >= OCTAVE_BUCKETS)
			return;
		ACCOUNT_ADD(record->latency_sum[source], cycles);
		ACCOUNT_ADD(record->weighted_latency[source],
			    account_weighted_latency(cycles, sample->period));
		ACCOUNT_ADD(record->latency[fine], 1);
		ACCOUNT_ADD(record->source_latency[source][octave], 1);
	}
	if (sample->fields & SAMPLE_INSTRUCTION_LATENCY) {
		u32 coarse = histogram_coarse_index(sample->instruction_latency);

		if (coarse >= COARSE_BUCKETS)
			return;
		ACCOUNT_ADD(record->instruction_latency_sum, sample->instruction_latency);
		ACCOUNT_ADD(record->instruction_latency[coarse], 1);
	}
	account_counts(&record->counts, sample, source);
}

#endif
