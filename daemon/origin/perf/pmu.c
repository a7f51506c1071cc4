// SPDX-License-Identifier: GPL-2.0
#include "pmu.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "pmu_tree.h"

/* The manual's minimum for MSR_PEBS_LD_LAT_THRESHOLD, and the width of format/ldlat (config1:0-15). */
#define LDLAT_MIN 3
#define LDLAT_MAX 65535

/* A prime, so that no loop whose trip count divides it is always sampled at the same load. */
#define PERIOD_AUTO 10007

/* What the planning of one tree knows. */
struct planner {
	const struct pmu_tree *tree;
	const struct pmu_wish *wish;
	struct pmu_plan *plan;
};

enum pmu_class {
	PMU_OTHER, /* samples no memory access: uncore, tracing, software */
	PMU_CORE,
	PMU_HYBRID_CORE,
	PMU_AMD_IBS_OP,
	PMU_ARM_SPE,
	PMU_ARM_CORE,
};

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum pmu_class pmu_class_of(const char *name)
{
	if (strcmp(name, "cpu") == 0)
		return PMU_CORE;
	/* cpu_core, cpu_atom, cpu_lowpower: hybrid_big_small_tiny in arch/x86/events/intel/core.c. */
	if (has_prefix(name, "cpu_"))
		return PMU_HYBRID_CORE;
	if (strcmp(name, "ibs_op") == 0)
		return PMU_AMD_IBS_OP;
	if (has_prefix(name, "arm_spe_"))
		return PMU_ARM_SPE;
	if (has_prefix(name, "armv7_") || has_prefix(name, "armv8_") || has_prefix(name, "armv9_"))
		return PMU_ARM_CORE;
	return PMU_OTHER;
}

/* The PMU's own CPUs where it has a list of them, and those online as far as the tree tells. */
static void find_cpus(const struct planner *planner, const char *pmu, struct pmu_opening *opening)
{
	const struct pmu_tree *tree = planner->tree;
	_cleanup_free_ char *text = NULL;

	/* `cpus`: the members of a hybrid core PMU; `cpumask`: where any PMU wants its events opened. */
	opening->has_members = (pmu_tree_text(tree, pmu, "cpus", &text) >= 0 ||
				pmu_tree_text(tree, pmu, "cpumask", &text) >= 0) &&
			       cpu_list_parse(text, &opening->members) >= 0;
	opening->cpus_known = tree->online_known || opening->has_members;
	opening->cpus = tree->online_known ? tree->online : opening->members;
	if (tree->online_known && opening->has_members)
		cpu_list_keep(&opening->cpus, &opening->members);
}

/*
 * Up to Ice Lake the latency is the load's use latency. From Alder Lake and Sapphire Rapids on
 * (PMU_FL_INSTR_LATENCY in arch/x86/events/intel/core.c, Linux 6.1 to 7.3) it is the cache latency, and the
 * instruction latency comes beside it. sysfs does not tell directly, but the older names are a closed set and
 * every later one is of the new kind. No name: a kernel from before caps/, which knows no new part.
 */
static bool has_use_latency(const char *pmu_name)
{
	static const char *const names[] = {"nehalem", "westmere",  "sandybridge", "ivybridge",
					    "haswell", "broadwell", "skylake",     "icelake"};

	if (!pmu_name)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(pmu_name, names[i]) == 0)
			return true;
	return false;
}

/* On PEBS formats below 2 precise_ip 2 makes the kernel run the LBR to correct an IP that nobody reads
 * (x86_pmu_hw_config, arch/x86/events/core.c, Linux 6.1). */
static bool pays_for_exact_ip(const char *pmu_name)
{
	static const char *const names[] = {"nehalem", "westmere", "sandybridge", "ivybridge"};

	for (size_t i = 0; pmu_name && i < ARRAY_SIZE(names); i++)
		if (strcmp(pmu_name, names[i]) == 0)
			return true;
	return false;
}

/*
 * 2 and never 3: on Sapphire Rapids and Alder Lake 3 asks for counter 0, where load latency cannot run
 * (glc_get_event_constraints). caps/max_precise reads 0 on an idle machine without NMI watchdog: only opening
 * tells there.
 */
static u8 planned_precise_ip(const struct planner *planner, const char *pmu, const char *pmu_name)
{
	u32 max;

	if (pays_for_exact_ip(pmu_name))
		return 1;
	if (pmu_tree_number(planner->tree, pmu, "caps/max_precise", &max) == 0 && max == 1)
		return 1;
	return 2;
}

static int refuse_without_mem_loads(const struct planner *planner, const char *pmu, const char *pmu_name)
{
	struct pmu_plan *plan = planner->plan;
	u32 max_precise = 0;

	if (pmu_tree_has_pmu(planner->tree, "ibs_"))
		return pmu_plan_refuse(
			plan, pmu, EVENT_LOADS,
			"AMD's core counters tell neither latency nor source of an access; that "
			"is what the PMU ibs_op is for");
	if (!pmu_tree_has(planner->tree, pmu, "events"))
		return pmu_plan_refuse(
			plan, pmu, EVENT_LOADS,
			"the folder events/ of this PMU is not in the tree, so the tree does not tell "
			"whether loads can be sampled: a running kernel always has one. Copy the tree "
			"whole, or run pebsd --probe on the machine itself");
	if (pmu_tree_has(planner->tree, pmu, "format/ldlat"))
		return pmu_plan_refuse(plan, pmu, EVENT_LOADS,
				       "this CPU model has load latency sampling (format/ldlat is there), "
				       "but not PEBS, on which it "
				       "rests (events/mem-loads is missing): a virtual machine whose virtual "
				       "PMU has no PEBS, or "
				       "PEBS switched off by the kernel for old microcode. Run pebsd on the "
				       "host, give the guest "
				       "PEBS (KVM on Ice Lake servers and later: -cpu host,pmu=on), update "
				       "the microcode, or "
				       "look at recordings with pebsd --replay FILE");
	(void)pmu_tree_number(planner->tree, pmu, "caps/max_precise", &max_precise);
	if (pmu_name && has_prefix(pmu_name, "generic_arch"))
		return pmu_plan_refuse(
			plan, pmu, EVENT_LOADS,
			"this kernel does not know the CPU model (caps/pmu_name is %s) and offers no "
			"events/mem-loads for it. A newer kernel may",
			pmu_name);
	if (max_precise > 0)
		return pmu_plan_refuse(plan, pmu, EVENT_LOADS,
				       "its PEBS (caps/max_precise is %u%s%s) has no load latency event: "
				       "events/mem-loads is missing. "
				       "Goldmont, Tremont, Silvermont and Knights Landing record an address "
				       "but neither latency nor "
				       "source; on another CPU the kernel is older than the model, and a "
				       "newer one may know it",
				       max_precise, pmu_name ? ", caps/pmu_name " : "",
				       pmu_name ? pmu_name : "");
	return pmu_plan_refuse(plan, pmu, EVENT_LOADS,
			       "it has no events/mem-loads and no PEBS (caps/max_precise is 0 or missing): a "
			       "CPU that cannot "
			       "sample loads, one that this kernel does not know, or a virtual machine whose "
			       "virtual PMU has no "
			       "PEBS. Run pebsd on the host, give the guest PEBS, or look at recordings with "
			       "pebsd --replay FILE");
}

static int plan_leader(const struct planner *planner, const char *pmu, struct pmu_opening *opening)
{
	u64 configs[PMU_CONFIGS] = {0};
	char culprit[PMU_TERM_MAX];
	int r;

	/* Sapphire Rapids, Alder Lake: mem-loads alone is refused with ENODATA. The file decides, not the
	 * model: Granite Rapids and Arrow Lake do without (intel_pmu_hw_config, Linux 6.1, 7.3). */
	if (!pmu_tree_has(planner->tree, pmu, "events/mem-loads-aux"))
		return 0;
	r = pmu_tree_event(planner->tree, pmu, "events/mem-loads-aux", configs, culprit);
	if (r < 0)
		return r;
	opening->has_leader = true;
	opening->leader_config = configs[0];
	return 0;
}

static int refuse_event(const struct planner *planner, const char *pmu, const char *file, const char *culprit,
			int error)
{
	if (error == -ENOMEM)
		return error;
	return pmu_plan_refuse(planner->plan, pmu, EVENT_LOADS, "cannot make the event of %s: \"%s\": %s",
			       file, culprit,
			       error == -EINVAL   ? "not in the words that this version knows"
			       : error == -ERANGE ? "its value has more bits than its format"
			       : error == -ENOENT ? "the PMU's format/ folder does not have it"
						  : strerror(-error));
}

static int plan_loads(const struct planner *planner, const char *pmu)
{
	const struct pmu_wish *wish = planner->wish;
	struct pmu_plan *plan = planner->plan;
	const struct pmu_term ldlat = {.name = "ldlat", .value = wish->ldlat};
	_cleanup_free_ char *pmu_name = NULL;
	u64 configs[PMU_CONFIGS] = {0};
	struct pmu_opening opening = {0};
	char culprit[PMU_TERM_MAX];
	bool use_latency;
	int r;

	if (pmu_tree_text(planner->tree, pmu, "caps/pmu_name", &pmu_name) >= 0 &&
	    !pmu_tree_plain_name(pmu_name)) {
		free(pmu_name);
		pmu_name = NULL;
	}
	if (!pmu_tree_has(planner->tree, pmu, "events/mem-loads"))
		return refuse_without_mem_loads(planner, pmu, pmu_name);
	r = pmu_tree_number(planner->tree, pmu, "type", &opening.type);
	if (r < 0)
		return pmu_plan_refuse(plan, pmu, EVENT_LOADS, "cannot read its type number: %s",
				       strerror(-r));

	r = pmu_tree_event(planner->tree, pmu, "events/mem-loads", configs, culprit);
	if (r < 0)
		return refuse_event(planner, pmu, "events/mem-loads", culprit, r);
	/* In the place of the one in sysfs: 3 | 64 would be 67. */
	r = pmu_tree_place(planner->tree, pmu, &ldlat, configs);
	if (r < 0)
		return refuse_event(planner, pmu, "events/mem-loads", ldlat.name, r);
	r = plan_leader(planner, pmu, &opening);
	if (r < 0)
		return refuse_event(planner, pmu, "events/mem-loads-aux", "mem-loads-aux", r);
	if (configs[3])
		return pmu_plan_refuse(plan, pmu, EVENT_LOADS,
				       "events/mem-loads sets config3, which this version does not pass on");
	if (plan->n_openings == EVENTS_MAX)
		return pmu_plan_refuse(plan, pmu, EVENT_LOADS, "more than %d events at once", EVENTS_MAX);

	use_latency = !opening.has_leader && has_use_latency(pmu_name);
	opening.config = configs[0];
	opening.config1 = configs[1];
	opening.config2 = configs[2];
	opening.precise_ip = planned_precise_ip(planner, pmu, pmu_name);
	opening.pinned = true;
	opening.exclude_guest = true;
	opening.event = (struct event){
		.role = EVENT_LOADS,
		.ldlat = wish->ldlat,
		.latency_kind = use_latency ? LATENCY_USE : LATENCY_CACHE,
		.period = wish->period ? wish->period : PERIOD_AUTO,
		.settings = {.has_latency = 1,
			     .has_instruction_latency = !use_latency,
			     .has_source = 1,
			     .has_address = 1,
			     .weight_struct = 1},
	};
	(void)snprintf(opening.event.pmu, sizeof(opening.event.pmu), "%s", pmu);
	find_cpus(planner, pmu, &opening);
	plan->openings[plan->n_openings++] = opening;

	if (!pmu_name && !opening.has_leader) {
		r = pmu_plan_note(plan,
				  "%s: no caps/pmu_name tells the CPU's generation; its latency is taken for "
				  "use latency, as before Alder Lake and Sapphire Rapids",
				  pmu);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Returns 1 where the PMU is one that could be expected to sample loads, 0 where not. */
static int plan_pmu(const struct planner *planner, const char *name)
{
	int r = 0;

	switch (pmu_class_of(name)) {
	case PMU_OTHER:
		return 0;
	case PMU_CORE:
		r = plan_loads(planner, name);
		break;
	case PMU_HYBRID_CORE:
		r = pmu_plan_refuse(
			planner->plan, name, EVENT_LOADS,
			"one of several core PMUs of a hybrid CPU: these come with a later version. Look "
			"at recordings of this machine with pebsd --replay FILE");
		break;
	case PMU_AMD_IBS_OP:
		r = pmu_plan_refuse(
			planner->plan, name, EVENT_LOADS,
			"AMD's instruction based sampling comes with a later version. Look at recordings "
			"of this machine with pebsd --replay FILE");
		break;
	case PMU_ARM_SPE:
		r = pmu_plan_refuse(
			planner->plan, name, EVENT_LOADS,
			"the data of Arm's statistical profiling extension goes to the AUX buffer only; a "
			"BPF program attached to it never runs");
		break;
	case PMU_ARM_CORE:
		r = pmu_plan_refuse(planner->plan, name, EVENT_LOADS,
				    "Arm's core counters tell neither latency nor source of an access");
		break;
	}
	return r < 0 ? r : 1;
}

static int refuse_machine(const struct planner *planner, int error)
{
	struct pmu_plan *plan = planner->plan;

	if (error < 0)
		return pmu_plan_refuse(plan, "cpu", EVENT_LOADS,
				       "cannot read %s/bus/event_source/devices: %s. Either sysfs is not "
				       "mounted there, or the "
				       "kernel is built without CONFIG_PERF_EVENTS",
				       planner->tree->root, strerror(-error));
	return pmu_plan_refuse(plan, "cpu", EVENT_LOADS,
			       "there is no core PMU (no folder cpu in %s/bus/event_source/devices): a "
			       "virtual machine without a "
			       "virtual PMU, or a CPU that this kernel has no driver for. Give the guest a "
			       "virtual PMU with PEBS (KVM "
			       "on Ice Lake servers and later: -cpu host,pmu=on; in a cloud: a bare metal "
			       "instance), run pebsd on the "
			       "host, or look at recordings with pebsd --replay FILE",
			       planner->tree->root);
}

static int note_copy(const struct planner *planner)
{
	struct pmu_plan *plan = planner->plan;
	int r;

	for (size_t i = 0; i < plan->n_openings; i++) {
		const struct pmu_opening *opening = &plan->openings[i];

		if (opening->cpus_known)
			continue;
		r = pmu_plan_note(plan,
				  "%s: the tree does not tell which CPUs are online; the event is opened on "
				  "each that is",
				  opening->event.pmu);
		if (r < 0)
			return r;
	}
	return pmu_plan_note(
		plan,
		"read from %s in the place of /sys; nothing was opened. Only opening could tell whether "
		"the kernel takes these events, whether another user holds the counters, and what "
		"privileges are missing",
		planner->tree->root);
}

static int plan_tree(const struct planner *planner)
{
	const struct pmu_tree *tree = planner->tree;
	bool found = false;
	int r;

	for (size_t i = 0; i < tree->n_names; i++) {
		r = plan_pmu(planner, tree->names[i]);
		if (r < 0)
			return r;
		found = found || r > 0;
	}
	return found ? 0 : refuse_machine(planner, 0);
}

int pmu_plan(const char *sysfs_root, const struct pmu_wish *wish, struct pmu_plan *ret)
{
	struct pmu_plan plan = {0};
	struct pmu_tree tree = {0};
	const struct planner planner = {.tree = &tree, .wish = wish, .plan = &plan};
	int r = 0;

	if (wish->ldlat < LDLAT_MIN || wish->ldlat > LDLAT_MAX || wish->period > SAMPLE_WEIGHED_PERIOD_MAX)
		return -EINVAL;
	if (wish->roles & 1U << EVENT_LOADS) {
		r = pmu_tree_open(sysfs_root, &tree);
		if (r >= 0)
			r = plan_tree(&planner);
		else if (r != -ENOMEM)
			r = refuse_machine(&planner, r);
	}
	if (r >= 0 && strcmp(sysfs_root, "/sys") != 0)
		r = note_copy(&planner);
	pmu_tree_close(&tree);
	if (r < 0) {
		pmu_plan_done(&plan);
		return r;
	}
	*ret = plan;
	return 0;
}
