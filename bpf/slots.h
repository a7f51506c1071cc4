// SPDX-License-Identifier: GPL-2.0
/*
 * The slot table: which cgroup has which slot, and where a slot's records are.
 *
 * The NMI path only looks up. Slots are handed out when a cgroup is born (cgroup_mkdir, before any task can
 * be in it) or adopted by the daemon's walk at start, and given back in two steps: retired (the index no
 * longer leads to it), then free. Both trace points run under cgroup_mutex (kernel/cgroup/cgroup.c, Linux 6.1
 * to 6.18); the daemon's requests may run beside them, so the index, which refuses a second entry, decides.
 */
#ifndef PEBSD_SLOTS_H
#define PEBSD_SLOTS_H

#include <linux/bpf.h>
#include <linux/errno.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "pebsd/records.h"

/* Settings, fixed at load; volatile in every use, or the compiler would take the zeros here for their values.
 */
const volatile u32 slot_count = 1;
const volatile u32 stripe_mask = 0;
const volatile struct event_settings events[EVENTS_MAX] = {};

struct slot_counters slot_counters = {};

/* Where the next search for a free slot begins, so that a slot rests as long as can be before it is used
 * again. */
u32 slot_cursor = 0;

struct loss_record losses[EVENTS_MAX][STRIPES_MAX] = {};

/* Sizes are set at load: slots x stripes x events of the kind. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct latency_record);
} latency_records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct plain_record);
} plain_records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct slot_owner);
} slot_owners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u32);
} slot_index SEC(".maps");

/* The cgroup's slot, or SLOT_UNATTRIBUTED. */
static __always_inline u32 slot_of(u64 cgroup_id)
{
	u32 *slot = bpf_map_lookup_elem(&slot_index, &cgroup_id);

	return slot ? *slot : SLOT_UNATTRIBUTED;
}

static __always_inline u32 slot_stripe(void)
{
	return bpf_get_smp_processor_id() & stripe_mask;
}

/* Index of a record in the array of its kind: event, then stripe, then slot, so that a reader streams. */
static __always_inline u32 slot_record(const volatile struct event_settings *event, u32 stripe, u32 slot)
{
	return event->first_record + stripe * slot_count + slot;
}

static __always_inline struct slot_owner *slot_owner_of(u32 slot)
{
	return bpf_map_lookup_elem(&slot_owners, &slot);
}

/* The state is what readers go by: everything written before it is there when they see it. */
static __always_inline void slot_publish(struct slot_owner *owner, u32 state)
{
	__sync_lock_test_and_set(&owner->state, state);
}

struct slot_search {
	u32 first;
	u32 found;
};

static long slot_try(u32 step, void *context)
{
	struct slot_search *search = context;
	u32 slot = (search->first + step) % slot_count;
	struct slot_owner *owner;

	if (slot == SLOT_UNATTRIBUTED)
		return 0;
	owner = slot_owner_of(slot);
	if (!owner)
		return 1;
	if (__sync_val_compare_and_swap(&owner->state, SLOT_FREE, SLOT_TAKEN) != SLOT_FREE)
		return 0;
	search->found = slot;
	return 1;
}

/* A slot that nobody else has taken, or SLOT_UNATTRIBUTED. A full table is not searched. */
static __always_inline u32 slot_find(void)
{
	struct slot_search search = {.first = __sync_fetch_and_add(&slot_cursor, 1)};

	if (slot_counters.free == 0)
		return SLOT_UNATTRIBUTED;
	bpf_loop(slot_count, slot_try, &search, 0);
	if (search.found)
		__sync_fetch_and_add(&slot_counters.free, -1);
	return search.found;
}

static __always_inline void slot_release(struct slot_owner *owner)
{
	slot_publish(owner, SLOT_FREE);
	__sync_fetch_and_add(&slot_counters.free, 1);
}

/* A free slot made the cgroup's, its name still empty. Returns the slot, or -errno; -EEXIST if it has one. */
static __always_inline int slot_take(u64 cgroup_id, u64 parent_id, struct slot_owner **ret_owner)
{
	struct slot_owner *owner;
	u32 slot;

	if (bpf_map_lookup_elem(&slot_index, &cgroup_id))
		return -EEXIST;
	slot = slot_find();
	if (slot == SLOT_UNATTRIBUTED)
		return -ENOSPC;
	owner = slot_owner_of(slot);
	if (!owner)
		return -ENOENT;

	owner->cgroup_id = cgroup_id;
	owner->parent_id = parent_id;
	owner->died_ns = 0;
	owner->generation++;
	*ret_owner = owner;
	return (int)slot;
}

/*
 * Makes a taken slot the one that samples find; on failure it is free again. Entered before it is published:
 * a sample may be counted in a slot that is not alive yet, and the first reading of it has that sample too.
 */
static __always_inline int slot_enter(u32 slot, struct slot_owner *owner)
{
	u64 cgroup_id = owner->cgroup_id;
	long r;

	r = bpf_map_update_elem(&slot_index, &cgroup_id, &slot, BPF_NOEXIST);
	if (r) {
		slot_release(owner);
		return (int)r;
	}
	slot_publish(owner, SLOT_ALIVE);
	return (int)slot;
}

static __always_inline int slot_bury(u64 cgroup_id)
{
	struct slot_owner *owner;
	u32 *slot;

	slot = bpf_map_lookup_elem(&slot_index, &cgroup_id);
	if (!slot)
		return -ENOENT;
	owner = slot_owner_of(*slot);
	if (!owner || owner->cgroup_id != cgroup_id || owner->state != SLOT_ALIVE)
		return -ENOENT;
	owner->died_ns = bpf_ktime_get_ns();
	slot_publish(owner, SLOT_DEAD);
	return 0;
}

static __always_inline int slot_retire(u32 slot, u32 generation)
{
	struct slot_owner *owner = slot_owner_of(slot);
	u64 cgroup_id;
	long r;

	if (!owner)
		return -EINVAL;
	if (owner->generation != generation || owner->state != SLOT_DEAD)
		return -ESTALE;
	cgroup_id = owner->cgroup_id;
	r = bpf_map_delete_elem(&slot_index, &cgroup_id);
	/* -ENOENT is done already; a busy bucket is the caller's to try again. */
	if (r && r != -ENOENT)
		return (int)r;
	slot_publish(owner, SLOT_RETIRED);
	return 0;
}

static __always_inline int slot_give(u32 slot, u32 generation)
{
	struct slot_owner *owner = slot_owner_of(slot);

	if (!owner)
		return -EINVAL;
	if (owner->generation != generation || owner->state != SLOT_RETIRED)
		return -ESTALE;
	slot_release(owner);
	return 0;
}

#endif
