// SPDX-License-Identifier: GPL-2.0
/*
 * churn [SECONDS [RATE [SLOTS]]]: creates and removes RATE real cgroups per second for SECONDS, with samples in
 * each (default: 2,000 a second for 60 s, with 2,048 slots). Prints JSON, and one line per second on standard
 * error. Exits with 1 if a sample is lost, in the wrong cgroup or without a name, if a cgroup got no slot, or
 * if a slot did not become free again. Needs root.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "churn.h"

static int number(int argc, char **argv, int index, u64 max, u64 *ret)
{
	return index < argc ? number_parse(argv[index], 1, max, ret) : 0;
}

int main(int argc, char **argv)
{
	u64 seconds = 60, rate = 2000, slots = 2048;
	struct churn_settings settings = {.interval_ns = NSEC_PER_SEC, .progress = stderr};
	struct churn_result result;
	int r;

	if (argc > 4 || number(argc, argv, 1, 3600, &seconds) < 0 ||
	    number(argc, argv, 2, 20000, &rate) < 0 || number(argc, argv, 3, 65536, &slots) < 0) {
		(void)fprintf(stderr, "usage: %s [SECONDS [RATE [SLOTS]]]\n", argv[0]);
		return 2;
	}
	settings.slots = (u32)slots;
	settings.rate = (u32)rate;
	settings.cgroups = (u32)(seconds * rate);
	r = churn(&settings, &result);
	if (r < 0) {
		if (r == -ENOTSUP)
			(void)fprintf(stderr, "there is no cgroup2 tree to make cgroups in\n");
		return 2;
	}
	printf("{\"cgroups\":%llu,\"seconds\":%.2f,\"births_per_second\":%.0f,\"slots\":%llu,"
	       "\"samples\":%llu,\"found\":%llu,\"nameless\":%llu,\"cgroups_short\":%llu,\"cgroups_mixed\":%"
	       "llu,"
	       "\"births_without_slot\":%llu,\"collections\":%llu,\"rooms_made\":%llu,\"waits\":%llu,"
	       "\"others_born\":%llu,\"slots_not_back\":%llu,\"anonymous_bytes\":{\"start\":%llu,\"early\":%"
	       "llu,\"end\":%llu}}\n",
	       (unsigned long long)result.cgroups, result.seconds, (double)result.cgroups / result.seconds,
	       (unsigned long long)slots, (unsigned long long)result.samples,
	       (unsigned long long)result.found, (unsigned long long)result.nameless,
	       (unsigned long long)result.short_of, (unsigned long long)result.mixed,
	       (unsigned long long)result.births_without_slot, (unsigned long long)result.collections,
	       (unsigned long long)result.rooms, (unsigned long long)result.waits,
	       (unsigned long long)result.others, (unsigned long long)result.slots_taken,
	       (unsigned long long)result.anonymous_start, (unsigned long long)result.anonymous_early,
	       (unsigned long long)result.anonymous_end);
	return result.found != result.samples || result.nameless || result.short_of || result.mixed ||
	       result.births_without_slot || result.slots_taken;
}
