/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the guest's kernel runs at this moment, read out of its memory as a debugger would. Where things lie,
 * the guest tells (tests/guest/pmu.c): addresses from its /proc/kallsyms, offsets from its BTF. Until
 * then nothing is known.
 */
#ifndef PMU_GUEST_KERNEL_H
#define PMU_GUEST_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

#define GUEST_COMM 16

/* Addresses of symbols, and offsets and sizes of fields. A variable of each CPU lies at its address plus that
 * CPU's entry of __per_cpu_offset[], whether or not these variables are linked to begin at 0 (since 6.15 they
 * are not). */
#define GUEST_KERNEL_FIELDS(X)                                                                    \
	X(per_cpu_offset)  /* __per_cpu_offset */                                                 \
	X(current_task)    /* the pointer to the running task_struct, of each CPU */              \
	X(cpu_hw_events)   /* of each CPU */                                                      \
	X(bpf_prog_active) /* of each CPU */                                                      \
	X(task_pid)        /* task_struct.pid */                                                  \
	X(task_comm)                                                                              \
	X(task_cgroups)   /* to css_set */                                                        \
	X(css_set_cgroup) /* css_set.dfl_cgrp, to cgroup */                                       \
	X(cgroup_kn)      /* to kernfs_node */                                                    \
	X(kernfs_node_id)                                                                         \
	X(events)            /* cpu_hw_events.events[], to perf_event */                          \
	X(event_cgroup)      /* perf_event.cgrp */                                                \
	X(event_period)      /* perf_event.hw.last_period */                                      \
	X(event_sample_type) /* perf_event.attr.sample_type */                                    \
	X(event_program)     /* perf_event.prog */                                                \
	X(nmi_start)         /* asm_exc_nmi */                                                    \
	X(throttle_start)    /* perf_log_throttle */                                              \
	X(overflow_start)    /* bpf_overflow_handler, or what it is inlined into */               \
	X(overflow_end)                                                                           \
	X(driver_start) /* the code of arch/x86/events/ */                                        \
	X(driver_end)                                                                             \
	X(latency_is_cut)   /* 1: PERF_SAMPLE_WEIGHT_STRUCT's latency has 16 bits (up to 6.12) */ \
	X(ibs_names_levels) /* 0: IBS' sources are told as by 6.1's driver */

struct guest_kernel {
	bool known;
#define FIELD_(name) u64 name;
	GUEST_KERNEL_FIELDS(FIELD_)
#undef FIELD_
};

/* Reads guest memory by linear address: 0 or -errno. */
struct guest_memory {
	int (*read)(void *owner, u64 address, void *buffer, u64 size);
	void *owner;
};

struct guest_task {
	u64 cgroup; /* id in the default hierarchy */
	u32 pid;    /* of the thread, in the initial namespace */
	char comm[GUEST_COMM];
};

/* "NAME=HEXADECIMAL ..." of all fields. -EINVAL: one is missing or unknown. */
int guest_kernel_parse(struct guest_kernel *kernel, const char *text);

/* Zeroes where nothing is known or a pointer leads nowhere. */
struct guest_task guest_kernel_task(const struct guest_kernel *kernel, const struct guest_memory *memory,
				    unsigned int cpu);

struct guest_event {
	bool of_cgroup; /* of one cgroup's tasks alone */
	bool other;     /* without a BPF program: not pebsd's */
	u64 period;     /* of the sample that is due */
	u64 sample_type;
};

/* The event on a core counter, by its index in the status registers. */
struct guest_event guest_kernel_event(const struct guest_kernel *kernel, const struct guest_memory *memory,
				      unsigned int cpu, unsigned int counter);

/* Whether a program or map operation of BPF is under way on the CPU, which keeps perf event programs from
 * running (bpf_overflow_handler() in kernel/events/core.c). */
bool guest_kernel_in_bpf(const struct guest_kernel *kernel, const struct guest_memory *memory,
			 unsigned int cpu);

#endif
