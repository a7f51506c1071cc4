// SPDX-License-Identifier: GPL-2.0
/* A sample with all that there is of it, and what else an event's ring tells. */
#ifndef PEBSD_ZOOM_SAMPLE_H
#define PEBSD_ZOOM_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "pebsd/sample.h"

/* Frames of a stack at most, kernel.perf_event_max_stack (127) of each half. */
#define ZOOM_STACK_MAX 256

struct zoom_sample {
	u64 time_ns; /* CLOCK_MONOTONIC */
	u32 pid, tid;
	u32 cpu;
	u32 event;        /* index among the zoom's events */
	struct sample of; /* `cgroup_id` 0 where the kernel does not tell it (before 5.7) */
	u64 physical;     /* physical address of the data; 0: not known */
	/*
	 * Return addresses, the innermost first, without the sampled instruction itself (of.code_address),
	 * without PERF_CONTEXT_* marks. `user` is by frame pointers, or by the LBR's call stack where that
	 * goes further.
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
	ZOOM_RECORD_NAMED,  /* PERF_RECORD_COMM; `executed` where it came with an exec */
	ZOOM_RECORD_FORKED,
	ZOOM_RECORD_EXITED,
	ZOOM_RECORD_LOST, /* records that found no room */
	ZOOM_RECORD_THROTTLED,
	ZOOM_RECORD_OTHER,
};

/* What it points to is valid until the next one is read. */
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
			u8 build_id_size; /* 0: the record has major, minor, inode in its place */
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
