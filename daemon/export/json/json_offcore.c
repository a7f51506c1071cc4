// SPDX-License-Identifier: GPL-2.0
#include "export/json/json_offcore.h"

#include <stdio.h>

#include "base/json_get.h"
#include "export/json/json_writer.h"

/* Takes `member`. */
static bool put(json_object *into, const char *key, json_object *member)
{
	if (member && json_object_object_add(into, key, member) == 0)
		return true;
	json_object_put(member);
	return false;
}

static bool put_double(json_object *object, const char *key, double value, int decimals)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "%.*f", decimals, value);
	return put(object, key, json_object_new_double_s(value, text));
}

static bool put_kinds(json_object *object, const struct offcore_figure figures[OFFCORE_KINDS])
{
	/* The other two kinds are counted only for the mean latency. */
	static const enum offcore_kind shown[] = {OFFCORE_L3, OFFCORE_LOCAL_DRAM, OFFCORE_REMOTE_DRAM};

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		u64 count;

		if (offcore_scaled(&figures[shown[i]], &count) &&
		    !put(object, offcore_kind_name(shown[i]), json_object_new_uint64(count)))
			return false;
	}
	return true;
}

/* Adds the kinds with failed readings; nothing if there are none. */
static bool put_failed(json_object *object, const u64 errors[OFFCORE_KINDS])
{
	json_object *failed = NULL;

	for (enum offcore_kind kind = 0; kind < OFFCORE_KINDS; kind++) {
		if (!errors[kind])
			continue;
		if (!failed)
			failed = json_object_new_object();
		if (!failed || !put(failed, offcore_kind_name(kind), json_object_new_uint64(errors[kind]))) {
			json_object_put(failed);
			return false;
		}
	}
	return !failed || put(object, "failed_readings", failed);
}

static bool fill_pmu(json_object *object, const struct offcore_figure figures[OFFCORE_KINDS])
{
	u64 errors[OFFCORE_KINDS];
	double value;

	for (size_t kind = 0; kind < OFFCORE_KINDS; kind++)
		errors[kind] = figures[kind].errors;
	if (!put_kinds(object, figures))
		return false;
	if (offcore_running_ratio(figures, &value) && !put_double(object, "running_ratio", value, 6))
		return false;
	if (offcore_latency_mean(figures, &value) &&
	    !put_double(object, "outstanding_latency_mean", value, 1))
		return false;
	return put_failed(object, errors);
}

json_object *json_offcore(const struct snapshot *snapshot, const struct offcore_figures *figures)
{
	_cleanup_json_ json_object *result = json_object_new_object();

	if (!result)
		return NULL;
	for (size_t i = 0; i < snapshot->offcore.n_pmus; i++) {
		json_object *object = json_object_new_object();

		if (!object || !fill_pmu(object, figures->of[i])) {
			json_object_put(object);
			return NULL;
		}
		if (json_object_object_length(object) == 0)
			json_object_put(object); /* none of the PMU's CPUs ran this cgroup */
		else if (!put(result, snapshot->offcore.pmus[i].name, object))
			return NULL;
	}
	return TAKE_PTR(result);
}

static json_object *pmu_status(const struct snapshot_offcore *offcore, size_t index)
{
	_cleanup_json_ json_object *object = json_object_new_object();
	json_object *kinds;

	if (!object)
		return NULL;
	kinds = json_object_new_array();
	if (!put(object, "kinds", kinds))
		return NULL;
	for (enum offcore_kind kind = 0; kind < OFFCORE_KINDS; kind++) {
		json_object *name;

		if (!(offcore->pmus[index].kinds & 1U << kind))
			continue;
		name = json_object_new_string(offcore_kind_name(kind));
		if (!name || json_object_array_add(kinds, name) < 0) {
			json_object_put(name);
			return NULL;
		}
	}
	return put_failed(object, offcore->pmus[index].errors) ? TAKE_PTR(object) : NULL;
}

json_object *json_offcore_status(const struct snapshot *snapshot)
{
	const struct snapshot_offcore *offcore = &snapshot->offcore;
	_cleanup_json_ json_object *object = json_object_new_object();
	json_object *pmus;

	if (!object)
		return NULL;
	if (snapshot->offcore_refusal || !snapshot->offcore_known)
		return put(object, "refused", json_name(snapshot->offcore_refusal)) ? TAKE_PTR(object) : NULL;
	pmus = json_object_new_object();
	if (!put(object, "pmus", pmus))
		return NULL;
	for (size_t i = 0; i < offcore->n_pmus; i++)
		if (!put(pmus, offcore->pmus[i].name, pmu_status(offcore, i)))
			return NULL;
	if (!put(object, "cpus", json_object_new_uint64(offcore->cpus)) ||
	    !put(object, "switches", json_object_new_uint64(offcore->switches)) ||
	    !put(object, "readings", json_object_new_uint64(offcore->settles)))
		return NULL;
	if (offcore->settle_ns.known && !put_double(object, "reading_ns", offcore->settle_ns.value, 1))
		return NULL;
	if (offcore->cost_ratio.known && !put_double(object, "cost_ratio", offcore->cost_ratio.value, 9))
		return NULL;
	return TAKE_PTR(object);
}
