// SPDX-License-Identifier: GPL-2.0
/*
 * tools_cost [ROUND [LOOPS]]: measures the cost of a page fault while other tools sample all page faults.
 * Prints one round, as lines for bench_report, in the groups of events_cost. Needs root.
 *
 *   bpftrace     a histogram per cgroup of the process number, because there is no latency to use. It counts no
 *                levels, sum or maximum, so it does less than pebsd.
 *   perf record  all page faults of all CPUs with address and weight, into a file. It stores whole samples and adds
 *                nothing up. That would be a later job for perf report.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "base/number.h"
#include "bench_child.h"
#include "bench_line.h"
#include "bench_victim.h"

#define PAGES       8192
#define LOOPS       7
#define LOOPS_MAX   100
#define DEADLINE_NS (20 * NSEC_PER_SEC)
#define MIB         (1024.0 * 1024.0)

#define BPFTRACE "bpftrace"
#define PERF     "perf record"

static unsigned loops = LOOPS;

static void pause_ms(long ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * (long)NSEC_PER_MSEC};

	(void)nanosleep(&time, NULL);
}

static double median_run(void)
{
	double times[LOOPS_MAX];

	for (unsigned i = 0; i < loops; i++)
		times[i] = victim_run(PAGES);
	return victim_median(times, loops);
}

/* Returns the newest program for perf events with an id above `after`, or -1. */
static int find_program(u32 after, u32 *ret_last)
{
	int found = -1;
	u32 id = after;

	while (bpf_prog_get_next_id(id, &id) == 0) {
		struct bpf_prog_info info = {0};
		u32 size = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		*ret_last = id;
		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && info.type == BPF_PROG_TYPE_PERF_EVENT) {
			if (found >= 0)
				(void)close(found);
			found = fd;
		} else {
			(void)close(fd);
		}
	}
	return found;
}

static double program_ns(int program_fd, unsigned n)
{
	struct victim_runs before, after;

	(void)victim_run(PAGES);
	before = victim_program_runs(program_fd);
	for (unsigned i = 0; i < n; i++)
		(void)victim_run(PAGES);
	after = victim_program_runs(program_fd);
	return after.runs > before.runs ? (double)(after.ns - before.ns) / (double)(after.runs - before.runs)
					: -1;
}

/* Returns the time of a program that does nothing, at the same event. */
static double empty_ns(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	_cleanup_close_ int program_fd =
		bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "empty", "GPL", code, ARRAY_SIZE(code), NULL);
	_cleanup_close_ int event_fd = -1;

	if (program_fd < 0)
		return -1;
	event_fd = victim_event_open(VICTIM_CPU, program_fd);
	if (event_fd < 0 || victim_event_switch(event_fd, true) < 0)
		return -1;
	return program_ns(program_fd, loops);
}

/* Waits until the tool's program runs. Returns its descriptor or -1. BPF statistics must be on. */
static int wait_for_program(const struct bench_child *tool, u32 last)
{
	u64 until = monotonic_ns() + DEADLINE_NS;

	while (monotonic_ns() < until && bench_child_runs(tool)) {
		int fd = find_program(last, &(u32){0});

		if (fd >= 0) {
			struct victim_runs before = victim_program_runs(fd);

			(void)victim_run(64);
			if (victim_program_runs(fd).runs >= before.runs + 64)
				return fd;
			(void)close(fd);
		}
		pause_ms(10);
	}
	return -1;
}

static void leave_out(const char *name, const char *why)
{
	bench_line_left_out("body", name, why);
	bench_line_left_out("victim", name, why);
}

static void measure_bpftrace(void)
{
	char *arguments[] = {BPFTRACE, "-e", "software:page-faults:1 { @[cgroup] = hist(pid); }", NULL};
	_cleanup_close_ int statistics = -1;
	_cleanup_close_ int program_fd = -1;
	double before, with, after, empty;
	struct bench_child tool;
	u32 last = 0;

	if (!bench_child_exists(arguments[0])) {
		leave_out(BPFTRACE, "it is not installed (make deps-bench)");
		return;
	}
	before = median_run();
	statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);
	empty = empty_ns();
	(void)find_program(0, &last);
	if (statistics < 0 || empty < 0 || bench_child_start(arguments, NULL, false, &tool) < 0) {
		leave_out(BPFTRACE, "it could not be started");
		return;
	}
	program_fd = wait_for_program(&tool, last);
	if (program_fd < 0) {
		(void)bench_child_stop(&tool, SIGINT);
		leave_out(BPFTRACE, "it attached no program to page faults here");
		return;
	}
	bench_line("body", BPFTRACE, "ns", program_ns(program_fd, loops) - empty);
	(void)close(TAKE_FD(statistics));
	(void)victim_run(PAGES);
	with = median_run();
	bench_line("memory", BPFTRACE ", resident", "MiB",
		   (double)victim_process_memory(tool.pid, "VmRSS") / MIB);
	(void)bench_child_stop(&tool, SIGINT);
	(void)close(TAKE_FD(program_fd));
	(void)victim_run(PAGES);
	after = median_run();
	bench_line("victim", BPFTRACE, "ns", with - (before + after) / 2);
}

/* Sends perf a command and waits until perf has acknowledged it. */
static bool perf_does(const struct bench_child *tool, const char *what)
{
	char answer[16];

	return write(tool->to, what, strlen(what)) == (ssize_t)strlen(what) &&
	       read(tool->answer, answer, sizeof(answer)) > 0;
}

/* Parses the last line of perf, such as "... (163982 samples) ]". */
static unsigned long perf_samples(const char *output)
{
	_cleanup_fclose_ FILE *file = fopen(output, "re");
	unsigned long samples = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		const char *bracket = strrchr(line, '(');

		if (bracket && strstr(bracket, " samples)"))
			samples = strtoul(bracket + 1, NULL, 10);
	}
	return samples;
}

static void run_perf(struct bench_child *tool, const char *output, const char *data)
{
	double with[LOOPS_MAX], without[LOOPS_MAX];
	unsigned long samples;
	u64 cpu_ns = 0, memory;
	struct stat status;
	u64 last;

	/* The first acknowledgement shows that perf is ready. */
	if (!perf_does(tool, "enable\n") || !perf_does(tool, "disable\n")) {
		(void)bench_child_stop(tool, SIGINT);
		leave_out(PERF, "it could not be started");
		return;
	}
	for (unsigned i = 0; i < loops; i++) {
		without[i] = victim_run(PAGES);
		last = victim_process_cpu_ns(tool->pid);
		(void)perf_does(tool, "enable\n");
		with[i] = victim_run(PAGES);
		(void)perf_does(tool, "disable\n");
		cpu_ns += victim_process_cpu_ns(tool->pid) - last;
	}
	bench_line("victim", PERF, "ns", victim_median(with, loops) - victim_median(without, loops));
	memory = victim_process_memory(tool->pid, "VmRSS");
	(void)bench_child_stop(tool, SIGINT);
	samples = perf_samples(output);
	if (samples == 0 || stat(data, &status) < 0) {
		leave_out(PERF, "it wrote no sample");
		return;
	}
	bench_line("consumer", PERF, "ns", (double)cpu_ns / (double)samples);
	bench_line("bytes", PERF, "bytes", (double)status.st_size / (double)samples);
	bench_line("memory", PERF ", resident", "MiB", (double)memory / MIB);
}

static void measure_perf(void)
{
	char folder[] = "/tmp/pebsd-bench-XXXXXX", data[64], output[64];
	char *arguments[] = {"perf", "record", "-e", "page-faults", "-c",     "1",  "-a", "-d",
			     "-W",   "-D",     "-1", "--control",   "fd:3,4", "-o", data, NULL};
	struct bench_child tool;

	bench_line_left_out("body", PERF, "it runs no program");
	if (!bench_child_exists(arguments[0])) {
		leave_out(PERF, "it is not installed (make deps-bench)");
		return;
	}
	if (!mkdtemp(folder)) {
		leave_out(PERF, strerror(errno));
		return;
	}
	(void)snprintf(data, sizeof(data), "%s/data", folder);
	(void)snprintf(output, sizeof(output), "%s/output", folder);
	if (bench_child_start(arguments, output, true, &tool) < 0)
		leave_out(PERF, "it could not be started");
	else
		run_perf(&tool, output, data);
	(void)unlink(data);
	(void)unlink(output);
	(void)rmdir(folder);
}

int main(int argc, char **argv)
{
	u64 round = 1, n = LOOPS;

	if (argc > 3 || (argc > 1 && number_parse(argv[1], 1, 1000, &round) < 0) ||
	    (argc > 2 && number_parse(argv[2], 1, LOOPS_MAX, &n) < 0)) {
		(void)fprintf(stderr, "usage: tools_cost [ROUND [LOOPS, up to %d]]\n", LOOPS_MAX);
		return 2;
	}
	loops = (unsigned)n;
	(void)signal(SIGPIPE, SIG_IGN);
	if (victim_pin(VICTIM_CPU) < 0 || victim_run(PAGES) < 0) {
		(void)fprintf(stderr, "tools_cost: no CPU or no memory for the victim\n");
		return 1;
	}
	if (round % 2)
		measure_bpftrace();
	measure_perf();
	if (round % 2 == 0)
		measure_bpftrace();
	return 0;
}
