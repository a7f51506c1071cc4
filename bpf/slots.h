// SPDX-License-Identifier: GPL-2.0
/*
 * The slot table: the slot of each cgroup, and the records of each slot. The NMI path only looks up.
 *
 * A cgroup gets a slot when it is born (cgroup_mkdir, before any task can be in it), or when a walk of the
 * daemon adopts it: at the start, and after slots were missing. A slot is freed in two steps: it is retired
 * (removed from the index), then released (it is one of the free slots again). cgroup_mkdir and cgroup_rmdir
 * run under cgroup_mutex (kernel/cgroup/cgroup.c, Linux 6.1 to 6.18). The daemon's requests may run
 * concurrently, so the index decides: it refuses a second entry.
 */
#ifndef PEBSD_SLOTS_H
#define PEBSD_SLOTS_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/errno.h>

#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "pebsd/records.h"

/*
 * Settings, fixed at load. Every use must read them as volatile: otherwise the compiler would assume that
 * they keep the values below.
 */
const volatile u32 block_log2 = 0; /* a slot's block: the slot's number shifted right by this */
const volatile u32 block_mask = 0; /* a slot's number within its block: the slot's number masked by this */
const volatile u32 block_slots = 1;
const volatile u8 stripes_alone = 0;  /* each stripe has only one CPU that writes to it */
const volatile u32 dirty_event = 1;   /* number of lines of one event's dirty bytes, in all stripes */
const volatile u32 dirty_owners = 0;  /* first line of the dirty bytes of owners */
const volatile u32 dirty_offcore = 0; /* first line of those of off-core counts, for the first CPU */
const volatile u32 dirty_lines = 1;   /* number of lines in a row of dirty bytes */
const volatile struct event_settings events[EVENTS_MAX] = {};

struct slot_counters slot_counters = {};
struct rejected_record rejected[EVENTS_MAX][STRIPES_MAX] __attribute__((aligned(64))) = {};

/*
 * Free slots: first the never used ones, in order from 1, then a stack of returned ones, linked by
 * `next_free`. The head of the stack is a slot number below a tag that changes with each push and pop.
 * Without the tag, a slot that was taken and returned in between would look unchanged (ABA). The stack is not
 * a BPF queue, because Linux 6.1 does not let a syscall program use one.
 */
u32 slots_used = 0; /* slots that were ever taken: the number of the last one; never decreases */
u64 free_head = 0;
u32 slots_taken = 0; /* slots in use now */

/* Number of existing slots. Written by the daemon, which adds the blocks of new slots before it raises this. */
volatile u32 slots_now = 0;

/* Set while a message that slots are short waits in the ring, so that births do not write more than one. */
u32 slots_reported = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} slots_short SEC(".maps");

/*
 * The maps of each block, indexed by block number (records.h, enum slot_block_kind). The daemon creates the
 * maps of a block, with a size that is set at load, and enters them here. A map is never removed. The unused
 * variable NAME_type puts the type of the record into the object's BTF (kernel/inherited.h).
 */
#define SLOT_BLOCKS(name, record)                          \
	struct name {                                      \
		__uint(type, BPF_MAP_TYPE_ARRAY);          \
		__uint(map_flags, BPF_F_MMAPABLE);         \
		__uint(max_entries, 1);                    \
		__uint(key_size, sizeof(u32));             \
		__uint(value_size, sizeof(struct record)); \
	};                                                 \
	struct {                                           \
		__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);  \
		__uint(max_entries, 1);                    \
		__type(key, u32);                          \
		__array(values, struct name);              \
	} name##s SEC(".maps");                            \
	struct record *name##_type = NULL

SLOT_BLOCKS(latency_block, latency_record);
SLOT_BLOCKS(plain_block, plain_record);
SLOT_BLOCKS(owners_block, slot_owner);

static __always_inline u32 slot_block(u32 slot)
{
	return slot >> block_log2;
}

static __always_inline u32 slot_in_block(u32 slot)
{
	return slot & block_mask;
}

/*
 * The dirty bytes of records.h: a row for each event and stripe, one for the owners, and one for each CPU that
 * counts off-core responses. The loader sets the size.
 */
struct dirty_line {
	u8 dirty[DIRTY_LINE];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct dirty_line);
} dirty SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u32);
} slot_index SEC(".maps");

/*
 * Incremented after an id has left the index and before its slot becomes SLOT_RETIRED. A program reads the
 * epoch before it looks up a slot in the index, and remembers both. While the epoch is the same, the slot has
 * not been retired. An increment before the deletion would not be enough: a program could look up the slot in
 * between.
 *
 * Also incremented when a cgroup is born, before any task is in it: programs remember a cgroup by its address,
 * and a new one may have the address of one that was freed.
 */
u32 index_epoch __attribute__((aligned(64))) = 0;

/* The cgroup's slot, or SLOT_UNATTRIBUTED. */
static __always_inline u32 slot_of(u64 cgroup_id)
{
	u32 *slot = bpf_map_lookup_elem(&slot_index, &cgroup_id);

	return slot ? *slot : SLOT_UNATTRIBUTED;
}

/*
 * Sets the dirty byte of a slot in the row that begins at line `first`. A reader that sees it set also sees all
 * writes before it was set. If a reader cleared it before these writes, it finds it set again.
 *
 * `look`: leaves out the store if the byte is set already: the reader will clear it, and read the record after that.
 * This needs an atomic operation as the preceding write. After another write, the byte could be read before the write
 * is visible, so it is always stored.
 */
static __always_inline void slot_set_dirty(u32 first, u32 slot, bool look)
{
	u32 index = first + slot / DIRTY_LINE;
	struct dirty_line *line = bpf_map_lookup_elem(&dirty, &index);
	volatile u8 *byte;

	if (!line)
		return;
	byte = &line->dirty[slot % DIRTY_LINE];
	__asm__ volatile("" ::: "memory");
	if (!look || !*byte)
		*byte = 1;
}

static __always_inline struct slot_owner *slot_owner_of(u32 slot)
{
	u32 block_number = slot_block(slot), index = slot_in_block(slot);
	void *block = bpf_map_lookup_elem(&owners_blocks, &block_number);

	return block ? bpf_map_lookup_elem(block, &index) : NULL;
}

/* Readers that see the state also see everything that was written before it. */
static __always_inline void slot_publish(u32 slot, struct slot_owner *owner, u32 state)
{
	__sync_lock_test_and_set(&owner->state, state);
	slot_set_dirty(dirty_owners, slot, true);
}

/*
 * Maximum number of attempts of a push or pop. At most two of them run at the same time: the births of
 * cgroups, which come one at a time, and a request of the daemon.
 */
#define FREE_TRIES 16

static __always_inline u64 free_head_with(u64 head, u32 slot)
{
	return ((head >> 32) + 1) << 32 | slot;
}

/*
 * Called after a birth. If few slots are left, reports it to user space: the message wakes the reader by an
 * interrupt (irq_work).
 */
static __always_inline void slots_report_short(void)
{
	u32 now = slots_now, taken = *(volatile u32 *)&slots_taken;
	/* Slot 0 is never free. During a release, one more than exist may count as taken. */
	u32 free = taken + 1 < now ? now - 1 - taken : 0;
	u32 left = free;

	if (free >= slots_spare(now) || *(volatile u32 *)&slots_reported ||
	    __sync_lock_test_and_set(&slots_reported, 1))
		return;
	/* The kernel refuses the ring's lock if it sees a deadlock. Then the next birth tries again. */
	if (bpf_ringbuf_output(&slots_short, &left, sizeof(left), BPF_RB_FORCE_WAKEUP) < 0)
		*(volatile u32 *)&slots_reported = 0;
}

/* Returns a free slot, now owned by the caller; SLOT_UNATTRIBUTED if there is none. */
static __always_inline u32 slot_pop_one(void)
{
	/* `slots_used` must not exceed the number of the last slot, because added slots have the next numbers. */
	for (u32 i = 0; i < FREE_TRIES; i++) {
		u32 used = *(volatile u32 *)&slots_used;

		if (used + 1 >= slots_now)
			break;
		if (__sync_val_compare_and_swap(&slots_used, used, used + 1) == used)
			return used + 1;
	}
	for (u32 i = 0; i < FREE_TRIES; i++) {
		u64 head = *(volatile u64 *)&free_head;
		struct slot_owner *owner;

		if ((u32)head == SLOT_UNATTRIBUTED)
			return SLOT_UNATTRIBUTED;
		owner = slot_owner_of((u32)head);
		if (!owner)
			return SLOT_UNATTRIBUTED;
		if (__sync_val_compare_and_swap(&free_head, head, free_head_with(head, owner->next_free)) ==
		    head)
			return (u32)head;
	}
	return SLOT_UNATTRIBUTED;
}

static __always_inline u32 slot_pop(void)
{
	u32 slot = slot_pop_one();

	if (slot != SLOT_UNATTRIBUTED)
		__sync_fetch_and_add(&slots_taken, 1);
	return slot;
}

static __always_inline int slot_push(u32 slot, struct slot_owner *owner)
{
	for (u32 i = 0; i < FREE_TRIES; i++) {
		u64 head = *(volatile u64 *)&free_head;

		owner->next_free = (u32)head;
		if (__sync_val_compare_and_swap(&free_head, head, free_head_with(head, slot)) == head) {
			__sync_fetch_and_add(&slots_taken, -1);
			return 0;
		}
	}
	return -EAGAIN;
}

/*
 * Takes a free slot for the cgroup. The owner's name is still that of the previous owner: the caller sets it.
 * Returns the slot, -EEXIST if the cgroup has one, or -errno.
 */
static __always_inline int slot_take(u64 cgroup_id, u64 parent_id, struct slot_owner **ret_owner)
{
	struct slot_owner *owner;
	u32 slot;

	if (bpf_map_lookup_elem(&slot_index, &cgroup_id))
		return -EEXIST;
	slot = slot_pop();
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
 * Enters a taken slot into the index, so that samples find it; on failure the slot is free again. It is
 * entered before it is published: a sample may be counted in a slot that is not alive yet, and the first
 * reading includes that sample.
 */
static __always_inline int slot_enter(u32 slot, struct slot_owner *owner)
{
	u64 cgroup_id = owner->cgroup_id;
	long r;

	r = bpf_map_update_elem(&slot_index, &cgroup_id, &slot, BPF_NOEXIST);
	if (r) {
		slot_push(slot, owner);
		return (int)r;
	}
	slot_publish(slot, owner, SLOT_ALIVE);
	return (int)slot;
}

static __always_inline int slot_mark_dead(u64 cgroup_id)
{
	struct slot_owner *owner;
	u32 slot = slot_of(cgroup_id);

	if (slot == SLOT_UNATTRIBUTED)
		return -ENOENT;
	owner = slot_owner_of(slot);
	if (!owner || owner->cgroup_id != cgroup_id || owner->state != SLOT_ALIVE)
		return -ENOENT;
	owner->died_ns = bpf_ktime_get_ns();
	slot_publish(slot, owner, SLOT_DEAD);
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
	/* -ENOENT: a previous attempt removed the entry. If the bucket was busy, the caller tries again. */
	if (r && r != -ENOENT)
		return (int)r;
	__sync_fetch_and_add(&index_epoch, 1);
	slot_publish(slot, owner, SLOT_RETIRED);
	return 0;
}

static __always_inline int slot_release(u32 slot, u32 generation)
{
	struct slot_owner *owner = slot_owner_of(slot);
	int r;

	if (!owner)
		return -EINVAL;
	if (owner->generation != generation || owner->state != SLOT_RETIRED)
		return -ESTALE;
	/* A program or reader that still has the old generation sees that the slot has changed hands. */
	owner->generation++;
	/* Publish before the push. A later publication would overwrite the state that the next owner sets. */
	slot_publish(slot, owner, SLOT_FREE);
	r = slot_push(slot, owner);
	if (r) {
		owner->generation--;
		slot_publish(slot, owner, SLOT_RETIRED);
	}
	return r;
}

#endif
