// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts samples without the kernel: in this process, with the accounting function of the BPF programs
 * (bpf/account.h). The results are the same deltas that a collection reads from the slots.
 */
#ifndef PEBSD_ACCOUNT_TOTALS_H
#define PEBSD_ACCOUNT_TOTALS_H

#include <stddef.h>

#include "base/cleanup.h"
#include "collect/counters.h"
#include "pebsd/sample.h"

/* Samples since the start that no collection has, by reason. */
struct account_losses {
	u64 malformed; /* as in struct rejected_record */
	u64 filtered;
	u64 unattributed; /* of cgroups that were not named */
};

struct account_totals;

/*
 * Makes empty totals for `n_events` events (at most EVENTS_MAX) and at most `max` cgroups. Returns 0, -EINVAL or
 * -ENOMEM. The caller frees `*ret` with account_totals_free().
 */
int account_totals_new(const struct event_settings *events, size_t n_events, size_t max,
		       struct account_totals **ret);
struct account_totals *account_totals_free(struct account_totals *totals);
DEFINE_CLEANUP(struct account_totals *, account_totals_free)

/*
 * Names a cgroup. Call it before its first sample; another call for it has no effect. `path` is copied.
 * Returns 0, -ENOSPC if there are `max` cgroups already, or -ENOMEM.
 */
int account_totals_name(struct account_totals *totals, u64 cgroup_id, const char *path);

/* Accounts samples. Returns 0, or -ENOMEM: then some of them are not counted. */
int account_totals_add(struct account_totals *totals, const struct sample *samples, size_t n);

/*
 * Receives the deltas of one cgroup, which are valid during the call; NULL for an event without samples.
 * `path` is valid until the totals are freed. `entry` is the number of the cgroup, counted from 0 and never
 * used again.
 */
typedef void (*account_totals_callback)(void *userdata, u32 entry, const char *path,
					const struct counters *const deltas[EVENTS_MAX]);

/*
 * Makes a collection: calls back for each cgroup with samples since the last one, in the order of their first
 * sample.
 */
void account_totals_collect(struct account_totals *totals, account_totals_callback callback, void *userdata);

struct account_losses account_totals_losses(const struct account_totals *totals);

/*
 * Makes a note for the readers of a report. `*ret`, which the caller frees, is NULL if no sample is malformed. Returns
 * 0 or -ENOMEM.
 */
int account_losses_note(const struct account_losses *losses, char **ret);

#endif
