// SPDX-License-Identifier: GPL-2.0
/*
 * All of pebsd's own programs, for the benchmarks, with one change. After a sample was read from the kernel,
 * the latency and data source of synthetic.h replace its own, because page faults have none.
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

/* NOLINTNEXTLINE(bugprone-suspicious-include): the same programs, compiled again */
#include "../../../bpf/pebsd.bpf.c"
