// SPDX-License-Identifier: GPL-2.0
#include "counting.h"

#include <criterion/criterion.h>

#include <string.h>
#include <time.h>

#include "some_stripes.h"

struct kernel_settings counting_settings(bool has_latency)
{
	return (struct kernel_settings){
		.slots = 256,
		.stripes = machine_stripes(),
		.n_events = 1,
		.events[0] = {.has_latency = has_latency,
			      .has_source = 1,
			      .has_address = 1,
			      .weight_struct = 1},
	};
}

void counting_open(struct counting *counting, const struct kernel_settings *settings, u64 grace_ns)
{
	_cleanup_free_ char *message = NULL;
	int r = kernel_open(settings, &counting->kernel, &message);

	cr_assert_eq(r, 0, "%s", message ? message : strerror(-r));
	cr_assert_eq(names_new(KERNEL_SLOTS_MAX, &counting->names), 0);
	cr_assert_eq(totals_new(&counting->totals), 0);
	cr_assert_eq(collect_new(
			     &(struct collect_settings){
				     .kernel = counting->kernel,
				     .names = counting->names,
				     .totals = counting->totals,
				     .names_from_slots = settings->births,
				     .grace_ns = grace_ns,
			     },
			     &counting->collect),
		     0);
}

void counting_close(struct counting *counting)
{
	collect_free(counting->collect);
	totals_free(counting->totals);
	names_free(counting->names);
	kernel_free(counting->kernel);
}

void counting_collect(struct counting *counting)
{
	struct timespec now;

	cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	cr_assert_eq(collect_run(counting->collect, (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec), 0);
}

static u64 samples_of(const struct totals_entry *entry, unsigned event)
{
	struct counters counters = {0};

	if (entry)
		totals_counters(entry, event, &counters);
	return counters_samples(&counters);
}

struct counters counting_counters(const struct counting *counting, const char *path, unsigned event)
{
	const struct totals_entry *entry = totals_find(counting->totals, path);
	struct counters counters;

	cr_assert_not_null(entry, "nothing was counted for %s", path);
	totals_counters(entry, event, &counters);
	return counters;
}

u64 counting_samples(const struct counting *counting, const char *path, unsigned event)
{
	return samples_of(totals_find(counting->totals, path), event);
}

u64 counting_unattributed(const struct counting *counting, unsigned event)
{
	return samples_of(totals_unattributed(counting->totals), event);
}

struct rejected_record counting_rejected(const struct counting *counting, unsigned event)
{
	struct rejected_record sum = {0};

	for (u32 stripe = 0; stripe < kernel_stripes(counting->kernel); stripe++) {
		struct rejected_record rejected = kernel_rejected(counting->kernel, event, stripe);

		sum.malformed += rejected.malformed;
		sum.filtered += rejected.filtered;
	}
	return sum;
}
