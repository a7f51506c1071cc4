// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_trend.h"

#include <stdlib.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "window/trend.h"

/* Members whose trends are read together. */
#define TOGETHER 256

static void add_members(const struct snapshot *snapshot, const struct snapshot_cgroup *cgroup, unsigned event,
			struct trend_bins *bins)
{
	u32 entries[TOGETHER];
	size_t n;

	trend_cover(snapshot->trend, bins);
	if (cgroup->n_members == 0)
		trend_add(snapshot->trend, &cgroup->entry, 1, event, bins);
	for (size_t i = 0; i < cgroup->n_members; i += n) {
		for (n = 0; n < TOGETHER && i + n < cgroup->n_members; n++)
			entries[n] = cgroup->members[i + n]->entry;
		trend_add(snapshot->trend, entries, n, event, bins);
	}
}

static json_object *short_number(struct json_writer *writer, double value)
{
	char text[48];

	(void)snprintf(text, sizeof(text), "%.6g", value);
	return json_checked(writer, json_object_new_double_s(value, text));
}

/* The samples of a bin. Those of the past are parts of collections. */
static json_object *samples_number(struct json_writer *writer, const struct trend_bins *bins, size_t index)
{
	const struct trend_bin *bin = &bins->bins[index];

	if (!bin->covered)
		return NULL;
	if (!bins->end_ns)
		return json_checked(writer, json_object_new_uint64((u64)bin->samples));
	return short_number(writer, bin->samples);
}

static void put_covered(struct json_writer *writer, json_object *object, const struct trend_bins *bins)
{
	json_object *covered = json_checked(writer, json_object_new_array());

	for (size_t i = 0; i < bins->n; i++)
		json_append(writer, covered,
			    short_number(writer, bins->bins[i].covered_ns / (double)NSEC_PER_SEC));
	json_put(writer, object, "covered_s", covered);
}

/* A bin is null if nothing is known: no collection for `samples`, no sample with a latency for `mean`. */
static json_object *trend_object(struct json_writer *writer, const struct trend_bins *bins)
{
	json_object *object = json_checked(writer, json_object_new_object());
	json_object *samples = json_checked(writer, json_object_new_array());
	json_object *mean = json_checked(writer, json_object_new_array());
	json_object *number;
	char text[48];

	json_put_seconds(writer, object, "bin_s", (double)bins->bin_ns / (double)NSEC_PER_SEC);
	for (size_t i = 0; i < bins->n; i++) {
		const struct trend_bin *bin = &bins->bins[i];

		if (json_object_array_add(samples, samples_number(writer, bins, i)) < 0)
			writer->failed = true;
		number = NULL;
		if (bin->latency_samples > 0) {
			double cycles = bin->latency / bin->latency_samples;

			(void)snprintf(text, sizeof(text), "%.1f", cycles);
			number = json_checked(writer, json_object_new_double_s(cycles, text));
		}
		if (json_object_array_add(mean, number) < 0)
			writer->failed = true;
	}
	json_put(writer, object, "samples", samples);
	json_put(writer, object, "mean", mean);
	if (bins->end_ns)
		put_covered(writer, object, bins);
	return object;
}

void json_put_trends(struct json_writer *writer, json_object *cgroup_object, const struct snapshot *snapshot,
		     const struct snapshot_cgroup *cgroup, const struct json_trend *wanted)
{
	json_object *events = json_object_object_get(cgroup_object, "events");

	if (!snapshot->trend || !wanted || !wanted->bins || !events)
		return;
	for (unsigned event = 0; event < snapshot->n_events; event++) {
		json_object *object = json_object_object_get(events, snapshot->events[event].key);
		struct trend_bins bins = {
			.bin_ns = MAX(wanted->bin_ns, 1), .end_ns = wanted->end_ns, .n = wanted->bins};

		if (!object)
			continue;
		bins.bins = calloc(bins.n, sizeof(*bins.bins));
		if (!bins.bins) {
			writer->failed = true;
			return;
		}
		add_members(snapshot, cgroup, event, &bins);
		json_put(writer, object, "trend", trend_object(writer, &bins));
		free(bins.bins);
	}
}
