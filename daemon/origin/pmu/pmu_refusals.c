// SPDX-License-Identifier: GPL-2.0
/* Explains what cannot be sampled from this tree, why, and what the reader can do. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_planner.h"

int pmu_refuse_roles(const struct planner *planner, const char *pmu, unsigned roles, const char *reason)
{
	for (enum event_role role = 0; role < EVENT_ROLES; role++) {
		int r = 0;

		if (planner_wants(planner, role) && (roles & 1U << role))
			r = pmu_plan_refuse(planner->plan, pmu, role, "%s", reason);
		if (r < 0)
			return r;
	}
	return 0;
}

int pmu_refuse_all(const struct planner *planner, const char *pmu, const char *reason)
{
	return pmu_refuse_roles(planner, pmu, ~0U, reason);
}

int pmu_refuse_type(const struct planner *planner, const char *pmu, unsigned roles, int error)
{
	_cleanup_free_ char *reason = NULL;

	if (asprintf(
		    &reason,
		    "cannot read this PMU's type number from its file `type` in sysfs: %s; copy the whole tree, or run pebsd --probe on the machine itself",
		    strerror(-error)) < 0) {
		reason = NULL;
		return -ENOMEM;
	}
	return pmu_refuse_roles(planner, pmu, roles, reason);
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
 * Zhaoxin's format/ folder lacks the pin control (pc, arch/x86/events/zhaoxin/core.c), which the formats of
 * intel/core.c have.
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
	const char *fault = "AMD's core counters report neither latency nor source of an access";

	if (pmu_tree_has_pmu(planner->tree, "ibs_op"))
		return pmu_plan_refuse(plan, pmu, role, "%s; the PMU ibs_op does", fault);
	return pmu_plan_refuse(
		plan, pmu, role,
		"%s, and there is no PMU ibs_op: the CPU is older than family 10h, this is a virtual "
		"machine, or the firmware switched off instruction based sampling; look for IBS in the "
		"firmware settings, run pebsd on the host, or look at recordings with pebsd --replay FILE",
		fault);
}

static bool is_netburst(const struct planner *planner, const struct pmu_core *core)
{
	return pmu_tree_has(planner->tree, core->pmu, "format/cccr");
}

bool pmu_core_fault(const struct planner *planner, const struct pmu_core *core)
{
	return is_netburst(planner, core) || is_zhaoxin(planner, core);
}

static bool is_count(enum event_role role)
{
	return role == EVENT_CYCLES || role == EVENT_STALLS || role == EVENT_MISSES;
}

/*
 * Returns the reason why a core that is recognized by its name or its formats can never support the role, or
 * NULL if it is not recognized.
 */
static const char *fault_of_core(const struct planner *planner, const struct pmu_core *core,
				 enum event_role role)
{
	const bool memory = role == EVENT_LOADS || role == EVENT_STORES;

	if (is_netburst(planner, core))
		return is_count(role)
			       ? "this is NetBurst (format/cccr), whose events are selected in another way, "
				 "which this version of pebsd does not support"
			       : "this is NetBurst (format/cccr), and the kernel's driver does not sample with its "
				 "PEBS: neither address nor latency nor source is available";
	if (is_zhaoxin(planner, core))
		return is_count(role)
			       ? "this is a Zhaoxin CPU, judging by its formats (format/pc is missing), and this version of "
				 "pebsd does not know its events"
			       : "this is a Zhaoxin CPU, judging by its formats (format/pc is missing), and its counters "
				 "cannot sample precisely: neither address nor latency nor source is available";
	if (!memory || !core->name || !pmu_quirk_known(core->name))
		return NULL;
	if (core->quirk->records == PMU_RECORDS_REGISTERS)
		return "its PEBS records registers, but neither address nor latency nor source";
	if (core->quirk->records == PMU_RECORDS_ADDRESS)
		return "its PEBS records the address of an access, but neither latency nor source, and "
		       "pebsd does not sample loads or stores by addresses alone";
	if (role == EVENT_STORES && core->quirk->no_stores)
		return "it has no event that samples stores with their addresses (Sandy Bridge is the "
		       "first CPU that has one); sample loads here";
	return NULL;
}

/* Returns the thing that the tree lacks for the role, as part of a sentence. */
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
	case EVENT_CYCLES:
	case EVENT_STALLS:
	case EVENT_MISSES:
	case EVENT_ROLES:
		break;
	}
	return "caps/max_precise is 0 or missing, and events/mem-loads is missing";
}

/*
 * caps/max_precise may be 0 on an idle machine that has PEBS (may_have_pebs()). So 0 does not tell a virtual machine
 * without PEBS from a CPU that is newer than the kernel.
 */
static int refuse_unknown_model(const struct planner *planner, const struct pmu_core *core,
				enum event_role role)
{
	u32 max_precise = 0;

	(void)pmu_tree_number(planner->tree, core->pmu, "caps/max_precise", &max_precise);
	if (max_precise > 0 || role == EVENT_OFFCORE)
		return pmu_plan_refuse(
			planner->plan, core->pmu, role,
			"this kernel does not know the CPU model (caps/pmu_name is %s): %s; try a newer kernel",
			core->name, need_of(role));
	return pmu_plan_refuse(
		planner->plan, core->pmu, role,
		"this kernel does not know the CPU model (caps/pmu_name is %s), and shows no PEBS (%s): this is a virtual machine whose virtual PMU has no PEBS, or the kernel is older than the CPU model; run pebsd on the host, give the guest PEBS (KVM on Ice Lake servers and later: -cpu host,pmu=on), try a newer kernel, or look at recordings with pebsd --replay FILE",
		core->name, need_of(role));
}

int pmu_refuse_copy(const struct planner *planner, const char *pmu, enum event_role role)
{
	return pmu_plan_refuse(
		planner->plan, pmu, role,
		"the sysfs tree lacks the directory events/ of this PMU, which a running kernel always has, so it does not say whether the PMU supports %s; copy the whole tree, or run pebsd --probe on the machine itself",
		event_role_name(role));
}

/* perf_stall.h says why the kernel drops these records, and planner_mark_collisions() which. */
int pmu_refuse_colliding(const struct planner *planner, const struct pmu_core *core)
{
	return pmu_refuse_roles(
		planner, core->pmu, EVENT_ROLES_AUTO & ~(1U << EVENT_LOADS),
		"events = auto samples only loads on this CPU (before Skylake): the kernel drops the record of a load if the interrupt of another event comes just before it, so counts cost samples of loads; to count anyway, name the events in `events` of [sampling], after `loads`");
}

int pmu_refuse_core(const struct planner *planner, const struct pmu_core *core, enum event_role role)
{
	struct pmu_plan *plan = planner->plan;
	const char *name = core->name ? core->name : "missing";
	const char *fault, *pmu = core->pmu;
	u32 max_precise = 0;

	if (pmu_is_amd(planner, pmu))
		return refuse_amd(planner, pmu, role);
	if (!pmu_tree_has(planner->tree, pmu, "events"))
		return pmu_refuse_copy(planner, pmu, role);
	fault = fault_of_core(planner, core, role);
	if (fault)
		return pmu_plan_refuse(
			plan, pmu, role,
			"caps/pmu_name is %s: %s; look at recordings of other machines with pebsd "
			"--replay FILE",
			name, fault);
	if (core->name && strncmp(core->name, "generic_arch", strlen("generic_arch")) == 0)
		return refuse_unknown_model(planner, core, role);
	if (pmu_tree_has(planner->tree, pmu, "format/ldlat"))
		return pmu_plan_refuse(
			plan, pmu, role,
			"this CPU model has load latency sampling (format/ldlat exists), but no PEBS, "
			"which %s need (%s): this is a virtual machine whose virtual PMU has no PEBS, or "
			"the kernel switched PEBS off because the microcode is too old; run pebsd on the "
			"host, give the guest PEBS (KVM on Ice Lake servers and later: -cpu host,pmu=on), "
			"update the microcode, or look at recordings with pebsd --replay FILE",
			event_role_name(role), need_of(role));
	(void)pmu_tree_number(planner->tree, pmu, "caps/max_precise", &max_precise);
	if (max_precise > 0)
		return pmu_plan_refuse(
			plan, pmu, role,
			"it has PEBS (caps/max_precise is %u), but no event for %s (%s, caps/pmu_name is "
			"%s): the kernel is older than the CPU model; try a newer kernel",
			max_precise, event_role_name(role), need_of(role), name);
	return pmu_plan_refuse(
		plan, pmu, role,
		"it has no PEBS (%s): the CPU cannot sample %s, this kernel does not know the CPU, or "
		"this is a virtual machine whose virtual PMU has no PEBS; run pebsd on the host, give the "
		"guest PEBS, or look at recordings with pebsd --replay FILE",
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
		n = asprintf(&reason, "cannot read %.*s/bus/event_source/devices: %s; %s", length, root,
			     strerror(-error),
			     strncmp(root, "/sys", (size_t)length) == 0 && length == 4
				     ? "mount sysfs on /sys, or run a kernel built with CONFIG_PERF_EVENTS"
				     : "give --sysfs-root a copy of /sys that contains this directory");
	else
		n = asprintf(
			&reason,
			"there is no core PMU (no directory cpu in %.*s/bus/event_source/devices): this "
			"is a virtual machine without a virtual PMU, or the kernel has no driver for this "
			"CPU; give the guest a virtual PMU with PEBS (KVM on Ice Lake servers and later: "
			"-cpu host,pmu=on; in a cloud: a bare metal instance), run pebsd on the host, or "
			"look at recordings with pebsd --replay FILE",
			length, root);
	if (n < 0) {
		reason = NULL;
		return -ENOMEM;
	}
	return pmu_refuse_all(planner, "cpu", reason);
}
