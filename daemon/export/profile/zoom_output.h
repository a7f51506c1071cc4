// SPDX-License-Identifier: GPL-2.0
/* The file formats of a finished zoom. */
#ifndef PEBSD_ZOOM_OUTPUT_H
#define PEBSD_ZOOM_OUTPUT_H

#include "detail/zooms.h"

enum zoom_format { ZOOM_PPROF, ZOOM_FOLDED, ZOOM_FOLDED_LATENCY, ZOOM_PERF_DATA, ZOOM_FORMATS };

/* "pprof", "folded", "folded-latency", "perf.data". */
const char *zoom_format_name(enum zoom_format format);

/* Returns 0, or -EINVAL if no format has this name. */
int zoom_format_parse(const char *name, enum zoom_format *ret);

/*
 * Makes the file; the caller frees `*ret`. Without `kernel_addresses`, folded stacks still name kernel
 * functions, but pprof has one frame "[kernel]" for all of them. A perf.data file always contains addresses:
 * do not give it to a caller who must not see them. Returns 0; -ENODATA if stacks are to be folded by latency
 * but the event has none; -ENOMEM, -E2BIG.
 */
int zoom_output(const struct zoom *zoom, enum zoom_format format, bool kernel_addresses, u8 **ret,
		size_t *ret_size);

#endif
