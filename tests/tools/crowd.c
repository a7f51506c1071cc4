// SPDX-License-Identifier: GPL-2.0
/*
 * Malicious or broken clients of the control socket:
 *   crowd SOCKET hold N [TEXT]    N connections that send nothing, or TEXT once, and stay open until the end of
 *                                 standard input
 *   crowd SOCKET call N TEXT      N connections, all open before each sends TEXT; waits for their answers, and
 *                                 counts the bytes of all that came, an answer or not
 *   crowd SOCKET send BYTES       one message of BYTES bytes without an end
 *   crowd SOCKET deaf N TEXT      one connection that sends TEXT N times and reads nothing until the end of
 *                                 standard input; waits until an answer has begun to arrive
 *
 * Prints the results as NAME=NUMBER.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 60 /* the daemon may get no CPU for long */

static struct sockaddr_un address = {.sun_family = AF_UNIX};

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void nap(void)
{
	(void)poll(NULL, 0, 2);
}

/* Connects, and waits while the listen queue is full. Returns -1 if it could not connect in time. */
static int enter(double until)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	while (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		if (errno != EAGAIN || now() > until) {
			(void)close(fd);
			return -1;
		}
		nap();
	}
	return fd;
}

static unsigned enter_all(int *fds, unsigned n)
{
	double until = now() + PATIENCE_S;
	unsigned in = 0;

	for (unsigned i = 0; i < n; i++) {
		fds[i] = enter(until);
		in += fds[i] >= 0;
	}
	return in;
}

static bool is_closed(int fd)
{
	struct pollfd look = {.fd = fd, .events = POLLIN | POLLRDHUP};

	return poll(&look, 1, 0) == 1 && (look.revents & (POLLHUP | POLLRDHUP | POLLERR));
}

static void wait_for_end_of_input(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static int hold(int *fds, unsigned n, const char *text)
{
	unsigned in = enter_all(fds, n), closed = 0;

	for (unsigned i = 0; i < n && text; i++)
		if (fds[i] >= 0)
			(void)!send(fds[i], text, strlen(text) + 1, MSG_NOSIGNAL);
	(void)printf("connected=%u\n", in);
	(void)fflush(stdout);
	wait_for_end_of_input();
	for (unsigned i = 0; i < n; i++)
		closed += fds[i] >= 0 && is_closed(fds[i]);
	(void)printf("closed=%u\n", closed);
	return 0;
}

/*
 * Receives one complete answer. Sets `ret_error` to whether the answer is an error. Adds the number of received
 * bytes to `bytes`, also if the answer is not complete.
 */
static bool receive(int fd, double until, bool *ret_error, unsigned long long *bytes)
{
	char text[65536];
	size_t length = 0;

	for (;;) {
		struct pollfd look = {.fd = fd, .events = POLLIN};
		double left = until - now();
		ssize_t got;

		if (left <= 0 || poll(&look, 1, (int)(left * 1000) + 1) <= 0)
			return false;
		got = recv(fd, text + length, sizeof(text) - length, 0);
		if (got <= 0)
			return false;
		length += (size_t)got;
		*bytes += (unsigned long long)got;
		if (memchr(text, '\0', length)) {
			*ret_error = strstr(text, "\"error\"") != NULL;
			return true;
		}
		/* Only the end of a long answer matters. */
		if (length == sizeof(text))
			length = 0;
	}
}

static int call(int *fds, unsigned n, const char *text)
{
	unsigned in = enter_all(fds, n), answered = 0, refused = 0;
	unsigned long long bytes = 0;
	double until = now() + PATIENCE_S;

	for (unsigned i = 0; i < n; i++)
		if (fds[i] >= 0)
			(void)!send(fds[i], text, strlen(text) + 1, MSG_NOSIGNAL);
	for (unsigned i = 0; i < n; i++) {
		bool error = false;

		if (fds[i] < 0 || !receive(fds[i], until, &error, &bytes))
			continue;
		answered += !error;
		refused += error;
	}
	(void)printf("connected=%u answered=%u refused=%u hung_up=%u bytes=%llu\n", in, answered, refused,
		     in - answered - refused, bytes);
	return 0;
}

/*
 * Sends `bytes` repeatedly, `most` bytes in total, or until the other end accepts no more for `wait_ms`. Returns
 * how many bytes it accepted.
 */
static unsigned long long push(int fd, const char *bytes, size_t size, unsigned long long most, int wait_ms)
{
	unsigned long long sent = 0;
	struct pollfd room = {.fd = fd, .events = POLLOUT};

	while (sent < most) {
		size_t more = most - sent < size ? (size_t)(most - sent) : size;
		ssize_t n = send(fd, bytes + sent % size, more - sent % size, MSG_NOSIGNAL);

		if (n > 0)
			sent += (unsigned long long)n;
		else if (errno != EAGAIN || poll(&room, 1, wait_ms) == 0)
			break;
	}
	return sent;
}

static int send_bytes(unsigned long long bytes)
{
	static char chunk[1 << 16];
	int fd = enter(now() + PATIENCE_S);
	bool error = false, answered;
	unsigned long long taken, got = 0;

	if (fd < 0)
		return 1;
	memset(chunk, 'x', sizeof(chunk));
	taken = push(fd, chunk, sizeof(chunk), bytes, PATIENCE_S * 1000);
	answered = receive(fd, now() + PATIENCE_S, &error, &got);
	(void)printf("taken=%llu refused=%d closed=%d\n", taken, answered && error, is_closed(fd));
	return 0;
}

static int deaf(unsigned n, const char *text)
{
	int fd = enter(now() + PATIENCE_S);
	size_t size = strlen(text) + 1;
	struct pollfd answer = {.fd = fd, .events = POLLIN};
	unsigned long long taken;
	int waits = 0;

	if (fd < 0)
		return 1;
	taken = push(fd, text, size, (unsigned long long)n * size, 1000);
	(void)poll(&answer, 1, PATIENCE_S * 1000);
	(void)ioctl(fd, FIONREAD, &waits);
	(void)printf("taken=%llu answered=%d\n", taken, waits > 0);
	(void)fflush(stdout);
	wait_for_end_of_input();
	(void)printf("closed=%d\n", is_closed(fd));
	return 0;
}

static int usage(void)
{
	(void)fprintf(stderr, "usage: crowd SOCKET hold N [TEXT] | call N TEXT | send BYTES | deaf N TEXT\n");
	return 2;
}

int main(int argc, char *argv[])
{
	struct rlimit limit;
	unsigned long long n;
	int *fds, code;

	if (argc < 4 || strlen(argv[1]) >= sizeof(address.sun_path))
		return usage();
	(void)stpcpy(address.sun_path, argv[1]);
	n = strtoull(argv[3], NULL, 10);
	if (strcmp(argv[2], "send") == 0)
		return send_bytes(n);
	if (strcmp(argv[2], "deaf") == 0 && argc == 5)
		return deaf((unsigned)n, argv[4]);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	fds = calloc(n + 1, sizeof(*fds));
	if (!fds)
		return 1;
	if (strcmp(argv[2], "hold") == 0)
		code = hold(fds, (unsigned)n, argc == 5 ? argv[4] : NULL);
	else
		code = strcmp(argv[2], "call") == 0 && argc == 5 ? call(fds, (unsigned)n, argv[4]) : usage();
	free(fds);
	return code;
}
