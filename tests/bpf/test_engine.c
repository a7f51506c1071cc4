// SPDX-License-Identifier: GPL-2.0
/* The engine over the running kernel: a cgroup's way from its birth into snapshots, and slots when they are
 * short. */
#include <criterion/criterion.h>

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cgroup_fixture.h"
#include "collect/adopt.h"
#include "engine.h"

static struct cgroup_fixture fixture;

static void setup(void)
{
	cgroup_fixture_setup(&fixture);
}

static void teardown(void)
{
	cgroup_fixture_teardown(&fixture);
}

TestSuite(engine, .init = setup, .fini = teardown);

static bool every_path(const char *path, void *userdata)
{
	(void)path;
	(void)userdata;
	return true;
}

static struct engine *open_engine(u32 slots)
{
	const struct engine_settings settings = {
		.origin = "perf",
		.n_events = 1,
		.events[0] = {.role = EVENT_LOADS,
			      .pmu = "cpu",
			      .settings = {.has_latency = 1, .has_source = 1, .weight_struct = 1}},
		.slots = slots,
		.stripes = 2,
		.births = true,
		.top = 50,
		.interval_ns = NSEC_PER_SEC,
		.exported = every_path,
	};
	_cleanup_free_ char *message = NULL;
	struct engine *engine;
	int r = engine_open(&settings, &engine, &message);

	cr_assert_eq(r, 0, "%s", message ? message : strerror(-r));
	return engine;
}

static void sample(struct engine *engine, u64 cgroup_id)
{
	const struct sample one = {
		.cgroup_id = cgroup_id, .latency = 100, .period = 1, .fields = SAMPLE_LATENCY};

	cr_assert_eq(kernel_inject(engine_kernel(engine), &one, 1), 0);
}

static u64 samples_in(struct engine *engine, double seconds, const char *path)
{
	const struct maybe_double window = {seconds > 0, seconds};
	const struct snapshot *snapshot;

	cr_assert_eq(engine_snapshot(engine, &window, &snapshot), 0);
	for (size_t i = 0; i < snapshot->n_cgroups; i++)
		if (strcmp(snapshot->cgroups[i].path, path) == 0)
			return figures_samples(snapshot->cgroups[i].figures[0]);
	return 0;
}

/* One that lives less than an interval is known by its name as long as any other that was removed. */
Test(engine, a_short_life_is_kept_as_long_as_a_long_one)
{
	_cleanup_(engine_freep) struct engine *engine = open_engine(512);
	_cleanup_free_ char *path = NULL;
	struct adopt_counts counts;
	const struct ledger_entry *entry;

	cr_assert_geq(asprintf(&path, "%s/brief", fixture.path), 0);
	cr_assert_eq(adopt_existing(engine_kernel(engine), fixture.mount, &counts), 0);
	cr_assert_eq(engine_collect(engine), 0);
	sample(engine, cgroup_fixture_make(&fixture, "brief"));
	cgroup_fixture_remove(&fixture, "brief");
	for (unsigned i = 0; i < 30; i++) {
		cr_assert_eq(engine_collect(engine), 0);
		(void)usleep(100000);
	}
	entry = engine_find(engine, path);
	cr_assert_not_null(entry, "folded although it died a moment ago");
	cr_expect_eq(entry->holders, 0, "its slot was given back");
	cr_expect_neq(entry->died_ns, 0);
	cr_expect_eq(samples_in(engine, 60, path), 1);
	cr_expect_eq(samples_in(engine, 0, path), 1);
}

/* Slots that a cgroup of this name holds, as far as the kernel side knows. */
static u64 alive_named(const struct engine *engine, const char *name)
{
	const struct kernel *kernel = engine_kernel(engine);
	u64 n = 0;

	for (u32 slot = 1; slot < kernel_settings(kernel)->slots; slot++)
		n += kernel_owner(kernel, slot)->state == SLOT_ALIVE &&
		     strcmp(kernel_owner(kernel, slot)->name, name) == 0;
	return n;
}

/* Cgroups come and go while the tracepoints are being attached: none may keep a slot for ever. */
Test(engine, no_slot_is_lost_to_the_start, .timeout = 60)
{
	_cleanup_free_ char *path = NULL;
	pid_t pid;

	cr_assert_geq(asprintf(&path, "%s%s/churn", fixture.mount, fixture.path), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0)
		for (;;) {
			(void)mkdir(path, 0755);
			(void)rmdir(path);
		}
	for (unsigned i = 0; i < 20; i++) {
		_cleanup_(engine_freep) struct engine *engine = open_engine(4096);
		struct adopt_counts counts;

		cr_assert_eq(adopt_existing(engine_kernel(engine), fixture.mount, &counts), 0);
		cr_assert_eq(kill(pid, SIGSTOP), 0);
		cr_assert_eq(waitpid(pid, NULL, WUNTRACED), pid);
		cr_expect_leq(alive_named(engine, "churn"), access(path, F_OK) == 0);
		cr_assert_eq(kill(pid, SIGCONT), 0);
	}
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(engine, cgroups_that_found_no_slot_are_tried_again)
{
	_cleanup_(engine_freep) struct engine *engine = open_engine(8);
	struct adopt_counts counts;
	char name[16];

	/* All slots are taken by short lives before the walk. */
	for (unsigned i = 0; i < 7; i++) {
		(void)snprintf(name, sizeof(name), "short-%u", i);
		cgroup_fixture_make(&fixture, name);
	}
	engine_adopting(engine);
	cr_assert_eq(adopt_existing(engine_kernel(engine), fixture.mount, &counts), 0);
	cr_assert_gt(counts.without_slot, 0);
	engine_adopted(engine, counts.without_slot == 0);
	cr_assert_eq(engine_collect(engine), 0);
	cr_expect_not(engine_should_adopt(engine), "no slot is free");

	for (unsigned i = 0; i < 7; i++) {
		(void)snprintf(name, sizeof(name), "short-%u", i);
		cgroup_fixture_remove(&fixture, name);
	}
	for (unsigned i = 0; i < 26; i++) {
		cr_assert_eq(engine_collect(engine), 0);
		(void)usleep(100000);
	}
	cr_expect(engine_should_adopt(engine), "slots are free again");
}
