// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus/prometheus_cost.h"

static const char *const reasons[GOVERNOR_REASONS] = {
	[GOVERNOR_OVER_BUDGET] = "reason=\"over_budget\"",
	[GOVERNOR_UNDER_BUDGET] = "reason=\"under_budget\"",
	[GOVERNOR_THROTTLED] = "reason=\"throttled\"",
	[GOVERNOR_RATE_LOWERED] = "reason=\"rate_lowered\"",
};

static struct maybe_double seconds_of(struct maybe_double ns)
{
	return (struct maybe_double){ns.known, ns.value / (double)NSEC_PER_SEC};
}

static struct maybe_double seconds_of_interrupt(const struct snapshot_interrupt *interrupt)
{
	return seconds_of((struct maybe_double){interrupt->known, interrupt->ns});
}

void prometheus_cost(struct exposition *out, const struct snapshot *snapshot, char *const *labels)
{
	static const struct family ratio = {
		"pebsd_cost_ratio", FAMILY_GAUGE,
		"Share of CPU time that sampling the event took between the last two collections, on the CPU that was sampled most often. It does not include what samples take from the other thread of a core, pebsd's own time, or a hypervisor's exits."};
	static const struct family budget = {"pebsd_cost_budget_ratio", FAMILY_GAUGE,
					     "Share of each CPU's time that sampling the event may take."};
	static const struct family sample = {
		"pebsd_sample_cost_seconds", FAMILY_GAUGE,
		"Time that a sample takes at the present rate: its interrupt, derived from measurements at the start, and its program, which is timed in some of its runs."};
	static const struct family interrupt = {
		"pebsd_interrupt_cost_seconds", FAMILY_GAUGE,
		"Time that the interrupt of a sample took at the start, with frequent samples (dense) and with rare ones (sparse)."};
	static const struct family changes = {"pebsd_period_changes", FAMILY_COUNTER,
					      "Automatic changes of the period, by reason."};

	for (size_t i = 0; i < snapshot->n_events; i++)
		exposition_maybe_double(out, &ratio, "", labels[i], NULL, snapshot->events[i].cost.ratio);
	for (size_t i = 0; i < snapshot->n_events; i++)
		exposition_maybe_double(out, &budget, "", labels[i], NULL, snapshot->events[i].cost.budget);
	for (size_t i = 0; i < snapshot->n_events; i++) {
		const struct snapshot_cost *cost = &snapshot->events[i].cost;

		exposition_maybe_double(out, &sample, "", labels[i], "part=\"program\"",
					seconds_of(cost->program_ns));
		exposition_maybe_double(out, &sample, "", labels[i], "part=\"interrupt\"",
					seconds_of(cost->interrupt_ns));
	}
	for (size_t i = 0; i < snapshot->n_events; i++) {
		const struct snapshot_cost *cost = &snapshot->events[i].cost;

		exposition_maybe_double(out, &interrupt, "", labels[i], "samples=\"dense\"",
					seconds_of_interrupt(&cost->dense));
		exposition_maybe_double(out, &interrupt, "", labels[i], "samples=\"sparse\"",
					seconds_of_interrupt(&cost->sparse));
	}
	for (size_t i = 0; i < snapshot->n_events; i++)
		for (int reason = 0; reason < GOVERNOR_REASONS && snapshot->events[i].cost.state; reason++)
			if (reasons[reason])
				exposition_u64(out, &changes, "_total", labels[i], reasons[reason],
					       snapshot->events[i].cost.changes[reason]);
}
