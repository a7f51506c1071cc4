// SPDX-License-Identifier: GPL-2.0
/*
 * daemon_cost PEBSD [EVENT...]: measures the cost of requests to the daemon, one round, as lines for
 * bench_report. The daemon replays a recording and does not sample. The recording has 1,000 cgroups with
 * paths of 203 bytes, the events, and 20 samples per cgroup and event. An EVENT is loads, stores, cycles,
 * instructions, stalls or misses; default: loads. With more than one event, the names of the measurements
 * end in "N events". Needs root.
 *
 *   control  processor time of the daemon for a call of its Varlink socket
 *   scrape   processor time of the first scrape after a collection, which builds the text, and of later ones
 *   memory   own memory (RssAnon), its peak while all cgroups are requested, and all resident memory
 */
#include <ftw.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "base/text_file.h"
#include "bench_child.h"
#include "bench_line.h"
#include "bench_socket.h"
#include "bench_victim.h"
#include "driver_sources.h"
#include "perf_data_writer.h"

#define CGROUPS     1000UL
#define SAMPLES     20UL /* per cgroup */
#define CALLS       50
#define SCRAPES     20
#define DEADLINE_NS (30 * NSEC_PER_SEC)
#define START_NS    (3600 * NSEC_PER_SEC)
#define MIB         (1024.0 * 1024.0)

struct places {
	char folder[32];
	char recording[64];
	char socket[64];
	char log[64];
};

static void die(const char *what)
{
	(void)fprintf(stderr, "daemon_cost: %s\n", what);
	exit(EXIT_FAILURE);
}

static const u64 data_sources[] = {DRIVER_L1, DRIVER_L2, DRIVER_L3, DRIVER_LOCAL_DRAM, DRIVER_REMOTE_DRAM};

/* Events of the CPU that the recording names: Sapphire Rapids. */
static const struct recorded {
	const char *key;
	const char *name; /* in the recording */
	u64 config;
	u64 id;
	u64 ldlat;
	bool has_access; /* an address, a latency and a data source */
} recorded[] = {
	{"loads", "cpu/mem-loads,ldlat=30/P", 0x1cd, 101, 30, true},
	{"stores", "cpu/mem-stores/P", 0x2cd, 102, 0, true},
	{"cycles", "r3c", 0x3c, 103, 0, false},
	{"instructions", "rc0", 0xc0, 104, 0, false},
	{"stalls", "exe_activity.bound_on_loads", 0x50021a6, 105, 0, false},
	{"misses", "longest_lat_cache.miss", 0x412e, 106, 0, false},
};

#define EVENTS_MOST ARRAY_SIZE(recorded)

/* The events of this run, and the end of the names of its measurements. */
static struct {
	const struct recorded *events[EVENTS_MOST];
	size_t n;
	char name[64];
} run;

static void line(const char *group, const char *what, const char *unit, double value)
{
	char name[160];

	(void)snprintf(name, sizeof(name), "pebsd, 1,000 cgroups%s, %s", run.name, what);
	bench_line(group, name, unit, value);
}

static void write_recording(const char *path)
{
	const u64 fields = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_CPU | PERF_SAMPLE_CGROUP;
	const u64 access = PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC;
	struct writer_event described = {.type = PERF_TYPE_RAW, .period = 10007, .n_ids = 1};
	struct writer *writer = writer_new(WRITER_FILE, 0);
	_cleanup_fclose_ FILE *file = fopen(path, "we");
	_cleanup_free_ u8 *bytes = NULL;
	size_t events[EVENTS_MOST] = {0}, size;

	writer_cpuid(writer, "GenuineIntel,6,143,8");
	writer_pmu(writer, PERF_TYPE_RAW, "cpu");
	for (size_t i = 0; i < run.n; i++) {
		described.config = run.events[i]->config;
		described.config1 = run.events[i]->ldlat;
		described.name = run.events[i]->name;
		described.ids = &run.events[i]->id;
		described.sample_type = fields | (run.events[i]->has_access ? access : 0);
		events[i] = writer_event(writer, &described);
	}
	for (u64 i = 0; i < CGROUPS; i++) {
		char name[256];

		/* 203 bytes, like the paths that Kubernetes makes. */
		(void)snprintf(name, sizeof(name),
			       "/kubepods.slice/kubepods-burstable.slice/"
			       "kubepods-burstable-pod%08llx_5b1c_4f0e_9d6a_0c2f4e7a91b3.slice/"
			       "cri-containerd-%064llx.scope%012llu",
			       (unsigned long long)i, (unsigned long long)(i * 0x9e3779b97f4a7c15ULL),
			       (unsigned long long)i);
		writer_cgroup(writer, events[0], 0, 1000 + i, name);
	}
	for (u64 i = 0; i < CGROUPS * SAMPLES; i++) {
		const struct writer_sample sample = {
			.pid = 1000,
			.tid = 1000,
			.time = START_NS + i * NSEC_PER_USEC,
			.address = 0x7f0000000000ULL + 64 * i,
			.weight = 31 + i % 977,
			.data_source = data_sources[i / CGROUPS % ARRAY_SIZE(data_sources)],
			.cgroup_id = 1000 + i % CGROUPS,
		};

		for (size_t event = 0; event < run.n; event++)
			writer_sample(writer, events[event], &sample);
	}
	bytes = writer_finish(writer, &size);
	writer_free(writer);
	if (!file || fwrite(bytes, 1, size, file) != size)
		die("cannot write a recording");
}

static bool said(const char *log, const char *text)
{
	_cleanup_free_ char *all = NULL;

	return text_file_read(log, &all) == 0 && strstr(all, text);
}

/* Waits until the recording is read and the socket answers. Returns a connection to it, or -1. */
static int wait_for(const struct bench_child *daemon, const struct places *places)
{
	const struct timespec pause = {.tv_nsec = 10 * (long)NSEC_PER_MSEC};
	u64 until = monotonic_ns() + DEADLINE_NS;
	int fd;

	while (monotonic_ns() < until && bench_child_runs(daemon)) {
		if (said(places->log, "all records were read")) {
			fd = bench_socket_connect(places->socket);
			if (fd >= 0)
				return fd;
		}
		(void)nanosleep(&pause, NULL);
	}
	return -1;
}

/*
 * Runs in a child: reads RssAnon of process `pid` again and again until the parent writes to `pipe`. Then
 * writes the peak in bytes to `pipe`.
 */
static void watch_memory(pid_t pid, int pipe)
{
	const struct timespec pause = {.tv_nsec = 200 * (long)NSEC_PER_USEC};
	u64 most = 0;
	char end;

	for (;;) {
		u64 now = victim_process_memory(pid, "RssAnon");

		most = now > most ? now : most;
		if (recv(pipe, &end, sizeof(end), MSG_DONTWAIT) >= 0)
			break;
		(void)nanosleep(&pause, NULL);
	}
	_exit(write(pipe, &most, sizeof(most)) == sizeof(most) ? 0 : 1);
}

static double most_while_asked(const struct bench_child *daemon, int fd, const char *call)
{
	u64 most = 0;
	int ends[2];
	pid_t watcher;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		die("no pair of sockets");
	watcher = fork();
	if (watcher == 0) {
		(void)close(ends[0]);
		watch_memory(daemon->pid, ends[1]);
	}
	(void)close(ends[1]);
	for (int i = 0; i < CALLS; i++)
		(void)bench_varlink(fd, call);
	if (watcher < 0 || send(ends[0], "", 1, MSG_NOSIGNAL) != 1 ||
	    recv(ends[0], &most, sizeof(most), MSG_WAITALL) != sizeof(most))
		die("nobody watched the memory");
	(void)close(ends[0]);
	(void)waitpid(watcher, NULL, 0);
	return (double)most / MIB;
}

static void measure_control(const struct bench_child *daemon, int fd)
{
	static const struct {
		const char *name;
		const char *call;
	} calls[] = {
		{"status", "{\"method\":\"io.pebsd.GetStatus\"}"},
		{"top, 20 of 1,000 cgroups",
		 "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"limit\":20}}"},
		{"top, all of 1,000 cgroups", "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{}}"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		char name[160];
		u64 before;

		if (bench_varlink(fd, calls[i].call) < 0)
			die("a call of the control socket was not answered");
		before = victim_process_cpu_ns(daemon->pid);
		for (int call = 0; call < CALLS; call++)
			(void)bench_varlink(fd, calls[i].call);
		(void)snprintf(name, sizeof(name), "%s%s", calls[i].name, run.name);
		bench_line("control", name, "us",
			   (double)(victim_process_cpu_ns(daemon->pid) - before) / CALLS / 1e3);
	}
}

/* Returns the processor time of one scrape, as the mean of `n`. */
static double scrape_ns(const struct bench_child *daemon, u16 port, bool gzip, int n,
			struct bench_scrape *ret)
{
	u64 before = victim_process_cpu_ns(daemon->pid);

	for (int i = 0; i < n; i++)
		if (bench_scrape(port, gzip, ret) < 0)
			die("a scrape was not answered");
	return (double)(victim_process_cpu_ns(daemon->pid) - before) / n;
}

static void measure_scrape(const struct bench_child *daemon, u16 port)
{
	struct bench_scrape scrape, compressed;
	double ns = scrape_ns(daemon, port, false, 1, &scrape);

	line("scrape", "the first scrape", "ms", ns / 1e6);
	line("scrape", "a series", "ns", ns / (double)scrape.series);
	line("scrape", "series", "series", (double)scrape.series);
	line("scrape", "bytes", "kB", (double)scrape.bytes / 1e3);
	line("scrape", "a later scrape", "ms", scrape_ns(daemon, port, false, SCRAPES, &scrape) / 1e6);
	line("scrape", "the first compressed", "ms", scrape_ns(daemon, port, true, 1, &compressed) / 1e6);
	line("scrape", "bytes compressed", "kB", (double)compressed.bytes / 1e3);
	line("scrape", "a later compressed", "ms", scrape_ns(daemon, port, true, SCRAPES, &compressed) / 1e6);
}

static void measure(const struct bench_child *daemon, const struct places *places, u16 port)
{
	_cleanup_close_ int fd = wait_for(daemon, places);
	const struct timespec settle = {.tv_nsec = 300 * (long)NSEC_PER_MSEC};

	if (fd < 0)
		die("pebsd does not replay the recording");
	(void)nanosleep(&settle, NULL);
	line("memory", "its own", "MiB", (double)victim_process_memory(daemon->pid, "RssAnon") / MIB);
	measure_scrape(daemon, port);
	measure_control(daemon, fd);
	line("memory", "its own while asked for all, the most", "MiB",
	     most_while_asked(daemon, fd, "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{}}"));
	line("memory", "its own while asked for a window of all, the most", "MiB",
	     most_while_asked(daemon, fd,
			      "{\"method\":\"io.pebsd.GetTop\",\"parameters\":{\"window_s\":60}}"));
	line("memory", "its own after questions", "MiB",
	     (double)victim_process_memory(daemon->pid, "RssAnon") / MIB);
	line("memory", "resident", "MiB", (double)victim_process_memory(daemon->pid, "VmRSS") / MIB);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

/* Takes the names of the events. Returns false if one is unknown or named twice. */
static bool choose(char *const *keys, size_t n)
{
	bool chosen[EVENTS_MOST] = {false};

	for (size_t i = 0; i < n; i++) {
		size_t event = 0;

		while (event < EVENTS_MOST && strcmp(keys[i], recorded[event].key) != 0)
			event++;
		if (event == EVENTS_MOST || chosen[event])
			return false;
		chosen[event] = true;
		run.events[run.n++] = &recorded[event];
	}
	if (run.n == 0)
		run.events[run.n++] = &recorded[0];
	if (run.n > 1)
		(void)snprintf(run.name, sizeof(run.name), ", %zu events", run.n);
	return true;
}

int main(int argc, char **argv)
{
	struct places places = {.folder = "/tmp/pebsd-bench-XXXXXX"};
	struct bench_child daemon;
	u16 port = bench_free_port();
	char listen[32];
	char *arguments[] = {argc > 1 ? argv[1] : NULL,
			     "--config",
			     "/dev/null",
			     "--replay",
			     places.recording,
			     "--socket",
			     places.socket,
			     "--listen",
			     listen,
			     NULL};

	if (argc < 2 || !choose(argv + 2, (size_t)argc - 2)) {
		(void)fprintf(stderr, "usage: daemon_cost PEBSD [EVENT...]\n");
		return 2;
	}
	if (!mkdtemp(places.folder) || port == 0)
		die("no place for a socket");
	(void)snprintf(places.recording, sizeof(places.recording), "%s/recording", places.folder);
	(void)snprintf(places.socket, sizeof(places.socket), "%s/socket", places.folder);
	(void)snprintf(places.log, sizeof(places.log), "%s/log", places.folder);
	(void)snprintf(listen, sizeof(listen), "127.0.0.1:%u", port);
	write_recording(places.recording);
	if (bench_child_start(arguments, places.log, false, &daemon) < 0)
		die("pebsd could not be started");
	measure(&daemon, &places, port);
	(void)bench_child_stop(&daemon, SIGTERM);
	(void)nftw(places.folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}
