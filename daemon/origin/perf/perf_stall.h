// SPDX-License-Identifier: GPL-2.0
/*
 * Detects an event that counts but never produces samples again. Pure functions.
 *
 * On PEBS formats before 0011b (Nehalem to Broadwell), the record of two PEBS events that overflowed together
 * is dropped. For an event of a fixed period, nothing reloads the counter then. In Linux 6.1, 6.12 and 7.3
 * (arch/x86/events/):
 * - intel_pmu_hw_config(), intel/core.c: an event with `wakeup_events`, which perf_attr() sets, does not get
 *   PERF_X86_EVENT_AUTO_RELOAD.
 * - intel_pmu_pebs_enable(), intel/ds.c: its `pebs_event_reset` is therefore 0, the value that the PEBS
 *   assist loads.
 * - intel_pmu_drain_pebs_nhm(), intel/ds.c: a record that names several events is counted only in error[],
 *   logged (perf_log_lost_samples()) and accounted as an interrupt. Only for events in counts[] does it call
 *   __intel_pmu_pebs_event(), in 7.3 __intel_pmu_pebs_last_event(), which loads the period by
 *   intel_pmu_save_and_restart().
 * - handle_pmi_common(), intel/core.c: removes PEBS counters from the status by which plain events are
 *   handled.
 *
 * The interrupt of any other event has the same effect if it comes between the overflow of a PEBS event and its
 * record. It clears the overflow's bit (intel_pmu_ack_status(), intel/core.c), so the record names no event.
 * intel_pmu_drain_pebs_nhm() then drops it, unless `pebs_enabled` has only one bit. Load latency and precise store
 * set a second bit (intel_pmu_pebs_enable(), intel/ds.c, 6.12), so they are never exempt.
 *
 * The counter continues from 0, and 2^48 events must pass before it overflows. The tick repairs events with a
 * frequency. perf_adjust_freq_unthr_context(), kernel/events/core.c (in 6.12 and 7.3
 * perf_adjust_freq_unthr_events()), stops each of them and starts it again, with the flag PERF_EF_RELOAD if it
 * has counted since the last tick. The function also restarts a throttled event of a fixed period, but with
 * flags 0, with which x86_pmu_start() loads nothing. Events that leave their counter are repaired when they
 * return to it.
 */
#ifndef PEBSD_PERF_STALL_H
#define PEBSD_PERF_STALL_H

#include <stdbool.h>

#include "origin/perf/perf_page.h"

/* The state of one event. {0} is the state before the first page. */
struct perf_stall {
	struct perf_reading page; /* content of the page when it last changed */
	u64 wait_ns; /* time from the last look, or from the last move, to the next look; 0: no page seen yet */
	u64 look_ns; /* time of the next look */
	u64 rearmed; /* number of times that the event was rearmed; the caller maintains it */
	u64 missed;  /* samples expected during the stalls that `rearmed` counts; the caller maintains it */
	bool likely; /* records of this event collide with others of pebsd; the caller sets it */
};

/*
 * Notes the page at `now_ns` of a monotonic clock. Returns true if the count should be read now (a "look"),
 * which interrupts the CPU:
 * - at the first page, because it is not known how long the page has stood still,
 * - 1 s after the page moved, or half a second if a stall is likely or happened before,
 * - after that at doubling intervals, at most a minute.
 */
bool perf_stall_watch(struct perf_stall *stall, const struct perf_reading *page, u64 now_ns);

/*
 * Returns true if a sample is overdue: since the page was written, the event has counted more than the next
 * sample needs, by at least a whole period and by at least 4,096 events. `count` was read while the page stood
 * still. `period` is at least 1, and was in force all the time.
 */
bool perf_stall_judge(const struct perf_stall *stall, u64 period, u64 count);

#endif
