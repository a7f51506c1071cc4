// SPDX-License-Identifier: GPL-2.0
/* Prints the report for people, as wide as the terminal, but at most 100 columns. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "base/descriptor_limit.h"
#include "base/number.h"
#include "base/text.h"
#include "origin/pmu/perf_attr.h"
#include "origin/probe/probe.h"
#include "origin/probe/probe_words.h"
#include "pebsd/records.h"

#define COLUMNS       100
#define COLUMNS_LEAST 40
#define LABEL         12

static size_t columns_of(FILE *out)
{
	struct winsize size = {0};

	if (ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return COLUMNS;
	return MAX(MIN(size.ws_col, COLUMNS), COLUMNS_LEAST);
}

/*
 * Prints `text` wrapped at words. Later lines begin with `indent` blanks. `column` is the column of the first
 * word.
 */
static void wrap(FILE *out, const char *text, size_t column, size_t indent)
{
	const size_t columns = columns_of(out);
	bool first = true;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (!first && column + 1 + word > columns) {
			(void)fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
			first = true;
		}
		(void)fprintf(out, "%s%.*s", first ? "" : " ", (int)word, text);
		column += word + !first;
		first = false;
		text += word;
		text += strspn(text, " ");
	}
	(void)fputc('\n', out);
}

__attribute__((format(printf, 3, 4))) static int field(FILE *out, const char *label, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (r < 0) {
		text = NULL;
		return -ENOMEM;
	}
	(void)fprintf(out, "    %-*s", LABEL, label);
	wrap(out, text, 4 + LABEL, 4 + LABEL);
	return 0;
}

/* Returns the names of `roles`, "loads, stores", or "nothing". The caller frees it. NULL: no memory. */
static char *role_names(unsigned roles)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	const char *separator = "";

	if (!stream)
		return NULL;
	for (unsigned role = 0; role < EVENT_ROLES; role++) {
		if (!(roles & 1U << role))
			continue;
		(void)fprintf(stream, "%s%s", separator, event_role_name((enum event_role)role));
		separator = ", ";
	}
	if (!roles)
		(void)fputs("nothing", stream);
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

/*
 * Returns the names of the fields of a sample type, such as "ADDR, DATA_SRC". The caller frees it. NULL: no
 * memory.
 */
static char *sample_fields(u64 sample_type)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	const char *separator = "";

	if (!stream)
		return NULL;
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = probe_sample_field(bit);

		if (!(sample_type >> bit & 1))
			continue;
		if (name)
			(void)fprintf(stream, "%s%s", separator, name);
		else
			(void)fprintf(stream, "%sbit %u", separator, bit);
		separator = ", ";
	}
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

static int print_cpus(FILE *out, bool known, const struct cpu_list *list)
{
	_cleanup_free_ char *names = cpu_list_format(list);

	if (!names)
		return -ENOMEM;
	if (!known)
		return field(out, "CPUs", "all online CPUs");
	if (!*names)
		return field(out, "CPUs", "none: " PROBE_NO_CPU);
	/* wrap() breaks a line only at a blank, so replace the commas of a long list by blanks. */
	for (char *comma = strchr(names, ','); strlen(names) > COLUMNS / 2 && comma;
	     comma = strchr(comma + 1, ','))
		*comma = ' ';
	return field(out, "CPUs", "%s (%zu)", names, cpu_list_count(list));
}

static const char *not_asked(const struct probe_report *report, enum event_role role)
{
	return report->asked & 1U << role ? "" : " (not in `events` of [sampling])";
}

static const char *counter_words(const struct event_spec *spec, bool pinned)
{
	if (pinned)
		return "pinned: the event keeps its counter; if none is free, pebsd reports the event as in error";
	if (event_is_count(&spec->event))
		return "not pinned: the event yields its counter to other users, runs in turns if there are too "
		       "few counters, and pebsd reports its share of the time";
	return "not pinned: the event runs in turns with another event that needs the same counter, and pebsd "
	       "reports its share of the time";
}

static int print_attributes(const struct event_spec *spec, FILE *out)
{
	_cleanup_free_ char *fields = NULL;
	struct perf_event_attr attr, leader = {0};
	int r;

	perf_attr(spec, spec->event.period, &attr);
	if (spec->has_leader)
		perf_attr_leader(spec, &leader);
	fields = sample_fields(attr.sample_type);
	if (!fields)
		return -ENOMEM;
	r = field(out, "opened as",
		  "type %u, config %#llx, config1 %#llx, config2 %#llx, precise_ip %u, exclude_guest %u",
		  attr.type, (unsigned long long)attr.config, (unsigned long long)attr.config1,
		  (unsigned long long)attr.config2, attr.precise_ip, attr.exclude_guest);
	if (r >= 0 && spec->has_leader)
		r = field(out, "leader", "type %u, config %#llx: counts only, in one group with the event",
			  leader.type, (unsigned long long)leader.config);
	if (r >= 0)
		r = field(out, "counter", "%s", counter_words(spec, attr.pinned || leader.pinned));
	return r >= 0 ? field(out, "fields", "%s",
			      *fields ? fields
			      : event_is_count(&spec->event)
				      ? "none: a sample only says that a period has passed"
				      : "none besides the code address, which every sample has")
		      : r;
}

static int print_spec(const struct probe_report *report, const struct event_spec *spec, FILE *out)
{
	_cleanup_free_ char *condition = probe_condition(spec);
	_cleanup_free_ char *latency = probe_latency(spec);
	char period[TEXT_NUMBER_MAX];
	int r;

	if (!condition || !latency)
		return -ENOMEM;
	(void)fprintf(out, "\n  %s on PMU %s%s\n", event_role_name(spec->event.role), spec->event.pmu,
		      not_asked(report, spec->event.role));
	r = print_attributes(spec, out);
	text_count(spec->event.period, period);
	if (r >= 0)
		r = field(out, "samples of", "%s", condition);
	if (r >= 0)
		r = field(out, "period", "one sample per %s %s", period, probe_period_unit(spec));
	if (r >= 0)
		r = field(out, "latency", "%s", latency);
	return r >= 0 ? print_cpus(out, spec->cpus_known, &spec->cpus) : r;
}

static int print_counter(const struct probe_report *report, const struct pmu_counter *counter, FILE *out)
{
	int r;

	(void)fprintf(out, "\n  offcore counter %s on PMU %s%s\n", offcore_kind_name(counter->kind),
		      counter->pmu, not_asked(report, EVENT_OFFCORE));
	r = field(out, "opened as", "type %u, config %#llx; MSR value %#llx (config1)", counter->type,
		  (unsigned long long)counter->config, (unsigned long long)counter->config1);
	if (r >= 0)
		r = field(out, "counts",
			  "%s; counted, not sampled; counters that need the same register run in turns",
			  probe_counter_meaning(counter->kind));
	return r >= 0 ? print_cpus(out, counter->cpus_known, &counter->cpus) : r;
}

/* Prints all refusals of one PMU for the same reason together, at the position of the first. */
static int print_refusal(const struct pmu_plan *plan, size_t index, FILE *out)
{
	const struct pmu_refusal *refusal = &plan->refusals[index];
	_cleanup_free_ char *roles = NULL;
	_cleanup_free_ char *text = NULL;
	unsigned same = 0;

	for (size_t i = 0; i < plan->n_refusals; i++) {
		const struct pmu_refusal *other = &plan->refusals[i];

		if (strcmp(other->pmu, refusal->pmu) != 0 || strcmp(other->reason, refusal->reason) != 0)
			continue;
		if (i < index)
			return 0;
		same |= 1U << other->role;
	}
	roles = role_names(same);
	if (!roles || asprintf(&text, "%s on PMU %s: %s.", roles, refusal->pmu, refusal->reason) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	(void)fputs("  ", out);
	wrap(out, text, 2, 4);
	return 0;
}

#define MEMORY_ROLES (1U << EVENT_LOADS | 1U << EVENT_STORES)

/* The machine that the verdict is about: a tree may be a copy from another one. */
static const char *machine_of(const struct probe_report *report)
{
	return report->live ? "here" : "on the machine of this tree";
}

/*
 * Returns what the requested roles that are available are good for, as a sentence: memory accesses, else the events
 * that are sampled, else off-core responses. The caller frees it. NULL: no memory.
 */
static char *verdict(const struct probe_report *report)
{
	_cleanup_free_ char *names = NULL;
	unsigned planned = 0, roles;
	char *text = NULL;

	for (size_t i = 0; i < report->plan.n_specs; i++)
		planned |= 1U << report->plan.specs[i].event.role;
	roles = planned & report->asked;
	names = roles & MEMORY_ROLES ? strdup("memory accesses") : event_role_names(roles);
	if (!names ||
	    asprintf(&text, "pebsd can %s %s %s%s", roles ? "sample" : "count",
		     roles ? names : "off-core responses", machine_of(report),
		     !roles || planned & MEMORY_ROLES ? "" : ", but no memory accesses (see Refused)") < 0)
		return NULL;
	return text;
}

static int print_verdict(const struct probe_report *report, FILE *out)
{
	const char *where = report->live ? "on this machine" : "according to this tree";
	const bool automatic = report->plan.automatic;
	unsigned planned = perf_cost_roles(&report->plan);
	_cleanup_free_ char *asked = role_names(report->asked);
	_cleanup_free_ char *possible = role_names(planned);
	_cleanup_free_ char *can = verdict(report);
	_cleanup_free_ char *text = NULL;
	int r;

	if (!asked || !possible || !can)
		return -ENOMEM;
	if (probe_usable(report))
		r = asprintf(&text, "%s. Configured events: %s%s%s. Available %s: %s.", can,
			     automatic ? "auto (" : "", asked, automatic ? ")" : "", where, possible);
	else if (planned)
		r = asprintf(
			&text,
			"pebsd cannot use the configured events %s: %s. Available %s: %s; set `events` in [sampling] to some of these.",
			machine_of(report), asked, where, possible);
	else
		r = asprintf(&text, "pebsd cannot sample memory accesses %s.", machine_of(report));
	if (r < 0) {
		text = NULL;
		return -ENOMEM;
	}
	wrap(out, text, 0, 0);
	return 0;
}

static void print_cost(const struct perf_cost *cost, const char *cpus, const char *events, FILE *out)
{
	char rings[TEXT_NUMBER_MAX], most[TEXT_NUMBER_MAX], maps[TEXT_NUMBER_MAX],
		structures[TEXT_NUMBER_MAX] = "?", start[TEXT_NUMBER_MAX] = "?";

	text_bytes(cost->ring_bytes, rings);
	text_bytes(cost->ring_bytes_max, most);
	text_bytes(cost->map_bytes, maps);
	if (cost->event_bytes)
		text_bytes(cost->event_bytes, structures);
	if (cost->start_ns)
		text_span((double)cost->start_ns / (double)NSEC_PER_SEC, start);
	(void)fprintf(out, "  %9s %-21s %11llu %10s %10s %10s %10s %8s\n", cpus, events,
		      (unsigned long long)cost->descriptors, rings, most, structures, maps, start);
}

/*
 * Prints the origin of the times, or why there are none. Then prints the assumptions behind maps and
 * descriptors.
 */
static int print_origin_of_costs(const struct probe_report *report, FILE *out)
{
	const struct perf_cost_facts *measured = &report->measured;
	_cleanup_free_ char *text = NULL;
	char slots[TEXT_NUMBER_MAX], blocks[TEXT_NUMBER_MAX], load[TEXT_NUMBER_MAX], event[NUMBER_TEXT_MAX];
	int r;

	text_count(measured->slots, slots);
	_Static_assert((SLOT_BLOCKS_MAX - 1) * BLOCK_KINDS == 1020, "as it is printed");
	text_count(perf_cost_block_descriptors(measured->slots), blocks);
	text_span((double)measured->load_ns / (double)NSEC_PER_SEC, load);
	(void)duration_format(measured->event_ns, event);
	if (measured->load_ns && measured->event_ns)
		r = asprintf(
			&text,
			"Start-up time is computed from measurements of this run: loading the BPF programs and creating maps for this machine took %s, and opening, mapping, attaching and enabling an event on one CPU took %s on average (%zu measured). The walk through the existing cgroups is not included.",
			load, event, report->timed);
	else if (report->live)
		r = asprintf(
			&text,
			"Start-up time was not measured: some of its steps failed or could not be tried.");
	else
		r = asprintf(
			&text,
			"Start-up time and the kernel's own structures were not measured, because this is a copy of a sysfs tree. Run pebsd --probe on the machine itself to measure them.");
	if (r < 0) {
		text = NULL;
		return -ENOMEM;
	}
	(void)fputs("  ", out);
	wrap(out, text, 2, 2);
	free(text);
	if (asprintf(
		    &text,
		    "BPF maps are for %s cgroup slots%s, without hot tables: each cgroup with hot tables (hot-max in [cgroups] is %u) takes 15 KiB more for each event and CPU. In addition to the descriptors of events, pebsd reserves %d descriptors%s%s%s.",
		    slots,
		    report->slots_by_cgroups
			    ? " (twice the number of cgroups, at least 512; pebsd adds more when cgroups are created)"
			    : "",
		    measured->hot_max, DESCRIPTORS_SPARE,
		    report->slots_by_cgroups
			    ? ", and up to four more for each block of 256 slots after the first: up to "
			    : "",
		    report->slots_by_cgroups ? blocks : "",
		    report->slots_by_cgroups ? " at the start, and up to 1,020 after slots were added" : "") <
	    0) {
		text = NULL;
		return -ENOMEM;
	}
	(void)fputs("  ", out);
	wrap(out, text, 2, 2);
	return 0;
}

static int print_costs_of(const struct probe_report *report, u32 cpus, FILE *out)
{
	unsigned steps[PERF_COST_STEPS];
	size_t n = perf_cost_steps(&report->plan, steps);

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *roles = role_names(steps[i]);
		struct perf_cost_case machine;
		struct perf_cost cost;
		char names[TEXT_NUMBER_MAX];

		if (!roles)
			return -ENOMEM;
		perf_cost_scaled(&report->plan, steps[i], cpus, &machine);
		perf_cost(&machine, &report->measured, &cost);
		(void)snprintf(names, sizeof(names), "%u", cpus);
		print_cost(&cost, names, i < 2 ? roles : "all", out);
	}
	return 0;
}

static int print_costs(const struct probe_report *report, FILE *out)
{
	static const u32 sizes[] = {8, 64, 200, 512};
	const struct pmu_plan *plan = &report->plan;
	struct perf_cost_case machine;
	struct perf_cost cost;
	char here[TEXT_NUMBER_MAX];

	if (perf_cost_roles(plan) == 0)
		return 0;
	(void)fputc('\n', out);
	wrap(out,
	     "Cost by number of CPUs and events (rings: locked memory of the ring buffers at the start; at most: the same if all of them grow; kernel: at least this for the kernel's own structures):",
	     0, 2);
	(void)fprintf(out, "  %9s %-21s %11s %10s %10s %10s %10s %8s\n", "CPUs", "events", "descriptors",
		      "rings", "at most", "kernel", "BPF maps", "start-up");
	if (report->cpus) {
		perf_cost_planned(plan, report->asked, report->cpus, report->stripes, &machine);
		perf_cost(&machine, &report->measured, &cost);
		(void)snprintf(here, sizeof(here), "here: %u", report->cpus);
		if (machine.n_events || machine.counters)
			print_cost(&cost, here, "configured", out);
		perf_cost_planned(plan, (1U << EVENT_ROLES) - 1, report->cpus, report->stripes, &machine);
		perf_cost(&machine, &report->measured, &cost);
		print_cost(&cost, here, "all", out);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		int r = print_costs_of(report, sizes[i], out);

		if (r < 0)
			return r;
	}
	return print_origin_of_costs(report, out);
}

int probe_print_text(const struct probe_report *report, FILE *out)
{
	const struct pmu_plan *plan = &report->plan;
	int r = print_verdict(report, out);

	for (size_t i = 0; r >= 0 && i < plan->n_specs; i++)
		r = print_spec(report, &plan->specs[i], out);
	for (size_t i = 0; r >= 0 && i < plan->n_counters; i++)
		r = print_counter(report, &plan->counters[i], out);
	if (plan->n_refusals > 0)
		(void)fputs("\nRefused:\n", out);
	for (size_t i = 0; r >= 0 && i < plan->n_refusals; i++)
		r = print_refusal(plan, i, out);
	if (plan->n_notes > 0)
		(void)fputs("\nNotes:\n", out);
	for (size_t i = 0; r >= 0 && i < plan->n_notes; i++) {
		_cleanup_free_ char *note = NULL;

		if (asprintf(&note, "%s.", plan->notes[i]) < 0) {
			note = NULL;
			return -ENOMEM;
		}
		(void)fputs("  ", out);
		wrap(out, note, 2, 4);
	}
	if (r >= 0)
		r = print_costs(report, out);
	if (r < 0)
		return r;
	return ferror(out) ? -EIO : 0;
}
