// SPDX-License-Identifier: GPL-2.0
#include "govern/calibrate.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/*
 * Number of cache lines that the work visits, more than most second level caches hold. Each line contains the
 * index of the next one, in an order that no prefetcher follows.
 */
#define LINES 65536

struct line {
	u32 next;
	u32 visits;
	u64 rest[7];
};

_Static_assert(sizeof(struct line) == 64, "a cache line");

struct walk {
	struct line *lines;
	u32 at;
};

struct calibration {
	size_t n;
	struct event_spec *specs;
	struct calibrate_result *results;
	struct calibrate_program program; /* owned by the caller */
	u64 max_rate;
	pthread_t thread;
	bool stop; /* atomic */
	bool done; /* atomic */
};

/*
 * The lines form one full cycle, because the multiplier minus 1 is a multiple of 4 and the increment is odd.
 */
static void lay_out(struct line *lines)
{
	for (u32 i = 0; i < LINES; i++)
		lines[i].next = (i * 1664525U + 1013904223U) % LINES;
}

/* One unit is a store to a line, and a load from it that misses and gives the next line. */
static void walk_on(void *userdata, u64 units)
{
	struct walk *walk = userdata;
	struct line *lines = walk->lines;
	u32 at = walk->at;

	while (units--) {
		lines[at].visits++;
		at = *(volatile u32 *)&lines[at].next;
	}
	walk->at = at;
}

/*
 * Moves the thread to the CPUs of the PMU, if the PMU does not have all CPUs. If that fails, rounds on
 * another CPU do not count. (The system call takes the bits of the list as they are. A cpu_set_t for them
 * would have to be allocated, and a thread that allocates gets a malloc arena of its own.)
 */
static void go_to(const struct event_spec *spec)
{
	if (spec->has_members)
		(void)syscall(SYS_sched_setaffinity, 0, sizeof(spec->members.bits), spec->members.bits);
}

static bool is_complete(const struct calibrate_result *result)
{
	return result->dense.known && result->sparse.known;
}

/*
 * Interrupts of two events of one PMU cost the same if both events are precise or neither is. If a timing is
 * unknown, takes it from another event of the PMU that is as precise. Returns whether all timings are known.
 */
static bool go_by_another(struct calibration *calibration, size_t event)
{
	const struct event_spec *spec = &calibration->specs[event];
	struct calibrate_result *result = &calibration->results[event];

	for (size_t i = 0; i < calibration->n; i++) {
		const struct calibrate_result *other = &calibration->results[i];

		if (calibration->specs[i].type != spec->type ||
		    !calibration->specs[i].precise_ip != !spec->precise_ip)
			continue;
		if (!result->dense.known && other->dense.known)
			result->dense = other->dense;
		if (!result->sparse.known && other->sparse.known)
			result->sparse = other->sparse;
	}
	return is_complete(result);
}

/*
 * Measures the events with or without `only_counter`. Events that only one counter can hold depend on the
 * results of others, so they come second.
 */
static void measure_some(struct calibration *calibration, struct walk *walk, bool only_counter)
{
	for (size_t i = 0; i < calibration->n; i++) {
		const struct event_spec *spec = &calibration->specs[i];

		if ((spec->only_counter != 0) != only_counter)
			continue;
		if (__atomic_load_n(&calibration->stop, __ATOMIC_RELAXED))
			return;
		if (go_by_another(calibration, i))
			continue;
		go_to(spec);
		calibrate_measure(spec, &calibration->program, calibration->max_rate, walk_on, walk,
				  &calibration->stop, &calibration->results[i]);
	}
}

/*
 * Fills in missing results, for example of an event that found no counter, from events that were measured
 * later.
 */
static void fill_in(struct calibration *calibration)
{
	for (size_t i = 0; i < calibration->n; i++)
		(void)go_by_another(calibration, i);
}

static void measure_all(struct calibration *calibration)
{
	const size_t bytes = LINES * sizeof(struct line);
	struct walk walk = {
		.lines = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};

	if (walk.lines == MAP_FAILED) {
		for (size_t i = 0; i < calibration->n; i++)
			calibrate_refuse(&calibration->results[i],
					 "cannot allocate memory for the measurement");
		return;
	}
	lay_out(walk.lines);
	measure_some(calibration, &walk, false);
	measure_some(calibration, &walk, true);
	fill_in(calibration);
	(void)munmap(walk.lines, bytes);
}

static void *run(void *argument)
{
	struct calibration *calibration = argument;

	measure_all(calibration);
	__atomic_store_n(&calibration->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The new thread blocks all signals: the event loop handles them. */
static int start(struct calibration *calibration)
{
	sigset_t all, before;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&calibration->thread, NULL, run, calibration);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

int calibration_new(const struct event_spec *const *specs, size_t n, const struct calibrate_result *before,
		    const struct calibrate_program *program, u64 max_rate, struct calibration **ret)
{
	struct calibration *calibration = calloc(1, sizeof(*calibration));
	int r = -ENOMEM;

	if (!calibration)
		return r;
	*calibration = (struct calibration){
		.n = n,
		.specs = calloc(n ? n : 1, sizeof(*calibration->specs)),
		.results = calloc(n ? n : 1, sizeof(*calibration->results)),
		.program = *program,
		.max_rate = max_rate,
	};
	if (calibration->specs && calibration->results) {
		for (size_t i = 0; i < n; i++) {
			calibration->specs[i] = *specs[i];
			if (before)
				calibration->results[i] = before[i];
		}
		r = start(calibration);
	}
	if (r < 0) {
		free(calibration->specs);
		free(calibration->results);
		free(calibration);
		return r;
	}
	*ret = calibration;
	return 0;
}

const struct calibrate_result *calibration_results(const struct calibration *calibration)
{
	return __atomic_load_n(&calibration->done, __ATOMIC_ACQUIRE) ? calibration->results : NULL;
}

struct calibration *calibration_free(struct calibration *calibration)
{
	if (!calibration)
		return NULL;
	__atomic_store_n(&calibration->stop, true, __ATOMIC_RELAXED);
	(void)pthread_join(calibration->thread, NULL);
	free(calibration->specs);
	free(calibration->results);
	free(calibration);
	return NULL;
}
