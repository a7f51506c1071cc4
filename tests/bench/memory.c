// SPDX-License-Identifier: GPL-2.0
/*
 * memory [COLLECTIONS]: the memory of the engine over the real kernel side, up to 10,000 cgroups, as JSON.
 * Prints the engine's memory (RssAnon) once the memory for windows is full, the peak at the start, the maps,
 * and the fastest collection. Each size runs in its own process. Exits with 1 if a size exceeds its budget of
 * 10 MB plus 2.5 KB per active cgroup and event, or if a sample is missing. Needs root.
 */
#include <stdbool.h>
#include <stdio.h>

#include "active.h"
#include "base/cleanup.h"
#include "base/number.h"

int main(int argc, char **argv)
{
	static const struct {
		u32 cgroups, active, events;
	} sizes[] = {{200, 200, 1},     {1000, 1000, 1},   {1000, 1000, 5},   {4000, 4000, 1},
		     {10000, 10000, 1}, {10000, 10000, 2}, {10000, 10000, 5}, {10000, 1000, 1},
		     {10000, 100, 1},   {10000, 0, 1}};
	u64 collections = 100;
	bool over = false;

	if (argc > 2 || (argc > 1 && number_parse(argv[1], 1, 10000, &collections) < 0)) {
		(void)fprintf(stderr, "usage: %s [COLLECTIONS]\n", argv[0]);
		return 2;
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const struct active_settings settings = {
			.cgroups = sizes[i].cgroups,
			.active = sizes[i].active,
			.events = sizes[i].events,
			.collections = (u32)collections,
			.samples = 5,
			.path_length = 80,
		};
		struct active_result result;
		u64 budget = 10000000 + 2500ULL * settings.active * settings.events;

		if (active_run(&settings, &result) < 0)
			return 2;
		printf("{\"cgroups\":%u,\"active\":%u,\"events\":%u,\"anonymous_bytes\":%llu,"
		       "\"budget_bytes\":%llu,\"opened_bytes\":%llu,\"peak_bytes\":%llu,\"map_bytes\":%llu,"
		       "\"collection_ms\":%.3f}\n",
		       settings.cgroups, settings.active, settings.events,
		       (unsigned long long)result.anonymous_bytes, (unsigned long long)budget,
		       (unsigned long long)result.opened_bytes, (unsigned long long)result.peak_bytes,
		       (unsigned long long)result.map_bytes, result.best_ms);
		if (result.found != result.samples)
			(void)fprintf(stderr, "%u cgroups: found %llu of %llu samples\n", settings.cgroups,
				      (unsigned long long)result.found, (unsigned long long)result.samples);
		over |= result.anonymous_bytes > budget || result.found != result.samples;
	}
	return over;
}
