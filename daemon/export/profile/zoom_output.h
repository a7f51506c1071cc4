// SPDX-License-Identifier: GPL-2.0
/* What a zoom that is over can be taken away as. */
#ifndef PEBSD_ZOOM_OUTPUT_H
#define PEBSD_ZOOM_OUTPUT_H

#include "detail/zooms.h"

enum zoom_format { ZOOM_PPROF, ZOOM_FOLDED, ZOOM_FOLDED_LATENCY, ZOOM_PERF_DATA, ZOOM_FORMATS };

/* "pprof", "folded", "folded-latency", "perf.data". */
const char *zoom_format_name(enum zoom_format format);

/* 0 or -EINVAL. */
int zoom_format_parse(const char *name, enum zoom_format *ret);

/*
 * `kernel_addresses`: else functions of the kernel are named in folded stacks, and one frame, "[kernel]", in
 * pprof; perf.data has addresses all over and is not to be given to whom they are hidden from. The caller
 * frees `*ret`. 0; -ENODATA: folded by latency, which its event has not; -ENOMEM, -E2BIG.
 */
int zoom_output(const struct zoom *zoom, enum zoom_format format, bool kernel_addresses, u8 **ret,
		size_t *ret_size);

#endif
