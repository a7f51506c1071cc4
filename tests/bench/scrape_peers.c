// SPDX-License-Identifier: GPL-2.0
/*
 * scrape_peers CLIENT.py: measures what a scrape costs other exporters, one round, as lines for bench_report.
 * The exporters run on a free port of the loopback interface. The cost is the exporter's processor time for a
 * few scrapes.
 *
 *   node_exporter  in its default setup. It reads /proc and /sys at each scrape, which is part of its time
 *   Python client  peers/client.py: it reads nothing, and writes as many series as pebsd has at most
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "bench_child.h"
#include "bench_line.h"
#include "bench_socket.h"
#include "bench_victim.h"

#define SCRAPES 5
#define SERIES  "4000"
#define MIB     (1024.0 * 1024.0)

static void leave_out(const char *name, const char *why)
{
	bench_line_left_out("scrape", name, why);
}

static void report(const char *group, const char *name, const char *what, const char *unit, double value)
{
	_cleanup_free_ char *full = NULL;

	if (asprintf(&full, "%s%s", name, what) >= 0)
		bench_line(group, full, unit, value);
}

/* The first scrape is not measured, because it prepares what later ones use. */
static int measure(const char *name, const struct bench_child *exporter, u16 port)
{
	struct bench_scrape scrape;
	u64 before;
	double ns;
	int r;

	r = bench_scrape_wait(port, &scrape);
	if (r < 0)
		return r;
	before = victim_process_cpu_ns(exporter->pid);
	for (int i = 0; i < SCRAPES; i++) {
		r = bench_scrape(port, false, &scrape);
		if (r < 0 || scrape.series == 0)
			return r < 0 ? r : -EPROTO;
	}
	ns = (double)(victim_process_cpu_ns(exporter->pid) - before) / SCRAPES;
	report("scrape", name, ", a scrape", "ms", ns / 1e6);
	report("scrape", name, ", a series", "ns", ns / (double)scrape.series);
	report("scrape", name, ", a series' bytes", "bytes", (double)scrape.bytes / (double)scrape.series);
	report("memory", name, ", resident", "MiB",
	       (double)victim_process_memory(exporter->pid, "VmRSS") / MIB);
	return 0;
}

static void run(const char *name, char *const arguments[], u16 port)
{
	struct bench_child exporter;
	int r;

	if (port == 0 || bench_child_start(arguments, NULL, false, &exporter) < 0) {
		leave_out(name, "it could not be started");
		return;
	}
	r = measure(name, &exporter, port);
	(void)bench_child_stop(&exporter, SIGTERM);
	if (r < 0)
		leave_out(name, strerror(-r));
}

int main(int argc, char **argv)
{
	u16 ports[] = {bench_free_port(), bench_free_port()};
	char listen[64], port[8];
	char *node[] = {"prometheus-node-exporter", listen, NULL};
	char *python[] = {"/usr/bin/python3", argc == 2 ? argv[1] : NULL, port, SERIES, NULL};

	if (argc != 2) {
		(void)fprintf(stderr, "usage: scrape_peers CLIENT.py\n");
		return 2;
	}
	(void)snprintf(listen, sizeof(listen), "--web.listen-address=127.0.0.1:%u", ports[0]);
	(void)snprintf(port, sizeof(port), "%u", ports[1]);
	if (bench_child_exists(node[0]))
		run("node_exporter", node, ports[0]);
	else
		leave_out("node_exporter", "it is not installed (make deps-bench)");
	if (bench_child_exists(python[0]))
		run("Python client", python, ports[1]);
	else
		leave_out("Python client", "it is not installed (make deps-bench)");
	return 0;
}
