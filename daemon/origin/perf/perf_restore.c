// SPDX-License-Identifier: GPL-2.0
/* Continues the events of the previous process, CPU by CPU, instead of opening new ones. */
#include "origin/perf/perf_internal.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/log.h"
#include "base/monotonic.h"
#include "origin/perf/perf_diagnose.h"

/* The state of taking over the events of the previous process. */
struct taking_over {
	const struct perf_save_settings *settings;
	struct perf_saved_set before;
	bool known; /* the previous process had this set */
	bool same;  /* the previous process opened the event in the same way as this one */
	u64 period; /* the period that will be in force */
	size_t continued;
	size_t replaced;
	size_t missing;
	u64 longest_ns; /* the longest time between an old event and its replacement */
};

static void add_closed(struct perf_event_set *set, const struct perf_cpu *event)
{
	const struct cpu_counts counts = perf_cpu_counts(event);

	cpu_counts_add(perf_counts_of_cpu(set->closed, set->n_cpus, event->cpu), &counts);
}

/*
 * Takes the event of the previous process on a CPU. If its descriptors are missing, adds its saved counts to
 * the closed ones and returns false. Its counts since the last saved reading are then lost.
 */
static bool take_old(struct perf_event_set *set, int cpu, const struct perf_saved_cpu *saved,
		     struct taking_over *over, struct perf_cpu *ret)
{
	if (!saved->number)
		return false;
	if (perf_save_take(set->save, set->number, cpu, saved, ret) == 0) {
		ret->stall.likely = set->spec.collides;
		return true;
	}
	*ret = perf_save_restore(cpu, &saved->counts);
	add_closed(set, ret);
	/* If one of its two descriptors is left, close it: the old event would sample next to the new one. */
	perf_save_drop(set->save, set->number, cpu, saved);
	over->missing++;
	return false;
}

/* Disables the event first, so that its count is final. */
static void end_old(struct perf_event_set *set, struct perf_cpu *old)
{
	perf_cpu_stop(old);
	perf_cpu_read(old, false);
	add_closed(set, old);
}

static void continue_old(struct perf_event_set *set, struct perf_cpu *old, struct perf_cpu *fresh)
{
	const struct perf_throttle own = old->map.throttle, leader = old->leader_map.throttle;

	perf_cpu_close(fresh);
	old->page_moves = set->spec.type != PERF_TYPE_SOFTWARE;
	perf_cpu_map(&set->spec, old);
	old->map.throttle = own;
	old->leader_map.throttle = leader;
	/* An event in error must be enabled again. */
	(void)ioctl(old->leader_fd >= 0 ? old->leader_fd : old->fd, PERF_EVENT_IOC_ENABLE,
		    PERF_IOC_FLAG_GROUP);
	*fresh = *old;
}

/*
 * The old event, if any, ends just before the new one begins. If both ran at the same time, samples would be
 * counted twice.
 */
static int start_fresh(struct perf_event_set *set, struct perf_cpu *fresh, struct perf_cpu *old,
		       const struct perf_saved_cpu *saved, struct taking_over *over)
{
	struct cpu_counts *closed = perf_counts_of_cpu(set->closed, set->n_cpus, fresh->cpu);
	struct perf_saved_cpu next;
	u64 begun, without_ns;
	int r;

	if (fresh->period != over->period)
		(void)perf_cpu_set_period(fresh, over->period, false);
	perf_set_put_new(set, fresh, &next);
	r = perf_cpu_attach(fresh, set->program_fd);
	if (r < 0) {
		if (old)
			perf_cpu_close(old);
		return r;
	}
	begun = monotonic_ns();
	if (old)
		end_old(set, old);
	perf_set_write_new(set, fresh, &next);
	r = perf_cpu_enable(fresh);
	if (!old)
		return r;
	/* Time in which the event should have counted, but had no counter. */
	without_ns = monotonic_ns() - begun;
	closed->enabled_ns += without_ns;
	perf_set_write_new(set, fresh, &next);
	if (without_ns > over->longest_ns)
		over->longest_ns = without_ns;
	perf_save_drop(set->save, set->number, fresh->cpu, saved);
	perf_cpu_close(old);
	over->replaced++;
	return r;
}

static int take_over_cpu(struct perf_event_set *set, struct perf_cpu *fresh, struct taking_over *over)
{
	struct perf_saved_cpu saved;
	struct perf_cpu old;

	if (!over->known || !perf_save_read_cpu(set->save, set->number, fresh->cpu, &saved))
		return start_fresh(set, fresh, NULL, NULL, over);
	perf_restore_closed(set, fresh->cpu, &saved.closed);
	if (!take_old(set, fresh->cpu, &saved, over, &old))
		return start_fresh(set, fresh, NULL, NULL, over);
	if (over->settings->inherited != INHERITED_ALL || !over->same ||
	    saved.epoch != over->settings->epoch || saved.changing || !perf_save_runs(&old))
		return start_fresh(set, fresh, &old, &saved, over);
	continue_old(set, &old, fresh);
	over->continued++;
	return 0;
}

/* Ends the saved event of a CPU on which no event of this set is open. Its counts stay. */
static int end_cpu(struct perf_event_set *set, int cpu, struct taking_over *over)
{
	struct perf_saved_cpu saved;
	struct perf_cpu old;
	int r;

	if (!perf_save_read_cpu(set->save, set->number, cpu, &saved))
		return 0;
	r = perf_add_cpu(set, cpu);
	if (r < 0)
		return r;
	perf_restore_closed(set, cpu, &saved.closed);
	if (take_old(set, cpu, &saved, over, &old)) {
		end_old(set, &old);
		perf_set_save_closed(set, cpu);
		perf_cpu_close(&old);
	} else {
		perf_set_save_closed(set, cpu);
	}
	return 0;
}

/* Ends the saved events on CPUs where this set is not open, or on all CPUs if `all` is set. */
static int end_others(struct perf_event_set *set, bool all, struct taking_over *over)
{
	int r = 0;

	for (int cpu = 0; over->known && r == 0 && cpu < perf_save_cpus(set->save); cpu++)
		if (all || !cpu_list_has(&set->cpus, cpu))
			r = end_cpu(set, cpu, over);
	return r;
}

/*
 * Returns the period to use. If the configured period is unchanged, the period in force continues. The saved
 * period of a CPU whose event is closed is used only if no event is open, as in a pause.
 */
static u64 period_to_be(const struct perf_event_set *set, const struct taking_over *over)
{
	u64 of_closed = set->configured_period;
	struct perf_saved_cpu saved;

	if (!over->known || over->before.spec.event.period != set->configured_period)
		return set->configured_period;
	for (int cpu = 0; cpu < perf_save_cpus(set->save); cpu++) {
		if (!perf_save_read_cpu(set->save, set->number, cpu, &saved) || saved.changing ||
		    !saved.counts.period)
			continue;
		if (saved.number)
			return saved.counts.period;
		of_closed = saved.counts.period;
	}
	return of_closed;
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void log_result(const struct perf_event_set *set, const struct taking_over *over)
{
	const char *role = event_role_name(set->spec.event.role);
	const char *pmu = set->spec.event.pmu;

	if (over->continued)
		log_info(
			"%s on PMU %s: the event of the previous process continues, sampled without a gap on %zu CPU%s",
			role, pmu, over->continued, plural(over->continued));
	if (over->replaced)
		log_notice("%s on PMU %s: the event of the previous process was replaced on %zu CPU%s, with "
			   "a gap of at most %llu us in its samples",
			   role, pmu, over->replaced, plural(over->replaced),
			   (unsigned long long)(over->longest_ns / NSEC_PER_USEC));
	if (over->missing)
		(void)log_warning(
			0,
			"%s on PMU %s: on %zu CPU%s the event of the previous process was not passed on, "
			"so its counts since the last reading are lost; the event is opened again there",
			role, pmu, over->missing, plural(over->missing));
}

static int stay_paused(struct perf_event_set *set, struct taking_over *over)
{
	for (size_t i = 0; i < set->n; i++)
		perf_cpu_close(&set->events[i]);
	set->n = 0;
	set->paused = true;
	set->paused_seen_ns =
		over->known && over->before.paused ? over->before.paused_seen_ns : monotonic_ns();
	perf_set_save(set);
	return end_others(set, true, over);
}

int perf_start_restored(struct perf_event_set *set, int program_fd, struct perf_save *save, unsigned number,
			char **ret_message)
{
	struct taking_over over = {.settings = perf_save_settings(save)};
	int r;

	*ret_message = NULL;
	set->save = save;
	set->number = number;
	set->program_fd = program_fd;
	set->configured_period = set->spec.event.period;
	over.known = perf_save_read_set(save, number, &over.before);
	over.same = over.known && perf_save_same(&over.before.spec, &set->spec);
	over.period = period_to_be(set, &over);
	set->spec.event.period = over.period;
	if (over.settings->stay_paused)
		return stay_paused(set, &over);
	/*
	 * If the previous process was paused, the pause ends here. A paused process has no event open, so there
	 * is no event to take over.
	 */
	r = end_others(set, over.before.paused, &over);
	if (r == 0 && over.known && over.before.paused) {
		set->paused_seen_ns = over.before.paused_seen_ns;
		r = perf_enter_pause(set, &set->cpus);
		over.known = false;
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < set->n; i++) {
		r = take_over_cpu(set, &set->events[i], &over);
		if (r < 0)
			return perf_diagnosed(r, perf_diagnose_attach, &set->spec, set->events[i].cpu,
					      ret_message);
		if (set->events[i].period != over.period)
			(void)perf_change_period(set, &set->events[i], over.period);
	}
	perf_set_save(set);
	log_result(set, &over);
	return 0;
}
