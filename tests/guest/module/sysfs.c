// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include "sysfs.h"

#include <linux/device.h>
#include <linux/kernel.h>

#include "init_event.h"

/* A file that says one thing. */
struct text_attribute {
	struct device_attribute attribute;
	const char *text;
};

static ssize_t text_show(struct device *device, struct device_attribute *attribute, char *buffer)
{
	return sysfs_emit(buffer, "%s\n", container_of(attribute, struct text_attribute, attribute)->text);
}

#define TEXT_ATTRIBUTE(identifier, file, value)     \
	static struct text_attribute identifier = { \
		.attribute = {.attr = {.name = (file), .mode = 0444}, .show = text_show}, .text = (value)}

/* format/: intel_arch_formats_attr, intel_arch3_formats_attr, nhm_, hsw_ and skl_format_attr in intel/core.c.
 */
TEXT_ATTRIBUTE(format_event, "event", "config:0-7");
TEXT_ATTRIBUTE(format_umask, "umask", "config:8-15");
TEXT_ATTRIBUTE(format_edge, "edge", "config:18");
TEXT_ATTRIBUTE(format_pc, "pc", "config:19");
TEXT_ATTRIBUTE(format_any, "any", "config:21");
TEXT_ATTRIBUTE(format_inv, "inv", "config:23");
TEXT_ATTRIBUTE(format_cmask, "cmask", "config:24-31");
TEXT_ATTRIBUTE(format_offcore_rsp, "offcore_rsp", "config1:0-63");
TEXT_ATTRIBUTE(format_ldlat, "ldlat", "config1:0-15");
TEXT_ATTRIBUTE(format_frontend, "frontend", "config1:0-23");

/* events/: x86_pmu's of intel_perfmon_event_map[]. */
TEXT_ATTRIBUTE(event_cycles, "cpu-cycles", "event=0x3c");
TEXT_ATTRIBUTE(event_instructions, "instructions", "event=0xc0");
TEXT_ATTRIBUTE(event_cache_references, "cache-references", "event=0x2e,umask=0x4f");
TEXT_ATTRIBUTE(event_cache_misses, "cache-misses", "event=0x2e,umask=0x41");
TEXT_ATTRIBUTE(event_branches, "branch-instructions", "event=0xc4");
TEXT_ATTRIBUTE(event_branch_misses, "branch-misses", "event=0xc5");
TEXT_ATTRIBUTE(event_bus_cycles, "bus-cycles", "event=0x3c,umask=0x01");
TEXT_ATTRIBUTE(event_reference_cycles, "ref-cycles", "event=0x00,umask=0x03");
TEXT_ATTRIBUTE(event_loads, "mem-loads", NULL);
TEXT_ATTRIBUTE(event_stores, "mem-stores", NULL);
TEXT_ATTRIBUTE(event_aux, "mem-loads-aux", NULL);

TEXT_ATTRIBUTE(caps_branches, "branches", NULL);
TEXT_ATTRIBUTE(caps_name, "pmu_name", NULL);

static ssize_t max_precise_show(struct device *device, struct device_attribute *attribute, char *buffer)
{
	return sysfs_emit(buffer, "%u\n", init_event_max_precise());
}
static DEVICE_ATTR_RO(max_precise);

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

#define ATTRIBUTES_MAX 16

struct attributes {
	struct attribute *attributes[ATTRIBUTES_MAX + 1];
	unsigned int n;
};

static struct attributes formats, events, caps;
static struct attribute *settings[] = {&dev_attr_rdpmc.attr, NULL};

static const struct attribute_group settings_group = {.attrs = settings};
static const struct attribute_group format_group = {.name = "format", .attrs = formats.attributes};
static const struct attribute_group events_group = {.name = "events", .attrs = events.attributes};
static const struct attribute_group caps_group = {.name = "caps", .attrs = caps.attributes};
const struct attribute_group *sysfs_groups[] = {&settings_group, &format_group, &events_group, &caps_group,
						NULL};

static void show(struct attributes *attributes, struct text_attribute *attribute)
{
	sysfs_attr_init(&attribute->attribute.attr);
	if (!WARN_ON(attributes->n == ATTRIBUTES_MAX))
		attributes->attributes[attributes->n++] = &attribute->attribute.attr;
}

static void show_text(struct attributes *attributes, struct text_attribute *attribute, const char *text)
{
	attribute->text = text;
	if (text)
		show(attributes, attribute);
}

/* LBRs: 16 from Nehalem on, 32 from Skylake on (intel_pmu_lbr_init_*() in intel/lbr.c). */
static const char *branches_of(const struct machine *machine)
{
	return machine->format >= RECORD_SKYLAKE ? "32" : "16";
}

void sysfs_describe(const struct machine *machine)
{
	bool adaptive = machine->format == RECORD_ADAPTIVE;

	show(&formats, &format_event);
	show(&formats, &format_umask);
	show(&formats, &format_edge);
	show(&formats, &format_pc);
	/* Architectural performance monitoring 5 has no AnyThread (x86_pmu.version). */
	if (!adaptive)
		show(&formats, &format_any);
	show(&formats, &format_inv);
	show(&formats, &format_cmask);
	if (machine->mechanisms & MECHANISM_OFFCORE_RESPONSE)
		show(&formats, &format_offcore_rsp);
	if (machine->load_latency_event)
		show(&formats, &format_ldlat);
	if (machine->load_latency_event && machine->format >= RECORD_SKYLAKE)
		show(&formats, &format_frontend);

	show(&events, &event_cycles);
	show(&events, &event_instructions);
	show(&events, &event_cache_references);
	show(&events, &event_cache_misses);
	show(&events, &event_branches);
	show(&events, &event_branch_misses);
	show(&events, &event_bus_cycles);
	show(&events, &event_reference_cycles);
	show_text(&events, &event_loads, machine->loads_string);
	show_text(&events, &event_stores, machine->stores_string);
	show_text(&events, &event_aux, machine->aux_string);

	show_text(&caps, &caps_branches, branches_of(machine));
	caps.attributes[caps.n++] = &dev_attr_max_precise.attr;
	show_text(&caps, &caps_name, machine->kernel_name);
}
