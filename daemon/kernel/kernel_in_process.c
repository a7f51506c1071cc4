// SPDX-License-Identifier: GPL-2.0
#include "kernel/kernel_in_process.h"

#include <errno.h>
#include <string.h>

#include "account.h"
#include "base/monotonic.h"
#include "hot_write.h"

/* Samples that come through kernel_inject() may be in any stripe: readers add the stripes up. */
#define ONLY_STRIPE 0

static u32 slot_of(const struct kernel *kernel, u64 cgroup_id)
{
	u64 slot = SLOT_UNATTRIBUTED;

	(void)number_map_get(&kernel->index, cgroup_id, &slot);
	return (u32)slot;
}

/* Remembers the cgroup of the last sample, as cpu_slot_of() of bpf/cpu_states.h does. */
static u32 slot_of_sample(struct kernel *kernel, u64 cgroup_id)
{
	struct cpu_state *state = (struct cpu_state *)kernel->cpu_states.memory + kernel->cpus;
	const u32 epoch = kernel->skeleton->bss->index_epoch;

	if (state->cgroup != cgroup_id || state->epoch != epoch) {
		const u32 slot = slot_of(kernel, cgroup_id);

		if (slot == SLOT_UNATTRIBUTED)
			return slot;
		state->cgroup = cgroup_id;
		state->slot = slot;
		state->epoch = epoch;
	}
	return state->slot;
}

static void account_item(struct hot_sets *sets, u64 seed, u64 item, struct hot_sample *sample)
{
	sample->item = item;
	if (item)
		hot_add(sets, seed, sample);
}

/* Like account_addresses() in bpf/sample_path.h. */
static void account_hot(struct kernel *kernel, const struct sample *sample, u32 slot)
{
	const struct event_settings *event = &kernel->settings.events[sample->event];
	const u32 choice = kernel->skeleton->bss->hot_choices[slot] - 1U;
	const u64 seed = kernel->skeleton->rodata->hot_seed;
	struct hot_sample hot = {.weight = 1};
	struct hot_table *table;

	if (slot == SLOT_UNATTRIBUTED || choice >= kernel->hot_max || !kernel->hot_tables[choice].memory)
		return;
	table = (struct hot_table *)kernel->hot_tables[choice].memory +
		(size_t)sample->event * kernel->hot_cpus;
	if (event->has_latency)
		hot.weight = sample->fields & SAMPLE_LATENCY ? sample->latency : 0;
	if (sample->fields & SAMPLE_DATA_SOURCE)
		hot.hitm = (u32)(DATA_SOURCE_SNOOP(sample->data_source) / SNOOP_BIT_HITM & 1);
	if (event->has_code_address && (sample->fields & SAMPLE_CODE_ADDRESS))
		account_item(&table->kinds[HOT_CODE], seed, hot_code_item(sample->code_address), &hot);
	if (sample->fields & SAMPLE_ADDRESS)
		account_item(&table->kinds[HOT_LINES], seed, hot_line_item(sample->address), &hot);
}

static void account_sample(struct kernel *kernel, const struct sample *sample)
{
	const u32 number = sample->event < kernel->settings.n_events ? sample->event : 0;
	const struct event_settings *event = &kernel->settings.events[number];
	struct rejected_record *mine = &kernel->skeleton->bss->rejected[number][ONLY_STRIPE];
	u32 slot;

	if (number != sample->event) {
		mine->malformed++;
		return;
	}
	if (account_filtered(sample, event->operations)) {
		mine->filtered++;
		return;
	}
	if (account_malformed(sample)) {
		mine->malformed++;
		return;
	}
	slot = slot_of_sample(kernel, sample->cgroup_id);
	if (kernel->skeleton->bss->hot_chosen)
		account_hot(kernel, sample, slot);
	if (event->has_latency)
		account_latency(kernel_writable_latency(kernel, number, ONLY_STRIPE, slot), sample, false);
	else if (event->has_source)
		account_plain(kernel_writable_plain(kernel, number, ONLY_STRIPE, slot), sample, false);
	else
		account_count(kernel_writable_plain(kernel, number, ONLY_STRIPE, slot), sample, false);
	kernel_dirty_row(kernel, (size_t)number * kernel->stripes + ONLY_STRIPE)[slot] = 1;
}

void kernel_in_process_inject(struct kernel *kernel, const struct sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++)
		account_sample(kernel, &samples[i]);
}

static struct slot_owner *owner_of(const struct kernel *kernel, u32 slot)
{
	struct slot_owner *owners;

	if (slot >= kernel->blocks.n * kernel->blocks.slots)
		return NULL;
	owners = kernel_blocks_memory(&kernel->blocks, BLOCK_OWNERS, slot);
	return owners + kernel_slot_in_block(&kernel->blocks, slot);
}

static void publish(struct kernel *kernel, u32 slot, struct slot_owner *owner, u32 state)
{
	owner->state = state;
	kernel_dirty_row(kernel, kernel->settings.n_events * kernel->stripes)[slot] = 1;
}

/* Never used slots come first, in order from 1, then released slots, the last one first. */
static u32 pop(struct kernel *kernel)
{
	struct pebsd_bpf__bss *variables = kernel->skeleton->bss;
	u32 slot = (u32)variables->free_head;

	if (variables->slots_used + 1 < variables->slots_now)
		slot = ++variables->slots_used;
	else if (slot != SLOT_UNATTRIBUTED)
		variables->free_head = owner_of(kernel, slot)->next_free;
	variables->slots_taken += slot != SLOT_UNATTRIBUTED;
	return slot;
}

static void push(struct kernel *kernel, u32 slot, struct slot_owner *owner)
{
	struct pebsd_bpf__bss *variables = kernel->skeleton->bss;

	owner->next_free = (u32)variables->free_head;
	variables->free_head = slot;
	variables->slots_taken--;
}

static int adopt(struct kernel *kernel, const struct slot_request *request)
{
	struct slot_owner *owner;
	u32 slot = slot_of(kernel, request->cgroup_id);

	if (slot != SLOT_UNATTRIBUTED)
		return (int)slot;
	slot = pop(kernel);
	if (slot == SLOT_UNATTRIBUTED)
		return -ENOSPC;
	owner = owner_of(kernel, slot);
	owner->cgroup_id = request->cgroup_id;
	owner->parent_id = request->parent_id;
	owner->died_ns = 0;
	owner->generation++;
	memcpy(owner->name, request->name, sizeof(owner->name));
	owner->name[sizeof(owner->name) - 1] = '\0';
	if (number_map_set(&kernel->index, request->cgroup_id, slot) < 0) {
		push(kernel, slot, owner);
		return -ENOMEM;
	}
	publish(kernel, slot, owner, SLOT_ALIVE);
	return (int)slot;
}

static int mark_dead(struct kernel *kernel, u64 cgroup_id)
{
	const u32 slot = slot_of(kernel, cgroup_id);
	struct slot_owner *owner = owner_of(kernel, slot);

	if (slot == SLOT_UNATTRIBUTED || owner->state != SLOT_ALIVE)
		return -ENOENT;
	owner->died_ns = monotonic_ns();
	publish(kernel, slot, owner, SLOT_DEAD);
	return 0;
}

static int retire(struct kernel *kernel, u32 slot, u32 generation)
{
	struct slot_owner *owner = owner_of(kernel, slot);

	if (!owner)
		return -EINVAL;
	if (owner->generation != generation || owner->state != SLOT_DEAD)
		return -ESTALE;
	number_map_remove(&kernel->index, owner->cgroup_id);
	kernel->skeleton->bss->index_epoch++;
	publish(kernel, slot, owner, SLOT_RETIRED);
	return 0;
}

static int release(struct kernel *kernel, u32 slot, u32 generation)
{
	struct slot_owner *owner = owner_of(kernel, slot);

	if (!owner)
		return -EINVAL;
	if (owner->generation != generation || owner->state != SLOT_RETIRED)
		return -ESTALE;
	owner->generation++;
	publish(kernel, slot, owner, SLOT_FREE);
	push(kernel, slot, owner);
	return 0;
}

int kernel_in_process_ask(struct kernel *kernel, const struct slot_request *request)
{
	switch (request->kind) {
	case SLOT_ADOPT:
		return adopt(kernel, request);
	case SLOT_MARK_DEAD:
		return mark_dead(kernel, request->cgroup_id);
	case SLOT_RETIRE:
		return retire(kernel, request->slot, request->generation);
	case SLOT_RELEASE:
		return release(kernel, request->slot, request->generation);
	default:
		return -EINVAL;
	}
}
