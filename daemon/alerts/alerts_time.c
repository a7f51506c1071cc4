// SPDX-License-Identifier: GPL-2.0
#include "alerts/alerts_time.h"

/* A sum may decrease when CPUs go offline and their counters leave it. That counts as no growth. */
static u64 grown(u64 now, u64 before)
{
	return now > before ? now - before : 0;
}

struct sliding_time alerts_time(const struct reading *now, const struct reading *before, u64 elapsed_ns,
				u64 n_cpus)
{
	struct sliding_time time = {.elapsed_ns = elapsed_ns};
	u64 paused_ns;

	if (!now->counted)
		return time;
	time.enabled_ns = grown(now->enabled_ns, before->enabled_ns);
	time.running_ns = grown(now->running_ns, before->running_ns);
	time.expected = grown(now->expected, before->expected);
	time.lost = grown(now->malformed, before->malformed) + grown(now->unexplained, before->unexplained);
	paused_ns = grown(now->paused_ns, before->paused_ns) / (n_cpus ? n_cpus : 1);
	/* If no CPU had the event enabled, no sample could come in all this time. */
	time.blind_ns = time.enabled_ns == 0 ? elapsed_ns : paused_ns;
	if (time.blind_ns > elapsed_ns)
		time.blind_ns = elapsed_ns;
	return time;
}
