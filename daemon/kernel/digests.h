// SPDX-License-Identifier: GPL-2.0
/*
 * Digests of the BPF objects that are part of pebsd. The kernel's tag of a program depends on the kernel;
 * these digests do not.
 */
#ifndef PEBSD_KERNEL_DIGESTS_H
#define PEBSD_KERNEL_DIGESTS_H

#include "base/build_info.h"

/* Returns a static array of `*ret_n` digests. */
const struct build_info_bpf *bpf_digests(size_t *ret_n);

#endif
