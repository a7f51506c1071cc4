// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "machine_tree.h"
#include "origin/probe/probe.h"
#include "origin/probe/probe_words.h"
#include "tree.h"

static char *root;

static void setup(void)
{
	root = tree_new();
}

static void teardown(void)
{
	tree_remove(root);
}

TestSuite(probe, .init = setup, .fini = teardown);

static struct probe_request request_for(unsigned roles)
{
	return (struct probe_request){.sysfs_root = root,
				      .events = {.ldlat = 30, .periods.accesses = 10007, .roles = roles},
				      .slots = 600};
}

/* Returns the output of a run on the tree. The caller frees it. */
static char *probe(bool json, int expected)
{
	const struct probe_request request = request_for(1U << EVENT_LOADS);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	cr_assert_not_null(out);
	cr_expect_eq(probe_run(&request, json, out), expected);
	cr_assert_eq(fclose(out), 0);
	return text;
}

static struct json_object *get(struct json_object *object, const char *key, enum json_type type)
{
	struct json_object *value;

	cr_assert(json_object_object_get_ex(object, key, &value), "no %s", key);
	cr_assert_eq(json_object_get_type(value), type, "%s", key);
	return value;
}

static void expect_string(struct json_object *object, const char *key, const char *expected)
{
	cr_expect_str_eq(json_object_get_string(get(object, key, json_type_string)), expected);
}

Test(probe, an_event_is_written_as_json)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *all, *event;

	tree_skylake(root);
	text = probe(true, PROBE_USABLE);
	all = json_tokener_parse(text);
	cr_assert_not_null(all, "%s", text);
	cr_expect(json_object_get_boolean(get(all, "usable", json_type_boolean)));
	cr_expect_gt(json_object_array_length(get(all, "events", json_type_array)), 0);
	cr_expect_gt(json_object_array_length(get(all, "notes", json_type_array)), 0);
	event = json_object_array_get_idx(get(all, "events", json_type_array), 0);
	expect_string(event, "pmu", "cpu");
	expect_string(event, "role", "loads");
	cr_expect_eq(json_object_get_int(get(event, "type", json_type_int)), 4);
	expect_string(event, "config", "0x1cd");
	expect_string(event, "config1", "0x1e");
	expect_string(event, "config2", "0x0");
	cr_expect_eq(json_object_get_int(get(event, "precise_ip", json_type_int)), 2);
	expect_string(event, "cpus", "0-3");
	get(event, "leader", json_type_null);
	json_object_put(all);
}

Test(probe, a_leader_is_written_as_json)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *all, *event;

	tree_skylake(root);
	tree_pmu(root, "cpu", "events/mem-loads-aux", "event=0x03,umask=0x82\n");
	text = probe(true, PROBE_USABLE);
	all = json_tokener_parse(text);
	cr_assert_not_null(all, "%s", text);
	event = json_object_array_get_idx(get(all, "events", json_type_array), 0);
	expect_string(get(event, "leader", json_type_object), "config", "0x8203");
	json_object_put(all);
}

Test(probe, a_refusal_is_written_as_json)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *all, *refusal;

	tree_pmu(root, "arm_spe_0", "type", "9\n");
	text = probe(true, PROBE_UNUSABLE);
	all = json_tokener_parse(text);
	cr_assert_not_null(all, "%s", text);
	cr_expect_not(json_object_get_boolean(get(all, "usable", json_type_boolean)));
	cr_expect_eq(json_object_array_length(get(all, "events", json_type_array)), 0);
	cr_assert_gt(json_object_array_length(get(all, "refused", json_type_array)), 0);
	refusal = json_object_array_get_idx(get(all, "refused", json_type_array), 0);
	expect_string(refusal, "pmu", "arm_spe_0");
	expect_string(refusal, "role", "loads");
	cr_expect_not_null(strstr(json_object_get_string(get(refusal, "reason", json_type_string)), "AUX"));
	json_object_put(all);
}

Test(probe, cpus_that_are_not_known_are_absent)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *all, *event;

	tree_skylake(root);
	tree_write(root, "devices/system/cpu/online", "not a list\n");
	text = probe(true, PROBE_USABLE);
	all = json_tokener_parse(text);
	cr_assert_not_null(all, "%s", text);
	event = json_object_array_get_idx(get(all, "events", json_type_array), 0);
	cr_expect_not(json_object_object_get_ex(event, "cpus", NULL));
	json_object_put(all);
}

/* Arrow Lake-H has three kinds of cores, and pebsd samples at most 12 events at once. */
Test(probe, events_that_the_report_has_no_room_for_are_refused)
{
	const struct machine_core cores[] = {
		{.pmu = "cpu_atom",
		 .name = "meteorlake_hybrid",
		 .cpus = "2",
		 .loads = LOADS_ATOM,
		 .stores = STORES_ATOM},
		{.pmu = "cpu_core",
		 .name = "meteorlake_hybrid",
		 .cpus = "0-1",
		 .loads = LOADS_CORE,
		 .stores = STORES_CD},
		{.pmu = "cpu_lowpower",
		 .name = "meteorlake_hybrid",
		 .cpus = "3",
		 .loads = LOADS_ATOM,
		 .stores = STORES_ATOM},
	};
	const struct probe_request request = request_for(ROLE(LOADS));
	_cleanup_(probe_report_done) struct probe_report report = {0};

	machine_tree_hybrid(root, cores, ARRAY_SIZE(cores));
	cr_assert_eq(probe_plan(&request, &report), 0);
	cr_expect_eq(report.plan.n_specs, EVENTS_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(cores); i++)
		for (enum event_role role = 0; role < EVENT_ROLES; role++)
			cr_expect(role == EVENT_OFFCORE || machine_spec(&report.plan, cores[i].pmu, role) ||
					  machine_tree_refusal(&report.plan, cores[i].pmu, role),
				  "%s on %s", event_role_name(role), cores[i].pmu);
}

Test(probe, the_report_is_written_as_text)
{
	_cleanup_free_ char *good = NULL;
	_cleanup_free_ char *bad = NULL;

	tree_skylake(root);
	good = probe(false, PROBE_USABLE);
	cr_expect_not_null(strstr(good, "can sample memory accesses on the machine of this tree"), "%s",
			   good);
	cr_expect_not_null(strstr(good, "config 0x1cd, config1 0x1e"), "%s", good);
	cr_expect_not_null(strstr(good, "nothing was opened"), "%s", good);
	tree_remove(root);
	root = tree_new();
	tree_pmu(root, "arm_spe_0", "type", "10\n");
	bad = probe(false, PROBE_UNUSABLE);
	cr_expect_not_null(strstr(bad, "cannot sample memory accesses on the machine of this tree"), "%s",
			   bad);
	cr_expect_not_null(strstr(bad, " on PMU arm_spe_0: "), "%s", bad);
}

Test(probe, a_request_out_of_range_is_an_error)
{
	struct probe_request request = request_for(1U << EVENT_LOADS);

	request.events.ldlat = 1;
	cr_expect_eq(probe_run(&request, true, stderr), -EINVAL);
}

/*
 * Asks the real kernel. No machine has this type of PMU. Therefore the kernel refuses the event, and the
 * report lists the event among the refusals.
 */
Test(probe, an_event_that_the_kernel_refuses_is_listed_as_refused)
{
	_cleanup_(probe_report_done) struct probe_report report = {
		.asked = 1U << EVENT_LOADS,
		.plan = {.n_specs = 1, .n_counters = 1},
	};
	const struct pmu_plan *plan = &report.plan;

	report.plan.specs[0] = (struct event_spec){
		.event = {.role = EVENT_LOADS, .pmu = "cpu", .ldlat = 30, .period = 10007},
		.type = 0x7fffffff,
		.config = 0x1cd,
		.precise_ip = 2,
	};
	report.plan.counters[0] =
		(struct pmu_counter){.pmu = "cpu", .kind = OFFCORE_L3, .type = 0x7fffffff, .config = 0x1b7};
	cr_assert_eq(probe_try(&report), 0);
	cr_expect_eq(plan->n_specs, 0);
	cr_expect_eq(plan->n_counters, 0);
	cr_assert_eq(plan->n_refusals, 2);
	cr_expect_not_null(strstr(plan->refusals[0].reason, "cannot open loads on PMU cpu, CPU 0"), "%s",
			   plan->refusals[0].reason);
	cr_expect_not_null(strstr(plan->refusals[1].reason, "cannot open offcore on PMU cpu, CPU 0"), "%s",
			   plan->refusals[1].reason);
	cr_expect_not(probe_usable(&report));
}

/* A machine with an event of each kind, on CPUs 0 to 3. */
static const struct event_spec loads = {
	.event = {.role = EVENT_LOADS,
		  .pmu = "cpu",
		  .ldlat = 30,
		  .latency_kind = LATENCY_CACHE,
		  .period = 10007,
		  .settings = {.has_latency = 1,
			       .has_instruction_latency = 1,
			       .has_source = 1,
			       .has_address = 1,
			       .weight_struct = 1}},
	.type = 4,
	.config = 0x1cd,
	.config1 = 0x1e,
	.precise_ip = 2,
	.pinned = true,
	.exclude_guest = true,
	.has_leader = true,
	.leader_config = 0x8203,
	.cpus_known = true,
	.cpus = {{0xf}},
};

static const struct event_spec stores = {
	.event = {.role = EVENT_STORES,
		  .pmu = "cpu",
		  .period = 20011,
		  .settings = {.has_source = 1, .has_address = 1}},
	.type = 4,
	.config = 0x82d0,
	.precise_ip = 2,
	.cpus_known = true,
	.cpus = {{0xf}},
};

static const struct event_spec ibs_loads = {
	.event = {.role = EVENT_LOADS,
		  .pmu = "ibs_op",
		  .latency_kind = LATENCY_DC_MISS,
		  .period = 100003,
		  .settings = {.has_latency = 1, .has_source = 1, .has_address = 1, .operations = 2}},
	.type = 10,
	.config = 0x80000,
	.cpus_known = true,
	.cpus = {{0xf}},
};

static const struct event_spec instructions = {
	.event = {.role = EVENT_INSTRUCTIONS,
		  .pmu = "cpu",
		  .period = 1000003,
		  .settings = {.has_code_address = 1}},
	.type = 4,
	.config = 0x1c0,
	.precise_ip = 3,
	.cpus_known = true,
	.cpus = {{0xf}},
};

static const struct event_spec stalls = {
	.event = {.role = EVENT_STALLS, .pmu = "cpu", .period = 10000019, .count_kind = COUNT_STALLS_LOAD},
	.type = 4,
	.config = 0x140014a3,
	.exclude_guest = true,
	.cpus_known = true,
	.cpus = {{0xf}},
};

static struct probe_report report_of(const struct event_spec *first, const struct event_spec *second)
{
	struct probe_report report = {
		.asked = 1U << EVENT_LOADS,
		.cpus = 4,
		.measured = {.slots = 600, .page_size = 4096},
	};

	report.plan.specs[report.plan.n_specs++] = *first;
	if (second)
		report.plan.specs[report.plan.n_specs++] = *second;
	return report;
}

/* Returns the output as one line, without its wrapping. The caller frees it. */
static char *print(const struct probe_report *report, bool json)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	char *to;

	cr_assert_not_null(out);
	cr_assert_eq(json ? probe_print_json(report, out) : probe_print_text(report, out), 0);
	cr_assert_eq(fclose(out), 0);
	to = text;
	for (const char *from = text; *from; from++) {
		bool blank = *from == '\n' || *from == ' ';

		if (!blank)
			*to++ = *from;
		else if (to == text || to[-1] != ' ')
			*to++ = ' ';
	}
	*to = '\0';
	return text;
}

static void expect_text(const struct event_spec *spec, const char *words, const char *never)
{
	struct probe_report report = report_of(spec, NULL);
	_cleanup_free_ char *text = print(&report, false);

	cr_expect_not_null(strstr(text, words), "\"%s\" is not in: %s", words, text);
	if (never)
		cr_expect_null(strstr(text, never), "\"%s\" is in: %s", never, text);
}

Test(probe, descriptors_of_blocks_of_slots_are_named)
{
	struct probe_report report = report_of(&loads, NULL);
	_cleanup_free_ char *fixed = print(&report, false);
	_cleanup_free_ char *grows = NULL;

	cr_expect_not_null(strstr(fixed, "pebsd reserves 128 descriptors."), "%s", fixed);
	/* 600 slots are three blocks at the start: two besides the first, with up to four descriptors each. */
	report.slots_by_cgroups = true;
	grows = print(&report, false);
	cr_expect_not_null(
		strstr(grows,
		       "pebsd reserves 128 descriptors, and up to four more for each block of 256 slots after the first: up to 8 at the start, and up to 1,020 after slots were added."),
		"%s", grows);
}

Test(probe, each_role_has_its_remarks)
{
	expect_text(&loads, "more than 30 cycles of instruction latency (ldlat)", NULL);
	expect_text(&loads, "samples x period is not the number of loads", NULL);
	expect_text(&loads, "latency cache latency, and instruction latency", NULL);
	expect_text(&loads, "leader type 4, config 0x8203", NULL);
	expect_text(&loads, "one sample per 10,007 loads over the threshold", "not in `events`");
	expect_text(&stores,
		    "samples of stores; the event has no threshold period one sample per 20,011 stores",
		    "ldlat");
	expect_text(&stores, "latency none: the CPU reports where a store went", "leader type");
	expect_text(&stores, "fields ADDR, DATA_SRC samples", NULL);
	expect_text(&stores, "(not in `events` of [sampling])", NULL);
	expect_text(&ibs_loads, "DC miss latency, only for loads that missed L1", "ldlat");
	expect_text(
		&ibs_loads,
		"samples of operations of all kinds, one per period; of these pebsd counts the loads period",
		NULL);
	expect_text(&ibs_loads, "one sample per 100,003 operations of all kinds", "use latency");
	expect_text(&instructions,
		    "samples of retired instructions period one sample per 1,000,003 instructions", "ldlat");
	expect_text(&instructions, "precise_ip 3", "where a store went");
}

Test(probe, counting_events_describe_what_they_count)
{
	struct event_spec spec = stalls;

	expect_text(
		&spec,
		"samples of cycles in which nothing executes while a load is outstanding: an upper bound of what memory costs period one sample per 10,000,019 stalled cycles latency none",
		"not pinned: the event runs in turns");
	expect_text(&spec, "precise_ip 0, exclude_guest 1 counter not pinned: the event yields its counter",
		    NULL);
	expect_text(&spec, "fields none: a sample only says that a period has passed", "code address");
	spec.event.count_kind = COUNT_STALLS_L1_MISS;
	expect_text(&spec, "while a load that missed L1 is outstanding: an upper bound", NULL);
	spec.event.count_kind = COUNT_STALLS_RETIRE;
	expect_text(&spec, "nothing retires while the oldest operation waits", "upper bound");
	spec.event.role = EVENT_MISSES;
	spec.event.count_kind = COUNT_MISSES_L2;
	expect_text(&spec, "requests of the core that missed L2, the last level", "L3");
	spec.event.count_kind = COUNT_MISSES_L3;
	expect_text(&spec, "missed L3, the last level", "L2");
	spec.event.count_kind = COUNT_MISSES_FILLS;
	expect_text(&spec, "into the first level data cache, also by prefetches", NULL);
	spec.event.count_kind = COUNT_MISSES_DEMAND_FILLS;
	expect_text(&spec, "without those of hardware prefetches", NULL);
	spec.event.role = EVENT_CYCLES;
	spec.event.count_kind = COUNT_NONE;
	expect_text(&spec, "samples of cycles in which the CPU did not halt", NULL);
	spec.event.role = EVENT_INSTRUCTIONS;
	expect_text(&spec, "which are only counted: the samples have no code address", NULL);
}

/* A virtual machine without PEBS, as the whole plan sees it. */
Test(probe, a_machine_that_only_counts_is_usable_for_that)
{
	const struct machine_core guest = {.name = "generic_arch_v2+", .precise = "0", .no_offcore = true};
	struct probe_request request = {
		.sysfs_root = root,
		.events = {.ldlat = 30, .roles = ROLE(LOADS) | ROLE(INSTRUCTIONS) | COUNT_ROLES},
		.slots = 600};
	_cleanup_(probe_report_done) struct probe_report report;
	_cleanup_free_ char *all = NULL, *loads_alone = NULL, *json = NULL;

	machine_tree(root, &guest);
	cr_assert_eq(probe_plan(&request, &report), 0);
	cr_expect(probe_usable(&report));
	all = print(&report, false);
	cr_expect_not_null(
		strstr(all,
		       "pebsd can sample instructions, cycles and misses on the machine of this tree, but no memory accesses (see Refused). Configured events: loads, instructions, cycles, stalls, misses. Available according to this tree: instructions, cycles, misses."),
		"%s", all);
	cr_expect_not_null(strstr(all, "loads on PMU cpu: this kernel does not know the CPU model"), "%s",
			   all);
	cr_expect_not_null(strstr(all, "stalls on PMU cpu: this kernel does not know the CPU model"), "%s",
			   all);
	json = print(&report, true);
	cr_expect_not_null(strstr(json, "\"counts\":\"l3\""), "%s", json);
	probe_report_done(&report);

	free(all);
	request.events.roles = EVENT_ROLES_AUTO;
	request.events.automatic = true;
	cr_assert_eq(probe_plan(&request, &report), 0);
	cr_expect(probe_usable(&report));
	all = print(&report, false);
	cr_expect_not_null(
		strstr(all,
		       "Configured events: auto (loads, instructions, cycles, stalls, misses). Available "),
		"%s", all);
	probe_report_done(&report);

	request.events.automatic = false;
	request.events.roles = ROLE(LOADS);
	cr_assert_eq(probe_plan(&request, &report), 0);
	cr_expect_not(probe_usable(&report));
	loads_alone = print(&report, false);
	cr_expect_not_null(
		strstr(loads_alone,
		       "pebsd cannot use the configured events on the machine of this tree: loads. Available according to this tree: instructions, cycles, misses; set `events` in [sampling] to some of these."),
		"%s", loads_alone);
}

/* Each other event makes Sandy Bridge count instructions plainly. The note about that is needed once. */
Test(probe, a_note_for_several_roles_is_printed_once)
{
	const struct machine_core core = {.name = "sandybridge", .loads = LOADS_CORE, .stores = STORES_CD};
	const struct probe_request request = {
		.sysfs_root = root, .events = {.ldlat = 30, .roles = ROLE(INSTRUCTIONS)}, .slots = 600};
	_cleanup_(probe_report_done) struct probe_report report;
	size_t found = 0;

	machine_tree(root, &core);
	cr_assert_eq(probe_plan(&request, &report), 0);
	for (size_t i = 0; i < report.plan.n_notes; i++)
		found += strstr(report.plan.notes[i], "18.9.4.4") != NULL;
	cr_expect_eq(found, 1);
}

/* All cores of one kind of a hybrid CPU may be offline. */
Test(probe, a_pmu_without_an_online_cpu_is_reported)
{
	struct event_spec offline = loads;

	offline.cpus = (struct cpu_list){0};
	expect_text(&offline, "CPUs none: no online CPU of the PMU is among those that", "CPUs (0)");
}

Test(probe, lines_fit_the_terminal)
{
	_cleanup_(probe_report_done) struct probe_report report = report_of(&stores, &instructions);
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	report.cpus = 8192;
	report.measured.load_ns = 123456789012;
	report.measured.event_ns = 987654321;
	report.measured.event_bytes = 10000;
	for (int cpu = 0; cpu < 1000; cpu += 2)
		cpu_list_add(&report.plan.specs[0].cpus, cpu);
	cr_assert_eq(
		pmu_plan_refuse(
			&report.plan, "cpu", EVENT_INSTRUCTIONS,
			"a reason of many words, so many that no line of a terminal has room for them all, and so they have to continue in the next one"),
		0);
	cr_assert_eq(probe_print_text(&report, out), 0);
	cr_assert_eq(fclose(out), 0);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		cr_expect_leq(strlen(line), 100, "%s", line);
}

Test(probe, a_reason_of_several_roles_is_printed_once)
{
	_cleanup_(probe_report_done) struct probe_report report = report_of(&loads, NULL);
	_cleanup_free_ char *text = NULL;

	cr_assert_eq(pmu_plan_refuse(&report.plan, "cpu", EVENT_STORES, "too old"), 0);
	cr_assert_eq(pmu_plan_refuse(&report.plan, "cpu", EVENT_INSTRUCTIONS, "too old"), 0);
	cr_assert_eq(pmu_plan_refuse(&report.plan, "cpu", EVENT_OFFCORE, "too new"), 0);
	text = print(&report, false);
	cr_expect_not_null(
		strstr(text,
		       "Refused: stores, instructions on PMU cpu: too old. offcore on PMU cpu: too new."),
		"%s", text);
}

Test(probe, usable_depends_on_the_configured_events)
{
	struct probe_report report = report_of(&stores, NULL);
	_cleanup_free_ char *text = print(&report, false);

	cr_expect_not(probe_usable(&report));
	cr_expect_not_null(
		strstr(text,
		       "cannot use the configured events on the machine of this tree: loads. Available according to this tree: stores;"),
		"%s", text);
	report.asked = 1U << EVENT_STORES;
	cr_expect(probe_usable(&report));
}

Test(probe, off_core_counting_alone_is_usable)
{
	struct probe_report report = report_of(&stores, NULL);
	_cleanup_free_ char *beside = NULL, *alone = NULL;

	report.asked = 1U << EVENT_OFFCORE;
	cr_expect_not(probe_usable(&report));
	report.plan.n_counters = 1;
	report.plan.counters[0] = (struct pmu_counter){
		.pmu = "cpu", .kind = OFFCORE_L3, .config = 0x1b7, .cpus_known = true, .cpus = {{0xf}}};
	cr_expect(probe_usable(&report));
	beside = print(&report, false);
	cr_expect_not_null(
		strstr(beside,
		       "can count off-core responses on the machine of this tree. Configured events: offcore. Available according to this tree: stores, offcore."),
		"%s", beside);
	report.plan.n_specs = 0;
	cr_expect(probe_usable(&report));
	alone = print(&report, false);
	cr_expect_not_null(strstr(alone, "Available according to this tree: offcore."), "%s", alone);
	cr_expect_not_null(strstr(alone, "here: 4 configured 4 0 B "), "%s", alone);
	report.asked = 1U << EVENT_LOADS;
	cr_expect_not(probe_usable(&report));
}

Test(probe, json_has_events_that_are_not_requested)
{
	struct probe_report report = report_of(&loads, &stores);
	_cleanup_free_ char *text = NULL;
	struct json_object *all, *event, *counter;

	report.plan.n_counters = 1;
	report.plan.counters[0] = (struct pmu_counter){.pmu = "cpu",
						       .kind = OFFCORE_REMOTE_DRAM,
						       .type = 4,
						       .config = 0x1b7,
						       .config1 = 0x3fb8000001ULL,
						       .cpus_known = true,
						       .cpus = {{0xf}}};
	text = print(&report, true);
	all = json_tokener_parse(text);
	cr_assert_not_null(all, "%s", text);
	event = json_object_array_get_idx(get(all, "events", json_type_array), 0);
	cr_expect(json_object_get_boolean(get(event, "asked", json_type_boolean)));
	cr_expect_eq(json_object_get_int(get(event, "period", json_type_int)), 10007);
	cr_expect_eq(json_object_array_length(get(event, "sample_fields", json_type_array)), 3);
	event = json_object_array_get_idx(get(all, "events", json_type_array), 1);
	expect_string(event, "role", "stores");
	cr_expect_not(json_object_get_boolean(get(event, "asked", json_type_boolean)));
	cr_expect_not(json_object_object_get_ex(event, "ldlat", NULL), "a store has no threshold");
	cr_expect_not(json_object_object_get_ex(event, "latency_kind", NULL), "nor a latency");
	counter = json_object_array_get_idx(get(all, "counters", json_type_array), 0);
	expect_string(counter, "kind", "remote_dram");
	expect_string(counter, "config", "0x1b7");
	expect_string(counter, "config1", "0x3fb8000001");
	cr_expect_not(json_object_get_boolean(get(counter, "asked", json_type_boolean)));
	json_object_put(all);
}

Test(probe, the_cost_is_written_as_json)
{
	struct probe_report report = report_of(&loads, &stores);
	_cleanup_free_ char *text = print(&report, true);
	_cleanup_free_ char *measured = NULL;
	struct json_object *all = json_tokener_parse(text), *cost, *row;

	cr_assert_not_null(all, "%s", text);
	cost = get(all, "cost", json_type_object);
	get(cost, "measured", json_type_null);
	/*
	 * On each of four CPUs, loads take a descriptor for the event and one for its leader. Stores have no
	 * leader and are not requested.
	 */
	row = get(cost, "asked", json_type_object);
	cr_expect_eq(json_object_get_int(get(row, "descriptors", json_type_int)), 8);
	cr_expect_not(json_object_object_get_ex(row, "start_ns", NULL), "nobody measured it");
	row = get(cost, "all", json_type_object);
	cr_expect_eq(json_object_get_int(get(row, "descriptors", json_type_int)), 12);
	row = json_object_array_get_idx(get(cost, "table", json_type_array), 4);
	cr_expect_eq(json_object_get_int(get(row, "cpus", json_type_int)), 200);
	cr_expect_eq(json_object_get_int(get(row, "events", json_type_int)), 1);
	cr_expect_eq(json_object_get_int(get(row, "descriptors", json_type_int)), 400);
	json_object_put(all);

	report.measured.load_ns = 100000000;
	report.measured.event_ns = 50000;
	report.timed = 8;
	measured = print(&report, true);
	all = json_tokener_parse(measured);
	row = get(get(all, "cost", json_type_object), "all", json_type_object);
	cr_expect_eq(json_object_get_int64(get(row, "start_ns", json_type_int)), 100400000);
	json_object_put(all);
}

Test(probe, unrequested_roles_are_planned_too)
{
	const struct probe_request request = request_for(0);
	_cleanup_(probe_report_done) struct probe_report report = {0};

	tree_skylake(root);
	cr_assert_eq(probe_plan(&request, &report), 0);
	cr_assert_gt(report.plan.n_specs, 0);
	cr_expect_eq(report.plan.specs[0].event.role, EVENT_LOADS);
	cr_expect_not(probe_usable(&report));
	cr_expect_eq(report.cpus, 4);
	for (size_t i = 0; i < report.plan.n_notes; i++)
		for (size_t j = 0; j < i; j++)
			cr_expect_neq(strcmp(report.plan.notes[i], report.plan.notes[j]), 0, "told twice: %s",
				      report.plan.notes[i]);
}

Test(probe, notes_on_unrequested_roles_name_them)
{
	const struct probe_request request = request_for(0);
	_cleanup_(probe_report_done) struct probe_report report = {0};
	bool told = false;

	tree_skylake(root);
	tree_pmu(root, "cpu", "caps/pmu_name", "no name\n");
	cr_assert_eq(probe_plan(&request, &report), 0);
	for (size_t i = 0; i < report.plan.n_notes; i++)
		told = told || strncmp(report.plan.notes[i],
				       "with loads in `events`: cpu: the CPU generation is unknown", 58) == 0;
	cr_expect(told);
}
