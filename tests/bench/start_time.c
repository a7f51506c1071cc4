// SPDX-License-Identifier: GPL-2.0
/*
 * start_time [CGROUPS [ROUNDS]]: measures the start of the daemon up to the first accounted sample, with
 * CGROUPS cgroups, as JSON. Prints the milliseconds of each step: the minimum and the median of the rounds.
 * Each round runs in its own process. Page faults replace the PMU's events. Needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "adopt_existing.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "cgroup/mount.h"
#include "cgroup/walk.h"
#include "engine/engine.h"
#include "pebsd.skel.h"

#define ROUNDS_MAX 101

enum step { STRIPES, COUNT_CGROUPS, OPEN_ENGINE, ADOPT, OPEN_EVENTS, FIRST_SAMPLE, ALL, LOAD_ALONE, STEPS };

static const char *const step_names[STEPS] = {
	[STRIPES] = "stripes", [COUNT_CGROUPS] = "count_cgroups", [OPEN_ENGINE] = "open_engine",
	[ADOPT] = "adopt",     [OPEN_EVENTS] = "open_events",     [FIRST_SAMPLE] = "first_sample",
	[ALL] = "all",         [LOAD_ALONE] = "load_alone", /* libbpf and verifier only, in another load */
};

struct round {
	double ms[STEPS];
	u64 adopted;
};

static double now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static bool every_path(const char *path, void *userdata)
{
	(void)path;
	(void)userdata;
	return true;
}

static int open_engine(const struct stripes *stripes, size_t cgroups, struct engine **ret)
{
	const struct engine_settings settings = {
		.origin = "perf",
		.n_events = 2,
		.events[0] = {.role = EVENT_LOADS,
			      .pmu = "cpu",
			      .settings = {.has_latency = 1, .has_source = 1, .weight_struct = 1}},
		.events[1] = {.role = EVENT_STORES, .pmu = "cpu", .settings = {.has_source = 1}},
		.slots = 2 * cgroups < 512 ? 512 : (u32)(2 * cgroups),
		.stripes = stripes,
		.births = true,
		.hardware = true,
		.top = 50,
		.interval_ns = NSEC_PER_SEC,
		.exported = every_path,
	};
	_cleanup_free_ char *message = NULL;
	int r = engine_open(&settings, ret, &message);

	if (r < 0)
		(void)fprintf(stderr, "%s\n", message ? message : strerror(-r));
	return r;
}

/* Opens both events on each CPU. They are closed with the process. */
static int open_events(const struct engine *engine, u32 cpus)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC,
	};

	for (u32 cpu = 0; cpu < cpus; cpu++)
		for (unsigned event = 0; event < 2; event++) {
			int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1,
					      PERF_FLAG_FD_CLOEXEC);

			if (fd < 0 && errno == ENODEV)
				continue; /* offline */
			if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF,
					    kernel_program_fd(engine_kernel(engine), event)) < 0)
				return -errno;
		}
	return 0;
}

static int first_sample(struct engine *engine)
{
	const long page = sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r;

	if (memory == MAP_FAILED)
		return -errno;
	*(volatile char *)memory = 1;
	r = engine_collect(engine);
	if (r == 0 && engine_reading(engine, 0).seen == 0)
		r = -ENODATA;
	return r;
}

static double lap(double *since)
{
	double now = now_ms(), took = now - *since;

	*since = now;
	return took;
}

static int run(struct round *ret)
{
	_cleanup_(engine_freep) struct engine *engine = NULL;
	struct cgroup_walk_counts counts = {0};
	struct adopt_counts adopted;
	struct pebsd_bpf *skeleton;
	struct stripes stripes;
	char *mount = NULL;
	bool subtree;
	double since = now_ms(), start = since;
	int root, r;

	if ((r = stripes_of_machine(NULL, 0, &stripes)) < 0)
		return r;
	ret->ms[STRIPES] = lap(&since);
	if ((r = cgroup_mount_find(&mount, &subtree)) < 0)
		return r;
	root = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if ((r = root < 0 ? -errno : cgroup_walk(root, NULL, NULL, &counts)) < 0)
		return r;
	ret->ms[COUNT_CGROUPS] = lap(&since);
	if ((r = open_engine(&stripes, counts.cgroups, &engine)) < 0)
		return r;
	ret->ms[OPEN_ENGINE] = lap(&since);
	if ((r = adopt_existing(engine_kernel(engine), mount, &adopted)) < 0)
		return r;
	ret->adopted = adopted.adopted;
	ret->ms[ADOPT] = lap(&since);
	if ((r = open_events(engine, stripes.cpus)) < 0)
		return r;
	ret->ms[OPEN_EVENTS] = lap(&since);
	if ((r = first_sample(engine)) < 0)
		return r;
	ret->ms[FIRST_SAMPLE] = lap(&since);
	ret->ms[ALL] = since - start;
	skeleton = pebsd_bpf__open_and_load();
	if (!skeleton)
		return -errno;
	ret->ms[LOAD_ALONE] = lap(&since);
	return 0;
}

static int run_apart(struct round *ret)
{
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe(ends) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		struct round round = {0};
		int r = run(&round);

		if (r < 0)
			(void)fprintf(stderr, "cannot start: %s\n", strerror(-r));
		_exit(r == 0 && write(ends[1], &round, sizeof(round)) == (ssize_t)sizeof(round) ? 0 : 1);
	}
	(void)close(ends[1]);
	n = read(ends[0], ret, sizeof(*ret));
	(void)close(ends[0]);
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return n == (ssize_t)sizeof(*ret) && status == 0 ? 0 : -EIO;
}

static int compare(const void *a, const void *b)
{
	const double *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

static void print(const struct round *rounds, size_t n, u64 cgroups)
{
	printf("{\"cgroups\":%llu,\"adopted\":%llu,\"rounds\":%zu,\"ms\":{", (unsigned long long)cgroups,
	       (unsigned long long)rounds[0].adopted, n);
	for (int step = 0; step < STEPS; step++) {
		double values[ROUNDS_MAX];

		for (size_t i = 0; i < n; i++)
			values[i] = rounds[i].ms[step];
		qsort(values, n, sizeof(values[0]), compare);
		printf("%s\"%s\":{\"least\":%.3f,\"median\":%.3f}", step ? "," : "", step_names[step],
		       values[0], values[n / 2]);
	}
	printf("}}\n");
}

/* Cgroups are made under one folder, at most this many in each subfolder, like services and their scopes. */
#define IN_ONE 100

static void remove_cgroups(const char *folder, u64 n)
{
	char path[4096];

	for (u64 i = n; i-- > 0;) {
		(void)snprintf(path, sizeof(path), "%s/slice%llu/unit-%llu.service", folder,
			       (unsigned long long)(i / IN_ONE), (unsigned long long)i);
		(void)rmdir(path);
		if (i % IN_ONE)
			continue;
		(void)snprintf(path, sizeof(path), "%s/slice%llu", folder, (unsigned long long)(i / IN_ONE));
		(void)rmdir(path);
	}
	(void)rmdir(folder);
}

static int make_cgroups(const char *folder, u64 n)
{
	char path[4096];

	if (mkdir(folder, 0755) < 0)
		return -errno;
	for (u64 i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%s/slice%llu", folder, (unsigned long long)(i / IN_ONE));
		if (i % IN_ONE == 0 && mkdir(path, 0755) < 0)
			return -errno;
		(void)snprintf(path, sizeof(path), "%s/slice%llu/unit-%llu.service", folder,
			       (unsigned long long)(i / IN_ONE), (unsigned long long)i);
		if (mkdir(path, 0755) < 0)
			return -errno;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct round rounds[ROUNDS_MAX];
	_cleanup_free_ char *mount = NULL;
	_cleanup_free_ char *folder = NULL;
	u64 cgroups = 1000, n = 11;
	bool subtree;
	int r;

	if (argc > 3 || (argc > 1 && number_parse(argv[1], 1, 30000, &cgroups) < 0) ||
	    (argc > 2 && number_parse(argv[2], 1, ROUNDS_MAX, &n) < 0)) {
		(void)fprintf(stderr, "usage: %s [CGROUPS [ROUNDS]]\n", argv[0]);
		return 2;
	}
	r = cgroup_mount_find(&mount, &subtree);
	if (r == 0 && asprintf(&folder, "%s/pebsd-start-%d", mount, getpid()) < 0)
		folder = NULL;
	if (!folder) {
		(void)fprintf(stderr, "there is no cgroup2 tree to make cgroups in\n");
		return 2;
	}
	r = make_cgroups(folder, cgroups);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = run_apart(&rounds[i]);
	remove_cgroups(folder, cgroups);
	if (r < 0) {
		(void)fprintf(stderr, "cannot measure: %s\n", strerror(-r));
		return 1;
	}
	print(rounds, n, cgroups);
	return 0;
}
