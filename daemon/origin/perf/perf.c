// SPDX-License-Identifier: GPL-2.0
#include "origin/perf/perf.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/descriptor_limit.h"
#include "base/monotonic.h"
#include "origin/perf/perf_diagnose.h"
#include "origin/perf/perf_internal.h"
#include "origin/pmu/perf_selection.h"

int perf_diagnosed(int error,
		   char *(*diagnose)(int, const struct event_spec *, int, const struct perf_facts *),
		   const struct event_spec *spec, int cpu, char **ret_message)
{
	struct perf_facts facts;

	if (!ret_message)
		return error;
	perf_facts_gather(&facts);
	*ret_message = diagnose(error, spec, cpu, &facts);
	return error;
}

int perf_try(struct event_spec *spec, int cpu, char **ret_message)
{
	struct perf_cpu event;
	int r;

	*ret_message = NULL;
	r = perf_cpu_open_relaxed(spec, cpu, &event);
	if (r < 0)
		return perf_diagnosed(r, perf_diagnose_open, spec, cpu, ret_message);
	perf_cpu_close(&event);
	return 0;
}

static void sum_up(const struct perf_event_set *set, struct perf_counts *ret)
{
	struct cpu_counts sum = {.throttle_known = true};
	size_t in_error = 0;

	for (size_t i = 0; i < set->n_cpus; i++) {
		cpu_counts_add(&sum, &set->totals[i]);
		in_error += set->totals[i].in_error;
	}
	*ret = (struct perf_counts){.count = sum.count, .cpus = set->n, .cpus_in_error = in_error};
	event_counts_copy(ret, &sum);
}

void perf_count(struct perf_event_set *set, struct perf_counts *ret)
{
	if (set->n_cpus > 0)
		memcpy(set->totals, set->closed, set->n_cpus * sizeof(*set->totals));
	for (size_t i = 0; i < set->n; i++) {
		struct perf_cpu *event = &set->events[i];
		struct cpu_counts *total = perf_counts_of_cpu(set->totals, set->n_cpus, event->cpu);
		struct cpu_counts counts;

		/*
		 * The count of a stopped event no longer changes: read it exactly, with the unfinished
		 * period.
		 */
		if (event->stopped)
			perf_cpu_read(event, false);
		else
			perf_cpu_update(event, set->program_fd >= 0);
		perf_cpu_read_throttling(event);
		perf_set_save_counts(set, event);
		counts = perf_cpu_counts(event);
		cpu_counts_add(total, &counts);
		total->open = true;
		total->in_error = counts.in_error;
	}
	sum_up(set, ret);
}

size_t perf_find_stalled(struct perf_event_set *set, u64 now_ns, bool last)
{
	size_t n = 0;

	/* Without a PEBS record, none can be dropped. An event that only waits for a counter is not stalled. */
	if (set->program_fd < 0 || event_is_count(&set->spec.event))
		return 0;
	for (size_t i = 0; i < set->n; i++)
		if (!set->events[i].stopped)
			n += perf_cpu_find_stall(&set->events[i], now_ns, last);
	return n;
}

void perf_rearm_stalled(struct perf_event_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		perf_cpu_rearm(&set->events[i]);
}

void perf_rearm(struct perf_event_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (!set->events[i].stopped)
			(void)perf_change_period(set, &set->events[i], set->events[i].period);
}

const struct cpu_counts *perf_count_cpus(const struct perf_event_set *set, size_t *ret_n)
{
	*ret_n = set->n_cpus;
	return set->totals;
}

static void set_note_cpus(struct perf_event_set *set)
{
	set->cpus = (struct cpu_list){0};
	for (size_t i = 0; i < set->n; i++)
		cpu_list_add(&set->cpus, set->events[i].cpu);
}

/*
 * Closes detached events, and events on CPUs that are not wanted. Keeps their counts. Returns the number
 * closed.
 */
static int close_gone(struct perf_event_set *set, const struct cpu_list *wanted)
{
	size_t kept = 0;
	int closed;

	for (size_t i = 0; i < set->n; i++) {
		struct perf_cpu *event = &set->events[i];
		struct cpu_counts counts;

		if (cpu_list_has(wanted, event->cpu) && !event->detached) {
			set->events[kept++] = *event;
			continue;
		}
		/*
		 * Disable the event first: samples after the last reading would not be in the expected
		 * number.
		 */
		perf_cpu_stop(event);
		perf_cpu_read(event, false);
		perf_cpu_read_throttling(event);
		counts = perf_cpu_counts(event);
		cpu_counts_add(perf_counts_of_cpu(set->closed, set->n_cpus, event->cpu), &counts);
		perf_set_save_closed(set, event->cpu);
		perf_cpu_close(event);
	}
	closed = (int)(set->n - kept);
	set->n = kept;
	set_note_cpus(set);
	return closed;
}

static bool has_gone(const struct perf_event_set *set, int cpu)
{
	struct cpu_list online;

	return cpu_list_read(set->online_path, &online) == 0 && !cpu_list_has(&online, cpu);
}

/* Returns 1, 0 if the CPU went offline, or -errno. `ret_message` may be NULL. */
static int open_one(struct perf_event_set *set, int cpu, char **ret_message)
{
	struct perf_cpu event;
	int r;

	/*
	 * The attributes that the first CPU accepts apply to all: the BPF program is built for one kind of
	 * sample.
	 */
	r = set->n == 0 && set->program_fd < 0 ? perf_cpu_open_relaxed(&set->spec, cpu, &event)
					       : perf_cpu_open(&set->spec, cpu, &event);
	if (r == -ENODEV || (r < 0 && has_gone(set, cpu))) /* the CPU went offline since the list was read */
		return 0;
	if (r < 0)
		return perf_diagnosed(r, perf_diagnose_open, &set->spec, cpu, ret_message);
	r = perf_add_cpu(set, cpu);
	if (r < 0) {
		perf_cpu_close(&event);
		return r;
	}
	if (set->program_fd >= 0) {
		r = perf_cpu_attach(&event, set->program_fd);
		if (r == 0) {
			perf_set_save_new(set, &event);
			r = perf_cpu_enable(&event);
		}
		if (r < 0) {
			perf_set_save_closed(set, cpu);
			perf_cpu_close(&event);
			return perf_diagnosed(r, perf_diagnose_attach, &set->spec, cpu, ret_message);
		}
	}
	set->events[set->n++] = event;
	cpu_list_add(&set->cpus, cpu);
	return 1;
}

/* Opens the event on wanted CPUs that lack it. Returns how many, or -errno of the first failure. */
static int open_new(struct perf_event_set *set, const struct cpu_list *wanted, char **ret_message)
{
	size_t n_wanted = cpu_list_count(wanted);
	struct perf_cpu *longer;
	int opened = 0;
	int error = 0;
	int r;

	if (n_wanted <= set->n)
		return 0;
	longer = reallocarray(set->events, n_wanted, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	set->events = longer;
	/*
	 * Reserve two descriptors for each CPU even without a leader, because the kernel may still demand a
	 * leader.
	 */
	r = descriptor_limit_reserve((n_wanted - set->n) * 2);
	if (r < 0)
		return perf_diagnosed(r, perf_diagnose_open, &set->spec, cpu_list_next(wanted, -1),
				      ret_message);
	for (int cpu = cpu_list_next(wanted, -1); cpu >= 0; cpu = cpu_list_next(wanted, cpu)) {
		if (cpu_list_has(&set->cpus, cpu))
			continue;
		/* A diagnosis reads many files, and one message is enough. */
		r = open_one(set, cpu, error == 0 ? ret_message : NULL);
		if (r > 0)
			opened++;
		if (r < 0 && error == 0)
			error = r;
		/*
		 * The first failure ends a start. After the start, the event keeps running without this CPU.
		 */
		if (r < 0 && set->program_fd < 0)
			break;
	}
	return error < 0 ? error : opened;
}

/* Updates the members after a change of the online CPUs: the PMU lists a CPU before it is online. */
static int wanted_cpus(struct perf_event_set *set, struct cpu_list *ret, char **ret_message)
{
	int r = cpu_list_read(set->online_path, ret);

	if (r < 0) {
		if (asprintf(ret_message, "cannot read the list of online CPUs from %s: %s%s",
			     set->online_path, strerror(-r), r == -ENOENT ? "; mount sysfs on /sys" : "") < 0)
			*ret_message = NULL;
		return r;
	}
	if (!set->spec.has_members)
		return 0;
	if (!cpu_list_equal(ret, &set->members_as_of))
		perf_selection_update_members(&set->spec.members_source, &set->spec.members);
	set->members_as_of = *ret;
	cpu_list_keep(ret, &set->spec.members);
	return 0;
}

int perf_open(const struct event_spec *spec, const char *online_path, struct perf_event_set **ret,
	      char **ret_message)
{
	_cleanup_(perf_set_freep) struct perf_event_set *set = NULL;
	struct cpu_list wanted;
	int r;

	*ret_message = NULL;
	set = calloc(1, sizeof(*set));
	if (!set)
		return -ENOMEM;
	set->spec = *spec;
	set->program_fd = -1;
	set->online_path = strdup(online_path);
	if (!set->online_path)
		return -ENOMEM;
	r = wanted_cpus(set, &wanted, ret_message);
	if (r < 0)
		return r;
	r = open_new(set, &wanted, ret_message);
	if (r < 0)
		return r;
	if (set->n == 0) {
		if (asprintf(
			    ret_message,
			    "cannot open %s on PMU %s: no online CPU of the PMU is among those that `cpus` and `isolated` in [sampling] select (online CPUs: see %s); bring one online or select others, then restart pebsd",
			    event_role_name(spec->event.role), spec->event.pmu, online_path) < 0)
			*ret_message = NULL;
		return -ENODEV;
	}
	*ret = TAKE_PTR(set);
	return 0;
}

struct perf_event_set *perf_set_free(struct perf_event_set *set)
{
	if (!set)
		return NULL;
	for (size_t i = 0; i < set->n; i++)
		perf_cpu_close(&set->events[i]);
	free(set->events);
	free(set->closed);
	free(set->totals);
	free(set->online_path);
	free(set);
	return NULL;
}

const struct event *perf_event(const struct perf_event_set *set)
{
	return &set->spec.event;
}

const struct event_spec *perf_spec(const struct perf_event_set *set)
{
	return &set->spec;
}

bool perf_is_multiplexed(const struct perf_event_set *set)
{
	return !set->spec.pinned && !event_is_count(&set->spec.event);
}

const struct cpu_list *perf_cpus(const struct perf_event_set *set)
{
	return &set->cpus;
}

int perf_start(struct perf_event_set *set, int program_fd, char **ret_message)
{
	int r;

	*ret_message = NULL;
	set->program_fd = program_fd;
	for (size_t i = 0; i < set->n; i++) {
		r = perf_cpu_start(&set->events[i], program_fd);
		if (r < 0)
			return perf_diagnosed(r, perf_diagnose_attach, &set->spec, set->events[i].cpu,
					      ret_message);
	}
	return 0;
}

/* Sets the message, and returns `error`. */
static int refuse_period(const struct perf_event_set *set, int error, u64 period, int cpu, char **ret_message)
{
	const struct event *event = &set->spec.event;

	if (asprintf(ret_message,
		     "%s on PMU %s keeps its period of %llu: on CPU %d the kernel refuses %llu: %s%s",
		     event_role_name(event->role), event->pmu, (unsigned long long)event->period, cpu,
		     (unsigned long long)period, strerror(-error),
		     error == -EINVAL ? "; this period is below the minimum of this CPU" : "") < 0)
		*ret_message = NULL;
	return error;
}

int perf_change_period(struct perf_event_set *set, struct perf_cpu *event, u64 period)
{
	struct perf_saved_cpu saved;
	const bool known = set->save && perf_save_read_cpu(set->save, set->number, event->cpu, &saved);
	int r;

	if (known) {
		saved.changing = 1;
		perf_save_write_cpu(set->save, set->number, event->cpu, &saved);
	}
	r = perf_cpu_set_period(event, period, set->program_fd >= 0);
	if (known) {
		saved.changing = 0;
		perf_save_counts(event, &saved.counts);
		perf_save_write_cpu(set->save, set->number, event->cpu, &saved);
	}
	return r;
}

int perf_set_period(struct perf_event_set *set, u64 period, char **ret_message)
{
	const u64 before = set->spec.event.period;

	*ret_message = NULL;
	if (period == before)
		return 0;
	for (size_t i = 0; i < set->n; i++) {
		int r = perf_change_period(set, &set->events[i], period);

		if (r == 0)
			continue;
		for (size_t j = 0; j < i; j++)
			(void)perf_change_period(set, &set->events[j], before);
		return refuse_period(set, r, period, set->events[i].cpu, ret_message);
	}
	set->spec.event.period = period;
	perf_set_save_closed_period(set);
	return 0;
}

void perf_mark_configured(struct perf_event_set *set)
{
	set->configured_period = set->spec.event.period;
	if (set->program_fd >= 0)
		perf_set_save(set);
}

static void stop_all(struct perf_event_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		perf_cpu_stop(&set->events[i]);
}

void perf_stop(struct perf_event_set *set)
{
	if (!set->save)
		stop_all(set);
}

void perf_pause(struct perf_event_set *set)
{
	const struct cpu_list none = {0};
	const struct cpu_list before = set->cpus;

	if (set->paused)
		return;
	/* Disable the events first, so that no sample comes between the last reading and the end. */
	stop_all(set);
	set->paused = true;
	set->paused_seen_ns = monotonic_ns();
	perf_set_save(set);
	(void)close_gone(set, &none);
	set->cpus = before;
}

int perf_enter_pause(struct perf_event_set *set, const struct cpu_list *wanted)
{
	u64 now = monotonic_ns();
	int r = 0;

	for (int cpu = cpu_list_next(wanted, -1); cpu >= 0; cpu = cpu_list_next(wanted, cpu)) {
		int added = perf_add_cpu(set, cpu);

		if (added < 0)
			r = added;
		else
			perf_counts_of_cpu(set->closed, set->n_cpus, cpu)->paused_ns +=
				now - set->paused_seen_ns;
	}
	set->paused_seen_ns = now;
	/*
	 * Save the set first. If the process is killed before it has saved the closed counts, a part of the
	 * pause is missing from them, but no part is counted twice.
	 */
	perf_set_save(set);
	for (int cpu = cpu_list_next(wanted, -1); cpu >= 0; cpu = cpu_list_next(wanted, cpu))
		perf_set_save_closed(set, cpu);
	return r;
}

int perf_resume(struct perf_event_set *set, char **ret_message)
{
	const struct cpu_list before = set->cpus;
	struct cpu_list wanted;
	int r, entered;

	*ret_message = NULL;
	if (!set->paused)
		return 0;
	set->paused = false;
	set->cpus = (struct cpu_list){0};
	r = wanted_cpus(set, &wanted, ret_message);
	/* The pause ends here in any case. If the list cannot be read, it was that of the CPUs from before. */
	entered = perf_enter_pause(set, r < 0 ? &before : &wanted);
	if (r < 0 || entered < 0)
		return r < 0 ? r : entered;
	r = open_new(set, &wanted, ret_message);
	return r < 0 ? r : 0;
}

int perf_hotplug(struct perf_event_set *set, char **ret_message)
{
	struct cpu_list wanted;
	int closed;
	int r;

	*ret_message = NULL;
	r = wanted_cpus(set, &wanted, ret_message);
	if (r < 0)
		return r;
	if (set->paused)
		return perf_enter_pause(set, &wanted);
	closed = close_gone(set, &wanted);
	r = open_new(set, &wanted, ret_message);
	/* Enable events in error again. If the counter is still taken, the error comes back. */
	for (size_t i = 0; i < set->n; i++)
		perf_cpu_revive(&set->events[i]);
	return r < 0 ? r : closed + r;
}
