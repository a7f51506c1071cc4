// SPDX-License-Identifier: GPL-2.0
/*
 * A thousand slow clients of each kind next to scrapes. The process that speaks HTTP runs as pebsd runs it.
 * `make bench-scrape-crowd` measures how long a scrape then takes.
 */
#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "bench_socket.h"
#include "endpoint.h"
#include "http/http.h"
#include "http/server/http_confine.h"
#include "http/server/http_worker.h"
#include "http/shared/http_wire.h"
#include "http_crowd.h"

#define CLIENTS   1000
#define SCRAPES   6
#define LONG_BODY (4UL << 20) /* more than the kernel buffers for a client that does not read */
#define NOBODY    65534

__attribute__((constructor)) static void work(int argc, char *argv[])
{
	if (argc == 2 && strcmp(argv[1], "--http") == 0)
		_exit(http_worker(STDIN_FILENO));
}

static struct endpoint figures; /* only the source is used */
static sd_event *event;
static struct http *http;
static u16 port;

static void begin(void)
{
	const struct listen_address any_port = endpoint_loopback(0);
	struct http_settings settings = {.hosts = "", .program = "/proc/self/exe"};
	struct http_source source = endpoint_source(&figures);
	_cleanup_free_ char *message = NULL;
	struct http_sockets sockets;

	figures.source = (struct endpoint_figures){.sequence = 1, .length = LONG_BODY};
	cr_assert_geq(sd_event_new(&event), 0);
	settings.event = event;
	cr_assert_eq(http_sockets_open(&any_port, NULL, &sockets, &message), 0, "%s", message);
	port = (u16)http_sockets_port(&sockets);
	cr_assert_eq(http_new(&settings, &sockets, &source, &http, &message), 0, "%s", message);
}

static void end(void)
{
	http = http_free(http);
	event = sd_event_unref(event);
}

TestSuite(http_crowd, .init = begin, .fini = end, .timeout = 600);

/*
 * Scrapes in a process of its own. The exit code is the number of complete answers. bench_scrape() has a
 * generous time limit.
 */
static void __attribute__((noreturn)) scrape_all(void)
{
	int answered = 0;

	for (int i = 0; i < SCRAPES; i++) {
		struct bench_scrape got = {0};

		answered += bench_scrape(port, false, &got) == 0 && got.bytes == LONG_BODY;
	}
	_exit(answered);
}

static size_t count_descriptors(pid_t pid)
{
	char path[64];
	size_t n = 0;
	DIR *directory;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	directory = opendir(path);
	cr_assert_not_null(directory);
	while (readdir(directory))
		n++;
	(void)closedir(directory);
	return n - 2; /* without . and .. */
}

#ifndef __SANITIZE_ADDRESS__ /* most of the process's memory would be the sanitizer's */
/* Returns the anonymous memory of the process in KiB. */
static unsigned long memory_of(pid_t pid)
{
	unsigned long memory = 0;
	char line[256];
	FILE *file;

	(void)snprintf(line, sizeof(line), "/proc/%d/status", pid);
	file = fopen(line, "re");
	cr_assert_not_null(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, "RssAnon:", 8) == 0)
			memory = strtoul(line + 8, NULL, 10);
	(void)fclose(file);
	return memory;
}
#endif

static void expect_scrapes_beside(enum http_crowd_kind kind)
{
	struct http_crowd_settings settings = {.port = port, .user = getuid() == 0 ? NOBODY : 0};
	struct http_crowd crowd;
	int status = 0;
	pid_t scraper;

	settings.n[kind] = CLIENTS;
	cr_assert_eq(http_crowd_start(&settings, &crowd), 0);
	/* Wait until the crowd has connected. */
	for (u64 due = monotonic_ns() + 2 * NSEC_PER_SEC; monotonic_ns() < due;)
		cr_assert_geq(sd_event_run(event, 10000), 0);
	scraper = fork();
	if (scraper == 0)
		scrape_all();
	while (waitpid(scraper, &status, WNOHANG) == 0)
		cr_assert_geq(sd_event_run(event, 10000), 0);
	cr_expect_eq(WEXITSTATUS(status), SCRAPES, "%d of %d scrapes answered beside %d clients: %s",
		     WEXITSTATUS(status), SCRAPES, CLIENTS, http_crowd_name(kind));
	cr_expect_leq(count_descriptors(http_pid(http)), HTTP_CONFINE_FILES);
#ifndef __SANITIZE_ADDRESS__
	cr_expect_leq(memory_of(http_pid(http)), HTTP_CONFINE_DATA >> 10);
#endif
	cr_expect_eq(http_restarts(http), 0);
	(void)http_crowd_stop(&crowd);
}

Test(http_crowd, silent_clients_do_not_block_others)
{
	expect_scrapes_beside(HTTP_CROWD_SILENT);
}

Test(http_crowd, slowly_sending_clients_do_not_block_others)
{
	expect_scrapes_beside(HTTP_CROWD_DRIP);
}

Test(http_crowd, clients_that_do_not_read_do_not_block_others)
{
	expect_scrapes_beside(HTTP_CROWD_DEAF);
}

Test(http_crowd, slowly_reading_clients_do_not_block_others)
{
	expect_scrapes_beside(HTTP_CROWD_SIP);
}

static int option_of(int fd, int level, int name)
{
	socklen_t length = sizeof(int);
	int value = -1;

	cr_assert_eq(getsockopt(fd, level, name, &value, &length), 0);
	return value;
}

/* The memory that the kernel uses for a connection is bounded from the beginning. */
Test(http_crowd, kernel_memory_of_a_connection_is_bounded, .init = NULL, .fini = NULL)
{
	const struct listen_address any_port = endpoint_loopback(0);
	_cleanup_free_ char *message = NULL;
	_cleanup_close_ int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	_cleanup_close_ int accepted = -1;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	static const char bytes[65536];
	u32 held[SK_MEMINFO_VARS] = {0};
	socklen_t length = sizeof(held);
	_cleanup_(http_sockets_close) struct http_sockets sockets;
	bool sent = false;

	cr_assert_eq(http_sockets_open(&any_port, NULL, &sockets, &message), 0, "%s", message);
	address.sin_port = htons((u16)http_sockets_port(&sockets));
	cr_assert_eq(connect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
	accepted = accept(sockets.fds[0], NULL, NULL);
	cr_assert_geq(accepted, 0);
	cr_expect_eq(option_of(accepted, SOL_SOCKET, SO_SNDBUF), 2 * HTTP_SOCKETS_SENDING);
	cr_expect_eq(option_of(accepted, SOL_SOCKET, SO_RCVBUF), 2 * HTTP_SOCKETS_RECEIVING);
	cr_expect_eq(option_of(accepted, IPPROTO_TCP, TCP_USER_TIMEOUT), HTTP_SOCKETS_LINGER_MS);
	/* Fill the buffers in both directions: neither side reads. */
	while (send(accepted, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		sent = true;
	while (send(client, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
	cr_assert(sent);
	cr_assert_eq(getsockopt(accepted, SOL_SOCKET, SO_MEMINFO, held, &length), 0);
	cr_expect_leq(held[SK_MEMINFO_WMEM_QUEUED] + held[SK_MEMINFO_RMEM_ALLOC], HTTP_SOCKETS_KERNEL_BYTES,
		      "%u and %u", held[SK_MEMINFO_WMEM_QUEUED], held[SK_MEMINFO_RMEM_ALLOC]);
}
