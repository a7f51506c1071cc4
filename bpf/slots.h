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

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/errno.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "pebsd/records.h"

/* Settings, fixed at load; volatile in every use, or the compiler would take the zeros here for their values.
 */
const volatile u32 block_log2 = 0; /* a slot's block is its number shifted by this */
const volatile u32 block_mask = 0; /* and its number there what is left */
const volatile u32 block_slots = 1;
const volatile u8 stripes_alone = 0;  /* nobody but its CPU writes to a stripe */
const volatile u32 marks_event = 1;   /* lines of an event's marks */
const volatile u32 marks_owners = 0;  /* first line of the owners' */
const volatile u32 marks_offcore = 0; /* first line of the first CPU's, of what is counted there */
const volatile u32 marks_lines = 1;   /* of a row */
const volatile struct event_settings events[EVENTS_MAX] = {};

struct slot_counters slot_counters = {};
struct loss_record losses[EVENTS_MAX][STRIPES_MAX] __attribute__((aligned(64))) = {};

/*
 * Free slots: first those never used, from 1 on, then a stack of those given back, linked by `next_free`. Its
 * head is a slot number below a tag that changes with each push and pop, or a slot that was taken and given
 * back in between would look untouched. No BPF queue: Linux 6.1 lets a syscall program use none.
 */
u32 slots_used = 0;
u64 free_head = 0;
u32 slots_taken = 0; /* now: neither never used nor given back */

/* Slots that there are. The daemon's, who adds the blocks of new ones before it raises this. */
volatile u32 slots_now = 0;

/* Set while a message that slots are short waits in the ring: a birth writes one message only. */
u32 slots_told = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} slots_short SEC(".maps");

/*
 * The maps of each block, by its number (records.h, enum slot_block_kind). The daemon makes the maps of a
 * block, of a size that is set at load, and enters them here; none is ever taken out. The variable, which
 * nobody uses, has the object's types say what lies in them (kernel/kept_layout.h).
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

/* The marks of records.h: a row for each event and stripe, the owners', and one for each CPU that counts
 * off-core responses. Sized at load. */
struct marks_line {
	u8 marks[MARKS_LINE];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct marks_line);
} marks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u32);
} slot_index SEC(".maps");

/*
 * Grows after an id has left the index and before its slot rests: a slot that a program remembers with the
 * number it read before it looked in the index is one that has not been retired since. Growing before alone
 * would not do: a program could look in between.
 */
u32 index_epoch __attribute__((aligned(64))) = 0;

/* The cgroup's slot, or SLOT_UNATTRIBUTED. */
static __always_inline u32 slot_of(u64 cgroup_id)
{
	u32 *slot = bpf_map_lookup_elem(&slot_index, &cgroup_id);

	return slot ? *slot : SLOT_UNATTRIBUTED;
}

/*
 * Sets the mark of a slot in the row whose first line is that.
 * What was written before is there for who sees the mark, and a reader that cleared it before finds it again.
 * `look`: what was written before was written by an atomic operation, so that to look here is enough to know
 * that the reader has yet to read; else it is stored in any case, in the order of the program.
 */
static __always_inline void slot_mark(u32 first, u32 slot, bool look)
{
	u32 index = first + slot / MARKS_LINE;
	struct marks_line *line = bpf_map_lookup_elem(&marks, &index);
	volatile u8 *mark;

	if (!line)
		return;
	mark = &line->marks[slot % MARKS_LINE];
	__asm__ volatile("" ::: "memory");
	if (!look || !*mark)
		*mark = 1;
}

static __always_inline struct slot_owner *slot_owner_of(u32 slot)
{
	u32 place = slot_block(slot), index = slot_in_block(slot);
	void *block = bpf_map_lookup_elem(&owners_blocks, &place);

	return block ? bpf_map_lookup_elem(block, &index) : NULL;
}

/* The state is what readers go by: everything written before it is there when they see it. */
static __always_inline void slot_publish(u32 slot, struct slot_owner *owner, u32 state)
{
	__sync_lock_test_and_set(&owner->state, state);
	slot_mark(marks_owners, slot, true);
}

/* How often a push or pop is tried against others: births are one at a time, and the daemon is one more. */
#define FREE_TRIES 16

static __always_inline u64 free_head_with(u64 head, u32 slot)
{
	return ((head >> 32) + 1) << 32 | slot;
}

/* After a birth: tells user space that few slots are left, with a wakeup from its interrupt (irq_work). */
static __always_inline void slots_tell_short(void)
{
	u32 now = slots_now;
	u32 free = now - 1 - *(volatile u32 *)&slots_taken;
	u32 left = free;

	if (free >= slots_spare(now) || *(volatile u32 *)&slots_told ||
	    __sync_lock_test_and_set(&slots_told, 1))
		return;
	/* The ring's lock is refused where the kernel sees a deadlock: then the next birth tries it. */
	if (bpf_ringbuf_output(&slots_short, &left, sizeof(left), BPF_RB_FORCE_WAKEUP) < 0)
		*(volatile u32 *)&slots_told = 0;
}

/* A free slot, now the caller's alone; SLOT_UNATTRIBUTED where there is none. */
static __always_inline u32 slot_pop_one(void)
{
	/* Never past the last: what is added then begins there. */
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

/* A free slot made the cgroup's, its name still empty. Returns the slot, or -errno; -EEXIST if it has one. */
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
 * Makes a taken slot the one that samples find; on failure it is free again. Entered before it is published:
 * a sample may be counted in a slot that is not alive yet, and the first reading of it has that sample too.
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

static __always_inline int slot_bury(u64 cgroup_id)
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
	/* -ENOENT is done already; a busy bucket is the caller's to try again. */
	if (r && r != -ENOENT)
		return (int)r;
	__sync_fetch_and_add(&index_epoch, 1);
	slot_publish(slot, owner, SLOT_RETIRED);
	return 0;
}

static __always_inline int slot_give(u32 slot, u32 generation)
{
	struct slot_owner *owner = slot_owner_of(slot);
	int r;

	if (!owner)
		return -EINVAL;
	if (owner->generation != generation || owner->state != SLOT_RETIRED)
		return -ESTALE;
	/* Whoever still goes by the number of before sees that the slot is not its any more. */
	owner->generation++;
	/* Free before it can be taken, or a taker's mark would be overwritten. */
	slot_publish(slot, owner, SLOT_FREE);
	r = slot_push(slot, owner);
	if (r) {
		owner->generation--;
		slot_publish(slot, owner, SLOT_RETIRED);
	}
	return r;
}

#endif
