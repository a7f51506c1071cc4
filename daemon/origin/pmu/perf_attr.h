// SPDX-License-Identifier: GPL-2.0
/*
 * Builds the perf_event_attr of a planned event. Pure functions.
 *
 * Each field is chosen so that EVERY record runs the BPF program, for all roles. With a plain fixed period,
 * the kernel collects PEBS records in a large buffer, and only the last record of each buffer reaches the
 * program. With wakeup_events and without watermark the kernel does not use the large buffer
 * (intel_pmu_hw_config, arch/x86/events/intel/core.c, Linux 6.1, 6.12 and 7.3). IBS runs the program for each
 * interrupt (perf_ibs_handle_irq, arch/x86/events/amd/ibs.c).
 *
 * A code address needs no sample type: the registers passed to the program contain it in any case
 * (setup_pebs_fixed_sample_data, setup_pebs_adaptive_sample_data, arch/x86/events/intel/ds.c;
 * perf_ibs_handle_irq).
 *
 * The ring that an event maps is only for throttling (perf_throttle.h). Without sample_id_all the records in
 * the ring have no trailer. The times in them are of CLOCK_MONOTONIC, which the kernel can read in an NMI and
 * the reader can read too. Setting a clock removes PERF_SAMPLE_TIME from the fields that a large buffer
 * allows, and changes nothing else of a PEBS event (intel_pmu_large_pebs_flags). A throttling record does not
 * count as a sample for `wakeup_events`. A half full ring wakes processes that poll it, but none does.
 */
#ifndef PEBSD_PERF_ATTR_H
#define PEBSD_PERF_ATTR_H

#include <linux/perf_event.h>

#include "origin/pmu/pmu.h"

/*
 * Fills in the sampling event, disabled, with a fixed `period`, the number of events for each sample. If the
 * spec has a leader, the event is a member of its group.
 */
void perf_attr(const struct event_spec *spec, u64 period, struct perf_event_attr *ret);

/* Fills in the leader of the group, which only counts. The spec must have a leader. */
void perf_attr_leader(const struct event_spec *spec, struct perf_event_attr *ret);

/* Fills in a counter of off-core responses, disabled. It samples nothing, and only BPF reads it. */
void perf_attr_counter(const struct pmu_counter *counter, struct perf_event_attr *ret);

/*
 * Fills in an event that needs no PMU (PERF_COUNT_SW_DUMMY), to find out whether CPU-wide events are allowed.
 */
void perf_attr_permission(struct perf_event_attr *ret);

/*
 * Finds the next weaker way to open an event that the kernel refused with `error` (-errno):
 * - with a leader, if the kernel demands one,
 * - without the load threshold of IBS,
 * - with WEIGHT if the kernel does not know WEIGHT_STRUCT (before 5.12),
 * - with a lower precise_ip, but not below 1, because without PEBS there is neither a latency nor an exact
 *   instruction,
 * - as perf_attr_only_count() does, if the spec may count and the kernel has no PEBS (-EOPNOTSUPP).
 *
 * `planned` is the spec as planned. Changes `spec` and returns true, or returns false if there is no
 * weaker way.
 */
bool perf_attr_relax(const struct event_spec *planned, int error, struct event_spec *spec);

/* Changes the spec to one that only counts. */
void perf_attr_only_count(struct event_spec *spec);

#endif
