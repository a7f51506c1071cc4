// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the kernel's types that pebsd reads, for CO-RE. Names and shapes are the kernel's. libbpf
 * corrects the offsets at load, from the kernel's BTF. Only the members that pebsd reads are declared.
 * Checked against Linux 6.1, 6.12 and 6.18.
 *
 * libbpf ignores the part of a type's name that begins with ___. Such a suffix avoids conflicts with the
 * definitions of UAPI headers and of older kernels.
 */
#ifndef PEBSD_KERNEL_TYPES_H
#define PEBSD_KERNEL_TYPES_H

#include "pebsd/types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

union perf_mem_data_src___slice {
	u64 val;
};

/* Little-endian order of include/uapi/linux/perf_event.h, since 5.12. */
union perf_sample_weight___slice {
	u64 full;
	struct {
		u32 var1_dw; /* latency; from Alder Lake and Sapphire Rapids on, cache latency */
		u16 var2_w;  /* instruction latency */
		u16 var3_w;
	};
};

struct perf_sample_data {
	u64 sample_flags; /* since 6.1: the bits of the fields that were filled; the others are garbage */
	u64 addr;
	union perf_sample_weight___slice weight;
	union perf_mem_data_src___slice data_src;
};

/* The kernel's own type for the context of a perf_event program (include/linux/bpf_perf_event.h). */
struct bpf_perf_event_data_kern {
	void *regs;
	struct perf_sample_data *data;
	void *event;
};

struct kernfs_node {
	const char *name;
	u64 id;
	struct kernfs_node *__parent; /* RCU, since 6.15 */
};

struct kernfs_node___before_6_15 {
	struct kernfs_node *parent;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

/* A task's cgroup in the default hierarchy. An exiting task keeps its css_set until the task is freed. */
struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	struct css_set *cgroups;
};

#pragma clang attribute pop

#endif
