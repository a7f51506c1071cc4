// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/replay_event.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "origin/pmu/pmu_intel.h"
#include "origin/replay/replay_count.h"

/* Event select and unit mask: the low 16 bits of a core PMU's config (arch/x86/events/intel/core.c). */
enum {
	LOADS_CORE = 0x01cd,    /* MEM_TRANS_RETIRED.LOAD_LATENCY, Sandy Bridge and later */
	LOADS_ATOM = 0x05d0,    /* MEM_UOPS_RETIRED.LOAD_LATENCY, Gracemont and later */
	LOADS_NEHALEM = 0x100b, /* MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD */
	STORES_CORE = 0x02cd,   /* store latency; before Alder Lake the precise store, without latency */
	STORES_ATOM = 0x06d0,
	STORES_ALL = 0x82d0, /* MEM_INST_RETIRED.ALL_STORES; its weight is not a latency */
	LOADS_AUX = 0x8203,  /* leader of the loads' group on some CPUs; measures nothing itself */
};

#define IBS_LDLAT_MASK   0xfff /* config1:0-11 (arch/x86/events/amd/ibs.c, Linux 6.15) */
#define INTEL_LDLAT_MASK 0xffff

/*
 * Models of Intel's family 6 that are later than those of origin/pmu/pmu_intel.c. Their weight is the latency of the
 * cache access, too (intel_pmu_init(), PMU_FL_INSTR_LATENCY, Linux 6.12 to 7.3).
 */
static const unsigned int later_models[] = {
	0xc5, 0xc6, 0xbd, 0xcc, 0xd5, /* Arrow Lake, Lunar Lake, Panther Lake, and its variant Wildcat Lake */
};

/* Returns the kind of the CPU's latencies, or LATENCY_NONE if that is not known. */
static enum latency_kind latency_kind_of(const char *cpuid)
{
	const struct pmu_quirk *quirk;
	unsigned int family;
	unsigned int model;

	if (!cpuid)
		return LATENCY_NONE;
	if (strncmp(cpuid, "AuthenticAMD,", strlen("AuthenticAMD,")) == 0)
		return LATENCY_DC_MISS;
	if (sscanf(cpuid, "GenuineIntel,%u,%u,", &family, &model) != 2 || family != 6)
		return LATENCY_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(later_models); i++)
		if (later_models[i] == model)
			return LATENCY_CACHE;
	quirk = pmu_intel_quirk(family, model, "cpu");
	if (!quirk)
		return LATENCY_NONE;
	return quirk->records == PMU_RECORDS_SPLIT ? LATENCY_CACHE : LATENCY_USE;
}

static u32 event_code(const struct perf_event_attr *attr)
{
	return (u32)(attr->config & 0xffff);
}

static bool is_load_latency(u32 code)
{
	return code == LOADS_CORE || code == LOADS_ATOM || code == LOADS_NEHALEM;
}

static bool name_has(const struct perf_data_event *recorded, const char *word)
{
	return recorded->name && strcasestr(recorded->name, word);
}

/*
 * Returns true if perf's name is that of an event of `what`, "load" or "store". Their names begin with mem, as in
 * mem-loads, mem_load_retired.l3_miss and mem_inst_retired.all_stores; a PMU may come before. Many other names have one
 * of the words inside: exe_activity.bound_on_loads, ld_blocks.store_forward and mem_bound_stalls.load count cycles or
 * instructions.
 */
static bool is_named(const struct perf_data_event *recorded, const char *what)
{
	const char *name = recorded->name, *slash = name ? strchr(name, '/') : NULL;

	if (slash && strncasecmp(name, "cpu", 3) == 0)
		name = slash + 1;
	return name && (strncasecmp(name, "mem-", 4) == 0 || strncasecmp(name, "mem_", 4) == 0) &&
	       strncasecmp(name, "mem_bound", 9) != 0 && strcasestr(name, what);
}

static bool is_store(const struct perf_data_event *recorded)
{
	u32 code = event_code(&recorded->attr);

	return code == STORES_CORE || code == STORES_ATOM || code == STORES_ALL ||
	       is_named(recorded, "store");
}

/*
 * Returns true for AMD's PMU that samples operations with their data source. If the recording does not name
 * its PMUs, returns true for any PMU that could be it: the bits that hold the event of core PMUs are 0 there.
 */
static bool may_be_ibs(const struct perf_event_attr *attr, const char *pmu)
{
	return pmu ? strcmp(pmu, "ibs_op") == 0 : attr->type != PERF_TYPE_RAW && !event_code(attr);
}

/*
 * Returns true for an event of loads or stores. A data source or a weight in its samples is not sufficient:
 * `perf record -d` and -W request these for every event. The kernel then fills in "nothing known" or, on
 * newer CPUs, a latency that is not that of a load (arch/x86/events/intel/ds.c, Linux 6.1). `pmu` may be
 * NULL.
 */
static bool is_memory_event(const struct perf_data_event *recorded, enum latency_kind kind, const char *pmu)
{
	const struct perf_event_attr *attr = &recorded->attr;
	u32 code = event_code(attr);

	if (!(attr->sample_type & (PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC)))
		return false;
	/* Generic, software, tracepoint and breakpoint events. */
	if (attr->type < PERF_TYPE_MAX && attr->type != PERF_TYPE_RAW)
		return false;
	if (code == LOADS_AUX)
		return false;
	if (kind == LATENCY_USE || kind == LATENCY_CACHE)
		return is_load_latency(code) || is_store(recorded) || is_named(recorded, "load");
	/* Only the data source shows which operations of IBS are loads. */
	if (may_be_ibs(attr, pmu))
		return (attr->sample_type & PERF_SAMPLE_DATA_SRC) != 0;
	if (kind == LATENCY_DC_MISS)
		return false;
	/* perf's own names for these events, which are the same on any CPU. */
	return is_load_latency(code) || code == STORES_CORE || code == STORES_ATOM || code == STORES_ALL ||
	       name_has(recorded, "mem-loads") || name_has(recorded, "mem-stores");
}

static u32 ldlat_of(const struct perf_event_attr *attr, const char *pmu)
{
	u32 code = event_code(attr);

	if (strcmp(pmu, "ibs_op") == 0)
		return (u32)(attr->config1 & IBS_LDLAT_MASK);
	if (is_load_latency(code))
		return (u32)(attr->config1 & INTEL_LDLAT_MASK);
	return 0;
}

/*
 * Returns true if the event's weight is a latency. On an unknown CPU, the weight of a load is taken as a
 * latency of unknown kind, and that of a store only for the codes STORES_CORE and STORES_ATOM.
 */
static bool has_latency(const struct perf_data_event *recorded, enum event_role role, enum latency_kind kind)
{
	u32 code = event_code(&recorded->attr);

	if (!(recorded->attr.sample_type & PERF_SAMPLE_WEIGHT_TYPE))
		return false;
	if (role == EVENT_STORES)
		return (code == STORES_CORE || code == STORES_ATOM) && kind != LATENCY_USE;
	return is_load_latency(code) || (kind != LATENCY_USE && kind != LATENCY_CACHE);
}

/* A generic event of a hybrid CPU has the type of its PMU in the high half of its config (uapi perf_event.h). */
static const char *count_pmu(const struct perf_data_events *events, const struct perf_event_attr *attr)
{
	if (attr->type != PERF_TYPE_HARDWARE)
		return perf_data_events_pmu(events, attr->type);
	return attr->config >> 32 ? perf_data_events_pmu(events, (u32)(attr->config >> 32)) : NULL;
}

bool replay_event_describe(const struct perf_data_events *events, size_t index, struct event *ret)
{
	const struct perf_data_event *recorded = &events->list[index];
	const struct perf_event_attr *attr = &recorded->attr;
	enum latency_kind kind = latency_kind_of(events->cpuid);
	const char *pmu = perf_data_events_pmu(events, attr->type);
	struct event_settings *settings = &ret->settings;

	if (!is_memory_event(recorded, kind, pmu))
		return replay_count_describe(attr, recorded->name, count_pmu(events, attr), events->cpuid,
					     ret);
	if (!pmu)
		pmu = attr->type == PERF_TYPE_RAW ? "cpu" : "";

	*ret = (struct event){.period = attr->freq ? 0 : attr->sample_period};
	(void)snprintf(ret->pmu, sizeof(ret->pmu), "%s", pmu);
	ret->role = is_store(recorded) ? EVENT_STORES : EVENT_LOADS;
	if (ret->role == EVENT_LOADS)
		ret->ldlat = ldlat_of(attr, pmu);
	settings->has_latency = has_latency(recorded, ret->role, kind);
	settings->weight_struct = (attr->sample_type & PERF_SAMPLE_WEIGHT_STRUCT) != 0;
	/* IBS has the cycles from tag to retirement there (perf_ibs_get_data_src(), arch/x86/events/amd/ibs.c). */
	settings->has_instruction_latency = settings->has_latency && settings->weight_struct &&
					    (kind == LATENCY_CACHE || kind == LATENCY_DC_MISS);
	settings->has_source = (attr->sample_type & PERF_SAMPLE_DATA_SRC) != 0;
	settings->has_address = (attr->sample_type & PERF_SAMPLE_ADDR) != 0;
	settings->has_code_address = (attr->sample_type & PERF_SAMPLE_IP) != 0;
	ret->latency_kind = settings->has_latency ? kind : LATENCY_NONE;
	return true;
}

enum replay_match replay_event_match(const struct event *a, const struct event *b)
{
	if (a->role != b->role || strcmp(a->pmu, b->pmu) != 0)
		return REPLAY_OTHER;
	if (a->ldlat != b->ldlat || a->latency_kind != b->latency_kind ||
	    a->settings.has_latency != b->settings.has_latency ||
	    a->settings.has_instruction_latency != b->settings.has_instruction_latency ||
	    a->settings.has_source != b->settings.has_source || a->count_kind != b->count_kind)
		return REPLAY_CLASHES;
	return REPLAY_SAME;
}

void replay_sample(const struct event *event, u16 number, const struct perf_event_attr *attr,
		   const struct perf_data_sample *recorded, struct sample *ret)
{
	const struct event_settings *settings = &event->settings;
	u64 type = recorded->sample_type;

	*ret = (struct sample){.event = number};
	if (type & PERF_SAMPLE_PERIOD)
		ret->period = recorded->period;
	else if (!attr->freq)
		ret->period = attr->sample_period;
	if (settings->has_latency && (type & PERF_SAMPLE_WEIGHT_TYPE)) {
		/* WEIGHT_STRUCT packs three values into one word (uapi perf_sample_weight). */
		ret->latency = type & PERF_SAMPLE_WEIGHT_STRUCT ? (u32)recorded->weight : recorded->weight;
		if (ret->latency)
			ret->fields |= SAMPLE_LATENCY;
		if (settings->has_instruction_latency && (type & PERF_SAMPLE_WEIGHT_STRUCT)) {
			ret->instruction_latency = (u16)(recorded->weight >> 32);
			if (ret->instruction_latency)
				ret->fields |= SAMPLE_INSTRUCTION_LATENCY;
		}
	}
	if (settings->has_source && (type & PERF_SAMPLE_DATA_SRC)) {
		ret->data_source = recorded->data_source;
		ret->fields |= SAMPLE_DATA_SOURCE;
	}
	if (settings->has_address && (type & PERF_SAMPLE_ADDR)) {
		ret->address = recorded->address;
		ret->fields |= SAMPLE_ADDRESS;
	}
	if (settings->has_code_address && (type & PERF_SAMPLE_IP)) {
		ret->code_address = recorded->code_address;
		ret->fields |= SAMPLE_CODE_ADDRESS;
	}
}

bool replay_sample_counts(const struct event *event, const struct sample *sample)
{
	bool may_be_ibs = !event->pmu[0] || strcmp(event->pmu, "ibs_op") == 0;

	if (!may_be_ibs || event->role != EVENT_LOADS || !(sample->fields & SAMPLE_DATA_SOURCE))
		return true;
	return (sample->data_source & PERF_MEM_OP_LOAD) != 0;
}
