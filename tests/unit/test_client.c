// SPDX-License-Identifier: GPL-2.0
/*
 * The client of pebsctl against servers of many kinds. Each server is a child process that follows a script.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/json_get.h"
#include "varlink/client.h"

static char directory[] = "/tmp/pebsd-client-XXXXXX";
static char path[64];
static pid_t child;

/*
 * Receives one call, sends `bytes` in pieces of `piece`, and closes the connection. With `stay`, the
 * connection stays open instead.
 */
static void serve(const char *bytes, size_t length, size_t piece, bool stay)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listening = socket(AF_UNIX, SOCK_STREAM, 0);

	cr_assert_not_null(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/socket", directory);
	(void)stpcpy(address.sun_path, path);
	cr_assert_eq(bind(listening, (struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(listen(listening, 1), 0);
	child = fork();
	if (child == 0) {
		int fd = accept(listening, NULL, NULL);
		char call[4096];

		if (recv(fd, call, sizeof(call), 0) <= 0)
			_exit(1);
		for (size_t at = 0; at < length; at += piece) {
			size_t n = length - at < piece ? length - at : piece;

			if (send(fd, bytes + at, n, MSG_NOSIGNAL) < 0)
				_exit(1);
			if (piece < length)
				(void)usleep(100);
		}
		if (stay)
			(void)pause();
		_exit(0);
	}
	(void)close(listening);
}

static void clean(void)
{
	if (child > 0) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
	}
	(void)unlink(path);
	(void)rmdir(directory);
}

TestSuite(client, .fini = clean);

static int call_and_close(struct client_reply *reply)
{
	struct client *client = NULL;
	int r;

	r = client_connect(path, &client);
	cr_assert_eq(r, 0);
	r = client_call(client, "a.B", NULL, reply);
	client_close(client);
	return r;
}

Test(client, a_reply_in_pieces_is_read)
{
	static const char bytes[] = "{\"parameters\":{\"n\":18446744073709551615}}";
	struct client_reply reply = {0};
	u64 n = 0;

	serve(bytes, sizeof(bytes), 1, false);
	cr_assert_eq(call_and_close(&reply), 0);
	cr_expect_null(reply.error);
	cr_expect(json_get_u64(reply.parameters, "n", &n) && n == ~0ULL);
	json_object_put(reply.root);
}

Test(client, an_error_is_a_reply)
{
	static const char bytes[] = "{\"error\":\"a.No\",\"parameters\":{\"why\":\"x\"}}";
	struct client_reply reply = {0};

	serve(bytes, sizeof(bytes), sizeof(bytes), false);
	cr_assert_eq(call_and_close(&reply), 0);
	cr_expect_str_eq(reply.error, "a.No");
	cr_expect_str_eq(json_get_text(reply.parameters, "why"), "x");
	json_object_put(reply.root);
}

Test(client, a_peer_without_varlink_is_a_protocol_error)
{
	static const char bytes[] = "HTTP/1.1 400 Bad Request\r\n";
	struct client_reply reply = {0};

	serve(bytes, sizeof(bytes), sizeof(bytes), false);
	cr_expect_eq(call_and_close(&reply), -EPROTO);
}

Test(client, a_reply_that_is_not_an_object_is_refused)
{
	static const char bytes[] = "[1]";
	struct client_reply reply = {0};

	serve(bytes, sizeof(bytes), sizeof(bytes), false);
	cr_expect_eq(call_and_close(&reply), -EPROTO);
}

Test(client, a_server_that_hangs_up_is_an_error)
{
	static const char bytes[] = "{\"parameters\":";
	struct client_reply reply = {0};

	serve(bytes, strlen(bytes), sizeof(bytes), false);
	cr_expect_eq(call_and_close(&reply), -ECONNRESET);
}

Test(client, a_missing_socket_is_an_error)
{
	struct client *client = NULL;

	cr_expect_eq(client_connect("/nonexistent/socket", &client), -ENOENT);
	cr_expect_eq(client_connect("", &client), -ENAMETOOLONG);
}

Test(client, several_replies_in_one_read_are_separated)
{
	static const char bytes[] = "{\"parameters\":{\"n\":1},\"continues\":true}\0"
				    "{\"parameters\":{\"n\":2},\"continues\":true}";
	struct client *client = NULL;

	serve(bytes, sizeof(bytes), sizeof(bytes), false);
	cr_assert_eq(client_connect(path, &client), 0);
	cr_assert_eq(client_stream(client, "a.B"), 0);
	for (u64 i = 1; i <= 2; i++) {
		struct client_reply reply = {0};
		u64 n = 0;

		cr_assert_eq(client_next(client, -1, &reply), 0);
		cr_expect(json_get_u64(reply.parameters, "n", &n) && n == i);
		json_object_put(reply.root);
	}
	cr_expect_eq(client_next(client, -1, &(struct client_reply){0}), -ECONNRESET);
	client_close(client);
}

Test(client, a_stream_ends_with_its_reader)
{
	struct client *client = NULL;
	int ends[2];

	serve("", 0, 1, true);
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(client_connect(path, &client), 0);
	cr_assert_eq(client_stream(client, "a.B"), 0);
	(void)close(ends[0]);
	cr_expect_eq(client_next(client, ends[1], &(struct client_reply){0}), -EPIPE);
	client_close(client);
	(void)close(ends[1]);
}
