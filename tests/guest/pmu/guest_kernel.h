/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the guest's memory, as a debugger would, to find the task, the cgroup and the perf events that the guest's
 * kernel is running. The guest reports their places (tests/guest/pmu.c): addresses from its /proc/kallsyms, and
 * offsets from its BTF. Before this report, nothing is known.
 */
#ifndef PMU_GUEST_KERNEL_H
#define PMU_GUEST_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/types.h"

#define GUEST_COMM 16

/*
 * Addresses of symbols, offsets of fields, and two properties of the kernel. A per-CPU variable is at its symbol's
 * address plus the CPU's entry of __per_cpu_offset[]. This also holds for Linux 6.15 and newer, which no longer
 * link these variables at address 0.
 */
#define GUEST_KERNEL_FIELDS(X)                                                                    \
	X(per_cpu_offset)  /* __per_cpu_offset */                                                 \
	X(current_task)    /* pointer to the running task_struct, per CPU */                      \
	X(cpu_hw_events)   /* per CPU */                                                          \
	X(bpf_prog_active) /* per CPU */                                                          \
	X(task_pid)        /* task_struct.pid */                                                  \
	X(task_comm)                                                                              \
	X(task_cgroups)   /* pointer to css_set */                                                \
	X(css_set_cgroup) /* css_set.dfl_cgrp, pointer to cgroup */                               \
	X(cgroup_kn)      /* pointer to kernfs_node */                                            \
	X(kernfs_node_id)                                                                         \
	X(events)            /* cpu_hw_events.events[], pointers to perf_event */                 \
	X(event_cgroup)      /* perf_event.cgrp */                                                \
	X(event_period)      /* perf_event.hw.last_period */                                      \
	X(event_sample_type) /* perf_event.attr.sample_type */                                    \
	X(event_program)     /* perf_event.prog */                                                \
	X(nmi_start)         /* asm_exc_nmi */                                                    \
	X(switch_start)      /* __switch_to */                                                    \
	X(throttle_start)    /* perf_log_throttle */                                              \
	X(overflow_start)    /* bpf_overflow_handler, or the function that it is inlined into */  \
	X(overflow_end)                                                                           \
	X(driver_start) /* the code of arch/x86/events/ */                                        \
	X(driver_end)                                                                             \
	X(latency_is_cut)   /* 1: PERF_SAMPLE_WEIGHT_STRUCT's latency has 16 bits (up to 6.12) */ \
	X(ibs_names_levels) /* 0: IBS' data sources are reported as by the driver of 6.1 */

struct guest_kernel {
	bool known;
#define FIELD_(name) u64 name;
	GUEST_KERNEL_FIELDS(FIELD_)
#undef FIELD_
};

/* Reads guest memory at a linear address. Returns 0 or -errno. */
struct guest_memory {
	int (*read)(void *owner, u64 address, void *buffer, u64 size);
	void *owner;
};

struct guest_task {
	u64 cgroup; /* id in the default hierarchy */
	u32 pid;    /* of the thread, in the initial namespace */
	char comm[GUEST_COMM];
};

/* Parses "NAME=HEXADECIMAL ..." with all fields. Returns 0, or -EINVAL if a field is missing or unknown. */
int guest_kernel_parse(struct guest_kernel *kernel, const char *text);

/*
 * Returns the running task. All members are zero if nothing is known or the task cannot be read, and `cgroup` is
 * zero if only the cgroup cannot be read.
 */
struct guest_task guest_kernel_task(const struct guest_kernel *kernel, const struct guest_memory *memory,
				    unsigned int cpu);

struct guest_event {
	bool of_cgroup; /* opened for the tasks of one cgroup */
	bool other;     /* without a BPF program, so it is not pebsd's */
	u64 period;     /* period of the sample that is due */
	u64 sample_type;
};

/* Returns the event on a core counter, which is given by its index in the status registers. */
struct guest_event guest_kernel_event(const struct guest_kernel *kernel, const struct guest_memory *memory,
				      unsigned int cpu, unsigned int counter);

/*
 * Returns whether a BPF program or map operation is running on the CPU. Perf event programs do not run during
 * that (bpf_overflow_handler() in kernel/events/core.c).
 */
bool guest_kernel_in_bpf(const struct guest_kernel *kernel, const struct guest_memory *memory,
			 unsigned int cpu);

#endif
