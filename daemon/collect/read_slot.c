// SPDX-License-Identifier: GPL-2.0
#include "read_slot.h"

#include <errno.h>
#include <string.h>

/* Shared with writers: each counter is read once and whole, in no order. */
#define SHARED(counter) __atomic_load_n(&(counter), __ATOMIC_RELAXED)

#define ADD_ALL(sum, counters)                               \
	for (size_t _i = 0; _i < ARRAY_SIZE(counters); _i++) \
	(sum)[_i] += SHARED((counters)[_i])

static const struct latency_record no_latency_record;
static const u32 no_samples[SOURCE_SLOTS];

void slot_base_free(struct slot_base *base)
{
	free(base->latency);
	free(base->plain);
	free(base->stripes);
	*base = (struct slot_base){0};
}

static const struct sample_counts *counts_of(const struct kernel *kernel, unsigned event, u32 stripe,
					     u32 slot)
{
	if (kernel_settings(kernel)->events[event].has_latency)
		return &kernel_latency_record(kernel, event, stripe, slot)->counts;
	return &kernel_plain_record(kernel, event, stripe, slot)->counts;
}

bool read_slot_moved(const struct kernel *kernel, unsigned event, u32 slot, const struct slot_base *base)
{
	const struct sample_counts *before = base->latency ? &base->latency->counts : base->plain;
	u32 stripes = kernel_settings(kernel)->stripes;
	u32 samples[SOURCE_SLOTS] = {0};

	for (u32 stripe = 0; stripe < stripes; stripe++)
		ADD_ALL(samples, counts_of(kernel, event, stripe, slot)->samples);
	/* What is read from here on was written before these samples were counted. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return memcmp(samples, before ? before->samples : no_samples, sizeof(samples)) != 0;
}

static u32 samples_of(const struct sample_counts *counts)
{
	u32 samples = 0;

	for (size_t source = 0; source < SOURCE_SLOTS; source++)
		samples += SHARED(counts->samples[source]);
	return samples;
}

static void add_counts(struct sample_counts *sum, const struct sample_counts *shared)
{
	ADD_ALL(sum->samples, shared->samples);
	ADD_ALL(sum->weight, shared->weight);
	ADD_ALL(sum->snoop, shared->snoop);
	ADD_ALL(sum->tlb, shared->tlb);
	sum->locked += SHARED(shared->locked);
	sum->blocked += SHARED(shared->blocked);
}

static void add_latency(struct latency_record *sum, const struct latency_record *shared)
{
	add_counts(&sum->counts, &shared->counts);
	ADD_ALL(sum->latency_sum, shared->latency_sum);
	ADD_ALL(sum->weighted_latency, shared->weighted_latency);
	ADD_ALL(sum->latency, shared->latency);
	for (size_t source = 0; source < SOURCE_SLOTS; source++)
		ADD_ALL(sum->source_latency[source], shared->source_latency[source]);
	sum->instruction_latency_sum += SHARED(shared->instruction_latency_sum);
	ADD_ALL(sum->instruction_latency, shared->instruction_latency);
}

/* Of one stripe: what it had added to `now` since it held `before` samples. */
static void note_stripe(u32 *base, u32 before, const struct sample_counts *now, u64 *by_stripe)
{
	u32 samples = samples_of(now) - before;

	*by_stripe += samples - *base;
	*base = samples;
}

static int need(const struct kernel *kernel, unsigned event, struct slot_base *base)
{
	if (!base->stripes)
		base->stripes = calloc(kernel_settings(kernel)->stripes, sizeof(*base->stripes));
	if (!base->stripes)
		return -ENOMEM;
	if (!kernel_settings(kernel)->events[event].has_latency) {
		if (!base->plain)
			base->plain = calloc(1, sizeof(*base->plain));
		return base->plain ? 0 : -ENOMEM;
	}
	if (!base->latency) {
		base->latency = aligned_alloc(_Alignof(struct latency_record), sizeof(*base->latency));
		if (!base->latency)
			return -ENOMEM;
		*base->latency = no_latency_record;
	}
	return 0;
}

static void read_latency(const struct kernel *kernel, unsigned event, u32 slot, struct slot_base *base,
			 struct figures *ret, u64 *by_stripe)
{
	u32 stripes = kernel_settings(kernel)->stripes;
	struct latency_record now = {0};

	for (u32 stripe = 0; stripe < stripes; stripe++) {
		u32 before = samples_of(&now.counts);

		add_latency(&now, kernel_latency_record(kernel, event, stripe, slot));
		note_stripe(&base->stripes[stripe], before, &now.counts, &by_stripe[stripe]);
	}
	(void)figures_difference(&now, base->latency, ret);
	*base->latency = now;
}

static void read_plain(const struct kernel *kernel, unsigned event, u32 slot, struct slot_base *base,
		       struct figures *ret, u64 *by_stripe)
{
	u32 stripes = kernel_settings(kernel)->stripes;
	struct sample_counts now = {0};

	for (u32 stripe = 0; stripe < stripes; stripe++) {
		u32 before = samples_of(&now);

		add_counts(&now, &kernel_plain_record(kernel, event, stripe, slot)->counts);
		note_stripe(&base->stripes[stripe], before, &now, &by_stripe[stripe]);
	}
	(void)figures_plain_difference(&now, base->plain, ret);
	*base->plain = now;
}

int read_slot(const struct kernel *kernel, unsigned event, u32 slot, struct slot_base *base,
	      struct figures *ret, u64 by_stripe[STRIPES_MAX])
{
	int r = need(kernel, event, base);

	if (r < 0)
		return r;
	if (kernel_settings(kernel)->events[event].has_latency)
		read_latency(kernel, event, slot, base, ret, by_stripe);
	else
		read_plain(kernel, event, slot, base, ret, by_stripe);
	return 0;
}
