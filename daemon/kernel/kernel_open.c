// SPDX-License-Identifier: GPL-2.0
/* Opens the kernel side: loads the programs, makes or inherits the maps, and attaches the tracepoints. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/descriptor_limit.h"
#include "base/log.h"
#include "base/own_memory.h"
#include "kernel/kernel_inherit.h"
#include "kernel/kernel_internal.h"
#include "kernel/kernel_offcore.h"
#include "kernel/load_failure.h"
#include "kernel/skeleton.h"
#include "machine/cpu_list.h"

/* Sets the first record of each event in a block. All events of a kind share a block's map. */
static void set_first_records(struct kernel_settings *settings, u32 records)
{
	u32 latency = 0, plain = 0;

	for (size_t i = 0; i < settings->n_events; i++) {
		u32 *next = settings->events[i].has_latency ? &latency : &plain;

		settings->events[i].first_record = *next;
		*next += records;
	}
}

static int size_map(struct bpf_map *map, u32 entries)
{
	return bpf_map__set_max_entries(map, entries ? entries : 1);
}

static bool has_addresses(const struct kernel_settings *settings)
{
	for (size_t i = 0; i < settings->n_events; i++)
		if (settings->events[i].has_code_address || settings->events[i].has_address)
			return true;
	return false;
}

/*
 * The verifier needs a map of hot tables that is as large as the later ones, because the programs treat the
 * number of entries as a constant. This map is closed when the programs are loaded.
 */
static int set_hot_example(struct kernel *kernel)
{
	kernel->hot_example = kernel_make_hot(kernel);
	/* The maps that are made next will be refused as well. The error message then names them. */
	if (kernel->hot_example == -EPERM)
		return 0;
	return kernel->hot_example < 0
		       ? kernel->hot_example
		       : bpf_map__set_inner_map_fd(kernel->skeleton->maps.hot_tables, kernel->hot_example);
}

static int configure_hot(struct kernel *kernel)
{
	const struct kernel_settings *settings = &kernel->settings;
	struct pebsd_bpf *skeleton = kernel->skeleton;
	u64 seed;
	u64 sets;
	int r;

	kernel->hot_max = has_addresses(settings) ? settings->hot_max : 0;
	kernel->hot_cpus = settings->hardware ? kernel->cpus : 1;
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (u64)time(NULL) << 32 ^ (u64)getpid() ^ (u64)(uintptr_t)kernel;
	skeleton->rodata->hot_max = kernel->hot_max;
	skeleton->rodata->hot_events = (u32)settings->n_events;
	skeleton->rodata->hot_cpus = kernel->hot_cpus;
	skeleton->rodata->hot_seed = seed;
	sets = (u64)settings->n_events * kernel->hot_cpus * HOT_KINDS * HOT_SETS;
	if (sets > UINT32_MAX)
		return -E2BIG;
	r = size_map(skeleton->maps.hot_tables, kernel->hot_max);
	return r < 0 || kernel->hot_max == 0 || kernel->in_process ? r : set_hot_example(kernel);
}

/* A CPU that `stripes` does not cover writes to the first stripe, which then has more than one writer. */
static int configure_stripes(struct kernel *kernel)
{
	const struct kernel_settings *settings = &kernel->settings;
	struct pebsd_bpf *skeleton = kernel->skeleton;
	const struct kernel_saved *before = settings->inherit ? kernel_saved_before(kernel->handover) : NULL;
	u32 lines = dirty_row(kernel->slots_max) / DIRTY_LINE;
	u32 rows = (u32)settings->n_events * kernel->stripes;
	int r;

	/*
	 * The assignment of CPUs to stripes is inherited. Counters therefore need not begin at zero if the set
	 * of offline CPUs has changed.
	 */
	skeleton->rodata->stripes_alone =
		before ? before->stripes_alone != 0
		       : settings->stripes->alone && settings->stripes->cpus >= kernel->cpus;
	skeleton->rodata->dirty_event = kernel->stripes * lines;
	skeleton->rodata->dirty_owners = rows * lines;
	skeleton->rodata->dirty_offcore = (rows + 1) * lines;
	skeleton->rodata->dirty_lines = lines;
	skeleton->rodata->cpu_count = kernel->cpus;
	/* The epoch 0 of a CPU state that was never written must not match. */
	skeleton->bss->index_epoch = 1;
	r = size_map(skeleton->maps.dirty, (rows + 1 + settings->offcore_cpus) * lines);
	return r < 0 ? r : size_map(skeleton->maps.cpu_states, kernel->cpus + 1);
}

static u32 choose_stripes(const struct kernel *kernel)
{
	const struct kernel_saved *before =
		kernel->settings.inherit ? kernel_saved_before(kernel->handover) : NULL;

	if (before && before->identity.cpus == kernel->cpus && before->identity.stripes > 0 &&
	    before->identity.stripes <= STRIPES_MAX)
		return before->identity.stripes;
	return kernel->settings.stripes->n;
}

/*
 * Returns the maximum number of slots: as many as fit into the memory that the maps may take. The index and
 * the dirty bytes are made for this number at the start. Inherited maps keep their size, unless the user asked for
 * more.
 */
static u32 choose_slots_max(const struct kernel *kernel)
{
	const struct kernel_settings *settings = &kernel->settings;
	const struct kernel_saved *before = settings->inherit ? kernel_saved_before(kernel->handover) : NULL;
	struct map_size_case maps = kernel_map_case(kernel);
	u32 own;

	if (!settings->memory_max)
		return settings->slots;
	own = map_size_slots(&maps, settings->memory_max);
	if (before && before->identity.block_slots == SLOT_BLOCK &&
	    (own <= before->identity.slots || settings->memory_auto))
		return before->identity.slots;
	return own;
}

static int plan_blocks(struct kernel *kernel)
{
	const struct map_size_case maps = kernel_map_case(kernel);
	struct kernel_blocks_case wanted = {
		.slots_max = choose_slots_max(kernel),
		.grows = kernel->settings.memory_max != 0,
		.in_process = kernel->in_process,
		.stripes = maps.stripes,
		.with_latency = (u32)maps.with_latency,
		.without = (u32)maps.without,
		.offcore_cpus = maps.offcore_cpus,
	};

	kernel->slots_max = wanted.slots_max;
	return kernel_blocks_plan(&wanted, &kernel->blocks);
}

/*
 * Gives an outer map an entry for each possible block. If blocks have no map of this kind, the outer map has
 * one entry that stays empty.
 */
static int size_outer(const struct kernel_blocks *blocks, struct bpf_map *map, enum slot_block_kind kind)
{
	return size_map(map, blocks->entries[kind] ? blocks->max : 1);
}

static int configure_blocks(struct kernel *kernel)
{
	const struct kernel_blocks *blocks = &kernel->blocks;
	struct pebsd_bpf *skeleton = kernel->skeleton;
	int r;

	skeleton->rodata->block_log2 = blocks->log2;
	skeleton->rodata->block_mask = (1U << blocks->log2) - 1;
	skeleton->rodata->block_slots = blocks->slots;
	if ((r = size_outer(blocks, skeleton->maps.latency_blocks, BLOCK_LATENCY)) < 0 ||
	    (r = size_outer(blocks, skeleton->maps.plain_blocks, BLOCK_PLAIN)) < 0 ||
	    (r = size_outer(blocks, skeleton->maps.owners_blocks, BLOCK_OWNERS)) < 0 ||
	    (r = size_outer(blocks, skeleton->maps.offcore_blocks, BLOCK_OFFCORE)) < 0)
		return r;
	return size_map(skeleton->maps.slot_index, kernel->slots_max);
}

static int configure(struct kernel *kernel)
{
	struct kernel_settings *settings = &kernel->settings;
	struct pebsd_bpf *skeleton = kernel->skeleton;
	struct cpu_list possible = {0};
	int r;

	(void)cpu_list_read("/sys/devices/system/cpu/possible", &possible);
	kernel->cpus = cpu_list_end(&possible);
	if (kernel->cpus < settings->stripes->cpus)
		kernel->cpus = settings->stripes->cpus;
	kernel->stripes = choose_stripes(kernel);
	/* Hot tables come first, because slots may take only the memory that the hot tables leave. */
	if ((r = configure_hot(kernel)) < 0 || (r = plan_blocks(kernel)) < 0)
		return r;
	set_first_records(settings, kernel->blocks.slots * kernel->stripes);
	skeleton->rodata->read_by_probe = settings->read_by_probe;
	decode_tables_fill((struct decode_tables *)&skeleton->rodata->decode_tables);
	memcpy((void *)skeleton->rodata->events, settings->events, sizeof(settings->events));

	if ((r = configure_blocks(kernel)) < 0 || (r = configure_stripes(kernel)) < 0)
		return r;

	for (unsigned i = 0; i < EVENTS_MAX; i++)
		bpf_program__set_autoload(skeleton_event_program(skeleton, i),
					  settings->hardware && i < settings->n_events);
	bpf_program__set_autoload(skeleton->progs.empty, settings->hardware);
	/* The size must be whole pages. The ring buffer holds one record at a time. */
	if ((r = bpf_map__set_max_entries(skeleton->maps.slots_short, (u32)sysconf(_SC_PAGESIZE))) < 0 ||
	    (r = bpf_map__set_autocreate(skeleton->maps.slots_short, settings->births)) < 0)
		return r;
	bpf_program__set_autoload(skeleton->progs.cgroup_born, settings->births);
	bpf_program__set_autoload(skeleton->progs.cgroup_died, settings->births);
	return kernel_offcore_prepare(skeleton, &kernel->blocks, settings->offcore_cpus, &kernel->offcore);
}

static int map_records(const struct kernel *kernel, const struct bpf_map *map, struct mapping *ret)
{
	const size_t bytes = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);

	return kernel->in_process ? kernel_in_process_memory(bytes, ret)
				  : kernel_map_memory(bpf_map__fd(map), bytes, PROT_READ | PROT_WRITE, ret);
}

/* The dirty bytes are mapped writable because the reader clears them. */
static int map_all(struct kernel *kernel)
{
	struct pebsd_bpf *skeleton = kernel->skeleton;
	int r;

	if ((r = map_records(kernel, skeleton->maps.dirty, &kernel->dirty)) < 0 ||
	    (r = map_records(kernel, skeleton->maps.cpu_states, &kernel->cpu_states)) < 0)
		return r;
	return kernel->in_process ? 0 : map_records(kernel, skeleton->maps.injected, &kernel->injected);
}

/* Makes the blocks that a start needs, in addition to inherited ones. */
static int make_blocks(struct kernel *kernel)
{
	struct kernel_blocks *blocks = &kernel->blocks;
	u32 limit = kernel_slots_limit(kernel) / blocks->slots;
	u32 end = (kernel->settings.slots + blocks->slots - 1) / blocks->slots;
	u32 known;
	int r;

	if (!kernel->settings.memory_max)
		limit = 1;
	if (end > limit)
		end = limit;
	/* DESCRIPTORS_SPARE already covers the maps of the first block and all maps outside of blocks. */
	known = blocks->n ? blocks->n : 1;
	r = end > known && !kernel->in_process ? descriptor_limit_reserve((size_t)BLOCK_KINDS * (end - known))
					       : 0;
	while (r == 0 && blocks->n < end) {
		r = kernel_block_make(blocks, &blocks->list[blocks->n]);
		if (r == 0)
			blocks->n++;
	}
	return r;
}

/* Whenever an outer map is made, the kernel needs an example of its inner maps. */
static int set_block_examples(struct kernel *kernel)
{
	struct pebsd_bpf *skeleton = kernel->skeleton;
	struct bpf_map *const outer[BLOCK_KINDS] = {
		[BLOCK_LATENCY] = skeleton->maps.latency_blocks,
		[BLOCK_PLAIN] = skeleton->maps.plain_blocks,
		[BLOCK_OWNERS] = skeleton->maps.owners_blocks,
		[BLOCK_OFFCORE] = skeleton->maps.offcore_blocks,
	};
	int r = 0;

	for (unsigned kind = 0; kind < BLOCK_KINDS && r == 0; kind++) {
		int fd = kernel->blocks.list[0].fds[kind];

		if (fd < 0) {
			fd = kernel->examples[kind] = kernel_block_example(kind);
			r = fd < 0 ? fd : 0;
		}
		if (r == 0)
			r = bpf_map__set_inner_map_fd(outer[kind], fd);
	}
	return r;
}

static void close_examples(struct kernel *kernel)
{
	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++) {
		cleanup_close(&kernel->examples[kind]);
		kernel->examples[kind] = -1;
	}
}

/* `slots_now` counts the slots that an earlier process entered: programs already find their blocks. */
static int enter_blocks(struct kernel *kernel)
{
	return kernel_enter_blocks(kernel, kernel->skeleton->bss->slots_now / kernel->blocks.slots);
}

/* Called before any program can run. */
static void assign_stripes(struct kernel *kernel)
{
	const struct kernel_settings *settings = &kernel->settings;
	const struct stripes *stripes = settings->stripes;
	struct cpu_state *states = kernel->cpu_states.memory;

	for (u32 cpu = 0; cpu < kernel->cpus; cpu++) {
		u32 stripe = cpu < stripes->cpus ? stripes->of_cpu[cpu] : 0;

		states[cpu].stripe = stripe;
		states[cpu].first_record = stripe * kernel->blocks.slots;
		states[cpu].first_dirty = stripe * dirty_row(kernel->slots_max) / DIRTY_LINE;
		states[cpu].timed_mask =
			(1U << (settings->timed_log2 ? settings->timed_log2 : KERNEL_TIMED_LOG2)) - 1;
	}
}

static int ignore_message(void *context, void *data, size_t bytes)
{
	(void)context;
	(void)data;
	(void)bytes;
	return 0;
}

static int watch_short_slots(struct kernel *kernel)
{
	kernel->short_of =
		ring_buffer__new(bpf_map__fd(kernel->skeleton->maps.slots_short), ignore_message, NULL, NULL);
	if (!kernel->short_of)
		return -errno;
	/* The previous process may have been killed after it took a notice, and before it cleared this. */
	__atomic_store_n(&kernel->skeleton->bss->slots_reported, 0, __ATOMIC_SEQ_CST);
	return 0;
}

/*
 * Deaths come first: a death without a birth does no harm, but a birth whose death is missed keeps its slot
 * for ever.
 */
static int follow_cgroups(struct kernel *kernel)
{
	struct pebsd_bpf *skeleton = kernel->skeleton;
	int r = kernel_inherit_link(kernel, skeleton->progs.cgroup_died, &skeleton->links.cgroup_died);

	return r < 0 ? r
		     : kernel_inherit_link(kernel, skeleton->progs.cgroup_born, &skeleton->links.cgroup_born);
}

static int follow_scheduler(struct kernel *kernel)
{
	struct pebsd_bpf *skeleton = kernel->skeleton;
	int r = kernel_offcore_start(kernel->offcore);

	if (r < 0 || !kernel->offcore)
		return r;
	return kernel_inherit_link(kernel, skeleton->progs.offcore_switched,
				   &skeleton->links.offcore_switched);
}

static int fail_to_store(int error, char **ret_message)
{
	if (asprintf(
		    ret_message, "cannot have the service manager keep the BPF maps: %s; %s",
		    error == -E2BIG ? "systemd cannot pass on more descriptors" : strerror(-error),
		    error == -E2BIG
			    ? "lower max-memory in [cgroups], or max if it is a number"
			    : "see whether it takes descriptors from pebsd (FileDescriptorStoreMax= of the unit)") <
	    0)
		*ret_message = NULL;
	return error;
}

static int load(struct kernel *kernel)
{
	int r = set_block_examples(kernel);

	if (r == 0)
		r = pebsd_bpf__load(kernel->skeleton);
	close_examples(kernel);
	return r;
}

/* *ret_refused: the process cannot use BPF, for a reason that is not a mistake of pebsd. */
static int open_once(const struct kernel_settings *settings, bool in_process, struct kernel **ret,
		     bool *ret_refused, char **ret_message)
{
	_cleanup_(kernel_freep) struct kernel *kernel = NULL;
	_cleanup_(load_log_freep) struct load_log *load_log = NULL;
	const char *step;
	int r;

	*ret_message = NULL;
	*ret_refused = false;
	if (in_process && (settings->births || settings->hardware || settings->offcore_cpus))
		return -EINVAL;
	if (settings->slots < 2 || settings->slots > KERNEL_SLOTS_MAX || settings->n_events > EVENTS_MAX ||
	    settings->hot_max > HOT_MAX || !settings->stripes || settings->stripes->n == 0 ||
	    settings->stripes->n > STRIPES_MAX || settings->timed_log2 > KERNEL_TIMED_LOG2_MAX)
		return -EINVAL;

	kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return -ENOMEM;
	kernel->in_process = in_process;
	kernel->hot_example = -1;
	kernel->settings = *settings;
	for (unsigned kind = 0; kind < BLOCK_KINDS; kind++)
		kernel->examples[kind] = -1;
	kernel->handover = in_process ? NULL : settings->handover;
	kernel->saved = calloc(1, sizeof(*kernel->saved));
	if (!kernel->saved)
		return -ENOMEM;
	r = load_log_start(&load_log);
	if (r < 0)
		return r;

	/*
	 * If a feature probe of libbpf fails for want of descriptors, libbpf assumes that the kernel lacks
	 * the feature.
	 */
	step = "reserve file descriptors for BPF";
	r = in_process ? 0 : descriptor_limit_reserve(0);
	if (r < 0)
		goto fail;
	step = "open the BPF object";
	kernel->skeleton = skeleton_open_pebsd();
	if (!kernel->skeleton) {
		r = -errno;
		goto fail;
	}
	step = "size the BPF maps";
	r = configure(kernel);
	if (r < 0)
		goto fail;
	step = "take over the BPF maps of the previous process";
	r = kernel_inherit_maps(kernel);
	if (r == -ESTALE)
		return r;
	if (r < 0)
		goto fail;
	step = "create the BPF maps of the slots";
	r = make_blocks(kernel);
	if (r < 0)
		goto fail;
	step = "load the BPF programs";
	r = in_process ? 0 : load(kernel);
	if (r < 0)
		goto fail;
	cleanup_close(&kernel->hot_example);
	kernel->hot_example = -1;
	/*
	 * Read this before the records are mapped: own_memory_peak() would subtract them from the earlier
	 * peak.
	 */
	if (own_memory_peak(&kernel->start_peak) < 0)
		kernel->start_peak = 0;
	step = "map the BPF records";
	r = map_all(kernel);
	if (r == 0)
		r = enter_blocks(kernel);
	if (r < 0)
		goto fail;
	if (kernel->inherited == INHERITED_NOTHING)
		assign_stripes(kernel);
	kernel->settings.stripes = NULL; /* owned by the caller */
	step = "compare the BPF programs with those of the previous process";
	r = kernel_inherit_programs(kernel);
	if (r < 0)
		goto fail;
	if (settings->births) {
		step = "attach to the cgroup tracepoints";
		r = watch_short_slots(kernel);
		if (r == 0)
			r = follow_cgroups(kernel);
		if (r < 0)
			goto fail;
	}
	step = "follow task switches to count off-core responses";
	r = follow_scheduler(kernel);
	if (r < 0)
		goto fail;
	r = kernel_inherit_done(kernel);
	if (r < 0)
		return fail_to_store(r, ret_message);
	*ret = TAKE_PTR(kernel);
	return 0;

fail:
	*ret_refused = load_failure_refused(r, load_log);
	*ret_message = load_failure(step, r, load_log);
	return r;
}

/* An inherited state that cannot be used must not prevent a start without it. */
static int open_bpf(const struct kernel_settings *settings, struct kernel **ret, bool *ret_refused,
		    char **ret_message)
{
	struct kernel_settings alone = *settings;
	int r = open_once(settings, false, ret, ret_refused, ret_message);

	if (!settings->handover || !settings->inherit || r >= 0 || r == -ENOMEM)
		return r;
	if (r != -ESTALE)
		log_notice(
			"cannot use the BPF maps of the previous process: %s; the counts of that process are kept, but samples since its last collection are lost",
			*ret_message ? *ret_message : strerror(-r));
	free(*ret_message);
	alone.inherit = false;
	return open_once(&alone, false, ret, ret_refused, ret_message);
}

int kernel_open(const struct kernel_settings *settings, struct kernel **ret, char **ret_message)
{
	bool refused = false;
	int r = 0;

	*ret_message = NULL;
	if (settings->account != KERNEL_ACCOUNT_IN_PROCESS)
		r = open_bpf(settings, ret, &refused, ret_message);
	if (settings->account == KERNEL_ACCOUNT_BPF ||
	    (settings->account == KERNEL_ACCOUNT_EITHER && !refused))
		return r;
	if (*ret_message)
		log_debug("%s", *ret_message);
	free(*ret_message);
	if (r < 0)
		log_notice(
			"accounts samples in its own process, because it cannot use BPF (%s); the figures are the same",
			strerror(-r));
	return open_once(settings, true, ret, &refused, ret_message);
}

struct kernel *kernel_free(struct kernel *kernel)
{
	if (!kernel)
		return NULL;
	kernel_unmap(&kernel->injected);
	for (u32 choice = 0; choice < HOT_MAX; choice++)
		kernel_unmap(&kernel->hot_tables[choice]);
	kernel_unmap(&kernel->dirty);
	kernel_unmap(&kernel->cpu_states);
	if (kernel->hot_example >= 0)
		cleanup_close(&kernel->hot_example);
	kernel_offcore_free(kernel->offcore);
	ring_buffer__free(kernel->short_of);
	for (size_t i = 0; i < kernel->n_links; i++)
		if (kernel->links[i].taken)
			cleanup_close(&kernel->links[i].fd);
	close_examples(kernel);
	kernel_blocks_done(&kernel->blocks);
	pebsd_bpf__destroy(kernel->skeleton);
	number_map_clear(&kernel->index);
	free(kernel->saved);
	free(kernel);
	return NULL;
}
