// SPDX-License-Identifier: GPL-2.0
/* Exposes the fields that read_sample.h read from the last sample, for test_read_sample.c. */
#include "read_sample.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct event_settings event = {};

struct sample last = {};
u64 helper_cgroup_id = 0;
u64 runs = 0;

SEC("perf_event")
int keep_sample(struct bpf_perf_event_data *context)
{
	struct raw_sample raw;

	read_raw_sample(context, &raw);
	select_fields(&raw, &event, &last);
	last.address = read_address(context);
	last.cgroup_id = read_cgroup()->kn->id;
	helper_cgroup_id = bpf_get_current_cgroup_id();
	runs++;
	return 0;
}
