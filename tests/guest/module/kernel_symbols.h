// SPDX-License-Identifier: GPL-2.0
/* What the kernel's own PMU drivers call and modules cannot: looked up by name, once, at load. */
#ifndef PEBS_MACHINE_KERNEL_SYMBOLS_H
#define PEBS_MACHINE_KERNEL_SYMBOLS_H

#include <linux/perf_event.h>

struct kernel_symbols {
	int (*perf_event_overflow)(struct perf_event *event, struct perf_sample_data *data,
				   struct pt_regs *registers);
	int (*perf_event_output)(struct perf_event *event, struct perf_sample_data *data,
				 struct pt_regs *registers);
	int (*perf_event_account_interrupt)(struct perf_event *event);
	void (*perf_log_lost_samples)(struct perf_event *event, u64 lost);
	void (*perf_sample_event_took)(u64 ns);
	struct perf_callchain_entry *(*perf_callchain)(struct perf_event *event, struct pt_regs *registers);
	void (*perf_sched_cb_inc)(struct pmu *pmu);
	void (*perf_sched_cb_dec)(struct pmu *pmu);
	/* The guard of kernel/trace/bpf_trace.c: while it is not 0, a perf event's BPF program is left out.
	 * Of each CPU. */
	int __percpu *bpf_prog_active;
};

extern struct kernel_symbols kernel_symbols;

/* -ENOENT, told, where the kernel lacks one. */
int kernel_symbols_open(void);

#endif
