// SPDX-License-Identifier: GPL-2.0
#include "opener/opener_allowed.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "origin/pmu/perf_attr.h"
#include "zoom/zoom_attr.h"

#define LDLAT_MIN 3

/* A field in which the requested attributes differ from those that pebsd would use. */
struct difference {
	const char *field;
	unsigned rank; /* a higher rank means that more fields are the same */
};

u32 opener_ldlat(const struct perf_event_attr *attr)
{
	const u32 ldlat = attr->config1 & UINT16_MAX;

	return ldlat < LDLAT_MIN ? 0 : ldlat;
}

static const char *type_name(u32 type)
{
	static const char *const names[] = {
		[PERF_TYPE_HARDWARE] = " (hardware)",
		[PERF_TYPE_SOFTWARE] = " (software)",
		[PERF_TYPE_TRACEPOINT] = " (tracepoint)",
		[PERF_TYPE_HW_CACHE] = " (cache)",
		[PERF_TYPE_RAW] = " (raw)",
		[PERF_TYPE_BREAKPOINT] = " (breakpoint)",
	};

	return type < ARRAY_SIZE(names) ? names[type] : "";
}

/* Returns the first difference. The order is that of `fields`. All other fields come last. */
static struct difference compare(const struct perf_event_attr *asked, const struct perf_event_attr *ours)
{
	const struct {
		bool same;
		const char *field;
	} fields[] = {
		{asked->type == ours->type, "type"},
		{asked->config == ours->config, "config"},
		{asked->config1 == ours->config1, "config1"},
		{asked->config2 == ours->config2, "config2"},
		{asked->sample_type == ours->sample_type, "sample_type"},
		{asked->read_format == ours->read_format, "read_format"},
		{asked->branch_sample_type == ours->branch_sample_type, "branch_sample_type"},
		{asked->sample_regs_user == ours->sample_regs_user, "sample_regs_user"},
		{asked->sample_regs_intr == ours->sample_regs_intr, "sample_regs_intr"},
		{asked->sample_stack_user == ours->sample_stack_user, "sample_stack_user"},
		{asked->wakeup_events == ours->wakeup_events, "wakeup_events"},
		{asked->bp_type == ours->bp_type, "bp_type"},
		{asked->sample_period == ours->sample_period, "sample_period"},
		{asked->inherit == ours->inherit, "inherit"},
		{asked->precise_ip == ours->precise_ip, "precise_ip"},
		{asked->exclude_guest == ours->exclude_guest, "exclude_guest"},
		{asked->sigtrap == ours->sigtrap, "sigtrap"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(fields); i++)
		if (!fields[i].same)
			return (struct difference){.field = fields[i].field, .rank = i};
	if (memcmp(asked, ours, sizeof(*asked)) != 0)
		return (struct difference){.field = "a flag, or a field that pebsd leaves at 0",
					   .rank = ARRAY_SIZE(fields)};
	return (struct difference){.field = NULL};
}

/*
 * Returns true if the attributes are identical. If not, updates `closest`, the difference with the highest
 * rank.
 */
static bool is_same(const struct perf_event_attr *asked, const struct perf_event_attr *ours,
		    struct difference *closest)
{
	struct difference difference = compare(asked, ours);

	if (!difference.field)
		return true;
	if (!closest->field || difference.rank > closest->rank)
		*closest = difference;
	return false;
}

/* Returns the requested period if the PMU supports it, or the PMU's minimum, which then differs. */
static u64 period_of(const struct event_spec *spec, u64 asked)
{
	const u64 step = spec->period_step ? spec->period_step : 1;
	const u64 least = spec->period_min ? spec->period_min : 1;

	return asked < least || asked % step != 0 || asked > INT64_MAX ? least : asked;
}

/* Copies the values that the caller may choose from the requested attributes to the spec. */
static void choose(const struct perf_event_attr *asked, struct event_spec *spec)
{
	struct event_settings *settings = &spec->event.settings;

	spec->event.period = period_of(spec, asked->sample_period);
	spec->pinned = asked->pinned;
	if (asked->precise_ip >= 1 && asked->precise_ip < spec->precise_ip)
		spec->precise_ip = (u8)asked->precise_ip;
	if (!(asked->sample_type & PERF_SAMPLE_WEIGHT_STRUCT))
		settings->weight_struct = 0;
}

static bool is_sampling(const struct perf_event_attr *asked, const struct event_spec *spec,
			enum opener_target target, struct difference *closest)
{
	const struct zoom_ways ways = {
		.lbr = asked->branch_sample_type != 0,
		.physical = asked->sample_type & PERF_SAMPLE_PHYS_ADDR,
		.build_ids = asked->build_id,
	};
	struct perf_event_attr ours;

	/* A zoom never opens an event that only counts. */
	if (target == OPENER_CGROUP && event_is_count(&spec->event))
		return false;
	if (target == OPENER_CGROUP)
		zoom_attr(spec, &ways, asked->task, &ours);
	else
		perf_attr(spec, spec->event.period, &ours);
	return is_same(asked, &ours, closest);
}

static bool is_leader(const struct perf_event_attr *asked, const struct event_spec *spec,
		      enum opener_target target, struct difference *closest)
{
	struct perf_event_attr ours;

	if (!spec->has_leader)
		return false;
	if (target == OPENER_CGROUP)
		zoom_attr_leader(spec, &ours);
	else
		perf_attr_leader(spec, &ours);
	return is_same(asked, &ours, closest);
}

/*
 * Tries the planned event, the event with a leader that a kernel may demand, IBS without a threshold, and the event
 * without PEBS.
 */
static bool is_of_spec(const struct opener_request *request, const struct event_spec *planned,
		       struct difference *closest)
{
	const struct perf_event_attr *asked = &request->attr;
	static const int errors[] = {0, -ENODATA, -EINVAL};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct event_spec spec = *planned;

		if (errors[i] && !perf_attr_relax(planned, errors[i], &spec))
			continue;
		choose(asked, &spec);
		/*
		 * A leader is requested without a group. The event of its group is requested with the leader.
		 */
		if (!request->has_group && is_leader(asked, &spec, request->target, closest))
			return true;
		if (spec.has_leader != request->has_group)
			continue;
		if (is_sampling(asked, &spec, request->target, closest))
			return true;
	}
	if (planned->may_count && !request->has_group) {
		struct event_spec spec = *planned;

		perf_attr_only_count(&spec);
		choose(asked, &spec);
		return is_sampling(asked, &spec, request->target, closest);
	}
	return false;
}

static bool is_of_counter(const struct opener_request *request, const struct pmu_counter *counter,
			  struct difference *closest)
{
	struct perf_event_attr ours;

	if (request->target != OPENER_CPU || request->has_group)
		return false;
	perf_attr_counter(counter, &ours);
	return is_same(&request->attr, &ours, closest);
}

/* Returns true for the event that tests whether CPU-wide events are allowed. It needs no PMU. */
static bool is_trial(const struct opener_request *request)
{
	struct perf_event_attr ours;

	perf_attr_permission(&ours);
	return request->target == OPENER_CPU && !request->has_group &&
	       memcmp(&request->attr, &ours, sizeof(ours)) == 0;
}

int opener_allowed(const struct pmu_plan *plan, const struct opener_request *request,
		   char ret_reason[OPENER_REASON_MAX])
{
	const struct perf_event_attr *asked = &request->attr;
	struct difference closest = {0};

	ret_reason[0] = '\0';
	for (size_t i = 0; i < plan->n_specs; i++)
		if (is_of_spec(request, &plan->specs[i], &closest))
			return 0;
	for (size_t i = 0; i < plan->n_counters; i++)
		if (is_of_counter(request, &plan->counters[i], &closest))
			return 0;
	if (is_trial(request))
		return 0;
	if (!closest.field)
		(void)snprintf(ret_reason, OPENER_REASON_MAX,
			       "pebsd opens no event of this kind on this machine");
	else if (closest.rank == 0)
		(void)snprintf(ret_reason, OPENER_REASON_MAX,
			       "pebsd opens no event of a PMU of type %u%s on this machine", asked->type,
			       type_name(asked->type));
	else
		(void)snprintf(
			ret_reason, OPENER_REASON_MAX,
			"type %u, config %#llx is not an event that pebsd opens on this machine: the closest one differs in %s",
			asked->type, (unsigned long long)asked->config, closest.field);
	return -EACCES;
}
