// SPDX-License-Identifier: GPL-2.0
/* What stands below /sys/bus/event_source/devices/PMU/, as Linux shows it of the machine. */
#ifndef PEBS_MACHINE_SYSFS_H
#define PEBS_MACHINE_SYSFS_H

#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/sysfs.h>

#include "model/machine.h"

/* A file that says one thing. */
struct sysfs_text {
	struct device_attribute attribute;
	const char *text;
};

#define SYSFS_TEXTS_MAX  32
#define SYSFS_FILES_MAX  16
#define SYSFS_GROUPS_MAX 4

struct sysfs_files {
	struct attribute *attributes[SYSFS_FILES_MAX + 1];
	unsigned int n;
	struct attribute_group group;
};

/* Of one PMU; all of it lives as long as the module. */
struct sysfs {
	struct sysfs_text texts[SYSFS_TEXTS_MAX];
	unsigned int n_texts;
	struct sysfs_files settings, formats, events, caps;
	char max_precise[4];
	struct device_attribute cpus_file;
	const struct cpumask *cpus;
	const struct attribute_group *groups[SYSFS_GROUPS_MAX + 1]; /* for struct pmu */
};

/* A file of that text in a folder of `sysfs`; NULL: none. And the folder itself, once it has its files. */
void sysfs_add_text(struct sysfs *sysfs, struct sysfs_files *files, const char *file, const char *text);
void sysfs_add_group(struct sysfs *sysfs, struct sysfs_files *files, const char *name);

/* `name`: caps/pmu_name. `cpus`: those of a hybrid's PMU, for the file of that name; else NULL. */
void sysfs_describe(struct sysfs *sysfs, const struct machine *machine, const char *name,
		    const struct cpumask *cpus);

/* The file `rdpmc`: not 0, events show their counter's number in their mapped page. */
bool sysfs_rdpmc(void);

#endif
