// SPDX-License-Identifier: GPL-2.0
/* Which BPF objects are part of pebsd: a kernel's tag of a program depends on the kernel, these digests do
 * not. */
#ifndef PEBSD_KERNEL_DIGESTS_H
#define PEBSD_KERNEL_DIGESTS_H

#include "base/build_info.h"

/* Static. */
const struct build_info_bpf *bpf_digests(size_t *ret_n);

#endif
