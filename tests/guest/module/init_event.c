// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/debugfs.h>

#include "driver.h"
#include "init_event.h"
#include "pmu.h"
#include "schedule.h"
#include "sysfs.h"

/* X86_RAW_EVENT_MASK: event, unit mask, edge, inv, cmask. */
#define RAW_MASK        (EVTSEL_EVENT | EVTSEL_UMASK | EVTSEL_EDGE | EVTSEL_INV | EVTSEL_CMASK)
#define EVENT_AND_UMASK 0xffffULL

#define LDLAT_MASK 0xffffULL

#define INSTRUCTIONS_ALL 0x01c0

/* LARGE_PEBS_FLAGS in arch/x86/events/perf_event.h: what the hardware itself writes into a record. */
#define LARGE_TYPES                                                                                        \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |          \
	 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TRANSACTION | \
	 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_PERIOD |      \
	 PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_WEIGHT_TYPE)

/* intel_perfmon_event_map[] in intel/core.c, without the stalls. */
static const u16 generic_events[] = {
	[PERF_COUNT_HW_CPU_CYCLES] = 0x003c,          [PERF_COUNT_HW_INSTRUCTIONS] = 0x00c0,
	[PERF_COUNT_HW_CACHE_REFERENCES] = 0x4f2e,    [PERF_COUNT_HW_CACHE_MISSES] = 0x412e,
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 0x00c4, [PERF_COUNT_HW_BRANCH_MISSES] = 0x00c5,
	[PERF_COUNT_HW_BUS_CYCLES] = 0x013c,          [PERF_COUNT_HW_REF_CPU_CYCLES] = 0x0300,
};

static u16 event_code(const struct perf_event *event)
{
	return (u16)(event->hw.config & EVENT_AND_UMASK);
}

static const struct machine *machine_of(const struct perf_event *event)
{
	return pmu_of_event(event)->machine;
}

/* x86_pmu.limit_period(): hsw_, bdw_, nhm_ and glc_limit_period() (6.12; spr_ in 6.1). */
s64 init_event_limit_period(const struct perf_event *event, s64 left)
{
	const struct machine *machine = machine_of(event);

	left = max_t(s64, left, machine->smallest_period);
	if (event->attr.precise_ip == 3 && machine->mechanisms & MECHANISM_STORE_LATENCY)
		left = max_t(s64, left, 128);
	if (event_code(event) == INSTRUCTIONS_ALL) {
		left = max_t(s64, left, machine->instructions_smallest);
		if (machine->instructions_step)
			left -= left % machine->instructions_step;
	}
	return left;
}

int init_event_check_period(struct perf_event *event, u64 period)
{
	return init_event_limit_period(event, (s64)period) > (s64)period ? -EINVAL : 0;
}

/* The register that goes with an event's code, and the bits that it takes; 0: none does. */
static u32 extra_register(const struct machine *machine, u16 code, u64 *ret_valid)
{
	u32 i;

	if (machine->load_latency_event && code == machine->load_latency_event) {
		*ret_valid = LDLAT_MASK;
		return MSR_PEBS_LD_LAT_THRESHOLD;
	}
	for (i = 0; i < ARRAY_SIZE(machine->offcore_events); i++)
		if (machine->offcore_bits[i] && code == machine->offcore_events[i]) {
			*ret_valid = machine->offcore_bits[i];
			return MSR_OFFCORE_RSP_0 + i;
		}
	return 0;
}

/* x86_pmu_extra_regs(). */
static int set_extra_register(struct perf_event *event)
{
	struct hw_perf_event_extra *extra = &event->hw.extra_reg;
	u64 value = event->attr.config1;
	u64 valid;
	u32 msr = extra_register(machine_of(event), event_code(event), &valid);

	if (!msr)
		return 0;
	if (value & ~valid)
		return -EINVAL;
	extra->reg = msr;
	extra->config = value;
	extra->idx = 0;
	return 0;
}

static void set_period(struct perf_event *event)
{
	struct hw_perf_event *hardware = &event->hw;

	if (!is_sampling_event(event)) {
		hardware->sample_period = (1ULL << (machine_of(event)->counter_bits - 1)) - 1;
	} else if (event->attr.freq && event->attr.sample_freq) {
		/* intel_pmu_freq_start_period(), 6.1: from there perf core steers. */
		u64 factor = event->attr.type == PERF_TYPE_HARDWARE ? 500000000 : 64 * 4000;

		hardware->sample_period = DIV_ROUND_UP_ULL(factor, event->attr.sample_freq) - 1;
		hardware->sample_period = (u64)init_event_limit_period(event, (s64)hardware->sample_period);
	} else {
		return;
	}
	hardware->last_period = hardware->sample_period;
	local64_set(&hardware->period_left, (s64)hardware->sample_period);
}

/* Which samples may wait in the buffer (intel_pmu_hw_config(), intel_pmu_large_pebs_flags()). */
static void set_batching(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	u64 large = LARGE_TYPES;

	if (attr->freq || (attr->wakeup_events && !attr->watermark))
		return;
	event->hw.flags |= FLAG_AUTO_RELOAD;
	/* Records of Skylake and later tell the time (x86_pmu.large_pebs_flags), if the clock is the
	 * kernel's. */
	if (machine_of(event)->format >= RECORD_SKYLAKE && !attr->use_clockid)
		large |= PERF_SAMPLE_TIME;
	if (!attr->exclude_kernel)
		large &= ~(u64)PERF_SAMPLE_REGS_USER;
	if (attr->sample_type & ~large)
		return;
	event->hw.flags |= FLAG_LARGE;
	event->attach_state |= PERF_ATTACH_SCHED_CB;
}

static bool is_auxiliary(const struct perf_event *of, const struct perf_event *event)
{
	return event->pmu == of->pmu && event_code(event) == machine_of(of)->aux_event;
}

/* The load latency event's auxiliary stands before it in its group. */
static bool has_auxiliary(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	struct perf_event *sibling;

	if (leader == event)
		return false;
	if (is_auxiliary(event, leader))
		return true;
	for_each_sibling_event(sibling, leader) if (is_auxiliary(event, sibling)) return true;
	return false;
}

static int configure_precise(struct perf_event *event)
{
	const struct machine *machine = machine_of(event);

	if (event->attr.precise_ip > machine->max_precise)
		return -EOPNOTSUPP;
	if (!is_sampling_event(event))
		return -EINVAL;
	set_batching(event);
	if (event_code(event) == machine->load_latency_event)
		event->hw.flags |= FLAG_LOAD_LATENCY;
	else if (machine->store_event && event_code(event) == machine->store_event)
		event->hw.flags |= FLAG_STORE;
	return 0;
}

static int configure(struct perf_event *event)
{
	const struct machine *machine = machine_of(event);
	const struct perf_event_attr *attr = &event->attr;
	int r;

	event->hw.config = EVTSEL_INT;
	if (!attr->exclude_user)
		event->hw.config |= EVTSEL_USR;
	if (!attr->exclude_kernel)
		event->hw.config |= EVTSEL_OS;
	if (attr->type == PERF_TYPE_HARDWARE) {
		if (attr->config >= ARRAY_SIZE(generic_events))
			return -EINVAL;
		if (!generic_events[attr->config])
			return -ENOENT;
		event->hw.config |= generic_events[attr->config];
	} else {
		event->hw.config |= attr->config & RAW_MASK;
	}
	if (is_sampling_event(event) && !attr->freq &&
	    init_event_check_period(event, attr->sample_period) < 0)
		return -EINVAL;
	/* XMM registers: no workload of the model has any. Branch records neither. */
	if ((attr->sample_regs_intr | attr->sample_regs_user) & PERF_REG_EXTENDED_MASK)
		return -EINVAL;
	if (has_branch_stack(event))
		return -EOPNOTSUPP;
	r = attr->type == PERF_TYPE_HARDWARE ? 0 : set_extra_register(event);
	if (r < 0)
		return r;
	set_period(event);
	if (attr->precise_ip) {
		r = configure_precise(event);
		if (r < 0)
			return r;
	}
	if (attr->aux_output)
		return -EINVAL;
	if (machine->aux_event && (attr->sample_type & PERF_SAMPLE_DATA_SRC) &&
	    event_code(event) == machine->load_latency_event && !has_auxiliary(event))
		return -ENODATA;
	if (attr->type == PERF_TYPE_HARDWARE || !(attr->config & EVTSEL_ANY))
		return 0;
	if (machine->format == RECORD_ADAPTIVE)
		return -EINVAL;
	if (!perfmon_capable())
		return -EACCES;
	event->hw.config |= EVTSEL_ANY;
	return 0;
}

/* Appends the event, if it is one of the PMU and takes part. Another one's of ours is in no group with it
 * (collect_event() in x86's core.c). */
static bool collect(const struct pmu *pmu, struct perf_event *event, struct demand *demands, unsigned int *n,
		    bool always)
{
	if (event->pmu->event_init != init_event || (!always && event->state <= PERF_EVENT_STATE_OFF))
		return true;
	if (event->pmu != pmu)
		return false;
	if (*n == EVENTS_AT_ONCE)
		return false;
	demands[(*n)++] = schedule_demand(event);
	return true;
}

/* validate_group(): the group must fit on an empty CPU, validate_event(): a single one too. */
static int validate(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader;
	struct demand demands[EVENTS_AT_ONCE];
	int counters[EVENTS_AT_ONCE];
	struct perf_event *sibling;
	unsigned int n = 0;

	if (leader != event) {
		if (!collect(event->pmu, leader, demands, &n, true))
			return -EINVAL;
		for_each_sibling_event(sibling, leader) if (!collect(event->pmu, sibling, demands, &n,
								     false)) return -EINVAL;
	}
	if (!collect(event->pmu, event, demands, &n, true))
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++)
		counters[i] = -1;
	return constraint_schedule(machine_of(event), demands, n, counters) ? 0 : -EINVAL;
}

static atomic_t open_events;

static void destroy_event(struct perf_event *event)
{
	atomic_dec(&open_events);
}

void init_event_file_open(struct dentry *directory)
{
	debugfs_create_atomic_t("open", 0444, directory, &open_events);
}

int init_event(struct perf_event *event)
{
	int r;

	if (event->attr.type != event->pmu->type && event->attr.type != PERF_TYPE_HARDWARE)
		return -ENOENT;
	if (pmu_of_event(event)->hybrid && event->cpu != -1 &&
	    !cpumask_test_cpu(event->cpu, &pmu_of_event(event)->cpus))
		return -ENOENT;
	event->hw.idx = -1;
	event->hw.last_cpu = -1;
	event->hw.flags = 0;
	event->hw.extra_reg.reg = 0;
	event->hw.extra_reg.idx = -1;
	r = configure(event);
	if (r == 0)
		r = validate(event);
	if (sysfs_rdpmc() && !(event->hw.flags & FLAG_LARGE))
		event->hw.flags |= FLAG_MACHINE_READ;
	if (r < 0)
		return r;
	atomic_inc(&open_events);
	event->destroy = destroy_event;
	return 0;
}
