// SPDX-License-Identifier: GPL-2.0
/*
 * An engine that uses maps of the running kernel is killed at any instruction, again and again. Its successor
 * must have the same counts as a twin: another engine that got the same samples and was left alone.
 *
 * A kill leaves only the memory that outlives the process: the state, and the kernel's records and dirty bytes. That
 * memory is write-protected, and each store to it is counted. Each kill comes before a different one of these
 * stores. Other processes are killed at a random moment, also while they take over.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "engine/engine_internal.h"
#include "engine_fixture.h"
#include "kernel/kernel_internal.h"
#include "some_stripes.h"
#include "state/state_internal.h"
#include "state/state_kinds.h"
#include "watched_stores.h"

#define EVENTS  2
#define SLOTS   48
#define PATHS   12
#define CGROUPS 8 /* alive at the same time */
#define FIRST   1000

/* The cgroups that are sampled. `alive` are ids. Several cgroups may have the same path. */
struct plan {
	u64 next_id;
	u64 alive[CGROUPS];
	unsigned paths[CGROUPS];
	u64 ids[4096]; /* of all cgroups that ever existed */
	unsigned of_path[4096];
	unsigned n_ids;
	u32 random;
};

/* The counts of an engine at its end, in memory that another process can read. */
struct outcome {
	bool there;
	u64 sequence;
	u64 seen[EVENTS];
	struct counters sums[EVENTS];
	struct counters paths[PATHS][EVENTS], series[PATHS][EVENTS];
	struct counters other[EVENTS], unattributed[EVENTS];
	size_t n_series;
};

static u32 random_number(struct plan *plan, u32 below)
{
	plan->random = plan->random * 1664525 + 1013904223;
	return (plan->random >> 8) % below;
}

static void name_path(unsigned path, char ret[16])
{
	(void)snprintf(ret, 16, "/p%u", path);
}

static struct engine_settings engine_settings(size_t top)
{
	struct engine_settings settings = engine_fixture_settings(SLOTS);

	settings.n_events = EVENTS;
	settings.events[1] = FIXTURE_STORES;
	settings.stripes = one_stripe();
	settings.top = top;
	return settings;
}

static struct kernel *open_kernel(void)
{
	const struct engine_settings settings = engine_settings(0);
	struct kernel_settings kernel = {.slots = SLOTS, .stripes = one_stripe(), .n_events = EVENTS};
	_cleanup_free_ char *message = NULL;
	struct kernel *ret;
	int r;

	for (size_t i = 0; i < EVENTS; i++)
		kernel.events[i] = settings.events[i].settings;
	r = kernel_open(&kernel, &ret, &message);
	cr_assert_eq(r, 0, "%s", message ? message : strerror(-r));
	return ret;
}

static struct engine *open_engine(struct kernel *kernel, struct state *state, bool same_maps, size_t top)
{
	struct engine_settings settings = engine_settings(top);
	struct engine *engine = NULL;
	char *message = NULL;

	settings.state = state;
	settings.kernel = kernel;
	settings.same_maps = same_maps;
	return engine_open(&settings, &engine, &message) == 0 ? engine : NULL;
}

/* Creates a cgroup for the twin and for the killed processes, which later learn its name (learn_names()). */
static void be_born(struct plan *plan, size_t place, struct engine *twin, struct kernel *kernel)
{
	unsigned path = random_number(plan, PATHS);
	u64 id = plan->next_id++;
	char name[16];

	name_path(path, name);
	cr_assert_eq(engine_adopt(twin, id, name), 0);
	cr_assert_geq(kernel_adopt(kernel, id, 0, name), 0);
	plan->alive[place] = id;
	plan->paths[place] = path;
	plan->of_path[plan->n_ids] = path;
	plan->ids[plan->n_ids++] = id;
}

static void replace_one(struct plan *plan, struct engine *twin, struct kernel *kernel)
{
	size_t place = random_number(plan, CGROUPS);

	cr_assert_eq(kernel_mark_dead(engine_kernel(twin), plan->alive[place]), 0);
	cr_assert_eq(kernel_mark_dead(kernel, plan->alive[place]), 0);
	be_born(plan, place, twin, kernel);
}

static void sample(struct plan *plan, struct engine *twin, struct kernel *kernel)
{
	struct sample samples[40];

	for (size_t i = 0; i < 40; i++) {
		u32 whose = random_number(plan, CGROUPS + 1);

		samples[i] = (struct sample){
			.cgroup_id = whose < CGROUPS ? plan->alive[whose] : 7,
			.latency = 50 + random_number(plan, 5000),
			.period = 1 + random_number(plan, 1000),
			.event = (u16)random_number(plan, EVENTS),
			.fields = SAMPLE_LATENCY,
		};
	}
	cr_assert_eq(kernel_inject(engine_kernel(twin), samples, 40), 0);
	cr_assert_eq(kernel_inject(kernel, samples, 40), 0);
}

static void learn_names(struct engine *engine, const struct plan *plan)
{
	for (unsigned i = 0; i < plan->n_ids; i++) {
		char name[16];

		name_path(plan->of_path[i], name);
		(void)names_add_path(engine->names, plan->ids[i], name);
	}
}

static void report(struct engine *engine, struct outcome *ret)
{
	const struct series *const *series;
	size_t n;

	memset(ret, 0, sizeof(*ret));
	ret->sequence = engine_head(engine)->sequence;
	for (unsigned event = 0; event < EVENTS; event++) {
		const struct snapshot *snapshot;

		if (engine_summary(engine, &snapshot) < 0)
			return;
		ret->sums[event] = snapshot->events[event].total;
		ret->seen[event] = engine_reading(engine, event).seen;
	}
	for (unsigned path = 0; path < PATHS; path++) {
		const struct totals_entry *entry;
		char name[16];

		name_path(path, name);
		entry = engine_find(engine, name);
		for (unsigned event = 0; event < EVENTS && entry; event++)
			totals_counters(entry, event, &ret->paths[path][event]);
	}
	series = engine_series(engine, &n);
	ret->n_series = n;
	for (size_t i = 0; i < n; i++)
		for (unsigned event = 0; event < EVENTS; event++) {
			const struct counters *counters = series[i]->counters[event];
			unsigned path;

			if (!counters)
				continue;
			if (sscanf(series[i]->path, "/p%u", &path) == 1)
				ret->series[path][event] = *counters;
			else if (strcmp(series[i]->path, TOTALS_OTHER) == 0)
				ret->other[event] = *counters;
			else
				ret->unattributed[event] = *counters;
		}
	ret->there = true;
}

static void watch_stores(const struct kernel *kernel, const struct state *state, u64 fatal)
{
	watched_stores_begin(fatal);
	watched_stores_add(state->memory, STATE_HEADER_BYTES + (size_t)STATE_CHUNKS_MAX * STATE_CHUNK_BYTES);
	watched_stores_add(kernel->blocks.list[0].maps[BLOCK_LATENCY].memory,
			   kernel->blocks.list[0].maps[BLOCK_LATENCY].bytes);
	watched_stores_add(kernel->blocks.list[0].maps[BLOCK_PLAIN].memory,
			   kernel->blocks.list[0].maps[BLOCK_PLAIN].bytes);
	watched_stores_add(kernel->dirty.memory, kernel->dirty.bytes);
}

/* The way in which a process ends. */
struct fate {
	bool watched;
	bool rests;      /* the process waits until slots become free */
	u64 store;       /* killed before this store; 0: not */
	u64 nanoseconds; /* killed after this time; 0: not */
	u64 *ret_stores; /* number of its stores; shared; may be NULL */
	struct outcome *ret;
};

static void end_after(u64 nanoseconds)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct itimerspec when = {.it_value = {.tv_nsec = (long)nanoseconds}};
	timer_t timer;

	if (nanoseconds &&
	    (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 || timer_settime(timer, 0, &when, NULL) < 0))
		_exit(15);
}

/* Returns whether the window begins at `began_ns`, as the samples in it do, and not when the engine was opened. */
static bool window_covers(struct engine *engine, u64 began_ns)
{
	const struct maybe_double all = {true, (double)ENGINE_WINDOW_NS / (double)NSEC_PER_SEC};
	const double covered = (double)(engine_collected_ns(engine) - began_ns) / (double)NSEC_PER_SEC;
	const struct snapshot *snapshot;

	return engine_windows_began_ns(engine) == began_ns && engine_snapshot(engine, &all, &snapshot) == 0 &&
	       fabs(snapshot->window_seconds.value - covered) < 1e-6;
}

/* The life of a process: it takes over and continues. */
static void live(struct kernel *kernel, int state_fd, const struct plan *plan, size_t top,
		 const struct fate *fate)
{
	struct state *state = NULL;
	struct engine *engine;
	const char *wrong;
	u64 again_ns, began_ns;

	end_after(fate->nanoseconds);
	if (state_inherit(state_fd, STATE_RECORDS, &state, &wrong) < 0)
		_exit(11);
	if (fate->watched)
		watch_stores(kernel, state, fate->store);
	engine = open_engine(kernel, state, true, top);
	if (!engine)
		_exit(12);
	if (engine_head(engine)->sequence == 0)
		_exit(13); /* the process did not continue the saved state */
	/* The first collection covers the time since the last one of the process before. */
	if (engine_began(engine).monotonic_ns >= engine_collected_ns(engine))
		_exit(16);
	began_ns = engine_began(engine).monotonic_ns;
	learn_names(engine, plan);
	if (fate->rests)
		(void)usleep((KERNEL_REST_NS + KERNEL_REST_NS / 10) / NSEC_PER_USEC);
	if (engine_reclaim(engine, &again_ns) < 0 || engine_collect(engine) < 0 ||
	    engine_reclaim(engine, &again_ns) < 0)
		_exit(14);
	if (!window_covers(engine, began_ns))
		_exit(17);
	if (fate->ret_stores)
		*fate->ret_stores = watched_stores_seen();
	if (fate->ret)
		report(engine, fate->ret);
	_exit(0);
}

/* Runs one process. Returns true if it was killed. */
static bool lived(struct kernel *kernel, struct state *state, const struct plan *plan, size_t top,
		  const struct fate *fate)
{
	pid_t child = fork();
	int status;

	cr_assert_geq(child, 0);
	if (child == 0)
		live(kernel, state_fd(state), plan, top, fate);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
			  (WIFEXITED(status) && WEXITSTATUS(status) == 0),
		  "status %x", (unsigned)status);
	return WIFSIGNALED(status);
}

static void expect_same(const struct counters *have, const struct counters *want, const char *what,
			unsigned which, unsigned event)
{
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		cr_assert_eq(((const u64 *)have)[i], ((const u64 *)want)[i],
			     "%s %u, event %u: counter %zu is %llu, should be %llu", what, which, event, i,
			     (unsigned long long)((const u64 *)have)[i],
			     (unsigned long long)((const u64 *)want)[i]);
}

static void expect_series_sum(const struct outcome *have)
{
	for (unsigned event = 0; event < EVENTS; event++) {
		struct counters sum = have->other[event];

		counters_add(&sum, &have->unattributed[event]);
		for (unsigned path = 0; path < PATHS; path++)
			counters_add(&sum, &have->series[path][event]);
		expect_same(&sum, &have->sums[event], "sum of series", 0, event);
	}
}

static void expect_twin(const struct outcome *have, struct engine *twin, bool all_exported)
{
	static struct outcome want;

	report(twin, &want);
	cr_assert(have->there && want.there);
	for (unsigned event = 0; event < EVENTS; event++) {
		expect_same(&have->sums[event], &want.sums[event], "total", 0, event);
		cr_assert_eq(have->seen[event], want.seen[event]);
		expect_same(&have->unattributed[event], &want.unattributed[event], "unattributed", 0, event);
		for (unsigned path = 0; path < PATHS; path++) {
			expect_same(&have->paths[path][event], &want.paths[path][event], "path", path, event);
			if (all_exported)
				expect_same(&have->series[path][event], &want.series[path][event], "series",
					    path, event);
		}
		if (all_exported)
			expect_same(&have->other[event], &want.other[event], "other", 0, event);
	}
	expect_series_sum(have);
}

struct fixture {
	struct kernel *kernel;
	struct state *state;
	struct engine *twin;
	struct plan *plan;
	struct outcome *outcome;
	size_t top;
};

/* The twin is as old as the engine that is killed: both have made a first collection. */
static void begin(struct fixture *fixture, size_t top)
{
	pid_t first;
	int status;

	*fixture = (struct fixture){
		.kernel = open_kernel(),
		.plan = calloc(1, sizeof(*fixture->plan)),
		.outcome = mmap(NULL, sizeof(*fixture->outcome), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0),
		.top = top,
	};
	cr_assert(fixture->plan && fixture->outcome != MAP_FAILED);
	fixture->plan->next_id = FIRST;
	fixture->plan->random = 17;
	cr_assert_eq(state_new(STATE_RECORDS, &fixture->state), 0);
	fixture->twin = open_engine(NULL, NULL, false, top);
	cr_assert_not_null(fixture->twin);
	for (size_t i = 0; i < CGROUPS; i++)
		be_born(fixture->plan, i, fixture->twin, fixture->kernel);
	cr_assert_eq(engine_collect(fixture->twin), 0);
	first = fork();
	cr_assert_geq(first, 0);
	if (first == 0) {
		struct engine *engine = open_engine(fixture->kernel, fixture->state, false, top);

		learn_names(engine, fixture->plan);
		_exit(engine_collect(engine) < 0);
	}
	cr_assert_eq(waitpid(first, &status, 0), first);
	cr_assert_eq(status, 0);
}

static void end(struct fixture *fixture)
{
	engine_free(fixture->twin);
	kernel_free(fixture->kernel);
	state_free(fixture->state);
	free(fixture->plan);
	(void)munmap(fixture->outcome, sizeof(*fixture->outcome));
}

static void round_of(struct fixture *fixture, unsigned round)
{
	u64 again_ns;

	if (round % 3 == 0)
		replace_one(fixture->plan, fixture->twin, fixture->kernel);
	sample(fixture->plan, fixture->twin, fixture->kernel);
	cr_assert_eq(engine_reclaim(fixture->twin, &again_ns), 0);
	cr_assert_eq(engine_collect(fixture->twin), 0);
	cr_assert_eq(engine_reclaim(fixture->twin, &again_ns), 0);
}

/* Kills each process, except every ninth, which is left alone and compared with the twin. */
static void kill_through(size_t top, unsigned at_stores, unsigned at_random)
{
	struct fixture fixture;
	struct timespec start, end_time;
	unsigned killed = 0;
	u64 *stores, whole_ns;

	begin(&fixture, top);
	stores = mmap(NULL, sizeof(*stores), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(stores, MAP_FAILED);
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	cr_assert_not(lived(fixture.kernel, fixture.state, fixture.plan, top, &(struct fate){0}));
	(void)clock_gettime(CLOCK_MONOTONIC, &end_time);
	whole_ns = (u64)(end_time.tv_sec - start.tv_sec) * NSEC_PER_SEC + (u64)end_time.tv_nsec -
		   (u64)start.tv_nsec;
	round_of(&fixture, 0);
	cr_assert_not(lived(fixture.kernel, fixture.state, fixture.plan, top,
			    &(struct fate){.watched = true, .rests = true, .ret_stores = stores}));
	cr_assert_gt(*stores, 100);
	for (unsigned i = 0; i < at_stores + at_random; i++) {
		struct fate fate = {.rests = i % 2};

		round_of(&fixture, i + 1);
		if (i < at_stores) {
			fate.watched = true;
			/* Not in ascending order, so that the stores late in a life are reached, too. */
			fate.store = 1 + *stores * (i * 101 % at_stores) / at_stores +
				     random_number(fixture.plan, (u32)(*stores / at_stores + 1));
		} else {
			fate.nanoseconds = 1 + random_number(fixture.plan, (u32)whole_ns);
		}
		killed += lived(fixture.kernel, fixture.state, fixture.plan, top, &fate);
		/* Gives slots the time to become free and go to other cgroups. */
		(void)usleep(10000);
		if (i % 8 != 7)
			continue;
		cr_assert_not(lived(fixture.kernel, fixture.state, fixture.plan, top,
				    &(struct fate){.rests = true, .ret = fixture.outcome}));
		expect_twin(fixture.outcome, fixture.twin, top >= PATHS);
	}
	(void)fprintf(stderr, "%u of %u killed, before %u of %llu stores and at random moments of %llu us\n",
		      killed, at_stores + at_random, at_stores, (unsigned long long)*stores,
		      (unsigned long long)(whole_ns / 1000));
	cr_assert_gt(killed, at_stores / 2);
	(void)munmap(stores, sizeof(*stores));
	end(&fixture);
}

Test(state_kill, counts_survive_a_kill_if_every_path_has_a_series, .timeout = 300)
{
	kill_through(PATHS, 240, 80);
}

/*
 * Each collection decides which paths have a series, and the two engines do not collect at the same moments.
 * Still, each sample is in one series, and the sums are equal.
 */
Test(state_kill, counts_survive_a_kill_if_some_paths_are_in_other, .timeout = 300)
{
	kill_through(3, 80, 40);
}
