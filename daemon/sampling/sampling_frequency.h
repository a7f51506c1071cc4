// SPDX-License-Identifier: GPL-2.0
/*
 * For the origin `perf`: measures the frequency at which the CPUs of each event of cycles run, about every ten
 * seconds. The results are in `frequency_hz` of each such event in the snapshot.
 */
#ifndef PEBSD_SAMPLING_FREQUENCY_H
#define PEBSD_SAMPLING_FREQUENCY_H

#include "base/cleanup.h"
#include "origin/perf/perf.h"
#include "snapshot/snapshot.h"

struct sampling_frequency;

/*
 * `head` and `sets`, which is in the order of the head's events, must outlive `*ret`, which is NULL if no event
 * counts cycles. Returns 0 or -ENOMEM.
 */
int sampling_frequency_new(struct snapshot *head, struct perf_event_set *const *sets, size_t n_sets,
			   struct sampling_frequency **ret);
struct sampling_frequency *sampling_frequency_free(struct sampling_frequency *frequency);
DEFINE_CLEANUP(struct sampling_frequency *, sampling_frequency_free)

/*
 * Call this before a collection, because reading /proc/stat may take a millisecond on large machines. Reads it if
 * ten seconds have passed since the last time, or one second if this is the `last` collection. `frequency` may be
 * NULL here and below.
 */
void sampling_frequency_read(struct sampling_frequency *frequency, bool last);

/*
 * Call this in the collection, after perf_count() of all sets. Computes the frequencies if
 * sampling_frequency_read() has read the times for this collection. Makes no system call.
 */
void sampling_frequency_counted(struct sampling_frequency *frequency);

#endif
