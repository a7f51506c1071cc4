// SPDX-License-Identifier: GPL-2.0
/* A recording's bytes, offered to its reader. */
#ifndef PEBSD_OFFER_H
#define PEBSD_OFFER_H

#include <stddef.h>

#include "origin/replay/perf_data.h"
#include "perf_data_writer.h"

/* Where the bytes come from: a file, or a pipe that another process fills. */
enum offer_way { OFFER_FILE, OFFER_PIPE };

/* A descriptor at the bytes' start, the caller's. Takes nothing over. */
int offer_bytes(const u8 *bytes, size_t size, enum offer_way way);

/* Opens what the writer has and frees the writer. Fails the test on error. */
struct perf_data *offer_written(struct writer *writer, enum offer_way way);

#endif
