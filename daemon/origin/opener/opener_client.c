// SPDX-License-Identifier: GPL-2.0
#include "origin/opener/opener_client.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "origin/opener/opener_socket.h"

/*
 * The only connection of the process. It is global because events are opened deep inside origins, zooms and
 * calibrations, and all of them use the same connection.
 */
static struct {
	pthread_mutex_t lock;
	const char *path;
	int fd; /* -1: not connected */
	bool asked_before;
	unsigned failures; /* failures since the last answer */
	u64 not_before_ns; /* after a failure, no request is sent before this time */
	enum opener_trouble trouble;
	char reason[OPENER_REASON_MAX]; /* of OPENER_REFUSED; else "" */
} client = {.lock = PTHREAD_MUTEX_INITIALIZER, .path = OPENER_SOCKET, .fd = -1};

/* Copied after each request of the thread: another thread's answer may come before this one reads them. */
static _Thread_local struct {
	enum opener_trouble trouble;
	char reason[OPENER_REASON_MAX];
} last;

/* The caller holds the lock. */
static void remember(void)
{
	last.trouble = client.trouble;
	memcpy(last.reason, client.reason, sizeof(last.reason));
}

static void hang_up(void)
{
	if (client.fd >= 0)
		(void)close(client.fd);
	client.fd = -1;
}

static int fail(enum opener_trouble trouble)
{
	hang_up();
	client.trouble = trouble;
	client.reason[0] = '\0';
	/*
	 * No pause if the socket or the permission is missing: it is not a failure of pebsd-opener, and
	 * another request costs little.
	 */
	if (trouble != OPENER_NO_SOCKET && trouble != OPENER_NOT_OURS)
		client.not_before_ns = monotonic_ns() + (OPENER_PAUSE_MS * NSEC_PER_MSEC
							 << (client.failures < 4 ? client.failures++ : 4));
	return -ENOTCONN;
}

/* This process has no descriptor left. pebsd-opener is not at fault, and the connection stays good. */
static int lack(int error)
{
	client.trouble = OPENER_WELL;
	client.reason[0] = '\0';
	return error;
}

/* Connects without waiting. A full queue (-EAGAIN) means that pebsd-opener hangs. */
static int connect_now(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		return lack(-errno);
	if (fd < 0 || strlen(client.path) >= sizeof(address.sun_path))
		return fail(OPENER_NO_SOCKET);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", client.path);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return fail(errno == EACCES || errno == EPERM ? OPENER_NOT_OURS
			    : errno == EAGAIN                 ? OPENER_SILENT
							      : OPENER_NO_SOCKET);
	client.fd = TAKE_FD(fd);
	return 0;
}

static int take_answer(void)
{
	u8 bytes[OPENER_ANSWER_BYTES];
	struct opener_answer answer;
	int fds[OPENER_FDS_MAX];
	size_t n_fds;
	ssize_t size = opener_socket_receive(client.fd, bytes, sizeof(bytes), fds, &n_fds);

	if (size == -EMFILE)
		return lack(-EMFILE);
	if (size <= 0)
		return fail(size == -EBADMSG ? OPENER_GARBLED : OPENER_GONE);
	if (opener_wire_read_answer(bytes, (size_t)size, n_fds, &answer) < 0) {
		for (size_t i = 0; i < n_fds; i++)
			(void)close(fds[i]);
		return fail(OPENER_GARBLED);
	}
	client.failures = 0;
	client.not_before_ns = 0;
	memcpy(client.reason, answer.reason, sizeof(client.reason));
	client.trouble = answer.reason[0] ? OPENER_REFUSED : OPENER_WELL;
	if (answer.error < 0)
		return answer.reason[0] ? -ENOTCONN : answer.error;
	return fds[0];
}

static int wait_for_answer(int wait_ms)
{
	const u64 until_ns = monotonic_ns() + (unsigned)wait_ms * NSEC_PER_MSEC;

	for (;;) {
		struct pollfd wait = {.fd = client.fd, .events = POLLIN};
		const u64 now = monotonic_ns();
		const int left_ms = now < until_ns ? (int)((until_ns - now) / NSEC_PER_MSEC) + 1 : 0;
		int r = left_ms ? poll(&wait, 1, left_ms) : 0;

		if (r > 0)
			return take_answer();
		if (r == 0)
			return fail(OPENER_SILENT);
		if (errno != EINTR)
			return fail(OPENER_GONE);
	}
}

static int ask(const u8 bytes[OPENER_REQUEST_BYTES], const int *fds, size_t n_fds)
{
	const int wait_ms = !client.asked_before ? OPENER_START_MS
			    : client.fd < 0      ? OPENER_CONNECT_MS
						 : OPENER_ANSWER_MS;
	int r;

	r = client.fd < 0 ? connect_now() : 0;
	if (r < 0)
		return r;
	client.asked_before = true;
	r = opener_socket_send(client.fd, bytes, OPENER_REQUEST_BYTES, fds, n_fds);
	if (r < 0)
		return fail(OPENER_GONE);
	return wait_for_answer(wait_ms);
}

int opener_client_open(const struct opener_request *request, const int *fds)
{
	const size_t n_fds = opener_wire_request_fds(request);
	u8 bytes[OPENER_REQUEST_BYTES];
	int r = -ENOTCONN;

	opener_wire_write_request(request, bytes);
	(void)pthread_mutex_lock(&client.lock);
	if (monotonic_ns() >= client.not_before_ns) {
		const bool was_connected = client.fd >= 0;

		r = ask(bytes, fds, n_fds);
		/* pebsd-opener may have ended because it was idle. Connecting again starts it. */
		if (r == -ENOTCONN && was_connected && client.trouble == OPENER_GONE)
			r = ask(bytes, fds, n_fds);
	}
	remember();
	(void)pthread_mutex_unlock(&client.lock);
	return r;
}

enum opener_trouble opener_client_trouble(char ret_reason[OPENER_REASON_MAX])
{
	memcpy(ret_reason, last.reason, sizeof(last.reason));
	return last.trouble;
}

void opener_client_reset(const char *path)
{
	(void)pthread_mutex_lock(&client.lock);
	hang_up();
	client.path = path ? path : OPENER_SOCKET;
	client.asked_before = false;
	client.failures = 0;
	client.not_before_ns = 0;
	client.trouble = OPENER_WELL;
	client.reason[0] = '\0';
	remember();
	(void)pthread_mutex_unlock(&client.lock);
}
