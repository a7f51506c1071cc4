// SPDX-License-Identifier: GPL-2.0
/* Adds slots as cgroups need them, and gives them to cgroups without one. */
#include <errno.h>
#include <string.h>
#include <sys/param.h>

#include "base/log.h"
#include "base/monotonic.h"
#include "base/number.h"
#include "base/text.h"
#include "engine/engine_internal.h"
#include "engine/growth.h"

/*
 * Maximum number of walks in a row that give slots to cgroups without one. Slots are added before each
 * further walk.
 */
#define WALKS_MAX 8

/* Pause after a failure to add slots. */
#define GROW_PAUSE_NS (10 * NSEC_PER_SEC)

/*
 * Minimum pause between any walk and a walk that only finds out which cgroups have no slot: 2 s, or 100 times the
 * duration of the earlier walk if that is longer. So such walks take at most 1 % of the time.
 */
#define WALK_PAUSE_LEAST_NS (2 * NSEC_PER_SEC)
#define WALK_PAUSE_TIMES    100

/*
 * Returns at least the number of cgroups without a slot. Some of those that found no slot at birth may be
 * removed already; the next walk corrects the number.
 */
static u64 missing(const struct engine *engine)
{
	return kernel_slot_counters(engine->kernel).births_without_slot - engine->births_without_slot +
	       engine->without_slot;
}

void engine_describe_slots(struct engine *engine)
{
	struct snapshot *head = &engine->head;

	head->slots = kernel_slots(engine->kernel);
	head->slots_limit = kernel_slots_limit(engine->kernel);
	head->map_bytes = kernel_map_bytes(engine->kernel);
	head->map_bytes_max = engine->settings.memory_max;
	head->without_slot = missing(engine);
	head->no_slot = &engine->no_slot;
}

/* Slot 0 is for unattributed samples, so no cgroup can have it. */
static u32 cgroup_slots(u32 slots)
{
	return slots - 1;
}

/* Warns before any cgroup is without a slot, because the next cgroups may be the ones to watch. */
static void warn_of_limit(struct engine *engine, u32 wanted)
{
	const u32 limit = kernel_slots_limit(engine->kernel);
	char memory[NUMBER_TEXT_MAX];

	if (kernel_slots_free(engine->kernel) > kernel_slots(engine->kernel) / 2)
		engine->limit_logged = false;
	if (wanted <= limit || engine->limit_logged || !engine->settings.memory_max)
		return;
	engine->limit_logged = true;
	(void)log_warning(
		0,
		"%u of %u cgroup slots are in use, and the limit is %u with max-memory = %s: samples of cgroups without a slot are unattributed; raise max-memory in [cgroups] and restart pebsd",
		cgroup_slots(kernel_slots(engine->kernel)) - kernel_slots_free(engine->kernel),
		cgroup_slots(kernel_slots(engine->kernel)), cgroup_slots(limit),
		size_format(engine->settings.memory_max, memory));
}

static u32 failed(struct engine *engine, int error)
{
	if (!engine->grow_again_ns)
		(void)log_warning(
			0,
			"cannot add slots for new cgroups (%s): samples of cgroups without a slot are unattributed; pebsd tries again every %llu s%s",
			strerror(-error), (unsigned long long)(GROW_PAUSE_NS / NSEC_PER_SEC),
			error == -ENOMEM   ? "; give pebsd more memory (MemoryMax= of the unit)"
			: error == -EMFILE ? "; raise LimitNOFILE= of the unit"
					   : "");
	engine->grow_again_ns = monotonic_ns() + GROW_PAUSE_NS;
	return 0;
}

u32 engine_grow(struct engine *engine, u64 missing)
{
	const u32 before = kernel_slots(engine->kernel);
	const u32 wanted = growth_wanted(before, kernel_slots_free(engine->kernel), missing);
	int r;

	warn_of_limit(engine, wanted);
	if (wanted <= before || !engine->settings.memory_max ||
	    (engine->grow_again_ns && monotonic_ns() < engine->grow_again_ns))
		return 0;
	r = kernel_grow(engine->kernel, wanted);
	if (r < 0)
		return failed(engine, r);
	engine->grow_again_ns = 0;
	if (r == 0)
		return 0;
	engine_describe_slots(engine);
	log_info("added slots for cgroups: %u in total, %d more than before; BPF maps take %llu KiB",
		 cgroup_slots(kernel_slots(engine->kernel)), r,
		 (unsigned long long)(engine->head.map_bytes >> 10));
	return (u32)r;
}

/*
 * Returns true if a walk is useful that only lists the cgroups without a slot, because too few slots are free to give
 * them any: other cgroups than those of the last walk may be without one, and the pause after that walk is over.
 */
static bool should_list(const struct engine *engine)
{
	const struct slot_counters counters = kernel_slot_counters(engine->kernel);

	return missing(engine) > 0 && engine->settings.adopt && !engine_should_adopt(engine) &&
	       (counters.births_without_slot != engine->births_without_slot ||
		counters.deaths != engine->walk_deaths) &&
	       monotonic_ns() >= engine->walk_again_ns;
}

void engine_keep_up(struct engine *engine)
{
	(void)engine_grow(engine, missing(engine));
	if (should_list(engine))
		engine->settings.adopt(engine->settings.count_userdata);
	for (unsigned i = 0; i < WALKS_MAX && engine->settings.adopt && engine_should_adopt(engine); i++) {
		engine->settings.adopt(engine->settings.count_userdata);
		if (engine_grow(engine, missing(engine)) == 0)
			break;
	}
}

bool engine_slots_missing(const struct engine *engine)
{
	return missing(engine) > 0;
}

bool engine_should_adopt(const struct engine *engine)
{
	return engine_slots_missing(engine) &&
	       kernel_slots_free(engine->kernel) > kernel_slots(engine->kernel) / 8;
}

void engine_adopting(struct engine *engine)
{
	const struct slot_counters counters = kernel_slot_counters(engine->kernel);

	engine->births_without_slot = counters.births_without_slot;
	engine->walk_deaths = counters.deaths;
	engine->walk_ns = monotonic_ns();
	no_slot_clear(&engine->no_slot);
}

/* A path that is not exported has no series that a user could miss, so the path is not stored. */
int engine_found_without_slot(struct engine *engine, const char *path)
{
	return engine->settings.exported(path, engine->settings.userdata)
		       ? no_slot_add(&engine->no_slot, path)
		       : 0;
}

void engine_adopted(struct engine *engine, u64 without_slot)
{
	u64 now_ns;

	engine->without_slot = without_slot;
	no_slot_sort(&engine->no_slot);
	/* Read the clock only after the sort, so that the length of the pause depends on the whole cost of the walk. */
	now_ns = monotonic_ns();
	engine->walk_again_ns =
		now_ns + MAX(WALK_PAUSE_LEAST_NS, (now_ns - engine->walk_ns) * WALK_PAUSE_TIMES);
}
