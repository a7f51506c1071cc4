// SPDX-License-Identifier: GPL-2.0
#include "engine_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "some_stripes.h"

static bool every_path(const char *path, void *userdata)
{
	(void)path;
	(void)userdata;
	return true;
}

struct engine_settings engine_fixture_settings(u32 slots)
{
	return (struct engine_settings){
		.origin = "perf",
		.n_events = 1,
		.events = {FIXTURE_LOADS},
		.slots = slots,
		.stripes = machine_stripes(),
		.top = 50,
		.interval_ns = NSEC_PER_SEC,
		.exported = every_path,
	};
}

struct engine *engine_fixture_open(const struct engine_settings *settings)
{
	_cleanup_free_ char *message = NULL;
	struct engine *engine = NULL;
	int r = engine_open(settings, &engine, &message);

	cr_assert_eq(r, 0, "%s", message ? message : strerror(-r));
	return engine;
}
