// SPDX-License-Identifier: GPL-2.0
#include "profile/perf_data_features.h"

#include <stdlib.h>
#include <time.h>

/* Section numbers (enum in tools/perf/util/header.h, Linux 6.1). The sections are in this order. */
enum {
	HOSTNAME = 3,
	RELEASE = 4,
	VERSION = 5,
	ARCHITECTURE = 6,
	CPUS = 7,
	CPUID = 9,
	COMMAND = 11,
	EVENTS = 12,
	NODES = 14,
	PMUS = 16,
	SAMPLE_TIME = 21,
	CLOCK_DATA = 29,
	FEATURES = 30,
};

#define CLOCK_DATA_VERSION 1

static void put_text(struct perf_data_bytes *out, const char *text)
{
	if (text)
		perf_data_put_string(out, text);
}

static void put_cpus(struct perf_data_bytes *out, const struct perf_data_host *host)
{
	if (!host->cpus_available)
		return;
	perf_data_put_u32(out, host->cpus_available);
	perf_data_put_u32(out, host->cpus_online);
}

/* A single argument: perf joins the arguments with blanks when it shows them. */
static void put_command(struct perf_data_bytes *out, const struct perf_data_host *host)
{
	if (!host->command)
		return;
	perf_data_put_u32(out, 1);
	perf_data_put_string(out, host->command);
}

static void put_events(struct perf_data_bytes *out, const struct perf_data_about *about)
{
	perf_data_put_u32(out, (u32)about->zoom->n_events);
	perf_data_put_u32(out, (u32)sizeof(struct perf_event_attr));
	for (size_t i = 0; i < about->zoom->n_events; i++) {
		perf_data_put(out, &about->attrs[i].attr, sizeof(about->attrs[i].attr));
		perf_data_put_u32(out, 1);
		perf_data_put_string(out, about->attrs[i].name);
		perf_data_put_u64(out, i + 1);
	}
}

static void put_nodes(struct perf_data_bytes *out, const struct perf_data_host *host)
{
	if (!host->n_nodes)
		return;
	perf_data_put_u32(out, (u32)host->n_nodes);
	for (size_t i = 0; i < host->n_nodes; i++) {
		perf_data_put_u32(out, host->nodes[i].number);
		perf_data_put_u64(out, host->nodes[i].total_kib);
		perf_data_put_u64(out, host->nodes[i].free_kib);
		perf_data_put_string(out, host->nodes[i].cpus);
	}
}

/* Returns whether the PMU needs no entry: an earlier event has the same type, or the event has no PMU. */
static bool is_told(const struct perf_data_about *about, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (about->attrs[i].attr.type == about->attrs[index].attr.type)
			return true;
	return !*about->attrs[index].pmu;
}

static void put_pmus(struct perf_data_bytes *out, const struct perf_data_about *about)
{
	u32 n = 0;

	for (size_t i = 0; i < about->zoom->n_events; i++)
		n += !is_told(about, i);
	if (!n)
		return;
	perf_data_put_u32(out, n);
	for (size_t i = 0; i < about->zoom->n_events; i++) {
		if (is_told(about, i))
			continue;
		perf_data_put_u32(out, about->attrs[i].attr.type);
		perf_data_put_string(out, about->attrs[i].pmu);
	}
}

static void put_sample_time(struct perf_data_bytes *out, const struct perf_data_about *about)
{
	if (!about->first_ns)
		return;
	perf_data_put_u64(out, about->first_ns);
	perf_data_put_u64(out, about->last_ns);
}

/* Writes the start of the zoom on CLOCK_REALTIME and CLOCK_MONOTONIC. perf converts times with it. */
static void put_clock(struct perf_data_bytes *out, const struct perf_data_about *about)
{
	if (!about->zoom->began_real_ns)
		return;
	perf_data_put_u32(out, CLOCK_DATA_VERSION);
	perf_data_put_u32(out, CLOCK_MONOTONIC);
	perf_data_put_u64(out, about->zoom->began_real_ns);
	perf_data_put_u64(out, about->zoom->began_ns);
}

static void put_feature(struct perf_data_bytes *out, unsigned int number, const struct perf_data_about *about,
			const struct perf_data_host *host)
{
	switch (number) {
	case HOSTNAME:
		put_text(out, host->hostname);
		break;
	case RELEASE:
		put_text(out, host->release);
		break;
	case VERSION:
		put_text(out, "pebsd " PEBSD_VERSION);
		break;
	case ARCHITECTURE:
		put_text(out, host->architecture);
		break;
	case CPUS:
		put_cpus(out, host);
		break;
	case CPUID:
		put_text(out, host->cpuid);
		break;
	case COMMAND:
		put_command(out, host);
		break;
	case EVENTS:
		put_events(out, about);
		break;
	case NODES:
		put_nodes(out, host);
		break;
	case PMUS:
		put_pmus(out, about);
		break;
	case SAMPLE_TIME:
		put_sample_time(out, about);
		break;
	case CLOCK_DATA:
		put_clock(out, about);
		break;
	default:
		break;
	}
}

u64 perf_data_features(struct perf_data_bytes *out, const struct perf_data_about *about,
		       const struct perf_data_host *host)
{
	struct perf_data_bytes sections = {0};
	u64 sizes[FEATURES] = {0};
	u64 bits = 0, at;

	for (unsigned int i = 0; i < FEATURES; i++) {
		size_t before = sections.size;

		put_feature(&sections, i, about, host);
		sizes[i] = sections.size - before;
		if (sizes[i])
			bits |= 1ULL << i;
	}
	at = out->size + (u64)__builtin_popcountll(bits) * 2 * sizeof(u64);
	for (unsigned int i = 0; i < FEATURES; i++) {
		if (!sizes[i])
			continue;
		perf_data_put_u64(out, at);
		perf_data_put_u64(out, sizes[i]);
		at += sizes[i];
	}
	perf_data_put(out, sections.bytes, sections.size);
	if (!out->error)
		out->error = sections.error;
	free(sections.bytes);
	return bits;
}
