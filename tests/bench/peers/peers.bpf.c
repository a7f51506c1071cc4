// SPDX-License-Identifier: GPL-2.0
/*
 * The peers of pebsd's program at the same event: programs that handle a sample as other tools do. All of
 * them except `empty` use the latency and the data source that synthetic.h derives from the fault's address.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include "peers.h"
#include "synthetic.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PEER_ENTRIES);
	__type(key, u64);
	__type(value, struct peer_value);
} shared_values SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, PEER_ENTRIES);
	__type(key, u64);
	__type(value, struct peer_value);
} percpu_values SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
	__uint(max_entries, PEER_ENTRIES);
	__type(key, u64);
	__type(value, struct peer_value);
} lru_values SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, PEER_RING);
} ring SEC(".maps");

u64 ring_lost = 0;

const volatile struct peer_value nothing = {};

static __always_inline void read_record(struct bpf_perf_event_data *context, struct peer_record *ret)
{
	struct synthetic synthetic = synthetic_of(context->addr);

	ret->cgroup_id = bpf_get_current_cgroup_id();
	ret->data_source = synthetic.data_source;
	ret->period = context->sample_period;
	ret->latency = synthetic.latency;
	ret->reserved = 0;
}

/* Returns the cgroup's value and creates it at the first sample. */
static __always_inline struct peer_value *value_in(void *map, u64 cgroup_id)
{
	struct peer_value *value = bpf_map_lookup_elem(map, &cgroup_id);

	if (value)
		return value;
	bpf_map_update_elem(map, &cgroup_id, (const void *)&nothing, BPF_NOEXIST);
	return bpf_map_lookup_elem(map, &cgroup_id);
}

SEC("perf_event")
int empty(struct bpf_perf_event_data *context)
{
	return 0;
}

/* Only reads the record. The programs below read it, too. */
SEC("perf_event")
int read_only(struct bpf_perf_event_data *context)
{
	struct peer_record record;

	read_record(context, &record);
	return record.latency == 0;
}

SEC("perf_event")
int shared_hash(struct bpf_perf_event_data *context)
{
	struct peer_record record;
	struct peer_value *value;

	read_record(context, &record);
	value = value_in(&shared_values, record.cgroup_id);
	if (value)
		peer_add_shared(value, &record);
	return 0;
}

SEC("perf_event")
int percpu_hash(struct bpf_perf_event_data *context)
{
	struct peer_record record;
	struct peer_value *value;

	read_record(context, &record);
	value = value_in(&percpu_values, record.cgroup_id);
	if (value)
		peer_add(value, &record);
	return 0;
}

SEC("perf_event")
int lru_percpu_hash(struct bpf_perf_event_data *context)
{
	struct peer_record record;
	struct peer_value *value;

	read_record(context, &record);
	value = value_in(&lru_values, record.cgroup_id);
	if (value)
		peer_add(value, &record);
	return 0;
}

static __always_inline void stream(struct bpf_perf_event_data *context, u64 flags)
{
	struct peer_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		(void)__sync_fetch_and_add(&ring_lost, 1);
		return;
	}
	read_record(context, record);
	bpf_ringbuf_submit(record, flags);
}

SEC("perf_event")
int ring_quiet(struct bpf_perf_event_data *context)
{
	stream(context, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("perf_event")
int ring_waking(struct bpf_perf_event_data *context)
{
	stream(context, 0);
	return 0;
}
