// SPDX-License-Identifier: GPL-2.0
/* Opens the events of a plan together. An event that cannot be opened does not affect the others. */
#ifndef PEBSD_PERF_SETS_H
#define PEBSD_PERF_SETS_H

#include "origin/perf/perf.h"
#include "origin/pmu/perf_selection.h"
#include "origin/pmu/pmu.h"

/*
 * Opens the plan's events, in the plan's order, on the CPUs that the selection allows. An event that the
 * kernel refuses moves from the specs to the refusals. For an event without a selected CPU, adds a note.
 *
 * Returns 0 if at least one event is open. Otherwise returns -errno of the first refusal, with the messages
 * of all refusals in `ret_message`, which the caller frees. Returns -ENODEV with a NULL message if the plan
 * had no spec, or none with a selected CPU. Returns -ENOMEM if memory is short. In every case the caller
 * owns the sets in `ret`.
 *
 * If `require_all` is set, returns at the first refusal that may succeed when it is tried again
 * (perf_backend_may_mend()). Loads are the purpose of an automatic plan: if none of its loads is open, and the first
 * refusal of loads may succeed later, returns that refusal, although counts may be open.
 */
int perf_sets_open(struct pmu_plan *plan, const struct perf_selection *selection, const char *online_path,
		   bool require_all, struct perf_event_set *ret[static EVENTS_MAX], size_t *ret_n,
		   char **ret_message);

/*
 * Returns refusal `i` as a sentence, which the caller frees, if a reader of the counts must know it. NULL
 * means that refusal `i` need not be known, or no memory. A refusal need not be known if an event of the same
 * role covers all CPUs on another PMU (AMD's `cpu` besides `ibs_op`). Pure.
 */
char *perf_sets_refusal(const struct pmu_plan *plan, size_t i);

/*
 * Returns a note on the events that `events = auto` leaves out because of the first `n` refusals of the plan. The
 * caller frees it. NULL means that it leaves out none that a reader must know (perf_sets_refusal()), or no memory.
 * Pure.
 */
char *perf_sets_left_out(const struct pmu_plan *plan, size_t n);

/*
 * Sets the period of each of the `n` sets, at most EVENTS_MAX, to the one in `plan`, a plan that was made again.
 * If one of them cannot be changed, all keep their periods. Returns 0, or the first -errno with `ret_message`
 * saying which events prevent the change, and why. The caller frees it.
 */
int perf_sets_set_periods(struct perf_event_set *const *sets, size_t n, const struct pmu_plan *plan,
			  char **ret_message);

#endif
