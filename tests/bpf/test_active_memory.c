// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's own memory (RssAnon) against its budget of 10 MB plus 2.5 KB per active cgroup and event. Each
 * size runs the engine in its own process until the memory for windows is full.
 */
#include <criterion/criterion.h>

#include "active.h"
#include "base/cleanup.h"

#ifndef __SANITIZE_ADDRESS__
#define BASE_MAX   10000000.0
#define ACTIVE_MAX 2500.0
#else /* the sanitizer's own memory is many times the daemon's: check the samples only */
#define BASE_MAX   1e12
#define ACTIVE_MAX 1e12
#endif

/* Returns the daemon's own memory in bytes. */
static double measure(u32 cgroups, u32 active, u32 events, struct active_result *ret)
{
	const struct active_settings settings = {
		.cgroups = cgroups,
		.active = active,
		.events = events,
		.collections = active > 2000 ? 60 : 240,
		.samples = 5,
		.path_length = 80,
	};

	cr_assert_eq(active_run(&settings, ret), 0);
	cr_expect_eq(ret->found, ret->samples);
	cr_expect_leq((double)ret->anonymous_bytes, BASE_MAX + ACTIVE_MAX * active * events,
		      "%u active of %u and %u events: %.1f MB", active, cgroups, events,
		      (double)ret->anonymous_bytes / 1e6);
	return (double)ret->anonymous_bytes;
}

Test(active_memory, memory_of_active_cgroups_is_within_its_budget)
{
	static const u32 sizes[] = {200, 1000, 4000};
	struct active_result result;
	double bytes[ARRAY_SIZE(sizes)], slope;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		bytes[i] = measure(sizes[i], sizes[i], 1, &result);
		cr_log_info(
			"%u active: %.2f MB (%.2f MB before the first collection, %.2f MB at most until then), maps %.1f MB, a collection %.2f ms",
			sizes[i], bytes[i] / 1e6, (double)result.opened_bytes / 1e6,
			(double)result.peak_bytes / 1e6, (double)result.map_bytes / 1e6, result.best_ms);
	}
	slope = (bytes[2] - bytes[1]) / (sizes[2] - sizes[1]);
	cr_log_info("%.0f bytes an active cgroup and event above %.2f MB", slope,
		    (bytes[1] - slope * sizes[1]) / 1e6);
	cr_expect_leq(slope, ACTIVE_MAX);
	cr_expect_leq(bytes[1] - slope * sizes[1], BASE_MAX);
	(void)measure(1000, 1000, 2, &result);
	/* Cgroups without samples cost little: only their paths. */
	(void)measure(4000, 200, 1, &result);
}
