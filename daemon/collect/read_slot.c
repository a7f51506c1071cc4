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

static int read_latency(const struct kernel *kernel, unsigned event, u32 slot, struct slot_base *base,
			struct figures *ret)
{
	u32 stripes = kernel_settings(kernel)->stripes;
	struct latency_record now = {0};

	for (u32 stripe = 0; stripe < stripes; stripe++)
		add_latency(&now, kernel_latency_record(kernel, event, stripe, slot));
	if (!base->latency) {
		base->latency = aligned_alloc(_Alignof(struct latency_record), sizeof(now));
		if (!base->latency)
			return -ENOMEM;
		*base->latency = no_latency_record;
	}
	(void)figures_difference(&now, base->latency, ret);
	*base->latency = now;
	return 0;
}

static int read_plain(const struct kernel *kernel, unsigned event, u32 slot, struct slot_base *base,
		      struct figures *ret)
{
	u32 stripes = kernel_settings(kernel)->stripes;
	struct sample_counts now = {0};

	for (u32 stripe = 0; stripe < stripes; stripe++)
		add_counts(&now, &kernel_plain_record(kernel, event, stripe, slot)->counts);
	if (!base->plain) {
		base->plain = calloc(1, sizeof(now));
		if (!base->plain)
			return -ENOMEM;
	}
	(void)figures_plain_difference(&now, base->plain, ret);
	*base->plain = now;
	return 0;
}

int read_slot(const struct kernel *kernel, unsigned event, u32 slot, struct slot_base *base,
	      struct figures *ret)
{
	if (kernel_settings(kernel)->events[event].has_latency)
		return read_latency(kernel, event, slot, base, ret);
	return read_plain(kernel, event, slot, base, ret);
}
