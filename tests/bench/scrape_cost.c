// SPDX-License-Identifier: GPL-2.0
/*
 * scrape_cost [--json]: measures the cost of a scrape. The host has 1,000 cgroups with paths of 200 bytes,
 * loads and stores. Hours have passed in which the costliest cgroups changed all the time. The exported series
 * are those that the daemon would have. Another process requests them over HTTP. The processor time, user and
 * system, is that of this process and of the one that speaks HTTP for it. Prints results and checks nothing.
 * With --json it prints one object per line, as bench_results.h reads them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "clock.h"
#include "export/prometheus/prometheus.h"
#include "http/http.h"
#include "http/http_bodies.h"
#include "http/server/http_worker.h"
#include "random_numbers.h"
#include "series/series.h"

#define CGROUPS      1000
#define PATH_BYTES   200
#define HOURS        2
#define STEP_SECONDS 20
#define ROUNDS       101
#define SCRAPES      200
#define CLIENTS      50
#define TICKS        150
#define MANY         40000 /* cgroups of a large machine */
#define TOP_ROUNDS   9
#define TICK_NS      (20 * NSEC_PER_MSEC)
#define KINDS        3 /* kinds of cgroups by number of samples: few, more, many */
#define EVENTS       2
#define CLIENT_ROOM  65536
#define USAGE_FAILED 2

static const struct event skylake[EVENTS] = {
	{.role = EVENT_LOADS,
	 .pmu = "cpu",
	 .ldlat = 30,
	 .period = 10007,
	 .latency_kind = LATENCY_USE,
	 .settings = {.has_latency = 1, .has_source = 1}},
	{.role = EVENT_STORES, .pmu = "cpu", .period = 10007, .settings = {.has_source = 1}},
};
static const struct event sapphire_rapids[EVENTS] = {
	{.role = EVENT_LOADS,
	 .pmu = "cpu",
	 .ldlat = 30,
	 .period = 10007,
	 .latency_kind = LATENCY_CACHE,
	 .settings = {.has_latency = 1, .has_instruction_latency = 1, .has_source = 1}},
	{.role = EVENT_STORES,
	 .pmu = "cpu",
	 .period = 10007,
	 .latency_kind = LATENCY_CACHE,
	 .settings = {.has_latency = 1, .has_instruction_latency = 1, .has_source = 1}},
};

struct host {
	const struct event *events;
	struct series_table *table;
	char paths[CGROUPS][PATH_BYTES + 1];
	u8 packed[KINDS][EVENTS][PACKED_MAX];
	struct delta deltas[KINDS][EVENTS];
	struct series_input inputs[CGROUPS];
	u64 state; /* of the random number generator */
	u64 now_ns;
	struct snapshot snapshot;
	struct process_usage process;
	u64 sequence;
	bool each_anew;      /* each scrape is the first after a collection */
	unsigned int labels; /* besides the path: bit 1 << enum container_label */
};

static bool json;

static void report(const char *name, const char *unit, double value)
{
	if (json)
		(void)printf("{\"group\": \"scrape\", \"name\": \"%s\", \"unit\": \"%s\", \"value\": %.9g}\n",
			     name, unit, value);
	else
		(void)printf("%-58s %12.6g %s\n", name, value, unit);
	(void)fflush(stdout);
}

static u64 draw(struct host *host, u64 n)
{
	return splitmix(&host->state) % n;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static double quantile(double *values, size_t n, double q)
{
	qsort(values, n, sizeof(*values), compare);
	return values[(size_t)(q * (double)(n - 1))];
}

/* Names a container as Kubernetes does under systemd. */
static void name_cgroup(struct host *host, char path[PATH_BYTES + 1])
{
	static const char end[] = ".scope";
	size_t n = (size_t)snprintf(
		path, PATH_BYTES + 1,
		"/kubepods.slice/kubepods-burstable.slice/"
		"kubepods-burstable-pod%08llx_%04llx_%04llx_%04llx_%012llx.slice/"
		"cri-containerd-",
		(unsigned long long)draw(host, 1ULL << 32), (unsigned long long)draw(host, 1U << 16),
		(unsigned long long)draw(host, 1U << 16), (unsigned long long)draw(host, 1U << 16),
		(unsigned long long)draw(host, 1ULL << 48));

	while (n < PATH_BYTES + 1 - sizeof(end))
		path[n++] = "0123456789abcdef"[draw(host, 16)];
	memcpy(path + n, end, sizeof(end));
}

/*
 * The samples that a collection adds to a cgroup for an event. Loads come from all sources that machines with
 * two sockets commonly show, stores from two of them.
 */
static struct counters brought(struct host *host, const struct event *event, u64 n)
{
	static const enum source sources[] = {SOURCE_L1,           SOURCE_UNKNOWN,    SOURCE_LFB,
					      SOURCE_L2,           SOURCE_L3,         SOURCE_LOCAL_CACHE,
					      SOURCE_REMOTE_CACHE, SOURCE_LOCAL_DRAM, SOURCE_REMOTE_DRAM};
	size_t n_sources = event->role == EVENT_LOADS ? ARRAY_SIZE(sources) : 2;
	struct counters counters = {0};

	for (u64 i = 0; i < n * n_sources; i++) {
		enum source source = sources[i % n_sources];
		u32 cycles = (u32)((30 + draw(host, 30)) * (1 + i % n_sources));

		counters.samples[source]++;
		counters.weight[source] += event->period;
		counters.snoop[draw(host, 10) ? SNOOP_NONE : SNOOP_HITM]++;
		counters.tlb[draw(host, 10) ? TLB_HIT : TLB_WALK]++;
#define DRAW_FLAG(name, bits, known, ...) \
	counters.name +=                  \
		((known) != FLAG_KNOWN_OF_LOADS || event->role == EVENT_LOADS) && draw(host, 10) == 0;
		ACCESS_FLAGS(DRAW_FLAG)
		if (event->settings.has_instruction_latency) {
			counters.instruction_latency[histogram_coarse_index(2 * cycles)]++;
			counters.instruction_latency_sum += 2ULL * cycles;
		}
		if (!event->settings.has_latency)
			continue;
		counters.latency_sum[source] += cycles;
		counters.weighted_latency[source] += cycles * event->period;
		counters.latency[histogram_fine_index(cycles)]++;
	}
	return counters;
}

static int host_init(struct host *host, const struct event *events, size_t top)
{
	static const u64 loudness[KINDS] = {3, 30, 1000};

	*host = (struct host){.events = events, .state = 20261122};
	if (series_table_new(top, &host->table) < 0)
		return -ENOMEM;
	series_table_expect(host->table, events, EVENTS);
	for (size_t i = 0; i < CGROUPS; i++)
		name_cgroup(host, host->paths[i]);
	for (size_t kind = 0; kind < KINDS; kind++)
		for (u32 event = 0; event < EVENTS; event++) {
			struct counters counters = brought(host, &events[event], loudness[kind]);
			u8 *packed = host->packed[kind][event];

			host->deltas[kind][event] = (struct delta){
				.event = event, .size = (u32)packed_of(&counters, packed), .packed = packed};
		}
	host->snapshot.origin = "perf";
	host->snapshot.n_events = EVENTS;
	for (size_t event = 0; event < EVENTS; event++)
		host->snapshot.events[event].event = events[event];
	return 0;
}

/* One collection of all 1,000 cgroups. Fifty of them are loud, and others are loud later. */
static int collect(struct host *host, u64 seconds)
{
	u64 turn;

	host->now_ns += seconds * NSEC_PER_SEC;
	turn = host->now_ns / (30 * NSEC_PER_SEC) % CGROUPS;
	for (size_t i = 0; i < CGROUPS; i++) {
		size_t kind = (i + CGROUPS - turn) % CGROUPS < 50 ? 2 : draw(host, 10) == 0;

		host->inputs[i] = (struct series_input){.path = host->paths[i],
							.exported = true,
							.deltas = host->deltas[kind],
							.n_deltas = EVENTS};
	}
	return series_table_update(host->table, host->now_ns, host->inputs, CGROUPS, NULL, 0);
}

static int pass_hours(struct host *host)
{
	int r = 0;

	for (u64 second = 0; r == 0 && second < HOURS * 3600ULL; second += STEP_SECONDS)
		r = collect(host, STEP_SECONDS);
	return r;
}

static int render(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length)
{
	struct host *host = userdata;
	const struct prometheus_options options = {.openmetrics = openmetrics, .labels = host->labels};
	const struct series *const *list;
	size_t n;

	process_read(&host->process);
	list = series_table_list(host->table, &n);
	return prometheus_render(&host->snapshot, list, n, &options, &host->process, ret_text, ret_length);
}

static size_t count_series(const char *text)
{
	size_t n = 0;

	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		n += *line != '#';
	return n;
}

static void tell_of(const char *machine, const char *what, const char *unit, double value)
{
	char name[128];

	(void)snprintf(name, sizeof(name), "%s, %s", machine, what);
	report(name, unit, value);
}

static int measure_size(struct host *host, const char *machine, size_t *ret_series)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ void *gzip = NULL;
	size_t length, compressed;

	if (render(host, true, &text, &length) < 0 ||
	    http_bodies_compress(text, length, &gzip, &compressed) < 0)
		return -1;
	*ret_series = count_series(text);
	tell_of(machine, "series", "series", (double)*ret_series);
	tell_of(machine, "bytes", "bytes", (double)length);
	tell_of(machine, "bytes, gzip", "bytes", (double)compressed);
	return 0;
}

/*
 * Names the pod of a Deployment, with usual lengths. The parts that differ from pod to pod are as random as
 * in Kubernetes.
 */
static const struct container *name_of_usual_length(void *userdata, const char *path)
{
	static char pod[64];
	static const struct container container = {
		.text = {[CONTAINER_LABEL_NAMESPACE] = "shop",
			 [CONTAINER_LABEL_POD] = pod,
			 [CONTAINER_LABEL_CONTAINER] = "checkout-service"}};
	const char *id = path + PATH_BYTES - sizeof("0123456789-01234.scope");

	(void)userdata;
	if (strlen(path) < PATH_BYTES)
		return NULL; /* the series of other cgroups */
	(void)snprintf(pod, sizeof(pod), "checkout-service-%.10s-%.5s", id, id + 10);
	return &container;
}

static int measure_labels(struct host *host, const char *machine)
{
	static const struct container_lookup lookup = {.find = name_of_usual_length};
	size_t series;
	int r;

	host->snapshot.containers = &lookup;
	host->labels =
		1U << CONTAINER_LABEL_NAMESPACE | 1U << CONTAINER_LABEL_POD | 1U << CONTAINER_LABEL_CONTAINER;
	r = measure_size(host, machine, &series);
	host->labels = 0;
	return r;
}

static int measure_build(struct host *host, size_t series)
{
	double plain[ROUNDS], compressed[ROUNDS];

	for (size_t round = 0; round < ROUNDS; round++) {
		_cleanup_free_ char *text = NULL;
		_cleanup_free_ void *gzip = NULL;
		size_t length, n;
		u64 begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID), built;

		if (render(host, round % 2, &text, &length) < 0)
			return -1;
		built = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		if (http_bodies_compress(text, length, &gzip, &n) < 0)
			return -1;
		plain[round] = (double)(built - begun);
		compressed[round] = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - built);
	}
	report("build, plain", "ms", quantile(plain, ROUNDS, 0.5) / 1e6);
	report("build, gzip on top", "ms", quantile(compressed, ROUNDS, 0.5) / 1e6);
	report("build, plain, a series", "ns", quantile(plain, ROUNDS, 0.5) / (double)series);
	return 0;
}

/* Pins the calling process: the server to the first CPU, the scraper to the last one. */
static void pin(bool server)
{
	cpu_set_t allowed, one;
	int first = -1, last = -1;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &allowed)) {
			first = first < 0 ? cpu : first;
			last = cpu;
		}
	CPU_ZERO(&one);
	CPU_SET((size_t)(server ? first : last), &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
}

static int begin_request(u16 port, bool gzip)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const char *request = gzip ? "GET /metrics HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n"
				   : "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		_exit(EXIT_FAILURE);
	return fd;
}

/*
 * Runs in the other process: keeps `clients` scrapes open at the same time and ends after `scrapes` of them
 * (0: never).
 */
static void scrape_all(u16 port, size_t clients, size_t scrapes, bool gzip)
{
	static char room[CLIENT_ROOM];
	struct pollfd polled[CLIENTS];
	size_t left = scrapes ? scrapes : SIZE_MAX;

	for (size_t i = 0; i < clients; i++)
		polled[i] = (struct pollfd){.fd = begin_request(port, gzip && i % 2), .events = POLLIN};
	while (poll(polled, clients, -1) > 0)
		for (size_t i = 0; i < clients; i++) {
			if (!polled[i].revents || read(polled[i].fd, room, sizeof(room)) > 0)
				continue;
			(void)close(polled[i].fd);
			if (--left == 0)
				_exit(EXIT_SUCCESS);
			polled[i].fd = begin_request(port, gzip && (clients == 1 || i % 2));
		}
	_exit(EXIT_FAILURE);
}

static u64 sequence_of(void *userdata)
{
	struct host *host = userdata;

	return host->each_anew ? ++host->sequence : host->sequence;
}

static int health(void *userdata, bool *ret_works, const char **ret_reason)
{
	(void)userdata;
	*ret_works = true;
	*ret_reason = NULL;
	return 0;
}

struct served {
	sd_event *event;
	struct http *http;
	u16 port;
	pid_t client;
};

static int serve(struct served *served, struct host *host)
{
	const struct http_source source = {.userdata = host,
					   .origin = "perf",
					   .sequence = sequence_of,
					   .metrics = render,
					   .health = health};
	struct http_settings settings = {.hosts = "a", .program = "/proc/self/exe"};
	_cleanup_free_ char *message = NULL;
	struct http_sockets sockets;
	struct listen_address listen;

	*served = (struct served){0};
	if (sd_event_new(&served->event) < 0 || listen_address_parse("127.0.0.1:1", &listen) < 0)
		return -1;
	settings.event = served->event;
	listen.port = 0;
	listen.address.ipv4.sin_port = 0;
	if (http_sockets_open(&listen, NULL, &sockets, &message) < 0)
		return -1;
	served->port = (u16)http_sockets_port(&sockets);
	if (http_new(&settings, &sockets, &source, &served->http, &message) < 0) {
		(void)fprintf(stderr, "scrape_cost: %s\n", message ? message : "no memory");
		return -1;
	}
	return 0;
}

static void begin_client(struct served *served, size_t clients, size_t scrapes, bool gzip)
{
	served->client = fork();
	if (served->client == 0) {
		pin(false);
		scrape_all(served->port, clients, scrapes, gzip);
	}
}

static void served_done(struct served *served)
{
	if (served->client > 0) {
		(void)kill(served->client, SIGKILL);
		(void)waitpid(served->client, NULL, 0);
	}
	http_free(served->http);
	sd_event_unref(served->event);
}

/* Measures the whole processor time of a scrape. */
static int measure_scrape(struct host *host, const char *what, bool gzip, bool each_anew, size_t series)
{
	_cleanup_(served_done) struct served served;
	char name[128];
	u64 begun, begun_speaking;
	clockid_t speaker;
	double own, ns;

	if (serve(&served, host) < 0)
		return -1;
	host->each_anew = each_anew;
	if (clock_getcpuclockid(http_pid(served.http), &speaker) != 0)
		return -1;
	/* Wait until the process that speaks HTTP has started. */
	for (int i = 0; i < 200; i++)
		(void)sd_event_run(served.event, 1000);
	begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	begun_speaking = clock_ns(speaker);
	begin_client(&served, 1, SCRAPES, gzip);
	while (waitpid(served.client, NULL, WNOHANG) == 0)
		if (sd_event_run(served.event, 10000) < 0)
			return -1;
	served.client = 0;
	host->each_anew = false;
	own = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun) / SCRAPES;
	ns = own + (double)(clock_ns(speaker) - begun_speaking) / SCRAPES;
	(void)snprintf(name, sizeof(name), "a scrape, %s", what);
	report(name, "ms", ns / 1e6);
	(void)snprintf(name, sizeof(name), "a scrape, %s, the daemon's part", what);
	report(name, "ms", own / 1e6);
	(void)snprintf(name, sizeof(name), "a scrape, %s, a series", what);
	report(name, "ns", ns / (double)series);
	return 0;
}

struct ticks {
	struct host *host;
	sd_event_source *timer;
	size_t n;
	u64 due_ns;
	double late[TICKS], took[TICKS]; /* ns */
	bool failed;
};

/* Does the part of a collection that concerns series. */
static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct ticks *ticks = userdata;
	u64 begun = clock_ns(CLOCK_MONOTONIC);

	(void)usec;
	if (ticks->n == TICKS)
		return 0;
	ticks->failed = ticks->failed || collect(ticks->host, 1) < 0;
	ticks->host->sequence++;
	ticks->late[ticks->n] = begun > ticks->due_ns ? (double)(begun - ticks->due_ns) : 0;
	ticks->took[ticks->n++] = (double)(clock_ns(CLOCK_MONOTONIC) - begun);
	ticks->due_ns = MAX(ticks->due_ns + TICK_NS, begun);
	(void)sd_event_source_set_time(source, ticks->due_ns / NSEC_PER_USEC);
	return sd_event_source_set_enabled(source, SD_EVENT_ON);
}

static int measure_ticks(struct host *host, size_t clients)
{
	_cleanup_(served_done) struct served served;
	struct ticks ticks = {.host = host};
	const char *beside = clients ? "beside 50 scrapes at a time" : "alone";
	char name[128];
	int r;

	if (serve(&served, host) < 0)
		return -1;
	if (clients)
		begin_client(&served, clients, 0, true);
	ticks.due_ns = clock_ns(CLOCK_MONOTONIC) + TICK_NS;
	r = sd_event_add_time(served.event, &ticks.timer, CLOCK_MONOTONIC, ticks.due_ns / NSEC_PER_USEC, 1,
			      on_tick, &ticks);
	if (r >= 0) /* as collection_timer_start() does */
		r = sd_event_source_set_priority(ticks.timer, SD_EVENT_PRIORITY_IMPORTANT);
	while (r >= 0 && ticks.n < TICKS)
		r = sd_event_run(served.event, UINT64_MAX);
	sd_event_source_unref(ticks.timer);
	if (r < 0 || ticks.failed)
		return -1;
	(void)snprintf(name, sizeof(name), "a collection's series %s, median", beside);
	report(name, "us", quantile(ticks.took, TICKS, 0.5) / 1e3);
	(void)snprintf(name, sizeof(name), "a collection's series %s, late by, median", beside);
	report(name, "us", quantile(ticks.late, TICKS, 0.5) / 1e3);
	(void)snprintf(name, sizeof(name), "a collection's series %s, late by, 95 %%", beside);
	report(name, "us", quantile(ticks.late, TICKS, 0.95) / 1e3);
	return 0;
}

/* The processor time of a collection of as many cgroups as a large machine may have, `top` of which are listed. */
static int measure_top(size_t top, const char *name)
{
	static char paths[MANY][16];
	static struct series_input inputs[MANY];
	static struct host many;
	double took[TOP_ROUNDS];
	int r = host_init(&many, skylake, top);

	for (size_t i = 0; r == 0 && i < MANY; i++) {
		(void)snprintf(paths[i], sizeof(paths[i]), "/%zu", i);
		inputs[i] = (struct series_input){.path = paths[i],
						  .exported = true,
						  .deltas = many.deltas[i % KINDS],
						  .n_deltas = EVENTS};
	}
	/* The first collection makes the paths. */
	for (u64 i = 0; r == 0 && i <= TOP_ROUNDS; i++) {
		u64 begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

		r = series_table_update(many.table, (i + 1) * NSEC_PER_SEC, inputs, MANY, NULL, 0);
		if (i > 0)
			took[i - 1] = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun);
	}
	series_table_free(many.table);
	if (r == 0)
		report(name, "ms", quantile(took, TOP_ROUNDS, 0.5) / 1e6);
	return r;
}

static int measure(struct host *host, struct host *wide)
{
	size_t series, ignored;

	if (host_init(host, skylake, SERIES_TOP_AUTO) < 0 || pass_hours(host) < 0 ||
	    host_init(wide, sapphire_rapids, SERIES_TOP_AUTO) < 0 || pass_hours(wide) < 0)
		return -1;
	if (measure_size(host, "Skylake", &series) < 0 ||
	    measure_size(wide, "Sapphire Rapids", &ignored) < 0 ||
	    measure_labels(wide, "Sapphire Rapids with namespace, pod and container") < 0 ||
	    measure_build(host, series) < 0)
		return -1;
	if (measure_scrape(host, "the first after a collection, plain", false, true, series) < 0 ||
	    measure_scrape(host, "the first after a collection, gzip", true, true, series) < 0 ||
	    measure_scrape(host, "a further one, plain", false, false, series) < 0 ||
	    measure_scrape(host, "a further one, gzip", true, false, series) < 0)
		return -1;
	if (measure_ticks(host, 0) < 0 || measure_ticks(host, CLIENTS) < 0 ||
	    measure_top(10, "a collection of 40,000 cgroups, 10 listed") < 0 ||
	    measure_top(10000, "a collection of 40,000 cgroups, 10,000 listed") < 0)
		return -1;
	return 0;
}

int main(int argc, char **argv)
{
	static struct host hosts[2];
	int r;

	if (argc == 2 && strcmp(argv[1], "--http") == 0)
		return http_worker(STDIN_FILENO);
	json = argc == 2 && strcmp(argv[1], "--json") == 0;
	if (argc > 2 || (argc == 2 && !json)) {
		(void)fprintf(stderr, "usage: scrape_cost [--json]\n");
		return USAGE_FAILED;
	}
	pin(true);
	r = measure(&hosts[0], &hosts[1]);
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
		series_table_free(hosts[i].table);
	if (r < 0)
		(void)fprintf(stderr, "scrape_cost: it could not be measured: %s\n", strerror(errno));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
