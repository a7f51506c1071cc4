// SPDX-License-Identifier: GPL-2.0
#include "origin/model/core.h"

#include <errno.h>
#include <stdlib.h>

/* Roughly where the kernel has its DS areas. Any canonical address would work. */
#define AREA_ADDRESS 0xfffffe0000000000ULL

/* Random number streams, different from those of the memory system and the unit. */
#define STREAM_SEEDS 0x636f7265
#define STREAM_SCALE 0x7363616c

/* Apart from the numbers of workloads. */
#define STREAM_THREADS 0x100ULL

#define STORAGE_ALIGNMENT 64

#define THOUSAND 1000U

struct counter {
	enum event_role role;
	struct machine_event event;
	u64 period;
	u64 counted; /* since the last sample, in 1 / hertz of the core's clock */
	u64 samples;
};

struct core {
	struct pebs_unit unit;
	struct driver driver;
	struct workload workload;
	struct random random;
	struct memory *memory; /* its storage */
	void *area;            /* storage of the DS area and its buffer */
	u64 hertz;             /* speed of the workload's clock */
	u32 scale;             /* loads that a counted load stands for, on average */
	u32 busy;              /* struct core_state */
	u64 busy_rest;         /* remaining part of a nanosecond, in thousandths */
	u64 until;             /* value of that clock up to which the workload may run */
	u64 rest;              /* remaining part of a cycle, in 1 / NSEC_PER_SEC */
	u64 owed;              /* events still to be skipped, which did not fit before an overflow */
	u64 cgroup_id;
	size_t n_counters;
	struct counter counters[MODEL_COUNTS_MAX];
};

static int allocate(size_t size, void **ret)
{
	/* aligned_alloc() requires a multiple of the alignment. */
	*ret = aligned_alloc(STORAGE_ALIGNMENT,
			     (size + STORAGE_ALIGNMENT - 1) / STORAGE_ALIGNMENT * STORAGE_ALIGNMENT);
	return *ret ? 0 : -ENOMEM;
}

static int build(struct core *core, const struct core_settings *settings)
{
	const struct memory_shape *shape = &settings->machine->memory;
	u64 size = driver_memory_size(settings->machine);
	void *memory;
	u64 seed;

	/* Workloads have independent random numbers, which do not depend on which other workloads run. */
	random_seed(&core->random, settings->seed,
		    STREAM_SEEDS + (u64)settings->workload + settings->thread * STREAM_THREADS);
	seed = random_next(&core->random);
	random_seed(&core->random, seed, STREAM_SCALE);
	if (allocate(memory_size(shape), &memory) < 0)
		return -ENOMEM;
	core->memory = memory_open(memory, shape, seed);
	if (allocate(size, &core->area) < 0)
		return -ENOMEM;
	workload_open(&core->workload, settings->workload, shape, core->memory, seed);
	core->workload.thread = settings->thread;
	pebs_open(&core->unit, settings->machine,
		  (struct linear_memory){.base = AREA_ADDRESS, .size = size, .bytes = core->area}, seed);
	/*
	 * pass() skips loads. Among them are those that hardware would not tag, and those between an overflow
	 * and PEBS being ready.
	 */
	core->unit.tag_interval = 1;
	core->unit.skid = 0;
	return 0;
}

/* Returns the latency that ldlat is compared with. */
static u32 threshold_latency(const struct machine *machine, const struct retired *load)
{
	return machine->mechanisms & MECHANISM_LATENCY_SPLIT ? load->instruction_latency : load->latency;
}

static void warm_up(struct core *core)
{
	const struct machine *machine = core->unit.machine;
	u64 since = core->workload.tsc, counted = 0;
	struct retired retired;

	for (u32 i = 0; i < CORE_WARM_UP; i++) {
		if (i == CORE_WARM_UP / 2)
			since = core->workload.tsc;
		workload_next_load(&core->workload, &retired);
		if (i >= CORE_WARM_UP / 2)
			counted += threshold_latency(machine, &retired) > CORE_USUAL;
	}
	core->until = core->workload.tsc;
	core->hertz = (core->until - since) * CORE_LOADS / (counted ? counted : 1);
	core->scale = CORE_SCALE;
	core->busy = THOUSAND;
	if (workload_is_program(core->workload.kind)) {
		core->hertz = MODEL_HERTZ / CORE_SLOWNESS;
		core->scale = CORE_SLOWNESS;
	}
}

static void begin_counting(struct core *core, const struct core_settings *settings)
{
	const struct machine *machine = settings->machine;

	core->n_counters = settings->n_counts;
	for (size_t i = 0; i < settings->n_counts; i++) {
		struct counter *counter = &core->counters[i];

		*counter = (struct counter){.role = settings->counts[i].role,
					    .period = settings->counts[i].period};
		if (counter->role == EVENT_STALLS)
			machine_event_find_stalls(machine, &counter->event);
		if (counter->role == EVENT_MISSES)
			machine_event_find_misses(machine, &counter->event);
	}
}

int core_new(const struct core_settings *settings, struct core **ret)
{
	_cleanup_(core_freep) struct core *core = calloc(1, sizeof(*core));
	int r;

	if (!core)
		return -ENOMEM;
	r = build(core, settings);
	if (r < 0)
		return r;
	warm_up(core);
	core->cgroup_id = settings->cgroup_id;
	begin_counting(core, settings);
	r = driver_start(&core->driver, &core->unit, settings->ldlat, settings->period);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(core);
	return 0;
}

struct core *core_free(struct core *core)
{
	if (!core)
		return NULL;
	free(core->memory);
	free(core->area);
	free(core);
	return NULL;
}

/*
 * Skips the loads that the counted load stands for. With a short period, fewer loads can be skipped than one
 * counted load stands for, so the number owed is limited to one period.
 */
static void pass(struct core *core)
{
	core->owed += random_below(&core->random, 2 * core->scale + 1);
	if (core->owed > core->driver.period)
		core->owed = core->driver.period;
	core->owed -= pebs_pass(&core->unit, core->driver.counter, core->owed);
}

static u64 occurrences_of(const struct core *core, const struct counter *counter,
			  const struct retired *retired, u64 cycles)
{
	if (counter->role == EVENT_CYCLES)
		return cycles;
	if (counter->role == EVENT_INSTRUCTIONS)
		return 1;
	return machine_event_occurrences(core->unit.machine, &counter->event, retired, cycles);
}

static void count(struct core *core, size_t i, u64 occurrences, model_take take, void *userdata)
{
	struct counter *counter = &core->counters[i];
	const u64 full = counter->period * core->hertz;

	counter->counted += occurrences * MODEL_HERTZ;
	for (; counter->counted >= full; counter->counted -= full) {
		const struct sample sample = {
			.event = (u16)(1 + i), .period = counter->period, .cgroup_id = core->cgroup_id};

		counter->samples++;
		take(userdata, &sample);
	}
}

/* Like workload_next_load(), but counts each instruction. */
static void next_load(struct core *core, struct retired *ret, model_take take, void *userdata)
{
	do {
		const u64 before = core->workload.tsc;

		workload_step(&core->workload, ret);
		for (size_t i = 0; i < core->n_counters; i++)
			count(core, i,
			      occurrences_of(core, &core->counters[i], ret, core->workload.tsc - before),
			      take, userdata);
	} while (ret->operation != OPERATION_LOAD);
}

void core_set(struct core *core, const struct core_state *state)
{
	core->busy = state->busy;
	core->workload.shared_tallies = state->shared_tallies;
	memory_contend(core->memory, state->local_wait, state->remote_wait);
}

struct memory_traffic core_traffic(const struct core *core)
{
	return memory_traffic(core->memory);
}

u64 core_hertz(const struct core *core)
{
	return core->hertz;
}

int core_run(struct core *core, u64 ns, model_take take, void *userdata)
{
	const struct pebs_counter *counter = &core->unit.general[core->driver.counter];
	struct retired retired;

	core->busy_rest += ns * core->busy;
	core->rest += core->busy_rest / THOUSAND * core->hertz;
	core->busy_rest %= THOUSAND;
	core->until += core->rest / NSEC_PER_SEC;
	core->rest %= NSEC_PER_SEC;
	while (core->workload.tsc < core->until) {
		u64 before = counter->count;
		int r = 0;

		next_load(core, &retired, take, userdata);
		if (pebs_retire(&core->unit, &retired) > 0)
			r = driver_interrupt(&core->driver, core->cgroup_id, take, userdata);
		if (r < 0)
			return r;
		if (counter->count != before)
			pass(core);
	}
	return 0;
}

int core_drain(struct core *core, model_take take, void *userdata)
{
	return driver_drain(&core->driver, core->cgroup_id, take, userdata);
}

u64 core_expected(const struct core *core)
{
	return core->unit.records + core->unit.not_written;
}

u64 core_counted(const struct core *core, size_t i)
{
	return core->counters[i].samples;
}
