// SPDX-License-Identifier: GPL-2.0
/* Continues the off-core counters of the previous process. */
#include "origin/perf/perf_offcore_internal.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/log.h"

/* The saved counters of one CPU. */
struct saved_place {
	u32 pmu;                    /* 1 + the number of the CPU's PMU; 0: the CPU never had counters */
	u32 numbers[OFFCORE_KINDS]; /* numbers in the names of the counters' descriptors; 0: no counter */
	u64 ids[OFFCORE_KINDS];     /* PERF_EVENT_IOC_ID */
};

/* The layout of a CPU's counters in the handover. */
struct place_part {
	u32 current;
	u32 reserved;
	struct saved_place copies[2];
};

struct offcore_part {
	u64 counters; /* hash that identifies the counters; 0: some may be of the previous process */
	struct place_part places[];
};

struct offcore_saved {
	struct offcore_save_settings settings;
	struct offcore_part *part;
	bool continues; /* the counters of the previous process are those of this set */
};

u64 offcore_save_layout(void)
{
	return sizeof(struct place_part);
}

static struct saved_place read_place(const struct offcore_set *set, u32 cpu)
{
	const struct place_part *part = &set->saved->part->places[cpu];

	return part->copies[part->current & 1];
}

static void write_place(struct offcore_set *set, u32 cpu, const struct saved_place *stored)
{
	struct place_part *part = &set->saved->part->places[cpu];

	handover_commit_copy(&part->current, part->copies, stored, sizeof(*stored));
}

static void name_of(u32 cpu, u32 kind, u32 number, char ret[STORED_NAME_MAX])
{
	const u32 numbers[] = {kind, cpu, number};

	handover_name(STORED_COUNTER, "", ARRAY_SIZE(numbers), numbers, ret);
}

static u64 id_of(int fd)
{
	u64 id = 0;

	return ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0 ? 0 : id;
}

static u64 hash_counters(const struct offcore_set *set)
{
	u64 hash = INHERITED_HASH;

	for (size_t i = 0; i < set->n_counters; i++) {
		const struct pmu_counter *counter = &set->counters[i];

		hash = inherited_hash(hash, counter->pmu, strlen(counter->pmu) + 1);
		hash = inherited_hash(hash, &counter->kind, sizeof(counter->kind));
		hash = inherited_hash(hash, &counter->type, sizeof(counter->type));
		hash = inherited_hash(hash, &counter->config, sizeof(counter->config));
		hash = inherited_hash(hash, &counter->config1, sizeof(counter->config1));
	}
	return hash;
}

static bool has_place(const struct offcore_set *set, u32 cpu)
{
	for (size_t i = 0; i < set->n; i++)
		if ((u32)set->places[i].cpu == cpu)
			return true;
	return false;
}

int offcore_save_begin(struct offcore_set *set, const struct offcore_save_settings *save)
{
	struct offcore_saved *saved = calloc(1, sizeof(*saved));
	const u64 hash = hash_counters(set);
	void *part = NULL;
	int r;

	if (!saved)
		return -ENOMEM;
	set->saved = saved;
	saved->settings = *save;
	set->paused = save->stay_paused;
	r = handover_part(save->handover, HANDOVER_OFFCORE,
			  sizeof(*saved->part) + set->cpus * sizeof(struct place_part), &part);
	if (r < 0)
		return r;
	saved->part = part;
	saved->continues = save->inherited != INHERITED_NOTHING && saved->part->counters == hash;
	if (!saved->continues)
		saved->part->counters = 0;
	for (u32 cpu = 0; cpu < set->cpus; cpu++) {
		const struct saved_place stored = read_place(set, cpu);

		if (stored.pmu == 0 || stored.pmu > set->n_pmus)
			continue;
		kernel_offcore_know(set->kernel, cpu, stored.pmu - 1);
		if (has_place(set, cpu))
			continue;
		kernel_offcore_remove(set->kernel, cpu);
		offcore_save_drop(set, (int)cpu);
	}
	return 0;
}

void offcore_save_begun(struct offcore_set *set)
{
	if (set->saved)
		set->saved->part->counters = hash_counters(set);
}

void offcore_save_end(struct offcore_set *set)
{
	free(set->saved);
	set->saved = NULL;
}

static bool take_all(struct offcore_set *set, const struct offcore_place *fresh,
		     const struct saved_place *stored, struct offcore_place *ret)
{
	*ret = *fresh;
	for (u32 kind = 0; kind < OFFCORE_KINDS; kind++)
		ret->fds[kind] = -1;
	for (u32 kind = 0; kind < OFFCORE_KINDS; kind++) {
		char name[STORED_NAME_MAX];

		if ((fresh->fds[kind] >= 0) != (stored->numbers[kind] != 0))
			return false;
		if (fresh->fds[kind] < 0)
			continue;
		name_of((u32)fresh->cpu, kind, stored->numbers[kind], name);
		ret->fds[kind] = store_take(handover_store(set->saved->settings.handover), name);
		if (ret->fds[kind] < 0 || id_of(ret->fds[kind]) != stored->ids[kind])
			return false;
	}
	return true;
}

bool offcore_save_take(struct offcore_set *set, struct offcore_place *place)
{
	struct offcore_place old;
	struct saved_place stored;

	if (!set->saved)
		return false;
	stored = read_place(set, (u32)place->cpu);
	if (!set->saved->continues || stored.pmu != place->pmu + 1)
		return false;
	/*
	 * The previous process may have ended while it replaced the counters, so some of them may be missing.
	 */
	if (!take_all(set, place, &stored, &old) || !kernel_offcore_reads(set->kernel, (u32)place->cpu)) {
		offcore_close_place(&old);
		log_notice(
			"off-core counters of CPU %d are replaced: the previous process did not pass on all of them, or ended while it replaced them",
			place->cpu);
		return false;
	}
	offcore_close_place(place);
	*place = old;
	if (!set->paused)
		offcore_control_place(place, PERF_EVENT_IOC_ENABLE);
	return true;
}

static void remove_names(struct offcore_set *set, u32 cpu, const struct saved_place *stored)
{
	for (u32 kind = 0; kind < OFFCORE_KINDS; kind++) {
		char name[STORED_NAME_MAX];

		if (!stored->numbers[kind])
			continue;
		name_of(cpu, kind, stored->numbers[kind], name);
		(void)store_remove(handover_store(set->saved->settings.handover), name);
	}
}

void offcore_save_put(struct offcore_set *set, const struct offcore_place *place)
{
	struct saved_place before, stored = {.pmu = place->pmu + 1};
	u32 cpu = (u32)place->cpu;

	if (!set->saved)
		return;
	for (u32 kind = 0; kind < OFFCORE_KINDS; kind++) {
		char name[STORED_NAME_MAX];

		if (place->fds[kind] < 0)
			continue;
		stored.numbers[kind] = handover_number(set->saved->settings.handover);
		stored.ids[kind] = id_of(place->fds[kind]);
		name_of(cpu, kind, stored.numbers[kind], name);
		/*
		 * If storing fails, the next process finds this counter missing and replaces all counters of
		 * the CPU.
		 */
		(void)store_put(handover_store(set->saved->settings.handover), name, place->fds[kind]);
	}
	before = read_place(set, cpu);
	write_place(set, cpu, &stored);
	remove_names(set, cpu, &before);
}

void offcore_save_drop(struct offcore_set *set, int cpu)
{
	struct saved_place before, stored;

	if (!set->saved)
		return;
	before = read_place(set, (u32)cpu);
	stored = (struct saved_place){.pmu = before.pmu};
	write_place(set, (u32)cpu, &stored);
	remove_names(set, (u32)cpu, &before);
}
