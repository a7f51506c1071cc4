// SPDX-License-Identifier: GPL-2.0
/*
 * The process that speaks HTTP, run by this program as pebsd runs it. It must serve, and must have given up its
 * rights. pebsd must survive the end of this process, and the process must end with pebsd.
 */
#include <criterion/criterion.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "child/child.h"
#include "endpoint.h"
#include "http/http.h"
#include "http/server/http_confine.h"
#include "http/server/http_worker.h"

__attribute__((constructor)) static void work(int argc, char *argv[])
{
	if (argc == 2 && strcmp(argv[1], "--http") == 0)
		_exit(http_worker(STDIN_FILENO));
}

static struct endpoint figures; /* only the source is used */
static sd_event *event;
static struct http *http;
static u16 port;

static void begin_at(const struct listen_address *listen)
{
	struct http_settings settings = {.hosts = "", .program = "/proc/self/exe"};
	struct http_source source = endpoint_source(&figures);
	_cleanup_free_ char *message = NULL;
	struct http_sockets sockets;
	int bound;

	figures.source = (struct endpoint_figures){.sequence = 1, .length = ENDPOINT_BODY_LENGTH};
	cr_assert_geq(sd_event_new(&event), 0);
	settings.event = event;
	cr_assert_eq(http_sockets_open(listen, NULL, &sockets, &message), 0, "%s", message);
	bound = http_sockets_port(&sockets);
	port = bound > 0 ? (u16)bound : 0;
	cr_assert_eq(http_new(&settings, &sockets, &source, &http, &message), 0, "%s", message);
}

static void begin(void)
{
	const struct listen_address any_port = endpoint_loopback(0);

	begin_at(&any_port);
}

static void end(void)
{
	http = http_free(http);
	event = sd_event_unref(event);
}

TestSuite(http_worker, .init = begin, .fini = end);

static int connect_to(const struct sockaddr *address, socklen_t length)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert_geq(fd, 0);
	cr_assert_eq(connect(fd, address, length), 0, "%s", strerror(errno));
	return fd;
}

static int connect_to_port(void)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	return connect_to((const struct sockaddr *)&address, sizeof(address));
}

/* Returns the length of the whole answer, and its beginning in `ret`. */
static size_t read_answer(int fd, char ret[static 512])
{
	static char room[65536];
	size_t length = 0;

	*ret = '\0';
	for (;;) {
		ssize_t n;

		cr_assert_geq(sd_event_run(event, 1000), 0);
		n = recv(fd, room, sizeof(room), MSG_DONTWAIT);
		if (n > 0 && length < 511) {
			size_t part = (size_t)n < 511 - length ? (size_t)n : 511 - length;

			memcpy(ret + length, room, part);
			ret[length + part] = '\0';
		}
		if (n > 0)
			length += (size_t)n;
		else if (n == 0 || errno != EAGAIN)
			break;
	}
	(void)close(fd);
	return length;
}

static size_t get_from(int fd, const char *path, char ret[static 512])
{
	char request[256];
	int length = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path);

	cr_assert_eq(send(fd, request, (size_t)length, MSG_NOSIGNAL), length);
	return read_answer(fd, ret);
}

static void expect_scrape(void)
{
	char answer[512];
	size_t length = get_from(connect_to_port(), "/metrics", answer);

	cr_expect(strncmp(answer, "HTTP/1.1 200 ", 13) == 0, "%s", answer);
	cr_expect_gt(length, ENDPOINT_BODY_LENGTH);
}

/* Returns the text after `key` in /proc/PID/status. */
static const char *status_of(pid_t pid, const char *key)
{
	static char line[256];
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	cr_assert_not_null(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':') {
			(void)fclose(file);
			line[strcspn(line, "\n")] = '\0';
			return line + strlen(key) + 1 + strspn(line + strlen(key) + 1, "\t ");
		}
	(void)fclose(file);
	return "";
}

Test(http_worker, the_process_serves_without_privileges)
{
	char path[64], link[256];
	const struct dirent *entry;
	size_t n = 0;
	DIR *directory;

	expect_scrape();
	cr_expect_eq(figures.source.rendered, 1);
	expect_scrape();
	cr_expect_eq(figures.source.rendered, 1);
	cr_expect_str_eq(status_of(http_pid(http), "CapEff"), "0000000000000000");
	cr_expect_str_eq(status_of(http_pid(http), "CapPrm"), "0000000000000000");
	cr_expect_str_eq(status_of(http_pid(http), "CapInh"), "0000000000000000");
	cr_expect_str_eq(status_of(http_pid(http), "CapAmb"), "0000000000000000");
	cr_expect_str_eq(status_of(http_pid(http), "NoNewPrivs"), "1");
	cr_expect_str_eq(status_of(http_pid(http), "Seccomp"), "2");
	cr_expect_str_eq(status_of(http_pid(http), "Threads"), "1");
	(void)snprintf(path, sizeof(path), "/proc/%d/fd", http_pid(http));
	directory = opendir(path);
	cr_assert_not_null(directory);
	while ((entry = readdir(directory))) {
		ssize_t length = readlinkat(dirfd(directory), entry->d_name, link, sizeof(link) - 1);

		if (length < 0)
			continue;
		link[length] = '\0';
		n++;
		cr_expect_null(strstr(link, "bpf"), "%s", link);
		cr_expect_null(strstr(link, "perf"), "%s", link);
	}
	(void)closedir(directory);
	cr_expect_lt(n, 16, "%zu descriptors", n);
}

/*
 * The process is killed twice. It is started again each time, and the next scrape waits for it.
 */
Test(http_worker, a_killed_process_is_started_again)
{
	for (u64 restarts = 1; restarts <= 2; restarts++) {
		pid_t before = http_pid(http);

		expect_scrape();
		cr_assert_eq(kill(before, SIGKILL), 0);
		expect_scrape();
		cr_expect_eq(http_restarts(http), restarts);
		cr_expect_neq(http_pid(http), before);
	}
}

Test(http_worker, a_process_killed_while_sending_is_started_again)
{
	char answer[512];
	int fd = connect_to_port(), small = 4096;

	figures.source.length = 8UL << 20;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	cr_assert_gt(send(fd, "GET /metrics HTTP/1.0\r\n\r\n", 25, MSG_NOSIGNAL), 0);
	while (figures.source.rendered == 0)
		cr_assert_geq(sd_event_run(event, 1000), 0);
	for (int i = 0; i < 100; i++)
		cr_assert_geq(sd_event_run(event, 1000), 0);
	cr_assert_eq(kill(http_pid(http), SIGKILL), 0);
	cr_expect_lt(read_answer(fd, answer), 8UL << 20);
	expect_scrape();
}

/*
 * The process is stopped, as by a debugger. pebsd continues, and requests are served when the process
 * continues.
 */
Test(http_worker, a_stopped_process_does_not_block_pebsd)
{
	pid_t pid = http_pid(http);
	char answer[512];
	int fd;

	expect_scrape();
	cr_assert_eq(kill(pid, SIGSTOP), 0);
	fd = connect_to_port();
	for (int i = 0; i < 100; i++)
		cr_assert_geq(sd_event_run(event, 1000), 0);
	cr_assert_eq(kill(pid, SIGCONT), 0);
	(void)get_from(fd, "/healthz", answer);
	cr_expect(strncmp(answer, "HTTP/1.1 200 ", 13) == 0, "%s", answer);
	cr_expect_eq(http_restarts(http), 0);
}

static void note(void *userdata)
{
	*(bool *)userdata = true;
}

/* A client whose connection was accepted gets its answer. A later client waits for the next process. */
Test(http_worker, at_the_end_accepted_clients_get_their_answer)
{
	static const char rest[] = "thz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
	int early = connect_to_port(), late;
	bool stopped = false;
	char answer[512], byte;

	/* The connection is accepted, but the request is not complete. */
	expect_scrape();
	cr_assert_eq(send(early, "GET /heal", 9, MSG_NOSIGNAL), 9);
	cr_assert_eq(http_stop(http, note, &stopped), 0);
	for (int i = 0; i < 20; i++)
		cr_assert_geq(sd_event_run(event, 1000), 0);
	late = connect_to_port();
	cr_assert_eq(send(early, rest, sizeof(rest) - 1, MSG_NOSIGNAL), (ssize_t)sizeof(rest) - 1);
	(void)read_answer(early, answer);
	cr_expect(strncmp(answer, "HTTP/1.1 200 ", 13) == 0, "%s", answer);
	while (!stopped)
		cr_assert_geq(sd_event_run(event, 1000), 0);
	cr_expect_eq(recv(late, &byte, 1, MSG_DONTWAIT), -1);
	cr_expect_eq(errno, EAGAIN);
	cr_expect_eq(http_restarts(http), 0);
	(void)close(late);
}

/* A client that sends nothing does not keep pebsd from ending. */
Test(http_worker, the_end_does_not_wait_for_silent_clients)
{
	int fd = connect_to_port();
	bool stopped = false;

	expect_scrape();
	cr_assert_eq(http_stop(http, note, &stopped), 0);
	while (!stopped)
		cr_assert_geq(sd_event_run(event, 10000), 0);
	(void)close(fd);
}

/* The process also ends if its parent is killed. */
Test(http_worker, the_process_ends_with_pebsd, .init = NULL, .fini = NULL)
{
	int pipe_ends[2];
	pid_t parent, child = 0;

	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	cr_assert_eq(pipe(pipe_ends), 0);
	parent = fork();
	if (parent == 0) {
		begin();
		expect_scrape();
		child = http_pid(http);
		(void)!write(pipe_ends[1], &child, sizeof(child));
		(void)kill(getpid(), SIGKILL);
	}
	cr_assert_eq(read(pipe_ends[0], &child, sizeof(child)), sizeof(child));
	cr_assert_eq(waitpid(parent, NULL, 0), parent);
	cr_assert_eq(waitpid(child, NULL, 0), child, "ends, and is this process' to wait for");
}

Test(http_worker, a_unix_socket_is_served)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct listen_address listen;
	char text[100], answer[512];

	(void)snprintf(text, sizeof(text), "unix:/tmp/test_http_worker.%d/metrics.sock", getpid());
	cr_assert_eq(listen_address_parse(text, &listen), 0);
	/*
	 * End the endpoint that the `.init` of the suite began. `.init = NULL` in a test does not replace it.
	 */
	end();
	begin_at(&listen);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", listen.address.local.sun_path);
	cr_expect_gt(get_from(connect_to((struct sockaddr *)&address, sizeof(address)), "/metrics", answer),
		     ENDPOINT_BODY_LENGTH);
	cr_expect(strncmp(answer, "HTTP/1.1 200 ", 13) == 0, "%s", answer);
	cr_expect_gt(get_from(connect_to((struct sockaddr *)&address, sizeof(address)), "/", answer), 0);
	cr_expect(strncmp(answer, "HTTP/1.1 200 ", 13) == 0, "%s", answer);
	http = http_free(http);
	cr_expect_lt(access(address.sun_path, F_OK), 0, "removed");
	*strrchr(address.sun_path, '/') = '\0';
	(void)rmdir(address.sun_path);
}

static int tries; /* calls tried so far; when one is permitted, this is its number */

static bool refused(long result)
{
	tries++;
	return result == -1 && errno == EPERM;
}

/*
 * Tries everything that could harm others, from inside the confined process. Returns 0, or a number that
 * identifies the call that was permitted.
 */
static int try_all(bool any_local)
{
	static const struct sockaddr_un nowhere = {.sun_family = AF_UNIX};
	union bpf_attr bpf = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
	struct perf_event_attr perf = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(perf)};
	const int listener = CHILD_PASSED_FIRST, one = 1;
	struct msghdr nothing = {.msg_iov = NULL};
	const struct rlimit limit = {0, 0};
	char *const nobody[] = {NULL};

	if (accept4(listener, NULL, NULL, SOCK_NONBLOCK) != -1 || errno != EAGAIN)
		return 1000;
	if (any_local ? !refused(sendmsg(STDIN_FILENO, &nothing, 0))
		      : sendmsg(STDIN_FILENO, &nothing, MSG_DONTWAIT) < 0)
		return 1001;
	tries = 0;
	/* The listening socket, which the next process still needs. */
	if (!refused(shutdown(listener, SHUT_RDWR)) || !refused(listen(listener, 0)) ||
	    !refused(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &one, sizeof(one))) ||
	    !refused(fcntl(listener, F_SETFL, 0)) || !refused(ioctl(listener, 0)) ||
	    !refused(connect(listener, (const struct sockaddr *)&nowhere, sizeof(nowhere))) ||
	    !refused(bind(listener, (const struct sockaddr *)&nowhere, sizeof(nowhere))) ||
	    /* the listening socket under another number */
	    !refused(dup(listener)) || !refused(dup2(listener, 100)) || !refused(dup3(listener, 100, 0)) ||
	    !refused(fcntl(listener, F_DUPFD, 100)) || !refused(fcntl(listener, F_DUPFD_CLOEXEC, 100)) ||
	    !refused(syscall(SYS_pidfd_getfd, listener, listener, 0)))
		return tries;
	if (!refused(syscall(SYS_bpf, BPF_MAP_CREATE, &bpf, sizeof(bpf))) ||
	    !refused(syscall(SYS_perf_event_open, &perf, 0, -1, -1, 0)) ||
	    !refused(open("/etc/passwd", O_RDONLY | O_CLOEXEC)) || !refused(openat(AT_FDCWD, "/", O_PATH)) ||
	    !refused(socket(AF_INET, SOCK_STREAM, 0)) || !refused(socket(AF_UNIX, SOCK_STREAM, 0)) ||
	    !refused(fork()) || !refused(execve("/bin/true", nobody, nobody)) ||
	    !refused(kill(getppid(), 0)) || !refused(ptrace(PTRACE_TRACEME, 0, 0, 0)) ||
	    !refused(syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0)) ||
	    !refused(setrlimit(RLIMIT_NOFILE, &limit)) || !refused(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)) ||
	    !refused(setuid(0)) || !refused(memfd_create("x", 0)) || !refused(unlink("/nothing")) ||
	    !refused((long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
		return 100 + tries;
	/* This is more memory than the limit allows. */
	if (mmap(NULL, HTTP_CONFINE_DATA + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED)
		return 200;
	return 0;
}

static int try_in_a_process(bool any_local)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		int pair[2], listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0 || listener < 0 ||
		    bind(listener, (const struct sockaddr *)&(struct sockaddr_un){.sun_family = AF_UNIX},
			 sizeof(sa_family_t)) < 0 ||
		    listen(listener, 1) < 0 || dup2(listener, CHILD_PASSED_FIRST) < 0 ||
		    dup2(pair[0], STDIN_FILENO) < 0)
			_exit(250);
		if (http_confine(CHILD_PASSED_FIRST, any_local) < 0)
			_exit(251);
		_exit(try_all(any_local) & 0xff);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status), "%x", (unsigned int)status);
	return WEXITSTATUS(status);
}

Test(http_worker, the_process_cannot_use_forbidden_calls, .init = NULL, .fini = NULL)
{
#ifdef __SANITIZE_ADDRESS__
	cr_skip_test("the address sanitizer needs calls that are refused else");
#endif
	cr_expect_eq(try_in_a_process(false), 0, "%d", try_in_a_process(false));
	cr_expect_eq(try_in_a_process(true), 0, "%d", try_in_a_process(true));
}
