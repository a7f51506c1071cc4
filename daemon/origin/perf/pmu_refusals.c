// SPDX-License-Identifier: GPL-2.0
/* What cannot be sampled from this tree, why, and what the reader can do. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "pmu_planner.h"

int pmu_refuse_all(const struct planner *planner, const char *pmu, const char *reason)
{
	for (enum event_role role = 0; role < EVENT_ROLES; role++) {
		int r = 0;

		if (planner_wants(planner, role))
			r = pmu_plan_refuse(planner->plan, pmu, role, "%s", reason);
		if (r < 0)
			return r;
	}
	return 0;
}

int pmu_refuse_core(const struct planner *planner, const struct pmu_core *core, enum event_role role)
{
	struct pmu_plan *plan = planner->plan;
	const char *pmu = core->pmu;
	u32 max_precise = 0;

	if (pmu_tree_has_pmu(planner->tree, "ibs_"))
		return pmu_plan_refuse(plan, pmu, role,
				       "AMD's core counters tell neither latency nor source of an access; "
				       "that is what the PMU ibs_op is for");
	if (!pmu_tree_has(planner->tree, pmu, "events"))
		return pmu_plan_refuse(
			plan, pmu, role,
			"the folder events/ of this PMU is not in the tree, so the tree does not tell "
			"whether %s can be sampled: a running kernel always has one. Copy the tree whole, "
			"or run pebsd --probe on the machine itself",
			event_role_name(role));
	if (role == EVENT_STORES && core->quirk->no_stores)
		return pmu_plan_refuse(
			plan, pmu, role,
			"this CPU (caps/pmu_name is %s) has no event that samples stores with their "
			"addresses; they begin with Sandy Bridge. Sample loads here",
			core->name);
	if (pmu_tree_has(planner->tree, pmu, "format/ldlat"))
		return pmu_plan_refuse(
			plan, pmu, role,
			"this CPU model has load latency sampling (format/ldlat is there), but not PEBS, on "
			"which it rests (events/mem-%s is missing): a virtual machine whose virtual PMU has "
			"no PEBS, or PEBS switched off by the kernel for old microcode. Run pebsd on the "
			"host, give the guest PEBS (KVM on Ice Lake servers and later: -cpu host,pmu=on), "
			"update the microcode, or look at recordings with pebsd --replay FILE",
			event_role_name(role));
	(void)pmu_tree_number(planner->tree, pmu, "caps/max_precise", &max_precise);
	if (core->name && strncmp(core->name, "generic_arch", strlen("generic_arch")) == 0)
		return pmu_plan_refuse(
			plan, pmu, role,
			"this kernel does not know the CPU model (caps/pmu_name is %s) and offers no "
			"events/mem-%s for it. A newer kernel may",
			core->name, event_role_name(role));
	if (max_precise > 0)
		return pmu_plan_refuse(
			plan, pmu, role,
			"its PEBS (caps/max_precise is %u%s%s) has no %s latency event: events/mem-%s is "
			"missing. Goldmont, Tremont, Silvermont and Knights Landing record an address but "
			"neither latency nor source; on another CPU the kernel is older than the model, and "
			"a newer one may know it",
			max_precise, core->name ? ", caps/pmu_name " : "", core->name ? core->name : "",
			role == EVENT_LOADS ? "load" : "store", event_role_name(role));
	return pmu_plan_refuse(
		plan, pmu, role,
		"it has no events/mem-%s and no PEBS (caps/max_precise is 0 or missing): a CPU that cannot "
		"sample %s, one that this kernel does not know, or a virtual machine whose virtual PMU has "
		"no PEBS. Run pebsd on the host, give the guest PEBS, or look at recordings with pebsd "
		"--replay FILE",
		event_role_name(role), event_role_name(role));
}

int pmu_refuse_machine(const struct planner *planner, int error)
{
	_cleanup_free_ char *reason = NULL;
	int n;

	if (error < 0)
		n = asprintf(&reason,
			     "cannot read %s/bus/event_source/devices: %s. Either sysfs is not mounted "
			     "there, or the kernel is built without CONFIG_PERF_EVENTS",
			     planner->tree->root, strerror(-error));
	else
		n = asprintf(
			&reason,
			"there is no core PMU (no folder cpu in %s/bus/event_source/devices): a virtual "
			"machine without a virtual PMU, or a CPU that this kernel has no driver for. Give "
			"the guest a virtual PMU with PEBS (KVM on Ice Lake servers and later: -cpu "
			"host,pmu=on; in a cloud: a bare metal instance), run pebsd on the host, or look at "
			"recordings with pebsd --replay FILE",
			planner->tree->root);
	if (n < 0) {
		reason = NULL;
		return -ENOMEM;
	}
	return pmu_refuse_all(planner, "cpu", reason);
}
