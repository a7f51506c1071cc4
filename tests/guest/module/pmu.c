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

	core_enter(core);
	driver_start(core, event, flags);
	core_leave(core);
}

static void pmu_stop(struct perf_event *event, int flags)
{
	struct core *core = this_core();

	core_enter(core);
	driver_stop(core, event, flags);
	core_leave(core);
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

static struct pmu machine_pmu = {
	.module = THIS_MODULE,
	.attr_groups = sysfs_groups,
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
};

int pmu_open(void)
{
	int r = perf_pmu_register(&machine_pmu, "cpu", PERF_TYPE_RAW);

	if (r < 0)
		pr_err("pebs_machine: cannot register the PMU \"cpu\" of type %d: error %d%s\n",
		       PERF_TYPE_RAW, r,
		       r == -ENOSPC || r == -EEXIST ? "; this machine has a core PMU of its own" : "");
	return r;
}

void pmu_close(void)
{
	perf_pmu_unregister(&machine_pmu);
}
