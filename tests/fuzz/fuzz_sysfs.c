// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the files of a sysfs tree. The plan made from it must keep its bounds, and all its texts must
 * be printable. The counters of resctrl must be in order. The memory ranges of nodes must be in order and must not
 * overlap, and the node of a CPU must be a number or -1. The first three bytes select the configuration: ldlat, the
 * events and the period. The rest is a list of files: which PMU or other folder, which file, its length, its text.
 */
#include <ctype.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "machine/cpu_nodes.h"
#include "machine/memory_nodes.h"
#include "machine/resctrl.h"
#include "origin/pmu/perf_selection.h"
#include "origin/pmu/pmu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)         \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

#define FILES_MAX 48

static const char *const folders[] = {
	"bus/event_source/devices/cpu",
	"bus/event_source/devices/cpu_core",
	"bus/event_source/devices/cpu_atom",
	"bus/event_source/devices/ibs_op",
	"bus/event_source/devices/cpu_\033[2J",
	"devices/system/cpu",
	"devices/system/node",
	"devices/system/memory",
	"fs/resctrl",
};

/* Files of a PMU, of the CPUs, of the nodes, and of the memory. */
static const char *const files[][20] = {
	{"type",
	 "cpus",
	 "cpumask",
	 "format/event",
	 "format/umask",
	 "format/ldlat",
	 "format/pc",
	 "format/cmask",
	 "format/offcore_rsp",
	 "format/cccr",
	 "format/cnt_ctl",
	 "events/mem-loads",
	 "events/mem-stores",
	 "events/mem-loads-aux",
	 "events/instructions",
	 "caps/pmu_name",
	 "caps/max_precise",
	 "caps/ldlat",
	 "caps/branches",
	 "format/inv"},
	{"online", "possible", "isolated", "nohz_full", "present"},
	{"online", "possible", "node0/cpulist", "node1/cpulist", "node0/memory0/x", "node0/memory1/x",
	 "node1/memory1/x", "node1/memory4294967296/x", "node2/cpulist", "node-1/cpulist",
	 "node99999999999/cpulist", "node0/meminfo"},
	{"block_size_bytes", "memory0/state"},
	{"mon_data/mon_L3_00/mbm_total_bytes", "mon_data/mon_L3_01/mbm_local_bytes",
	 "mon_data/mon_L3_4294967296/mbm_total_bytes",
	 "mon_groups/\033[2J/mon_data/mon_L3_00/mbm_total_bytes", "mon_groups/mon_data",
	 "c/mon_data/mon_L3_1/mbm_total_bytes", "c/mon_groups/m/mon_data/mon_L3_1/mbm_local_bytes",
	 "info/mon_data/mon_L3_1/mbm_total_bytes"},
};

static char root[] = "/dev/shm/fuzz_sysfs.XXXXXX";

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *place)
{
	(void)st;
	(void)type;
	return place->level ? remove(path) : 0;
}

static void clear(void)
{
	(void)nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_root(void)
{
	clear();
	(void)rmdir(root);
}

static void write_file(const char *folder, const char *file, const void *text, size_t length)
{
	char path[256];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s/%s", root, folder, file);
	for (char *slash = path + strlen(root); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return; /* a folder, for example */
	DEMAND(write(fd, text, length) == (ssize_t)length);
	(void)close(fd);
}

static void make_tree(const uint8_t *data, size_t size)
{
	for (unsigned n = 0; size >= 3 && n < FILES_MAX; n++) {
		size_t folder = data[0] % ARRAY_SIZE(folders);
		size_t kind = folder < 5 ? 0 : folder - 4, n_files = 1;
		size_t length = data[2] <= size - 3 ? data[2] : size - 3;

		while (n_files < ARRAY_SIZE(files[kind]) && files[kind][n_files])
			n_files++;
		write_file(folders[folder], files[kind][data[1] % n_files], data + 3, length);
		data += 3 + length;
		size -= 3 + length;
	}
}

static void check_text(const char *text)
{
	DEMAND(text);
	for (; *text; text++)
		DEMAND(isprint((unsigned char)*text));
}

static void check_plan(const struct pmu_request *request)
{
	struct pmu_plan plan;

	DEMAND(pmu_plan(root, request, &plan) == 0);
	DEMAND(plan.n_specs <= EVENTS_MAX && plan.n_counters <= PMU_COUNTERS_MAX);
	for (size_t i = 0; i < plan.n_specs; i++) {
		const struct event_spec *spec = &plan.specs[i];

		DEMAND(request->roles & 1U << spec->event.role);
		DEMAND(spec->precise_ip <= 3);
		DEMAND(spec->event.period >= spec->period_min);
		DEMAND(spec->event.period % spec->period_step == 0);
		check_text(spec->event.pmu);
	}
	for (size_t i = 0; i < plan.n_counters; i++)
		check_text(plan.counters[i].pmu);
	for (size_t i = 0; i < plan.n_refusals; i++) {
		check_text(plan.refusals[i].pmu);
		check_text(plan.refusals[i].reason);
	}
	for (size_t i = 0; i < plan.n_notes; i++)
		check_text(plan.notes[i]);
	pmu_plan_done(&plan);
}

static void check_resctrl(void)
{
	char folder[sizeof(root) + sizeof("/fs/resctrl")];
	struct resctrl resctrl;

	(void)snprintf(folder, sizeof(folder), "%s/fs/resctrl", root);
	DEMAND(resctrl_read(folder, &resctrl) == 0 && resctrl.n <= RESCTRL_MAX);
	for (size_t i = 1; i < resctrl.n; i++) {
		int order = strcmp(resctrl.list[i - 1].group, resctrl.list[i].group);

		DEMAND(order < 0 || (order == 0 && resctrl.list[i - 1].domain <= resctrl.list[i].domain));
	}
	resctrl_done(&resctrl);
}

static void check_nodes(void)
{
	struct cpu_list isolated = perf_selection_isolated(root), cpus = isolated;
	_cleanup_free_ struct node_range *ranges = NULL;
	_cleanup_free_ int *of_cpu = NULL;
	size_t n = 0;

	if (memory_nodes(root, &ranges, &n) == 0)
		for (size_t i = 0; i < n; i++)
			DEMAND(ranges[i].node >= 0 && ranges[i].start < ranges[i].end &&
			       (i == 0 || ranges[i - 1].end <= ranges[i].start));
	if (memory_nodes_of_cpus(root, &of_cpu, &n) == 0)
		for (size_t i = 0; i < n; i++)
			DEMAND(of_cpu[i] >= -1);
	(void)cpu_nodes(root, &isolated, &cpus);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;
	struct pmu_request request;

	if (size < 4)
		return 0;
	if (!begun) {
		DEMAND(mkdtemp(root));
		(void)atexit(remove_root);
		begun = true;
	}
	clear();
	request = (struct pmu_request){
		.ldlat = 3 + data[0] * 257U % 65533,
		.roles = data[1] % (1U << EVENT_ROLES),
		.periods = {.accesses = data[2] & 1 ? data[2] * 1009U : 0,
			    .cycles = data[2] & 2 ? data[2] * 1009U : 0},
	};
	make_tree(data + 3, size - 3);
	/* A tree without any PMU would be refused, so there is always this one. */
	write_file("bus/event_source/devices/software", "type", "1\n", 2);
	check_plan(&request);
	check_nodes();
	check_resctrl();
	return 0;
}
