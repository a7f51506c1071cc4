// SPDX-License-Identifier: GPL-2.0
/*
 * Finds a machine's caches and cores in sysfs (Documentation/ABI/testing/sysfs-devices-system-cpu). All CPUs
 * that share a cache or core have the same list of sharers. So one CPU's list is enough, and this CPU's
 * number becomes the number of the cache or core.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>

#include "base/number.h"
#include "base/text_file.h"
#include "kernel/stripes.h"
#include "machine/cpu_list.h"

/* Limit for the caches of a CPU. Indexes end at the first one that is missing. */
#define CACHES_MAX 16

/* Stands for unknown: no CPU has this number. */
#define NOT_KNOWN UINT32_MAX

/*
 * Reads a file below `sysfs`/devices/system/cpu. `*ret` is NULL if it cannot be read. Returns 0 or -ENOMEM.
 */
__attribute__((format(printf, 3, 4))) static int read_file(const char *sysfs, char **ret, const char *format,
							   ...)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_free_ char *path = NULL;
	va_list arguments;
	int r;

	*ret = NULL;
	va_start(arguments, format);
	r = vasprintf(&name, format, arguments);
	va_end(arguments);
	if (r < 0) {
		name = NULL;
		return -ENOMEM;
	}
	if (asprintf(&path, "%s/devices/system/cpu/%s", sysfs, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	r = text_file_read(path, ret);
	return r == -ENOMEM ? r : 0;
}

/*
 * Parses a list of sharing CPUs. Returns false if the list is invalid or does not contain `cpu`; `*ret` then
 * has `cpu` alone.
 */
static bool sharers(const char *text, u32 cpu, struct cpu_list *ret)
{
	if (text && cpu_list_parse(text, ret) == 0 && cpu_list_has(ret, (int)cpu))
		return true;
	*ret = (struct cpu_list){0};
	cpu_list_add(ret, (int)cpu);
	return false;
}

static bool holds_data(const char *type)
{
	return type && type[0] != 'I'; /* Data, Unified or Instruction */
}

/*
 * Finds the CPUs that share the CPU's cache of the highest level. `*ret_known` is false if sysfs does not list
 * them. Returns 0 or -ENOMEM.
 */
static int last_level_sharers(const char *sysfs, u32 cpu, struct cpu_list *ret, bool *ret_known)
{
	_cleanup_free_ char *last = NULL;
	u64 highest = 0;

	for (u32 index = 0; index < CACHES_MAX; index++) {
		_cleanup_free_ char *level = NULL;
		_cleanup_free_ char *type = NULL;
		u64 number;
		int r;

		r = read_file(sysfs, &level, "cpu%u/cache/index%u/level", cpu, index);
		if (r < 0)
			return r;
		if (!level)
			break;
		r = read_file(sysfs, &type, "cpu%u/cache/index%u/type", cpu, index);
		if (r < 0)
			return r;
		if (number_parse(level, 1, CACHES_MAX, &number) < 0 || number < highest || !holds_data(type))
			continue;
		highest = number;
		free(last);
		r = read_file(sysfs, &last, "cpu%u/cache/index%u/shared_cpu_list", cpu, index);
		if (r < 0)
			return r;
	}
	*ret_known = sharers(last, cpu, ret);
	return 0;
}

static int find_cache(const char *sysfs, u32 cpu, struct stripes_cpu *topology, u32 cpus)
{
	struct cpu_list together;
	bool known;
	int r;

	r = last_level_sharers(sysfs, cpu, &together, &known);
	if (r < 0 || !known)
		return r;
	for (int other = cpu_list_next(&together, -1); other >= 0 && (u32)other < cpus;
	     other = cpu_list_next(&together, other))
		topology[other].cache = cpu;
	return 0;
}

static int find_core(const char *sysfs, u32 cpu, struct stripes_cpu *topology, u32 cpus)
{
	_cleanup_free_ char *siblings = NULL;
	struct cpu_list together;
	int r;

	r = read_file(sysfs, &siblings, "cpu%u/topology/thread_siblings_list", cpu);
	if (r < 0)
		return r;
	(void)sharers(siblings, cpu, &together);
	for (int other = cpu_list_next(&together, -1); other >= 0 && (u32)other < cpus;
	     other = cpu_list_next(&together, other))
		topology[other].core = cpu;
	return 0;
}

/* Marks CPUs that are not online as absent. If sysfs does not list the online CPUs, all are present. */
static int find_absent(const char *sysfs, struct stripes_cpu *topology, u32 cpus)
{
	_cleanup_free_ char *text = NULL;
	struct cpu_list online;
	int r;

	r = read_file(sysfs, &text, "online");
	if (r < 0)
		return r;
	if (!text || cpu_list_parse(text, &online) < 0)
		return 0;
	for (u32 cpu = 0; cpu < cpus; cpu++)
		topology[cpu].absent = !cpu_list_has(&online, (int)cpu);
	return 0;
}

static int count_possible(const char *sysfs, u32 *ret)
{
	_cleanup_free_ char *text = NULL;
	struct cpu_list possible;
	int r;

	r = read_file(sysfs, &text, "possible");
	if (r < 0)
		return r;
	if (!text || cpu_list_parse(text, &possible) < 0)
		return -ENODATA;
	*ret = cpu_list_end(&possible);
	return *ret > 0 ? 0 : -ENODATA;
}

int stripes_of_machine(const char *sysfs, u32 cpus, struct stripes *ret)
{
	_cleanup_free_ struct stripes_cpu *topology = NULL;
	int r;

	if (cpus == 0) {
		r = count_possible(sysfs ?: "/sys", &cpus);
		if (r < 0)
			return r;
	}
	if (cpus == 0 || cpus > CPU_LIST_MAX)
		return -EINVAL;
	topology = calloc(cpus, sizeof(*topology));
	if (!topology)
		return -ENOMEM;
	if (cpus > STRIPES_MAX) { /* otherwise each CPU has a stripe of its own */
		for (u32 cpu = 0; cpu < cpus; cpu++)
			topology[cpu] = (struct stripes_cpu){.cache = NOT_KNOWN, .core = NOT_KNOWN};
		r = find_absent(sysfs ?: "/sys", topology, cpus);
		for (u32 cpu = 0; r == 0 && cpu < cpus; cpu++) {
			if (topology[cpu].absent)
				continue;
			if (topology[cpu].cache == NOT_KNOWN)
				r = find_cache(sysfs ?: "/sys", cpu, topology, cpus);
			if (r == 0 && topology[cpu].core == NOT_KNOWN)
				r = find_core(sysfs ?: "/sys", cpu, topology, cpus);
		}
		if (r < 0)
			return r;
	}
	return stripes_assign(topology, cpus, ret);
}
