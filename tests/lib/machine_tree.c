// SPDX-License-Identifier: GPL-2.0
#include "machine_tree.h"

#include <limits.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "tree.h"

static void write_line(const char *root, const char *pmu, const char *file, const char *text)
{
	_cleanup_free_ char *line = NULL;

	if (!text)
		return;
	cr_assert_geq(asprintf(&line, "%s\n", text), 0);
	tree_pmu(root, pmu, file, line);
}

void machine_tree(const char *root, const struct machine_core *core)
{
	const char *pmu = core->pmu ? core->pmu : "cpu";

	tree_write(root, "devices/system/cpu/online", "0-3\n");
	tree_write(root, "devices/system/node/node0/cpulist", "0-3\n");
	write_line(root, pmu, "type", core->type ? core->type : "4");
	write_line(root, pmu, "format/event", "config:0-7");
	write_line(root, pmu, "format/umask", "config:8-15");
	write_line(root, pmu, "format/edge", "config:18");
	write_line(root, pmu, "format/pc", "config:19");
	write_line(root, pmu, "format/inv", "config:23");
	write_line(root, pmu, "format/cmask", "config:24-31");
	write_line(root, pmu, "format/ldlat", core->loads && !core->no_ldlat ? "config1:0-15" : NULL);
	write_line(root, pmu, "format/offcore_rsp", core->no_offcore ? NULL : "config1:0-63");
	write_line(root, pmu, "events/instructions", "event=0xc0");
	write_line(root, pmu, "events/cpu-cycles", "event=0x3c");
	write_line(root, pmu, "events/cache-misses", "event=0x2e,umask=0x41");
	write_line(root, pmu, "events/mem-loads", core->loads);
	write_line(root, pmu, "events/mem-stores", core->stores);
	write_line(root, pmu, "events/mem-loads-aux", core->auxiliary);
	write_line(root, pmu, "caps/pmu_name", core->name);
	write_line(root, pmu, "caps/max_precise", core->precise ? core->precise : "3");
	write_line(root, pmu, "cpus", core->cpus);
}

/*
 * The kernel has one string "A;B;C" for all core PMUs. It copies the part of one PMU into a zeroed page, but
 * returns the length from that part on: snprintf() returns the length that the text would have without
 * truncation. The string of an event that only one PMU has is copied whole.
 */
static void write_hybrid_event(const char *root, const char *pmu, const char *file, const char *const texts[],
			       size_t n)
{
	char path[PATH_MAX], page[4096] = {0};
	size_t length = 0;

	if (!texts[0])
		return;
	(void)snprintf(page, sizeof(page), "%s", texts[0]);
	for (size_t i = 0; i < n; i++)
		if (texts[i])
			length += (length ? 1 : 0) + strlen(texts[i]);
	cr_assert_lt(length, sizeof(page));
	cr_assert_lt(snprintf(path, sizeof(path), "bus/event_source/devices/%s/%s", pmu, file), PATH_MAX);
	tree_write_bytes(root, path, page, length);
}

void machine_tree_hybrid(const char *root, const struct machine_core *cores, size_t n)
{
	const char *loads[8], *stores[8];

	cr_assert_leq(n, ARRAY_SIZE(loads));
	for (size_t i = 0; i < n; i++) {
		loads[i] = cores[i].loads;
		stores[i] = cores[i].stores;
	}
	for (size_t i = 0; i < n; i++) {
		machine_tree(root, &cores[i]);
		write_hybrid_event(root, cores[i].pmu, "events/mem-loads", loads + i, n - i);
		write_hybrid_event(root, cores[i].pmu, "events/mem-stores", stores + i, n - i);
	}
}

void machine_tree_amd(const char *root, bool ldlat)
{
	tree_write(root, "devices/system/cpu/online", "0-3\n");
	tree_pmu(root, "cpu", "type", "4\n");
	tree_pmu(root, "cpu", "format/event", "config:0-7,32-35\n");
	tree_pmu(root, "cpu", "format/umask", "config:8-15\n");
	tree_pmu(root, "cpu", "format/cmask", "config:24-31\n");
	tree_pmu(root, "cpu", "events/instructions", "event=0xc0\n");
	tree_pmu(root, "cpu", "events/cpu-cycles", "event=0x76\n");
	tree_pmu(root, "cpu", "caps/max_precise", "0\n");
	tree_pmu(root, "ibs_op", "type", "11\n");
	tree_pmu(root, "ibs_op", "format/cnt_ctl", "config:19\n");
	tree_pmu(root, "ibs_op", "format/l3missonly", "config:16\n");
	if (ldlat) {
		tree_pmu(root, "ibs_op", "format/ldlat", "config1:0-11\n");
		tree_pmu(root, "ibs_op", "caps/ldlat", "1\n");
	}
}

void machine_tree_two_nodes(const char *root)
{
	tree_write(root, "devices/system/node/node0/cpulist", "0-1\n");
	tree_write(root, "devices/system/node/node1/cpulist", "2-3\n");
}

void machine_plan(const char *root, unsigned roles, struct pmu_plan *plan)
{
	const struct pmu_request request = {.ldlat = 30, .roles = roles};

	pmu_plan_done(plan);
	cr_assert_eq(pmu_plan(root, &request, plan), 0);
}

void machine_plan_auto(const char *root, struct pmu_plan *plan)
{
	const struct pmu_request request = {.ldlat = 30, .roles = EVENT_ROLES_AUTO, .automatic = true};

	pmu_plan_done(plan);
	cr_assert_eq(pmu_plan(root, &request, plan), 0);
}

const struct event_spec *machine_spec(const struct pmu_plan *plan, const char *pmu, enum event_role role)
{
	for (size_t i = 0; i < plan->n_specs; i++)
		if (plan->specs[i].event.role == role && strcmp(plan->specs[i].event.pmu, pmu) == 0)
			return &plan->specs[i];
	return NULL;
}

const char *machine_tree_refusal(const struct pmu_plan *plan, const char *pmu, enum event_role role)
{
	for (size_t i = 0; i < plan->n_refusals; i++)
		if (plan->refusals[i].role == role && strcmp(plan->refusals[i].pmu, pmu) == 0)
			return plan->refusals[i].reason;
	return NULL;
}

const struct pmu_counter *machine_counter(const struct pmu_plan *plan, const char *pmu,
					  enum offcore_kind kind)
{
	for (size_t i = 0; i < plan->n_counters; i++)
		if (plan->counters[i].kind == kind && strcmp(plan->counters[i].pmu, pmu) == 0)
			return &plan->counters[i];
	return NULL;
}

const char *machine_note(const struct pmu_plan *plan, const char *words)
{
	for (size_t i = 0; i < plan->n_notes; i++)
		if (strstr(plan->notes[i], words))
			return plan->notes[i];
	return NULL;
}
