// SPDX-License-Identifier: GPL-2.0
#include "series/cgroup_counters.h"

#include "base/cleanup.h"

static u64 hitm_of(const struct counters *counters)
{
	return counters->snoop[SNOOP_HITM];
}

#define VALUE_(name, ...)                                     \
	static u64 name##_of(const struct counters *counters) \
	{                                                     \
		return counters->name;                        \
	}
ACCESS_FLAGS(VALUE_)

#define COUNTER_(name, bits, known, family_, help_) \
	{.family = (family_),                       \
	 .help = (help_),                           \
	 .value = name##_of,                        \
	 .of_loads = (known) == FLAG_KNOWN_OF_LOADS},

static const struct cgroup_counter all[] = {
	{
		.family = "pebsd_weighted_samples",
		.help = "Samples, each multiplied by the period in force. Comparable across changes of the period, but not a count of loads.",
		.value = counters_weight,
	},
	{
		.family = "pebsd_weighted_latency_cycles",
		.help = "Latencies of sampled accesses, each multiplied by the period in force. Not the time for which programs stalled.",
		.value = counters_weighted_latency,
		.of_latency = true,
	},
	{
		.family = "pebsd_hitm_samples",
		.help = "Samples that hit a modified line in another cache.",
		.value = hitm_of,
		.of_loads = true,
	},
	{
		.family = "pebsd_tlb_walk_samples",
		.help = "Samples whose address translation needed a page walk: the TLB results 'walk', 'miss' and 'fault'. PEBS and IBS report a walk as 'miss'.",
		.value = counters_tlb_walk,
	},
	ACCESS_FLAGS(COUNTER_)};

_Static_assert(ARRAY_SIZE(all) <= CGROUP_COUNTERS_MAX, "a bit each");

const struct cgroup_counter *cgroup_counters(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(all);
	return all;
}
