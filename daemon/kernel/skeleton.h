// SPDX-License-Identifier: GPL-2.0
/*
 * Opens the BPF objects that this kernel accepts without CAP_SYS_ADMIN. If the kernel has
 * bpf_cast_to_kern_ctx(), these are the objects that call it. Older kernels get variants that do not contain
 * its name (bpf/read_sample.h). Both variants have the same maps, programs and variables, so the rest of the
 * daemon uses one skeleton type for each object.
 */
#ifndef PEBSD_SKELETON_H
#define PEBSD_SKELETON_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_program;
struct pebsd_bpf;
struct zoom_bpf;

/* Like NAME_bpf__open(): returns NULL with errno on failure. The caller destroys the skeleton. */
struct pebsd_bpf *skeleton_open_pebsd(void);
struct zoom_bpf *skeleton_open_zoom(void);

/* Returns the perf_event program of an event, or NULL if it has none. */
struct bpf_program *skeleton_event_program(const struct pebsd_bpf *skeleton, unsigned event);

/* Returns true if BTF data, as in /sys/kernel/btf/vmlinux, has `name` as a whole string. Pure: no system call. */
bool skeleton_names(const void *btf, size_t bytes, const char *name);

#endif
