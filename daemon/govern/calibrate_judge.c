// SPDX-License-Identifier: GPL-2.0
/* Decides which rounds of a calibration count, and what they say about the cost of a sample. */
#include "govern/calibrate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NS_A_SECOND 1e9

#define BOUND_NS     2500.0
#define BOUND_MIN_NS 1000.0
#define BOUND_MAX_NS 25000.0

static int compare(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Sorts `values`. */
static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/*
 * A half was interrupted if it took more than this many times the lower quartile of all such halves. All
 * rounds do the same work: caches change its time by a few percent, a preemption by hundreds of percent.
 */
#define INTERRUPTED 1.5

static void unknown(struct calibrate_timing *ret, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void unknown(struct calibrate_timing *ret, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(ret->reason, sizeof(ret->reason), format, arguments);
	va_end(arguments);
}

static bool usable(const struct calibrate_round *round)
{
	return round->samples > 0 && isfinite((round->with_ns - round->without_ns) / round->samples);
}

/* Sorts `values`. */
static double lower_quartile(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 4];
}

/* Drops interrupted rounds, in place. Returns how many are left. */
static size_t drop_interrupted(struct calibrate_round *rounds, size_t n)
{
	double with[CALIBRATE_ROUNDS_MAX], without[CALIBRATE_ROUNDS_MAX];
	double with_most, without_most;
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		with[i] = rounds[i].with_ns;
		without[i] = rounds[i].without_ns;
	}
	with_most = lower_quartile(with, n) * INTERRUPTED;
	without_most = lower_quartile(without, n) * INTERRUPTED;
	for (size_t i = 0; i < n; i++)
		if (rounds[i].with_ns <= with_most && rounds[i].without_ns <= without_most)
			rounds[left++] = rounds[i];
	return left;
}

void calibrate_judge(const struct calibrate_round *rounds, size_t n, struct calibrate_timing *ret)
{
	struct calibrate_round kept[CALIBRATE_ROUNDS_MAX];
	double costs[CALIBRATE_ROUNDS_MAX], distances[CALIBRATE_ROUNDS_MAX];
	size_t sampled = 0, left, positive = 0;
	double middle, with_ns = 0, samples = 0;

	*ret = (struct calibrate_timing){0};
	for (size_t i = 0; i < n && sampled < CALIBRATE_ROUNDS_MAX; i++)
		if (usable(&rounds[i]))
			kept[sampled++] = rounds[i];
	if (sampled < CALIBRATE_ROUNDS / 2) {
		unknown(ret, "the event sampled the measured work in too few rounds (%zu, and %d are needed)",
			sampled, CALIBRATE_ROUNDS / 2);
		return;
	}
	left = drop_interrupted(kept, sampled);
	if (left < CALIBRATE_ROUNDS / 2) {
		unknown(ret,
			"something else, such as another task, a hypervisor or the firmware, took the CPU in %zu of %zu rounds, and %d undisturbed rounds are needed",
			sampled - left, sampled, CALIBRATE_ROUNDS / 2);
		return;
	}
	for (size_t i = 0; i < left; i++) {
		costs[i] = (kept[i].with_ns - kept[i].without_ns) / kept[i].samples;
		with_ns += kept[i].with_ns;
		samples += kept[i].samples;
		positive += costs[i] > 0;
	}
	middle = median(costs, left);
	for (size_t i = 0; i < left; i++)
		distances[i] = fabs(costs[i] - middle);
	if (positive * 4 < left * 3 || middle <= 0 || median(distances, left) > middle / 2) {
		unknown(ret, "the time of a sample differed too much between rounds");
		return;
	}
	ret->known = true;
	ret->ns = middle;
	ret->per_second = samples / with_ns * NS_A_SECOND;
}

void calibrate_refuse(struct calibrate_result *result, const char *reason)
{
	struct calibrate_timing *const timings[] = {&result->dense, &result->sparse};

	for (size_t i = 0; i < ARRAY_SIZE(timings); i++)
		if (!timings[i]->known)
			unknown(timings[i], "%s", reason);
}

/* Retries after 1, 4 and 16 minutes: another user of the CPU or of the counters may be gone by then. */
double calibrate_retry_seconds(unsigned failed)
{
	static const double seconds[] = {60, 240, 960};

	return failed >= 1 && failed <= ARRAY_SIZE(seconds) ? seconds[failed - 1] : 0;
}

double calibrate_bound_ns(u64 max_rate, u64 percent)
{
	if (max_rate == 0 || percent == 0 || percent >= 100)
		return BOUND_NS;
	return fmin(fmax(NS_A_SECOND / (double)max_rate * (double)percent / 100, BOUND_MIN_NS), BOUND_MAX_NS);
}
