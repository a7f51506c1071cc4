// SPDX-License-Identifier: GPL-2.0
/* Views of the page over HTTP: /timeline.json and the others, which wait for the history. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "fake_clock.h"
#include "http/http_pending_views.h"
#include "http_client.h"

/* The source of the views. */
struct fixture {
	int error;             /* result of every view */
	const char *message;   /* of an error; NULL: none */
	size_t size;           /* of an answer; 0: "{}" */
	struct http_view last; /* the view that was asked for last */
	unsigned int asked, made;
	unsigned int unwanted; /* views whose client had left when the history answered */
	u64 takes_ns;          /* time that a view takes */
};

static struct fixture fixture;
static struct endpoint server;

static int make_view(void *userdata, const struct http_view *view, char **ret_text, size_t *ret_length,
		     char **ret_message)
{
	struct fixture *of = userdata;

	of->asked++;
	of->last = *view;
	*ret_message = of->message ? strdup(of->message) : NULL;
	if (of->error)
		return of->error;
	if (!ret_text) {
		of->unwanted++;
		return -ECANCELED;
	}
	fake_clock_advance(of->takes_ns);
	of->made++;
	*ret_length = of->size ? of->size : 2;
	*ret_text = calloc(1, *ret_length + 1);
	cr_assert_not_null(*ret_text);
	memset(*ret_text, ' ', *ret_length);
	(*ret_text)[0] = '{';
	(*ret_text)[*ret_length - 1] = '}';
	return 0;
}

/* The endpoint passes its own userdata to all callbacks but those of profiles. */
static int view_of_endpoint(void *userdata, const struct http_view *view, char **ret_text, size_t *ret_length,
			    char **ret_message)
{
	(void)userdata;
	return make_view(&fixture, view, ret_text, ret_length, ret_message);
}

static void start(void)
{
	struct http_source source = endpoint_source(&server);
	const struct listen_address any_port = endpoint_loopback(0);

	fixture = (struct fixture){0};
	source.view = view_of_endpoint;
	endpoint_start_with(&server, &any_port, &source, "test");
}

static void stop(void)
{
	endpoint_stop(&server);
}

TestSuite(http_views, .init = start, .fini = stop);

static void expect(const char *path, int status, const char *text)
{
	_cleanup_(http_client_done) struct http_client client = http_client_get(&server, path, "");

	cr_expect_eq(http_client_status(&client), status, "%s: %s", path, client.data);
	cr_expect(strstr(client.data, text), "%s: %s", path, client.data);
}

static struct http_client ask(const char *path)
{
	struct http_client client = {.fd = http_client_connect(&server)};
	_cleanup_free_ char *text = NULL;

	cr_assert_gt(asprintf(&text, "GET %s HTTP/1.1\r\nHost: test\r\n\r\n", path), 0);
	http_client_send(&server, &client, text);
	return client;
}

#define NOBODY 65534

static struct http_client ask_as(uid_t user, const char *path)
{
	struct http_client client;

	cr_assert_eq(seteuid(user), 0);
	client = ask(path);
	cr_assert_eq(seteuid(0), 0);
	return client;
}

static void turns(int n)
{
	for (int i = 0; i < n; i++)
		endpoint_turn(&server);
}

Test(http_views, a_view_is_json_with_the_parameters_of_the_request)
{
	struct http_client client = http_client_get(
		&server, "/timeline.json?since=2026-11-27T11:00:00Z&until=1795780000&bins=7&cgroup=%2Fa%20b",
		"");

	cr_expect_eq(http_client_status(&client), 200);
	cr_expect(strstr(client.data, "Content-Type: application/json\r\n"));
	cr_expect(strstr(client.data, "Content-Security-Policy: default-src 'none'"));
	cr_expect(strstr(client.data, "\r\n\r\n{}"));
	http_client_done(&client);
	cr_expect_eq(fixture.last.kind, HTTP_VIEW_TIMELINE);
	cr_expect_eq(fixture.last.since, 1795777200);
	cr_expect_eq(fixture.last.bins, 7);
	cr_expect_str_eq(fixture.last.cgroup, "/a b");
	expect("/range.json?since=5&until=6", 200, "{}");
	cr_expect_eq(fixture.last.kind, HTTP_VIEW_RANGE);
	expect("/explain.json?rule=r&cgroup=/a", 200, "{}");
	cr_expect_eq(fixture.last.kind, HTTP_VIEW_EXPLAIN);
	cr_expect_str_eq(fixture.last.rule, "r");
	expect("/alerts.json?since=5", 200, "{}");
	cr_expect_eq(fixture.last.kind, HTTP_VIEW_ALERTS);
	expect("/alerts.json", 200, "alerts");
	cr_expect_eq(fixture.made, 4, "without a range it is the document of the present");
	expect("/top.json?match=5%2A", 200, "{}");
	cr_expect_eq(fixture.last.kind, HTTP_VIEW_TOP);
	cr_expect_str_eq(fixture.last.cgroup, "5*");
	expect("/top.json", 200, "cgroups");
	cr_expect_eq(fixture.made, 5, "without a search it is the document of the present");
}

Test(http_views, invalid_requests_are_refused)
{
	struct http_client client;

	expect("/timeline.json", 400, "expected the parameter since");
	expect("/timeline.json?since=5&until=6&x=1", 400, "only the parameters");
	expect("/timeline.json?since=5&until=6&cgroup=/%00", 400, "only the parameters");
	expect("/alerts.json?since", 400, "only the parameters");
	expect("/top.json?match", 400, "only the parameters match");
	expect("/top.json?match=", 400, "match: expected");
	expect("/zoom.json?cgroup=/a", 403, "Zooms are not served");
	client = http_client_exchange(&server, "HEAD /range.json?since=5 HTTP/1.1\r\nHost: test\r\n\r\n");
	cr_expect_eq(http_client_status(&client), 405);
	http_client_done(&client);
	client = http_client_exchange(&server, "GET /range.json?since=5 HTTP/1.1\r\nHost: evil\r\n\r\n");
	cr_expect_eq(http_client_status(&client), 421);
	http_client_done(&client);
	cr_expect_eq(fixture.asked, 0);
}

Test(http_views, refusals_have_a_reason)
{
	static const struct {
		int error, status;
	} cases[] = {{-ENOENT, 404}, {-EACCES, 403}, {-EINVAL, 400},
		     {-EIO, 500},    {-EBUSY, 503},  {-ENOMEM, 503}};

	fixture.message = "No history is stored.";
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fixture.error = cases[i].error;
		expect("/range.json?since=5", cases[i].status, "No history is stored.\n");
	}
	fixture.message = NULL;
	fixture.error = -EBUSY;
	expect("/range.json?since=5", 503, "Retry-After: 1\r\n");
}

Test(http_views, the_answer_is_sent_when_it_is_ready)
{
	struct http_client client;

	fixture.error = -EAGAIN;
	client = ask("/range.json?since=5");
	while (fixture.asked < 3)
		endpoint_turn(&server);
	fixture.error = 0;
	http_client_receive_all(&server, &client);
	cr_expect_eq(http_client_status(&client), 200);
	http_client_done(&client);
	cr_expect_eq(fixture.made, 1);
}

Test(http_views, an_answer_beyond_its_size_limit_is_refused)
{
	fixture.size = HTTP_VIEW_BYTES_MAX;
	expect("/range.json?since=5", 200, "{");
	fixture.size++;
	expect("/range.json?since=5", 400, "The answer is too large");
}

/*
 * One view of an owner is made at a time, some queue, and the others are refused. A client that leaves frees its place
 * when the history has answered.
 */
Test(http_views, waiting_requests_are_limited)
{
	struct http_client clients[HTTP_VIEWS_OWNER_MAX];
	char path[64];

	fixture.error = -EAGAIN;
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		(void)snprintf(path, sizeof(path), "/range.json?since=%zu", i);
		clients[i] = ask(path);
		turns(5);
		cr_expect_eq(fixture.last.since, 0, "the first one is made alone");
	}
	expect("/range.json?since=99", 503, "of this user or address is waiting for views");
	/* The history still has the question of a client that leaves, so the next one does not begin. */
	http_client_done(&clients[0]);
	clients[0] = ask("/range.json?since=77");
	turns(20);
	while (http_client_receive(&clients[0])) {
		http_client_done(&clients[0]);
		clients[0] = ask("/range.json?since=77");
		turns(20);
	}
	cr_expect_eq(fixture.last.since, 0);
	fixture.error = 0;
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		http_client_receive_all(&server, &clients[i]);
		cr_expect_eq(http_client_status(&clients[i]), 200, "%zu: %s", i, clients[i].data);
		http_client_done(&clients[i]);
	}
	cr_expect_eq(fixture.made, ARRAY_SIZE(clients), "not that of the client that left");
	cr_expect_eq(fixture.last.since, 77, "in the order of the requests");
}

/* A request of another user is begun, although the clients of this user left all that they asked for. */
Test(http_views, clients_that_leave_take_one_place_of_all)
{
	_cleanup_(http_client_done) struct http_client client;

	if (geteuid() != 0)
		cr_skip_test("needs root to be two users");
	fixture.error = -EAGAIN;
	for (unsigned int i = 0; i < 2 * HTTP_VIEWS_ASKED_MAX; i++) {
		client = ask("/range.json?since=5");
		turns(5);
		http_client_done(&client);
		turns(5);
	}
	client = ask_as(NOBODY, "/range.json?since=77");
	for (unsigned int i = 0; i < 100 && fixture.last.since != 77; i++)
		endpoint_turn(&server);
	cr_expect_eq(fixture.last.since, 77);
	fixture.error = 0;
	http_client_receive_all(&server, &client);
	cr_expect_eq(http_client_status(&client), 200);
}

Test(http_views, a_view_whose_client_left_is_not_made)
{
	struct http_client client;

	fixture.error = -EAGAIN;
	client = ask("/range.json?since=5");
	while (fixture.asked < 2)
		endpoint_turn(&server);
	http_client_done(&client);
	client = ask("/range.json?since=6");
	turns(5);
	cr_expect_eq(fixture.last.since, 5, "the history still has a question of this user");
	fixture.error = 0;
	http_client_receive_all(&server, &client);
	cr_expect_eq(http_client_status(&client), 200);
	http_client_done(&client);
	cr_expect_eq(fixture.unwanted, 1);
	cr_expect_eq(fixture.made, 1);
}

Test(http_views, requests_per_second_are_limited)
{
	const u64 begun_ns = monotonic_ns();
	u64 most;

	for (unsigned int i = 0; i < HTTP_PENDING_VIEWS_BURST + 5; i++)
		expect("/range.json?since=5", 200, "{}");
	most = HTTP_PENDING_VIEWS_BURST + 1 +
	       (monotonic_ns() - begun_ns) * HTTP_PENDING_VIEWS_PER_SECOND / NSEC_PER_SEC;
	cr_expect_leq(fixture.made, most);
}

/* Another user's view is made between those of a user who asks for one after the other. */
static void expect_turns(void)
{
	struct http_client other = ask("/range.json?since=5"), client;
	const unsigned int most = fixture.made + 20;

	turns(5);
	client = ask_as(NOBODY, "/range.json?since=77");
	while (!http_client_receive(&client) && fixture.made < most) {
		if (http_client_receive(&other)) {
			http_client_receive_all(&server, &other);
			cr_expect_eq(http_client_status(&other), 200);
			http_client_done(&other);
			other = ask("/range.json?since=5");
		}
		endpoint_turn(&server);
	}
	cr_expect_lt(fixture.made, most);
	http_client_done(&other);
	http_client_receive_all(&server, &client);
	cr_expect_eq(http_client_status(&client), 200, "%s", client.data);
	http_client_done(&client);
}

Test(http_views, users_who_ask_in_a_loop_take_turns_with_others)
{
	if (geteuid() != 0)
		cr_skip_test("needs root to be two users");
	for (unsigned int i = 0; i < HTTP_PENDING_VIEWS_BURST; i++)
		expect("/range.json?since=5", 200, "{}");
	expect_turns();
}

/* After a view that took long, views rest. */
Test(http_views, users_who_ask_for_slow_views_take_turns_with_others)
{
	if (geteuid() != 0)
		cr_skip_test("needs root to be two users");
	fixture.takes_ns = 10 * NSEC_PER_MSEC;
	expect("/range.json?since=5", 200, "{}");
	expect_turns();
}

/* It ends in .fini. */
Test(http_views, the_endpoint_can_end_while_a_client_waits)
{
	static struct http_client client;

	fixture.error = -EAGAIN;
	client = ask("/range.json?since=5");
	turns(5);
	cr_expect_gt(fixture.asked, 0);
	cr_expect_geq(client.fd, 0);
}
