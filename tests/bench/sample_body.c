// SPDX-License-Identifier: GPL-2.0
/*
 * sample_body [ROUNDS [OBJECT...]]: measures the time to account a sample, in nanoseconds beyond those of a
 * program that does nothing. Needs root.
 *
 * The samples are page faults of this program, one each. They go through the same kernel code as the samples of
 * a PMI. A page fault has neither latency nor data source. tests/bpf/made_up_samples.bpf.c therefore inserts
 * them after it has read what the kernel provided. A count needs neither, so its program is the daemon's own. The
 * kernel times each program's runs (BPF_ENABLE_STATS). Each round runs all programs, so that all see the same
 * conditions. Prints the minimum and the median of the rounds. `loop` is the same without the kernel around it: samples
 * counted one after the other on one CPU, and on two CPUs at once into one cgroup.
 *
 * OBJECT: made_up_samples.bpf.o of another commit, for comparison.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/monotonic.h"
#include "base/number.h"
#include "pebsd/decode_tables.h"
#include "pebsd/records.h"
#include "random_numbers.h"
#include "slot_blocks.h"

#include "made_up_samples.skel.h" /* uses the types above */

#define ROUNDS     21
#define ROUNDS_MAX 1001
#define PAGES      8192
#define PAGE       4096UL
#define SLOTS_LOG2 12
#define SLOTS      (1U << SLOTS_LOG2)
#define SLOT       3
#define EVENTS     3
#define LOOP       20000 /* samples */
#define LOOPS      5     /* per round; the fastest of them counts */
#define CPUS       2     /* number of CPUs that run the loop */
#define OBJECTS    4
#define VARIANTS   (6 * OBJECTS + 2)

struct variant {
	char name[96];
	struct bpf_object *object;
	int program_fd; /* for page faults */
	int event_fd;
	int loop_fd; /* -1: none */
	double *fault_ns;
	double *loop_ns;
	double *both_ns; /* two CPUs at once: per sample on one of them */
};

struct made_up_row {
	u64 weight;
	u64 data_source;
};

static void die(const char *what)
{
	(void)fprintf(stderr, "sample_body: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static u64 next_random(void)
{
	static u64 state = XORSHIFT_SEED;

	return xorshift(&state);
}

/* Data sources as Skylake and later CPUs write them, with their usual latencies: mostly near ones. */
static struct made_up_row make_up(void)
{
	static const struct {
		u64 data_source;
		u32 least;
		u32 spread;
	} kinds[] = {
		{0x10268100142, 4, 8},     {0x10268100142, 4, 8},     {0x10268100142, 5, 30},
		{0x11868100242, 20, 90},   {0x10468100442, 12, 20},   {0x10468100442, 14, 30},
		{0x10668100842, 40, 60},   {0x10668100842, 44, 100},  {0x10650100842, 60, 200},
		{0x11a68100a42, 200, 500}, {0x11a50081042, 250, 900}, {0x1026a100142, 20, 40},
	};
	u64 draw = next_random() % (sizeof(kinds) / sizeof(kinds[0]));

	return (struct made_up_row){.weight = kinds[draw].least + next_random() % kinds[draw].spread,
				    .data_source = kinds[draw].data_source};
}

/* Returns a variable's place in libbpf's memory of a data section, or NULL if there is none. */
static void *variable(struct bpf_object *object, const char *section, const char *name)
{
	const struct btf *btf = bpf_object__btf(object);
	int id = btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (u32)id);
	struct bpf_map *map;

	if (!type)
		return NULL;
	bpf_object__for_each_map(map, object)
	{
		const char *end = strrchr(bpf_map__name(map), '.');
		size_t bytes;

		if (!end || strcmp(end, section) != 0)
			continue;
		for (u16 i = 0; i < btf_vlen(type); i++) {
			const struct btf_var_secinfo *place = &btf_var_secinfos(type)[i];
			const struct btf_type *var = btf__type_by_id(btf, place->type);

			if (strcmp(btf__name_by_offset(btf, var->name_off), name) == 0)
				return (u8 *)bpf_map__initial_value(map, &bytes) + place->offset;
		}
	}
	return NULL;
}

static void set_u32(struct bpf_object *object, const char *name, u32 value)
{
	void *place = variable(object, ".rodata", name);

	if (place)
		memcpy(place, &value, sizeof(value));
}

static void size_map(struct bpf_object *object, const char *name, u32 entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	if (map)
		(void)bpf_map__set_max_entries(map, entries);
}

/* Sets up an object of any commit as daemon/kernel/kernel_open.c does. */
static void settle(struct bpf_object *object, bool alone)
{
	/* The last event is a count. It shares the records of the plain event. */
	const struct event_settings settings[EVENTS] = {
		{.has_latency = 1, .has_source = 1, .weight_struct = 1}, {.has_source = 1}, {0}};
	u32 cpus = (u32)sysconf(_SC_NPROCESSORS_CONF);
	u32 stripes = cpus < STRIPES_MAX ? cpus : STRIPES_MAX;
	u32 lines = dirty_row(SLOTS) / DIRTY_LINE;
	u8 one = alone;

	set_u32(object, "slot_count", SLOTS);
	set_u32(object, "block_log2", SLOTS_LOG2);
	set_u32(object, "block_mask", SLOTS - 1);
	set_u32(object, "block_slots", SLOTS);
	set_u32(object, "stripe_mask", stripes - 1);
	set_u32(object, "dirty_event", stripes * lines);
	set_u32(object, "dirty_owners", EVENTS * stripes * lines);
	/* Names of older commits. */
	set_u32(object, "marks_event", stripes * lines);
	set_u32(object, "marks_owners", EVENTS * stripes * lines);
	set_u32(object, "cpu_count", cpus);
	if (variable(object, ".rodata", "stripes_alone"))
		memcpy(variable(object, ".rodata", "stripes_alone"), &one, 1);
	memcpy(variable(object, ".rodata", "events"), settings, sizeof(settings));
	if (variable(object, ".rodata", "decode_tables"))
		decode_tables_fill(variable(object, ".rodata", "decode_tables"));
	size_map(object, "latency_records", SLOTS * stripes);
	size_map(object, "plain_records", SLOTS * stripes);
	size_map(object, "slot_owners", SLOTS);
	size_map(object, "slot_index", SLOTS);
	size_map(object, "dirty", (EVENTS * stripes + 1) * lines);
	size_map(object, "marks", (EVENTS * stripes + 1) * lines);
	size_map(object, "cpu_states", cpus + 1);
}

/* Gives each CPU its own stripe, or all CPUs the same one. */
static void assign_stripes(struct bpf_object *object, bool alone)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, "cpu_states");

	for (u32 cpu = 0; map && cpu < (u32)sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		u32 stripe = alone ? cpu % STRIPES_MAX : 0;
		struct cpu_state state = {.stripe = stripe,
					  .first_record = stripe * SLOTS,
					  .first_dirty = stripe * dirty_row(SLOTS) / DIRTY_LINE,
					  .timed_mask = 63};

		if (bpf_map__update_elem(map, &cpu, sizeof(cpu), &state, sizeof(state), 0) < 0)
			die("cannot write a CPU's state");
	}
}

static int page_faults(int program_fd)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_PAGE_FAULTS,
				       .sample_period = 1,
				       .sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_STRUCT |
						      PERF_SAMPLE_DATA_SRC,
				       .disabled = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0)
		die("cannot open an event of page faults");
	return fd;
}

static void touch_pages(size_t n)
{
	volatile char *pages =
		mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		die("no memory");
	(void)madvise((void *)pages, n * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		pages[i * PAGE] = 1;
	(void)munmap((void *)pages, n * PAGE);
}

/* After this call, variable() returns the memory that the programs use. */
static void share_bss(struct bpf_object *object)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		const char *end = strrchr(bpf_map__name(map), '.');
		size_t bytes;
		void *memory;

		if (!end || strcmp(end, ".bss") != 0)
			continue;
		memory = (void *)bpf_map__initial_value(map, &bytes);
		bytes = (bytes + page - 1) / page * page;
		if (mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, bpf_map__fd(map),
			 0) == MAP_FAILED)
			die("cannot map the variables");
	}
}

static struct bpf_object *load(const char *path, bool alone)
{
	size_t size;
	const void *bytes = made_up_samples_bpf__elf_bytes(&size);
	struct bpf_object *object = path ? bpf_object__open(path) : bpf_object__open_mem(bytes, size, NULL);
	struct made_up_row *rows;
	struct bpf_program *program;

	int latency, plain;

	if (!object)
		die(path ? path : "cannot open the BPF object");
	settle(object, alone);
	latency = slot_block_prepare(object, "latency_blocks", sizeof(struct latency_record),
				     SLOTS * STRIPES_MAX);
	plain = slot_block_prepare(object, "plain_blocks", sizeof(struct plain_record), SLOTS * STRIPES_MAX);
	bpf_object__for_each_program(program, object)
	{
		const char *section = bpf_program__section_name(program);

		bpf_program__set_autoload(program, strcmp(section, "perf_event") == 0 ||
							   (strcmp(section, "syscall") == 0 &&
							    strstr(bpf_program__name(program), "_many")));
	}
	if (bpf_object__load(object) < 0)
		die("cannot load the BPF object");
	slot_block_enter(object, "latency_blocks", latency);
	slot_block_enter(object, "plain_blocks", plain);
	share_bss(object);
	assign_stripes(object, alone);
	rows = variable(object, ".bss", "made_up");
	for (u32 i = 0; i < 256; i++)
		rows[i] = make_up();
	return object;
}

static int program_fd(struct bpf_object *object, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	return program ? bpf_program__fd(program) : -1;
}

/* Enters a slot for the cgroup that this program runs in. */
static void enter_index(struct bpf_object *object)
{
	struct bpf_map *index = bpf_object__find_map_by_name(object, "slot_index");
	const u64 *reader = variable(object, ".bss", "reader");
	u32 slot = SLOT;
	int fd = page_faults(program_fd(object, "making_up"));

	(void)ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	touch_pages(1);
	(void)close(fd);
	if (!*reader || bpf_map__update_elem(index, reader, sizeof(*reader), &slot, sizeof(slot), 0) < 0)
		die("cannot enter this cgroup");
}

static void add(struct variant *variants, size_t *n, const char *what, struct bpf_object *object,
		const char *program, const char *loop)
{
	struct variant *variant = &variants[(*n)++];

	(void)snprintf(variant->name, sizeof(variant->name), "%s", what);
	variant->object = object;
	variant->program_fd = program_fd(object, program);
	variant->loop_fd = loop ? program_fd(object, loop) : -1;
	variant->event_fd = page_faults(variant->program_fd);
	variant->fault_ns = calloc(ROUNDS_MAX, sizeof(double));
	variant->loop_ns = calloc(ROUNDS_MAX, sizeof(double));
	variant->both_ns = calloc(ROUNDS_MAX, sizeof(double));
	if (!variant->fault_ns || !variant->loop_ns || !variant->both_ns)
		die("no memory");
}

static void add_object(struct variant *variants, size_t *n, const char *path)
{
	struct bpf_object *alone = load(path, true), *shared = load(path, false);
	const char *of = path ? path : "";
	char name[96];

	enter_index(alone);
	enter_index(shared);
	if (!path) {
		add(variants, n, "nothing", alone, "nothing", "pass_many");
		add(variants, n, "reading, making up", alone, "making_up", NULL);
	}
	(void)snprintf(name, sizeof(name), "%s latency, stripes alone", of);
	add(variants, n, name, alone, "made_up_0", "count_many");
	(void)snprintf(name, sizeof(name), "%s latency, one stripe for all", of);
	add(variants, n, name, shared, "made_up_0", "count_many");
	(void)snprintf(name, sizeof(name), "%s plain, stripes alone", of);
	add(variants, n, name, alone, "made_up_1", NULL);
	(void)snprintf(name, sizeof(name), "%s plain, one stripe for all", of);
	add(variants, n, name, shared, "made_up_1", NULL);
	if (program_fd(alone, "count_2") < 0)
		return;
	(void)snprintf(name, sizeof(name), "%s count, stripes alone", of);
	add(variants, n, name, alone, "count_2", NULL);
	(void)snprintf(name, sizeof(name), "%s count, one stripe for all", of);
	add(variants, n, name, shared, "count_2", NULL);
}

static void info_of(int fd, struct bpf_prog_info *info)
{
	u32 size = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (bpf_obj_get_info_by_fd(fd, info, &size) < 0)
		die("cannot ask for a program's time");
}

static double fault_ns(const struct variant *variant)
{
	struct bpf_prog_info before, after;

	info_of(variant->program_fd, &before);
	(void)ioctl(variant->event_fd, PERF_EVENT_IOC_ENABLE, 0);
	touch_pages(PAGES);
	(void)ioctl(variant->event_fd, PERF_EVENT_IOC_DISABLE, 0);
	info_of(variant->program_fd, &after);
	return (double)(after.run_time_ns - before.run_time_ns) / (double)(after.run_cnt - before.run_cnt);
}

static void stay_on(size_t cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		die("cannot stay on a CPU");
}

static double loop_ns(int fd)
{
	struct inject_request request = {.count = LOOP};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &request, .ctx_size_in = sizeof(request));
	u64 begun = monotonic_ns();

	if (bpf_prog_test_run_opts(fd, &options) < 0)
		die("cannot run the loop");
	return (double)(monotonic_ns() - begun) / LOOP;
}

static double least_loop_ns(int fd)
{
	double least = loop_ns(fd);

	for (int i = 1; i < LOOPS; i++) {
		double ns = loop_ns(fd);

		least = ns < least ? ns : least;
	}
	return least;
}

/* One CPU's part of a run of the loop on CPUS CPUs at once. */
struct runner {
	pthread_t thread;
	pthread_barrier_t *barrier;
	size_t cpu;
	int fd;
	u64 begun;
	u64 ended;
	double ns;
};

static void *run(void *userdata)
{
	struct runner *runner = userdata;

	stay_on(runner->cpu);
	(void)pthread_barrier_wait(runner->barrier);
	runner->begun = monotonic_ns();
	runner->ns = loop_ns(runner->fd);
	runner->ended = monotonic_ns();
	return NULL;
}

/* Returns true if the runs overlapped nearly all the time. Otherwise they did not contend. */
static bool beside(const struct runner *a, const struct runner *b)
{
	u64 begun = a->begun > b->begun ? a->begun : b->begun;
	u64 ended = a->ended < b->ended ? a->ended : b->ended;

	return ended > begun && (ended - begun) * 10 > (a->ended - a->begun) * 9 &&
	       (ended - begun) * 10 > (b->ended - b->begun) * 9;
}

/* Returns the time per sample when two CPUs count, or 0 if they did not overlap. */
static double both_ns(int fd)
{
	struct runner runners[CPUS];
	pthread_barrier_t barrier;
	double ns = 0;

	(void)pthread_barrier_init(&barrier, NULL, CPUS);
	for (size_t cpu = 0; cpu < CPUS; cpu++) {
		runners[cpu] = (struct runner){.barrier = &barrier, .cpu = cpu, .fd = fd};
		if ((errno = pthread_create(&runners[cpu].thread, NULL, run, &runners[cpu])) != 0)
			die("cannot start a thread");
	}
	for (size_t cpu = 0; cpu < CPUS; cpu++) {
		(void)pthread_join(runners[cpu].thread, NULL);
		ns += runners[cpu].ns / CPUS;
	}
	(void)pthread_barrier_destroy(&barrier);
	return beside(&runners[0], &runners[1]) ? ns : 0;
}

/* Returns the minimum of the runs that overlapped, or NAN if there was none. */
static double least_both_ns(int fd)
{
	double least = NAN;

	for (int i = 0; i < LOOPS; i++) {
		double ns = both_ns(fd);

		if (ns > 0 && !(ns > least))
			least = ns;
	}
	return least;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	if (isnan(left) || isnan(right))
		return isnan(left) - isnan(right);
	return left < right ? -1 : left > right;
}

static void print_result(const struct variant *variant, const struct variant *base, u64 rounds)
{
	const double *fault = variant->fault_ns, *loop = variant->loop_ns, *both = variant->both_ns;
	struct bpf_prog_info info;

	info_of(variant->program_fd, &info);
	printf("{\"program\": \"%s\", \"least_ns\": %.1f, \"median_ns\": %.1f, \"over_empty_least_ns\": "
	       "%.1f, "
	       "\"over_empty_median_ns\": %.1f, \"instructions\": %u, \"jited_bytes\": %u",
	       variant->name, fault[0], fault[rounds / 2], fault[0] - base->fault_ns[0],
	       fault[rounds / 2] - base->fault_ns[rounds / 2], info.xlated_prog_len / 8, info.jited_prog_len);
	if (variant->loop_fd >= 0)
		printf(", \"loop_least_ns\": %.2f, \"loop_median_ns\": %.2f, \"two_cpus_least_ns\": %.2f, "
		       "\"two_cpus_throughput\": %.2f, \"two_cpus_body\": %.2f",
		       loop[0], loop[rounds / 2], both[0], CPUS * loop[0] / both[0], both[0] / loop[0]);
	puts("}");
}

int main(int argc, char **argv)
{
	static struct variant variants[VARIANTS];
	bool two = sysconf(_SC_NPROCESSORS_ONLN) >= CPUS;
	u64 rounds = ROUNDS;
	size_t n = 0;

	if (argc > 1 + OBJECTS || (argc > 1 && number_parse(argv[1], 1, ROUNDS_MAX, &rounds) < 0)) {
		(void)fprintf(stderr, "usage: sample_body [ROUNDS, up to %d [OBJECT, up to %d]]\n",
			      ROUNDS_MAX, OBJECTS - 1);
		return 2;
	}
	stay_on(0);
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		die("cannot have programs timed");
	add_object(variants, &n, NULL);
	for (int i = 2; i < argc; i++)
		add_object(variants, &n, argv[i]);
	for (u64 round = 0; round < rounds; round++)
		for (size_t i = 0; i < n; i++) {
			const struct variant *variant = &variants[i];

			variant->fault_ns[round] = fault_ns(variant);
			if (variant->loop_fd < 0)
				continue;
			variant->loop_ns[round] = least_loop_ns(variant->loop_fd);
			if (two)
				variant->both_ns[round] = least_both_ns(variant->loop_fd);
		}
	for (size_t i = 0; i < n; i++) {
		qsort(variants[i].fault_ns, rounds, sizeof(double), compare);
		qsort(variants[i].loop_ns, rounds, sizeof(double), compare);
		qsort(variants[i].both_ns, rounds, sizeof(double), compare);
	}
	for (size_t i = 0; i < n; i++)
		print_result(&variants[i], &variants[0], rounds);
	return 0;
}
