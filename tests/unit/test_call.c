// SPDX-License-Identifier: GPL-2.0
/* The calls of pebsctl, against a server that pages its lists. The server is a child process. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json_get.h"
#include "child_server.h"
#include "ctl/call/call.h"

struct replies {
	const char *const *list;
	size_t n;
};

/* Answers the calls with these parameters, one after the other, and then closes the connection. */
static void play(int fd, const void *part)
{
	const struct replies *replies = part;

	for (size_t i = 0; i < replies->n; i++) {
		char call[4096], reply[512];
		int length = snprintf(reply, sizeof(reply), "{\"parameters\":%s}", replies->list[i]);

		if (recv(fd, call, sizeof(call), 0) <= 0 ||
		    send(fd, reply, (size_t)length + 1, MSG_NOSIGNAL) < 0)
			_exit(1);
	}
}

static void serve(const char *const *replies, size_t n)
{
	child_server_start(play, &(struct replies){replies, n});
}

TestSuite(call, .fini = child_server_stop);

static enum ctl_exit get_pages(json_object **ret)
{
	const struct ctl_options options = {.socket = child_server.path};
	_cleanup_(client_closep) struct client *client = NULL;

	cr_assert_eq(call_open(&options, &client), CTL_DONE);
	return call_pages(&options, client, "a.B", NULL, "items", ret);
}

Test(call, pages_of_one_moment_are_joined)
{
	static const char *const replies[] = {"{\"items\":[1,2],\"next\":2,\"taken\":\"a\"}",
					      "{\"items\":[3],\"next\":3,\"taken\":\"a\"}",
					      "{\"items\":[4],\"taken\":\"a\"}"};
	_cleanup_json_ json_object *all = NULL;

	serve(replies, ARRAY_SIZE(replies));
	cr_assert_eq(get_pages(&all), CTL_DONE);
	cr_expect_str_eq(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN),
			 "{\"items\":[1,2,3,4]}");
}

Test(call, pages_of_two_moments_are_fetched_again)
{
	static const char *const replies[] = {
		"{\"items\":[1],\"next\":1,\"taken\":\"a\"}", "{\"items\":[1],\"taken\":\"b\"}",
		"{\"items\":[2],\"next\":1,\"taken\":\"b\"}", "{\"items\":[1],\"taken\":\"b\"}"};
	_cleanup_json_ json_object *all = NULL;

	serve(replies, ARRAY_SIZE(replies));
	cr_assert_eq(get_pages(&all), CTL_DONE);
	cr_expect_str_eq(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN), "{\"items\":[2,1]}");
}

/* Otherwise the same page would be fetched forever. */
Test(call, a_page_that_is_its_own_next_page_is_a_failure)
{
	const char *replies[20];
	json_object *all = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(replies); i++)
		replies[i] = "{\"items\":[],\"next\":1,\"taken\":\"a\"}";
	serve(replies, ARRAY_SIZE(replies));
	cr_expect_eq(get_pages(&all), CTL_FAILED);
	cr_expect_null(all);
}
