// SPDX-License-Identifier: GPL-2.0
#include "kernel.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cpu_list.h"
#include "base/own_memory.h"
#include "kernel_offcore.h"
#include "load_failure.h"
#include "map_size.h"
#include "pebsd.skel.h"

struct mapping {
	void *memory;
	size_t bytes;
};

struct kernel {
	struct kernel_settings settings;
	struct pebsd_bpf *skeleton;
	struct mapping latency_records;
	struct mapping plain_records;
	struct mapping slot_owners;
	struct mapping injected;
	struct mapping hot_tables;
	struct mapping marks;
	struct mapping cpu_states;
	u32 stripes;
	u32 cpus; /* possible ones, as the kernel numbers them */
	u64 start_peak;
	u32 hot_max;
	u32 hot_cpus;
	struct kernel_offcore *offcore; /* NULL: off */
	struct ring_buffer *short_of;   /* NULL: without births */
};

static void place_events(struct kernel_settings *settings, u32 stripes, u32 *ret_latency, u32 *ret_plain)
{
	u32 records = settings->slots * stripes;

	*ret_latency = *ret_plain = 0;
	for (size_t i = 0; i < settings->n_events; i++) {
		u32 *next = settings->events[i].has_latency ? ret_latency : ret_plain;

		settings->events[i].first_record = *next;
		*next += records;
	}
}

/* The perf_event program of an event's door. */
static struct bpf_program *door(const struct pebsd_bpf *skeleton, unsigned event)
{
	struct bpf_program *const doors[EVENTS_MAX] = {
		skeleton->progs.event_0, skeleton->progs.event_1,  skeleton->progs.event_2,
		skeleton->progs.event_3, skeleton->progs.event_4,  skeleton->progs.event_5,
		skeleton->progs.event_6, skeleton->progs.event_7,  skeleton->progs.event_8,
		skeleton->progs.event_9, skeleton->progs.event_10, skeleton->progs.event_11,
	};

	return event < EVENTS_MAX ? doors[event] : NULL;
}

static int size_map(struct bpf_map *map, u32 entries)
{
	return bpf_map__set_max_entries(map, entries ? entries : 1);
}

static bool has_places(const struct kernel_settings *settings)
{
	for (size_t i = 0; i < settings->n_events; i++)
		if (settings->events[i].has_code_address || settings->events[i].has_address)
			return true;
	return false;
}

static int configure_hot(struct kernel *kernel)
{
	const struct kernel_settings *settings = &kernel->settings;
	struct pebsd_bpf *skeleton = kernel->skeleton;
	u64 seed;
	u64 sets;

	kernel->hot_max = has_places(settings) ? settings->hot_max : 0;
	kernel->hot_cpus = settings->hardware ? kernel->cpus : 1;
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (u64)time(NULL) << 32 ^ (u64)getpid() ^ (u64)(uintptr_t)kernel;
	skeleton->rodata->hot_max = kernel->hot_max;
	skeleton->rodata->hot_events = (u32)settings->n_events;
	skeleton->rodata->hot_cpus = kernel->hot_cpus;
	skeleton->rodata->hot_seed = seed;
	sets = (u64)kernel->hot_max * settings->n_events * kernel->hot_cpus * HOT_KINDS * HOT_SETS;
	return sets > UINT32_MAX ? -E2BIG : size_map(skeleton->maps.hot_tables, (u32)sets);
}

/* A CPU that the stripes do not tell of writes to the first, which then is not alone. */
static int configure_stripes(struct kernel *kernel)
{
	const struct kernel_settings *settings = &kernel->settings;
	struct pebsd_bpf *skeleton = kernel->skeleton;
	u32 lines = marks_row(settings->slots) / MARKS_LINE;
	u32 rows = (u32)settings->n_events * kernel->stripes;
	int r;

	skeleton->rodata->stripes_alone = settings->stripes->alone && settings->stripes->cpus >= kernel->cpus;
	skeleton->rodata->marks_event = kernel->stripes * lines;
	skeleton->rodata->marks_owners = rows * lines;
	skeleton->rodata->cpu_count = kernel->cpus;
	/* A state that was never written remembers nothing. */
	skeleton->bss->index_epoch = 1;
	r = size_map(skeleton->maps.marks, (rows + 1) * lines);
	return r < 0 ? r : size_map(skeleton->maps.cpu_states, kernel->cpus + 1);
}

/* As the kernel numbers them, which may leave some out: the highest, and one. */
static u32 possible_cpus(void)
{
	struct cpu_list possible;
	u32 cpus = 0;

	if (cpu_list_read("/sys/devices/system/cpu/possible", &possible) == 0)
		for (int cpu = -1; (cpu = cpu_list_next(&possible, cpu)) >= 0;)
			cpus = (u32)cpu + 1;
	return cpus;
}

static int configure(struct kernel *kernel)
{
	struct kernel_settings *settings = &kernel->settings;
	struct pebsd_bpf *skeleton = kernel->skeleton;
	u32 latency, plain;
	int r;

	kernel->cpus = possible_cpus();
	if (kernel->cpus < settings->stripes->cpus)
		kernel->cpus = settings->stripes->cpus;
	kernel->stripes = settings->stripes->n;
	place_events(settings, kernel->stripes, &latency, &plain);
	skeleton->rodata->read_by_probe = settings->read_by_probe;
	decode_tables_fill((struct decode_tables *)&skeleton->rodata->decode_tables);
	skeleton->rodata->slot_count = settings->slots;
	memcpy((void *)skeleton->rodata->events, settings->events, sizeof(settings->events));

	if ((r = size_map(skeleton->maps.latency_records, latency)) < 0 ||
	    (r = size_map(skeleton->maps.plain_records, plain)) < 0 ||
	    (r = size_map(skeleton->maps.slot_owners, settings->slots)) < 0 ||
	    (r = size_map(skeleton->maps.slot_index, settings->slots)) < 0 ||
	    (r = configure_stripes(kernel)) < 0 || (r = configure_hot(kernel)) < 0)
		return r;

	for (unsigned i = 0; i < EVENTS_MAX; i++)
		bpf_program__set_autoload(door(skeleton, i), settings->hardware && i < settings->n_events);
	bpf_program__set_autoload(skeleton->progs.empty, settings->hardware);
	/* Of whole pages; one record at a time is in it. */
	if ((r = bpf_map__set_max_entries(skeleton->maps.slots_short, (u32)sysconf(_SC_PAGESIZE))) < 0 ||
	    (r = bpf_map__set_autocreate(skeleton->maps.slots_short, settings->births)) < 0)
		return r;
	skeleton->rodata->slots_spare =
		settings->slots < KERNEL_SLOTS_SHORT_PART ? 1 : settings->slots / KERNEL_SLOTS_SHORT_PART;
	bpf_program__set_autoload(skeleton->progs.cgroup_born, settings->births);
	bpf_program__set_autoload(skeleton->progs.cgroup_died, settings->births);
	return kernel_offcore_prepare(skeleton, settings->slots, settings->offcore_cpus, &kernel->offcore);
}

static int map_records(const struct bpf_map *map, int protection, struct mapping *ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *memory;

	bytes = (bytes + page - 1) / page * page;
	memory = mmap(NULL, bytes, protection, MAP_SHARED, bpf_map__fd(map), 0);
	if (memory == MAP_FAILED)
		return -errno;
	*ret = (struct mapping){.memory = memory, .bytes = bytes};
	return 0;
}

/* Records, marks and hot tables are written to clear them. */
static int map_all(struct kernel *kernel)
{
	struct pebsd_bpf *skeleton = kernel->skeleton;
	const int both = PROT_READ | PROT_WRITE;
	int r;

	if ((r = map_records(skeleton->maps.latency_records, both, &kernel->latency_records)) < 0 ||
	    (r = map_records(skeleton->maps.plain_records, both, &kernel->plain_records)) < 0 ||
	    (r = map_records(skeleton->maps.slot_owners, PROT_READ, &kernel->slot_owners)) < 0 ||
	    (r = map_records(skeleton->maps.marks, both, &kernel->marks)) < 0 ||
	    (r = map_records(skeleton->maps.cpu_states, both, &kernel->cpu_states)) < 0 ||
	    (r = map_records(skeleton->maps.injected, both, &kernel->injected)) < 0)
		return r;
	return kernel->hot_max ? map_records(skeleton->maps.hot_tables, both, &kernel->hot_tables) : 0;
}

/* Before there is a program that could run. */
static void assign_stripes(struct kernel *kernel)
{
	const struct kernel_settings *settings = &kernel->settings;
	const struct stripes *stripes = settings->stripes;
	struct cpu_state *states = kernel->cpu_states.memory;

	for (u32 cpu = 0; cpu < kernel->cpus; cpu++) {
		u32 stripe = cpu < stripes->cpus ? stripes->of_cpu[cpu] : 0;

		states[cpu].stripe = stripe;
		states[cpu].first_record = stripe * settings->slots;
		states[cpu].first_marks = stripe * marks_row(settings->slots) / MARKS_LINE;
		states[cpu].timed_mask =
			(1U << (settings->timed_log2 ? settings->timed_log2 : KERNEL_TIMED_LOG2)) - 1;
	}
}

static int take_nothing(void *context, void *data, size_t bytes)
{
	(void)context;
	(void)data;
	(void)bytes;
	return 0;
}

static int listen_for_births(struct kernel *kernel)
{
	kernel->short_of =
		ring_buffer__new(bpf_map__fd(kernel->skeleton->maps.slots_short), take_nothing, NULL, NULL);
	return kernel->short_of ? 0 : -errno;
}

/* Deaths first: one without a birth is nothing, but a birth whose death is missed holds its slot for ever. */
static int follow_cgroups(struct pebsd_bpf *skeleton)
{
	skeleton->links.cgroup_died = bpf_program__attach(skeleton->progs.cgroup_died);
	if (!skeleton->links.cgroup_died)
		return -errno;
	skeleton->links.cgroup_born = bpf_program__attach(skeleton->progs.cgroup_born);
	return skeleton->links.cgroup_born ? 0 : -errno;
}

int kernel_open(const struct kernel_settings *settings, struct kernel **ret, char **ret_message)
{
	_cleanup_(kernel_freep) struct kernel *kernel = NULL;
	_cleanup_(load_log_freep) struct load_log *load_log = NULL;
	const char *step;
	int r;

	*ret_message = NULL;
	if (settings->slots < 2 || settings->slots > KERNEL_SLOTS_MAX || settings->n_events > EVENTS_MAX ||
	    settings->hot_max > HOT_MAX || !settings->stripes || settings->stripes->n == 0 ||
	    settings->stripes->n > STRIPES_MAX || settings->timed_log2 > KERNEL_TIMED_LOG2_MAX)
		return -EINVAL;

	kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return -ENOMEM;
	kernel->settings = *settings;
	r = load_log_start(&load_log);
	if (r < 0)
		return r;

	step = "open the BPF object";
	kernel->skeleton = pebsd_bpf__open();
	if (!kernel->skeleton) {
		r = -errno;
		goto fail;
	}
	step = "size the BPF maps";
	r = configure(kernel);
	if (r < 0)
		goto fail;
	step = "load the BPF programs";
	r = pebsd_bpf__load(kernel->skeleton);
	if (r < 0)
		goto fail;
	/* Now: mapped records would be taken for files that were there then. */
	if (own_memory_peak(&kernel->start_peak) < 0)
		kernel->start_peak = 0;
	step = "map the BPF records";
	r = map_all(kernel);
	if (r < 0)
		goto fail;
	assign_stripes(kernel);
	kernel->settings.stripes = NULL; /* the caller's */
	if (settings->births) {
		step = "attach to the cgroup tracepoints";
		r = listen_for_births(kernel);
		if (r == 0)
			r = follow_cgroups(kernel->skeleton);
		if (r < 0)
			goto fail;
	}
	step = "follow task switches to count off-core responses";
	r = kernel_offcore_start(kernel->offcore);
	if (r < 0)
		goto fail;
	*ret = TAKE_PTR(kernel);
	return 0;

fail:
	*ret_message = load_failure(step, r, load_log);
	return r;
}

static void unmap(struct mapping *mapping)
{
	if (mapping->memory)
		(void)munmap(mapping->memory, mapping->bytes);
}

struct kernel *kernel_free(struct kernel *kernel)
{
	if (!kernel)
		return NULL;
	unmap(&kernel->latency_records);
	unmap(&kernel->plain_records);
	unmap(&kernel->slot_owners);
	unmap(&kernel->injected);
	unmap(&kernel->hot_tables);
	unmap(&kernel->marks);
	unmap(&kernel->cpu_states);
	kernel_offcore_free(kernel->offcore);
	ring_buffer__free(kernel->short_of);
	pebsd_bpf__destroy(kernel->skeleton);
	free(kernel);
	return NULL;
}

int kernel_program_fd(const struct kernel *kernel, unsigned event)
{
	int fd;

	if (event >= kernel->settings.n_events || !kernel->settings.hardware)
		return -ENOENT;
	fd = bpf_program__fd(door(kernel->skeleton, event));
	return fd < 0 ? -ENOENT : fd;
}

int kernel_empty_program_fd(const struct kernel *kernel)
{
	int fd = kernel->settings.hardware ? bpf_program__fd(kernel->skeleton->progs.empty) : -ENOENT;

	return fd < 0 ? -ENOENT : fd;
}

/* Runs a syscall program; the kernel writes its context back (net/bpf/test_run.c, bpf_prog_test_run_syscall).
 */
static int run(const struct bpf_program *program, void *context, u32 bytes)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = context, .ctx_size_in = bytes);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &options) < 0 ? -errno : 0;
}

int kernel_inject(struct kernel *kernel, const struct sample *samples, size_t n)
{
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
	int r = run(kernel->skeleton->progs.slot_table, request, sizeof(*request));

	return r < 0 ? r : request->result;
}

int kernel_adopt(struct kernel *kernel, u64 cgroup_id, u64 parent_id, const char *name)
{
	struct slot_request request = {.kind = SLOT_ADOPT, .cgroup_id = cgroup_id, .parent_id = parent_id};

	memcpy(request.name, name, strnlen(name, sizeof(request.name) - 1));
	return ask(kernel, &request);
}

int kernel_bury(struct kernel *kernel, u64 cgroup_id)
{
	struct slot_request request = {.kind = SLOT_BURY, .cgroup_id = cgroup_id};

	return ask(kernel, &request);
}

int kernel_retire(struct kernel *kernel, u32 slot, u32 generation)
{
	struct slot_request request = {.kind = SLOT_RETIRE, .slot = slot, .generation = generation};

	return ask(kernel, &request);
}

int kernel_give(struct kernel *kernel, u32 slot, u32 generation)
{
	struct slot_request request = {.kind = SLOT_GIVE, .slot = slot, .generation = generation};

	return ask(kernel, &request);
}

const struct slot_owner *kernel_owner(const struct kernel *kernel, u32 slot)
{
	return (const struct slot_owner *)kernel->slot_owners.memory + slot;
}

static size_t record_index(const struct kernel *kernel, unsigned event, u32 stripe, u32 slot)
{
	return (size_t)kernel->settings.events[event].first_record + (size_t)stripe * kernel->settings.slots +
	       slot;
}

const struct latency_record *kernel_latency_record(const struct kernel *kernel, unsigned event, u32 stripe,
						   u32 slot)
{
	return (const struct latency_record *)kernel->latency_records.memory +
	       record_index(kernel, event, stripe, slot);
}

const struct plain_record *kernel_plain_record(const struct kernel *kernel, unsigned event, u32 stripe,
					       u32 slot)
{
	return (const struct plain_record *)kernel->plain_records.memory +
	       record_index(kernel, event, stripe, slot);
}

struct loss_record kernel_losses(const struct kernel *kernel, unsigned event, u32 stripe)
{
	const struct loss_record *shared = &kernel->skeleton->bss->losses[event][stripe];

	return (struct loss_record){
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

static u8 *marks_of_row(const struct kernel *kernel, size_t row)
{
	return (u8 *)kernel->marks.memory + row * marks_row(kernel->settings.slots);
}

u8 *kernel_marks(const struct kernel *kernel, unsigned event, u32 stripe)
{
	return marks_of_row(kernel, (size_t)event * kernel->stripes + stripe);
}

u8 *kernel_owner_marks(const struct kernel *kernel)
{
	return marks_of_row(kernel, kernel->settings.n_events * kernel->stripes);
}

void kernel_clear_records(struct kernel *kernel, u32 slot, unsigned event, u32 stripes)
{
	for (u32 stripe = 0; stripe < kernel->stripes; stripe++) {
		size_t index = record_index(kernel, event, stripe, slot);

		if (!(stripes & 1U << stripe))
			continue;
		if (kernel->settings.events[event].has_latency)
			memset((struct latency_record *)kernel->latency_records.memory + index, 0,
			       sizeof(struct latency_record));
		else
			memset((struct plain_record *)kernel->plain_records.memory + index, 0,
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
	return (const struct hot_table *)kernel->hot_tables.memory + choice * tables_of_choice(kernel) +
	       (size_t)event * kernel->hot_cpus + cpu;
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

void kernel_hot_choose(struct kernel *kernel, u32 slot, u32 choice)
{
	mark_slot(kernel, slot, (u8)(choice + 1));
}

void kernel_hot_release(struct kernel *kernel, u32 slot)
{
	mark_slot(kernel, slot, 0);
}

void kernel_hot_clear(struct kernel *kernel, u32 choice)
{
	memset((struct hot_table *)kernel->hot_tables.memory + choice * tables_of_choice(kernel), 0,
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

void kernel_slots_told(struct kernel *kernel)
{
	if (!kernel->short_of)
		return;
	(void)ring_buffer__consume(kernel->short_of);
	/* Only now, or the next birth's would be taken unseen. */
	__atomic_store_n(&kernel->skeleton->bss->slots_told, 0, __ATOMIC_SEQ_CST);
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

u64 kernel_map_bytes(const struct kernel *kernel)
{
	const struct kernel_settings *settings = &kernel->settings;
	struct map_size_case maps = {
		.slots = settings->slots,
		.stripes = kernel->stripes,
		.cpus = kernel->cpus,
		.hot_tables = (u64)kernel->hot_max * settings->n_events * kernel->hot_cpus,
		.offcore_cpus = settings->offcore_cpus,
		.page_size = (u64)sysconf(_SC_PAGESIZE),
	};

	for (size_t i = 0; i < settings->n_events; i++)
		(*(settings->events[i].has_latency ? &maps.with_latency : &maps.without))++;
	return map_size(&maps);
}

u64 kernel_start_peak(const struct kernel *kernel)
{
	return kernel->start_peak;
}

int kernel_verified_instructions(const struct kernel *kernel, const char *program, u32 *ret)
{
	const struct bpf_program *found = bpf_object__find_program_by_name(kernel->skeleton->obj, program);
	struct bpf_prog_info info = {0};
	u32 bytes = sizeof(info);

	if (!found || bpf_program__fd(found) < 0)
		return -ENOENT;
	if (bpf_obj_get_info_by_fd(bpf_program__fd(found), &info, &bytes) < 0)
		return -errno;
	*ret = info.verified_insns;
	return 0;
}
