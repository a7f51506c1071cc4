// SPDX-License-Identifier: GPL-2.0
/* What opening (kernel_open.c) and use (kernel.c) of the kernel side share. */
#ifndef PEBSD_KERNEL_PARTS_H
#define PEBSD_KERNEL_PARTS_H

#include "kernel.h"
#include "pebsd.skel.h"
#include "store/handover.h"

struct mapping {
	void *memory;
	size_t bytes;
};

/* A program on a tracepoint, that is stored or to be. */
struct kernel_link {
	char label[STORED_LABEL_MAX];
	int fd;     /* its own where `taken`, else the skeleton's */
	bool taken; /* from the process before */
};

/* Each of these from the process before, and in its place. */
#define KERNEL_LINKS_MAX 8

struct kernel {
	struct kernel_settings settings;
	struct pebsd_bpf *skeleton;
	struct mapping latency_records;
	struct mapping plain_records;
	struct mapping slot_owners;
	struct mapping injected;
	struct mapping hot_tables;
	struct mapping marks;
	struct mapping cpu_states;
	u32 stripes;
	u32 cpus; /* possible ones, as the kernel numbers them */
	u64 start_peak;
	u32 hot_max;
	u32 hot_cpus;
	struct kernel_offcore *offcore; /* NULL: off */
	struct ring_buffer *short_of;   /* NULL: without births */
	struct handover *handover;      /* NULL: nothing is kept */
	enum kept kept;
	struct kernel_book *book; /* as it is to be */
	size_t n_links;
	struct kernel_link links[KERNEL_LINKS_MAX];
};

/* The perf_event program of an event's door; NULL: it has none. */
struct bpf_program *kernel_door(const struct pebsd_bpf *skeleton, unsigned event);

#endif
