// SPDX-License-Identifier: GPL-2.0
#include "probe.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "base/cleanup.h"
#include "perf.h"
#include "perf_diagnose.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)

/* Opens it where it would run, and notes where the kernel wanted it otherwise. Returns 1 where it took it. */
static int try_opening(struct pmu_plan *plan, struct pmu_opening *opening)
{
	const struct pmu_opening planned = *opening;
	const char *pmu = planned.event.pmu;
	int cpu = opening->cpus_known ? cpu_list_next(&opening->cpus, -1) : 0;
	_cleanup_free_ char *message = NULL;
	int r;

	if (cpu < 0)
		return pmu_plan_refuse(plan, pmu, planned.event.role, "none of its CPUs is online");
	r = perf_try(opening, cpu, &message);
	if (r < 0)
		return pmu_plan_refuse(plan, pmu, planned.event.role, "%s", message ? message : strerror(-r));
	r = 0;
	if (opening->precise_ip != planned.precise_ip)
		r = pmu_plan_note(plan, "%s: the kernel does not take precise_ip %u here; opened with %u",
				  pmu, planned.precise_ip, opening->precise_ip);
	if (r >= 0 && opening->has_leader != planned.has_leader)
		r = pmu_plan_note(
			plan,
			"%s: the kernel demands a leader for this event (ENODATA), although sysfs names "
			"no mem-loads-aux",
			pmu);
	if (r >= 0 && opening->event.settings.weight_struct != planned.event.settings.weight_struct)
		r = pmu_plan_note(
			plan,
			"%s: the kernel (before 5.12) does not know PERF_SAMPLE_WEIGHT_STRUCT; opened with "
			"PERF_SAMPLE_WEIGHT",
			pmu);
	return r < 0 ? r : 1;
}

static int refuse_all(struct pmu_plan *plan, const char *reason)
{
	while (plan->n_openings > 0) {
		const struct event *event = &plan->openings[0].event;
		int r = pmu_plan_refuse(plan, event->pmu, event->role, "%s", reason);

		if (r < 0)
			return r;
		pmu_plan_drop(plan, 0);
	}
	return 0;
}

int probe_try(struct pmu_plan *plan)
{
	_cleanup_free_ char *remark = NULL;
	_cleanup_free_ char *obstacle = NULL;
	struct perf_facts facts;
	int r;

	for (size_t i = 0; i < plan->n_openings;) {
		r = try_opening(plan, &plan->openings[i]);
		if (r < 0)
			return r;
		if (r > 0)
			i++;
		else
			pmu_plan_drop(plan, i);
	}

	perf_facts_gather(&facts);
	r = perf_diagnose_bpf(&facts, &obstacle);
	if (r >= 0 && obstacle)
		r = plan->n_openings > 0 ? refuse_all(plan, obstacle) : pmu_plan_note(plan, "%s", obstacle);
	if (r >= 0)
		r = perf_diagnose_remark(&facts, &remark);
	if (r >= 0 && remark)
		r = pmu_plan_note(plan, "%s", remark);
	if (r >= 0 && facts.hypervisor)
		r = pmu_plan_note(plan, "this is a virtual machine (CPUID says so): which PMU it sees, and "
					"whether with PEBS, its host decides");
	return r;
}

int probe_print_text(const struct pmu_plan *plan, FILE *out)
{
	(void)fprintf(out, plan->n_openings > 0 ? "pebsd can sample memory accesses here:\n"
						: "pebsd cannot sample memory accesses here.\n");
	for (size_t i = 0; i < plan->n_openings; i++) {
		const struct pmu_opening *opening = &plan->openings[i];
		_cleanup_free_ char *cpus = cpu_list_format(&opening->cpus);

		if (!cpus)
			return -ENOMEM;
		(void)fprintf(
			out,
			"  %s on PMU %s\n"
			"    attributes  type %u, config %#llx, config1 %#llx, config2 %#llx, precise_ip %u\n"
			"    threshold   loads of more than %u cycles of %s latency (ldlat)\n"
			"    latency     %s%s\n"
			"    CPUs        %s\n",
			event_role_name(opening->event.role), opening->event.pmu, opening->type,
			(unsigned long long)opening->config, (unsigned long long)opening->config1,
			(unsigned long long)opening->config2, opening->precise_ip, opening->event.ldlat,
			opening->event.settings.has_instruction_latency ? "instruction" : "use",
			event_latency_kind_name(opening->event.latency_kind),
			opening->event.settings.has_instruction_latency ? ", and instruction latency" : "",
			opening->cpus_known ? cpus : "all that are online");
		if (opening->has_leader)
			(void)fprintf(out, "    leader      config %#llx\n",
				      (unsigned long long)opening->leader_config);
	}
	if (plan->n_refusals > 0)
		(void)fputs("Refused:\n", out);
	for (size_t i = 0; i < plan->n_refusals; i++)
		(void)fprintf(out, "  %s on PMU %s: %s.\n", event_role_name(plan->refusals[i].role),
			      plan->refusals[i].pmu, plan->refusals[i].reason);
	if (plan->n_notes > 0)
		(void)fputs("Notes:\n", out);
	for (size_t i = 0; i < plan->n_notes; i++)
		(void)fprintf(out, "  %s.\n", plan->notes[i]);
	return ferror(out) ? -EIO : 0;
}

/* Takes the value over, also where it fails. */
static int add(struct json_object *object, const char *key, struct json_object *value)
{
	if (value && json_object_object_add(object, key, value) == 0)
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

static int append(struct json_object *array, struct json_object *value)
{
	if (value && json_object_array_add(array, value) == 0)
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

static struct json_object *hex(u64 value)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	return json_object_new_string(text);
}

static int fill_event(const struct pmu_opening *opening, struct json_object *event)
{
	_cleanup_(json_object_putp) struct json_object *leader = NULL;
	_cleanup_free_ char *cpus = NULL;

	if (add(event, "pmu", json_object_new_string(opening->event.pmu)) < 0 ||
	    add(event, "role", json_object_new_string(event_role_name(opening->event.role))) < 0 ||
	    add(event, "type", json_object_new_int64(opening->type)) < 0 ||
	    add(event, "config", hex(opening->config)) < 0 ||
	    add(event, "config1", hex(opening->config1)) < 0 ||
	    add(event, "config2", hex(opening->config2)) < 0 ||
	    add(event, "precise_ip", json_object_new_int(opening->precise_ip)) < 0 ||
	    add(event, "ldlat", json_object_new_int64(opening->event.ldlat)) < 0 ||
	    add(event, "latency_kind",
		json_object_new_string(event_latency_kind_name(opening->event.latency_kind))) < 0)
		return -ENOMEM;
	if (opening->cpus_known) {
		cpus = cpu_list_format(&opening->cpus);
		if (!cpus || add(event, "cpus", json_object_new_string(cpus)) < 0)
			return -ENOMEM;
	}
	if (!opening->has_leader) /* null is json-c's NULL */
		return json_object_object_add(event, "leader", NULL) == 0 ? 0 : -ENOMEM;
	leader = json_object_new_object();
	if (!leader || add(leader, "config", hex(opening->leader_config)) < 0)
		return -ENOMEM;
	return add(event, "leader", TAKE_PTR(leader));
}

static int fill_refusal(const struct pmu_refusal *refusal, struct json_object *object)
{
	if (add(object, "pmu", json_object_new_string(refusal->pmu)) < 0 ||
	    add(object, "role", json_object_new_string(event_role_name(refusal->role))) < 0 ||
	    add(object, "reason", json_object_new_string(refusal->reason)) < 0)
		return -ENOMEM;
	return 0;
}

static int fill(const struct pmu_plan *plan, struct json_object *events, struct json_object *refused,
		struct json_object *notes)
{
	for (size_t i = 0; i < plan->n_openings; i++) {
		struct json_object *event = json_object_new_object();

		if (append(events, event) < 0 || fill_event(&plan->openings[i], event) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < plan->n_refusals; i++) {
		struct json_object *refusal = json_object_new_object();

		if (append(refused, refusal) < 0 || fill_refusal(&plan->refusals[i], refusal) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < plan->n_notes; i++)
		if (append(notes, json_object_new_string(plan->notes[i])) < 0)
			return -ENOMEM;
	return 0;
}

/* An empty array in `object`, which owns it; NULL when out of memory. */
static struct json_object *add_array(struct json_object *object, const char *key)
{
	struct json_object *array = json_object_new_array();

	return add(object, key, array) < 0 ? NULL : array;
}

int probe_print_json(const struct pmu_plan *plan, FILE *out)
{
	_cleanup_(json_object_putp) struct json_object *root = json_object_new_object();
	struct json_object *events, *refused, *notes;
	const char *text;
	int r;

	if (!root || add(root, "usable", json_object_new_boolean(plan->n_openings > 0)) < 0)
		return -ENOMEM;
	events = add_array(root, "events");
	refused = add_array(root, "refused");
	notes = add_array(root, "notes");
	if (!events || !refused || !notes)
		return -ENOMEM;
	r = fill(plan, events, refused, notes);
	if (r < 0)
		return r;
	text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!text)
		return -ENOMEM;
	(void)fprintf(out, "%s\n", text);
	return ferror(out) ? -EIO : 0;
}

int probe_run(const char *sysfs_root, const struct pmu_wish *wish, bool json, FILE *out)
{
	_cleanup_(pmu_plan_done) struct pmu_plan plan = {0};
	int r;

	r = pmu_plan(sysfs_root, wish, &plan);
	if (r >= 0 && strcmp(sysfs_root, "/sys") == 0)
		r = probe_try(&plan);
	if (r >= 0)
		r = json ? probe_print_json(&plan, out) : probe_print_text(&plan, out);
	if (r < 0)
		return r;
	return plan.n_openings > 0 ? PROBE_USABLE : PROBE_UNUSABLE;
}
