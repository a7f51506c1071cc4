// SPDX-License-Identifier: GPL-2.0
/*
 * From a perf_event program's context to a struct sample.
 *
 * The UAPI context has neither weight nor data source; both lie in the kernel's perf_sample_data behind it
 * (kernel/events/core.c, bpf_overflow_handler). Where the kernel has bpf_cast_to_kern_ctx (6.2 and later)
 * they are plain typed loads, else bpf_probe_read_kernel fetches them; libbpf resolves the weak symbol at
 * load, and the verifier drops the branch that is not taken.
 *
 * A field that the PMU's driver did not fill holds stack garbage: none is read without its sample_flags bit.
 */
#ifndef PEBSD_READ_SAMPLE_H
#define PEBSD_READ_SAMPLE_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel_types.h"
#include "pebsd/sample.h"

/* Reads the older way even where the newer is to be had; set by tests, so that one kernel runs both. */
const volatile u8 read_by_probe = 0;

extern void *bpf_cast_to_kern_ctx(void *context) __ksym __weak;

#define SAMPLE_FLAGS_WEIGHT (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

/* The kernel's fields, as they are: garbage where `flags` lacks their bit. */
struct raw_sample {
	u64 flags;
	u64 weight;
	u64 data_source;
	u64 address;
};

static __always_inline void read_raw_sample(struct bpf_perf_event_data *context, struct raw_sample *ret)
{
	struct bpf_perf_event_data_kern *kernel;
	struct perf_sample_data *data;

	if (bpf_cast_to_kern_ctx && !read_by_probe) {
		kernel = bpf_cast_to_kern_ctx(context);
		data = kernel->data;
		ret->flags = data->sample_flags;
		ret->weight = data->weight.full;
		ret->data_source = data->data_src.val;
		ret->address = data->addr;
		return;
	}

	kernel = (struct bpf_perf_event_data_kern *)context;
	data = BPF_CORE_READ(kernel, data);
	ret->flags = BPF_CORE_READ(data, sample_flags);
	ret->weight = BPF_CORE_READ(data, weight.full);
	ret->data_source = BPF_CORE_READ(data, data_src.val);
	ret->address = BPF_CORE_READ(data, addr);
}

/*
 * Keeps of a raw sample what was filled and what its event is known to measure. A latency of 0 is none: no
 * access takes no time, and drivers leave 0 where they have nothing to say (a store, an IBS load that hit
 * L1).
 */
static __always_inline void select_fields(const struct raw_sample *raw,
					  const volatile struct event_settings *event, struct sample *ret)
{
	ret->latency = 0;
	ret->instruction_latency = 0;
	ret->data_source = 0;
	ret->address = 0;
	ret->fields = 0;

	if (event->has_latency && (raw->flags & SAMPLE_FLAGS_WEIGHT)) {
		/* WEIGHT_STRUCT packs three figures in one word (uapi perf_sample_weight). */
		ret->latency = event->weight_struct ? (u32)raw->weight : raw->weight;
		if (ret->latency)
			ret->fields |= SAMPLE_LATENCY;
		if (event->has_instruction_latency) {
			ret->instruction_latency = (u16)(raw->weight >> 32);
			if (ret->instruction_latency)
				ret->fields |= SAMPLE_INSTRUCTION_LATENCY;
		}
	}
	if (event->has_source && (raw->flags & PERF_SAMPLE_DATA_SRC)) {
		ret->data_source = raw->data_source;
		ret->fields |= SAMPLE_DATA_SOURCE;
	}
	if (event->has_address && (raw->flags & PERF_SAMPLE_ADDR)) {
		ret->address = raw->address;
		ret->fields |= SAMPLE_ADDRESS;
	}
}

static __always_inline void read_sample(struct bpf_perf_event_data *context,
					const volatile struct event_settings *event, u16 number,
					struct sample *ret)
{
	struct raw_sample raw;

	read_raw_sample(context, &raw);
	select_fields(&raw, event, ret);
	ret->code_address = 0; /* read where it is wanted */
	ret->cgroup_id = bpf_get_current_cgroup_id();
	ret->period = context->sample_period;
	ret->event = number;
}

#endif
