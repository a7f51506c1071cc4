// SPDX-License-Identifier: GPL-2.0
/* Encodes alerts as records (state/state.h), and decodes records, which it does not trust. Pure. */
#ifndef PEBSD_ALERTS_RECORD_H
#define PEBSD_ALERTS_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"
#include "state/state_layout.h"

/*
 * Encodes an alert. Returns the number of bytes, or 0 if the path is too long for a record. The first
 * `*ret_named` bytes identify the alert: they differ for any two alerts.
 */
size_t alerts_record_write(const struct policy_saved_alert *saved, u8 to[STATE_RECORD_MAX],
			   size_t *ret_named);

/*
 * Decodes an alert that was saved at `now_ns` (CLOCK_MONOTONIC) and has a number below `next`. Returns 0,
 * -EBADMSG if the record is not such an alert, or -ENOMEM. The caller frees the strings of `*ret`, also after
 * an error.
 */
int alerts_record_read(const u8 *bytes, size_t length, u64 now_ns, u64 next, struct policy_saved_alert *ret,
		       size_t *ret_named);

#endif
