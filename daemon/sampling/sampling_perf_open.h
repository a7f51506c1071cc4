// SPDX-License-Identifier: GPL-2.0
/* For the origin `perf`: from the configuration to open events. */
#ifndef PEBSD_SAMPLING_PERF_OPEN_H
#define PEBSD_SAMPLING_PERF_OPEN_H

#include "base/failure.h"
#include "config/config.h"
#include "origin/perf/perf.h"
#include "origin/perf/perf_notes.h"
#include "sampling/sampling_offcore.h"

/*
 * Opens the configured events as far as this machine can, on the configured CPUs. What cannot be had, and
 * what is left out, is logged and stays in `notes`. Returns 0 where there is one event, or the counters of
 * off-core responses alone; else -errno with `failure` filled in. The sets and counters (NULL: not asked for)
 * are the caller's in every case. `whole`: what another try may open is not left out, and ends it: what is
 * kept from the process before would be of no use to less.
 */
int sampling_perf_open(const struct config *config, bool whole, struct perf_notes *notes,
		       struct perf_event_set *sets[static EVENTS_MAX], size_t *ret_n,
		       struct sampling_offcore **ret_offcore, struct failure *failure);

/* As sampling_set_periods(); `config`: what the sets were opened by, but for the periods. Those of the `kept`
 * sets stay. */
int sampling_perf_set_periods(const struct config *config, u64 period, u64 instructions_period,
			      struct perf_event_set *const *sets, size_t n, const bool kept[EVENTS_MAX],
			      char **ret_message);

/* What another try may mend is no verdict on the machine: the unit is then started again. */
enum exit_code sampling_perf_code(int error);

/* Fills in `failure`, its text with `what` in the format's only place. Returns `error`. */
int sampling_perf_cannot(struct failure *failure, int error, const char *format, const char *what);

#endif
