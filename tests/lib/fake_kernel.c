// SPDX-License-Identifier: GPL-2.0
#include "fake_kernel.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096UL

struct kernel {
	struct kernel_settings settings;
	u32 stripes;
	struct slot_owner *owners;
	u8 *dirty;
	u8 *records; /* by event, stripe, slot; one page each */
	u32 *free;   /* released slots; the last one is used first */
	u32 n_free;
	u32 used;
	unsigned refuse;
	bool guarded;
	u64 visits;
};

static void *room(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static size_t owners_bytes(const struct kernel *kernel)
{
	return kernel->settings.slots * sizeof(struct slot_owner);
}

static size_t dirty_bytes_of(const struct kernel *kernel)
{
	return (size_t)dirty_row(kernel->settings.slots) * (kernel->settings.n_events * kernel->stripes + 1);
}

static size_t records_bytes(const struct kernel *kernel)
{
	return PAGE * kernel->settings.slots * kernel->settings.n_events * kernel->stripes;
}

static size_t free_bytes(const struct kernel *kernel)
{
	return kernel->settings.slots * sizeof(u32);
}

u32 kernel_slots(const struct kernel *kernel)
{
	return kernel->settings.slots;
}

u32 kernel_slots_max(const struct kernel *kernel)
{
	return kernel->settings.slots;
}

struct kernel *fake_kernel_new(const struct kernel_settings *settings)
{
	struct kernel *kernel = room(sizeof(*kernel));

	kernel->settings = *settings;
	kernel->stripes = settings->stripes->n;
	kernel->settings.stripes = NULL;
	kernel->owners = room(owners_bytes(kernel));
	kernel->dirty = room(dirty_bytes_of(kernel));
	kernel->records = room(records_bytes(kernel));
	kernel->free = room(free_bytes(kernel));
	return kernel;
}

struct kernel *kernel_free(struct kernel *kernel)
{
	if (!kernel)
		return NULL;
	(void)munmap(kernel->free, free_bytes(kernel));
	(void)munmap(kernel->records, records_bytes(kernel));
	(void)munmap(kernel->dirty, dirty_bytes_of(kernel));
	(void)munmap(kernel->owners, owners_bytes(kernel));
	(void)munmap(kernel, sizeof(*kernel));
	return NULL;
}

static void publish(struct kernel *kernel, u32 slot, u32 state)
{
	kernel->owners[slot].state = state;
	kernel_owner_dirty(kernel)[slot] = 1;
}

void fake_kernel_born_in(struct kernel *kernel, u32 slot, u64 id, u64 parent_id, const char *name)
{
	struct slot_owner *owner = &kernel->owners[slot];

	owner->cgroup_id = id;
	owner->parent_id = parent_id;
	owner->died_ns = 0;
	owner->generation++;
	strncpy(owner->name, name, sizeof(owner->name) - 1);
	publish(kernel, slot, SLOT_ALIVE);
}

u32 fake_kernel_born(struct kernel *kernel, u64 id, u64 parent_id, const char *name)
{
	u32 slot = 0;

	if (kernel->n_free > 0)
		slot = kernel->free[--kernel->n_free];
	else if (kernel->used < kernel->settings.slots - 1)
		slot = ++kernel->used;
	if (slot)
		fake_kernel_born_in(kernel, slot, id, parent_id, name);
	return slot;
}

void fake_kernel_died(struct kernel *kernel, u32 slot, u64 now_ns)
{
	kernel->owners[slot].died_ns = now_ns;
	publish(kernel, slot, SLOT_DEAD);
}

static void *page_of(const struct kernel *kernel, unsigned event, u32 stripe, u32 slot)
{
	return kernel->records +
	       PAGE * (((size_t)event * kernel->stripes + stripe) * kernel->settings.slots + slot);
}

struct latency_record *fake_kernel_record(struct kernel *kernel, unsigned event, u32 stripe, u32 slot)
{
	return page_of(kernel, event, stripe, slot);
}

void fake_kernel_set_dirty(struct kernel *kernel, unsigned event, u32 stripe, u32 slot)
{
	kernel_dirty(kernel, event, stripe)[slot] = 1;
}

void fake_kernel_count(struct kernel *kernel, u32 slot, unsigned event, u32 stripe, unsigned source,
		       u32 cycles, u64 period)
{
	void *page = page_of(kernel, event, stripe, slot);

	if (kernel->guarded && mprotect(page, PAGE, PROT_READ | PROT_WRITE) < 0)
		abort();
	if (kernel->settings.events[event].has_latency) {
		struct latency_record *record = page;

		record->sums[source].weight += period;
		if (cycles) {
			record->sums[source].latency += cycles;
			record->sums[source].weighted_latency += cycles * period;
			record->latency[histogram_fine_index(cycles)]++;
			record->source_latency[source][histogram_octave_index(cycles)]++;
		} else {
			record->without_latency[source]++;
		}
		record->snoop[source % SNOOP_SLOTS]++;
		record->tlb[cycles % TLB_SLOTS]++;
	} else {
		struct plain_record *record = page;

		record->weight[source] += period;
		record->samples[source]++;
		record->snoop[source % SNOOP_SLOTS]++;
		record->tlb[cycles % TLB_SLOTS]++;
	}
	fake_kernel_set_dirty(kernel, event, stripe, slot);
}

void fake_kernel_guard(struct kernel *kernel)
{
	kernel->guarded = true;
	if (mprotect(kernel->records, records_bytes(kernel), PROT_NONE) < 0)
		abort();
}

u64 fake_kernel_visits(const struct kernel *kernel)
{
	return kernel->visits;
}

void fake_kernel_refuse(struct kernel *kernel, unsigned n)
{
	kernel->refuse = n;
}

static bool refused(struct kernel *kernel)
{
	if (kernel->refuse == 0)
		return false;
	kernel->refuse--;
	return true;
}

int kernel_retire(struct kernel *kernel, u32 slot, u32 generation)
{
	const struct slot_owner *owner = &kernel->owners[slot];

	if (owner->generation != generation || owner->state != SLOT_DEAD)
		return -ESTALE;
	if (refused(kernel))
		return -EBUSY;
	publish(kernel, slot, SLOT_RETIRED);
	return 0;
}

int kernel_release(struct kernel *kernel, u32 slot, u32 generation)
{
	struct slot_owner *owner = &kernel->owners[slot];

	if (owner->generation != generation || owner->state != SLOT_RETIRED)
		return -ESTALE;
	if (refused(kernel))
		return -EAGAIN;
	owner->generation++;
	publish(kernel, slot, SLOT_FREE);
	kernel->free[kernel->n_free++] = slot;
	return 0;
}

const struct slot_owner *kernel_owner(const struct kernel *kernel, u32 slot)
{
	return &kernel->owners[slot];
}

const struct latency_record *kernel_latency_record(const struct kernel *kernel, unsigned event, u32 stripe,
						   u32 slot)
{
	((struct kernel *)kernel)->visits++;
	return page_of(kernel, event, stripe, slot);
}

const struct plain_record *kernel_plain_record(const struct kernel *kernel, unsigned event, u32 stripe,
					       u32 slot)
{
	((struct kernel *)kernel)->visits++;
	return page_of(kernel, event, stripe, slot);
}

u32 kernel_stripes(const struct kernel *kernel)
{
	return kernel->stripes;
}

u8 *kernel_dirty(const struct kernel *kernel, unsigned event, u32 stripe)
{
	return kernel->dirty + ((size_t)event * kernel->stripes + stripe) * dirty_row(kernel->settings.slots);
}

u8 *kernel_owner_dirty(const struct kernel *kernel)
{
	return kernel_dirty(kernel, (unsigned)kernel->settings.n_events, 0);
}

u8 *kernel_offcore_dirty(const struct kernel *kernel, u32 cpu)
{
	(void)kernel, (void)cpu;
	return NULL;
}

void kernel_clear_records(struct kernel *kernel, u32 slot, unsigned event, u32 stripes)
{
	for (u32 left = stripes; left; left &= left - 1)
		memset(page_of(kernel, event, (u32)__builtin_ctz(left), slot), 0, PAGE);
}

const struct kernel_settings *kernel_settings(const struct kernel *kernel)
{
	return &kernel->settings;
}

u32 kernel_hot_max(const struct kernel *kernel)
{
	return kernel->settings.hot_max;
}

u32 kernel_hot_cpus(const struct kernel *kernel)
{
	(void)kernel;
	return 0;
}

const struct hot_table *kernel_hot_table(const struct kernel *kernel, u32 choice, unsigned event, u32 cpu)
{
	(void)kernel, (void)choice, (void)event, (void)cpu;
	return NULL;
}

int kernel_hot_choose(struct kernel *kernel, u32 slot, u32 choice)
{
	(void)kernel, (void)slot, (void)choice;
	return 0;
}

void kernel_hot_release(struct kernel *kernel, u32 slot)
{
	(void)kernel, (void)slot;
}

void kernel_hot_clear(struct kernel *kernel, u32 choice)
{
	(void)kernel, (void)choice;
}

struct kernel_offcore *kernel_offcore(const struct kernel *kernel)
{
	(void)kernel;
	return NULL;
}
