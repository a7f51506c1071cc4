// SPDX-License-Identifier: GPL-2.0
/*
 * model_truth MACHINE WORKLOADS SEED THRESHOLD LOADS: prints the true values of the loads of the hardware
 * model's workloads, as JSON. A test compares them with what pebsd reports of a sample of these loads.
 * WORKLOADS is "all", or names separated by commas. LOADS is the number for each workload. Data sources,
 * snoop and TLB results are in pebsd's terms, as far as the machine's data source encoding can express them.
 * `walks` counts all page walks, even if the encoding cannot express them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "export/json/data_source_names.h"
#include "workload_fixture.h"

static void print_counts(const char *title, const char *const *names, const u64 *counts, size_t n)
{
	const char *between = "";

	printf(", \"%s\": {", title);
	for (size_t i = 0; i < n; i++) {
		if (!counts[i])
			continue;
		printf("%s\"%s\": %" PRIu64, between, names[i], counts[i]);
		between = ", ";
	}
	printf("}");
}

static double of(u64 part, const struct truth *truth)
{
	return truth->above ? (double)part / (double)truth->above : 0;
}

static void print_truth(enum workload_kind kind, const struct truth *truth)
{
	printf("{\"workload\": \"%s\", \"loads\": %" PRIu64 ", \"above\": %" PRIu64
	       ", \"latency_sum\": %" PRIu64 ", \"latency_squares\": %" PRIu64 ", \"latency_max\": %" PRIu64
	       ", \"latency_mean\": %.3f",
	       workload_names[kind], truth->loads, truth->above, truth->latency, truth->latency_squares,
	       truth->latency_max, of(truth->latency, truth));
	print_counts("sources", source_names, truth->sources, SOURCE_COUNT);
	print_counts("snoops", snoop_names, truth->snoops, SNOOP_COUNT);
	print_counts("tlbs", tlb_names, truth->tlbs, TLB_COUNT);
	printf(", \"walks\": %" PRIu64 ", \"locked\": %" PRIu64
	       ", \"hitm_share\": %.6f, \"walk_share\": %.6f, \"locked_share\": %.6f}",
	       truth->walks, truth->locked, of(truth->snoops[SNOOP_HITM], truth), of(truth->walks, truth),
	       of(truth->locked, truth));
}

/*
 * Parses a set of workloads into bits. Returns 0, -ENOMEM, or a negative error after it reported an unknown
 * name.
 */
static int parse_workloads(const char *text, unsigned *ret)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy;
	const char *name;

	if (!copy)
		return -ENOMEM;
	*ret = 0;
	if (!strcmp(text, "all")) {
		*ret = (1U << WORKLOAD_COUNT) - 1;
		return 0;
	}
	while ((name = strsep(&rest, ","))) {
		int kind = workload_find(name);

		if (kind < 0) {
			(void)fprintf(stderr, "model_truth: there is no workload \"%s\"; there are all",
				      name);
			for (unsigned i = 0; i < WORKLOAD_COUNT; i++)
				(void)fprintf(stderr, ", %s", workload_names[i]);
			(void)fprintf(stderr, "\n");
			return kind;
		}
		*ret |= 1U << (unsigned)kind;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct machine *machine;
	const char *between = "";
	unsigned kinds;
	u64 seed, threshold, loads;

	if (argc != 6 || number_parse(argv[3], 0, ~0ULL, &seed) ||
	    number_parse(argv[4], 0, 65535, &threshold) || number_parse(argv[5], 1, ~0ULL, &loads)) {
		(void)fprintf(stderr,
			      "usage: model_truth MACHINE WORKLOADS SEED THRESHOLD LOADS\n"
			      "WORKLOADS: all, or names with commas between; THRESHOLD: 0 to 65535\n");
		return 2;
	}
	machine = machine_find(argv[1]);
	if (!machine || machine_refusal(machine)) {
		(void)fprintf(stderr, "model_truth: %s: %s\n", argv[1],
			      machine ? machine_refusal(machine) : "there is no such machine in the model");
		return 2;
	}
	if (parse_workloads(argv[2], &kinds) < 0)
		return 2;
	printf("{\"machine\": \"%s\", \"seed\": %" PRIu64 ", \"threshold\": %" PRIu64 ", \"workloads\": [",
	       machine->name, seed, threshold);
	for (unsigned kind = 0; kind < WORKLOAD_COUNT; kind++) {
		_cleanup_(workload_fixture_close) struct workload_fixture fixture = {0};
		struct truth truth = {0};

		if (!(kinds & 1U << kind))
			continue;
		if (workload_fixture_open(machine, (enum workload_kind)kind, seed, &fixture) < 0) {
			(void)fprintf(stderr, "model_truth: no memory for a workload\n");
			return 1;
		}
		truth_add(&fixture, (u32)threshold, loads, &truth);
		printf("%s", between);
		print_truth((enum workload_kind)kind, &truth);
		between = ",\n";
	}
	printf("]}\n");
	return 0;
}
