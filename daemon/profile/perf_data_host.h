// SPDX-License-Identifier: GPL-2.0
/* What a perf.data file says of this machine, read from it. */
#ifndef PEBSD_PERF_DATA_HOST_H
#define PEBSD_PERF_DATA_HOST_H

#include <sys/utsname.h>

#include "base/cleanup.h"
#include "profile/perf_data_write.h"

#define PERF_DATA_NODES_MAX 256

struct perf_data_machine {
	struct perf_data_host host; /* points to the rest */
	struct utsname names;
	char *cpuid;
	struct perf_data_node nodes[PERF_DATA_NODES_MAX];
};

/*
 * Reads `proc_root` ("/proc") and `sysfs_root` ("/sys"). What cannot be read is left out. `command` is kept
 * as it is, not copied. 0 or -ENOMEM; the caller frees with perf_data_machine_free().
 */
int perf_data_machine_new(const char *proc_root, const char *sysfs_root, const char *command,
			  struct perf_data_machine **ret);
struct perf_data_machine *perf_data_machine_free(struct perf_data_machine *machine);
DEFINE_CLEANUP(struct perf_data_machine *, perf_data_machine_free)

#endif
