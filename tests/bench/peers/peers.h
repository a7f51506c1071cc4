// SPDX-License-Identifier: GPL-2.0
/*
 * The counts and the ring's records of the peers (peers.bpf.c), which handle samples as other tools do. A
 * cgroup's value has the number of samples and their weight, the sum and maximum of latencies, a histogram in
 * powers of two, and counts by level, snoop and TLB result. pebsd counts more (a histogram per source, a finer
 * histogram, weighted latencies). The peers do a little less work than pebsd, never more.
 */
#ifndef PEBSD_BENCH_PEERS_H
#define PEBSD_BENCH_PEERS_H

#include "pebsd/data_source.h"

#define PEER_OCTAVES 32
#define PEER_ENTRIES 4096
#define PEER_RING    (8U << 20) /* bytes */

struct peer_value {
	u64 count;
	u64 sum;
	u64 greatest;
	u64 weight;
	u32 octaves[PEER_OCTAVES];
	u32 levels[SOURCE_SLOTS];
	u32 snoops[SNOOP_SLOTS];
	u32 tlbs[TLB_SLOTS];
};

/* A record of the ring. It has only the fields that the reader needs to count. */
struct peer_record {
	u64 cgroup_id;
	u64 data_source;
	u64 period;
	u32 latency;
	u32 reserved;
};

#ifdef __bpf__
#define PEER_FUNCTION static __always_inline
#else
#define PEER_FUNCTION static inline
#endif

/* Returns the power of two of a latency: pebsd's bucket without its finer steps. */
PEER_FUNCTION u32 peer_octave(u32 latency)
{
	u32 octave = 0;

	for (u32 step = 16; step; step >>= 1)
		if (latency >> step) {
			latency >>= step;
			octave += step;
		}
	return octave & (PEER_OCTAVES - 1);
}

/*
 * Packs the level, the snoop and the TLB result into one word. In BPF it is a separate function, like
 * pebsd's, so that the verifier checks its many paths only once.
 */
#ifdef __bpf__
__attribute__((noinline, weak)) u32 peer_decode(u64 data_source)
#else
static inline u32 peer_decode(u64 data_source)
#endif
{
	return (u32)data_source_source(data_source) | (u32)data_source_snoop(data_source) << 4 |
	       (u32)data_source_tlb(data_source) << 8;
}

#define PEER_LEVEL(decoded) ((decoded) & (SOURCE_SLOTS - 1))
#define PEER_SNOOP(decoded) ((decoded) >> 4 & (SNOOP_SLOTS - 1))
#define PEER_TLB(decoded)   ((decoded) >> 8 & (TLB_SLOTS - 1))

/* Adds a record to a value that no other CPU writes to. */
PEER_FUNCTION void peer_add(struct peer_value *value, const struct peer_record *record)
{
	u32 decoded = peer_decode(record->data_source);

	value->count++;
	value->sum += record->latency;
	if (record->latency > value->greatest)
		value->greatest = record->latency;
	value->weight += record->period;
	value->octaves[peer_octave(record->latency)]++;
	value->levels[PEER_LEVEL(decoded)]++;
	value->snoops[PEER_SNOOP(decoded)]++;
	value->tlbs[PEER_TLB(decoded)]++;
}

#define PEER_ADD_SHARED(counter, value) ((void)__sync_fetch_and_add(&(counter), (value)))

/*
 * Adds a record to a value that several CPUs write to. The maximum is written without a lock, as in other
 * tools.
 */
PEER_FUNCTION void peer_add_shared(struct peer_value *value, const struct peer_record *record)
{
	u32 decoded = peer_decode(record->data_source);

	PEER_ADD_SHARED(value->count, 1);
	PEER_ADD_SHARED(value->sum, record->latency);
	if (record->latency > value->greatest)
		value->greatest = record->latency;
	PEER_ADD_SHARED(value->weight, record->period);
	PEER_ADD_SHARED(value->octaves[peer_octave(record->latency)], 1);
	PEER_ADD_SHARED(value->levels[PEER_LEVEL(decoded)], 1);
	PEER_ADD_SHARED(value->snoops[PEER_SNOOP(decoded)], 1);
	PEER_ADD_SHARED(value->tlbs[PEER_TLB(decoded)], 1);
}

#endif
