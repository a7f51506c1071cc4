// SPDX-License-Identifier: GPL-2.0
/* Writes a pprof profile of generated samples to a file, and prints the values that a reader must find in it. */
#include <stdio.h>

#include "profile/pprof.h"
#include "profile/profile_report.h"
#include "profile_fixture.h"

#define SAMPLES 5000

static int write_file(const char *path, const u8 *bytes, size_t size)
{
	FILE *file = fopen(path, "we");
	bool written = file && fwrite(bytes, 1, size, file) == size;

	return file && fclose(file) == 0 && written ? 0 : -1;
}

int main(int argc, char **argv)
{
	static const struct profile_about about = {.cgroup = "/example",
						   .origin = "model",
						   .event = "loads",
						   .period = 1009,
						   .began_real_ns = 1700000000000000000ULL,
						   .duration_ns = 30000000000ULL,
						   .kernel_names = true};
	static const struct report_settings settings = {.functions = 1};
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_free_ u8 *pprof = NULL;
	struct profile_fixture_names fixture;
	struct profile_report report;
	u64 stack[16];
	size_t size;

	profile_fixture_names_init(&fixture);
	if (argc != 2 || profile_new(true, &profile) < 0 || profile_name(profile, 100, 100, "example") < 0)
		return 1;
	for (u64 i = 0; i < SAMPLES; i++) {
		struct zoom_sample sample = profile_fixture_random(i, stack);

		if (profile_add(profile, &sample) < 0)
			return 1;
	}
	if (profile_report(profile, &fixture.names, &settings, &report) < 0 || report.n_functions != 1)
		return 1;
	printf("samples %llu\nlatency %llu\nfunction %s\n", (unsigned long long)report.totals.samples,
	       (unsigned long long)report.totals.latency, report.functions[0].name);
	profile_report_done(&report);
	return pprof_write(profile, &fixture.names, &about, &pprof, &size) < 0 ||
	       write_file(argv[1], pprof, size) < 0;
}
