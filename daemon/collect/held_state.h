// SPDX-License-Identifier: GPL-2.0
/* What is held (held.h) as the bytes of a record, and back. Pure. */
#ifndef PEBSD_HELD_STATE_H
#define PEBSD_HELD_STATE_H

#include "collect/held.h"

/* Room for whatever is held. */
#define HELD_STATE_MAX (12U << 10)

/* Writes it to `to`, HELD_STATE_MAX bytes. Returns how many it took. */
size_t held_save(const struct held *held, u8 *to);

/*
 * The same taken back, of an event with or without latency and of stripes below `n_stripes`; the caller frees
 * it with held_free(). 0; -EBADMSG: these are no such bytes; -ENOMEM.
 */
int held_restore(const u8 *bytes, size_t size, bool has_latency, u32 n_stripes, struct held **ret);

#endif
