// SPDX-License-Identifier: GPL-2.0
/* pebsd's side of HTTP, with an attacker in control of the process that asks. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "endpoint.h"
#include "fake_clock.h"
#include "http/shared/http_channel.h"

static struct endpoint endpoint; /* only `broker`, `bodies` and `source` are used */
static sd_event *event;
static int channel[2];
static const char *failed;

static void on_failed(void *userdata, const char *why)
{
	(void)userdata;
	cr_assert_null(failed, "told once");
	failed = why;
}

static void start(void)
{
	static struct http_source source;
	static struct http_bodies bodies;
	struct http_broker_settings settings = {.source = &source, .bodies = &bodies, .failed = on_failed};

	endpoint.source = (struct endpoint_figures){.sequence = 1, .length = 1000};
	source = endpoint_source(&endpoint);
	http_bodies_init(&bodies, &source);
	endpoint.bodies = bodies;
	cr_assert_geq(sd_event_new(&event), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, channel), 0);
	settings.event = event;
	settings.socket = channel[0];
	failed = NULL;
	cr_assert_eq(http_broker_new(&settings, &endpoint.broker), 0);
}

static void stop(void)
{
	endpoint.broker = http_broker_free(endpoint.broker);
	event = sd_event_unref(event);
	(void)close(channel[0]);
	(void)close(channel[1]);
}

TestSuite(http_broker, .init = start, .fini = stop);

static void turn(int times)
{
	for (int i = 0; i < times; i++)
		cr_assert_geq(sd_event_run(event, 1000), 0);
}

static void ask(const struct http_message *question)
{
	cr_assert_eq(http_channel_send(channel[1], question, -1), 0);
}

/* Receives the next answer. Its text is valid until the next call. */
static int receive(struct http_message *ret, int *ret_fd)
{
	static u8 packet[HTTP_WIRE_MAX];
	int r = -EAGAIN;

	while (r == -EAGAIN) {
		turn(1);
		r = http_channel_receive(channel[1], packet, ret, ret_fd);
	}
	return r;
}

Test(http_broker, each_request_has_its_answer)
{
	struct http_message question = {.type = HTTP_ASK_BODY}, answer;
	struct stat st;
	u64 generation;
	int fd = -1;

	ask(&question);
	cr_assert_eq(receive(&answer, &fd), 1);
	cr_expect_eq(answer.type, HTTP_TELL_BODY);
	cr_expect_eq(answer.size, 1000);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_expect_eq(st.st_size, 1000);
	(void)close(fd);
	generation = answer.value;
	question.value = generation;
	ask(&question);
	cr_assert_eq(receive(&answer, &fd), 1);
	cr_expect_eq(answer.type, HTTP_TELL_SAME);
	cr_expect_lt(fd, 0);
	endpoint.source.sequence++;
	endpoint.source.metrics_error = -EMFILE;
	ask(&question);
	cr_assert_eq(receive(&answer, &fd), 1);
	cr_expect_eq(answer.type, HTTP_TELL_FAILED);
	cr_expect_eq(answer.error, EMFILE);
	endpoint.source.health_error = -EIO;
	ask(&(struct http_message){.type = HTTP_ASK_HEALTH});
	cr_assert_eq(receive(&answer, &fd), 1);
	cr_expect_eq(answer.type, HTTP_TELL_HEALTH);
	cr_expect_eq(answer.error, EIO);
	cr_expect_eq(answer.value, 0);
	cr_expect_str_eq(answer.text, "every event was refused");
	endpoint.source.works = true;
	ask(&(struct http_message){.type = HTTP_ASK_HEALTH});
	cr_assert_eq(receive(&answer, &fd), 1);
	cr_expect_eq(answer.error, EIO);
	cr_expect_eq(answer.value, 1);
	/* The source of this endpoint offers no profiles. */
	ask(&(struct http_message){.type = HTTP_ASK_PROFILE, .number = 7, .value = 1, .text = "/a"});
	cr_assert_eq(receive(&answer, &fd), 1);
	cr_expect_eq(answer.type, HTTP_TELL_REFUSED);
	cr_expect_eq(answer.number, 7);
	ask(&(struct http_message){.type = HTTP_LEAVE, .number = 12345});
	turn(3);
	cr_expect_null(failed);
}

Test(http_broker, an_invalid_request_ends_the_connection)
{
	static const char *const wrong[] = {"", "x", "GET / HTTP/1.1\r\n\r\n"};
	u8 packet[HTTP_WIRE_MAX + 1] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		cr_assert_geq(send(channel[1], wrong[i], strlen(wrong[i]), 0), 0);
		turn(3);
		cr_expect_not_null(failed, "'%s'", wrong[i]);
		stop();
		start();
	}
	cr_assert_gt(send(channel[1], packet, sizeof(packet), 0), 0);
	turn(3);
	cr_expect_str_eq(failed, "is ended, because it sent an invalid request");
	stop();
	start();
	/* The process sends a message of a type that only pebsd may send: an answer. */
	ask(&(struct http_message){.type = HTTP_TELL_SAME});
	turn(3);
	cr_expect_str_eq(failed, "is ended, because it sent an invalid request");
}

/* The number of open descriptors. */
static size_t descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The broker does not accept descriptors that the other process sends. */
Test(http_broker, descriptors_of_the_other_side_are_not_accepted)
{
	struct http_message answer;
	const size_t before = descriptors();
	int fd = -1;

	for (int i = 0; i < 20; i++) {
		cr_assert_eq(http_channel_send(channel[1], &(struct http_message){.type = HTTP_ASK_HEALTH},
					       channel[1]),
			     0);
		cr_assert_eq(receive(&answer, &fd), 1);
	}
	cr_expect_eq(descriptors(), before);
	cr_expect_null(failed);
}

/* Only one descriptor comes with a message, but the room for it is as large as for two. */
Test(http_broker, of_several_descriptors_in_a_message_only_one_is_received)
{
	union {
		struct cmsghdr head;
		u8 room[CMSG_SPACE(3 * sizeof(int))];
	} control;
	const int given[] = {channel[0], channel[1], STDERR_FILENO};
	u8 packet[HTTP_WIRE_MAX], received[HTTP_WIRE_MAX];
	const struct http_message message = {.type = HTTP_ASK_HEALTH};
	struct http_message answer;
	const size_t before = descriptors();

	for (size_t n = 1; n <= ARRAY_SIZE(given); n++) {
		struct iovec data = {.iov_base = packet, .iov_len = http_wire_write(&message, packet)};
		struct msghdr all = {.msg_iov = &data,
				     .msg_iovlen = 1,
				     .msg_control = &control,
				     .msg_controllen = CMSG_SPACE(n * sizeof(int))};
		int fd = -1;

		memset(&control, 0, sizeof(control));
		control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						.cmsg_type = SCM_RIGHTS,
						.cmsg_len = CMSG_LEN(n * sizeof(int))};
		memcpy(CMSG_DATA(&control.head), given, n * sizeof(int));
		cr_assert_gt(sendmsg(channel[0], &all, 0), 0);
		cr_assert_eq(http_channel_receive(channel[1], received, &answer, &fd), 1);
		cr_assert_geq(fd, 0, "%zu", n);
		(void)close(fd);
		cr_expect_eq(descriptors(), before, "%zu descriptors", n);
	}
}

Test(http_broker, a_side_that_reads_no_answers_is_closed)
{
	int asked = 0;

	while (!failed) {
		asked +=
			http_channel_send(channel[1], &(struct http_message){.type = HTTP_ASK_BODY}, -1) == 0;
		turn(1);
	}
	cr_assert_not_null(failed);
	cr_expect_str_eq(failed, "is ended, because it does not read its replies");
	cr_expect_lt(asked, 300, "%d", asked);
	cr_expect_eq(endpoint.source.rendered, 1);
}

/*
 * The number of answers is limited, however fast the other process asks. All requests together cause one
 * rendering.
 */
Test(http_broker, the_rate_of_answers_is_bounded)
{
	const unsigned int passes_ms = 2000;
	unsigned int answered = 0;

	fake_clock_stop();
	for (unsigned int ms = 0; ms <= passes_ms; ms += 10) {
		u8 packet[HTTP_WIRE_MAX];
		struct http_message answer;
		int fd;

		while (http_channel_send(channel[1], &(struct http_message){.type = HTTP_ASK_BODY}, -1) == 0)
			;
		while (sd_event_run(event, 0) > 0)
			while (http_channel_receive(channel[1], packet, &answer, &fd) == 1) {
				answered++;
				(void)close(fd);
			}
		if (ms == 0)
			cr_expect_leq(answered, HTTP_QUESTIONS_BURST + 1);
		fake_clock_advance(10 * NSEC_PER_MSEC);
	}
	cr_expect_null(failed, "%s", failed);
	cr_expect_leq(answered, HTTP_QUESTIONS_BURST + 1 + passes_ms * HTTP_QUESTIONS_PER_SECOND / 1000);
	cr_expect_gt(answered, HTTP_QUESTIONS_BURST + passes_ms * HTTP_QUESTIONS_PER_SECOND / 1000 / 2);
	cr_expect_eq(endpoint.source.rendered, 1);
}
