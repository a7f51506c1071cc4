// SPDX-License-Identifier: GPL-2.0
/*
 * Plans the events of a core PMU that only count: cycles, stalls, misses, and instructions without PEBS. They have
 * no PEBS record, so they need no PEBS. They are not pinned: other users of the counters take precedence, and if
 * there are too few counters, the kernel runs these events in turns.
 *
 * pmu_intel.c, pmu_quirks.c and pmu_amd.c have the events.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_amd.h"
#include "origin/pmu/pmu_intel.h"
#include "origin/pmu/pmu_planner.h"

/*
 * Primes, so that no loop runs in step with a period. USUAL_PERIOD is that of cycles, stalls and instructions: at
 * 4 GHz, each CPU that is never idle yields 400 samples of cycles a second.
 */
#define USUAL_PERIOD  10000019
#define MISSES_PERIOD 50021

/*
 * Returns true if the tree describes the caches of the core's first CPU, and none of them is of level 3. The kernel
 * numbers the caches of a CPU in ascending order of levels: L1 data, L1 instructions, L2, L3.
 */
static bool has_no_l3(const struct planner *planner, const struct pmu_core *core)
{
	struct event_spec spec = {0};
	char file[64];
	int cpu;

	planner_cpus(planner, core->pmu, &spec);
	cpu = cpu_list_next(&spec.cpus, -1);
	(void)snprintf(file, sizeof(file), "devices/system/cpu/cpu%d/cache/index2", cpu < 0 ? 0 : cpu);
	if (!pmu_tree_has_root(planner->tree, file))
		return false;
	(void)snprintf(file, sizeof(file), "devices/system/cpu/cpu%d/cache/index3", cpu < 0 ? 0 : cpu);
	return !pmu_tree_has_root(planner->tree, file);
}

/*
 * Intel's CPUs say which architectural events they lack (CPUID 0AH, EBX), and hypervisors pass that on or add to it.
 * The kernel then leaves the file out (intel_arch_events_quirk() in arch/x86/events/intel/core.c, is_visible() in
 * arch/x86/events/core.c, Linux 6.12). Such an event would count nothing. A copied tree may have neither file.
 */
static bool lacks_misses(const struct planner *planner, const struct pmu_core *core)
{
	return pmu_tree_has(planner->tree, core->pmu, "events/cpu-cycles") &&
	       !pmu_tree_has(planner->tree, core->pmu, "events/cache-misses");
}

static int refuse_stalls(const struct planner *planner, const struct pmu_core *core)
{
	struct pmu_plan *plan = planner->plan;

	if (!core->name)
		return pmu_plan_refuse(
			plan, core->pmu, EVENT_STALLS,
			"the CPU generation is unknown (caps/pmu_name is missing), and the event of stalls differs by generation; leave `stalls` out of `events`, or run a kernel from 4.14 on");
	if (strncmp(core->name, "generic_arch", strlen("generic_arch")) == 0)
		return pmu_plan_refuse(
			plan, core->pmu, EVENT_STALLS,
			"this kernel does not know the CPU model (caps/pmu_name is %s), and the event of stalls differs by model; leave `stalls` out of `events`, or try a newer kernel",
			core->name);
	if (pmu_quirk_known(core->name))
		return pmu_plan_refuse(
			plan, core->pmu, EVENT_STALLS,
			"caps/pmu_name is %s: this CPU has no event of cycles in which it waits for loads; leave `stalls` out of `events`",
			core->name);
	return pmu_plan_refuse(
		plan, core->pmu, EVENT_STALLS,
		"this version of pebsd does not know the event of stalls on this CPU (caps/pmu_name is %s); leave `stalls` out of `events`, or try a newer pebsd",
		core->name);
}

/* Finds the event of a role on an Intel core. Returns 1, 0 if the role was refused, or -ENOMEM. */
static int find_intel(const struct planner *planner, const struct pmu_core *core, enum event_role role,
		      struct pmu_count_event *ret)
{
	*ret = pmu_intel_count(core->quirk, role);
	if (role == EVENT_STALLS && ret->kind == COUNT_NONE)
		return refuse_stalls(planner, core);
	if (role != EVENT_MISSES)
		return 1;
	if (has_no_l3(planner, core))
		ret->kind = COUNT_MISSES_L2;
	if (lacks_misses(planner, core))
		return pmu_plan_refuse(
			planner->plan, core->pmu, role,
			"the CPU cannot count cache misses according to CPUID (events/cache-misses is missing), or the hypervisor of this virtual machine hides them; leave `misses` out of `events`");
	return 1;
}

/* Refuses stalls or misses on a CPU of AMD that is known to have no such event, or that is not known. */
static int refuse_amd_count(const struct planner *planner, const struct pmu_core *core, enum event_role role,
			    const struct pmu_cpu *cpu)
{
	const char *first = role == EVENT_STALLS ? "Zen 4" : "Zen 2";

	return pmu_plan_refuse(
		planner->plan, core->pmu, role,
		"this version of pebsd knows no event of %s for this CPU (vendor %u, family %xh, model %xh according to devices/system/cpu/modalias): AMD's CPUs have one from %s on; leave `%s` out of `events`",
		event_role_name(role), cpu->vendor, cpu->family, cpu->model, first, event_role_name(role));
}

/* Like find_intel(), for a core of AMD. */
static int find_amd(const struct planner *planner, const struct pmu_core *core, enum event_role role,
		    struct pmu_count_event *ret)
{
	_cleanup_free_ char *modalias = NULL;
	struct pmu_cpu cpu;
	int r;

	*ret = (struct pmu_count_event){0};
	if (role != EVENT_STALLS && role != EVENT_MISSES) {
		*ret = pmu_amd_count(&(struct pmu_cpu){0}, role);
		return 1;
	}
	r = pmu_tree_root_text(planner->tree, "devices/system/cpu/modalias", &modalias);
	if (r >= 0)
		r = pmu_cpu_parse(modalias, &cpu);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return pmu_plan_refuse(
			planner->plan, core->pmu, role,
			"the event of %s differs by CPU family, and the sysfs tree does not say which family this is (devices/system/cpu/modalias: %s); copy the whole tree, or run pebsd --probe on the machine itself",
			event_role_name(role), r == -EINVAL ? "not the text of an x86 CPU" : strerror(-r));
	*ret = pmu_amd_count(&cpu, role);
	return ret->kind == COUNT_NONE ? refuse_amd_count(planner, core, role, &cpu) : 1;
}

static int plan_event(const struct planner *planner, const struct pmu_core *core, enum event_role role,
		      const struct pmu_count_event *event)
{
	const struct pmu_term terms[] = {{.name = "event", .value = event->event},
					 {.name = "umask", .value = event->umask},
					 {.name = "cmask", .value = event->cmask}};
	struct event_spec spec;
	int r;

	planner_spec(planner, core->pmu, core->type, role, &spec);
	r = planner_place(planner, core->pmu, role, event_role_name(role), terms, event->cmask ? 3 : 2,
			  &spec);
	if (r <= 0)
		return r;
	spec.pinned = false;
	spec.only_counter = event->only_counter;
	spec.event.count_kind = event->kind;
	if (core->quirk->smallest_period)
		spec.period_min = core->quirk->smallest_period;
	r = planner_period(planner, role == EVENT_MISSES ? MISSES_PERIOD : USUAL_PERIOD, &spec);
	return r < 0 ? r : pmu_plan_add(planner->plan, &spec);
}

int pmu_plan_count(const struct planner *planner, const struct pmu_core *core, enum event_role role)
{
	const bool amd = pmu_is_amd(planner, core->pmu);
	struct pmu_count_event event;
	int r;

	if (!pmu_tree_has(planner->tree, core->pmu, "events"))
		return pmu_refuse_copy(planner, core->pmu, role);
	if (!amd && pmu_core_fault(planner, core))
		return pmu_refuse_core(planner, core, role);
	r = amd ? find_amd(planner, core, role, &event) : find_intel(planner, core, role, &event);
	return r <= 0 ? r : plan_event(planner, core, role, &event);
}
