// SPDX-License-Identifier: GPL-2.0
/*
 * The perf_event_attr of a planned event. Pure.
 *
 * Each field is chosen so that EVERY record runs the BPF program, for whichever role. A plain fixed period
 * makes the kernel collect PEBS records in a large buffer, and only the last of each buffer reaches the
 * program; a period with wakeup_events and without watermark does not (intel_pmu_hw_config,
 * arch/x86/events/intel/core.c, Linux 6.1, 6.12 and 7.3). IBS runs it for each interrupt
 * (perf_ibs_handle_irq, arch/x86/events/amd/ibs.c).
 *
 * Of a code address nothing is asked for: the registers that the program is called with hold it, whatever the
 * sample type (setup_pebs_fixed_sample_data, setup_pebs_adaptive_sample_data, arch/x86/events/intel/ds.c;
 * perf_ibs_handle_irq).
 *
 * The ring that an event maps is for throttling alone (perf_ring.h). Without sample_id_all its records have
 * no trailer; their times are of CLOCK_MONOTONIC, which the kernel can read in an NMI, and which the reader
 * has too. A clock of its own takes PERF_SAMPLE_TIME out of what a large buffer allows, and changes nothing
 * else of a PEBS event (intel_pmu_large_pebs_flags). A throttling record is no sample for `wakeup_events`; a
 * ring half full wakes its pollers, of which there are none.
 */
#ifndef PEBSD_PERF_ATTR_H
#define PEBSD_PERF_ATTR_H

#include <linux/perf_event.h>

#include "origin/pmu/pmu.h"

/* The sampling event, a fixed `period` of events a sample. Disabled; in a group where it has a leader. */
void perf_attr(const struct pmu_opening *opening, u64 period, struct perf_event_attr *ret);

/* The leader of its group, which only counts. For openings that have one. */
void perf_attr_leader(const struct pmu_opening *opening, struct perf_event_attr *ret);

/* A counter of off-core responses, which samples nothing and is read by BPF alone. Disabled. */
void perf_attr_counter(const struct pmu_counter *counter, struct perf_event_attr *ret);

/* An event that needs no PMU (PERF_COUNT_SW_DUMMY): whether there may be any on a whole CPU. */
void perf_attr_permission(struct perf_event_attr *ret);

/*
 * The next weaker way to open the same event after the kernel refused one with `error` (-errno): a leader
 * where it wants one, IBS without a load threshold, WEIGHT where it does not know WEIGHT_STRUCT
 * (before 5.12), a lower precise_ip, not below 1: without PEBS there is neither latency nor an exact
 * instruction. `planned` is the opening as planned. Returns whether there is one.
 */
bool perf_attr_relax(const struct pmu_opening *planned, int error, struct pmu_opening *opening);

#endif
