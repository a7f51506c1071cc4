// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_offcore.h"

#include "base/cleanup.h"

static void put_kinds(struct json_writer *writer, json_object *object,
		      const struct offcore_counted counters[OFFCORE_KINDS])
{
	/* The other two kinds are counted only for the mean latency. */
	static const enum offcore_kind shown[] = {OFFCORE_L3, OFFCORE_LOCAL_DRAM, OFFCORE_REMOTE_DRAM};

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		u64 count;

		if (offcore_scaled(&counters[shown[i]], &count))
			json_put_u64(writer, object, offcore_kind_name(shown[i]), count);
	}
}

/* Adds the kinds with failed readings; nothing if there are none. */
static void put_failed(struct json_writer *writer, json_object *object, const u64 errors[OFFCORE_KINDS])
{
	json_object *failed = NULL;

	for (enum offcore_kind kind = 0; kind < OFFCORE_KINDS; kind++) {
		if (!errors[kind])
			continue;
		if (!failed)
			failed = json_checked(writer, json_object_new_object());
		json_put_u64(writer, failed, offcore_kind_name(kind), errors[kind]);
	}
	if (failed)
		json_put(writer, object, "failed_readings", failed);
}

static json_object *pmu_object(struct json_writer *writer,
			       const struct offcore_counted counters[OFFCORE_KINDS])
{
	json_object *object = json_checked(writer, json_object_new_object());
	u64 errors[OFFCORE_KINDS];
	double value;

	for (size_t kind = 0; kind < OFFCORE_KINDS; kind++)
		errors[kind] = counters[kind].errors;
	put_kinds(writer, object, counters);
	if (offcore_running_ratio(counters, &value))
		json_put_number(writer, object, "running_ratio", value, 6);
	if (offcore_latency_mean(counters, &value))
		json_put_number(writer, object, "outstanding_latency_mean", value, 1);
	put_failed(writer, object, errors);
	return object;
}

json_object *json_offcore(struct json_writer *writer, const struct snapshot *snapshot,
			  const struct offcore_counts *counters)
{
	json_object *pmus = json_checked(writer, json_object_new_object());

	for (size_t i = 0; i < snapshot->offcore.n_pmus; i++) {
		json_object *pmu = pmu_object(writer, counters->of[i]);

		if (pmu && json_object_object_length(pmu) == 0)
			json_object_put(pmu); /* none of the PMU's CPUs ran this cgroup */
		else
			json_put(writer, pmus, snapshot->offcore.pmus[i].name, pmu);
	}
	return pmus;
}

static json_object *pmu_status(struct json_writer *writer, const struct snapshot_offcore *offcore,
			       size_t index)
{
	json_object *object = json_checked(writer, json_object_new_object());
	json_object *kinds = json_checked(writer, json_object_new_array());

	for (enum offcore_kind kind = 0; kind < OFFCORE_KINDS; kind++)
		if (offcore->pmus[index].kinds & 1U << kind)
			json_append(writer, kinds, json_object_new_string(offcore_kind_name(kind)));
	json_put(writer, object, "kinds", kinds);
	put_failed(writer, object, offcore->pmus[index].errors);
	return object;
}

json_object *json_offcore_status(struct json_writer *writer, const struct snapshot *snapshot)
{
	const struct snapshot_offcore *offcore = &snapshot->offcore;
	json_object *object = json_checked(writer, json_object_new_object());
	json_object *pmus;

	if (snapshot->offcore_refusal || !snapshot->offcore_known) {
		json_put_text(writer, object, "refused", snapshot->offcore_refusal);
		return object;
	}
	pmus = json_checked(writer, json_object_new_object());
	for (size_t i = 0; i < offcore->n_pmus; i++)
		json_put(writer, pmus, offcore->pmus[i].name, pmu_status(writer, offcore, i));
	json_put(writer, object, "pmus", pmus);
	json_put_u64(writer, object, "cpus", offcore->cpus);
	json_put_u64(writer, object, "switches", offcore->switches);
	json_put_u64(writer, object, "readings", offcore->settles);
	if (offcore->settle_ns.known)
		json_put_number(writer, object, "reading_ns", offcore->settle_ns.value, 1);
	if (offcore->cost_ratio.known)
		json_put_number(writer, object, "cost_ratio", offcore->cost_ratio.value, 9);
	return object;
}
