// SPDX-License-Identifier: GPL-2.0
#include "ibs_pmu.h"

#include <linux/module.h>

#include "compat.h"
#include "ibs_driver.h"
#include "ibs_sysfs.h"

static const struct ibs_machine *played;
static struct sysfs op_files, fetch_files, cpu_files;

void ibs_pmu_describe(const struct ibs_machine *machine)
{
	played = machine;
	ibs_sysfs_describe_op(&op_files, machine);
	ibs_sysfs_describe_fetch(&fetch_files, machine);
	ibs_sysfs_describe_cpu(&cpu_files);
}

const struct ibs_machine *ibs_pmu_machine(void)
{
	return played;
}

static int op_init(struct perf_event *event)
{
	return ibs_driver_init(played, event);
}

static int op_add(struct perf_event *event, int flags)
{
	struct core *core = this_core();

	/* There is one unit. */
	if (core->ibs.event)
		return -ENOSPC;
	core_enter(core);
	core->ibs.event = event;
	event->hw.state = PERF_HES_UPTODATE | PERF_HES_STOPPED;
	if (flags & PERF_EF_START)
		ibs_driver_start(core, event);
	core_leave(core);
	return 0;
}

static void op_remove(struct perf_event *event, int flags)
{
	struct core *core = this_core();

	core_enter(core);
	ibs_driver_stop(core, event);
	books_stopped(&core->books, event);
	core->ibs.event = NULL;
	perf_event_update_userpage(event);
	core_leave(core);
}

static void op_start(struct perf_event *event, int flags)
{
	struct core *core = this_core();
	u64 since = books_take_throttle(&core->books, event);

	if (DRIVER_STOPS_THROTTLED)
		books_throttle_over(&core->books, event, since, books_clock());
	core_enter(core);
	ibs_driver_start(core, event);
	core_leave(core);
	if (!DRIVER_STOPS_THROTTLED)
		books_throttle_over(&core->books, event, since, books_clock());
}

static void op_stop(struct perf_event *event, int flags)
{
	struct core *core = this_core();

	core_enter(core);
	ibs_driver_stop(core, event);
	core_leave(core);
	books_core_stopped(&core->books, event);
}

/* perf_ibs_read(): the count is the last sample's. */
static void op_read(struct perf_event *event)
{
}

/* A CPU's alone in 6.1, a task's too in 6.12. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define IBS_CONTEXT perf_hw_context
#else
#define IBS_CONTEXT perf_invalid_context
#endif

static struct pmu op_pmu = {
	.module = THIS_MODULE,
	.attr_groups = op_files.groups,
	.capabilities = IBS_DRIVER_FILTERS ? 0 : PERF_PMU_CAP_NO_EXCLUDE,
	.task_ctx_nr = IBS_CONTEXT,
	.event_init = op_init,
	.add = op_add,
	.del = op_remove,
	.start = op_start,
	.stop = op_stop,
	.read = op_read,
	.check_period = ibs_driver_check_period,
};

static int refuse_init(struct perf_event *event)
{
	return event->attr.type == event->pmu->type ? -EOPNOTSUPP : -ENOENT;
}

static int refuse_add(struct perf_event *event, int flags)
{
	return -EINVAL;
}

static void never(struct perf_event *event, int flags)
{
}

static struct pmu fetch_pmu = {
	.module = THIS_MODULE,
	.attr_groups = fetch_files.groups,
	.capabilities = IBS_DRIVER_FILTERS ? 0 : PERF_PMU_CAP_NO_EXCLUDE,
	.task_ctx_nr = IBS_CONTEXT,
	.event_init = refuse_init,
	.add = refuse_add,
	.del = never,
	.start = never,
	.stop = never,
	.read = op_read,
};

static struct pmu cpu_pmu = {
	.module = THIS_MODULE,
	.attr_groups = cpu_files.groups,
	.capabilities = PMU_CAPABILITIES,
	.task_ctx_nr = perf_hw_context,
	.event_init = refuse_init,
	.add = refuse_add,
	.del = never,
	.start = never,
	.stop = never,
	.read = op_read,
};

static int open_one(struct pmu *pmu, const char *name, int type)
{
	int r = perf_pmu_register(pmu, name, type);

	if (r < 0)
		pr_err("pebs_machine: cannot register the PMU \"%s\": error %d\n", name, r);
	return r;
}

int ibs_pmu_open(void)
{
	int r = open_one(&cpu_pmu, "cpu", PERF_TYPE_RAW);

	if (r < 0)
		return r;
	r = open_one(&fetch_pmu, "ibs_fetch", -1);
	if (r < 0)
		goto no_fetch;
	r = open_one(&op_pmu, "ibs_op", -1);
	if (r < 0)
		goto no_op;
	return 0;
no_op:
	perf_pmu_unregister(&fetch_pmu);
no_fetch:
	perf_pmu_unregister(&cpu_pmu);
	return r;
}

void ibs_pmu_close(void)
{
	perf_pmu_unregister(&op_pmu);
	perf_pmu_unregister(&fetch_pmu);
	perf_pmu_unregister(&cpu_pmu);
}
