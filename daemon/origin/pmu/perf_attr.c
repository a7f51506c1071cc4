// SPDX-License-Identifier: GPL-2.0
#include "origin/pmu/perf_attr.h"

#include <errno.h>
#include <time.h>

/* event=0x03,umask=0x82: is_mem_loads_aux_event() in arch/x86/events/intel/core.c, Linux 6.1 to 7.3. */
#define MEM_LOADS_AUX 0x8203

static u64 sample_type(const struct event_settings *settings)
{
	u64 type = 0;

	if (settings->has_latency || settings->has_instruction_latency)
		type |= settings->weight_struct ? PERF_SAMPLE_WEIGHT_STRUCT : PERF_SAMPLE_WEIGHT;
	if (settings->has_source)
		type |= PERF_SAMPLE_DATA_SRC;
	if (settings->has_address)
		type |= PERF_SAMPLE_ADDR;
	return type;
}

void perf_attr(const struct event_spec *spec, u64 period, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
		.type = spec->type,
		.size = sizeof(*ret),
		.config = spec->config,
		.config1 = spec->config1,
		.config2 = spec->config2,
		.sample_period = period,
		.sample_type = sample_type(&spec->event.settings),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		/* Only a leader may be pinned, which makes the whole group pinned. */
		.pinned = spec->pinned && !spec->has_leader,
		.precise_ip = spec->precise_ip & 3U,
		/*
		 * PEBS counters are off in a guest anyway (intel_guest_get_msrs). With a mediated virtual PMU
		 * (7.x), events that do not exclude guests fail.
		 */
		.exclude_guest = spec->exclude_guest,
		/* No freq and no watermark: see perf_attr.h. */
		.wakeup_events = 1,
		/* The clock of the throttling records in the ring. No sample contains a time. */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

void perf_attr_leader(const struct event_spec *spec, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
		.type = spec->type,
		.size = sizeof(*ret),
		.config = spec->leader_config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.pinned = spec->pinned,
		.exclude_guest = spec->exclude_guest,
		/*
		 * All events of a group must have the same clock (perf_event_open in kernel/events/core.c).
		 */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

void perf_attr_counter(const struct pmu_counter *counter, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
		.type = counter->type,
		.size = sizeof(*ret),
		.config = counter->config,
		.config1 = counter->config1,
		.disabled = 1,
		/*
		 * The counts are compared with samples, which exclude guests as well. Events that do not
		 * exclude guests also fail with a mediated virtual PMU (7.x). Software events do not support
		 * the flag.
		 */
		.exclude_guest = counter->type != PERF_TYPE_SOFTWARE,
	};
}

void perf_attr_permission(struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(*ret),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
	};
}

/*
 * Returns true if the spec has a load threshold of IBS, which is in config1 (perf_ibs_init,
 * arch/x86/events/amd/ibs.c, Linux 7.3).
 */
static bool has_ibs_threshold(const struct event_spec *spec)
{
	return spec->event.latency_kind == LATENCY_DC_MISS && spec->event.ldlat;
}

void perf_attr_only_count(struct event_spec *spec)
{
	spec->precise_ip = 0;
	spec->pinned = false;
	spec->collides = false;
	spec->only_counter = 0;
	spec->event.settings = (struct event_settings){0};
}

bool perf_attr_relax(const struct event_spec *planned, int error, struct event_spec *spec)
{
	struct event_settings *settings = &spec->event.settings;

	if (error == -ENODATA && spec->event.role == EVENT_LOADS && !spec->has_leader) {
		spec->has_leader = true;
		spec->leader_config = MEM_LOADS_AUX;
		/* CPUs that demand a leader also split the latency: both flags belong to the same models. */
		spec->event.latency_kind = LATENCY_CACHE;
		settings->has_instruction_latency = settings->weight_struct;
		return true;
	}
	if (error != -EINVAL && error != -EOPNOTSUPP)
		return false;
	if (error == -EINVAL && has_ibs_threshold(spec)) {
		spec->config1 = 0;
		spec->event.ldlat = 0;
		return true;
	}
	if (error == -EINVAL && settings->weight_struct) {
		/* PERF_SAMPLE_WEIGHT, unlike PERF_SAMPLE_WEIGHT_STRUCT, contains only the latency. */
		settings->weight_struct = 0;
		settings->has_instruction_latency = 0;
		return true;
	}
	if (spec->precise_ip == 1 && spec->may_count && error == -EOPNOTSUPP) {
		perf_attr_only_count(spec);
		return true;
	}
	if (spec->precise_ip < 2)
		return false;
	spec->precise_ip--;
	settings->weight_struct = planned->event.settings.weight_struct;
	settings->has_instruction_latency =
		settings->weight_struct && spec->event.latency_kind == LATENCY_CACHE;
	return true;
}
