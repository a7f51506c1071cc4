// SPDX-License-Identifier: GPL-2.0
/* zoom.bpf.c for kernels without bpf_cast_to_kern_ctx, compiled without that symbol (read_sample.h). */
#define BEFORE_6_2
#include "zoom.bpf.c" // NOLINT(bugprone-suspicious-include): the same programs
