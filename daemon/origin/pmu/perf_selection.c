// SPDX-License-Identifier: GPL-2.0
#include "origin/pmu/perf_selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

static void add_file(const char *sysfs_root, const char *name, struct cpu_list *list)
{
	_cleanup_free_ char *path = NULL;
	struct cpu_list read;

	if (asprintf(&path, "%s/devices/system/cpu/%s", sysfs_root, name) < 0)
		path = NULL;
	if (path && cpu_list_read(path, &read) == 0)
		cpu_list_add_all(list, &read);
}

struct cpu_list perf_selection_isolated(const char *sysfs_root)
{
	struct cpu_list list = {0};

	add_file(sysfs_root, "isolated", &list);
	add_file(sysfs_root, "nohz_full", &list);
	return list;
}

static bool is_empty(const struct cpu_list *list)
{
	return cpu_list_next(list, -1) < 0;
}

static void select_from(const struct perf_selection *selection, struct cpu_list *cpus)
{
	if (!is_empty(&selection->named))
		cpu_list_keep(cpus, &selection->named);
	cpu_list_drop(cpus, &selection->isolated);
}

static struct cpu_list all_cpus(void)
{
	struct cpu_list all = {0};

	for (int cpu = 0; cpu < CPU_LIST_MAX; cpu++)
		cpu_list_add(&all, cpu);
	return all;
}

static void apply(const struct perf_selection *selection, bool *has_members, struct cpu_list *members,
		  struct pmu_members_source *source, struct cpu_list *cpus)
{
	struct cpu_list selected = all_cpus();

	if (is_empty(&selection->named) && is_empty(&selection->isolated))
		return;
	select_from(selection, &selected);
	source->unselected = all_cpus();
	cpu_list_drop(&source->unselected, &selected);
	if (!*has_members)
		*members = selected;
	*has_members = true;
	cpu_list_keep(members, &selected);
	cpu_list_keep(cpus, &selected);
}

void perf_selection_apply(const struct perf_selection *selection, struct event_spec *spec)
{
	apply(selection, &spec->has_members, &spec->members, &spec->members_source, &spec->cpus);
}

void perf_selection_apply_counter(const struct perf_selection *selection, struct pmu_counter *counter)
{
	apply(selection, &counter->has_members, &counter->members, &counter->members_source, &counter->cpus);
}

void perf_selection_update_members(const struct pmu_members_source *source, struct cpu_list *members)
{
	struct cpu_list now;

	if (!source->path[0] || cpu_list_read(source->path, &now) < 0)
		return;
	cpu_list_drop(&now, &source->unselected);
	cpu_list_add_all(members, &now);
}

int perf_selection_check(const struct perf_selection *selection, const struct cpu_list *online,
			 char **ret_message)
{
	_cleanup_free_ char *named = cpu_list_format(&selection->named);
	_cleanup_free_ char *all = cpu_list_format(online);
	struct cpu_list cpus = *online;
	int length;

	*ret_message = NULL;
	select_from(selection, &cpus);
	if (!is_empty(&cpus))
		return 0;
	if (!named || !all)
		return -ENOMEM;
	cpus = *online;
	cpu_list_keep(&cpus, &selection->named);
	if (!is_empty(&selection->named) && is_empty(&cpus))
		length = asprintf(ret_message,
				  "cpus = %s in [sampling]: none of these CPUs is online; the online CPUs "
				  "are %s; name some of them, or set cpus = all",
				  named, all);
	else
		length = asprintf(ret_message,
				  "isolated = no in [sampling]: every online CPU%s%s is isolated "
				  "(isolcpus, nohz_full), so no CPU is left to sample; set isolated = "
				  "yes%s",
				  *named ? " of cpus = " : "", named,
				  *named ? ", or name other CPUs in cpus" : "");
	if (length < 0) {
		*ret_message = NULL;
		return -ENOMEM;
	}
	return -ENODEV;
}

static const char *plural(const struct cpu_list *list)
{
	return cpu_list_count(list) == 1 ? "" : "s";
}

char *perf_selection_note(const struct perf_selection *selection)
{
	_cleanup_free_ char *named = cpu_list_format(&selection->named);
	_cleanup_free_ char *isolated = cpu_list_format(&selection->isolated);
	const char *isolated_s = plural(&selection->isolated);
	char *text;
	int length;

	if (!named || !isolated || (!*named && !*isolated))
		return NULL;
	if (!*named)
		length = asprintf(
			&text,
			"isolated CPUs are not sampled (isolated = no in [sampling]): nothing that runs on CPU%s %s is counted",
			isolated_s, isolated);
	else
		length = asprintf(
			&text,
			"pebsd samples only CPU%s %s (cpus in [sampling])%s%s%s%s%s: nothing that runs on other CPUs is counted",
			plural(&selection->named), named, *isolated ? ", except the isolated CPU" : "",
			*isolated ? isolated_s : "", *isolated ? " " : "", isolated,
			*isolated ? " (isolated = no)" : "");
	return length < 0 ? NULL : text;
}
