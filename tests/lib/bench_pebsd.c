// SPDX-License-Identifier: GPL-2.0
#include "bench_pebsd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adopt_existing.h"
#include "cgroup/mount.h"

static void die(const char *program, const char *what, int error)
{
	(void)fprintf(stderr, "%s: %s: %s\n", program, what, strerror(error));
	exit(EXIT_FAILURE);
}

struct kernel *bench_pebsd_open(const char *program, const struct stripes *stripes)
{
	const struct kernel_settings settings = {
		.slots = BENCH_PEBSD_SLOTS,
		.stripes = stripes,
		.hardware = true,
		.n_events = BENCH_PEBSD_EVENTS,
		.events[BENCH_PEBSD_LOADS] = {.has_latency = 1,
					      .has_source = 1,
					      .has_address = 1,
					      .weight_struct = 1},
	};
	_cleanup_free_ char *mount = NULL;
	struct kernel *kernel = NULL;
	struct adopt_counts counts;
	char *message = NULL;
	bool subtree;
	int r = kernel_open(&settings, &kernel, &message);

	if (r < 0)
		die(program, message ? message : "cannot load pebsd's programs", -r);
	if ((r = cgroup_mount_find(&mount, &subtree)) < 0 || (r = adopt_existing(kernel, mount, &counts)) < 0)
		die(program, "cannot read the cgroups", -r);
	return kernel;
}
