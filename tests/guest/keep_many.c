// SPDX-License-Identifier: GPL-2.0
/*
 * keep_many CPUS EVENTS: a service that stores descriptors in its manager as pebsd does, with pebsd's own code:
 * one perf event per CPU and event, as if the machine had CPUS CPUs. The first process opens the events and stores
 * them. A later process, which is passed the descriptors, takes and checks them. Each process prints on one line
 * how long that took, and then reports that it is ready.
 */
#include <err.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "store/handover.h"

#define USAGE 2

static double milliseconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static u32 number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || value == 0 || value > 65536)
		errx(USAGE, "usage: keep_many CPUS EVENTS");
	return (u32)value;
}

static void name_of(u32 event, u32 cpu, char ret[STORED_NAME_MAX])
{
	const u32 numbers[] = {event, cpu, event * 10000 + cpu + 1};

	handover_name(STORED_EVENT, "", ARRAY_SIZE(numbers), numbers, ret);
}

static int open_event(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		err(1, "cannot open an event");
	return fd;
}

/* Takes the perf events that were passed. Returns their number. */
static size_t take(struct store *store, u32 cpus, u32 events)
{
	char name[STORED_NAME_MAX];
	size_t n = 0;

	for (u32 event = 0; event < events; event++)
		for (u32 cpu = 0; cpu < cpus; cpu++) {
			u64 id = 0;
			int fd;

			name_of(event, cpu, name);
			fd = store_take(store, name);
			if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 && id)
				n++;
		}
	return n;
}

static void put(struct store *store, u32 cpus, u32 events)
{
	u32 n = cpus * events;
	char name[STORED_NAME_MAX];
	int r = 0;

	for (u32 i = 0; i < n && r == 0; i++) {
		name_of(i / cpus, i % cpus, name);
		r = store_put(store, name, open_event());
	}
	if (r == 0)
		r = store_settle(store);
	if (r < 0)
		errx(1, "cannot store them: %s", strerror(-r));
}

int main(int argc, char *argv[])
{
	u32 cpus = argc == 3 ? number(argv[1]) : 0, events = argc == 3 ? number(argv[2]) : 0;
	struct rlimit limit;
	struct store *store;
	double begun;
	size_t taken;

	if (cpus == 0)
		errx(USAGE, "usage: keep_many CPUS EVENTS");
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	begun = milliseconds();
	if (store_open(&store) < 0)
		errx(1, "cannot take over what is passed");
	taken = take(store, cpus, events);
	if (taken == 0)
		put(store, cpus, events);
	(void)printf("%s %zu in %.0f ms\n", taken ? "took" : "stored", taken ? taken : (size_t)cpus * events,
		     milliseconds() - begun);
	(void)fflush(stdout);
	(void)sd_notify(0, "READY=1");
	(void)pause();
	return 0;
}
