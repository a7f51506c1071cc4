// SPDX-License-Identifier: GPL-2.0
/*
 * The limiter of a zoom. It runs at each sample of the zoom's events, counts it, and decides whether the
 * kernel writes it into the event's ring: a return value of 0 drops the sample (bpf_overflow_handler(),
 * kernel/events/core.c, Linux 6.1, 6.12 and 7.3). The limit is for all CPUs together, without a lock and
 * without a map call of user space.
 */
#include <stdbool.h>

#include "pebsd/zoom.h"
#include "read_sample.h"

char LICENSE[] SEC("license") = "GPL";

/* Time from one sample to the next at the full rate; zoom_limit_spacing(). */
const volatile u64 spacing_ns = 1;

/* Mask of PERF_MEM_OP_*: the operations that zoom_selected accepts. */
const volatile u8 operations = 0;

/* The key is the CPU. Each entry is written only on its own CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, u32);
	__type(value, struct zoom_tally);
} tallies SEC(".maps");

/* The time at which the next sample is due at the full rate (CLOCK_MONOTONIC), alone in its cache line. */
u64 due_ns __attribute__((aligned(64)));

/*
 * A sample may come up to ZOOM_BURST_NS before it is due. If other CPUs win the exchange each time, the
 * sample is dropped: samples of those CPUs were accepted meanwhile.
 */
static __always_inline bool within_limit(void)
{
	u64 now = bpf_ktime_get_ns();

	for (int i = 0; i < 8; i++) {
		u64 due = *(volatile u64 *)&due_ns;

		if (due > now + ZOOM_BURST_NS)
			return false;
		if (__sync_val_compare_and_swap(&due_ns, due, (due > now ? due : now) + spacing_ns) == due)
			return true;
	}
	return false;
}

static __always_inline int take(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct zoom_tally *tally = bpf_map_lookup_elem(&tallies, &cpu);

	if (!tally)
		return 0;
	tally->seen++;
	if (within_limit())
		return 1;
	tally->limited++;
	return 0;
}

SEC("perf_event")
int zoom_all(struct bpf_perf_event_data *context)
{
	(void)context;
	return take();
}

/*
 * For IBS, which samples operations of every kind: also drops samples whose operation is unknown or not part
 * of the event, without counting them.
 */
SEC("perf_event")
int zoom_selected(struct bpf_perf_event_data *context)
{
	struct raw_sample raw;

	read_raw_sample(context, &raw);
	if (!(raw.flags & PERF_SAMPLE_DATA_SRC) || !(raw.data_source & operations))
		return 0;
	return take();
}
