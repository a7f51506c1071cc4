// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include "ibs_driver.h"
#include "ibs_sysfs.h"

#include <linux/version.h>

/* format/ and caps/ in arch/x86/events/amd/ibs.c; those of `cpu` in amd/core.c, events too. */
PMU_EVENT_ATTR_STRING(cnt_ctl, op_cnt_ctl, "config:19");
PMU_EVENT_ATTR_STRING(l3missonly, op_l3missonly, "config:16");
PMU_EVENT_ATTR_STRING(ldlat, op_ldlat, "config1:0-11");
PMU_EVENT_ATTR_STRING(swfilt, op_swfilt, "config2:0");
PMU_EVENT_ATTR_STRING(zen4_ibs_extensions, op_zen4, "1");
PMU_EVENT_ATTR_STRING(ldlat, op_has_ldlat, "1");

PMU_EVENT_ATTR_STRING(rand_en, fetch_rand_en, "config:57");
PMU_EVENT_ATTR_STRING(l3missonly, fetch_l3missonly, "config:59");
PMU_EVENT_ATTR_STRING(swfilt, fetch_swfilt, "config2:0");
PMU_EVENT_ATTR_STRING(zen4_ibs_extensions, fetch_zen4, "1");

PMU_EVENT_ATTR_STRING(event, cpu_event, "config:0-7,32-35");
PMU_EVENT_ATTR_STRING(umask, cpu_umask, "config:8-15");
PMU_EVENT_ATTR_STRING(edge, cpu_edge, "config:18");
PMU_EVENT_ATTR_STRING(inv, cpu_inv, "config:23");
PMU_EVENT_ATTR_STRING(cmask, cpu_cmask, "config:24-31");
PMU_EVENT_ATTR_STRING(cpu-cycles, cpu_cycles, "event=0x76");
PMU_EVENT_ATTR_STRING(instructions, cpu_instructions, "event=0xc0");
PMU_EVENT_ATTR_STRING(branch-instructions, cpu_branches, "event=0xc2");
PMU_EVENT_ATTR_STRING(branch-misses, cpu_branch_misses, "event=0xc3");
PMU_EVENT_ATTR_STRING(branches, cpu_has_branches, "16");
PMU_EVENT_ATTR_STRING(max_precise, cpu_max_precise, "0");

#define ATTRIBUTES_MAX 8

struct attributes {
	struct attribute *attributes[ATTRIBUTES_MAX + 1];
	unsigned int n;
};

static struct attributes op_formats, op_caps, fetch_formats, fetch_caps, cpu_formats, cpu_events, cpu_caps;

#define GROUP(identifier, directory, of) \
	static const struct attribute_group identifier = {.name = (directory), .attrs = (of).attributes}
GROUP(op_format_group, "format", op_formats);
GROUP(op_caps_group, "caps", op_caps);
GROUP(fetch_format_group, "format", fetch_formats);
GROUP(fetch_caps_group, "caps", fetch_caps);
GROUP(cpu_format_group, "format", cpu_formats);
GROUP(cpu_events_group, "events", cpu_events);
GROUP(cpu_caps_group, "caps", cpu_caps);

const struct attribute_group *ibs_sysfs_op_groups[] = {&op_format_group, &op_caps_group, NULL};
const struct attribute_group *ibs_sysfs_fetch_groups[] = {&fetch_format_group, &fetch_caps_group, NULL};
const struct attribute_group *ibs_sysfs_cpu_groups[] = {&cpu_format_group, &cpu_events_group, &cpu_caps_group,
							NULL};

static void show(struct attributes *attributes, struct perf_pmu_events_attr *attribute)
{
	sysfs_attr_init(&attribute->attr.attr);
	if (!WARN_ON(attributes->n == ATTRIBUTES_MAX))
		attributes->attributes[attributes->n++] = &attribute->attr.attr;
}

static void describe_fetch(const struct ibs_machine *machine)
{
	show(&fetch_formats, &fetch_rand_en);
	if (IBS_DRIVER_FILTERS)
		show(&fetch_formats, &fetch_swfilt);
	if (!(machine->capabilities & IBS_CAPABILITY_ZEN4))
		return;
	show(&fetch_formats, &fetch_l3missonly);
	show(&fetch_caps, &fetch_zen4);
}

static void describe_cpu(void)
{
	show(&cpu_formats, &cpu_event);
	show(&cpu_formats, &cpu_umask);
	show(&cpu_formats, &cpu_edge);
	show(&cpu_formats, &cpu_inv);
	show(&cpu_formats, &cpu_cmask);
	show(&cpu_events, &cpu_cycles);
	show(&cpu_events, &cpu_instructions);
	show(&cpu_events, &cpu_branches);
	show(&cpu_events, &cpu_branch_misses);
	show(&cpu_caps, &cpu_has_branches);
	show(&cpu_caps, &cpu_max_precise);
}

void ibs_sysfs_describe(const struct ibs_machine *machine)
{
	if (machine->capabilities & IBS_CAPABILITY_OP_COUNT)
		show(&op_formats, &op_cnt_ctl);
	if (IBS_DRIVER_FILTERS)
		show(&op_formats, &op_swfilt);
	if (machine->capabilities & IBS_CAPABILITY_ZEN4) {
		show(&op_formats, &op_l3missonly);
		show(&op_caps, &op_zen4);
	}
	if (IBS_DRIVER_FILTERS && machine->capabilities & IBS_CAPABILITY_LOAD_LATENCY) {
		show(&op_formats, &op_ldlat);
		show(&op_caps, &op_has_ldlat);
	}
	describe_fetch(machine);
	describe_cpu();
}
