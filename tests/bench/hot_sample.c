// SPDX-License-Identifier: GPL-2.0
/*
 * hot_sample [ROUNDS]: measures the cost of hot tables per sample, as JSON. Prints the nanoseconds of a program
 * for one sample in each mode (enum mode): without tables, with none chosen, with another cgroup chosen, and for
 * a chosen cgroup. The samples come in one of two ways (enum program): from the program `inject`, or from page
 * faults. Each round runs all modes in both ways, so that all see the same conditions. Prints the minimum and the
 * median of the rounds. Needs root.
 *
 * The two ways measure different things. `inject` runs again and again with warm caches, and no pid is
 * recorded. A page fault comes in the middle of other work, like a PMI. The code of that work and the page that
 * it cleared fill the caches: accounting alone takes twice as long there (`ratio` shows what tables add to
 * that), and a pid is recorded. All samples of page faults have the same instruction, which has a counter. Each
 * of these samples has a new cache line, which takes over another line's counter.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "adopt_existing.h"
#include "base/monotonic.h"
#include "base/number.h"
#include "cgroup/mount.h"
#include "kernel/kernel.h"
#include "random_numbers.h"

#define ROUNDS       41
#define ROUNDS_MAX   1001
#define BATCHES      40
#define WARM_BATCHES 5
#define PAGES        5000
#define PAGE         4096UL
#define CGROUP_ID    7

enum mode { NO_TABLES, NONE_CHOSEN, OTHER_CHOSEN, CHOSEN_FEW, CHOSEN_SKEWED, CHOSEN_NEW, MODES };

static const char *const mode_names[MODES] = {
	"no tables",
	"tables, none chosen",
	"another chosen",
	"chosen, 20 addresses",
	"chosen, some hot and a long tail",
	"chosen, every address new",
};

enum program { INJECT, PAGE_FAULT, PROGRAMS };

static const char *const program_names[PROGRAMS] = {"inject", "page fault"};

struct bench {
	struct kernel *kernel;
	u32 slots[2]; /* of the samples' cgroup and of another cgroup */
	int event_fd; /* page faults */
	int program_fd;
};

static struct sample samples[BATCHES][INJECT_MAX];

static void die(const char *what)
{
	(void)fprintf(stderr, "hot_sample: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static u64 next_random(void)
{
	static u64 state = XORSHIFT_SEED;

	return xorshift(&state);
}

static u64 item_for(enum mode mode)
{
	u64 draw = next_random();

	if (mode == CHOSEN_NEW)
		return draw >> 20;
	if (mode == CHOSEN_SKEWED)
		return (draw & 0xfff) >> (draw >> 12 & 0xf);
	return draw % 20;
}

static void fill(enum mode mode)
{
	for (size_t batch = 0; batch < BATCHES; batch++)
		for (size_t i = 0; i < INJECT_MAX; i++)
			samples[batch][i] = (struct sample){
				.cgroup_id = CGROUP_ID,
				.latency = 30 + next_random() % 500,
				.data_source = 0x10668100842, /* L3 */
				.address = 0x7f0000000000 + 64 * item_for(mode),
				.code_address = 0x401000 + 4 * item_for(mode),
				.period = 10007,
				.fields = SAMPLE_LATENCY | SAMPLE_DATA_SOURCE | SAMPLE_ADDRESS |
					  SAMPLE_CODE_ADDRESS,
			};
}

/* The benchmark cannot choose the addresses of page faults. */
static bool is_measured(enum program program, enum mode mode)
{
	return program != PAGE_FAULT || mode <= CHOSEN_FEW;
}

static const char *mode_name(enum program program, enum mode mode)
{
	return program == PAGE_FAULT && mode == CHOSEN_FEW ? "chosen, one instruction, every line new"
							   : mode_names[mode];
}

static int page_faults(int program_fd)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_PAGE_FAULTS,
				       .sample_period = 1,
				       .sample_type = PERF_SAMPLE_ADDR,
				       .disabled = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0)
		die("cannot open an event of page faults");
	return fd;
}

static void bench_open(u32 hot_max, struct bench *bench)
{
	struct stripes stripes;
	const struct kernel_settings settings = {
		.slots = 4096,
		.stripes = &stripes,
		.births = true,
		.hardware = true,
		.hot_max = hot_max,
		.n_events = 1,
		.events[0] = {.has_latency = 1, .has_source = 1, .has_address = 1, .has_code_address = 1},
	};
	struct adopt_counts counts;
	char *message = NULL, *mount;
	bool subtree;

	if (stripes_of_machine(NULL, 0, &stripes) < 0)
		die("cannot read the possible CPUs");
	if (kernel_open(&settings, &bench->kernel, &message) < 0) {
		(void)fprintf(stderr, "hot_sample: %s\n", message ? message : "cannot load");
		exit(EXIT_FAILURE);
	}
	stripes_done(&stripes);
	if (cgroup_mount_find(&mount, &subtree) < 0 || adopt_existing(bench->kernel, mount, &counts) < 0)
		die("cannot read the cgroups");
	free(mount);
	bench->slots[0] = (u32)kernel_adopt(bench->kernel, CGROUP_ID, 0, "mine");
	bench->slots[1] = (u32)kernel_adopt(bench->kernel, CGROUP_ID + 1, 0, "other");
	bench->program_fd = kernel_program_fd(bench->kernel, 0);
	bench->event_fd = page_faults(bench->program_fd);
}

/*
 * Injected samples and page faults are in different cgroups. The modes CHOSEN_* choose every slot, because the
 * cgroup of the page faults, which is that of this program, may have any slot.
 */
static void choose(const struct bench *bench, enum mode mode)
{
	for (u32 slot = 1; slot < 4096; slot++)
		kernel_hot_release(bench->kernel, slot);
	kernel_hot_clear(bench->kernel, 0);
	if (mode == OTHER_CHOSEN)
		kernel_hot_choose(bench->kernel, bench->slots[1], 0);
	for (u32 slot = 1; mode >= CHOSEN_FEW && slot < 4096; slot++)
		kernel_hot_choose(bench->kernel, slot, 0);
}

static double inject_ns(const struct bench *bench)
{
	u64 begun = 0;

	for (size_t batch = 0; batch < BATCHES; batch++) {
		if (batch == WARM_BATCHES)
			begun = monotonic_ns();
		if (kernel_inject(bench->kernel, samples[batch], INJECT_MAX) < 0)
			die("cannot inject");
	}
	return (double)(monotonic_ns() - begun) / ((double)(BATCHES - WARM_BATCHES) * INJECT_MAX);
}

static void program_runs(int fd, u64 *ret_ns, u64 *ret_runs)
{
	struct bpf_prog_info info = {0};
	u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		die("cannot ask for a program's time");
	*ret_ns = info.run_time_ns;
	*ret_runs = info.run_cnt;
}

/* Uses only the program's time as the kernel measures it: a whole page fault takes far longer. */
static double page_fault_ns(const struct bench *bench)
{
	u64 ns[2], runs[2];
	volatile char *pages =
		mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		die("no memory");
	(void)madvise((void *)pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	program_runs(bench->program_fd, &ns[0], &runs[0]);
	(void)ioctl(bench->event_fd, PERF_EVENT_IOC_ENABLE, 0);
	for (size_t i = 0; i < PAGES; i++)
		pages[i * PAGE] = 1;
	(void)ioctl(bench->event_fd, PERF_EVENT_IOC_DISABLE, 0);
	program_runs(bench->program_fd, &ns[1], &runs[1]);
	(void)munmap((void *)pages, PAGES * PAGE);
	return runs[1] > runs[0] ? (double)(ns[1] - ns[0]) / (double)(runs[1] - runs[0]) : 0;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

int main(int argc, char **argv)
{
	static double times[PROGRAMS][MODES][ROUNDS_MAX];
	struct bench without, with;
	u64 rounds = ROUNDS;
	cpu_set_t cpus;

	if (argc > 2 || (argc == 2 && number_parse(argv[1], 1, ROUNDS_MAX, &rounds) < 0)) {
		(void)fprintf(stderr, "usage: hot_sample [ROUNDS, up to %d]\n", ROUNDS_MAX);
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		die("cannot have programs timed");
	bench_open(0, &without);
	bench_open(8, &with);
	for (u64 round = 0; round < rounds; round++)
		for (enum mode mode = 0; mode < MODES; mode++) {
			const struct bench *bench = mode == NO_TABLES ? &without : &with;

			fill(mode);
			if (mode != NO_TABLES)
				choose(bench, mode);
			times[INJECT][mode][round] = inject_ns(bench);
			if (is_measured(PAGE_FAULT, mode))
				times[PAGE_FAULT][mode][round] = page_fault_ns(bench);
		}
	for (enum program program = 0; program < PROGRAMS; program++)
		for (enum mode mode = 0; mode < MODES; mode++) {
			double *all = times[program][mode];
			const double *base = times[program][NO_TABLES];

			if (!is_measured(program, mode))
				continue;
			qsort(all, rounds, sizeof(*all), compare);
			printf("{\"program\": \"%s\", \"mode\": \"%s\", \"least_ns\": %.1f, \"median_ns\": "
			       "%.1f, "
			       "\"added_ns\": %.1f, \"added_median_ns\": %.1f, \"ratio\": %.3f}\n",
			       program_names[program], mode_name(program, mode), all[0], all[rounds / 2],
			       all[0] - base[0], all[rounds / 2] - base[rounds / 2], all[0] / base[0]);
		}
	kernel_free(with.kernel);
	kernel_free(without.kernel);
	return 0;
}
