// SPDX-License-Identifier: GPL-2.0
/*
 * Precise store (manual 18.9.4.3): only counter 3, with PEBS enable bits 3 and 63. A record has the store's
 * address at 98H and its status at A0H. A8H is reserved.
 */
#ifndef PEBSD_MODEL_PRECISE_STORE_H
#define PEBSD_MODEL_PRECISE_STORE_H

#include "pebs.h"

#define PRECISE_STORE_COUNTER 3

/* Returns whether the facility is on, which needs both bits. */
bool precise_store_enabled(const struct machine *machine, u64 pebs_enable);

/* Sets the record's address and status, and sets its latency to 0. */
void precise_store_record(const struct retired *store, struct record *record);

#endif
