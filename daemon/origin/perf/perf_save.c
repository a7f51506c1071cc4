// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf_save.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>

#include "machine/cpu_list.h"

#define POSSIBLE_PATH "/sys/devices/system/cpu/possible"

/* The layout of a set in the handover. handover_commit_copy() writes the copies. */
struct set_part {
	u32 current;
	u32 reserved;
	struct perf_saved_set copies[2];
};

struct cpu_part {
	u32 current;
	u32 reserved;
	struct perf_saved_cpu copies[2];
};

struct perf_save {
	struct perf_save_settings settings;
	int cpus;
	struct set_part *sets;
	struct cpu_part *parts; /* index: set * cpus + CPU */
};

static int possible_cpus(void)
{
	struct cpu_list possible;

	return cpu_list_read(POSSIBLE_PATH, &possible) < 0 ? CPU_LIST_MAX : (int)cpu_list_end(&possible);
}

u64 perf_save_layout(void)
{
	return (u64)sizeof(struct set_part) << 32 | sizeof(struct cpu_part);
}

static size_t part_bytes(size_t n_sets, int cpus)
{
	return n_sets * (sizeof(struct set_part) + (size_t)cpus * sizeof(struct cpu_part));
}

bool perf_save_fits(const struct handover *handover, size_t n_sets)
{
	return handover_fits(handover, HANDOVER_EVENTS, part_bytes(n_sets, possible_cpus()));
}

int perf_save_new(const struct perf_save_settings *settings, struct perf_save **ret)
{
	_cleanup_(perf_save_freep) struct perf_save *save = calloc(1, sizeof(*save));
	void *part = NULL;
	int r;

	if (!save)
		return -ENOMEM;
	save->settings = *settings;
	save->cpus = possible_cpus();
	r = handover_part(settings->handover, HANDOVER_EVENTS, part_bytes(settings->n_sets, save->cpus),
			  &part);
	if (r < 0)
		return r;
	save->sets = part;
	save->parts = (struct cpu_part *)(save->sets + settings->n_sets);
	*ret = TAKE_PTR(save);
	return 0;
}

struct perf_save *perf_save_free(struct perf_save *save)
{
	free(save);
	return NULL;
}

const struct perf_save_settings *perf_save_settings(const struct perf_save *save)
{
	return &save->settings;
}

int perf_save_cpus(const struct perf_save *save)
{
	return save->cpus;
}

bool perf_save_read_set(const struct perf_save *save, unsigned set, struct perf_saved_set *ret)
{
	*ret = save->sets[set].copies[save->sets[set].current & 1];
	return ret->known;
}

static struct cpu_part *part_of(const struct perf_save *save, unsigned set, int cpu)
{
	return cpu < save->cpus ? &save->parts[(size_t)set * (size_t)save->cpus + (size_t)cpu] : NULL;
}

bool perf_save_read_cpu(const struct perf_save *save, unsigned set, int cpu, struct perf_saved_cpu *ret)
{
	const struct cpu_part *part = part_of(save, set, cpu);

	*ret = part ? part->copies[part->current & 1] : (struct perf_saved_cpu){0};
	/* The handover may contain any bytes. An event without a period cannot be continued. */
	if (ret->counts.period == 0)
		ret->number = 0;
	return ret->known;
}

void perf_save_write_set(struct perf_save *save, unsigned set, const struct perf_saved_set *saved)
{
	handover_commit_copy(&save->sets[set].current, save->sets[set].copies, saved, sizeof(*saved));
}

void perf_save_write_cpu(struct perf_save *save, unsigned set, int cpu, const struct perf_saved_cpu *saved)
{
	struct cpu_part *part = part_of(save, set, cpu);

	if (part)
		handover_commit_copy(&part->current, part->copies, saved, sizeof(*saved));
}

static bool same_settings(const struct event_settings *a, const struct event_settings *b)
{
	struct event_settings left = *a, right = *b;

	left.first_record = right.first_record = 0;
	return memcmp(&left, &right, sizeof(left)) == 0;
}

bool perf_save_same(const struct event_spec *a, const struct event_spec *b)
{
	return a->event.role == b->event.role && a->event.ldlat == b->event.ldlat &&
	       a->event.latency_kind == b->event.latency_kind && a->event.count_kind == b->event.count_kind &&
	       strcmp(a->event.pmu, b->event.pmu) == 0 &&
	       same_settings(&a->event.settings, &b->event.settings) && a->type == b->type &&
	       a->config == b->config && a->config1 == b->config1 && a->config2 == b->config2 &&
	       a->precise_ip == b->precise_ip && a->pinned == b->pinned &&
	       a->exclude_guest == b->exclude_guest && a->has_leader == b->has_leader &&
	       a->leader_config == b->leader_config;
}

static void name_of(enum stored_kind kind, unsigned set, int cpu, u32 number, char ret[STORED_NAME_MAX])
{
	const u32 numbers[] = {set, (u32)cpu, number};

	handover_name(kind, "", ARRAY_SIZE(numbers), numbers, ret);
}

static u64 id_of(int fd)
{
	u64 id = 0;

	return ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0 ? 0 : id;
}

static int take_one(struct perf_save *save, const char *name, u64 id)
{
	_cleanup_close_ int fd = store_take(handover_store(save->settings.handover), name);

	if (fd < 0)
		return -ENOENT;
	return id && id_of(fd) == id ? TAKE_FD(fd) : -EBADF;
}

struct perf_cpu perf_save_restore(int cpu, const struct perf_saved_counts *counts)
{
	return (struct perf_cpu){
		.cpu = cpu,
		.fd = -1,
		.leader_fd = -1,
		.period = counts->period,
		.counted_before = counts->counted_before,
		.expected_before = counts->expected_before,
		.last = counts->last,
		.outage = counts->outage,
		.map.throttle = counts->throttle,
		.leader_map.throttle = counts->leader_throttle,
		.stall.rearmed = counts->rearmed,
	};
}

int perf_save_take(struct perf_save *save, unsigned set, int cpu, const struct perf_saved_cpu *saved,
		   struct perf_cpu *ret)
{
	_cleanup_close_ int fd = -1, leader_fd = -1;
	char name[STORED_NAME_MAX];

	name_of(STORED_EVENT, set, cpu, saved->number, name);
	fd = take_one(save, name, saved->id);
	if (fd < 0)
		return fd;
	if (saved->has_leader) {
		name_of(STORED_LEADER, set, cpu, saved->number, name);
		leader_fd = take_one(save, name, saved->leader_id);
		if (leader_fd < 0)
			return leader_fd;
	}
	*ret = perf_save_restore(cpu, &saved->counts);
	ret->fd = TAKE_FD(fd);
	ret->leader_fd = TAKE_FD(leader_fd);
	/*
	 * Begin as not stopped: the end of an earlier stop is unknown, and the kernel records new stops in a
	 * new ring.
	 */
	ret->map.throttle.stopped = ret->leader_map.throttle.stopped = false;
	return 0;
}

static ssize_t read_enabled(int fd, u64 *ret)
{
	u64 values[3] = {0};
	ssize_t n = read(fd, values, sizeof(values));

	*ret = values[1];
	return n;
}

bool perf_save_runs(const struct perf_cpu *event)
{
	const int fd = event->leader_fd >= 0 ? event->leader_fd : event->fd;
	u64 before, after;

	if (read_enabled(fd, &before) == 0)
		return true;
	return read_enabled(fd, &after) == 3 * (ssize_t)sizeof(u64) && after > before;
}

void perf_save_counts(const struct perf_cpu *event, struct perf_saved_counts *ret)
{
	*ret = (struct perf_saved_counts){
		.period = event->period,
		.counted_before = event->counted_before,
		.expected_before = event->expected_before,
		.last = event->last,
		.outage = event->outage,
		.throttle = event->map.throttle,
		.leader_throttle = event->leader_map.throttle,
		.rearmed = event->stall.rearmed,
	};
}

int perf_save_put(struct perf_save *save, unsigned set, const struct perf_cpu *event,
		  struct perf_saved_cpu *ret)
{
	struct store *store = handover_store(save->settings.handover);
	char name[STORED_NAME_MAX];
	int r = 0;

	*ret = (struct perf_saved_cpu){
		.number = handover_number(save->settings.handover),
		.epoch = save->settings.epoch,
		.has_leader = event->leader_fd >= 0,
		.id = id_of(event->fd),
		.leader_id = event->leader_fd >= 0 ? id_of(event->leader_fd) : 0,
		.known = 1,
	};
	perf_save_counts(event, &ret->counts);
	if (event->leader_fd >= 0) {
		name_of(STORED_LEADER, set, event->cpu, ret->number, name);
		r = store_put(store, name, event->leader_fd);
	}
	if (r < 0)
		return r;
	name_of(STORED_EVENT, set, event->cpu, ret->number, name);
	r = store_put(store, name, event->fd);
	/* In the store, a leader alone would hold its counter even after the event is closed. */
	if (r < 0 && event->leader_fd >= 0) {
		name_of(STORED_LEADER, set, event->cpu, ret->number, name);
		(void)store_remove(store, name);
	}
	return r;
}

void perf_save_drop(struct perf_save *save, unsigned set, int cpu, const struct perf_saved_cpu *saved)
{
	struct store *store = handover_store(save->settings.handover);
	char name[STORED_NAME_MAX];

	if (!saved->number)
		return;
	name_of(STORED_EVENT, set, cpu, saved->number, name);
	(void)store_remove(store, name);
	if (!saved->has_leader)
		return;
	name_of(STORED_LEADER, set, cpu, saved->number, name);
	(void)store_remove(store, name);
}
