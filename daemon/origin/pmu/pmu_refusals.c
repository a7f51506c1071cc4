// SPDX-License-Identifier: GPL-2.0
/* Explains what cannot be sampled from this tree, why, and what the reader can do. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_planner.h"

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

/* Only AMD's cores have a split event field (arch/x86/events/amd/core.c, Linux 6.1). */
bool pmu_is_amd(const struct planner *planner, const char *pmu)
{
	_cleanup_free_ char *text = NULL;

	return pmu_tree_has_pmu(planner->tree, "ibs_") ||
	       (pmu_tree_text(planner->tree, pmu, "format/event", &text) >= 0 &&
		strstr(text, ",32-35") != NULL);
}

/*
 * Zhaoxin's format/ folder lacks the pin control, which all of Intel's have (arch/x86/events/zhaoxin/core.c).
 */
static bool is_zhaoxin(const struct planner *planner, const struct pmu_core *core)
{
	return !core->name && pmu_tree_has(planner->tree, core->pmu, "format/event") &&
	       pmu_tree_has(planner->tree, core->pmu, "format/cmask") &&
	       !pmu_tree_has(planner->tree, core->pmu, "format/pc");
}

static int refuse_amd(const struct planner *planner, const char *pmu, enum event_role role)
{
	struct pmu_plan *plan = planner->plan;
	const char *fault = role == EVENT_INSTRUCTIONS
				    ? "AMD's core counters sample no instruction precisely"
				    : "AMD's core counters tell neither latency nor source of an access";

	if (pmu_tree_has_pmu(planner->tree, "ibs_op"))
		return pmu_plan_refuse(plan, pmu, role, "%s; %s", fault,
				       role == EVENT_INSTRUCTIONS
					       ? "ibs_op counts operations: set events without instructions"
					       : "that is what the PMU ibs_op is for");
	return pmu_plan_refuse(
		plan, pmu, role,
		"%s, and there is no PMU ibs_op: a CPU from before family 10h, a virtual machine, "
		"or instruction based sampling switched off by the firmware. Look for IBS in the "
		"firmware's settings, run pebsd on the host, or look at recordings with pebsd "
		"--replay FILE",
		fault);
}

/*
 * Returns why a core that is recognized by its name or its formats can never support the role, or NULL if it
 * is not recognized.
 */
static const char *fault_of_core(const struct planner *planner, const struct pmu_core *core,
				 enum event_role role)
{
	const bool memory = role == EVENT_LOADS || role == EVENT_STORES;

	if (pmu_tree_has(planner->tree, core->pmu, "format/cccr"))
		return "this is NetBurst (format/cccr), whose PEBS the kernel's driver does not sample with: "
		       "neither address nor latency nor source are to be had";
	if (is_zhaoxin(planner, core))
		return "its formats are those of Zhaoxin (format/pc is missing), whose counters sample "
		       "nothing "
		       "precisely: neither address nor latency nor source are to be had";
	if (!memory || !core->name || !pmu_quirk_known(core->name))
		return NULL;
	if (core->quirk->records == PMU_RECORDS_REGISTERS)
		return "its PEBS records registers, neither address nor latency nor source";
	if (core->quirk->records == PMU_RECORDS_ADDRESS)
		return "its PEBS records an address, but neither latency nor source of the access, and an "
		       "event that only has addresses is not sampled as loads or stores";
	if (role == EVENT_STORES && core->quirk->no_stores)
		return "it has no event that samples stores with their addresses; they begin with Sandy "
		       "Bridge. Sample loads here";
	return NULL;
}

/* Returns what the tree lacks for the role, as part of a sentence. */
static const char *need_of(enum event_role role)
{
	switch (role) {
	case EVENT_LOADS:
		return "events/mem-loads is missing";
	case EVENT_STORES:
		return "events/mem-stores is missing";
	case EVENT_OFFCORE:
		return "format/offcore_rsp is missing";
	case EVENT_INSTRUCTIONS:
	case EVENT_ROLES:
		break;
	}
	return "caps/max_precise is 0 or missing, and so is events/mem-loads";
}

int pmu_refuse_core(const struct planner *planner, const struct pmu_core *core, enum event_role role)
{
	struct pmu_plan *plan = planner->plan;
	const char *name = core->name ? core->name : "not told";
	const char *fault, *pmu = core->pmu;
	u32 max_precise = 0;

	if (pmu_is_amd(planner, pmu))
		return refuse_amd(planner, pmu, role);
	if (!pmu_tree_has(planner->tree, pmu, "events"))
		return pmu_plan_refuse(
			plan, pmu, role,
			"the folder events/ of this PMU is not in the tree, so the tree does not tell "
			"whether %s can be had: a running kernel always has one. Copy the tree whole, or run "
			"pebsd --probe on the machine itself",
			event_role_name(role));
	fault = fault_of_core(planner, core, role);
	if (fault)
		return pmu_plan_refuse(
			plan, pmu, role,
			"caps/pmu_name is %s: %s. Look at recordings of other machines with pebsd "
			"--replay FILE",
			name, fault);
	if (core->name && strncmp(core->name, "generic_arch", strlen("generic_arch")) == 0)
		return pmu_plan_refuse(
			plan, pmu, role,
			"this kernel does not know the CPU model (caps/pmu_name is %s): %s. A newer "
			"kernel may",
			core->name, need_of(role));
	if (pmu_tree_has(planner->tree, pmu, "format/ldlat"))
		return pmu_plan_refuse(
			plan, pmu, role,
			"this CPU model has load latency sampling (format/ldlat is there), but not PEBS, on "
			"which %s rest (%s): a virtual machine whose virtual PMU has no PEBS, or PEBS "
			"switched off by the kernel for old microcode. Run pebsd on the host, give the guest "
			"PEBS (KVM on Ice Lake servers and later: -cpu host,pmu=on), update the microcode, "
			"or "
			"look at recordings with pebsd --replay FILE",
			event_role_name(role), need_of(role));
	(void)pmu_tree_number(planner->tree, pmu, "caps/max_precise", &max_precise);
	if (max_precise > 0)
		return pmu_plan_refuse(
			plan, pmu, role,
			"it has PEBS (caps/max_precise is %u), but no event for %s (%s, caps/pmu_name "
			"is %s): the kernel is older than the CPU model, and a newer one may know it",
			max_precise, event_role_name(role), need_of(role), name);
	return pmu_plan_refuse(
		plan, pmu, role,
		"it has no PEBS (%s): a CPU that cannot sample %s, one that this kernel does not "
		"know, or a virtual machine whose virtual PMU has no PEBS. Run pebsd on the host, "
		"give the guest PEBS, or look at recordings with pebsd --replay FILE",
		need_of(role), event_role_name(role));
}

int pmu_refuse_machine(const struct planner *planner, int error)
{
	const char *root = planner->tree->root;
	_cleanup_free_ char *reason = NULL;
	int length = (int)strlen(root);
	int n;

	while (length > 1 && root[length - 1] == '/')
		length--;
	if (error < 0)
		n = asprintf(&reason,
			     "cannot read %.*s/bus/event_source/devices: %s. Either sysfs is not mounted "
			     "there, or the kernel is built without CONFIG_PERF_EVENTS",
			     length, root, strerror(-error));
	else
		n = asprintf(
			&reason,
			"there is no core PMU (no folder cpu in %.*s/bus/event_source/devices): a virtual "
			"machine without a virtual PMU, or a CPU that this kernel has no driver for. Give "
			"the guest a virtual PMU with PEBS (KVM on Ice Lake servers and later: -cpu "
			"host,pmu=on; in a cloud: a bare metal instance), run pebsd on the host, or look at "
			"recordings with pebsd --replay FILE",
			length, root);
	if (n < 0) {
		reason = NULL;
		return -ENOMEM;
	}
	return pmu_refuse_all(planner, "cpu", reason);
}
