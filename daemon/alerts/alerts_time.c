// SPDX-License-Identifier: GPL-2.0
#include "alerts/alerts_time.h"

#include "base/subtract.h"

struct sliding_time alerts_time(const struct reading *now, const struct reading *before, u64 elapsed_ns,
				u64 n_cpus)
{
	struct sliding_time time = {.elapsed_ns = elapsed_ns};
	u64 paused_ns;

	if (!now->counted)
		return time;
	/* A sum may decrease when CPUs go offline and their counters leave it. */
	time.enabled_ns = subtract_to_zero(now->enabled_ns, before->enabled_ns);
	time.running_ns = subtract_to_zero(now->running_ns, before->running_ns);
	time.expected = subtract_to_zero(now->expected, before->expected);
	time.lost = subtract_to_zero(now->malformed, before->malformed) +
		    subtract_to_zero(now->unexplained, before->unexplained);
	paused_ns = subtract_to_zero(now->paused_ns, before->paused_ns) / (n_cpus ? n_cpus : 1);
	/* If no CPU had the event enabled, no sample could come in all this time. */
	time.unsampled_ns = time.enabled_ns == 0 ? elapsed_ns : paused_ns;
	if (time.unsampled_ns > elapsed_ns)
		time.unsampled_ns = elapsed_ns;
	return time;
}
