// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF objects as this kernel takes them without CAP_SYS_ADMIN: with bpf_cast_to_kern_ctx where it has
 * that, else those that do not name it (bpf/read_sample.h). Both kinds have the same maps, programs and
 * variables, so that the rest of the daemon knows one skeleton of each.
 */
#ifndef PEBSD_SKELETON_H
#define PEBSD_SKELETON_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_program;
struct pebsd_bpf;
struct zoom_bpf;

/* As NAME_bpf__open(): NULL with errno, the caller's to destroy. */
struct pebsd_bpf *skeleton_open_pebsd(void);
struct zoom_bpf *skeleton_open_zoom(void);

/* The perf_event program of an event; NULL: it has none. */
struct bpf_program *skeleton_event_program(const struct pebsd_bpf *skeleton, unsigned event);

/* Whether types in BTF's format, as /sys/kernel/btf/vmlinux has them, name a thing so. Pure. */
bool skeleton_names(const void *btf, size_t bytes, const char *name);

#endif
