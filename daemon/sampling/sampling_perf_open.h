// SPDX-License-Identifier: GPL-2.0
/* For the origin `perf`: opens the events of the configuration. */
#ifndef PEBSD_SAMPLING_PERF_OPEN_H
#define PEBSD_SAMPLING_PERF_OPEN_H

#include "base/failure.h"
#include "config/config.h"
#include "origin/perf/perf.h"
#include "origin/perf/perf_notes.h"
#include "sampling/sampling_offcore.h"

/*
 * Opens the configured events as far as this machine has them, on the configured CPUs. Events that are not
 * available or left out are logged and stay in `notes`. Returns 0 if at least one event is open, or only the
 * counters of off-core responses. Else it returns -errno with `failure` filled in. The caller always owns the
 * sets and counters (NULL: not asked for). With `require_all`, an event that another try may open is not left out:
 * the function fails instead, because an incomplete set could not continue the state of the previous process.
 */
int sampling_perf_open(const struct config *config, bool require_all, struct perf_notes *notes,
		       struct perf_event_set *sets[static EVENTS_MAX], size_t *ret_n,
		       struct sampling_offcore **ret_offcore, struct failure *failure);

/*
 * Like sampling_set_periods(). `config` is the configuration that the sets were opened with, except for the
 * periods. The `kept` sets keep their periods.
 */
int sampling_perf_set_periods(const struct config *config, const struct event_periods *periods,
			      struct perf_event_set *const *sets, size_t n, const bool kept[EVENTS_MAX],
			      char **ret_message);

/*
 * Returns the exit code for an error. If another try may succeed, the code makes the service manager start
 * the unit again.
 */
enum exit_code sampling_perf_code(int error);

/* Fills in `failure`. `what` is the only argument of `format`. Returns `error`. */
int sampling_perf_cannot(struct failure *failure, int error, const char *format, const char *what);

#endif
