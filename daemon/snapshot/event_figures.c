// SPDX-License-Identifier: GPL-2.0
#include "snapshot/event_figures.h"

#define OF(count_, member_) \
	.count = offsetof(struct reading, count_), .member = offsetof(struct snapshot_event, member_)

static const struct event_figure all[] = {
	{
		OF(filtered, filtered),
		.known = FIGURE_IF_FILTERED,
		.place = FIGURE_IN_SAMPLES,
		.key = "filtered",
		.family = "pebsd_samples_filtered",
		.help = "Samples of other operations than the event's, if the hardware samples operations of every kind. They count neither as seen nor as lost.",
	},
	{
		OF(malformed, lost_malformed),
		.known = FIGURE_ALWAYS,
		.place = FIGURE_IN_LOST,
		.key = "malformed",
		.family = "pebsd_samples_lost",
		.help = "Samples that were expected and not counted, by reason.",
		.label = "reason=\"malformed\"",
	},
	{
		OF(unexplained, lost_unexplained),
		.known = FIGURE_IF_COUNTED,
		.place = FIGURE_IN_LOST,
		.key = "unexplained",
		.family = "pebsd_samples_lost",
		.label = "reason=\"unexplained\"",
	},
	{
		OF(throttled_ns, throttled_seconds),
		.seconds = true,
		.known = FIGURE_IF_THROTTLES,
		.place = FIGURE_IN_UNSAMPLED,
		.key = "throttled",
		.family = "pebsd_unsampled_seconds",
		.help = "Time in which the event was not sampled, summed over its CPUs, by reason.",
		.label = "reason=\"throttled\"",
	},
	{
		OF(waiting_ns, multiplexed_seconds),
		.seconds = true,
		.known = FIGURE_IF_COUNTED,
		.place = FIGURE_IN_UNSAMPLED,
		.key = "multiplexed",
		.family = "pebsd_unsampled_seconds",
		.label = "reason=\"multiplexed\"",
	},
	{
		OF(paused_ns, paused_seconds),
		.seconds = true,
		.known = FIGURE_IF_COUNTED,
		.place = FIGURE_IN_UNSAMPLED,
		.key = "paused",
		.family = "pebsd_unsampled_seconds",
		.label = "reason=\"paused\"",
	},
	{
		OF(throttles, throttles),
		.known = FIGURE_IF_THROTTLES,
		.place = FIGURE_IN_EVENT,
		.key = "throttles",
	},
	{
		OF(rearmed, rearmed),
		.known = FIGURE_IF_COUNTED,
		.place = FIGURE_IN_EVENT,
		.key = "rearmed",
	},
	{
		OF(enabled_ns, enabled_seconds),
		.seconds = true,
		.known = FIGURE_IF_COUNTED,
		.family = "pebsd_event_enabled_seconds",
		.help = "Time for which the event was enabled, summed over its CPUs.",
	},
	{
		OF(running_ns, running_seconds),
		.seconds = true,
		.known = FIGURE_IF_COUNTED,
		.family = "pebsd_event_running_seconds",
		.help = "Time for which the event was counting, summed over its CPUs. For the rest of its enabled time it had no counter.",
	},
};

const struct event_figure *event_figures(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(all);
	return all;
}

static bool is_known(enum event_figure_known known, const struct event *event, const struct reading *reading)
{
	switch (known) {
	case FIGURE_IF_COUNTED:
		return reading->counted;
	case FIGURE_IF_THROTTLES:
		return reading->throttle_known;
	case FIGURE_IF_FILTERED:
		return event->settings.operations != 0;
	case FIGURE_ALWAYS:
	default:
		return true;
	}
}

void event_figures_take(struct snapshot_event *event, const struct reading *reading)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const u64 count = *(const u64 *)((const char *)reading + all[i].count);
		const bool known = is_known(all[i].known, &event->event, reading);
		void *member = (char *)event + all[i].member;

		if (all[i].seconds)
			*(struct maybe_double *)member =
				(struct maybe_double){known, (double)count / (double)NSEC_PER_SEC};
		else
			*(struct maybe_u64 *)member = (struct maybe_u64){known, count};
	}
}

struct event_figure_value event_figure_of(const struct snapshot_event *event,
					  const struct event_figure *figure)
{
	const void *member = (const char *)event + figure->member;
	const struct maybe_double *time = member;
	const struct maybe_u64 *count = member;
	const bool known = figure->known == FIGURE_ALWAYS || (figure->seconds ? time->known : count->known);

	return (struct event_figure_value){
		.known = known,
		.count = known && !figure->seconds ? count->value : 0,
		.seconds = known && figure->seconds ? time->value : 0,
	};
}
