// SPDX-License-Identifier: GPL-2.0
#include "snapshot/snapshot_cpus.h"

static struct maybe_double ratio(u64 part, u64 whole)
{
	if (whole == 0)
		return (struct maybe_double){0};
	return (struct maybe_double){true, part < whole ? (double)part / (double)whole : 1};
}

/* The stripe of a CPU. The kernel side uses the first stripe for CPUs that `stripes` does not contain. */
static u32 stripe_of(const struct stripes *stripes, int cpu)
{
	return (u32)cpu < stripes->cpus ? stripes->of_cpu[cpu] : 0;
}

void snapshot_cpus(const struct cpu_counts *counts, size_t n, const u64 seen_by_stripe[STRIPES_MAX],
		   const u64 filtered_by_stripe[STRIPES_MAX], const struct stripes *stripes,
		   struct snapshot_cpu *ret)
{
	u32 writers[STRIPES_MAX] = {0};

	for (size_t i = 0; i < n; i++)
		writers[stripe_of(stripes, counts[i].cpu)]++;
	for (size_t i = 0; i < n; i++) {
		u32 stripe = stripe_of(stripes, counts[i].cpu);
		bool alone = writers[stripe] == 1;

		ret[i] = (struct snapshot_cpu){
			.cpu = counts[i].cpu,
			.online = counts[i].open,
			.in_error = counts[i].in_error,
			.expected = counts[i].expected,
			.seen = {alone, alone ? seen_by_stripe[stripe] : 0},
			.filtered = {alone && filtered_by_stripe,
				     alone && filtered_by_stripe ? filtered_by_stripe[stripe] : 0},
			.running_ratio = ratio(counts[i].running_ns, counts[i].enabled_ns),
			.throttled_seconds = {counts[i].throttle_known,
					      (double)counts[i].throttled_ns / (double)NSEC_PER_SEC},
		};
	}
}
