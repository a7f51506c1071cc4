// SPDX-License-Identifier: GPL-2.0
/* A compact form of a tally: only counters that are not zero. Pure functions. */
#ifndef PEBSD_TALLY_RECORD_H
#define PEBSD_TALLY_RECORD_H

#include <stddef.h>

#include "base/varint.h"
#include "window/tally.h"

#define TALLY_COUNTERS (SOURCE_SLOTS + 3 + FINE_BUCKETS)

/*
 * Upper bound of a record's size: numbers of 64 bits, the number of pairs, the sum of squares, an index and
 * value per pair.
 */
#define TALLY_RECORD_MAX ((size_t)6 * VARINT_MAX + sizeof(double) + (size_t)TALLY_COUNTERS * 7)

/* Writes `tally`; returns the end. */
u8 *tally_pack(const struct tally *tally, u8 *to);

/* Reads a record that tally_pack() wrote. Returns the end of the record. */
const u8 *tally_unpack(const u8 *from, struct tally *ret);

/* Returns the end of a record that tally_pack() wrote. */
const u8 *tally_skip(const u8 *from);

#endif
