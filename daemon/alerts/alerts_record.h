// SPDX-License-Identifier: GPL-2.0
/* Alerts as records (state/state.h), and back from one whose writer is not believed. Pure. */
#ifndef PEBSD_ALERTS_RECORD_H
#define PEBSD_ALERTS_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"
#include "state/state_layout.h"

/*
 * Writes one, and returns its bytes; the first `*ret_named` of them say which it is, and no two alerts have
 * the same. 0: its path is longer than a record.
 */
size_t alerts_record_write(const struct policy_memory *memory, u8 to[STATE_RECORD_MAX], size_t *ret_named);

/* What was known before `now_ns` (CLOCK_MONOTONIC), with numbers below `next`. The caller frees the strings,
 * also where it is no alert. 0, -EBADMSG or -ENOMEM. */
int alerts_record_read(const u8 *bytes, size_t length, u64 now_ns, u64 next, struct policy_memory *ret,
		       size_t *ret_named);

#endif
