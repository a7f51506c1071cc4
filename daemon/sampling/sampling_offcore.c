// SPDX-License-Identifier: GPL-2.0
#include "sampling/sampling_offcore.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "origin/perf/perf.h"
#include "origin/perf/perf_backend.h"
#include "origin/perf/perf_offcore.h"

struct sampling_offcore {
	struct offcore_set *set; /* NULL: refused */
	char *refusal;
	struct engine *engine; /* not owned; NULL until started */
	bool counting;
	char *logged; /* the failure logged last; NULL: none since */
};

struct sampling_offcore *sampling_offcore_free(struct sampling_offcore *offcore)
{
	if (!offcore)
		return NULL;
	if (offcore->engine)
		engine_head(offcore->engine)->offcore_refusal = NULL;
	offcore_free(offcore->set);
	free(offcore->refusal);
	free(offcore->logged);
	free(offcore);
	return NULL;
}

/* Returns the reason why no PMU has counters. The caller frees; NULL if memory ran out. */
static char *why_none(const struct pmu_plan *plan)
{
	_cleanup_free_ char *refusals = pmu_plan_refusals(plan, 1U << EVENT_OFFCORE);

	return refusals && !*refusals ? strdup("no known PMU has events for them") : TAKE_PTR(refusals);
}

/* Takes ownership of `reason`. */
static void refuse(struct sampling_offcore *offcore, char *reason)
{
	offcore->set = offcore_free(offcore->set);
	offcore->counting = false;
	free(offcore->refusal);
	offcore->refusal = reason;
	(void)log_warning(0, "off-core responses are not counted: %s", reason ? reason : "out of memory");
}

int sampling_offcore_open(const struct pmu_plan *plan, unsigned roles, bool require_all,
			  struct sampling_offcore **ret, char **ret_message)
{
	_cleanup_(sampling_offcore_freep) struct sampling_offcore *offcore = NULL;
	char *message = NULL;
	int r;

	*ret = NULL;
	*ret_message = NULL;
	if (!(roles & 1U << EVENT_OFFCORE))
		return 0;
	offcore = calloc(1, sizeof(*offcore));
	if (!offcore)
		return -ENOMEM;
	if (plan->n_counters == 0) {
		refuse(offcore, why_none(plan));
	} else {
		r = offcore_open(plan->counters, plan->n_counters, PERF_ONLINE_PATH, &offcore->set, &message);
		if (r == -ENOMEM || (r < 0 && require_all && perf_backend_may_mend(r))) {
			*ret_message = message;
			return r;
		}
		if (r < 0)
			refuse(offcore, message ? message : strdup(strerror(-r)));
	}
	*ret = TAKE_PTR(offcore);
	return 0;
}

u32 sampling_offcore_cpus(const struct sampling_offcore *offcore)
{
	return offcore && offcore->set ? offcore_cpus(offcore->set) : 0;
}

u64 sampling_offcore_hash(const struct sampling_offcore *offcore, u64 hash)
{
	const struct offcore_pmu *pmus;
	size_t n;

	if (!offcore || !offcore->set)
		return hash;
	pmus = offcore_pmus(offcore->set, &n);
	for (size_t i = 0; i < n; i++) {
		hash = inherited_hash(hash, pmus[i].name, strlen(pmus[i].name) + 1);
		hash = inherited_hash(hash, &pmus[i].kinds, sizeof(pmus[i].kinds));
	}
	return hash;
}

static void name_pmus(struct snapshot_offcore *head, const struct offcore_set *set)
{
	const struct offcore_pmu *pmus = offcore_pmus(set, &head->n_pmus);

	for (size_t i = 0; i < head->n_pmus; i++) {
		memcpy(head->pmus[i].name, pmus[i].name, sizeof(head->pmus[i].name));
		head->pmus[i].kinds = pmus[i].kinds;
	}
}

void sampling_offcore_start(struct sampling_offcore *offcore, struct engine *engine,
			    const struct offcore_save_settings *save)
{
	char *message;
	int r;

	if (!offcore)
		return;
	offcore->engine = engine;
	if (offcore->set) {
		name_pmus(&engine_head(engine)->offcore, offcore->set);
		r = offcore_start(offcore->set, kernel_offcore(engine_kernel(engine)), save, &message);
		if (r < 0)
			refuse(offcore, message ? message : strdup(strerror(-r)));
		else
			offcore->counting = true;
	}
	engine_head(engine)->offcore_refusal = offcore->refusal;
}

void sampling_offcore_collect(const struct sampling_offcore *offcore)
{
	if (offcore && offcore->counting)
		offcore_collect(offcore->set);
}

/* Logs a persistent failure once. */
void sampling_offcore_tick(struct sampling_offcore *offcore)
{
	_cleanup_free_ char *message = NULL;
	int r;

	if (!offcore || !offcore->counting)
		return;
	r = offcore_hotplug(offcore->set, &message);
	if (r < 0 && (!offcore->logged || !message || strcmp(offcore->logged, message) != 0))
		(void)log_warning(0, "%s", message ? message : strerror(-r));
	free(offcore->logged);
	offcore->logged = r < 0 ? TAKE_PTR(message) : NULL;
}

void sampling_offcore_pause(struct sampling_offcore *offcore)
{
	if (offcore && offcore->counting)
		offcore_pause(offcore->set);
}

void sampling_offcore_resume(struct sampling_offcore *offcore)
{
	if (offcore && offcore->counting)
		offcore_resume(offcore->set);
}
