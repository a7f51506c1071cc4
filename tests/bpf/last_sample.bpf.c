// SPDX-License-Identifier: GPL-2.0
/* What read_sample() makes of the last sample, laid open: for test_read_sample.c. */
#include "read_sample.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct event_settings event = {};

struct sample last = {};
u64 runs = 0;

SEC("perf_event")
int keep_sample(struct bpf_perf_event_data *context)
{
	read_sample(context, &event, 3, &last);
	runs++;
	return 0;
}
