// SPDX-License-Identifier: GPL-2.0
/* Prints the report for programs. Later versions may add fields, but never remove any. */
#include <errno.h>
#include <json-c/json.h>

#include "base/cleanup.h"
#include "base/descriptor_limit.h"
#include "origin/pmu/perf_attr.h"
#include "origin/probe/probe.h"
#include "origin/probe/probe_words.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)

/* Takes ownership of `value`, also on failure. */
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

static int add_null(struct json_object *object, const char *key)
{
	return json_object_object_add(object, key, NULL) == 0 ? 0 : -ENOMEM; /* NULL is the null of json-c */
}

static struct json_object *text(const char *value)
{
	return value ? json_object_new_string(value) : NULL;
}

static struct json_object *hex(u64 value)
{
	char digits[32];

	(void)snprintf(digits, sizeof(digits), "0x%llx", (unsigned long long)value);
	return json_object_new_string(digits);
}

static struct json_object *boolean(bool value)
{
	return json_object_new_boolean(value);
}

static struct json_object *number(u64 value)
{
	return json_object_new_uint64(value);
}

static int add_cpus(struct json_object *object, bool known, const struct cpu_list *list)
{
	_cleanup_free_ char *cpus = NULL;

	if (!known)
		return 0;
	cpus = cpu_list_format(list);
	return add(object, "cpus", text(cpus));
}

static int add_fields(struct json_object *event, u64 sample_type)
{
	struct json_object *fields = json_object_new_array();

	if (add(event, "sample_fields", fields) < 0)
		return -ENOMEM;
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = probe_sample_field(bit);

		if ((sample_type >> bit & 1) && append(fields, name ? text(name) : hex(1ULL << bit)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_leader(struct json_object *event, const struct event_spec *spec,
		      const struct perf_event_attr *attr)
{
	struct json_object *leader;

	if (!spec->has_leader)
		return add_null(event, "leader");
	leader = json_object_new_object();
	if (add(event, "leader", leader) < 0 || add(leader, "config", hex(attr->config)) < 0)
		return -ENOMEM;
	return add(leader, "type", number(attr->type));
}

static int add_words(struct json_object *event, const struct event_spec *spec)
{
	_cleanup_free_ char *condition = probe_condition(spec);
	_cleanup_free_ char *latency = probe_latency(spec);
	const char *kind = event_latency_kind_name(spec->event.latency_kind);
	const char *counts = event_count_kind_name(spec->event.count_kind);

	/* The field is absent if the event has no threshold. */
	if (spec->event.ldlat && add(event, "ldlat", number(spec->event.ldlat)) < 0)
		return -ENOMEM;
	if (spec->event.settings.has_latency && kind && add(event, "latency_kind", text(kind)) < 0)
		return -ENOMEM;
	if (counts && add(event, "counts", text(counts)) < 0)
		return -ENOMEM;
	if (add(event, "samples_of", text(condition)) < 0 || add(event, "latency", text(latency)) < 0)
		return -ENOMEM;
	return 0;
}

static int fill_event(const struct probe_report *report, const struct event_spec *spec,
		      struct json_object *event)
{
	struct perf_event_attr attr, leader = {0};

	perf_attr(spec, spec->event.period, &attr);
	if (spec->has_leader)
		perf_attr_leader(spec, &leader);
	if (add(event, "pmu", text(spec->event.pmu)) < 0 ||
	    add(event, "role", text(event_role_name(spec->event.role))) < 0 ||
	    add(event, "asked", boolean(report->asked & 1U << spec->event.role)) < 0 ||
	    add(event, "type", number(attr.type)) < 0 || add(event, "config", hex(attr.config)) < 0 ||
	    add(event, "config1", hex(attr.config1)) < 0 || add(event, "config2", hex(attr.config2)) < 0 ||
	    add(event, "precise_ip", number(attr.precise_ip)) < 0 ||
	    add(event, "period", number(spec->event.period)) < 0 ||
	    add(event, "pinned", boolean(attr.pinned || leader.pinned)) < 0 ||
	    add(event, "exclude_guest", boolean(attr.exclude_guest)) < 0 ||
	    add_fields(event, attr.sample_type) < 0 || add_words(event, spec) < 0 ||
	    add_cpus(event, spec->cpus_known, &spec->cpus) < 0)
		return -ENOMEM;
	return add_leader(event, spec, &leader);
}

static int fill_counter(const struct probe_report *report, const struct pmu_counter *counter,
			struct json_object *object)
{
	if (add(object, "pmu", text(counter->pmu)) < 0 ||
	    add(object, "kind", text(offcore_kind_name(counter->kind))) < 0 ||
	    add(object, "asked", boolean(report->asked & 1U << EVENT_OFFCORE)) < 0 ||
	    add(object, "type", number(counter->type)) < 0 ||
	    add(object, "config", hex(counter->config)) < 0 ||
	    add(object, "config1", hex(counter->config1)) < 0)
		return -ENOMEM;
	return add_cpus(object, counter->cpus_known, &counter->cpus);
}

static int fill_refusal(const struct pmu_refusal *refusal, struct json_object *object)
{
	if (add(object, "pmu", text(refusal->pmu)) < 0 ||
	    add(object, "role", text(event_role_name(refusal->role))) < 0 ||
	    add(object, "reason", text(refusal->reason)) < 0)
		return -ENOMEM;
	return 0;
}

/* Adds an empty array to `object`, which owns it. Returns NULL when out of memory. */
static struct json_object *add_array(struct json_object *object, const char *key)
{
	struct json_object *array = json_object_new_array();

	return add(object, key, array) < 0 ? NULL : array;
}

/* Appends an empty object to `array`, which owns it. Returns NULL when out of memory. */
static struct json_object *append_object(struct json_object *array)
{
	struct json_object *object = json_object_new_object();

	return append(array, object) < 0 ? NULL : object;
}

static int fill_plan(const struct probe_report *report, struct json_object *root)
{
	const struct pmu_plan *plan = &report->plan;
	struct json_object *events = add_array(root, "events");
	struct json_object *counters = add_array(root, "counters");
	struct json_object *refused = add_array(root, "refused");
	struct json_object *notes = add_array(root, "notes");
	struct json_object *object;

	if (!events || !counters || !refused || !notes)
		return -ENOMEM;
	for (size_t i = 0; i < plan->n_specs; i++) {
		object = append_object(events);
		if (!object || fill_event(report, &plan->specs[i], object) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < plan->n_counters; i++) {
		object = append_object(counters);
		if (!object || fill_counter(report, &plan->counters[i], object) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < plan->n_refusals; i++) {
		object = append_object(refused);
		if (!object || fill_refusal(&plan->refusals[i], object) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < plan->n_notes; i++)
		if (append(notes, text(plan->notes[i])) < 0)
			return -ENOMEM;
	return 0;
}

/* Fields whose value is not known are absent. */
static int fill_cost(const struct perf_cost_case *machine, const struct perf_cost_facts *facts,
		     struct json_object *object)
{
	struct perf_cost cost;

	perf_cost(machine, facts, &cost);
	if (add(object, "cpus", number(machine->cpus)) < 0 ||
	    add(object, "events", number(machine->n_events)) < 0 ||
	    add(object, "counters", number(machine->counters)) < 0 ||
	    add(object, "descriptors", number(cost.descriptors)) < 0 ||
	    add(object, "ring_bytes", number(cost.ring_bytes)) < 0 ||
	    add(object, "ring_bytes_max", number(cost.ring_bytes_max)) < 0 ||
	    add(object, "map_bytes", number(cost.map_bytes)) < 0 ||
	    add(object, "hot_bytes", number(cost.hot_bytes)) < 0)
		return -ENOMEM;
	if (cost.event_bytes && add(object, "kernel_event_bytes_min", number(cost.event_bytes)) < 0)
		return -ENOMEM;
	if (cost.start_ns && add(object, "start_ns", number(cost.start_ns)) < 0)
		return -ENOMEM;
	return 0;
}

static int fill_measured(const struct probe_report *report, struct json_object *cost)
{
	const struct perf_cost_facts *measured = &report->measured;
	struct json_object *entry;

	if (add(cost, "slots", number(measured->slots)) < 0 ||
	    add(cost, "descriptors_spare", number(DESCRIPTORS_SPARE)) < 0 ||
	    add(cost, "descriptors_blocks",
		number(report->slots_by_cgroups ? perf_cost_block_descriptors(measured->slots) : 0)) < 0)
		return -ENOMEM;
	if (!measured->load_ns || !measured->event_ns)
		return add_null(cost, "measured");
	entry = json_object_new_object();
	if (add(cost, "measured", entry) < 0 || add(entry, "load_ns", number(measured->load_ns)) < 0 ||
	    add(entry, "event_ns", number(measured->event_ns)) < 0)
		return -ENOMEM;
	return add(entry, "events_timed", number(report->timed));
}

static int add_roles(struct json_object *row, unsigned roles)
{
	struct json_object *array = add_array(row, "roles");

	if (!array)
		return -ENOMEM;
	for (unsigned role = 0; role < EVENT_ROLES; role++)
		if ((roles & 1U << role) && append(array, text(event_role_name((enum event_role)role))) < 0)
			return -ENOMEM;
	return 0;
}

static int fill_table(const struct probe_report *report, struct json_object *table)
{
	static const u32 sizes[] = {8, 64, 200, 512};
	unsigned steps[PERF_COST_STEPS];
	size_t n = perf_cost_steps(&report->plan, steps);

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (size_t j = 0; j < n; j++) {
			struct json_object *row = append_object(table);
			struct perf_cost_case machine;

			perf_cost_scaled(&report->plan, steps[j], sizes[i], &machine);
			if (!row || add_roles(row, steps[j]) < 0 ||
			    fill_cost(&machine, &report->measured, row) < 0)
				return -ENOMEM;
		}
	return 0;
}

static int fill_costs(const struct probe_report *report, struct json_object *root)
{
	struct json_object *cost, *table, *entry;
	struct perf_cost_case machine;

	if (perf_cost_roles(&report->plan) == 0)
		return add_null(root, "cost");
	cost = json_object_new_object();
	if (add(root, "cost", cost) < 0 || fill_measured(report, cost) < 0)
		return -ENOMEM;
	if (report->cpus) {
		entry = json_object_new_object();
		perf_cost_planned(&report->plan, report->asked, report->cpus, report->stripes, &machine);
		if (add(cost, "asked", entry) < 0 || fill_cost(&machine, &report->measured, entry) < 0)
			return -ENOMEM;
		entry = json_object_new_object();
		perf_cost_planned(&report->plan, (1U << EVENT_ROLES) - 1, report->cpus, report->stripes,
				  &machine);
		if (add(cost, "all", entry) < 0 || fill_cost(&machine, &report->measured, entry) < 0)
			return -ENOMEM;
	}
	table = add_array(cost, "table");
	return table ? fill_table(report, table) : -ENOMEM;
}

int probe_print_json(const struct probe_report *report, FILE *out)
{
	_cleanup_(json_object_putp) struct json_object *root = json_object_new_object();
	const char *printed;

	if (!root || add(root, "usable", boolean(probe_usable(report))) < 0 || fill_plan(report, root) < 0 ||
	    fill_costs(report, root) < 0)
		return -ENOMEM;
	printed = json_object_to_json_string_ext(root,
						 JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!printed)
		return -ENOMEM;
	(void)fprintf(out, "%s\n", printed);
	return ferror(out) ? -EIO : 0;
}
