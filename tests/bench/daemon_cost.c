// SPDX-License-Identifier: GPL-2.0
/*
 * daemon_cost PEBSD: what the daemon takes to be asked, one round, as lines for bench_report. It replays a
 * recording of 1,000 cgroups with paths of 200 bytes, one event, 20 samples a cgroup, so this does not
 * sample. As root.
 *
 *   control  processor time of the daemon for a call of its Varlink socket
 *   scrape   processor time of the first scrape after a collection, which makes the text, and of later ones
 *   memory   what is its own (RssAnon), and all that is resident
 */
#include <ftw.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text_file.h"
#include "bench_child.h"
#include "bench_line.h"
#include "bench_socket.h"
#include "bench_victim.h"
#include "perf_data_writer.h"

#define CGROUPS     1000UL
#define SAMPLES     20UL /* a cgroup */
#define CALLS       50
#define SCRAPES     20
#define DEADLINE_NS (30 * NSEC_PER_SEC)
#define START_NS    (3600 * NSEC_PER_SEC)
#define MIB         (1024.0 * 1024.0)
#define NAME        "pebsd, 1,000 cgroups"

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

/* As Linux' driver writes them: L1, L2, L3, this node's memory, another's. */
static const u64 data_sources[] = {0x10268100142, 0x10468100442, 0x10668100842, 0x11a68201042, 0x13a68100042};

static void write_recording(const char *path)
{
	static const u64 ids[] = {101};
	const struct writer_event loads = {
		.type = PERF_TYPE_RAW,
		.config = 0x1cd,
		.config1 = 30,
		.period = 10007,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT_STRUCT |
			       PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_CGROUP,
		.name = "cpu/mem-loads,ldlat=30/P",
		.ids = ids,
		.n_ids = ARRAY_SIZE(ids),
	};
	struct writer *writer = writer_new(WRITER_FILE, 0);
	_cleanup_fclose_ FILE *file = fopen(path, "we");
	_cleanup_free_ u8 *bytes = NULL;
	size_t event, size;

	writer_cpuid(writer, "GenuineIntel,6,143,8");
	writer_pmu(writer, PERF_TYPE_RAW, "cpu");
	event = writer_event(writer, &loads);
	for (u64 i = 0; i < CGROUPS; i++) {
		char name[256];

		/* 200 bytes, as Kubernetes makes them. */
		(void)snprintf(name, sizeof(name),
			       "/kubepods.slice/kubepods-burstable.slice/"
			       "kubepods-burstable-pod%08llx_5b1c_4f0e_9d6a_0c2f4e7a91b3.slice/"
			       "cri-containerd-%064llx.scope%012llu",
			       (unsigned long long)i, (unsigned long long)(i * 0x9e3779b97f4a7c15ULL),
			       (unsigned long long)i);
		writer_cgroup(writer, event, 0, 1000 + i, name);
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

		writer_sample(writer, event, &sample);
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

/* Until the recording is read and the socket answers; the connection. */
static int wait_for(const struct bench_child *daemon, const struct places *places)
{
	const struct timespec pause = {.tv_nsec = 10 * (long)NSEC_PER_MSEC};
	u64 until = victim_now_ns() + DEADLINE_NS;
	int fd;

	while (victim_now_ns() < until && bench_child_runs(daemon)) {
		if (said(places->log, "every record is read")) {
			fd = bench_socket_connect(places->socket);
			if (fd >= 0)
				return fd;
		}
		(void)nanosleep(&pause, NULL);
	}
	return -1;
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
		u64 before;

		if (bench_varlink(fd, calls[i].call) < 0)
			die("a call of the control socket was not answered");
		before = victim_process_cpu_ns(daemon->pid);
		for (int call = 0; call < CALLS; call++)
			(void)bench_varlink(fd, calls[i].call);
		bench_line("control", calls[i].name, "us",
			   (double)(victim_process_cpu_ns(daemon->pid) - before) / CALLS / 1e3);
	}
}

/* Processor time of so many scrapes, each. */
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

	bench_line("scrape", NAME ", the first scrape", "ms", ns / 1e6);
	bench_line("scrape", NAME ", a series", "ns", ns / (double)scrape.series);
	bench_line("scrape", NAME ", series", "count", (double)scrape.series);
	bench_line("scrape", NAME ", bytes", "kB", (double)scrape.bytes / 1e3);
	bench_line("scrape", NAME ", a later scrape", "ms",
		   scrape_ns(daemon, port, false, SCRAPES, &scrape) / 1e6);
	bench_line("scrape", NAME ", the first compressed", "ms",
		   scrape_ns(daemon, port, true, 1, &compressed) / 1e6);
	bench_line("scrape", NAME ", bytes compressed", "kB", (double)compressed.bytes / 1e3);
	bench_line("scrape", NAME ", a later compressed", "ms",
		   scrape_ns(daemon, port, true, SCRAPES, &compressed) / 1e6);
}

static void measure(const struct bench_child *daemon, const struct places *places, u16 port)
{
	_cleanup_close_ int fd = wait_for(daemon, places);
	const struct timespec settle = {.tv_nsec = 300 * (long)NSEC_PER_MSEC};

	if (fd < 0)
		die("pebsd does not replay the recording");
	(void)nanosleep(&settle, NULL);
	bench_line("memory", NAME ", its own", "MiB",
		   (double)victim_process_memory(daemon->pid, "RssAnon") / MIB);
	measure_scrape(daemon, port);
	measure_control(daemon, fd);
	bench_line("memory", NAME ", its own after questions", "MiB",
		   (double)victim_process_memory(daemon->pid, "RssAnon") / MIB);
	bench_line("memory", NAME ", resident", "MiB",
		   (double)victim_process_memory(daemon->pid, "VmRSS") / MIB);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

int main(int argc, char **argv)
{
	struct places places = {.folder = "/tmp/pebsd-bench-XXXXXX"};
	struct bench_child daemon;
	u16 port = bench_free_port();
	char listen[32];
	char *arguments[] = {argc == 2 ? argv[1] : NULL,
			     "--config",
			     "/dev/null",
			     "--replay",
			     places.recording,
			     "--socket",
			     places.socket,
			     "--listen",
			     listen,
			     NULL};

	if (argc != 2) {
		(void)fprintf(stderr, "usage: daemon_cost PEBSD\n");
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
