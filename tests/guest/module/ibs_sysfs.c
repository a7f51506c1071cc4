// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <linux/version.h>

#include "ibs_driver.h"
#include "ibs_sysfs.h"

#define SWFILT "config2:0"

static void add_format_and_caps(struct sysfs *sysfs)
{
	sysfs_add_group(sysfs, &sysfs->formats, "format");
	sysfs_add_group(sysfs, &sysfs->caps, "caps");
}

void ibs_sysfs_describe_op(struct sysfs *sysfs, const struct ibs_machine *machine)
{
	if (machine->capabilities & IBS_CAPABILITY_OP_COUNT)
		sysfs_add_text(sysfs, &sysfs->formats, "cnt_ctl", "config:19");
	if (IBS_DRIVER_FILTERS)
		sysfs_add_text(sysfs, &sysfs->formats, "swfilt", SWFILT);
	if (machine->capabilities & IBS_CAPABILITY_ZEN4) {
		sysfs_add_text(sysfs, &sysfs->formats, "l3missonly", "config:16");
		sysfs_add_text(sysfs, &sysfs->caps, "zen4_ibs_extensions", "1");
	}
	if (IBS_DRIVER_FILTERS && machine->capabilities & IBS_CAPABILITY_LOAD_LATENCY) {
		sysfs_add_text(sysfs, &sysfs->formats, "ldlat", "config1:0-11");
		sysfs_add_text(sysfs, &sysfs->caps, "ldlat", "1");
	}
	add_format_and_caps(sysfs);
}

void ibs_sysfs_describe_fetch(struct sysfs *sysfs, const struct ibs_machine *machine)
{
	sysfs_add_text(sysfs, &sysfs->formats, "rand_en", "config:57");
	if (IBS_DRIVER_FILTERS)
		sysfs_add_text(sysfs, &sysfs->formats, "swfilt", SWFILT);
	if (machine->capabilities & IBS_CAPABILITY_ZEN4) {
		sysfs_add_text(sysfs, &sysfs->formats, "l3missonly", "config:59");
		sysfs_add_text(sysfs, &sysfs->caps, "zen4_ibs_extensions", "1");
	}
	add_format_and_caps(sysfs);
}

void ibs_sysfs_describe_cpu(struct sysfs *sysfs)
{
	sysfs_add_text(sysfs, &sysfs->formats, "event", "config:0-7,32-35");
	sysfs_add_text(sysfs, &sysfs->formats, "umask", "config:8-15");
	sysfs_add_text(sysfs, &sysfs->formats, "edge", "config:18");
	sysfs_add_text(sysfs, &sysfs->formats, "inv", "config:23");
	sysfs_add_text(sysfs, &sysfs->formats, "cmask", "config:24-31");
	sysfs_add_text(sysfs, &sysfs->events, "cpu-cycles", "event=0x76");
	sysfs_add_text(sysfs, &sysfs->events, "instructions", "event=0xc0");
	sysfs_add_text(sysfs, &sysfs->events, "branch-instructions", "event=0xc2");
	sysfs_add_text(sysfs, &sysfs->events, "branch-misses", "event=0xc3");
	sysfs_add_text(sysfs, &sysfs->caps, "branches", "16");
	sysfs_add_text(sysfs, &sysfs->caps, "max_precise", "0");
	sysfs_add_group(sysfs, &sysfs->events, "events");
	add_format_and_caps(sysfs);
}
