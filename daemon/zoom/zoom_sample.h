// SPDX-License-Identifier: GPL-2.0
/* A complete sample, and the other records of an event's ring. */
#ifndef PEBSD_ZOOM_SAMPLE_H
#define PEBSD_ZOOM_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/sample.h"

/*
 * Maximum frames that are kept of each half of a stack, kernel and user. By default the kernel stores fewer:
 * kernel.perf_event_max_stack is 127 for both halves together.
 */
#define ZOOM_STACK_MAX 256

/*
 * The kernel's PERF_MEM_NA: no driver filled in the data source (perf_sample_data_init(), perf_prepare_sample()).
 * Needs linux/perf_event.h.
 */
#define ZOOM_SOURCE_NA                                                                             \
	(PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) | PERF_MEM_S(LOCK, NA) | \
	 PERF_MEM_S(TLB, NA) | PERF_MEM_S(LVLNUM, NA))

struct zoom_sample {
	u64 time_ns; /* CLOCK_MONOTONIC */
	u32 pid, tid;
	u32 cpu;
	u32 event;        /* index among the zoom's events */
	struct sample of; /* `cgroup_id` is 0 if the kernel does not report it (before 5.7) */
	u64 physical;     /* physical address of the data; 0: not known */
	/*
	 * Return addresses, the innermost first, without PERF_CONTEXT_* marks. The sampled instruction itself
	 * is not included (see of.code_address). For a sample in the kernel, user[0] is not a return address
	 * but the place where the kernel was entered. `user` comes from frame pointers, or from the LBR's
	 * call stack if that is deeper.
	 */
	const u64 *kernel;
	size_t n_kernel;
	const u64 *user;
	size_t n_user;
	bool user_of_lbr;
};

enum zoom_record_kind {
	ZOOM_RECORD_SAMPLE,
	ZOOM_RECORD_MAPPED, /* PERF_RECORD_MMAP2 */
	ZOOM_RECORD_NAMED,  /* PERF_RECORD_COMM; `executed` if an exec caused it */
	ZOOM_RECORD_FORKED,
	ZOOM_RECORD_EXITED,
	ZOOM_RECORD_LOST, /* records for which the ring had no room */
	ZOOM_RECORD_THROTTLED,
	ZOOM_RECORD_OTHER,
};

/* Pointers are valid until the next record is read. */
struct zoom_record {
	enum zoom_record_kind kind;
	u64 time_ns; /* 0: not known */
	u32 pid, tid;
	union {
		struct zoom_sample sample;
		struct {
			u64 start, size, offset;
			u32 major, minor;
			u64 inode;
			u32 protection;
			u8 build_id[20];
			u8 build_id_size; /* 0: major, minor and inode are set instead */
			const char *path; /* terminated */
		} mapped;
		struct {
			const char *name; /* terminated */
			bool executed;
		} named;
		struct {
			u32 parent_pid, parent_tid;
		} forked;
		u64 lost;
	};
};

#endif
