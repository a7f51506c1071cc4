// SPDX-License-Identifier: GPL-2.0
/* A tally in as few bytes as what moved needs. Pure. */
#ifndef PEBSD_TALLY_RECORD_H
#define PEBSD_TALLY_RECORD_H

#include <stddef.h>

#include "base/varint.h"
#include "window/tally.h"

#define TALLY_COUNTERS (SOURCE_SLOTS + 3 + FINE_BUCKETS)

/* Room that tally_pack() may need: five numbers of 64 bits, the pairs' number, a place and a value each. */
#define TALLY_RECORD_MAX ((size_t)6 * VARINT_MAX + sizeof(double) + (size_t)TALLY_COUNTERS * 7)

/* Writes `tally`; returns the end. */
u8 *tally_pack(const struct tally *tally, u8 *to);

/* Reads what tally_pack() wrote; returns the end. */
const u8 *tally_unpack(const u8 *from, struct tally *ret);

/* The end of what tally_pack() wrote. */
const u8 *tally_skip(const u8 *from);

#endif
