// SPDX-License-Identifier: GPL-2.0
/*
 * The client of pebsctl against servers of many kinds. Each server is a child process that follows a script.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json_get.h"
#include "child_server.h"
#include "varlink/client.h"

struct script {
	const char *bytes;
	size_t length, piece;
	bool stay;
};

static void play(int fd, const void *part)
{
	const struct script *script = part;
	char call[4096];

	if (recv(fd, call, sizeof(call), 0) <= 0)
		_exit(1);
	for (size_t at = 0; at < script->length; at += script->piece) {
		size_t n = script->length - at < script->piece ? script->length - at : script->piece;

		if (send(fd, script->bytes + at, n, MSG_NOSIGNAL) < 0)
			_exit(1);
		if (script->piece < script->length)
			(void)usleep(100);
	}
	if (script->stay)
		(void)pause();
}

/*
 * Receives one call, sends `bytes` in pieces of `piece`, and closes the connection. With `stay`, the
 * connection stays open instead.
 */
static void serve(const char *bytes, size_t length, size_t piece, bool stay)
{
	child_server_start(play, &(struct script){bytes, length, piece, stay});
}

TestSuite(client, .fini = child_server_stop);

static int call_and_close(struct client_reply *reply)
{
	struct client *client = NULL;
	int r;

	r = client_connect(child_server.path, &client);
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

/* A peer without Varlink, a reply that is not an object, and a server that hangs up within a reply. */
Test(client, what_is_not_a_reply_is_an_error)
{
	static const struct {
		const char *bytes;
		bool nul; /* ends with the byte that ends a message */
		int error;
	} cases[] = {{"HTTP/1.1 400 Bad Request\r\n", true, -EPROTO},
		     {"[1]", true, -EPROTO},
		     {"{\"parameters\":", false, -ECONNRESET}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t length = strlen(cases[i].bytes) + cases[i].nul;

		serve(cases[i].bytes, length, length + 1, false);
		cr_expect_eq(call_and_close(&(struct client_reply){0}), cases[i].error, "%s", cases[i].bytes);
		child_server_stop();
	}
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
	cr_assert_eq(client_connect(child_server.path, &client), 0);
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
	cr_assert_eq(client_connect(child_server.path, &client), 0);
	cr_assert_eq(client_stream(client, "a.B"), 0);
	(void)close(ends[0]);
	cr_expect_eq(client_next(client, ends[1], &(struct client_reply){0}), -EPIPE);
	client_close(client);
	(void)close(ends[1]);
}
