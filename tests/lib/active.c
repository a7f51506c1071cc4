// SPDX-License-Identifier: GPL-2.0
#include "active.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/heap.h"
#include "base/own_memory.h"
#include "engine/engine.h"
#include "some_stripes.h"

static bool every_path(const char *path, void *userdata)
{
	(void)path;
	(void)userdata;
	return true;
}

static int open_engine(const struct active_settings *settings, struct engine **ret)
{
	struct engine_settings engine = {
		.origin = "perf",
		.n_events = settings->events,
		.events[0] = {.role = EVENT_LOADS,
			      .pmu = "cpu",
			      .settings = {.has_latency = 1, .has_source = 1, .weight_struct = 1}},
		.events[1] = {.role = EVENT_STORES, .pmu = "cpu", .settings = {.has_source = 1}},
		.events[2] = {.role = EVENT_INSTRUCTIONS, .pmu = "cpu"},
		.events[3] = {.role = EVENT_CYCLES, .pmu = "cpu"},
		.events[4] = {.role = EVENT_STALLS, .pmu = "cpu"},
		.slots = settings->cgroups + 1,
		.stripes = machine_stripes(),
		.top = 50,
		.interval_ns = NSEC_PER_SEC,
		.exported = every_path,
	};
	_cleanup_free_ char *message = NULL;
	int r = engine_open(&engine, ret, &message);

	if (r < 0)
		(void)fprintf(stderr, "%s\n", message ? message : strerror(-r));
	return r;
}

static int adopt_all(const struct active_settings *settings, struct engine *engine)
{
	_cleanup_free_ char *path = malloc(settings->path_length + 32);

	if (!path)
		return -ENOMEM;
	for (u32 i = 0; i < settings->cgroups; i++) {
		int n = sprintf(path, "/machine.slice/unit-%u-", i), r;

		while ((u32)n < settings->path_length)
			path[n++] = 'x';
		path[n] = '\0';
		r = engine_adopt(engine, 1000 + i, path);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Reproducible random numbers: a linear congruential generator. */
static u32 draw(u64 *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(*state >> 33);
}

/* A load without a snoop, whose page is in the first-level TLB (include/uapi/linux/perf_event.h). */
#define SERVED_BY(level) (2ULL | 2ULL << 19 | 10ULL << 26 | (u64)(level) << 33)

static const u64 sources[] = {SERVED_BY(1), SERVED_BY(2), SERVED_BY(3), SERVED_BY(13)};

static int hand_over(const struct active_settings *settings, struct engine *engine, u64 *state, u64 *ret_n)
{
	static const u8 fields[] = {SAMPLE_LATENCY | SAMPLE_DATA_SOURCE, SAMPLE_DATA_SOURCE, 0, 0, 0};
	struct sample samples[INJECT_MAX];
	u32 n = 0;
	int r = 0;

	for (u32 i = 0; r == 0 && i < settings->active; i++)
		for (u32 k = 0; r == 0 && k < settings->samples * settings->events; k++) {
			u32 random = draw(state);
			/* The latencies resemble those of loads: most are low, few are high. */
			u32 far = random % 16 == 0 ? 300 : random % 4 == 0 ? 80 : 34;

			samples[n++] = (struct sample){
				.cgroup_id = 1000 + i,
				.latency = far + draw(state) % far,
				.period = 1009,
				.data_source = sources[random % 4],
				.event = (u16)(k % settings->events),
				.fields = fields[k % settings->events],
			};
			++*ret_n;
			if (n < INJECT_MAX)
				continue;
			r = kernel_inject(engine_kernel(engine), samples, n);
			n = 0;
		}
	return r == 0 ? kernel_inject(engine_kernel(engine), samples, n) : r;
}

static int run(const struct active_settings *settings, struct active_result *ret)
{
	_cleanup_(engine_freep) struct engine *engine = NULL;
	_cleanup_close_ int memory = own_memory_open();
	u64 state = 1;
	int r;

	heap_map_large(); /* as the daemon does */
	r = memory < 0 ? memory : own_memory_read(memory, &ret->before_bytes);
	if (r == 0)
		r = open_engine(settings, &engine);
	if (r == 0)
		r = own_memory_read(memory, &ret->opened_bytes);
	if (r == 0)
		ret->peak_bytes = kernel_start_peak(engine_kernel(engine));
	if (r == 0)
		r = adopt_all(settings, engine);
	ret->best_ms = 1e9;
	for (u32 i = 0; r == 0 && i < settings->collections; i++) {
		r = hand_over(settings, engine, &state, &ret->samples);
		if (r == 0)
			r = engine_collect(engine);
		ret->collection_ms = engine_head(engine)->collection_seconds * 1e3;
		if (ret->collection_ms < ret->best_ms)
			ret->best_ms = ret->collection_ms;
	}
	if (r == 0)
		r = own_memory_read(memory, &ret->anonymous_bytes);
	if (r < 0)
		return r;
	ret->map_bytes = kernel_map_bytes(engine_kernel(engine));
	for (unsigned event = 0; event < settings->events; event++)
		ret->found += engine_reading(engine, event).seen;
	return 0;
}

int active_run(const struct active_settings *settings, struct active_result *ret)
{
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	if (settings->active > settings->cgroups || settings->events < 1 || settings->events > 5)
		return -EINVAL;
	if (pipe(ends) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		struct active_result result = {0};
		int r = run(settings, &result);

		if (r < 0)
			(void)fprintf(stderr, "cannot run the engine: %s\n", strerror(-r));
		_exit(r == 0 && write(ends[1], &result, sizeof(result)) == (ssize_t)sizeof(result) ? 0 : 1);
	}
	(void)close(ends[1]);
	n = read(ends[0], ret, sizeof(*ret));
	(void)close(ends[0]);
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return n == (ssize_t)sizeof(*ret) && status == 0 ? 0 : -EIO;
}
