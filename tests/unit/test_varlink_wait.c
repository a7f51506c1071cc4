// SPDX-License-Identifier: GPL-2.0
/* Calls whose answer is not known yet: varlink_wait() and varlink_server_retry(). */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/json_get.h"
#include "fake_clock.h"
#include "varlink/varlink.h"
#include "varlink/varlink_budget.h"
#include "varlink/varlink_message.h"
#include "varlink_peer.h"

static sd_event *event;
static struct varlink_server *server;
static char path[] = "/tmp/pebsd-varlink-wait-XXXXXX";
static char socket_path[64];
static bool known; /* what Ask waits for */
static unsigned asked, echoed;

/* Replies with its parameters once they are `known`. */
static int ask(struct varlink_call *call, json_object *parameters, void *userdata)
{
	(void)userdata;
	asked++;
	if (!known) {
		int r = varlink_wait(call);

		return r == -ETIME ? varlink_error(call, "org.example.test.Late", NULL) : r;
	}
	return varlink_reply(call, json_object_get(parameters));
}

static int echo(struct varlink_call *call, json_object *parameters, void *userdata)
{
	(void)userdata;
	echoed++;
	return varlink_reply(call, json_object_get(parameters));
}

static int big(struct varlink_call *call, json_object *parameters, void *userdata)
{
	char *text = malloc(1000001);
	json_object *reply = json_object_new_object();

	(void)parameters;
	(void)userdata;
	memset(text, 'x', 1000000);
	text[1000000] = '\0';
	json_object_object_add(reply, "text", json_object_new_string(text));
	free(text);
	return varlink_reply(call, reply);
}

static const struct varlink_method methods[] = {
	{.name = "Ask", .handle = ask},
	{.name = "Echo", .handle = echo},
	{.name = "Big", .handle = big},
};

static const struct varlink_service service = {
	.vendor = "v",
	.product = "p",
	.version = "1",
	.url = "u",
	.interface = "org.example.test",
	.description = "interface org.example.test\n",
	.methods = methods,
	.n_methods = ARRAY_SIZE(methods),
};

static void start(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	cr_assert_not_null(mkdtemp(path));
	(void)snprintf(socket_path, sizeof(socket_path), "%s/socket", path);
	(void)stpcpy(address.sun_path, socket_path);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(listen(fd, 100), 0);
	cr_assert_geq(sd_event_new(&event), 0);
	cr_assert_eq(varlink_server_new(event, fd, &service, &server), 0);
}

static void stop(void)
{
	server = varlink_server_free(server);
	event = sd_event_unref(event);
	(void)unlink(socket_path);
	(void)rmdir(path);
}

TestSuite(varlink_wait, .init = start, .fini = stop);

#define CALL(method, text) "{\"method\":\"org.example.test." method "\",\"parameters\":{\"a\":\"" text "\"}}"
#define REPLY(text)        "{\"parameters\":{\"a\":\"" text "\"}}"
#define LATE               "{\"error\":\"org.example.test.Late\"}"

static void expect_answer(int fd, const char *answer)
{
	_cleanup_free_ char *got = peer_receive(event, fd, NULL);

	cr_expect_str_eq(got ? got : "(no answer)", answer);
}

static bool has_answer(int fd)
{
	char byte;

	peer_settle(event);
	return recv(fd, &byte, 1, MSG_PEEK) > 0;
}

Test(varlink_wait, each_waiting_call_is_answered_after_a_retry)
{
	int fds[5];

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = peer_connect(socket_path);
		peer_call(event, fds[i], CALL("Ask", "1"));
		cr_expect_not(has_answer(fds[i]));
	}
	cr_expect_eq(asked, ARRAY_SIZE(fds), "a waiting call runs once");
	/* Nothing is known yet: they wait on. */
	varlink_server_retry(server);
	peer_settle(event);
	cr_expect_eq(asked, 2 * ARRAY_SIZE(fds));
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		cr_expect_not(has_answer(fds[i]));
	known = true;
	varlink_server_retry(server);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		expect_answer(fds[i], REPLY("1"));
		(void)close(fds[i]);
	}
	peer_settle(event);
	varlink_server_retry(server);
	peer_settle(event);
	cr_expect_eq(asked, 3 * ARRAY_SIZE(fds), "answered calls do not run again");
}

Test(varlink_wait, other_connections_are_served_while_a_call_waits)
{
	_cleanup_close_ int waits = peer_connect(socket_path), other = peer_connect(socket_path);

	peer_call(event, waits, CALL("Ask", "1"));
	peer_call(event, waits, CALL("Echo", "2"));
	cr_expect_not(has_answer(waits));
	cr_expect_eq(echoed, 0U);
	peer_expect(event, other, CALL("Echo", "3"), REPLY("3"));
	known = true;
	varlink_server_retry(server);
	expect_answer(waits, REPLY("1"));
	expect_answer(waits, REPLY("2"));
}

Test(varlink_wait, client_that_shut_down_its_writing_side_gets_the_answer)
{
	_cleanup_close_ int fd = peer_connect(socket_path);
	int closed;

	peer_call(event, fd, CALL("Ask", "1"));
	cr_assert_eq(shutdown(fd, SHUT_WR), 0);
	cr_expect_not(has_answer(fd)); /* the loop is idle, so it does not spin */
	known = true;
	varlink_server_retry(server);
	expect_answer(fd, REPLY("1"));
	cr_expect_null(peer_receive(event, fd, &closed));
	cr_expect(closed);
}

/* All connections are in use, so a further client is served only if those of the gone clients are free again. */
Test(varlink_wait, client_that_hung_up_is_forgotten)
{
	for (int i = 0; i < 2 * VARLINK_CONNECTIONS_MAX; i++) {
		int fd = peer_connect(socket_path);

		peer_call(event, fd, CALL("Ask", "1"));
		if (i % 2)
			peer_settle(event);
		(void)close(fd);
		peer_settle(event);
	}
	asked = 0;
	known = true;
	varlink_server_retry(server);
	peer_settle(event);
	cr_expect_eq(asked, 0U, "a gone client still waits");
	_cleanup_close_ int fd = peer_connect(socket_path);

	peer_expect(event, fd, CALL("Ask", "1"), REPLY("1"));
}

Test(varlink_wait, oneway_calls_of_a_client_that_hung_up_still_run)
{
	int fd = peer_connect(socket_path);

	peer_call(event, fd, CALL("Ask", "1"));
	peer_call(event, fd, CALL("Ask", "2"));
	peer_call(event, fd, "{\"method\":\"org.example.test.Echo\",\"oneway\":true}");
	peer_settle(event);
	(void)close(fd);
	peer_settle(event);
	cr_expect_eq(echoed, 1U);
}

Test(varlink_wait, oneway_call_never_waits)
{
	_cleanup_close_ int fd = peer_connect(socket_path);

	peer_call(event, fd, "{\"method\":\"org.example.test.Ask\",\"oneway\":true}");
	peer_expect(event, fd, CALL("Echo", "1"), REPLY("1"));
}

/* The second call begins to wait later. A retry in between does not start the time again. */
Test(varlink_wait, a_waiting_call_ends_with_an_error_after_its_timeout)
{
	const unsigned wait_ms = VARLINK_WAIT_SECONDS * 1000, later_ms = 1500;
	_cleanup_close_ int first = peer_connect(socket_path), second = peer_connect(socket_path);
	unsigned first_ms = 0, second_ms = 0;

	fake_clock_stop();
	peer_call(event, first, CALL("Ask", "1"));
	peer_settle(event);
	for (unsigned ms = 100; ms <= wait_ms + 2 * later_ms; ms += 100) {
		fake_clock_advance(100 * NSEC_PER_MSEC);
		if (ms == later_ms) {
			peer_call(event, second, CALL("Ask", "2"));
			varlink_server_retry(server);
		}
		if (first_ms == 0 && has_answer(first))
			first_ms = ms;
		if (second_ms == 0 && has_answer(second))
			second_ms = ms - later_ms;
	}
	expect_answer(first, LATE);
	expect_answer(second, LATE);
	cr_expect_geq(first_ms, wait_ms);
	cr_expect_leq(first_ms, wait_ms + 1000);
	cr_expect_geq(second_ms, wait_ms);
	cr_expect_leq(second_ms, wait_ms + 1000);
	cr_expect_leq(asked, 6U, "%u", asked);
	peer_expect(event, first, CALL("Echo", "1"), REPLY("1"));
}

/* Waiting calls hold no memory for a reply. When they can be answered, their replies stay within the budget. */
Test(varlink_wait, replies_of_waiting_calls_stay_within_the_budget)
{
	int fds[VARLINK_CONNECTIONS_MAX - 1];

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = peer_connect(socket_path);
		peer_call(event, fds[i], CALL("Ask", "1"));
		peer_call(event, fds[i], CALL("Big", "1"));
	}
	peer_settle(event);
	cr_expect_eq(varlink_server_held(server), 0U);
	known = true;
	varlink_server_retry(server);
	peer_settle(event);
	cr_expect_leq(varlink_server_held(server), VARLINK_USER_BYTES);
	/* Some wait for memory. They get it when others have read. */
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		(void)close(fds[i]);
	peer_settle(event);
	_cleanup_close_ int fd = peer_connect(socket_path);

	peer_expect(event, fd, CALL("Ask", "1"), REPLY("1"));
}

/* A client cannot fill memory behind its waiting call. */
Test(varlink_wait, input_behind_a_waiting_call_is_limited)
{
	_cleanup_close_ int fd = peer_connect(socket_path);
	static char text[4096];
	size_t sent = 0;

	memset(text, ' ', sizeof(text));
	peer_call(event, fd, CALL("Ask", "1"));
	peer_settle(event);
	for (ssize_t n; (n = send(fd, text, sizeof(text), MSG_NOSIGNAL)) > 0 && sent < (8U << 20);) {
		sent += (size_t)n;
		peer_settle(event);
	}
	cr_expect_lt(sent, (size_t)(1U << 20));
	known = true;
	varlink_server_retry(server);
	expect_answer(fd, REPLY("1"));
}
