// SPDX-License-Identifier: GPL-2.0
/*
 * Whether an event counts on and is never sampled again. Pure.
 *
 * On PEBS formats before 0011b (Nehalem to Broadwell) the record of two PEBS events that overflowed together
 * is dropped, and nobody loads the counter of an event of a fixed period anew then. In Linux 6.1, 6.12
 * and 7.3 (arch/x86/events/):
 * - intel_pmu_hw_config(), intel/core.c: with `wakeup_events`, which perf_attr() sets, an event does not have
 *   PERF_X86_EVENT_AUTO_RELOAD.
 * - intel_pmu_pebs_enable(), intel/ds.c: so its `pebs_event_reset` is 0, which is what the assist loads.
 * - intel_pmu_drain_pebs_nhm(), intel/ds.c: a record that names several events is counted in error[] alone:
 *   it is logged (perf_log_lost_samples()) and accounted as an interrupt. Only for those in counts[] is
 *   __intel_pmu_pebs_event() called, in 7.3 __intel_pmu_pebs_last_event(), which loads the period by
 *   intel_pmu_save_and_restart().
 * - handle_pmi_common(), intel/core.c: takes PEBS counters out of the status that plain events are served by.
 * The counter goes on from 0, and 2^48 events must come before it overflows. Events with a frequency are
 * mended by the tick: perf_adjust_freq_unthr_context(), kernel/events/core.c, 6.12 and 7.3
 * perf_adjust_freq_unthr_events(), stops them, and starts those that counted with PERF_EF_RELOAD. A fixed
 * period that was throttled it starts too, but with flags 0, with which x86_pmu_start() loads nothing. Events
 * that leave their counter are mended as they come back.
 */
#ifndef PEBSD_PERF_STALL_H
#define PEBSD_PERF_STALL_H

#include <stdbool.h>

#include "origin/perf/perf_page.h"

/* {0} has seen nothing. */
struct perf_stall {
	struct perf_reading page; /* as it was when it last moved */
	u64 wait_ns; /* from the last look, or the move, to the next look; 0: before the first page */
	u64 look_ns; /* when that is */
	u64 rearmed; /* times; the caller's */
	u64 missed;  /* samples that were due by then; the caller's */
	bool likely; /* records of this event and others of pebsd's collide; the caller's */
};

/*
 * Takes note of the page at `now_ns`, of a clock that goes on. Returns whether the count is worth a look,
 * which interrupts the CPU: at the first page, as nobody knows how long that stood still, 1 s after it moved,
 * or half a second if a stall is likely or came before;
 * then after twice the time before, at most a minute.
 */
bool perf_stall_watch(struct perf_stall *stall, const struct perf_reading *page, u64 now_ns);

/*
 * Whether the event must have been sampled since the page's count: a whole period more than the next sample
 * needs has passed. `count`: read while the page stood still; `period`: at least 1, in force all the while.
 */
bool perf_stall_judge(const struct perf_stall *stall, u64 period, u64 count);

#endif
