// SPDX-License-Identifier: GPL-2.0
/* What pebsd knows about the answers of pebsd-opener. A thread of the test answers instead of it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "origin/opener/opener_client.h"
#include "origin/opener/opener_socket.h"

#define REASON "the period is below the minimum"

static char directory[] = "/tmp/pebsd-test-XXXXXX";
static char path[64];
static int listening = -1;
static pthread_t opener;
static int answers; /* the opener hangs up after this many */

/* Refuses the first request, and answers all others with the kernel's -ENODEV. */
static void *answer_all(void *unused)
{
	_cleanup_close_ int fd = accept(listening, NULL, NULL);
	struct opener_answer answer = {.error = -EACCES, .reason = REASON};
	u8 bytes[OPENER_REQUEST_BYTES], sent[OPENER_ANSWER_BYTES];

	(void)unused;
	while (fd >= 0 && answers-- > 0 && recv(fd, bytes, sizeof(bytes), 0) > 0) {
		opener_wire_write_answer(&answer, sent);
		(void)opener_socket_send(fd, sent, sizeof(sent), NULL, 0);
		answer = (struct opener_answer){.error = -ENODEV};
	}
	return NULL;
}

static void begin(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	cr_assert_not_null(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/opener", directory);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	cr_assert_geq(listening, 0);
	cr_assert_eq(bind(listening, (const struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(listen(listening, 1), 0);
	opener_client_reset(path);
}

static void end(void)
{
	opener_client_reset(NULL);
	(void)shutdown(listening, SHUT_RDWR);
	(void)pthread_join(opener, NULL);
	cleanup_close(&listening);
	(void)unlink(path);
	(void)rmdir(directory);
}

TestSuite(opener_client, .init = begin, .fini = end);

static void start(int n)
{
	answers = n;
	cr_assert_eq(pthread_create(&opener, NULL, answer_all, NULL), 0);
}

static int ask(void)
{
	const struct opener_request request = {.target = OPENER_CPU, .cpu = 0, .thread = -1};

	return opener_client_open(&request, NULL);
}

struct asked {
	int result;
	enum opener_trouble trouble;
	char reason[OPENER_REASON_MAX];
};

static void *ask_there(void *userdata)
{
	struct asked *asked = userdata;

	asked->result = ask();
	asked->trouble = opener_client_trouble(asked->reason);
	return NULL;
}

/* Asks in another thread. */
static struct asked ask_elsewhere(void)
{
	struct asked asked;
	pthread_t other;

	cr_assert_eq(pthread_create(&other, NULL, ask_there, &asked), 0);
	cr_assert_eq(pthread_join(other, NULL), 0);
	return asked;
}

/* A calibration opens events in its own thread while pebsd opens others. */
Test(opener_client, a_thread_learns_why_its_own_request_failed)
{
	char reason[OPENER_REASON_MAX];
	struct asked other;

	start(2);
	cr_assert_eq(ask(), -ENOTCONN);
	other = ask_elsewhere();
	cr_expect_eq(other.result, -ENODEV);
	cr_expect_eq(other.trouble, OPENER_WELL);
	cr_expect_str_eq(other.reason, "");
	cr_expect_eq(opener_client_trouble(reason), OPENER_REFUSED);
	cr_expect_str_eq(reason, REASON);
}

Test(opener_client, an_answer_after_a_refusal_has_no_reason)
{
	char reason[OPENER_REASON_MAX];

	start(2);
	cr_assert_eq(ask(), -ENOTCONN);
	cr_expect_eq(ask(), -ENODEV);
	cr_expect_eq(opener_client_trouble(reason), OPENER_WELL);
	cr_expect_str_eq(reason, "");
}

/* In the pause after a failure, no request is sent. Each thread gets that failure as the reason. */
Test(opener_client, in_a_pause_each_thread_learns_of_the_failure)
{
	struct asked other;

	start(0);
	cr_assert_eq(ask(), -ENOTCONN);
	other = ask_elsewhere();
	cr_expect_eq(other.result, -ENOTCONN);
	cr_expect_eq(other.trouble, OPENER_GONE);
	cr_expect_str_eq(other.reason, "");
}

/* The number of open descriptors. */
static size_t descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A message with more descriptors than allowed is refused, and all of them are closed. */
Test(opener_socket, too_many_descriptors_are_closed)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(8 * sizeof(int))];
	} control;
	int sockets[2], received[OPENER_FDS_MAX];
	size_t before;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	before = descriptors();
	for (size_t n = OPENER_FDS_MAX + 1; n <= 8; n++) {
		char byte = 'x', bytes[8];
		struct iovec data = {.iov_base = &byte, .iov_len = 1};
		struct msghdr all = {.msg_iov = &data,
				     .msg_iovlen = 1,
				     .msg_control = &control,
				     .msg_controllen = CMSG_SPACE(n * sizeof(int))};
		size_t n_fds;

		memset(&control, 0, sizeof(control));
		control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						.cmsg_type = SCM_RIGHTS,
						.cmsg_len = CMSG_LEN(n * sizeof(int))};
		for (size_t i = 0; i < n; i++)
			memcpy(CMSG_DATA(&control.head) + i * sizeof(int), &sockets[0], sizeof(int));
		cr_assert_eq(sendmsg(sockets[0], &all, 0), 1);
		cr_expect_eq(opener_socket_receive(sockets[1], bytes, sizeof(bytes), received, &n_fds),
			     -EBADMSG);
		cr_expect_eq(n_fds, 0);
		cr_expect_eq(descriptors(), before, "%zu descriptors", n);
	}
	(void)close(sockets[0]);
	(void)close(sockets[1]);
}

/* Sets the limit so that no further descriptor can be opened. Returns the previous limit. */
static rlim_t leave_no_descriptor(void)
{
	struct rlimit limit;
	int next = dup(listening);
	rlim_t before;

	cr_assert_geq(next, 0);
	(void)close(next);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	before = limit.rlim_cur;
	limit.rlim_cur = (rlim_t)next;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

static void leave_descriptors(rlim_t most)
{
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = most;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* The message is complete. Only this process has no room for its descriptor. */
Test(opener_socket, a_lack_of_descriptors_is_not_taken_for_a_malformed_message)
{
	char byte = 'x', bytes[8];
	int sockets[2], received[OPENER_FDS_MAX];
	rlim_t before;
	size_t n_fds;

	listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	cr_assert_eq(opener_socket_send(sockets[0], &byte, 1, &sockets[0], 1), 0);
	before = leave_no_descriptor();
	cr_expect_eq(opener_socket_receive(sockets[1], bytes, sizeof(bytes), received, &n_fds), -EMFILE);
	leave_descriptors(before);
	cr_expect_eq(n_fds, 0);
	(void)close(sockets[0]);
	(void)close(sockets[1]);
	cleanup_close(&listening);
}

/* A request is answered with an event, but this process has no descriptor left for it. */
static void *answer_with_event(void *unused)
{
	_cleanup_close_ int fd = accept(listening, NULL, NULL);
	const struct opener_answer answer = {.error = 0};
	u8 bytes[OPENER_REQUEST_BYTES], sent[OPENER_ANSWER_BYTES];

	opener_wire_write_answer(&answer, sent);
	while (fd >= 0 && recv(fd, bytes, sizeof(bytes), 0) > 0)
		(void)opener_socket_send(fd, sent, sizeof(sent), &listening, 1);
	return unused;
}

Test(opener_client, a_lack_of_descriptors_is_named)
{
	char reason[OPENER_REASON_MAX];
	rlim_t before = leave_no_descriptor();
	int fd;

	cr_expect_eq(ask(), -EMFILE, "no socket can be created");
	cr_expect_eq(opener_client_trouble(reason), OPENER_WELL);
	leave_descriptors(before);
	cr_assert_eq(pthread_create(&opener, NULL, answer_with_event, NULL), 0);
	fd = ask();
	cr_assert_geq(fd, 0);
	before = leave_no_descriptor();
	cr_expect_eq(ask(), -EMFILE, "the event cannot be received");
	cr_expect_eq(opener_client_trouble(reason), OPENER_WELL);
	leave_descriptors(before);
	(void)close(fd);
	fd = ask();
	cr_expect_geq(fd, 0, "the connection is still good");
	(void)close(fd);
	opener_client_reset(path);
}
