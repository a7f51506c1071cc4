// SPDX-License-Identifier: GPL-2.0
/*
 * A zoom's recording as perf.data, which `perf report --mem-mode`, `perf script` and `perf c2c report` open:
 * file header, attributes with ids, COMM and MMAP2 of the processes as they were, the kernel's own mapping,
 * the samples, and the features that perf asks for (host, release, arch, CPUs, event names, build ids).
 */
#ifndef PEBSD_PERF_DATA_WRITE_H
#define PEBSD_PERF_DATA_WRITE_H

#include "zoom/recording.h"

struct perf_data_host {
	const char *hostname, *release, *architecture; /* NULL: left out */
	u32 cpus_online, cpus_available;
	u64 kernel_start;    /* address of _text (_stext); 0: not known, no kernel mapping */
	const char *command; /* shown as cmdline */
};

/* The caller frees `*ret`. 0, -ENOMEM, -E2BIG. */
int perf_data_write(const struct zoom_recording *recording, const struct perf_data_host *host, u8 **ret,
		    size_t *ret_size);

#endif
