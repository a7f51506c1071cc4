// SPDX-License-Identifier: GPL-2.0
/* opener_allowed() allows everything that pebsd opens on a machine, and nothing else. */
#include <criterion/criterion.h>

#include <errno.h>

#include "base/cleanup.h"
#include "machine_tree.h"
#include "opener/opener_plans.h"
#include "origin/pmu/perf_attr.h"
#include "tree.h"
#include "zoom/zoom_attr.h"

static char *root;
static struct pmu_plan plan;

static void plan_for(u32 ldlat)
{
	const struct pmu_request request = {.roles = OPENER_ROLES, .ldlat = ldlat};

	pmu_plan_done(&plan);
	cr_assert_eq(pmu_plan(root, &request, &plan), 0);
}

static void plan_machine(const struct machine_core *core)
{
	tree_remove(root);
	root = tree_new();
	machine_tree(root, core);
	plan_for(30);
}

static const struct machine_core skylake = {.name = "skylake", .loads = LOADS_CORE, .stores = STORES_ALL};
static const struct machine_core sapphire_rapids = {
	.name = "sapphire_rapids", .loads = LOADS_CORE, .stores = STORES_CD, .auxiliary = LOADS_AUXILIARY};

static void setup(void)
{
	root = tree_new();
	plan_machine(&skylake);
}

static void teardown(void)
{
	pmu_plan_done(&plan);
	tree_remove(root);
}

TestSuite(opener_allowed, .init = setup, .fini = teardown);

static struct opener_request on_cpu(void)
{
	return (struct opener_request){.target = OPENER_CPU, .cpu = 1, .thread = -1};
}

static struct opener_request on_cgroup(void)
{
	return (struct opener_request){.target = OPENER_CGROUP, .cpu = 1, .thread = -1};
}

static struct opener_request loads(void)
{
	struct opener_request request = on_cpu();
	const struct event_spec *spec = machine_spec(&plan, "cpu", EVENT_LOADS);

	cr_assert_not_null(spec);
	perf_attr(spec, 10007, &request.attr);
	return request;
}

static bool is_allowed(const struct opener_request *request)
{
	char reason[OPENER_REASON_MAX];
	int r = opener_allowed(&plan, request, reason);

	cr_expect_eq(r == 0, reason[0] == '\0', "%d %s", r, reason);
	for (const char *c = reason; *c; c++)
		cr_expect(*c >= ' ' && *c <= '~');
	return r == 0;
}

/* Expects that every form is allowed in which pebsd may open this event after one of `errors` from the kernel. */
static void expect_relaxed(const struct event_spec *planned)
{
	static const int errors[] = {-ENODATA, -EINVAL, -EOPNOTSUPP};

	for (size_t first = 0; first < ARRAY_SIZE(errors); first++) {
		struct event_spec spec = *planned;
		unsigned ways = 0;

		do {
			struct opener_request request = on_cpu();

			if (spec.has_leader) {
				perf_attr_leader(&spec, &request.attr);
				cr_expect(is_allowed(&request), "%s's leader",
					  event_role_name(planned->event.role));
				request.has_group = true;
			}
			perf_attr(&spec, (u64)10007 * 16, &request.attr);
			cr_expect(is_allowed(&request), "%s on %s, way %u of %zu",
				  event_role_name(planned->event.role), planned->event.pmu, ways, first);
			/* The same event for the thread that calibrates. */
			request.target = OPENER_THREAD;
			request.cpu = -1;
			request.thread = 4711;
			request.attr.pinned = !spec.has_leader;
			cr_expect(is_allowed(&request), "calibrated: %s",
				  event_role_name(planned->event.role));
		} while (++ways < 8 && perf_attr_relax(planned, ways == 1 ? errors[first] : -EINVAL, &spec));
	}
}

static void expect_zooms(const struct event_spec *spec)
{
	struct zoom_ways ways = {.lbr = true, .physical = true, .build_ids = true};

	do
		for (int tells = 0; tells < 2; tells++) {
			struct opener_request request = on_cgroup();

			if (spec->has_leader) {
				zoom_attr_leader(spec, &request.attr);
				cr_expect(is_allowed(&request), "a zoom's leader");
				request.has_group = true;
			}
			zoom_attr(spec, &ways, tells, &request.attr);
			cr_expect(is_allowed(&request), "a zoom of %s", event_role_name(spec->event.role));
		}
	while (zoom_attr_weaken(-EINVAL, &ways));
}

static void expect_all(void)
{
	for (size_t i = 0; i < plan.n_specs; i++) {
		expect_relaxed(&plan.specs[i]);
		if (!event_is_count(&plan.specs[i].event))
			expect_zooms(&plan.specs[i]);
	}
	for (size_t i = 0; i < plan.n_counters; i++) {
		struct opener_request request = on_cpu();

		perf_attr_counter(&plan.counters[i], &request.attr);
		cr_expect(is_allowed(&request), "counter %zu", i);
	}
}

Test(opener_allowed, all_events_of_pebsd_are_allowed)
{
	struct opener_request trial = on_cpu();

	cr_assert_geq(plan.n_specs, 3);
	cr_assert_gt(plan.n_counters, 0);
	expect_all();
	plan_machine(&sapphire_rapids);
	cr_assert(machine_spec(&plan, "cpu", EVENT_LOADS)->has_leader);
	expect_all();
	tree_remove(root);
	root = tree_new();
	machine_tree_amd(root, true);
	plan_for(128);
	cr_assert_gt(plan.n_specs, 0);
	expect_all();
	perf_attr_permission(&trial.attr);
	cr_expect(is_allowed(&trial));
}

Test(opener_allowed, any_ldlat_is_checked_with_its_own_plan)
{
	struct opener_request request = loads();

	request.attr.config1 = 200;
	cr_expect(!is_allowed(&request), "the plan is for 30");
	cr_expect_eq(opener_ldlat(&request.attr), 200);
	plan_for(200);
	cr_expect(is_allowed(&request));
	request.attr.config1 = 0x10000 | 200;
	cr_expect_eq(opener_ldlat(&request.attr), 200);
	cr_expect(!is_allowed(&request), "a bit that is not the threshold's");
	request.attr.config1 = 2;
	cr_expect_eq(opener_ldlat(&request.attr), 0);
}

#define REFUSED(member, value)                                                         \
	do {                                                                           \
		struct opener_request request = loads();                               \
		cr_assert(is_allowed(&request));                                       \
		request.attr.member = (value);                                         \
		cr_expect(!is_allowed(&request), #member " = " #value);                \
		request.target = OPENER_CGROUP;                                        \
		cr_expect(!is_allowed(&request), #member " = " #value " of a cgroup"); \
	} while (0)

Test(opener_allowed, other_events_are_refused)
{
	REFUSED(type, PERF_TYPE_TRACEPOINT);
	REFUSED(type, PERF_TYPE_BREAKPOINT);
	REFUSED(type, PERF_TYPE_HARDWARE);
	REFUSED(type, PERF_TYPE_SOFTWARE);
	REFUSED(type, 6);
	REFUSED(config, 0xc0);
	REFUSED(config, 0x1cd | 1ULL << 63);
	REFUSED(config2, 1);
	REFUSED(sample_type, PERF_SAMPLE_RAW);
	REFUSED(sample_type,
		PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_TID);
	REFUSED(sample_type, PERF_SAMPLE_REGS_INTR);
	REFUSED(sample_regs_intr, 1);
	REFUSED(sample_regs_user, 1);
	REFUSED(sample_stack_user, 4096);
	REFUSED(branch_sample_type, PERF_SAMPLE_BRANCH_ANY);
	REFUSED(branch_sample_type, PERF_SAMPLE_BRANCH_KERNEL);
	REFUSED(read_format, PERF_FORMAT_GROUP);
	REFUSED(inherit, 1);
	REFUSED(inherit_stat, 1);
	REFUSED(enable_on_exec, 1);
	REFUSED(disabled, 0);
	REFUSED(freq, 1);
	REFUSED(watermark, 1);
	REFUSED(exclude_kernel, 1);
	REFUSED(exclude_user, 1);
	REFUSED(exclude_guest, 0);
	REFUSED(mmap_data, 1);
	REFUSED(context_switch, 1);
	REFUSED(namespaces, 1);
	REFUSED(ksymbol, 1);
	REFUSED(bpf_event, 1);
	REFUSED(aux_output, 1);
	REFUSED(cgroup, 1);
	REFUSED(text_poke, 1);
	REFUSED(sigtrap, 1);
	REFUSED(remove_on_exec, 1);
	REFUSED(write_backward, 1);
	REFUSED(precise_ip, 0);
	REFUSED(precise_ip, 3);
	REFUSED(wakeup_events, 0);
	REFUSED(bp_type, 1);
	REFUSED(clockid, 0);
	REFUSED(aux_watermark, 1);
	REFUSED(sample_max_stack, 1);
	REFUSED(aux_sample_size, 1);
	REFUSED(sig_data, 1);
	REFUSED(sample_period, 0);
	REFUSED(sample_period, 1ULL << 63);
}

/* An event for a whole CPU must not record call chains, and a counter must not be for a cgroup. */
Test(opener_allowed, events_are_allowed_only_with_their_target)
{
	const struct event_spec *spec = machine_spec(&plan, "cpu", EVENT_LOADS);
	struct opener_request request = on_cpu();

	zoom_attr(spec, &(struct zoom_ways){0}, true, &request.attr);
	cr_expect(!is_allowed(&request), "a zoom of a whole CPU");
	request = on_cgroup();
	perf_attr_counter(&plan.counters[0], &request.attr);
	cr_expect(!is_allowed(&request), "a counter of a cgroup");
	request = loads();
	request.has_group = true;
	cr_expect(!is_allowed(&request), "in a group, which it needs none of here");
	request = on_cpu();
	perf_attr_permission(&request.attr);
	request.attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	cr_expect(!is_allowed(&request));
}

Test(opener_allowed, refusals_have_a_reason)
{
	struct opener_request request = loads();
	char reason[OPENER_REASON_MAX];

	request.attr.type = PERF_TYPE_TRACEPOINT;
	cr_expect_eq(opener_allowed(&plan, &request, reason), -EACCES);
	cr_expect_str_eq(reason, "pebsd opens no event of a PMU of type 2 (tracepoint) on this machine");
	request = loads();
	request.attr.sample_regs_user = 1;
	cr_expect_eq(opener_allowed(&plan, &request, reason), -EACCES);
	cr_expect_str_eq(
		reason,
		"type 4, config 0x1cd is not an event that pebsd opens on this machine: the closest one differs in sample_regs_user");
	pmu_plan_done(&plan);
	cr_expect_eq(opener_allowed(&plan, &request, reason), -EACCES);
	cr_expect_str_eq(reason, "pebsd opens no event of this kind on this machine");
}

/* Requests of events that only count are compared in every byte, too. */
Test(opener_allowed, counts_only_as_pebsd_opens_them)
{
	static const enum event_role roles[] = {EVENT_CYCLES, EVENT_STALLS, EVENT_MISSES};

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		const struct event_spec *spec = machine_spec(&plan, "cpu", roles[i]);
		const char *name = event_role_name(roles[i]);
		struct opener_request ours = on_cpu(), request;

		cr_assert_not_null(spec, "%s", name);
		perf_attr(spec, 20000003, &ours.attr);
		cr_expect(is_allowed(&ours), "%s", name);
		request = ours;
		request.attr.precise_ip = 1;
		cr_expect_not(is_allowed(&request), "%s", name);
		request = ours;
		request.attr.exclude_guest = 0;
		cr_expect_not(is_allowed(&request), "%s", name);
		request = ours;
		request.attr.sample_type = PERF_SAMPLE_ADDR;
		cr_expect_not(is_allowed(&request), "%s", name);
		request = ours;
		request.attr.config |= 1U << 23; /* inverts the comparison with cmask */
		cr_expect_not(is_allowed(&request), "%s", name);
		request = ours;
		request.has_group = true;
		cr_expect_not(is_allowed(&request), "%s", name);
		request = on_cgroup();
		zoom_attr(spec, &(const struct zoom_ways){0}, false, &request.attr);
		cr_expect_not(is_allowed(&request), "a zoom of %s", name);
	}
}

/* Without PEBS, the kernel refuses a precise event, and pebsd opens a plain one. */
Test(opener_allowed, instructions_without_pebs_are_allowed)
{
	static const struct machine_core goldmont = {.name = "goldmont", .precise = "0"};
	struct opener_request request = on_cpu();
	struct event_spec spec;

	plan_machine(&goldmont);
	cr_assert_not_null(machine_spec(&plan, "cpu", EVENT_INSTRUCTIONS));
	expect_relaxed(machine_spec(&plan, "cpu", EVENT_INSTRUCTIONS));
	spec = *machine_spec(&plan, "cpu", EVENT_INSTRUCTIONS);
	perf_attr_only_count(&spec);
	perf_attr(&spec, 10000019, &request.attr);
	cr_expect(is_allowed(&request));
	request.attr.exclude_guest = 0;
	cr_expect_not(is_allowed(&request));
}

/* An event that one configuration excludes may be part of another one. */
Test(opener_allowed, events_of_any_configuration_are_allowed)
{
	static const struct machine_core cores[] = {
		{.name = "nehalem", .loads = LOADS_NEHALEM, .precise = "1"},
		{.name = "sandybridge", .loads = LOADS_CORE, .stores = STORES_CD, .precise = "2"},
		{.name = "haswell", .loads = LOADS_CORE, .stores = STORES_ALL},
		{.name = "skylake", .loads = LOADS_CORE, .stores = STORES_ALL},
		{.name = "sapphire_rapids",
		 .loads = LOADS_CORE,
		 .stores = STORES_CD,
		 .auxiliary = LOADS_AUXILIARY},
		{.name = "grandridge", .loads = LOADS_ATOM, .stores = STORES_ATOM},
		{0}, /* AMD */
	};
	_cleanup_(opener_plans_done) struct opener_plans plans = {0};
	unsigned excluded = 0;

	for (size_t i = 0; i < ARRAY_SIZE(cores); i++) {
		tree_remove(root);
		root = tree_new();
		if (cores[i].name)
			machine_tree(root, &cores[i]);
		else
			machine_tree_amd(root, true);
		cr_assert_eq(opener_plans_make(&plans, root, 30), 0);
		/* 0 stands for `events = auto`. */
		for (unsigned roles = 0; roles <= OPENER_ROLES; roles++) {
			if (roles)
				machine_plan(root, roles, &plan);
			else
				machine_plan_auto(root, &plan);
			for (size_t j = 0; j < plan.n_specs; j++) {
				struct opener_request request = on_cpu();
				char reason[OPENER_REASON_MAX];

				request.has_group = plan.specs[j].has_leader;
				perf_attr(&plan.specs[j], (u64)10007 * 16, &request.attr);
				excluded += opener_allowed(&plans.plans[0], &request, reason) < 0;
				cr_expect_eq(opener_plans_allow(&plans, &request, reason), 0,
					     "%s, events %#x: %s: %s", cores[i].name ? cores[i].name : "AMD",
					     roles, event_role_name(plan.specs[j].event.role), reason);
				cr_expect_eq(reason[0], '\0');
			}
			for (size_t j = 0; j < plan.n_counters; j++) {
				struct opener_request request = on_cpu();
				char reason[OPENER_REASON_MAX];

				perf_attr_counter(&plan.counters[j], &request.attr);
				cr_expect_eq(opener_plans_allow(&plans, &request, reason), 0,
					     "%s, events %#x: %s", cores[i].name ? cores[i].name : "AMD",
					     roles, reason);
			}
		}
	}
	cr_expect_gt(excluded, 0, "one plan has all of them");
}
