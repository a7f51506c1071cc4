// SPDX-License-Identifier: GPL-2.0
#include "profile/perf_data_host.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text_file.h"
#include "machine/cpu_list.h"

#define LINE_BYTES 512

/* Takes the first value of "KEY\t: VALUE" in /proc/cpuinfo. These keys have the same value for all CPUs. */
static void take_value(const char *line, const char *key, char *ret, size_t size)
{
	size_t length = strlen(key);

	if (*ret || strncmp(line, key, length) != 0)
		return;
	line += length;
	line += strspn(line, " \t");
	if (*line++ != ':')
		return;
	line += strspn(line, " ");
	(void)snprintf(ret, size, "%.*s", (int)strcspn(line, "\n"), line);
}

/* Formats the CPU as perf does on x86: "GenuineIntel,6,143,8". */
static int read_cpuid(const char *proc_root, char **ret)
{
	char vendor[32] = "", family[16] = "", model[16] = "", stepping[16] = "";
	_cleanup_free_ char *path = NULL;
	_cleanup_fclose_ FILE *file = NULL;
	char line[LINE_BYTES];

	if (asprintf(&path, "%s/cpuinfo", proc_root) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	file = fopen(path, "re");
	while (file && !*stepping && fgets(line, sizeof(line), file)) {
		take_value(line, "vendor_id", vendor, sizeof(vendor));
		take_value(line, "cpu family", family, sizeof(family));
		take_value(line, "model", model, sizeof(model));
		take_value(line, "stepping", stepping, sizeof(stepping));
	}
	if (!*vendor || !*family || !*model || !*stepping)
		return 0;
	if (asprintf(ret, "%s,%s,%s,%s", vendor, family, model, stepping) < 0) {
		*ret = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Reads the address of _text. It is 0 if hidden (kernel.kptr_restrict) or missing. */
static int read_kernel_start(const char *proc_root, u64 *ret)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_fclose_ FILE *file = NULL;
	char line[LINE_BYTES];

	if (asprintf(&path, "%s/kallsyms", proc_root) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		uint64_t address;
		char type, name[64];

		if (sscanf(line, "%" SCNx64 " %c %63s", &address, &type, name) == 3 &&
		    strcmp(name, "_text") == 0) {
			*ret = address;
			return 0;
		}
	}
	return 0;
}

static u32 count_cpus(const char *sysfs_root, const char *which)
{
	_cleanup_free_ char *path = NULL;
	struct cpu_list cpus;

	if (asprintf(&path, "%s/devices/system/cpu/%s", sysfs_root, which) < 0) {
		path = NULL;
		return 0;
	}
	return cpu_list_read(path, &cpus) == 0 ? (u32)cpu_list_count(&cpus) : 0;
}

static u64 kib_of(const char *meminfo, const char *key)
{
	const char *at = strstr(meminfo, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void read_node(const char *sysfs_root, unsigned int number, struct perf_data_machine *machine)
{
	struct perf_data_node *node = &machine->nodes[machine->host.n_nodes];
	char path[LINE_BYTES];
	char *cpus = NULL;
	_cleanup_free_ char *meminfo = NULL;

	(void)snprintf(path, sizeof(path), "%s/devices/system/node/node%u/cpulist", sysfs_root, number);
	if (text_file_read(path, &cpus) < 0)
		return;
	*node = (struct perf_data_node){.number = number, .cpus = cpus};
	(void)snprintf(path, sizeof(path), "%s/devices/system/node/node%u/meminfo", sysfs_root, number);
	if (text_file_read(path, &meminfo) == 0) {
		node->total_kib = kib_of(meminfo, "MemTotal:");
		node->free_kib = kib_of(meminfo, "MemFree:");
	}
	machine->host.n_nodes++;
}

int perf_data_machine_new(const char *proc_root, const char *sysfs_root, const char *command,
			  struct perf_data_machine **ret)
{
	_cleanup_(perf_data_machine_freep) struct perf_data_machine *machine = calloc(1, sizeof(*machine));
	int r;

	if (!machine)
		return -ENOMEM;
	machine->host.command = command;
	machine->host.nodes = machine->nodes;
	if (uname(&machine->names) == 0) {
		machine->host.hostname = machine->names.nodename;
		machine->host.release = machine->names.release;
		machine->host.architecture = machine->names.machine;
	}
	machine->host.cpus_online = count_cpus(sysfs_root, "online");
	machine->host.cpus_available = count_cpus(sysfs_root, "present");
	for (unsigned int i = 0; i < PERF_DATA_NODES_MAX; i++)
		read_node(sysfs_root, i, machine);
	r = read_cpuid(proc_root, &machine->cpuid);
	machine->host.cpuid = machine->cpuid;
	if (r == 0)
		r = read_kernel_start(proc_root, &machine->host.kernel_start);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(machine);
	return 0;
}

struct perf_data_machine *perf_data_machine_free(struct perf_data_machine *machine)
{
	if (!machine)
		return NULL;
	for (size_t i = 0; i < machine->host.n_nodes; i++)
		free((char *)machine->nodes[i].cpus);
	free(machine->cpuid);
	free(machine);
	return NULL;
}
