// SPDX-License-Identifier: GPL-2.0
#include "kernel/kernel.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/descriptor_limit.h"
#include "kernel/kernel_in_process.h"
#include "kernel/kernel_inherit.h"
#include "kernel/kernel_internal.h"
#include "kernel/skeleton.h"

bool kernel_in_process(const struct kernel *kernel)
{
	return kernel->in_process;
}

enum inherited kernel_inherited(const struct kernel *kernel)
{
	return kernel->inherited;
}

u32 kernel_epoch(const struct kernel *kernel)
{
	return kernel->saved->epoch;
}

u32 kernel_slots(const struct kernel *kernel)
{
	return kernel->blocks.n * kernel->blocks.slots;
}

u32 kernel_slots_max(const struct kernel *kernel)
{
	return kernel->slots_max;
}

u32 kernel_slots_limit(const struct kernel *kernel)
{
	struct map_size_case maps = kernel_map_case(kernel);
	u32 slots;

	if (!kernel->settings.memory_max)
		return kernel_slots(kernel);
	maps.slots_max = kernel->slots_max;
	slots = map_size_slots_of(&maps, kernel->settings.memory_max);
	/* Slots are never removed: inherited maps may hold more than the limit allows now. */
	return slots > kernel_slots(kernel) ? slots : kernel_slots(kernel);
}

u32 kernel_slots_free(const struct kernel *kernel)
{
	u32 taken = __atomic_load_n(&kernel->skeleton->bss->slots_taken, __ATOMIC_RELAXED);

	return taken + 1 < kernel_slots(kernel) ? kernel_slots(kernel) - 1 - taken : 0;
}

int kernel_enter_blocks(struct kernel *kernel, u32 first)
{
	const struct pebsd_bpf *skeleton = kernel->skeleton;
	const int outer[BLOCK_KINDS] = {
		[BLOCK_LATENCY] = bpf_map__fd(skeleton->maps.latency_blocks),
		[BLOCK_PLAIN] = bpf_map__fd(skeleton->maps.plain_blocks),
		[BLOCK_OWNERS] = bpf_map__fd(skeleton->maps.owners_blocks),
		[BLOCK_OFFCORE] = bpf_map__fd(skeleton->maps.offcore_blocks),
	};
	int r = kernel->in_process ? 0 : kernel_blocks_enter(&kernel->blocks, outer, first, kernel->blocks.n);

	if (r == 0)
		__atomic_store_n((u32 *)&skeleton->bss->slots_now, kernel_slots(kernel), __ATOMIC_SEQ_CST);
	return r;
}

/*
 * Makes blocks from `blocks->n` up to, but not including, `end`, until one fails. Returns the number of blocks
 * made, or -errno if none was made.
 */
static int make_blocks(struct kernel_blocks *blocks, u32 end)
{
	u32 made = 0;
	int r = blocks->in_process ? 0 : descriptor_limit_reserve((size_t)BLOCK_KINDS * (end - blocks->n));

	for (u32 i = blocks->n; i < end && r == 0; i++) {
		r = kernel_block_make(blocks, &blocks->list[i]);
		if (r == 0)
			made++;
	}
	return made ? (int)made : r;
}

/*
 * Blocks are stored before programs find them: if this process is killed, its successor has every block that
 * a slot may lie in. The successor enters the blocks that this process did not enter.
 */
int kernel_grow(struct kernel *kernel, u32 slots)
{
	struct kernel_blocks *blocks = &kernel->blocks;
	const u32 before = blocks->n, limit = kernel_slots_limit(kernel) / blocks->slots;
	u32 end = slots / blocks->slots + (slots % blocks->slots != 0);
	int made, r;

	if (end > limit)
		end = limit;
	if (end <= before)
		return 0;
	made = make_blocks(blocks, end);
	if (made < 0)
		return made;
	blocks->n += (u32)made;
	r = kernel_save_blocks(kernel, before);
	if (r == 0) {
		r = kernel_enter_blocks(kernel, before);
		if (r == 0)
			return made * (int)blocks->slots;
		kernel_save_fewer_blocks(kernel, before);
	}
	for (u32 i = before; i < blocks->n; i++)
		kernel_block_done(&blocks->list[i]);
	blocks->n = before;
	return r;
}

int kernel_program_fd(const struct kernel *kernel, unsigned event)
{
	int fd;

	if (event >= kernel->settings.n_events || !kernel->settings.hardware)
		return -ENOENT;
	fd = bpf_program__fd(skeleton_event_program(kernel->skeleton, event));
	return fd < 0 ? -ENOENT : fd;
}

int kernel_empty_program_fd(const struct kernel *kernel)
{
	int fd = kernel->settings.hardware ? bpf_program__fd(kernel->skeleton->progs.empty) : -ENOENT;

	return fd < 0 ? -ENOENT : fd;
}

const u64 *kernel_empty_program_runs(const struct kernel *kernel)
{
	return &kernel->skeleton->bss->empty_runs;
}

/*
 * Runs a syscall program. The kernel writes the context back (net/bpf/test_run.c, bpf_prog_test_run_syscall).
 */
static int run(const struct bpf_program *program, void *context, u32 bytes)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = context, .ctx_size_in = bytes);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &options) < 0 ? -errno : 0;
}

int kernel_inject(struct kernel *kernel, const struct sample *samples, size_t n)
{
	if (kernel->in_process) {
		kernel_in_process_inject(kernel, samples, n);
		return 0;
	}
	while (n > 0) {
		size_t batch = n < INJECT_MAX ? n : INJECT_MAX;
		struct inject_request request = {.count = (u32)batch};
		int r;

		memcpy(kernel->injected.memory, samples, batch * sizeof(*samples));
		r = run(kernel->skeleton->progs.inject, &request, sizeof(request));
		if (r < 0)
			return r;
		if (request.done != batch)
			return -EIO;
		samples += batch;
		n -= batch;
	}
	return 0;
}

static int ask(struct kernel *kernel, struct slot_request *request)
{
	int r;

	if (kernel->in_process)
		return kernel_in_process_ask(kernel, request);
	r = run(kernel->skeleton->progs.slot_table, request, sizeof(*request));
	return r < 0 ? r : request->result;
}

int kernel_adopt(struct kernel *kernel, u64 cgroup_id, u64 parent_id, const char *name)
{
	struct slot_request request = {.kind = SLOT_ADOPT, .cgroup_id = cgroup_id, .parent_id = parent_id};

	memcpy(request.name, name, strnlen(name, sizeof(request.name) - 1));
	return ask(kernel, &request);
}

int kernel_mark_dead(struct kernel *kernel, u64 cgroup_id)
{
	struct slot_request request = {.kind = SLOT_MARK_DEAD, .cgroup_id = cgroup_id};

	return ask(kernel, &request);
}

int kernel_retire(struct kernel *kernel, u32 slot, u32 generation)
{
	struct slot_request request = {.kind = SLOT_RETIRE, .slot = slot, .generation = generation};

	return ask(kernel, &request);
}

int kernel_release(struct kernel *kernel, u32 slot, u32 generation)
{
	struct slot_request request = {.kind = SLOT_RELEASE, .slot = slot, .generation = generation};

	return ask(kernel, &request);
}

const struct slot_owner *kernel_owner(const struct kernel *kernel, u32 slot)
{
	const struct slot_owner *owners = kernel_blocks_memory(&kernel->blocks, BLOCK_OWNERS, slot);

	return owners + kernel_slot_in_block(&kernel->blocks, slot);
}

const struct latency_record *kernel_latency_record(const struct kernel *kernel, unsigned event, u32 stripe,
						   u32 slot)
{
	return kernel_writable_latency(kernel, event, stripe, slot);
}

const struct plain_record *kernel_plain_record(const struct kernel *kernel, unsigned event, u32 stripe,
					       u32 slot)
{
	return kernel_writable_plain(kernel, event, stripe, slot);
}

struct rejected_record kernel_rejected(const struct kernel *kernel, unsigned event, u32 stripe)
{
	const struct rejected_record *shared = &kernel->skeleton->bss->rejected[event][stripe];

	return (struct rejected_record){
		.malformed = __atomic_load_n(&shared->malformed, __ATOMIC_RELAXED),
		.filtered = __atomic_load_n(&shared->filtered, __ATOMIC_RELAXED),
	};
}

u32 kernel_stripes(const struct kernel *kernel)
{
	return kernel->stripes;
}

static const struct cpu_state *cpu_state(const struct kernel *kernel, u32 cpu)
{
	return (const struct cpu_state *)kernel->cpu_states.memory +
	       (cpu < kernel->cpus ? cpu : kernel->cpus);
}

u32 kernel_stripe_of(const struct kernel *kernel, u32 cpu)
{
	return cpu_state(kernel, cpu)->stripe;
}

struct kernel_body_time kernel_body_time(const struct kernel *kernel, u32 cpu)
{
	const struct cpu_state *state = cpu_state(kernel, cpu);

	return (struct kernel_body_time){
		.timed = __atomic_load_n(&state->timed, __ATOMIC_RELAXED),
		.timed_ns = __atomic_load_n(&state->timed_ns, __ATOMIC_RELAXED),
	};
}

u8 *kernel_dirty(const struct kernel *kernel, unsigned event, u32 stripe)
{
	return kernel_dirty_row(kernel, (size_t)event * kernel->stripes + stripe);
}

u8 *kernel_owner_dirty(const struct kernel *kernel)
{
	return kernel_dirty_row(kernel, kernel->settings.n_events * kernel->stripes);
}

u8 *kernel_offcore_dirty(const struct kernel *kernel, u32 cpu)
{
	return kernel_dirty_row(kernel, kernel->settings.n_events * kernel->stripes + 1 + cpu);
}

void kernel_clear_records(struct kernel *kernel, u32 slot, unsigned event, u32 stripes)
{
	for (u32 stripe = 0; stripe < kernel->stripes; stripe++) {
		if (!(stripes & 1U << stripe))
			continue;
		if (kernel->settings.events[event].has_latency)
			memset(kernel_writable_latency(kernel, event, stripe, slot), 0,
			       sizeof(struct latency_record));
		else
			memset(kernel_writable_plain(kernel, event, stripe, slot), 0,
			       sizeof(struct plain_record));
	}
}

u32 kernel_hot_max(const struct kernel *kernel)
{
	return kernel->hot_max;
}

u32 kernel_hot_cpus(const struct kernel *kernel)
{
	return kernel->hot_cpus;
}

static size_t tables_of_choice(const struct kernel *kernel)
{
	return kernel->settings.n_events * kernel->hot_cpus;
}

const struct hot_table *kernel_hot_table(const struct kernel *kernel, u32 choice, unsigned event, u32 cpu)
{
	const struct hot_table *tables = kernel->hot_tables[choice].memory;

	return tables ? tables + (size_t)event * kernel->hot_cpus + cpu : NULL;
}

static void mark_slot(struct kernel *kernel, u32 slot, u8 mark)
{
	u8 before =
		__atomic_exchange_n((u8 *)&kernel->skeleton->bss->hot_choices[slot], mark, __ATOMIC_SEQ_CST);
	u32 *chosen = (u32 *)&kernel->skeleton->bss->hot_chosen;

	if (mark && !before)
		(void)__atomic_add_fetch(chosen, 1, __ATOMIC_SEQ_CST);
	else if (!mark && before)
		(void)__atomic_sub_fetch(chosen, 1, __ATOMIC_SEQ_CST);
}

int kernel_make_hot(const struct kernel *kernel)
{
	const u32 sets = (u32)(tables_of_choice(kernel) * HOT_KINDS * HOT_SETS);
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "hot_of_choice", sizeof(u32), sizeof(struct hot_set),
				sets, &options);

	return fd < 0 ? -errno : fd;
}

/*
 * For some instructions of the update, no perf_event program runs on this CPU (bpf_prog_active), so samples
 * there are missed. Then the update waits until no program that saw the previous entry still runs
 * (kernel/bpf/syscall.c, bpf_map_update_value(), maybe_wait_bpf_programs(), Linux 6.1 to 6.18).
 */
static int make_tables(struct kernel *kernel, u32 choice)
{
	const size_t bytes = tables_of_choice(kernel) * sizeof(struct hot_table);
	_cleanup_close_ int fd = -1;
	struct mapping mapping;
	int r;

	if (kernel->in_process)
		return kernel_in_process_memory(bytes, &kernel->hot_tables[choice]);
	fd = kernel_make_hot(kernel);
	if (fd < 0)
		return fd;
	r = kernel_map_memory(fd, bytes, PROT_READ | PROT_WRITE, &mapping);
	if (r < 0)
		return r;
	(void)__atomic_or_fetch(&kernel->skeleton->bss->hot_made, 1ULL << choice, __ATOMIC_SEQ_CST);
	if (bpf_map_update_elem(bpf_map__fd(kernel->skeleton->maps.hot_tables), &choice, &fd, BPF_ANY) < 0) {
		r = -errno;
		kernel_unmap(&mapping);
		return r;
	}
	kernel->hot_tables[choice] = mapping;
	return 0;
}

int kernel_hot_choose(struct kernel *kernel, u32 slot, u32 choice)
{
	int r = kernel->hot_tables[choice].memory ? 0 : make_tables(kernel, choice);

	if (r == 0)
		mark_slot(kernel, slot, (u8)(choice + 1));
	return r;
}

void kernel_hot_release(struct kernel *kernel, u32 slot)
{
	mark_slot(kernel, slot, 0);
}

void kernel_hot_clear(struct kernel *kernel, u32 choice)
{
	if (kernel->hot_tables[choice].memory)
		memset(kernel->hot_tables[choice].memory, 0,
		       tables_of_choice(kernel) * sizeof(struct hot_table));
}

u64 kernel_hot_seed(const struct kernel *kernel)
{
	return kernel->skeleton->rodata->hot_seed;
}

int kernel_slots_short_fd(const struct kernel *kernel)
{
	return kernel->short_of ? bpf_map__fd(kernel->skeleton->maps.slots_short) : -1;
}

void kernel_slots_short_clear(struct kernel *kernel)
{
	if (!kernel->short_of)
		return;
	(void)ring_buffer__consume(kernel->short_of);
	/* Clear this last. Otherwise the notice of the next birth would be consumed unseen. */
	__atomic_store_n(&kernel->skeleton->bss->slots_reported, 0, __ATOMIC_SEQ_CST);
}

struct slot_counters kernel_slot_counters(const struct kernel *kernel)
{
	return kernel->skeleton->bss->slot_counters;
}

struct kernel_offcore *kernel_offcore(const struct kernel *kernel)
{
	return kernel->offcore;
}

const struct kernel_settings *kernel_settings(const struct kernel *kernel)
{
	return &kernel->settings;
}

struct map_size_case kernel_map_case(const struct kernel *kernel)
{
	const struct kernel_settings *settings = &kernel->settings;
	struct map_size_case maps = {
		.stripes = kernel->stripes,
		.cpus = kernel->cpus,
		.hot_tables = (u64)settings->n_events * kernel->hot_cpus,
		.hot_cgroups = kernel->hot_max,
		.offcore_cpus = settings->offcore_cpus,
		.page_size = (u64)sysconf(_SC_PAGESIZE),
	};

	for (size_t i = 0; i < settings->n_events; i++)
		(*(settings->events[i].has_latency ? &maps.with_latency : &maps.without))++;
	return maps;
}

u64 kernel_map_bytes(const struct kernel *kernel)
{
	struct map_size_case maps = kernel_map_case(kernel);

	maps.slots = kernel_slots(kernel);
	maps.slots_max = kernel->slots_max;
	maps.hot_cgroups = 0;
	for (u32 choice = 0; choice < kernel->hot_max; choice++)
		maps.hot_cgroups += kernel->hot_tables[choice].memory != NULL;
	return map_size(&maps);
}

u64 kernel_start_peak(const struct kernel *kernel)
{
	return kernel->start_peak;
}
