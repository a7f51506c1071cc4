// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <linux/module.h>

#include "compat.h"
#include "drain.h"
#include "driver.h"
#include "init_event.h"
#include "pmu.h"
#include "schedule.h"
#include "sysfs.h"

static void pmu_disable(struct pmu *unused)
{
	struct core *core = this_core();

	if (!core->enabled)
		return;
	core->disabled_at = books_clock();
	core->enabled = false;
	barrier();
	core_enter(core);
	driver_pause(core);
	core_leave(core);
}

static void pmu_enable(struct pmu *unused)
{
	struct core *core = this_core();

	if (core->enabled)
		return;
	core_enter(core);
	core->enabled = true;
	driver_resume(core);
	core_leave(core);
}

static int pmu_add(struct perf_event *event, int flags)
{
	struct core *core = this_core();
	int r;

	core_enter(core);
	r = schedule_add(core, event, flags);
	core_leave(core);
	return r;
}

static void pmu_remove(struct perf_event *event, int flags)
{
	struct core *core = this_core();

	core_enter(core);
	schedule_remove(core, event);
	core_leave(core);
}

static void pmu_start(struct perf_event *event, int flags)
{
	struct core *core = this_core();
	u64 since = books_take_throttle(&core->books, event);

	if (DRIVER_STOPS_THROTTLED)
		books_throttle_over(&core->books, event, since, core->disabled_at);
	core_enter(core);
	driver_start(core, event, flags);
	core_leave(core);
	if (!DRIVER_STOPS_THROTTLED)
		books_throttle_over(&core->books, event, since, books_clock());
}

static void pmu_stop(struct perf_event *event, int flags)
{
	struct core *core = this_core();

	core_enter(core);
	driver_stop(core, event, flags);
	core_leave(core);
	books_core_stopped(&core->books, event);
}

static void pmu_read(struct perf_event *event)
{
	struct core *core = this_core();

	core_enter(core);
	schedule_read(core, event);
	core_leave(core);
}

/* x86_pmu_event_idx(): one more than RDPMC's number of the counter. */
static int pmu_event_index(struct perf_event *event)
{
	int counter = event->hw.idx;

	if (!(event->hw.flags & FLAG_MACHINE_READ) || counter < 0)
		return 0;
	return (counter_is_fixed(counter) ? (counter - PEBS_FIXED_0) | 1 << 30 : counter) + 1;
}

/* intel_pmu_pebs_sched_task(): what a task left in the buffer is its own. */
static void pmu_sched_task(SCHED_TASK_PARAMETERS)
{
	struct core *core = this_core();

	if (sched_in || !driver_all_large(core))
		return;
	core_enter(core);
	drain(core, NULL);
	core_leave(core);
}

/* x86_pmu_filter(): a task's event runs where its PMU is. */
#if PMU_FILTERS_CPUS
static bool pmu_filter(struct pmu *pmu, int cpu)
{
	return !cpumask_test_cpu(cpu, &container_of(pmu, struct machine_pmu, pmu)->cpus);
}
#else
static int pmu_filter_match(struct perf_event *event)
{
	return cpumask_test_cpu(smp_processor_id(), &pmu_of_event(event)->cpus);
}
#endif

static const struct pmu calls = {
	.module = THIS_MODULE,
	.capabilities = PMU_CAPABILITIES,
	.task_ctx_nr = perf_hw_context,
	.pmu_enable = pmu_enable,
	.pmu_disable = pmu_disable,
	.event_init = init_event,
	.add = pmu_add,
	.del = pmu_remove,
	.start = pmu_start,
	.stop = pmu_stop,
	.read = pmu_read,
	.event_idx = pmu_event_index,
	.sched_task = pmu_sched_task,
	.check_period = init_event_check_period,
#if PMU_FILTERS_CPUS
	.filter = pmu_filter,
#else
	.filter_match = pmu_filter_match,
#endif
};

/* A hybrid machine's P-cores and E-cores; or the only one. */
static struct machine_pmu pmus[2];
static unsigned int pmus_n;

static void describe(struct machine_pmu *pmu, const struct machine *machine, const char *name)
{
	pmu->pmu = calls;
	pmu->machine = machine;
	pmu->name = name;
}

int pmu_describe(const struct machine *machine)
{
	const struct machine *companion = NULL;
	int cpu;

	describe(&pmus[0], machine, machine->pmu ? machine->pmu : "cpu");
	pmus_n = 1;
	if (machine->companion) {
		companion = machine_find(machine->companion);
		if (!companion) {
			pr_err("pebs_machine: the model has no machine \"%s\", whose cores are some of those "
			       "of "
			       "%s\n",
			       machine->companion, machine->title);
			return -EINVAL;
		}
		describe(&pmus[1], companion, machine->companion_pmu);
		pmus_n = 2;
	}
	for_each_possible_cpu(cpu) cpumask_set_cpu(cpu, &pmus[(unsigned int)cpu % pmus_n].cpus);
	for (unsigned int i = 0; i < pmus_n; i++) {
		pmus[i].hybrid = companion;
		if (companion)
			pmus[i].pmu.capabilities |= PERF_PMU_CAP_EXTENDED_HW_TYPE;
		sysfs_describe(&pmus[i].sysfs, pmus[i].machine, machine->kernel_name,
			       companion ? &pmus[i].cpus : NULL);
		pmus[i].pmu.attr_groups = pmus[i].sysfs.groups;
	}
	return 0;
}

const struct machine_pmu *pmu_of_cpu(int cpu)
{
	return &pmus[(unsigned int)cpu % pmus_n];
}

int pmu_open(void)
{
	for (unsigned int i = 0; i < pmus_n; i++) {
		int r = perf_pmu_register(&pmus[i].pmu, pmus[i].name, i == 0 ? PERF_TYPE_RAW : -1);

		if (r == 0)
			continue;
		pr_err("pebs_machine: cannot register the PMU \"%s\": error %d%s\n", pmus[i].name, r,
		       r == -ENOSPC || r == -EEXIST ? "; this machine has a core PMU of its own" : "");
		while (i--)
			perf_pmu_unregister(&pmus[i].pmu);
		return r;
	}
	return 0;
}

void pmu_close(void)
{
	for (unsigned int i = pmus_n; i--;)
		perf_pmu_unregister(&pmus[i].pmu);
}
