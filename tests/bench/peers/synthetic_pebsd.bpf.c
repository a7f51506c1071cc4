// SPDX-License-Identifier: GPL-2.0
/*
 * pebsd's own programs, all of them, for the benchmarks: as they are but for one thing. After a sample was
 * read of the kernel its latency and data source are replaced by synthetic.h's, for page faults have none.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "read_sample.h"
#include "synthetic.h"

static __always_inline void read_synthetic(struct bpf_perf_event_data *context, struct raw_sample *ret)
{
	struct synthetic synthetic;

	read_raw_sample(context, ret);
	synthetic = synthetic_of(context->addr);
	ret->flags |= PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC;
	ret->weight = synthetic.latency;
	ret->data_source = synthetic.data_source;
}

#define READ_RAW_SAMPLE read_synthetic

/* NOLINTNEXTLINE(bugprone-suspicious-include): the same programs, compiled anew */
#include "../../../bpf/pebsd.bpf.c"
