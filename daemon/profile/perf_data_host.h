// SPDX-License-Identifier: GPL-2.0
/* Reads the facts about this machine that a perf.data file contains. */
#ifndef PEBSD_PERF_DATA_HOST_H
#define PEBSD_PERF_DATA_HOST_H

#include <sys/utsname.h>

#include "base/cleanup.h"
#include "profile/perf_data_write.h"

#define PERF_DATA_NODES_MAX 256

struct perf_data_machine {
	struct perf_data_host host; /* points into the other members */
	struct utsname names;
	char *cpuid;
	struct perf_data_node nodes[PERF_DATA_NODES_MAX];
};

/*
 * Reads `proc_root` ("/proc") and `sysfs_root` ("/sys"). Facts that cannot be read are left out. `command` is
 * borrowed, not copied. Returns 0 or -ENOMEM. The caller frees `ret` with perf_data_machine_free().
 */
int perf_data_machine_new(const char *proc_root, const char *sysfs_root, const char *command,
			  struct perf_data_machine **ret);
struct perf_data_machine *perf_data_machine_free(struct perf_data_machine *machine);
DEFINE_CLEANUP(struct perf_data_machine *, perf_data_machine_free)

#endif
