// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include "sysfs.h"

#include <linux/kernel.h>

static ssize_t text_show(struct device *device, struct device_attribute *attribute, char *buffer)
{
	return sysfs_emit(buffer, "%s\n", container_of(attribute, struct sysfs_text, attribute)->text);
}

static ssize_t cpus_show(struct device *device, struct device_attribute *attribute, char *buffer)
{
	const struct sysfs *sysfs = container_of(attribute, struct sysfs, cpus_file);
	struct cpumask online;

	/* intel_hybrid_get_attr_cpus(): a CPU that went is none of its PMU's. */
	cpumask_and(&online, sysfs->cpus, cpu_online_mask);
	return sysfs_emit(buffer, "%*pbl\n", cpumask_pr_args(&online));
}

static unsigned int rdpmc_setting = 1;

bool sysfs_rdpmc(void)
{
	return READ_ONCE(rdpmc_setting);
}

static ssize_t rdpmc_show(struct device *device, struct device_attribute *attribute, char *buffer)
{
	return sysfs_emit(buffer, "%u\n", rdpmc_setting);
}

static ssize_t rdpmc_store(struct device *device, struct device_attribute *attribute, const char *buffer,
			   size_t count)
{
	unsigned int value;
	int r = kstrtouint(buffer, 0, &value);

	if (r < 0)
		return r;
	if (value > 2)
		return -EINVAL;
	WRITE_ONCE(rdpmc_setting, value);
	return (ssize_t)count;
}
static DEVICE_ATTR_RW(rdpmc);

static void show(struct sysfs_files *files, struct attribute *attribute)
{
	sysfs_attr_init(attribute);
	if (!WARN_ON(files->n == SYSFS_FILES_MAX))
		files->attributes[files->n++] = attribute;
}

void sysfs_add_text(struct sysfs *sysfs, struct sysfs_files *files, const char *file, const char *text)
{
	struct sysfs_text *attribute = &sysfs->texts[sysfs->n_texts];

	if (!text || WARN_ON(sysfs->n_texts == SYSFS_TEXTS_MAX))
		return;
	sysfs->n_texts++;
	attribute->attribute =
		(struct device_attribute){.attr = {.name = file, .mode = 0444}, .show = text_show};
	attribute->text = text;
	show(files, &attribute->attribute.attr);
}

/* LBRs: 16 from Nehalem on, 32 from Skylake on (intel_pmu_lbr_init_*() in intel/lbr.c). */
static const char *branches_of(const struct machine *machine)
{
	return machine->format >= RECORD_SKYLAKE ? "32" : "16";
}

/* intel_arch_formats_attr, intel_arch3_formats_attr, nhm_, slm_, skl_ and (6.12) cmt_format_attr in
 * intel/core.c; ADL_HYBRID_FORMAT_ATTR: a hybrid's E-cores have no frontend, as alone. */
static void describe_formats(struct sysfs *sysfs, const struct machine *machine)
{
	struct sysfs_files *formats = &sysfs->formats;

	sysfs_add_text(sysfs, formats, "event", "config:0-7");
	sysfs_add_text(sysfs, formats, "umask", "config:8-15");
	sysfs_add_text(sysfs, formats, "edge", "config:18");
	sysfs_add_text(sysfs, formats, "pc", "config:19");
	/* Architectural performance monitoring 5 has no AnyThread (x86_pmu.version). */
	if (machine->format != RECORD_ADAPTIVE)
		sysfs_add_text(sysfs, formats, "any", "config:21");
	sysfs_add_text(sysfs, formats, "inv", "config:23");
	sysfs_add_text(sysfs, formats, "cmask", "config:24-31");
	if (machine->mechanisms & MECHANISM_OFFCORE_RESPONSE)
		sysfs_add_text(sysfs, formats, "offcore_rsp", "config1:0-63");
	if (machine->load_latency_event)
		sysfs_add_text(sysfs, formats, "ldlat", "config1:0-15");
	if (machine->load_latency_event && machine->format >= RECORD_SKYLAKE &&
	    !machine_is_efficient(machine))
		sysfs_add_text(sysfs, formats, "frontend", "config1:0-23");
	if (machine->encoding == ENCODING_CRESTMONT)
		sysfs_add_text(sysfs, formats, "snoop_rsp", "config1:0-63");
}

/* x86_pmu's of intel_perfmon_event_map[], and those of the machine. */
static void describe_events(struct sysfs *sysfs, const struct machine *machine)
{
	struct sysfs_files *events = &sysfs->events;

	sysfs_add_text(sysfs, events, "cpu-cycles", "event=0x3c");
	sysfs_add_text(sysfs, events, "instructions", "event=0xc0");
	sysfs_add_text(sysfs, events, "cache-references", "event=0x2e,umask=0x4f");
	sysfs_add_text(sysfs, events, "cache-misses", "event=0x2e,umask=0x41");
	sysfs_add_text(sysfs, events, "branch-instructions", "event=0xc4");
	sysfs_add_text(sysfs, events, "branch-misses", "event=0xc5");
	sysfs_add_text(sysfs, events, "bus-cycles", "event=0x3c,umask=0x01");
	sysfs_add_text(sysfs, events, "ref-cycles", "event=0x00,umask=0x03");
	sysfs_add_text(sysfs, events, "mem-loads", machine->loads_string);
	sysfs_add_text(sysfs, events, "mem-stores", machine->stores_string);
	sysfs_add_text(sysfs, events, "mem-loads-aux", machine->aux_string);
}

void sysfs_add_group(struct sysfs *sysfs, struct sysfs_files *files, const char *name)
{
	unsigned int n = 0;

	files->group.name = name;
	files->group.attrs = files->attributes;
	while (sysfs->groups[n])
		n++;
	if (!WARN_ON(n == SYSFS_GROUPS_MAX))
		sysfs->groups[n] = &files->group;
}

void sysfs_describe(struct sysfs *sysfs, const struct machine *machine, const char *name,
		    const struct cpumask *cpus)
{
	show(&sysfs->settings, &dev_attr_rdpmc.attr);
	if (cpus) {
		sysfs->cpus = cpus;
		sysfs->cpus_file =
			(struct device_attribute){.attr = {.name = "cpus", .mode = 0444}, .show = cpus_show};
		show(&sysfs->settings, &sysfs->cpus_file.attr);
	}
	describe_formats(sysfs, machine);
	describe_events(sysfs, machine);
	sysfs_add_text(sysfs, &sysfs->caps, "branches", branches_of(machine));
	snprintf(sysfs->max_precise, sizeof(sysfs->max_precise), "%u", machine->max_precise);
	sysfs_add_text(sysfs, &sysfs->caps, "max_precise", sysfs->max_precise);
	sysfs_add_text(sysfs, &sysfs->caps, "pmu_name", name);
	sysfs_add_group(sysfs, &sysfs->settings, NULL);
	sysfs_add_group(sysfs, &sysfs->formats, "format");
	sysfs_add_group(sysfs, &sysfs->events, "events");
	sysfs_add_group(sysfs, &sysfs->caps, "caps");
}
