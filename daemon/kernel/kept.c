// SPDX-License-Identifier: GPL-2.0
#include "kernel/kept.h"

static const char *unreadable(const struct kept_identity *before, const struct kept_identity *own)
{
	if (before->records != own->records)
		return "the layout of the records";
	if (before->slots != own->slots || before->block_slots != own->block_slots)
		return "the number of slots";
	if (before->n_events != own->n_events || before->with_latency != own->with_latency ||
	    before->measured != own->measured)
		return "the events";
	if (before->cpus != own->cpus || before->stripes != own->stripes)
		return "the CPUs";
	if (before->hot_max != own->hot_max || before->hot_cpus != own->hot_cpus)
		return "the number of hot tables";
	return before->offcore_cpus != own->offcore_cpus ? "the counting of off-core responses" : NULL;
}

enum kept kept_decide(const struct kept_identity *before, const struct kept_identity *own)
{
	if (unreadable(before, own))
		return KEPT_ANEW;
	return before->settings == own->settings && before->programs == own->programs ? KEPT_GO_ON
										      : KEPT_REPLACE;
}

const char *kept_difference(const struct kept_identity *before, const struct kept_identity *own)
{
	const char *difference = unreadable(before, own);

	if (difference)
		return difference;
	if (before->settings != own->settings)
		return "the settings of the programs";
	return before->programs != own->programs ? "the programs" : NULL;
}

u64 kept_hash(u64 hash, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ ((const u8 *)bytes)[i]) * 0x100000001b3ULL;
	return hash;
}
