// SPDX-License-Identifier: GPL-2.0
/* Passes the bytes of a recording to its reader. */
#ifndef PEBSD_OFFER_H
#define PEBSD_OFFER_H

#include <stddef.h>

#include "origin/replay/perf_data.h"
#include "perf_data_writer.h"

/* Source of the bytes: a file, or a pipe that another process fills. */
enum offer_way { OFFER_FILE, OFFER_PIPE };

/* Returns a descriptor at the start of the bytes, which the caller owns. The caller also keeps `bytes`. */
int offer_bytes(const u8 *bytes, size_t size, enum offer_way way);

/* Opens the writer's recording and frees the writer. Fails the test on error. */
struct perf_data *offer_written(struct writer *writer, enum offer_way way);

#endif
