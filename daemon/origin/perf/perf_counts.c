// SPDX-License-Identifier: GPL-2.0
/* The counts of an event on each CPU, and how they are saved for the next process. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "origin/perf/perf_internal.h"

static int compare_cpus(const void *key, const void *member)
{
	return *(const int *)key - ((const struct cpu_counts *)member)->cpu;
}

struct cpu_counts *perf_counts_of_cpu(struct cpu_counts *list, size_t n, int cpu)
{
	return n ? bsearch(&cpu, list, n, sizeof(*list), compare_cpus) : NULL;
}

int perf_add_cpu(struct perf_event_set *set, int cpu)
{
	struct cpu_counts *closed, *totals;
	size_t at = set->n_cpus;

	if (perf_counts_of_cpu(set->closed, set->n_cpus, cpu))
		return 0;
	closed = reallocarray(set->closed, at + 1, sizeof(*closed));
	if (!closed)
		return -ENOMEM;
	set->closed = closed;
	totals = reallocarray(set->totals, at + 1, sizeof(*totals));
	if (!totals)
		return -ENOMEM;
	set->totals = totals;
	for (; at > 0 && closed[at - 1].cpu > cpu; at--)
		closed[at] = closed[at - 1];
	closed[at] = (struct cpu_counts){.cpu = cpu, .throttle_known = true};
	set->n_cpus++;
	memcpy(totals, closed, set->n_cpus * sizeof(*totals));
	return 0;
}

void perf_restore_closed(struct perf_event_set *set, int cpu, const struct cpu_counts *closed)
{
	struct cpu_counts *restored = perf_counts_of_cpu(set->closed, set->n_cpus, cpu);

	*restored = *closed;
	restored->cpu = cpu;
	restored->open = restored->in_error = false;
}

void perf_set_save_counts(struct perf_event_set *set, const struct perf_cpu *event)
{
	struct perf_saved_cpu saved;

	if (!set->save || !perf_save_read_cpu(set->save, set->number, event->cpu, &saved))
		return;
	perf_save_counts(event, &saved.counts);
	perf_save_write_cpu(set->save, set->number, event->cpu, &saved);
}

void perf_set_save_closed(struct perf_event_set *set, int cpu)
{
	const struct cpu_counts *closed = perf_counts_of_cpu(set->closed, set->n_cpus, cpu);
	struct perf_saved_cpu saved, before;

	if (!set->save || !closed)
		return;
	(void)perf_save_read_cpu(set->save, set->number, cpu, &saved);
	before = saved;
	saved.closed = *closed;
	saved.known = 1;
	saved.number = 0;
	perf_save_write_cpu(set->save, set->number, cpu, &saved);
	perf_save_drop(set->save, set->number, cpu, &before);
}

void perf_set_save_closed_period(struct perf_event_set *set)
{
	struct perf_saved_cpu saved;

	for (size_t i = 0; set->save && i < set->n_cpus; i++) {
		const int cpu = set->totals[i].cpu;

		if (!perf_save_read_cpu(set->save, set->number, cpu, &saved) || saved.number)
			continue;
		saved.counts.period = set->spec.event.period;
		perf_save_write_cpu(set->save, set->number, cpu, &saved);
	}
}

void perf_set_save(struct perf_event_set *set)
{
	struct perf_saved_set saved = {
		.spec = set->spec,
		.known = 1,
		.paused = set->paused,
		.paused_seen_ns = set->paused_seen_ns,
	};

	saved.spec.event.period = set->configured_period;
	if (set->save)
		perf_save_write_set(set->save, set->number, &saved);
}

void perf_set_put_new(struct perf_event_set *set, const struct perf_cpu *event, struct perf_saved_cpu *ret)
{
	int r = perf_save_put(set->save, set->number, event, ret);

	if (r >= 0)
		return;
	(void)log_warning(0,
			  "cannot store %s on PMU %s, CPU %d, for the next process: %s; that process will "
			  "open the event again, which costs a gap in its samples",
			  event_role_name(set->spec.event.role), set->spec.event.pmu, event->cpu,
			  r == -E2BIG ? "systemd cannot pass on more descriptors" : strerror(-r));
}

void perf_set_write_new(struct perf_event_set *set, const struct perf_cpu *event,
			struct perf_saved_cpu *saved)
{
	saved->closed = *perf_counts_of_cpu(set->closed, set->n_cpus, event->cpu);
	perf_save_write_cpu(set->save, set->number, event->cpu, saved);
}

void perf_set_save_new(struct perf_event_set *set, const struct perf_cpu *event)
{
	struct perf_saved_cpu saved;

	if (!set->save)
		return;
	perf_set_put_new(set, event, &saved);
	perf_set_write_new(set, event, &saved);
}
