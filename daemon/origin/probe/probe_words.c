// SPDX-License-Identifier: GPL-2.0
#include "origin/probe/probe_words.h"

#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>

/*
 * Returns true for IBS, which samples operations of every kind and reports a latency only for L1 misses
 * (amd/ibs.c, Linux 6.1).
 */
static bool is_ibs(const struct event_spec *spec)
{
	return spec->event.settings.operations || spec->event.latency_kind == LATENCY_DC_MISS;
}

static char *words(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *words(const char *format, ...)
{
	va_list arguments;
	char *made;

	va_start(arguments, format);
	if (vasprintf(&made, format, arguments) < 0)
		made = NULL;
	va_end(arguments);
	return made;
}

/*
 * Returns words for the things that an event of stalls or misses counts, in more detail than
 * event_count_kind_name(). NULL for COUNT_NONE.
 */
static const char *count_meaning(enum count_kind kind)
{
	switch (kind) {
	case COUNT_STALLS_LOAD:
		return "cycles in which nothing executes while a load is outstanding: an upper bound of what "
		       "memory costs";
	case COUNT_STALLS_L1_MISS:
		return "cycles in which the core is stalled while a load that missed L1 is outstanding: an upper "
		       "bound of what memory costs";
	case COUNT_STALLS_RETIRE:
		return "cycles in which nothing retires while the oldest operation waits for the data of a load";
	case COUNT_MISSES_L3:
		return "requests of the core that missed L3, the last level of the caches, including those of "
		       "its prefetchers";
	case COUNT_MISSES_L2:
		return "requests of the core that missed L2, the last level of the caches, including those of "
		       "its prefetchers";
	case COUNT_MISSES_FILLS:
		return "lines that came from memory into the first level data cache, also by prefetches";
	case COUNT_MISSES_DEMAND_FILLS:
		return "lines that came from memory into the first level data cache, without those of hardware "
		       "prefetches";
	case COUNT_NONE:
		break;
	}
	return NULL;
}

char *probe_condition(const struct event_spec *spec)
{
	const struct event *event = &spec->event;
	const char *role = event_role_name(event->role);

	if (is_ibs(spec) && event->ldlat)
		return words("operations of all kinds, one per period; of these pebsd counts the %s of "
			     "more than %u cycles (ldlat)",
			     role, event->ldlat);
	if (is_ibs(spec))
		return words("operations of all kinds, one per period; of these pebsd counts the %s", role);
	if (event->ldlat)
		return words("%s that the CPU picks at random, but only those of more than %u cycles of "
			     "%s latency (ldlat): samples x period is not the number of %s",
			     role, event->ldlat,
			     event->settings.has_instruction_latency ? "instruction" : "use", role);
	if (count_meaning(event->count_kind))
		return words("%s", count_meaning(event->count_kind));
	if (event->role == EVENT_CYCLES)
		return words("cycles in which the CPU did not halt");
	if (event->role == EVENT_INSTRUCTIONS)
		return words("retired instructions%s",
			     event_is_count(event)
				     ? ", which are only counted: the samples have no code address"
				     : "");
	return words("%s%s; the event has no threshold", role,
		     event->settings.has_latency ? " of any latency" : "");
}

char *probe_latency(const struct event_spec *spec)
{
	const struct event_settings *settings = &spec->event.settings;

	if (!settings->has_latency)
		return spec->event.role == EVENT_STORES && settings->has_source
			       ? words("none: the CPU reports where a store went, not how long it took")
			       : words("none");
	switch (spec->event.latency_kind) {
	case LATENCY_DC_MISS:
		return words("DC miss latency, only for loads that missed L1%s",
			     settings->has_instruction_latency ? "; and instruction latency" : "");
	case LATENCY_CACHE:
		return words("%s latency%s", spec->event.role == EVENT_STORES ? "store" : "cache",
			     settings->has_instruction_latency ? ", and instruction latency" : "");
	case LATENCY_USE:
		return words("use latency, from dispatch until the data is available");
	case LATENCY_NONE:
		break;
	}
	return words("unknown kind of latency");
}

const char *probe_period_unit(const struct event_spec *spec)
{
	if (is_ibs(spec))
		return "operations of all kinds";
	if (spec->event.ldlat)
		return "loads over the threshold";
	if (spec->event.role == EVENT_STALLS)
		return "stalled cycles";
	return event_role_name(spec->event.role);
}

const char *probe_sample_field(unsigned bit)
{
	static const char *const names[] = {
		"IP",
		"TID",
		"TIME",
		"ADDR",
		"READ",
		"CALLCHAIN",
		"ID",
		"CPU",
		"PERIOD",
		"STREAM_ID",
		"RAW",
		"BRANCH_STACK",
		"REGS_USER",
		"STACK_USER",
		"WEIGHT",
		"DATA_SRC",
		"IDENTIFIER",
		"TRANSACTION",
		"REGS_INTR",
		"PHYS_ADDR",
		"AUX",
		"CGROUP",
		"DATA_PAGE_SIZE",
		"CODE_PAGE_SIZE",
		"WEIGHT_STRUCT",
	};

	_Static_assert(PERF_SAMPLE_WEIGHT_STRUCT == 1U << 24, "names are in the order of the bits");
	return bit < sizeof(names) / sizeof(names[0]) ? names[bit] : NULL;
}

const char *probe_counter_meaning(enum offcore_kind kind)
{
	static const char *const meanings[OFFCORE_KINDS] = {
		[OFFCORE_L3] = "demand reads that the L3 served",
		[OFFCORE_LOCAL_DRAM] = "demand reads that this node's memory served",
		[OFFCORE_REMOTE_DRAM] = "demand reads that another node served",
		[OFFCORE_OUTSTANDING] = "cycles x reads in flight",
		[OFFCORE_REQUESTS] = "the reads that `outstanding` counts",
	};

	return kind < OFFCORE_KINDS ? meanings[kind] : "unknown";
}

bool probe_usable(const struct probe_report *report)
{
	for (size_t i = 0; i < report->plan.n_specs; i++)
		if (report->asked & 1U << report->plan.specs[i].event.role)
			return true;
	return report->plan.n_counters > 0 && (report->asked & 1U << EVENT_OFFCORE);
}
