// SPDX-License-Identifier: GPL-2.0
#include "kernel/digests.h"

static const struct build_info_bpf digests[] = {
#include "bpf_digests.h" /* the build makes it of the objects */
};

const struct build_info_bpf *bpf_digests(size_t *ret_n)
{
	*ret_n = sizeof(digests) / sizeof(*digests);
	return digests;
}
