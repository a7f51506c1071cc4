// SPDX-License-Identifier: GPL-2.0
#include "bench_victim.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "clock.h"

#define PAGE 4096UL

unsigned victim_other_cpu(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) > 1 ? VICTIM_CPU + 1 : VICTIM_CPU;
}

int victim_pin(unsigned cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus) < 0 ? -errno : 0;
}

double victim_run(size_t pages)
{
	u64 begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	volatile char *memory =
		mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -1;
	(void)madvise((void *)memory, pages * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
	(void)munmap((void *)memory, pages * PAGE);
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun) / (double)pages;
}

static int event_open(pid_t task, int cpu, int program_fd)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_PAGE_FAULTS,
				       .sample_period = 1,
				       .sample_type = PERF_SAMPLE_ADDR,
				       .disabled = 1};
	_cleanup_close_ int fd =
		(int)syscall(SYS_perf_event_open, &attr, task, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || (program_fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0))
		return -errno;
	return TAKE_FD(fd);
}

int victim_event_open(unsigned cpu, int program_fd)
{
	return event_open(-1, (int)cpu, program_fd);
}

int victim_event_open_own(int program_fd)
{
	return event_open(0, -1, program_fd);
}

int victim_event_switch(int event_fd, bool on)
{
	return ioctl(event_fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) < 0 ? -errno : 0;
}

u64 victim_event_count(int event_fd)
{
	u64 count = 0;

	return read(event_fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

struct victim_runs victim_program_runs(int program_fd)
{
	struct bpf_prog_info info = {0};
	u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(program_fd, &info, &size) < 0)
		return (struct victim_runs){0, 0};
	return (struct victim_runs){info.run_time_ns, info.run_cnt};
}

static int ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

double victim_median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), ascending);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

u64 victim_process_cpu_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0)
		return 0;
	return (u64)time.tv_sec * NSEC_PER_SEC + (u64)time.tv_nsec;
}

u64 victim_process_memory(pid_t pid, const char *key)
{
	_cleanup_fclose_ FILE *file = NULL;
	size_t length = strlen(key);
	char line[256];

	(void)snprintf(line, sizeof(line), "/proc/%d/status", pid);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, key, length) == 0 && line[length] == ':')
			return strtoull(line + length + 1, NULL, 10) * 1024;
	return 0;
}
