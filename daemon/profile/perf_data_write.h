// SPDX-License-Identifier: GPL-2.0
/*
 * A zoom's recording as perf.data, which `perf report --mem-mode`, `perf script` and `perf c2c report` open:
 * file header, attributes with ids, COMM and MMAP2 of the processes as they were, the kernel's own mapping,
 * the samples, and the features that perf asks for (host, release, arch, CPUs, NUMA nodes, event names).
 *
 * Samples are written in a layout of this file's own, which the attributes written describe, and all records
 * in the order of their times. The layouts are those of
 * tools/perf/Documentation/perf.data-file-format.txt, and of perf_output_sample() in kernel/events/core.c
 * (Linux 6.1).
 */
#ifndef PEBSD_PERF_DATA_WRITE_H
#define PEBSD_PERF_DATA_WRITE_H

#include "zoom/zoom_recording.h"

struct perf_data_node {
	u32 number;
	u64 total_kib, free_kib; /* of memory */
	const char *cpus;        /* "0-3,8"; "" where it has none */
};

struct perf_data_host {
	const char *hostname, *release, *architecture; /* NULL: left out */
	u32 cpus_online, cpus_available;
	u64 kernel_start;    /* address of _text (_stext); 0: not known, no kernel mapping */
	const char *command; /* shown as cmdline */
	const char *cpuid;   /* "GenuineIntel,6,143,8", as perf spells it; NULL: left out */
	/* None: left out, and perf c2c, which wants to know them, does not open the file. */
	const struct perf_data_node *nodes;
	size_t n_nodes;
};

/* Bytes of a file at most: above what a recording of ZOOM_RECORDING_BYTES comes to. */
#define PERF_DATA_BYTES_MAX (1ULL << 30)

/* The caller frees `*ret`. 0, -ENOMEM, -E2BIG. */
int perf_data_write(const struct zoom_recording *recording, const struct perf_data_host *host, u8 **ret,
		    size_t *ret_size);

#endif
