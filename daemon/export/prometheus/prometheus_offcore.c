// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus/prometheus_offcore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "export/prometheus/label.h"

struct labels {
	char **of; /* series x PMUs: cgroup="...",pmu="..." */
	size_t n;
};

static void labels_done(struct labels *labels)
{
	for (size_t i = 0; i < labels->n; i++)
		free(labels->of[i]);
	free(labels->of);
}

static int labels_make(const struct snapshot *snapshot, const struct series *const *series, size_t n_series,
		       const struct cgroup_label_request *request, struct labels *ret)
{
	size_t n_pmus = snapshot->offcore.n_pmus;

	ret->n = 0;
	ret->of = calloc(n_series * n_pmus + 1, sizeof(*ret->of));
	if (!ret->of)
		return -ENOMEM;
	for (size_t i = 0; i < n_series; i++)
		for (size_t pmu = 0; pmu < n_pmus; pmu++) {
			_cleanup_free_ char *cgroup = NULL;
			_cleanup_free_ char *name = NULL;
			int r = cgroup_label(request, series[i]->path, &cgroup);

			if (r == 0)
				r = label_escape(snapshot->offcore.pmus[pmu].name, &name);
			if (r < 0)
				return r;
			if (asprintf(&ret->of[ret->n], "%s,pmu=\"%s\"", cgroup, name) < 0) {
				ret->of[ret->n] = NULL;
				return -ENOMEM;
			}
			ret->n++;
		}
	return 0;
}

static void write_reads(struct exposition *out, const struct snapshot *snapshot,
			const struct series *const *series, size_t n_series, const struct labels *labels)
{
	static const struct family reads = {
		"pebsd_offcore_reads", FAMILY_COUNTER,
		"Demand reads that left the core, by what served them. They are counted, not sampled, and scaled if counters were multiplexed. Absent after a failed reading."};
	static const enum offcore_kind kinds[] = {OFFCORE_L3, OFFCORE_LOCAL_DRAM, OFFCORE_REMOTE_DRAM};
	size_t n_pmus = snapshot->offcore.n_pmus;

	for (size_t i = 0; i < n_series; i++)
		for (size_t pmu = 0; series[i]->offcore && pmu < n_pmus; pmu++)
			for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
				char source[64];
				u64 value;

				if (!offcore_scaled_get(series[i]->offcore, pmu, kinds[k], &value))
					continue;
				(void)snprintf(source, sizeof(source), "source=\"%s\"",
					       offcore_kind_name(kinds[k]));
				exposition_u64(out, &reads, "_total", labels->of[i * n_pmus + pmu], source,
					       value);
			}
}

static void write_latency(struct exposition *out, const struct snapshot *snapshot,
			  const struct series *const *series, size_t n_series, const struct labels *labels)
{
	static const struct family latency = {
		"pebsd_offcore_latency_cycles", FAMILY_SUMMARY,
		"Core clock cycles for which demand reads were outstanding beyond the core, and the number of these reads. Sum divided by count is the mean."};
	size_t n_pmus = snapshot->offcore.n_pmus;

	for (size_t i = 0; i < n_series; i++)
		for (size_t pmu = 0; series[i]->offcore && pmu < n_pmus; pmu++) {
			const char *of = labels->of[i * n_pmus + pmu];
			u64 cycles, requests;

			if (!offcore_scaled_get(series[i]->offcore, pmu, OFFCORE_OUTSTANDING, &cycles) ||
			    !offcore_scaled_get(series[i]->offcore, pmu, OFFCORE_REQUESTS, &requests))
				continue;
			exposition_u64(out, &latency, "_sum", of, NULL, cycles);
			exposition_u64(out, &latency, "_count", of, NULL, requests);
		}
}

static int write_pmus(struct exposition *out, const struct snapshot *snapshot)
{
	static const struct family errors = {
		"pebsd_offcore_failed_readings", FAMILY_COUNTER,
		"Readings of an off-core counter that failed. The figures that depend on them are absent."};
	const struct snapshot_offcore *offcore = &snapshot->offcore;

	for (size_t pmu = 0; pmu < offcore->n_pmus; pmu++) {
		_cleanup_free_ char *name = NULL;

		if (label_escape(offcore->pmus[pmu].name, &name) < 0)
			return -ENOMEM;
		for (enum offcore_kind kind = 0; kind < OFFCORE_KINDS; kind++) {
			_cleanup_free_ char *labels = NULL;

			if (!(offcore->pmus[pmu].kinds & 1U << kind))
				continue;
			if (asprintf(&labels, "pmu=\"%s\",source=\"%s\"", name, offcore_kind_name(kind)) <
			    0) {
				labels = NULL;
				return -ENOMEM;
			}
			exposition_u64(out, &errors, "_total", labels, NULL, offcore->pmus[pmu].errors[kind]);
		}
	}
	return 0;
}

static void write_cost(struct exposition *out, const struct snapshot_offcore *offcore)
{
	static const struct family switches = {
		"pebsd_offcore_switches", FAMILY_COUNTER,
		"Task switches on the CPUs whose off-core responses are counted."};
	static const struct family readings = {
		"pebsd_offcore_readings", FAMILY_COUNTER,
		"How often the off-core counters of a CPU were read: at switches between cgroups, and at collections."};
	static const struct family cost = {
		"pebsd_offcore_cost_ratio", FAMILY_GAUGE,
		"Share of CPU time that reading the off-core counters took between the last two collections, on the CPUs that have such counters open."};

	exposition_u64(out, &switches, "_total", NULL, NULL, offcore->switches);
	exposition_u64(out, &readings, "_total", NULL, NULL, offcore->settles);
	exposition_maybe_double(out, &cost, "", NULL, NULL, offcore->cost_ratio);
}

int prometheus_offcore(struct exposition *out, const struct snapshot *snapshot,
		       const struct series *const *series, size_t n_series,
		       const struct cgroup_label_request *request)
{
	_cleanup_(labels_done) struct labels labels = {0};
	int r;

	if (!snapshot->offcore_known)
		return 0;
	r = labels_make(snapshot, series, n_series, request, &labels);
	if (r < 0)
		return r;
	write_reads(out, snapshot, series, n_series, &labels);
	write_latency(out, snapshot, series, n_series, &labels);
	r = write_pmus(out, snapshot);
	if (r < 0)
		return r;
	write_cost(out, &snapshot->offcore);
	return 0;
}
