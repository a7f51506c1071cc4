// SPDX-License-Identifier: GPL-2.0
/*
 * Converts a perf_event program's context to a struct sample.
 *
 * The UAPI context has neither weight nor data source. Both are in struct perf_sample_data, to which the
 * kernel's own type of the context points (kernel/events/core.c, bpf_overflow_handler). If the kernel has
 * bpf_cast_to_kern_ctx (6.2 and later), plain typed loads read them; otherwise bpf_probe_read_kernel fetches
 * them. libbpf resolves the symbol bpf_cast_to_kern_ctx at load, and the verifier drops the branch that does
 * not run.
 *
 * With BEFORE_6_2 the code does not even name that symbol. If the kernel's own types lack a symbol, libbpf
 * searches those of all modules, and listing modules takes CAP_SYS_ADMIN (BPF_BTF_GET_NEXT_ID,
 * kernel/bpf/syscall.c, Linux 6.1).
 *
 * A field that the PMU's driver did not fill holds stack garbage, so no field is used without its
 * sample_flags bit.
 */
#ifndef PEBSD_READ_SAMPLE_H
#define PEBSD_READ_SAMPLE_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "pebsd/sample.h"

/* Use the older way even if the newer one is available. Set by tests, so that one kernel runs both. */
const volatile u8 read_by_probe = 0;

#ifndef BEFORE_6_2
extern void *bpf_cast_to_kern_ctx(void *context) __ksym __weak;
#endif

#define SAMPLE_FLAGS_WEIGHT (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

/* The kernel's fields, unchanged: garbage if `flags` lacks their bit. */
struct raw_sample {
	u64 flags;
	u64 weight;
	u64 data_source;
};

/*
 * Maximum bytes of perf_sample_data that are copied. The copy ends with the last field that is read, on Linux
 * 6.1 after one cache line.
 */
#define READ_AT_ONCE 192

static __always_inline u32 field_end(u32 offset, u32 end)
{
	return offset + sizeof(u64) > end ? offset + (u32)sizeof(u64) : end;
}

/* Fetches all fields in one call of bpf_probe_read_kernel: most of its cost is the call itself. */
static __always_inline void probe_raw_sample(struct bpf_perf_event_data *context, struct raw_sample *ret)
{
	struct bpf_perf_event_data_kern *kernel = (struct bpf_perf_event_data_kern *)context;
	struct perf_sample_data *data = BPF_CORE_READ(kernel, data);
	const u32 flags = bpf_core_field_offset(struct perf_sample_data, sample_flags);
	const u32 weight = bpf_core_field_offset(struct perf_sample_data, weight);
	const u32 data_source = bpf_core_field_offset(struct perf_sample_data, data_src);
	const u32 end = field_end(flags, field_end(weight, field_end(data_source, 0)));
	u8 memory[READ_AT_ONCE] __attribute__((aligned(8)));

	ret->flags = 0;
	if (end > sizeof(memory) || bpf_probe_read_kernel(memory, end, data) < 0)
		return;
	ret->flags = *(u64 *)(memory + flags);
	ret->weight = *(u64 *)(memory + weight);
	ret->data_source = *(u64 *)(memory + data_source);
}

#ifdef BEFORE_6_2
static __always_inline void read_raw_sample(struct bpf_perf_event_data *context, struct raw_sample *ret)
{
	probe_raw_sample(context, ret);
}
#else
static __always_inline void read_raw_sample(struct bpf_perf_event_data *context, struct raw_sample *ret)
{
	struct bpf_perf_event_data_kern *kernel;
	struct perf_sample_data *data;

	if (!bpf_cast_to_kern_ctx || read_by_probe) {
		probe_raw_sample(context, ret);
		return;
	}
	kernel = bpf_cast_to_kern_ctx(context);
	data = kernel->data;
	ret->flags = data->sample_flags;
	ret->weight = data->weight.full;
	ret->data_source = data->data_src.val;
}
#endif

/* The data address; 0: not filled. Separate from the other fields because few samples need it. */
static __always_inline u64 read_address(struct bpf_perf_event_data *context)
{
	struct bpf_perf_event_data_kern *kernel;
	struct perf_sample_data *data;

#ifndef BEFORE_6_2
	if (bpf_cast_to_kern_ctx && !read_by_probe) {
		kernel = bpf_cast_to_kern_ctx(context);
		data = kernel->data;
		return data->sample_flags & PERF_SAMPLE_ADDR ? data->addr : 0;
	}
#endif
	kernel = (struct bpf_perf_event_data_kern *)context;
	data = BPF_CORE_READ(kernel, data);
	return BPF_CORE_READ(data, sample_flags) & PERF_SAMPLE_ADDR ? BPF_CORE_READ(data, addr) : 0;
}

/*
 * The cgroup whose id bpf_get_current_cgroup_id() returns (kernel/bpf/helpers.c, Linux 6.1 to 7.3). The kernel
 * runs programs on samples within rcu_read_lock().
 */
static __always_inline struct cgroup *read_cgroup(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();

	return task->cgroups->dfl_cgrp;
}

/*
 * Keeps those fields of a raw sample that the driver filled and the event is known to measure. A latency of 0
 * means no latency: every access takes time, and drivers leave 0 if they have no value (a store, an IBS load
 * that hit L1).
 */
static __always_inline void select_fields(const struct raw_sample *raw,
					  const volatile struct event_settings *event, struct sample *ret)
{
	ret->latency = 0;
	ret->instruction_latency = 0;
	ret->data_source = 0;
	ret->fields = 0;

	if (event->has_latency && (raw->flags & SAMPLE_FLAGS_WEIGHT)) {
		/* WEIGHT_STRUCT packs three values into one word (uapi perf_sample_weight). */
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
}

#endif
