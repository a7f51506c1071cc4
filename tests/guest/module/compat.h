// SPDX-License-Identifier: GPL-2.0
/*
 * Where the kernels differ, from 6.1 to 7.3: each with the version that changed it. Read in Debian's sources
 * of 6.1.192, 6.12.95 and 7.3.4; a boundary in between is that of the commit named.
 */
#ifndef PEBS_MACHINE_COMPAT_H
#define PEBS_MACHINE_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/perf_event.h>
#include <linux/version.h>

/* pmu::sched_task: a context until 6.1; bd27568117664 ("perf: Rewrite core context handling", 6.2) made it
 * the PMU's context, 1a9f1e9a3c79 (6.15) added the task. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#define SCHED_TASK_PARAMETERS struct perf_event_pmu_context *context, struct task_struct *task, bool sched_in
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define SCHED_TASK_PARAMETERS struct perf_event_pmu_context *context, bool sched_in
#else
#define SCHED_TASK_PARAMETERS struct perf_event_context *context, bool sched_in
#endif

/*
 * Before that rewrite one PMU alone could ever have the hardware context, the first to ask for it, and
 * nothing gave it back (perf_pmu_register() in 6.1): a module could be loaded once. CPUs of several kinds are
 * exempt, and the flag does nothing else but make a task's context be looked up again.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define PMU_CAPABILITIES 0
#else
#define PMU_CAPABILITIES PERF_PMU_CAP_HETEROGENEOUS_CPUS
#endif

/* That rewrite, too, made pmu::filter_match() of an event pmu::filter() of a CPU. */
#define PMU_FILTERS_CPUS (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0))

/* hrtimer_setup() came in 6.13 (908a1d775422); hrtimer_init() went in 6.15. */
static inline void timer_setup_hard(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = function;
#endif
}

/*
 * perf_event_overflow() of a throttled event: the driver stops it (x86_pmu_stop(event, 0)), until
 * 9734e25fbf5a
 * ("perf: Fix the throttle logic for a group", 6.16) made that the core's.
 */
#define DRIVER_STOPS_THROTTLED (LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0))

/* An event's hw.interrupts while it is throttled (MAX_INTERRUPTS in kernel/events/core.c). */
#define INTERRUPTS_THROTTLED (~0ULL)

/*
 * setup_pebs_adaptive_sample_data() cuts PERF_SAMPLE_WEIGHT_STRUCT's latency to 16 bits (PEBS_LATENCY_MASK)
 * in 6.1 and 6.12, and leaves the instruction latency unset on machines without one; 7.3 does neither. The
 * change is in between, and no kernel of those is run here.
 */
#define ADAPTIVE_LATENCY_IS_CUT (LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0))

/* A callchain is counted into the sample's size since 31046500c1864 (6.3: perf_sample_save_callchain()). */
static inline void sample_save_callchain(struct perf_sample_data *data, struct perf_callchain_entry *chain)
{
	data->callchain = chain;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	data->dyn_size += (1 + chain->nr) * (int)sizeof(u64);
#endif
	data->sample_flags |= PERF_SAMPLE_CALLCHAIN;
}

#endif
