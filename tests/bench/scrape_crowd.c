// SPDX-License-Identifier: GPL-2.0
/*
 * scrape_crowd [SCRAPES]: measures how long scrapes take alone, next to 1,000 slow clients of each kind
 * (http_crowd.h), and next to those of all kinds at once. Another local user, or the same one, runs these
 * clients. They reconnect as soon as the endpoint hangs up. The endpoint runs as in pebsd, with a text of
 * BODY_BYTES for each collection of a second. A scrape that takes longer than ANSWER_SECONDS counts as not
 * answered. Exits with 1 if fewer than 15 of 16 scrapes are answered in one of these cases. Needs root to
 * become another user.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bench_socket.h"
#include "clock.h"
#include "http/http.h"
#include "http/server/http_worker.h"
#include "http_crowd.h"

#define CLIENTS         1000
#define SCRAPES_DEFAULT 16
#define SCRAPES_MAX     256
#define BODY_BYTES      (4UL << 20) /* of about 1,000 cgroups */
#define ANSWER_SECONDS  2
#define ANSWERED_LEAST  (15.0 / 16)
#define SETTLE_MS       5000
#define NOBODY          65534

__attribute__((constructor)) static void work(int argc, char *argv[])
{
	if (argc == 2 && strcmp(argv[1], "--http") == 0)
		_exit(http_worker(STDIN_FILENO));
}

static u64 sequence_of(void *userdata)
{
	(void)userdata;
	return clock_ns(CLOCK_MONOTONIC) / NSEC_PER_SEC;
}

static int render(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length)
{
	(void)userdata;
	(void)openmetrics;
	*ret_text = malloc(BODY_BYTES);
	if (!*ret_text)
		return -ENOMEM;
	memset(*ret_text, '#', BODY_BYTES);
	(*ret_text)[BODY_BYTES - 1] = '\n';
	*ret_length = BODY_BYTES;
	return 0;
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
};

static int serve(struct served *served)
{
	static const struct http_source source = {
		.origin = "perf", .sequence = sequence_of, .metrics = render, .health = health};
	struct http_settings settings = {.hosts = "", .program = "/proc/self/exe"};
	_cleanup_free_ char *message = NULL;
	struct http_sockets sockets;
	struct listen_address listen;

	*served = (struct served){0};
	if (sd_event_new(&served->event) < 0 || listen_address_parse("127.0.0.1:1", &listen) < 0)
		return -ENOMEM;
	settings.event = served->event;
	listen.port = 0;
	listen.address.ipv4.sin_port = 0;
	if (http_sockets_open(&listen, NULL, &sockets, &message) < 0)
		return -EADDRNOTAVAIL;
	served->port = (u16)http_sockets_port(&sockets);
	return http_new(&settings, &sockets, &source, &served->http, &message);
}

static void served_done(const struct served *served)
{
	http_free(served->http);
	sd_event_unref(served->event);
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

/*
 * Runs in its own process: makes one scrape after another and prints the results. Exits with 1 if too few are
 * answered.
 */
static void __attribute__((noreturn)) scrape(u16 port, size_t n, const char *what, struct http_crowd *crowd)
{
	unsigned int connected = crowd ? http_crowd_wait(crowd, SETTLE_MS) : 0;
	double took[SCRAPES_MAX];
	size_t answered = 0;

	for (size_t i = 0; i < n; i++) {
		u64 begun = clock_ns(CLOCK_MONOTONIC);
		struct bench_scrape got = {0};
		int r = bench_scrape(port, false, &got);

		took[i] = (double)(clock_ns(CLOCK_MONOTONIC) - begun) / 1e9;
		if (r < 0)
			(void)printf("%s: %s after %.3f s\n", what, strerror(-r), took[i]);
		else if (got.bytes != BODY_BYTES)
			(void)printf("%s: cut off after %zu bytes, %.3f s\n", what, got.bytes, took[i]);
		answered += r == 0 && got.bytes == BODY_BYTES && took[i] <= ANSWER_SECONDS;
	}
	qsort(took, n, sizeof(*took), compare);
	(void)printf(
		"%-34s %3zu of %zu in %d s, median %7.3f s, worst %7.3f s; %u clients were in at first\n",
		what, answered, n, ANSWER_SECONDS, took[n / 2], took[n - 1], connected);
	(void)fflush(stdout);
	_exit((double)answered < ANSWERED_LEAST * (double)n);
}

/* Returns 0, or a negative errno. Counts in `failures` if too few scrapes are answered. */
static int measure(const struct http_crowd_settings *settings, const char *what, size_t n,
		   unsigned int *failures)
{
	_cleanup_(served_done) struct served served;
	struct http_crowd_settings beside = *settings;
	struct http_crowd crowd = {.pid = -1};
	unsigned int clients = 0;
	clockid_t speaker;
	u64 begun, cpu;
	double seconds;
	pid_t scraper;
	int status = -1;
	int r = serve(&served);

	if (r < 0)
		return r;
	beside.port = served.port;
	for (size_t kind = 0; kind < HTTP_CROWD_KINDS; kind++)
		clients += beside.n[kind];
	if (clients && (r = http_crowd_start(&beside, &crowd)) < 0)
		return r;
	scraper = fork();
	if (scraper == 0)
		scrape(served.port, n, what, clients ? &crowd : NULL);
	if (clock_getcpuclockid(http_pid(served.http), &speaker) != 0)
		return -ESRCH;
	begun = clock_ns(CLOCK_MONOTONIC);
	cpu = clock_ns(speaker);
	while (waitpid(scraper, &status, WNOHANG) == 0)
		if (sd_event_run(served.event, 10000) < 0)
			return -EIO;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		(void)printf("%s: too few scrapes were answered\n", what);
		(*failures)++;
	}
	seconds = (double)(clock_ns(CLOCK_MONOTONIC) - begun) / 1e9;
	(void)printf("%-34s %3.0f%% of a CPU for HTTP, %llu restarts", "",
		     (double)(clock_ns(speaker) - cpu) / 1e7 / seconds,
		     (unsigned long long)http_restarts(served.http));
	if (clients)
		(void)printf(", %.0f connections ended a second", (double)http_crowd_stop(&crowd) / seconds);
	(void)printf("\n");
	(void)fflush(stdout);
	return 0;
}

static int measure_all(uid_t user, const char *whose, size_t n, unsigned int *failures)
{
	struct http_crowd_settings all = {.user = user};
	char what[64];
	int r = 0;

	for (size_t kind = 0; kind < HTTP_CROWD_KINDS && r == 0; kind++) {
		struct http_crowd_settings one = {.user = user};

		one.n[kind] = all.n[kind] = CLIENTS;
		(void)snprintf(what, sizeof(what), "beside %d %s, %s", CLIENTS, http_crowd_name(kind), whose);
		r = measure(&one, what, n, failures);
	}
	(void)snprintf(what, sizeof(what), "beside %d of each, %s", CLIENTS, whose);
	return r < 0 ? r : measure(&all, what, n, failures);
}

int main(int argc, char *argv[])
{
	const struct http_crowd_settings nobody = {0};
	size_t n = argc == 2 ? strtoul(argv[1], NULL, 10) : SCRAPES_DEFAULT;
	unsigned int failures = 0;
	int r;

	if (argc > 2 || n == 0 || n > SCRAPES_MAX) {
		(void)fprintf(stderr, "usage: scrape_crowd [SCRAPES]\n");
		return 2;
	}
	r = measure(&nobody, "alone", n, &failures);
	if (r == 0)
		r = measure_all(NOBODY, "another user's", n, &failures);
	if (r == 0)
		r = measure_all(0, "the same user's", n, &failures);
	if (r < 0)
		(void)fprintf(stderr, "scrape_crowd: it could not be measured: %s\n", strerror(-r));
	return r < 0 || failures > 0;
}
