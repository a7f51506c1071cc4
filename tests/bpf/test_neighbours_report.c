// SPDX-License-Identifier: GPL-2.0
/*
 * The report of an engine in the running kernel. tests/unit/test_neighbours.c tests its ranking, and
 * tests/unit/test_neighbours_report.c the choice of candidates.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "adopt_existing.h"
#include "base/cleanup.h"
#include "cgroup_fixture.h"
#include "engine_fixture.h"
#include "fake_clock.h"
#include "neighbours/neighbours_report.h"
#include "pebsd/data_source.h"

TestSuite(neighbours_engine, .init = cgroup_fixture_setup, .fini = cgroup_fixture_teardown);

/* Opens an engine that knows all existing cgroups. */
static struct engine *open_engine(bool latency)
{
	struct engine_settings settings = engine_fixture_settings(512);
	struct adopt_counts counts;
	struct engine *engine;

	settings.events[0].settings.has_latency = latency;
	settings.births = true;
	engine = engine_fixture_open(&settings);
	cr_assert_eq(adopt_existing(engine_kernel(engine), cgroup_fixture.mount, &counts), 0);
	return engine;
}

static void sample(struct engine *engine, u64 cgroup_id, unsigned n)
{
	const struct sample one = {.cgroup_id = cgroup_id,
				   .latency = 100,
				   .data_source = (u64)LVL_NUM_L3 << 33,
				   .period = 1000,
				   .fields = SAMPLE_LATENCY | SAMPLE_DATA_SOURCE};

	for (unsigned i = 0; i < n; i++)
		cr_assert_eq(kernel_inject(engine_kernel(engine), &one, 1), 0);
}

/* One bin is full, so the cgroup with traffic is a candidate. One bin is too little for a verdict. */
Test(neighbours_engine, real_cgroups_are_candidates)
{
	_cleanup_(engine_freep) struct engine *engine = NULL;
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL;
	_cleanup_free_ char *victim = NULL, *unsampled = NULL, *other = NULL;
	_cleanup_close_ int root = open(cgroup_fixture.mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	cr_assert_geq(root, 0);
	fake_clock_stop();
	engine = open_engine(true);
	cr_assert_geq(asprintf(&victim, "%s/victim", cgroup_fixture.path), 0);
	cr_assert_geq(asprintf(&other, "%s/other", cgroup_fixture.path), 0);
	cr_assert_geq(asprintf(&unsampled, "%s/unsampled", cgroup_fixture.path), 0);
	cgroup_fixture_make("unsampled");
	sample(engine, cgroup_fixture_make("victim"), 10);
	sample(engine, cgroup_fixture_make("other"), 10);
	/* Nothing was collected yet: no path is known. */
	cr_expect_eq(neighbours_report(engine, root, "/sys", victim, &report), -ENOENT);
	fake_clock_advance(5 * NSEC_PER_SEC);
	cr_assert_eq(engine_collect(engine), 0);
	cr_expect_eq(neighbours_report(engine, root, "/sys", unsampled, &report), -ENOENT);
	cr_assert_eq(neighbours_report(engine, root, "/sys", victim, &report), 0);
	cr_expect_eq(report->ranking.verdict, NEIGHBOURS_THIN);
	cr_expect_eq(report->ranking.bins, 1);
	cr_expect_str_eq(report->event, "loads");
	cr_assert_eq(report->n_cgroups, 1);
	cr_expect_str_eq(report->cgroups[0], other);
}

Test(neighbours_engine, an_event_without_latency_yields_no_data)
{
	_cleanup_(engine_freep) struct engine *engine = open_engine(false);
	_cleanup_(neighbours_report_freep) struct neighbours_report *report = NULL;
	_cleanup_free_ char *victim = NULL;

	cr_assert_geq(asprintf(&victim, "%s/victim", cgroup_fixture.path), 0);
	sample(engine, cgroup_fixture_make("victim"), 10);
	cr_assert_eq(engine_collect(engine), 0);
	cr_expect_eq(neighbours_report(engine, -1, "/sys", victim, &report), -ENODATA);
}
