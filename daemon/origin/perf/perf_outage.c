// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_outage.h"

void perf_outage_start(struct perf_outage *outage, u64 now_ns)
{
	*outage = (struct perf_outage){.seen_ns = now_ns};
}

void perf_outage_note(struct perf_outage *outage, bool in_error, u64 now_ns)
{
	if (in_error && (outage->in_error || !outage->counted) && now_ns > outage->seen_ns)
		outage->ns += now_ns - outage->seen_ns;
	outage->in_error = in_error;
	outage->counted = outage->counted || !in_error;
	outage->seen_ns = now_ns;
}
