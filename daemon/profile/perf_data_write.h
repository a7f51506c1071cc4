// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a zoom's recording as perf.data, for `perf report --mem-mode`, `perf script` and `perf c2c report`.
 * The file has the header, attributes with ids, COMM, MMAP2, FORK and EXIT records of the processes, the
 * kernel's mapping, the samples, and the features that perf needs (host, release, architecture, CPUs, NUMA
 * nodes, event names).
 *
 * Samples are written in a layout of this file, which the written attributes describe. All records are sorted
 * by time. The layouts follow tools/perf/Documentation/perf.data-file-format.txt and perf_output_sample() in
 * kernel/events/core.c (Linux 6.1).
 */
#ifndef PEBSD_PERF_DATA_WRITE_H
#define PEBSD_PERF_DATA_WRITE_H

#include "zoom/zoom_recording.h"

struct perf_data_node {
	u32 number;
	u64 total_kib, free_kib; /* of memory */
	const char *cpus;        /* "0-3,8"; "" if it has none */
};

struct perf_data_host {
	const char *hostname, *release, *architecture; /* NULL: left out */
	u32 cpus_online, cpus_available;
	u64 kernel_start;    /* address of _text; 0: not known, no kernel mapping */
	const char *command; /* shown as cmdline */
	const char *cpuid;   /* "GenuineIntel,6,143,8", as perf spells it; NULL: left out */
	/* Left out if there are none. perf c2c refuses a file without nodes. */
	const struct perf_data_node *nodes;
	size_t n_nodes;
};

/*
 * Maximum bytes of a file. A recording of ZOOM_RECORDING_BYTES needs more only if most stacks are very deep.
 */
#define PERF_DATA_BYTES_MAX (1ULL << 30)

/* Returns 0, -ENOMEM or -E2BIG. The caller frees `*ret`. */
int perf_data_write(const struct zoom_recording *recording, const struct perf_data_host *host, u8 **ret,
		    size_t *ret_size);

#endif
