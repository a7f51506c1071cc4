// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <asm/irq_regs.h>
#include <linux/cpuhotplug.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include "compat.h"
#include "driver.h"
#include "parameters.h"
#include "places.h"
#include "world.h"

/* Instructions retired one by one for a record, at most: loads over a high threshold may be rare. */
#define STEPS_MAX 4096

/*
 * Counters go on at one rate here, and would come to their ends together time and again, which real ones,
 * counting different things, seldom do: before Skylake two that overflow at once make one record, which
 * drivers drop, and the events have no other one (intel_pmu_drain_pebs_nhm() in arch/x86/events/intel/ds.c).
 * So one at a time is brought to its end, and the others that are near theirs wait so many events before it;
 * but for those times that the parameter `together` asks for.
 */
#define APART 1024

/* The timer's own shortest interval, with what a timer's interrupt takes around it under emulation; and how
 * often it looks while nothing may happen. */
#define INTERVAL_MIN_NS 50000ULL
#define INTERVAL_MAX_NS (100ULL * NSEC_PER_MSEC)
#define STARVING_NS     (10ULL * NSEC_PER_MSEC)
#define WAITING_NS      NSEC_PER_MSEC

/* A CPU whose last sample is no older samples now. */
#define SAMPLES_NOW_NS (5ULL * NSEC_PER_MSEC)

/* Time that passes at once, at most: whoever was kept from running for long has not executed all the while.
 */
#define PASS_MAX_NS NSEC_PER_SEC

static u64 events_a_second(void)
{
	return clamp_t(u64, READ_ONCE(parameters.loads_per_second), 1, NSEC_PER_SEC);
}

static u64 count_of(struct core *core, int counter)
{
	return counter_is_fixed(counter) ? core->unit.fixed[counter - PEBS_FIXED_0].count
					 : core->unit.general[counter].count;
}

/* Events until the counter overflows. */
static u64 events_left(struct core *core, int counter)
{
	return (1ULL << core->machine->counter_bits) - count_of(core, counter);
}

struct workload *world_workload(struct core *core, const struct task_struct *task)
{
	int kind = workload_find(task->comm);

	return &core->workloads[kind < 0 ? WORKLOAD_MIX : kind];
}

/* The counters that time goes on for. */
static u64 counting(struct core *core)
{
	return core->active & core->unit.global_ctrl;
}

/* What a counter needs: loads, or all kinds of instructions. */
static bool wants_loads(struct core *core, u64 due)
{
	for (int i = 0; i < COUNTERS_END; i++)
		if ((due >> i & 1) && core->events[i] && !(core->events[i]->hw.flags & FLAG_LOAD_LATENCY))
			return false;
	return true;
}

static bool is_counting(struct core *core, int counter)
{
	return (counting(core) >> counter & 1) && core->events[counter];
}

static bool is_near(struct core *core, u64 events, int counter)
{
	return is_counting(core, counter) && events_left(core, counter) <= max_t(u64, events + 1, APART);
}

/* The counter that may come to its end now, of those that are near it each in its turn; -1: none is. */
static int whose_turn(struct core *core, u64 events)
{
	for (int i = 1; i <= COUNTERS_END; i++) {
		int counter = (core->turn + i) % COUNTERS_END;

		if (is_near(core, events, counter))
			return counter;
	}
	return -1;
}

/* Whether the other counters that are near their ends come to them with the one whose turn it is. */
static bool come_together(struct core *core, u64 events, int turn)
{
	unsigned int interval = READ_ONCE(parameters.together);
	bool meet = false;

	if (!interval || turn < 0 || events_left(core, turn) > events)
		return false;
	for (int i = 0; i < COUNTERS_END; i++)
		meet |= i != turn && is_near(core, events, i);
	return meet && ++core->meetings % interval == 0;
}

/* Passes `events` on to each counter; returns those that are about to overflow. */
static u64 pass(struct core *core, u64 events)
{
	int turn = whose_turn(core, events);
	bool together = come_together(core, events, turn);
	u64 due = 0;

	if (turn >= 0)
		core->turn = turn;
	for (int i = 0; i < COUNTERS_END; i++) {
		u64 passing = events;

		if (!is_counting(core, i))
			continue;
		if (together && is_near(core, events, i))
			passing = max(events, events_left(core, i));
		else if (i != turn)
			passing = min(events, max_t(u64, events_left(core, i), APART) - APART);
		if (pebs_pass(&core->unit, (u32)i, passing) < passing)
			due |= 1ULL << i;
	}
	return due;
}

/* Whether the counter's overflow has shown: by a record, or in the status. */
static bool has_shown(struct core *core, int counter)
{
	const struct pebs_counter *of = counter_is_fixed(counter) ? &core->unit.fixed[counter - PEBS_FIXED_0]
								  : &core->unit.general[counter];

	return !of->armed && events_left(core, counter) > 1;
}

static void retire(struct core *core, struct workload *workload, u64 due, const struct pt_regs *interrupted)
{
	const struct places_task *places = interrupted ? places_of_current() : NULL;
	bool loads = wants_loads(core, due);
	struct retired retired;

	for (int step = 0; step < STEPS_MAX && due; step++) {
		if (loads)
			workload_next_load(workload, &retired);
		else
			workload_step(workload, &retired);
		if (places)
			places_play(places, interrupted, &workload->random, &retired);
		(void)pebs_retire(&core->unit, &retired);
		for (int i = 0; i < COUNTERS_END; i++)
			if ((due >> i & 1) && has_shown(core, i))
				due &= ~(1ULL << i);
	}
	core->books.starved += hweight64(due);
	core->starving = due;
}

/* Events of each counter that the time since the last call stands for. */
static u64 events_of_time(struct core *core, u64 now)
{
	u64 ns = min(now - core->passed_at_ns, PASS_MAX_NS);
	u64 product = ns * events_a_second() + core->remainder;

	core->passed_at_ns = now;
	core->remainder = product % NSEC_PER_SEC;
	return product / NSEC_PER_SEC;
}

static void keep_interrupted(struct core *core, const struct pt_regs *interrupted)
{
	core->interrupted_known = interrupted;
	if (interrupted)
		core->interrupted = *interrupted;
}

/* True: the hardware wants to interrupt. */
static bool live(struct core *core, const struct pt_regs *interrupted)
{
	u64 events = events_of_time(core, local_clock());
	struct interrupt interrupt;
	bool any = false;
	u64 due;

	core->waiting = READ_ONCE(parameters.paused) || is_idle_task(current);
	if (core->waiting)
		return false;
	core->starving = false;
	if (core->ibs.machine) {
		if (!ibs_core_live(core, events))
			return false;
		keep_interrupted(core, interrupted);
		return true;
	}
	counted_begin(core);
	due = pass(core, events);
	if (due) {
		WRITE_ONCE(core->sampled_at_ns, core->passed_at_ns);
		retire(core, world_workload(core, current), due, interrupted);
	}
	counted_end(core);
	while (pebs_take_interrupt(&core->unit, &interrupt))
		any = true;
	if (any)
		keep_interrupted(core, interrupted);
	return any;
}

/* How long until the next counter overflows, as far as can be seen. */
static u64 next_interval(struct core *core)
{
	u64 left = U64_MAX;

	/* Nothing that this task does is counted, as it seems: not worth looking each time. */
	if (core->starving)
		return STARVING_NS;
	if (core->waiting)
		return WAITING_NS;
	if (core->ibs.machine && ibs_left(&core->ibs.unit))
		left = ibs_left(&core->ibs.unit);
	for (int i = 0; i < COUNTERS_END; i++)
		if (core->events[i] && is_sampling_event(core->events[i]))
			left = min(left, events_left(core, i));
	if (left > U64_MAX / NSEC_PER_SEC)
		return INTERVAL_MAX_NS;
	return clamp_t(u64, left * NSEC_PER_SEC / events_a_second(), INTERVAL_MIN_NS, INTERVAL_MAX_NS);
}

static unsigned int sampling_cpus(void)
{
	u64 now = local_clock();
	unsigned int n = 0;
	int cpu;

	for_each_online_cpu(cpu) n += now - READ_ONCE(per_cpu(cores, cpu)->sampled_at_ns) < SAMPLES_NOW_NS;
	return n;
}

static enum hrtimer_restart world_tick(struct hrtimer *timer)
{
	struct core *core = container_of(timer, struct core, timer);
	u64 start = local_clock();
	bool interrupt;
	u64 spent;

	/* Its CPU went away, and another one has taken its timers over. */
	if (core->cpu != smp_processor_id() || !core->active || core->offline) {
		core->ticking = false;
		return HRTIMER_NORESTART;
	}
	core_enter(core);
	interrupt = live(core, get_irq_regs());
	core_leave(core);
	if (interrupt)
		core_signal(core);
	/* The handler has run in between. At least as much time as all of it takes is left to the tasks; and
	 * as much for each other CPU that samples: one emulator thread plays them all in turn. */
	spent = (local_clock() - start + INTERVAL_MIN_NS) * max(sampling_cpus(), 1U);
	core->tick_ns += local_clock() - start;
	hrtimer_set_expires(timer, ns_to_ktime(ktime_get_ns() + max(next_interval(core), spent)));
	return HRTIMER_RESTART;
}

void world_setup(struct core *core)
{
	timer_setup_hard(&core->timer, world_tick);
}

void world_start(struct core *core)
{
	u64 interval;

	if (core->offline)
		return;
	core->starving = false;
	if (!core->ticking) {
		core->passed_at_ns = local_clock();
		core->ticking = true;
	}
	interval = next_interval(core);
	/* Events that are started again and again, as those with a frequency at each tick, never put it off.
	 */
	if (hrtimer_is_queued(&core->timer) &&
	    ktime_to_ns(hrtimer_get_remaining(&core->timer)) <= (s64)interval)
		return;
	hrtimer_start(&core->timer, ns_to_ktime(interval), HRTIMER_MODE_REL_PINNED_HARD);
}

static int cpu_comes(unsigned int cpu)
{
	per_cpu(cores, cpu)->offline = false;
	return 0;
}

/* Perf core takes its events off the CPU later on; none of them starts the timer again. */
static int cpu_goes(unsigned int cpu)
{
	struct core *core = per_cpu(cores, cpu);

	core->offline = true;
	hrtimer_cancel(&core->timer);
	core->ticking = false;
	return 0;
}

int world_open(void)
{
	return cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "pebs_machine:online", cpu_comes, cpu_goes);
}

void world_close(int state)
{
	cpuhp_remove_state(state);
}

static void nothing(void *unused)
{
}

void world_settle(void)
{
	/* The interrupt waits for the timer's. */
	on_each_cpu(nothing, NULL, 1);
}
