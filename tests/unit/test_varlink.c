// SPDX-License-Identifier: GPL-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
static char path[] = "/tmp/pebsd-varlink-XXXXXX";
static char socket_path[64];
static int calls;

static int echo(struct varlink_call *call, json_object *parameters, void *userdata)
{
	(*(int *)userdata)++;
	return varlink_reply(call, json_object_get(parameters));
}

static int big(struct varlink_call *call, json_object *parameters, void *userdata)
{
	_cleanup_free_ char *text = NULL;
	json_object *reply = json_object_new_object();
	u64 bytes = 0;

	(*(int *)userdata)++;
	cr_assert(json_get_u64(parameters, "bytes", &bytes));
	text = malloc(bytes + 1);
	memset(text, 'x', bytes);
	text[bytes] = '\0';
	json_object_object_add(reply, "text", json_object_new_string(text));
	return varlink_reply(call, reply);
}

/* Replies with an array of `n` texts of 1 KiB each. */
static int parts(struct varlink_call *call, json_object *parameters, void *userdata)
{
	char text[1025];
	u64 n = 0;
	int r = varlink_reply_begin(call);

	(void)userdata;
	cr_assert(json_get_u64(parameters, "parts", &n));
	memset(text, 'x', sizeof(text));
	text[0] = text[1022] = '"';
	if (r == 0)
		r = varlink_reply_text(call, "[", 1);
	for (u64 i = 0; r == 0 && i < n; i++) {
		text[1023] = i + 1 < n ? ',' : ' ';
		r = varlink_reply_text(call, text, 1024);
	}
	if (r == 0)
		r = varlink_reply_text(call, "]", 1);
	return r == 0 ? varlink_reply_end(call) : r;
}

static int who(struct varlink_call *call, json_object *parameters, void *userdata)
{
	json_object *reply = json_object_new_object();

	(void)parameters;
	(void)userdata;
	json_object_object_add(reply, "mine",
			       json_object_new_boolean(varlink_peer(call)->pid == getpid() &&
						       varlink_peer(call)->uid == getuid()));
	return varlink_reply(call, reply);
}

static int silent(struct varlink_call *call, json_object *parameters, void *userdata)
{
	(void)call;
	(void)parameters;
	(void)userdata;
	return 0;
}

static int listen_in(struct varlink_call *call, json_object *parameters, void *userdata)
{
	(void)parameters;
	(void)userdata;
	return varlink_subscribe(call);
}

static const struct varlink_method methods[] = {
	{.name = "Echo", .handle = echo},
	{.name = "Big", .handle = big},
	{.name = "Parts", .handle = parts},
	{.name = "Who", .handle = who},
	{.name = "Silent", .handle = silent},
	{.name = "Later"},
	{.name = "Listen", .handle = listen_in, .needs_more = true},
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
	.userdata = &calls,
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

TestSuite(varlink, .init = start, .fini = stop);

#define ECHO(text)   "{\"method\":\"org.example.test.Echo\",\"parameters\":{\"a\":\"" text "\"}}"
#define ECHOED(text) "{\"parameters\":{\"a\":\"" text "\"}}"
#define REFUSED \
	"{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":\"message\"}}"

Test(varlink, a_call_gets_its_reply)
{
	_cleanup_close_ int fd = peer_connect(socket_path);

	peer_expect(event, fd, ECHO("1"), ECHOED("1"));
	peer_expect(event, fd, " {\"method\":\"org.example.test.Echo\"}\n", "{\"parameters\":{}}");
	peer_expect(event, fd, "{\"method\":\"org.example.test.Echo\",\"more\":true,\"parameters\":null}",
		    "{\"parameters\":{}}");
	peer_expect(event, fd, "{\"method\":\"org.example.test.Who\"}", "{\"parameters\":{\"mine\":true}}");
}

Test(varlink, the_service_can_be_introspected)
{
	_cleanup_close_ int fd = peer_connect(socket_path);
	_cleanup_free_ char *description = NULL;

	peer_expect(event, fd, "{\"method\":\"org.varlink.service.GetInfo\"}",
		    "{\"parameters\":{\"interfaces\":[\"org.varlink.service\",\"org.example.test\"],"
		    "\"vendor\":\"v\",\"product\":\"p\",\"version\":\"1\",\"url\":\"u\"}}");
	peer_expect(event, fd,
		    "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
		    "\"parameters\":{\"interface\":\"org.example.test\"}}",
		    "{\"parameters\":{\"description\":\"interface org.example.test\\n\"}}");
	peer_expect(event, fd,
		    "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
		    "\"parameters\":{\"interface\":\"org.example.other\"}}",
		    "{\"error\":\"org.varlink.service.InterfaceNotFound\","
		    "\"parameters\":{\"interface\":\"org.example.other\"}}");
	peer_expect(event, fd, "{\"method\":\"org.varlink.service.GetInterfaceDescription\"}",
		    "{\"error\":\"org.varlink.service.InvalidParameter\","
		    "\"parameters\":{\"parameter\":\"interface\"}}");
	peer_expect(
		event, fd, "{\"method\":\"org.varlink.service.GetInfo\",\"parameters\":{\"x\":1}}",
		"{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":\"x\"}}");

	peer_call(event, fd,
		  "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
		  "\"parameters\":{\"interface\":\"org.varlink.service\"}}");
	description = peer_receive(event, fd, NULL);
	cr_assert_not_null(description);
	cr_expect_not_null(strstr(description, "method GetInfo() -> ("));
}

Test(varlink, unknown_methods_and_interfaces_are_named)
{
	_cleanup_close_ int fd = peer_connect(socket_path);

	peer_expect(event, fd, "{\"method\":\"org.example.test.Nothing\"}",
		    "{\"error\":\"org.varlink.service.MethodNotFound\","
		    "\"parameters\":{\"method\":\"org.example.test.Nothing\"}}");
	peer_expect(event, fd, "{\"method\":\"org.example.tes.Echo\"}",
		    "{\"error\":\"org.varlink.service.InterfaceNotFound\","
		    "\"parameters\":{\"interface\":\"org.example.tes\"}}");
	peer_expect(event, fd, "{\"method\":\"org.example.test.Later\"}",
		    "{\"error\":\"org.varlink.service.MethodNotImplemented\","
		    "\"parameters\":{\"method\":\"org.example.test.Later\"}}");
	peer_expect(event, fd, "{\"method\":\"org.example.test.Listen\"}",
		    "{\"error\":\"org.varlink.service.ExpectedMore\"}");
	peer_expect(event, fd, "{\"method\":\"org.example.test.Echo\",\"upgrade\":true}",
		    "{\"error\":\"org.varlink.service.InvalidParameter\","
		    "\"parameters\":{\"parameter\":\"upgrade\"}}");
	peer_expect(event, fd, ECHO("still served"), ECHOED("still served"));
}

Test(varlink, an_invalid_call_ends_the_connection)
{
	static const char *const texts[] = {
		"",
		"hello",
		"{\"method\":\"org.example.test.Echo\"",
		"{\"method\":\"org.example.test.Echo\"} {}",
		"[]",
		"null",
		"{}",
		"{\"method\":1}",
		"{\"method\":\"Echo\"}",
		"{\"method\":\".Echo\"}",
		"{\"method\":\"org.example.test.\"}",
		"{\"method\":\"org.example.test.Echo\\u0000\"}",
		"{\"method\":\"org.example.test.Echo\",\"parameters\":[]}",
		"{\"method\":\"org.example.test.Echo\",\"more\":1}",
		"{\"method\":\"org.example.test.\xff\"}",
		/*
		 * Not UTF-8 either: an overlong form, a surrogate, and a value beyond the last character. Such
		 * names must be refused, because error replies repeat names.
		 */
		"{\"method\":\"org.example.test.\xc0\xaf\"}",
		"{\"method\":\"org.example.test.\xe0\x80\xaf\"}",
		"{\"method\":\"org.example.test.Who\",\"parameters\":{\"\xed\xa0\x80\":1}}",
		"{\"method\":\"org.example.test.Who\",\"parameters\":{\"\xf4\x90\x80\x80\":1}}",
		("{\"method\":\"org.example.test.Echo\",\"parameters\":"
		 "{\"a\":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}}"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_close_ int fd = peer_connect(socket_path);
		int closed = 0;

		peer_expect(event, fd, texts[i], REFUSED);
		cr_expect_null(peer_receive(event, fd, &closed));
		cr_expect(closed, "the connection lives on after '%s'", texts[i]);
	}
	cr_expect_eq(calls, 0);
}

Test(varlink, an_incomplete_message_waits_for_the_rest)
{
	static const char text[] = ECHO("slow");
	_cleanup_close_ int fd = peer_connect(socket_path);
	_cleanup_free_ char *reply = NULL;

	for (size_t i = 0; i < sizeof(text); i++) {
		cr_expect_eq(calls, 0);
		peer_send(event, fd, text + i, 1);
		peer_settle(event);
	}
	reply = peer_receive(event, fd, NULL);
	cr_expect_str_eq(reply, ECHOED("slow"));
}

Test(varlink, calls_in_one_write_are_answered_in_order)
{
	static const char text[] = ECHO("1") "\0" ECHO(
		"2") "\0"
		     "{\"method\":\"org.example.test.Echo\",\"oneway\":true}\0"
		     "{\"method\":\"org.example.test.Nothing\",\"oneway\":true}\0" ECHO("3");
	_cleanup_close_ int fd = peer_connect(socket_path);

	peer_send(event, fd, text, sizeof(text));
	for (int i = 1; i <= 3; i++) {
		_cleanup_free_ char *reply = peer_receive(event, fd, NULL);
		char expected[64];

		(void)snprintf(expected, sizeof(expected), "{\"parameters\":{\"a\":\"%d\"}}", i);
		cr_expect_str_eq(reply, expected);
	}
	cr_expect_eq(calls, 4, "the oneway call was made, and not answered");
	cr_expect_null(peer_receive(event, fd, NULL));
}

static int ran(sd_event_source *source, void *userdata)
{
	(void)source;
	*(bool *)userdata = true;
	return 0;
}

Test(varlink, endless_calls_alternate_with_other_work)
{
	static const char call[] = ECHO("1");
	int fds[VARLINK_CONNECTIONS_MAX];
	sd_event_source *other = NULL;
	unsigned rounds = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = peer_connect(socket_path);
		for (int n = 0; n < 10; n++)
			peer_send(event, fds[i], call, sizeof(call));
	}
	/* Wait until each connection has calls. */
	while (calls < (int)ARRAY_SIZE(fds) * 5)
		cr_assert_gt(sd_event_run(event, 0), 0);
	for (; calls < (int)ARRAY_SIZE(fds) * 9; rounds++) {
		bool other_ran = false;
		int before = calls;

		cr_assert_geq(sd_event_add_defer(event, &other, ran, &other_ran), 0);
		while (!other_ran)
			cr_assert_gt(sd_event_run(event, 0), 0);
		cr_assert_leq(calls - before, 1, "%d calls went before", calls - before);
		other = sd_event_source_unref(other);
	}
	cr_expect_lt(rounds, 10000U);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		(void)close(fds[i]);
}

Test(varlink, connections_take_turns)
{
	static const char call[] = ECHO("1");
	_cleanup_close_ int many = peer_connect(socket_path), one = peer_connect(socket_path);
	char byte;

	for (int n = 0; n < 100; n++)
		peer_send(event, many, call, sizeof(call));
	while (calls == 0)
		cr_assert_gt(sd_event_run(event, 0), 0);
	peer_send(event, one, call, sizeof(call));
	while (recv(one, &byte, 1, MSG_PEEK) < 0)
		cr_assert_gt(sd_event_run(event, 0), 0);
	cr_expect_leq(calls, 5);
}

Test(varlink, answers_reach_a_client_that_shut_down_its_writing_side)
{
	static const char text[] = ECHO("1") "\0" ECHO("2");
	_cleanup_close_ int fd = peer_connect(socket_path);
	_cleanup_free_ char *first = NULL;
	_cleanup_free_ char *second = NULL;
	int closed;

	peer_send(event, fd, text, sizeof(text));
	cr_assert_eq(shutdown(fd, SHUT_WR), 0);
	first = peer_receive(event, fd, NULL);
	second = peer_receive(event, fd, NULL);
	cr_expect_str_eq(first, ECHOED("1"));
	cr_expect_str_eq(second, ECHOED("2"));
	cr_expect_null(peer_receive(event, fd, &closed));
	cr_expect(closed);
}

Test(varlink, the_largest_message_is_accepted_and_a_larger_one_refused)
{
	_cleanup_free_ char *text = malloc(VARLINK_MESSAGE_MAX + 2);
	static const char call[] = "{\"method\":\"org.example.test.Echo\"}";
	_cleanup_close_ int fd = peer_connect(socket_path);
	_cleanup_free_ char *largest = NULL;
	_cleanup_free_ char *larger = NULL;
	int closed;

	memset(text, ' ', VARLINK_MESSAGE_MAX + 1);
	memcpy(text, call, strlen(call));
	text[VARLINK_MESSAGE_MAX] = '\0';
	peer_call(event, fd, text);
	largest = peer_receive(event, fd, NULL);
	cr_expect_str_eq(largest, "{\"parameters\":{}}");

	text[VARLINK_MESSAGE_MAX] = ' ';
	peer_send(event, fd, text, VARLINK_MESSAGE_MAX + 1);
	larger = peer_receive(event, fd, NULL);
	cr_expect_str_eq(larger, REFUSED);
	cr_expect_null(peer_receive(event, fd, &closed));
	cr_expect(closed);
}

Test(varlink, a_client_that_does_not_read_is_paused_and_blocks_nobody)
{
	static const char call[] = "{\"method\":\"org.example.test.Big\",\"parameters\":{\"bytes\":1000000}}";
	_cleanup_close_ int lazy = peer_connect(socket_path);
	_cleanup_close_ int busy = peer_connect(socket_path);

	for (int i = 0; i < 100; i++)
		peer_call(event, lazy, call);
	peer_settle(event);
	cr_expect_eq(calls, 1, "the next call waits until the reply is read");
	peer_expect(event, busy, ECHO("1"), ECHOED("1"));

	for (int i = 0; i < 100; i++) {
		_cleanup_free_ char *reply = peer_receive(event, lazy, NULL);

		cr_assert_not_null(reply);
		cr_assert_gt(strlen(reply), 1000000);
	}
	cr_expect_eq(calls, 101);
}

Test(varlink, a_client_that_disconnects_is_forgotten)
{
	for (int i = 0; i < 3 * VARLINK_CONNECTIONS_MAX; i++) {
		int fd = peer_connect(socket_path);

		peer_call(event, fd,
			  "{\"method\":\"org.example.test.Big\",\"parameters\":{\"bytes\":500000}}");
		if (i % 2)
			peer_settle(event);
		(void)close(fd);
		peer_settle(event);
	}
	_cleanup_close_ int fd = peer_connect(socket_path);

	peer_expect(event, fd, ECHO("1"), ECHOED("1"));
}

Test(varlink, a_oneway_call_counts_when_its_caller_is_gone)
{
	int fd = peer_connect(socket_path);

	peer_call(event, fd, "{\"method\":\"org.example.test.Echo\",\"oneway\":true}");
	(void)close(fd);
	peer_settle(event);
	cr_expect_eq(calls, 1);
}

Test(varlink, connections_are_limited)
{
	int fds[VARLINK_CONNECTIONS_MAX];
	int closed;

	for (int i = 0; i < VARLINK_CONNECTIONS_MAX; i++) {
		fds[i] = peer_connect(socket_path);
		peer_settle(event);
	}
	_cleanup_close_ int refused = peer_connect(socket_path);

	cr_expect_null(peer_receive(event, refused, &closed));
	cr_expect(closed);
	peer_expect(event, fds[VARLINK_CONNECTIONS_MAX - 1], ECHO("1"), ECHOED("1"));

	(void)close(fds[0]);
	peer_settle(event);
	_cleanup_close_ int next = peer_connect(socket_path);

	peer_expect(event, next, ECHO("1"), ECHOED("1"));
	for (int i = 1; i < VARLINK_CONNECTIONS_MAX; i++)
		(void)close(fds[i]);
}

Test(varlink, a_method_without_an_answer_ends_the_connection)
{
	_cleanup_close_ int fd = peer_connect(socket_path);
	int closed;

	peer_call(event, fd, "{\"method\":\"org.example.test.Silent\"}");
	cr_expect_null(peer_receive(event, fd, &closed));
	cr_expect(closed);
}

static void subscribe(int fd)
{
	size_t before = varlink_server_subscribers(server);

	peer_call(event, fd, "{\"method\":\"org.example.test.Listen\",\"more\":true}");
	peer_settle(event);
	cr_assert_eq(varlink_server_subscribers(server), before + 1);
}

Test(varlink, subscribers_get_published_items)
{
	_cleanup_json_ json_object *item = json_object_new_object();
	_cleanup_close_ int first = peer_connect(socket_path);
	_cleanup_close_ int other = peer_connect(socket_path);
	int second = peer_connect(socket_path);

	subscribe(first);
	subscribe(second);
	peer_expect(event, other, ECHO("1"), ECHOED("1"));
	json_object_object_add(item, "n", json_object_new_int(1));
	varlink_server_publish(server, item);
	for (int i = 0; i < 2; i++) {
		_cleanup_free_ char *got = peer_receive(event, i ? second : first, NULL);

		cr_expect_str_eq(got, "{\"parameters\":{\"n\":1},\"continues\":true}");
	}
	cr_expect_null(peer_receive(event, other, NULL), "who did not subscribe gets nothing");

	(void)close(second);
	peer_settle(event);
	cr_expect_eq(varlink_server_subscribers(server), 1);
	varlink_server_publish(server, item);
	_cleanup_free_ char *got = peer_receive(event, first, NULL);

	cr_expect_str_eq(got, "{\"parameters\":{\"n\":1},\"continues\":true}");
}

Test(varlink, a_subscriber_that_does_not_read_is_dropped)
{
	_cleanup_json_ json_object *item = json_object_new_object();
	_cleanup_close_ int lazy = peer_connect(socket_path);
	_cleanup_close_ int eager = peer_connect(socket_path);
	size_t published = 0;
	char text[1001];

	memset(text, 'x', 1000);
	text[1000] = '\0';
	json_object_object_add(item, "text", json_object_new_string(text));
	subscribe(lazy);
	subscribe(eager);
	while (varlink_server_subscribers(server) == 2 && published < 3UL * VARLINK_QUEUE_MAX) {
		char *got;

		varlink_server_publish(server, item);
		published += 1000;
		got = peer_receive(event, eager, NULL);
		cr_assert_not_null(got);
		free(got);
	}
	cr_expect_eq(varlink_server_subscribers(server), 1);
	cr_expect_gt(published, VARLINK_QUEUE_MAX, "some delay in reading is forgiven");
}

Test(varlink, calls_after_a_subscription_wait_in_bounded_memory)
{
	_cleanup_close_ int fd = peer_connect(socket_path);
	_cleanup_free_ char *flood = malloc(10UL * VARLINK_MESSAGE_MAX);
	size_t sent = 0;

	memset(flood, ' ', 10UL * VARLINK_MESSAGE_MAX);
	subscribe(fd);
	for (;;) {
		ssize_t n = send(fd, flood, VARLINK_MESSAGE_MAX, MSG_NOSIGNAL);

		if (n < 0)
			break;
		sent += (size_t)n;
		peer_settle(event);
		cr_assert_lt(sent, 10UL * VARLINK_MESSAGE_MAX, "the server reads without an end");
	}
	cr_expect_eq(errno, EAGAIN);
	cr_expect_eq(varlink_server_subscribers(server), 1);
}

Test(varlink, a_reply_larger_than_its_limit_is_an_error)
{
	_cleanup_close_ int fd = peer_connect(socket_path);

	peer_expect(event, fd, "{\"method\":\"org.example.test.Big\",\"parameters\":{\"bytes\":1048576}}",
		    "{\"error\":\"org.example.test.ReplyTooLarge\"}");
	peer_expect(event, fd, "{\"method\":\"org.example.test.Parts\",\"parameters\":{\"parts\":3000}}",
		    "{\"error\":\"org.example.test.ReplyTooLarge\"}");
	peer_expect(event, fd, "{\"method\":\"org.example.test.Parts\",\"parameters\":{\"parts\":0}}",
		    "{\"parameters\":[]}");
	peer_expect(event, fd, ECHO("still served"), ECHOED("still served"));
}

/* Each reply would hold 1 MB. */
Test(varlink, memory_of_replies_to_one_user_is_bounded)
{
	static const char call[] = "{\"method\":\"org.example.test.Big\",\"parameters\":{\"bytes\":1000000}}";
	int fds[40];

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = peer_connect(socket_path);
		peer_call(event, fds[i], call);
	}
	peer_settle(event);
	cr_expect_leq(varlink_server_held(server), VARLINK_USER_BYTES);
	cr_expect_gt(varlink_server_held(server), VARLINK_USER_BYTES / 2);
	cr_expect_lt(calls, (int)ARRAY_SIZE(fds), "the other calls wait");
	/* Waiting calls are answered as soon as the clients before them have received their replies. */
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		_cleanup_free_ char *reply = peer_receive(event, fds[i], NULL);

		cr_assert_not_null(reply, "client %zu", i);
		(void)close(fds[i]);
	}
	cr_expect_eq(calls, (int)ARRAY_SIZE(fds));
}

/* Its socket is hung up, which epoll reports again and again. */
Test(varlink, a_client_that_disconnects_while_it_waits_for_memory_does_not_keep_the_loop_busy)
{
	static const char call[] = "{\"method\":\"org.example.test.Big\",\"parameters\":{\"bytes\":1000000}}";
	int fds[12], gone = peer_connect(socket_path);
	unsigned turns = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = peer_connect(socket_path);
		peer_call(event, fds[i], call);
	}
	peer_settle(event);
	cr_assert_lt(calls, (int)ARRAY_SIZE(fds), "each call got memory");
	peer_call(event, gone, ECHO("1"));
	(void)close(gone);
	for (int i = 0; i < 200; i++)
		turns += sd_event_run(event, 0) > 0;
	cr_expect_lt(turns, 100U, "%u turns of the loop", turns);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		(void)close(fds[i]);
}

Test(varlink, a_reading_client_is_answered_next_to_those_that_do_not_read)
{
	static const char call[] = "{\"method\":\"org.example.test.Big\",\"parameters\":{\"bytes\":1000000}}";
	int deaf[20];

	for (size_t i = 0; i < ARRAY_SIZE(deaf); i++) {
		deaf[i] = peer_connect(socket_path);
		peer_call(event, deaf[i], call);
	}
	peer_settle(event);
	for (int i = 0; i < 3; i++) {
		_cleanup_close_ int fd = peer_connect(socket_path);
		_cleanup_free_ char *reply = NULL;

		peer_call(event, fd, ECHO("1"));
		for (int try = 0; try < 10 && !reply; try++)
			reply = peer_receive(event, fd, NULL);
		cr_expect_str_eq(reply ? reply : "(no answer)", ECHOED("1"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(deaf); i++)
		(void)close(deaf[i]);
}

#define BIG "{\"method\":\"org.example.test.Big\",\"parameters\":{\"bytes\":1000000}}"

/* Connects as another user, which only root can do. */
static int connect_as(uid_t user)
{
	int fd;

	cr_assert_eq(seteuid(user), 0);
	fd = peer_connect(socket_path);
	cr_assert_eq(seteuid(0), 0);
	return fd;
}

/* The share of each of the four users does not suffice for its calls. */
Test(varlink, memory_of_replies_to_all_users_is_bounded)
{
	int fds[4 * 8];
	size_t n = 0;

	if (getuid() != 0)
		cr_skip_test("needs root, to be several users");
	cr_assert_eq(chmod(path, 0711), 0);
	cr_assert_eq(chmod(socket_path, 0666), 0);
	for (uid_t user = 1; user <= 4; user++)
		for (size_t i = 0; i < 8; i++) {
			fds[n] = connect_as(user);
			peer_call(event, fds[n++], BIG);
		}
	peer_settle(event);
	cr_expect_leq(varlink_server_held(server), VARLINK_ALL_BYTES);
	cr_expect_gt(varlink_server_held(server), VARLINK_ALL_BYTES - 4UL * VARLINK_REPLY_MAX);
	for (size_t i = 0; i < n; i++)
		(void)close(fds[i]);
}

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/*
 * Publishes to `n` subscribers that do not read until the last one is dropped, and to `reads`. Checks what the
 * program and the kernel hold after each item. Returns the most that the server held.
 */
static size_t publish_to_the_deaf(int reads, const int *deaf, size_t n, size_t bound)
{
	_cleanup_json_ json_object *item = json_object_new_object();
	size_t before = allocated(), most = 0;
	static char text[20001];
	int dropped = 0;

	memset(text, 'x', sizeof(text) - 1);
	json_object_object_add(item, "text", json_object_new_string(text));
	for (int number = 0; varlink_server_subscribers(server) > 1; number++) {
		_cleanup_free_ char *got = NULL;
		_cleanup_json_ json_object *reply = NULL;
		json_object *parameters;
		u64 has;

		cr_assert_lt(number, 1000, "some are never dropped");
		json_object_object_add(item, "n", json_object_new_int(number));
		varlink_server_publish(server, item);
		cr_assert_leq(varlink_server_held(server), bound);
		/* Besides the items, connections and what json-c and the event loop allocate for themselves. */
		cr_assert_leq(allocated(), before + bound + (256UL << 10));
		most = varlink_server_held(server) > most ? varlink_server_held(server) : most;
		got = peer_receive(event, reads, NULL);
		cr_assert_not_null(got, "the one that reads was dropped");
		reply = json_tokener_parse(got);
		cr_assert(json_object_object_get_ex(reply, "parameters", &parameters));
		cr_assert(json_get_u64(parameters, "n", &has));
		cr_assert_eq(has, (u64)number, "an item is missing");
	}
	for (size_t i = 0; i < n; i++) {
		int waits = 0;

		cr_assert_eq(ioctl(deaf[i], FIONREAD, &waits), 0);
		cr_expect_leq(waits, VARLINK_KERNEL_BYTES);
		dropped += waits > 0;
	}
	cr_expect_eq(dropped, (int)n, "each was sent something");
	return most;
}

Test(varlink, memory_of_subscribers_of_one_user_is_bounded)
{
	int deaf[VARLINK_CONNECTIONS_MAX - 1];
	_cleanup_close_ int reads = peer_connect(socket_path);
	size_t most;

	subscribe(reads);
	for (size_t i = 0; i < ARRAY_SIZE(deaf); i++) {
		deaf[i] = peer_connect(socket_path);
		subscribe(deaf[i]);
	}
	most = publish_to_the_deaf(reads, deaf, ARRAY_SIZE(deaf), VARLINK_USER_BYTES);
	cr_expect_geq(most, VARLINK_USER_BYTES / 10UL * 9, "%zu", most);
	for (size_t i = 0; i < ARRAY_SIZE(deaf); i++)
		(void)close(deaf[i]);
}

/* As many subscribers as there are connections: together they may queue 63 MiB. */
Test(varlink, memory_of_subscribers_of_all_users_is_bounded)
{
	int deaf[VARLINK_CONNECTIONS_MAX - 1];
	_cleanup_close_ int reads = peer_connect(socket_path);
	size_t most;

	if (getuid() != 0)
		cr_skip_test("needs root, to be several users");
	cr_assert_eq(chmod(path, 0711), 0);
	cr_assert_eq(chmod(socket_path, 0666), 0);
	subscribe(reads);
	for (size_t i = 0; i < ARRAY_SIZE(deaf); i++) {
		deaf[i] = connect_as((uid_t)(1 + i % 4));
		subscribe(deaf[i]);
	}
	most = publish_to_the_deaf(reads, deaf, ARRAY_SIZE(deaf), VARLINK_ALL_BYTES);
	cr_expect_geq(most, VARLINK_ALL_BYTES / 10UL * 9, "%zu", most);
	for (size_t i = 0; i < ARRAY_SIZE(deaf); i++)
		(void)close(deaf[i]);
}

/* The bytes that the kernel holds for a client that does not read. */
Test(varlink, kernel_memory_of_a_reply_is_bounded)
{
	_cleanup_close_ int fd = peer_connect(socket_path);
	int waits = 0;

	peer_call(event, fd, BIG);
	peer_settle(event);
	cr_assert_eq(ioctl(fd, FIONREAD, &waits), 0);
	cr_expect_gt(waits, 0);
	cr_expect_leq(waits, VARLINK_KERNEL_BYTES);
}

/* Each connection has a call without its last byte. */
Test(varlink, memory_of_calls_is_bounded)
{
	static char text[VARLINK_MESSAGE_MAX];
	int fds[VARLINK_CONNECTIONS_MAX];
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd, after;

	memset(text, ' ', sizeof(text));
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = peer_connect(socket_path);
		peer_send(event, fds[i], text, sizeof(text));
		peer_settle(event);
	}
	after = mallinfo2().uordblks + mallinfo2().hblkhd;
	/* Besides its call, each connection needs a few KiB. */
	cr_expect_leq(after - before, VARLINK_CONNECTIONS_MAX * (VARLINK_MESSAGE_MAX + 8192UL));
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		(void)close(fds[i]);
}

/*
 * The number of bytes that a client reads matters, not the time of its last read. One client reads ten bytes
 * a second, which is too few. The other one reads one and a half times the required number. The kernel always
 * has that many bytes ready.
 */
Test(varlink, a_client_that_reads_too_slowly_is_disconnected)
{
	_cleanup_close_ int sips = peer_connect(socket_path);
	_cleanup_close_ int reads = peer_connect(socket_path);
	const unsigned end_ms = (2 * VARLINK_PERIOD_SECONDS + 3) * 1000;
	static char bytes[VARLINK_PERIOD_BYTES];
	unsigned let_go_ms = 0;

	fake_clock_stop();
	peer_call(event, sips, BIG);
	peer_call(event, reads, BIG);
	peer_settle(event);
	cr_expect_gt(varlink_server_held(server), VARLINK_REPLY_MAX);
	for (unsigned ms = 100; ms <= end_ms; ms += 100) {
		fake_clock_advance(100 * NSEC_PER_MSEC);
		peer_settle(event);
		if (!let_go_ms && varlink_server_held(server) <= VARLINK_REPLY_MAX)
			let_go_ms = ms;
		(void)!recv(sips, bytes, 1, MSG_DONTWAIT);
		if (ms % 2500 == 0)
			cr_expect_gt(recv(reads, bytes, 24UL << 10, MSG_DONTWAIT), 0, "at %u ms", ms);
	}
	cr_expect_geq(let_go_ms, VARLINK_PERIOD_SECONDS * 1000U);
	/* The timer may be a second late. */
	cr_expect_leq(let_go_ms, (VARLINK_PERIOD_SECONDS + 1) * 1000U + 100);
	cr_expect_gt(varlink_server_held(server), 0, "the one that reads was let go");
	/* The client that reads also gets its whole reply. */
	while (recv(reads, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		peer_settle(event);
	peer_expect(event, reads, ECHO("1"), ECHOED("1"));
}
