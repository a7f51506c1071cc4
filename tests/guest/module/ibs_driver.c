// SPDX-License-Identifier: GPL-2.0
#include "ibs_driver.h"

#include <linux/version.h>

#include "world.h"

#define PERIOD_UNIT     0x10ULL
#define PERIOD_MAX      ((IBS_CTL_MAXIMUM << 4) | IBS_CTL_MAXIMUM_UPPER)
#define SMALLEST_PERIOD (IBS_DRIVER_FILTERS ? 0x90ULL : PERIOD_UNIT)

/* What perf_event_attr::config may set, and of it what must be left to sample_period. */
#define COUNT_BITS (IBS_CTL_MAXIMUM | IBS_CTL_MAXIMUM_UPPER)

#define LDLAT_MIN 128
#define LDLAT_MAX 2048

static u64 config_bits(const struct ibs_machine *machine)
{
	u64 bits = COUNT_BITS | IBS_CTL_COUNT_OPS;

	if (machine->capabilities & IBS_CAPABILITY_ZEN4)
		bits |= IBS_CTL_L3_MISS_ONLY;
	return bits;
}

/* One event at a time: a group cannot hold two. Refused in 6.12, not in 6.1. */
static int validate_group(const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	struct perf_event *sibling;

	if (LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0) || leader == event)
		return 0;
	if (leader->pmu == event->pmu)
		return -EINVAL;
	for_each_sibling_event(sibling, leader) if (sibling->pmu == event->pmu) return -EINVAL;
	return 0;
}

static int check_exclude(const struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	/* Perf core does it: PERF_PMU_CAP_NO_EXCLUDE. */
	if (!IBS_DRIVER_FILTERS)
		return 0;
	if (attr->exclude_host || attr->exclude_guest || attr->exclude_idle)
		return -EINVAL;
	if (!(attr->config2 & IBS_SWFILT) && (attr->exclude_kernel || attr->exclude_user || attr->exclude_hv))
		return -EINVAL;
	return 0;
}

static int init_period(struct perf_event *event, u64 *config)
{
	struct hw_perf_event *hardware = &event->hw;

	if (hardware->sample_period) {
		if (*config & COUNT_BITS)
			return -EINVAL;
		if (IBS_DRIVER_FILTERS && event->attr.freq)
			hardware->sample_period = SMALLEST_PERIOD;
		/* Older drivers mean to refuse these bits, by a test that can never fail. */
		hardware->sample_period &= ~(PERIOD_UNIT - 1);
		if (!IBS_DRIVER_FILTERS && !hardware->sample_period)
			hardware->sample_period = PERIOD_UNIT;
	} else {
		if (IBS_DRIVER_FILTERS && event->attr.freq)
			return -EINVAL;
		hardware->sample_period =
			(*config & IBS_CTL_MAXIMUM) << 4 | (*config & IBS_CTL_MAXIMUM_UPPER);
		*config &= ~COUNT_BITS;
		event->attr.sample_period = hardware->sample_period;
	}
	return hardware->sample_period < SMALLEST_PERIOD ? -EINVAL : 0;
}

static int init_threshold(const struct ibs_machine *machine, const struct perf_event *event, u64 *config)
{
	u64 ldlat = event->attr.config1 & IBS_LDLAT;

	if (!IBS_DRIVER_FILTERS || !(machine->capabilities & IBS_CAPABILITY_LOAD_LATENCY) || !ldlat)
		return 0;
	if (ldlat < LDLAT_MIN || ldlat > LDLAT_MAX)
		return -EINVAL;
	/* On Zen 5 a threshold is one on L3 misses. The handler drops what is above the register's steps of
	 * 128 and not above ldlat. */
	*config |= (ldlat / IBS_LATENCY_STEP - 1) << IBS_CTL_LATENCY_SHIFT | IBS_CTL_LATENCY_ENABLE |
		   IBS_CTL_L3_MISS_ONLY;
	return 0;
}

int ibs_driver_init(const struct ibs_machine *machine, struct perf_event *event)
{
	struct hw_perf_event *hardware = &event->hw;
	u64 config = event->attr.config;
	int r;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (config & ~config_bits(machine))
		return -EINVAL;
	if (has_branch_stack(event))
		return -EOPNOTSUPP;
	r = check_exclude(event);
	if (r == 0)
		r = validate_group(event);
	if (r == 0)
		r = init_period(event, &config);
	if (r == 0)
		r = init_threshold(machine, event, &config);
	if (r < 0)
		return r;
	hardware->last_period = hardware->sample_period;
	local64_set(&hardware->period_left, (s64)hardware->sample_period);
	hardware->config = config;
	return 0;
}

/* perf_ibs_check_period(), of 7.3: stricter than opening. */
int ibs_driver_check_period(struct perf_event *event, u64 period)
{
	if (!IBS_DRIVER_FILTERS || event->attr.freq)
		return 0;
	return period % PERIOD_UNIT || period < SMALLEST_PERIOD ? -EINVAL : 0;
}

bool ibs_driver_set_period(struct perf_event *event, u64 *ret)
{
	struct hw_perf_event *hardware = &event->hw;
	s64 left = local64_read(&hardware->period_left);
	s64 period = (s64)hardware->sample_period;
	bool over = false;

	if (left <= -period) {
		left = period;
		over = true;
	}
	if (left < (s64)SMALLEST_PERIOD) {
		left += over ? 0 : period;
		over = true;
	}
	if (over) {
		local64_set(&hardware->period_left, left);
		hardware->last_period = hardware->sample_period;
	}
	/* Of a longer one the last part is the longest. */
	if (left > (s64)PERIOD_MAX)
		left = clamp_t(s64, left - (s64)PERIOD_MAX, (s64)SMALLEST_PERIOD, (s64)PERIOD_MAX);
	local64_set(&hardware->prev_count, 0);
	*ret = (u64)left;
	return over;
}

u64 ibs_driver_maximum(u64 period)
{
	return (period & IBS_CTL_MAXIMUM_UPPER) | ((period & ~IBS_CTL_MAXIMUM_UPPER) >> 4);
}

void ibs_driver_update(struct perf_event *event, u64 control)
{
	u64 count = (control & IBS_CTL_COUNT) >> IBS_CTL_COUNT_SHIFT;
	u64 before;

	if (control & IBS_CTL_VALID)
		count = (control & IBS_CTL_MAXIMUM) << 4 | (control & IBS_CTL_MAXIMUM_UPPER);
	before = (u64)local64_xchg(&event->hw.prev_count, (s64)count);
	local64_add((s64)(count - before), &event->count);
	local64_sub((s64)(count - before), &event->hw.period_left);
}

void ibs_driver_start(struct core *core, struct perf_event *event)
{
	struct hw_perf_event *hardware = &event->hw;
	u64 period;

	if (WARN_ON_ONCE(!(hardware->state & PERF_HES_STOPPED)))
		return;
	hardware->state = 0;
	if (IBS_DRIVER_FILTERS && event->attr.freq && hardware->sample_period < SMALLEST_PERIOD)
		hardware->sample_period = SMALLEST_PERIOD;
	(void)ibs_driver_set_period(event, &period);
	core->ibs.started = true;
	core->active = 1;
	ibs_core_write(&core->ibs, IBS_OP_CTL,
		       hardware->config | ibs_driver_maximum(period) | IBS_CTL_ENABLE);
	books_started(&core->books, event);
	perf_event_update_userpage(event);
	world_start(core);
}

void ibs_driver_stop(struct core *core, struct perf_event *event)
{
	struct hw_perf_event *hardware = &event->hw;
	u64 control;

	if (!core->ibs.started)
		return;
	control = ibs_core_read(&core->ibs, IBS_OP_CTL);
	ibs_core_write(&core->ibs, IBS_OP_CTL, 0);
	core->ibs.started = false;
	core->active = 0;
	hardware->state |= PERF_HES_STOPPED;
	/* A sample that waits is not one: those count in the handler alone. */
	if (!(hardware->state & PERF_HES_UPTODATE))
		ibs_driver_update(event, control & ~IBS_CTL_VALID);
	hardware->state |= PERF_HES_UPTODATE;
}
