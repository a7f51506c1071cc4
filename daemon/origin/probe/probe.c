// SPDX-License-Identifier: GPL-2.0
#include "origin/probe/probe.h"
#include "origin/probe/probe_words.h"

#include <string.h>

#include "base/cleanup.h"

/* Returns true if the plan has the note, with or without the prefix that add_role() adds. */
static bool has_note(const struct pmu_plan *plan, const char *note)
{
	const size_t length = strlen(note);

	for (size_t i = 0; i < plan->n_notes; i++) {
		const size_t other = strlen(plan->notes[i]);

		if (other >= length && strcmp(plan->notes[i] + other - length, note) == 0)
			return true;
	}
	return false;
}

/* Adds the specs, counters and refusals of a role in `further` to `plan`, and the notes that are new. */
static int add_role(struct pmu_plan *plan, const struct pmu_plan *further, enum event_role role)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < further->n_specs; i++)
		if (further->specs[i].event.role == role)
			r = pmu_plan_add(plan, &further->specs[i]);
	for (size_t i = 0; i < further->n_counters && role == EVENT_OFFCORE; i++)
		plan->counters[plan->n_counters++] = further->counters[i];
	for (size_t i = 0; r >= 0 && i < further->n_refusals; i++)
		if (further->refusals[i].role == role)
			r = pmu_plan_refuse(plan, further->refusals[i].pmu, role, "%s",
					    further->refusals[i].reason);
	for (size_t i = 0; r >= 0 && i < further->n_notes; i++)
		if (!has_note(plan, further->notes[i]))
			r = pmu_plan_note(plan, "with %s in `events`: %s", event_role_name(role),
					  further->notes[i]);
	return r;
}

int probe_plan(const struct probe_request *request, struct probe_report *ret)
{
	int r;

	*ret = (struct probe_report){
		.asked = request->events.roles,
		.running = request->running,
		.leave_counters = request->leave_counters,
		.measured = {.slots = request->slots,
			     .hot_max = request->hot_max,
			     .page_size = (u64)sysconf(_SC_PAGESIZE)},
	};
	r = pmu_plan(request->sysfs_root, &request->events, &ret->plan);
	for (unsigned role = 0; r >= 0 && role < EVENT_ROLES; role++) {
		_cleanup_(pmu_plan_done) struct pmu_plan further = {0};
		struct pmu_request more = request->events;

		if (request->events.roles & 1U << role)
			continue;
		more.roles |= 1U << role;
		r = pmu_plan(request->sysfs_root, &more, &further);
		if (r >= 0)
			r = add_role(&ret->plan, &further, (enum event_role)role);
	}
	for (size_t i = 0; r >= 0 && i < ret->plan.n_specs; i++)
		perf_selection_apply(&request->selection, &ret->plan.specs[i]);
	for (size_t i = 0; r >= 0 && i < ret->plan.n_counters; i++)
		perf_selection_apply_counter(&request->selection, &ret->plan.counters[i]);
	if (r >= 0 && request->leave_counters > 0 && strcmp(request->sysfs_root, "/sys") != 0)
		r = pmu_plan_note(
			&ret->plan,
			"leave-counters = %u in [sampling] is ignored here: a copy of a tree does not say how many counters the CPUs have",
			request->leave_counters);
	ret->cpus = perf_cost_cpus(&ret->plan);
	ret->stripes = perf_cost_stripes(ret->cpus);
	return r;
}

void probe_report_done(struct probe_report *report)
{
	pmu_plan_done(&report->plan);
}

int probe_run(const struct probe_request *request, bool json, FILE *out)
{
	_cleanup_(probe_report_done) struct probe_report report = {0};
	int r;

	r = probe_plan(request, &report);
	if (r >= 0 && strcmp(request->sysfs_root, "/sys") == 0)
		r = probe_try(&report);
	if (r >= 0 && !report.measured.slots)
		report.measured.slots = perf_cost_slots(0);
	if (r >= 0)
		r = json ? probe_print_json(&report, out) : probe_print_text(&report, out);
	if (r < 0)
		return r;
	return probe_usable(&report) ? PROBE_USABLE : PROBE_UNUSABLE;
}
