// SPDX-License-Identifier: GPL-2.0
/* Profiles over HTTP: clients that wait, leave, are too many, or ask for nonsense. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "endpoint.h"
#include "fake_clock.h"
#include "http/http_pending_profiles.h"
#include "http/server/http_profile.h"
#include "http/shared/http_wire.h"
#include "http_client.h"

#define SIZE 100000

/* The source of the profiles. */
struct fixture {
	bool enabled, modelled;
	int begin_error;
	const char *message;
	int write_error;
	enum http_profile_state state;
	u64 id;      /* id of the next profile that begins */
	size_t size; /* of the profiles */
	char path[256];
	double seconds;
	enum http_profile_form form;
	unsigned int begun, written, left;
	u64 left_id;
};

static struct fixture fixture;
static struct endpoint server;

static bool is_enabled(void *userdata, enum http_profile_form form)
{
	const struct fixture *of = userdata;

	return of->enabled || (form == HTTP_PROFILE_FLAME && of->modelled);
}

static int begin(void *userdata, const char *path, double seconds, u64 *ret_id, char **ret_message)
{
	struct fixture *of = userdata;

	*ret_message = of->message ? strdup(of->message) : NULL;
	if (of->begin_error)
		return of->begin_error;
	(void)snprintf(of->path, sizeof(of->path), "%s", path);
	of->seconds = seconds;
	of->begun++;
	*ret_id = of->id;
	return 0;
}

static enum http_profile_state state(void *userdata, u64 id)
{
	const struct fixture *of = userdata;

	(void)id;
	return of->state;
}

static int write_profile(void *userdata, u64 id, enum http_profile_form form, u8 **ret, size_t *ret_size)
{
	struct fixture *of = userdata;

	of->form = form;
	if (of->write_error)
		return of->write_error;
	*ret = malloc(of->size);
	cr_assert_not_null(*ret);
	for (size_t i = 0; i < of->size; i++)
		(*ret)[i] = (u8)(i * i + id);
	*ret_size = of->size;
	of->written++;
	return 0;
}

static void leave(void *userdata, u64 id)
{
	struct fixture *of = userdata;

	of->left++;
	of->left_id = id;
}

static void start(void)
{
	struct http_source source = endpoint_source(&server);
	const struct listen_address any_port = endpoint_loopback(0);

	fixture = (struct fixture){.enabled = true, .id = 7, .size = SIZE};
	source.profiles = (struct http_profiles){.userdata = &fixture,
						 .enabled = is_enabled,
						 .begin = begin,
						 .state = state,
						 .write = write_profile,
						 .leave = leave};
	endpoint_start_with(&server, &any_port, &source, "test");
}

static void stop(void)
{
	endpoint_stop(&server);
}

TestSuite(http_profile, .init = start, .fini = stop);

static struct http_client ask(const char *query)
{
	struct http_client client = {.fd = http_client_connect(&server)};
	_cleanup_free_ char *text = NULL;

	cr_assert_gt(asprintf(&text, "GET /debug/pprof/memory%s HTTP/1.1\r\nHost: test\r\n\r\n", query), 0);
	http_client_send(&server, &client, text);
	return client;
}

#define NOBODY 65534

static struct http_client ask_as(uid_t user, const char *query)
{
	struct http_client client;

	cr_assert_eq(seteuid(user), 0);
	client = ask(query);
	cr_assert_eq(seteuid(0), 0);
	return client;
}

/* Runs the loop until the counter of begun or left profiles is `count`. */
static void wait_until(const unsigned int *counter, unsigned int count)
{
	while (*counter < count)
		endpoint_turn(&server);
	cr_assert_eq(*counter, count);
}

static void expect(const char *query, int status, const char *text)
{
	_cleanup_(http_client_done) struct http_client client = ask(query);

	http_client_receive_all(&server, &client);
	cr_expect_eq(http_client_status(&client), status, "%s: %.300s", query, client.data);
	cr_expect(strstr(client.data, text), "%s: %.300s", query, client.data);
}

static void expect_health(void)
{
	_cleanup_(http_client_done) struct http_client client = http_client_get(&server, "/healthz", "");

	cr_expect_eq(http_client_status(&client), 200);
}

Test(http_profile, the_answer_is_sent_when_it_is_ready)
{
	struct http_client client = ask("?cgroup=/system.slice/a%20b%2Fc.service&seconds=12");
	const char *body;
	size_t length;

	wait_until(&fixture.begun, 1);
	for (int i = 0; i < 5; i++)
		expect_health();
	(void)http_client_receive(&client);
	cr_expect_eq(client.length, 0);
	cr_expect_str_eq(fixture.path, "/system.slice/a b/c.service");
	cr_expect_eq(fixture.seconds, 12);
	fixture.state = HTTP_PROFILE_READY;
	http_client_receive_all(&server, &client);
	cr_expect_eq(http_client_status(&client), 200);
	cr_expect(strstr(client.data, "Content-Type: application/octet-stream\r\n"));
	cr_expect(strstr(client.data, "Content-Disposition: attachment; filename=\"profile\"\r\n"));
	body = http_client_body(&client, &length);
	cr_assert_eq(length, SIZE);
	for (size_t i = 0; i < SIZE; i++)
		cr_assert_eq((u8)body[i], (u8)(i * i + 7));
	http_client_done(&client);
	cr_expect_eq(fixture.left, 1);
	cr_expect_eq(fixture.left_id, 7);
}

Test(http_profile, the_default_is_thirty_seconds)
{
	fixture.state = HTTP_PROFILE_READY;
	expect("?cgroup=/", 200, "octet-stream");
	cr_expect_eq(fixture.seconds, 30);
	cr_expect_str_eq(fixture.path, "/");
}

Test(http_profile, profiles_are_refused_when_disabled)
{
	_cleanup_(http_client_done) struct http_client client;

	fixture.enabled = false;
	/* The answer is the same before and after the HTTP process learns that there are no profiles. */
	expect("?cgroup=/a", 404, "`profiles = yes` in [export]");
	http_broker_configure(server.broker, "test");
	expect("?cgroup=/a", 404, "`profiles = yes` in [export]");
	cr_expect_eq(fixture.begun, 0);
	client = http_client_get(&server, "/", "");
	cr_expect_null(strstr(client.data, "pprof"));
	http_client_done(&client);
	fixture.enabled = true;
	http_broker_configure(server.broker, "test");
	client = http_client_get(&server, "/", "");
	cr_expect(strstr(client.data, "/debug/pprof/memory?cgroup="));
}

Test(http_profile, an_endpoint_without_profiles_refuses_them)
{
	endpoint_stop(&server);
	endpoint_start(&server);
	expect("?cgroup=/a", 404, "Profiles are not served");
}

/* Its request would not fit into a message to pebsd. */
Test(http_profile, a_path_that_is_too_long_for_a_cgroup_is_not_found)
{
	char target[10000] = "?cgroup=/";

	memset(target + strlen(target), 'a', sizeof(target) - strlen(target) - 1);
	expect(target, 404, "No cgroup has this path.");
}

Test(http_profile, parameters_of_a_profile_are_checked)
{
	static const char *const bad[] = {
		"",
		"?",
		"?cgroup",
		"?cgroup=",
		"?cgroup=a",
		"?cgroup=/a%00b",
		"?cgroup=/a&cgroup=/b",
		"?cgroup=/a&seconds=0",
		"?cgroup=/a&seconds=301",
		"?cgroup=/a&seconds=-1",
		"?cgroup=/a&seconds=1.5",
		"?cgroup=/a&seconds=",
		"?cgroup=/a&seconds",
		"?cgroup=/a&seconds=5&seconds=6",
		"?cgroup=/a&seconds=99999999999999999999",
		"?cgroup=/a&second=5",
		"?Cgroup=/a",
		"?cgroup=/a&=",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		expect(bad[i], 400, "\r\n\r\n");
	expect("?seconds=5", 400, "cgroup: expected the path of a cgroup");
	expect("?cgroup=/a&seconds=0", 400, "from 1 to 300");
	cr_expect_eq(fixture.begun, 0);
	fixture.state = HTTP_PROFILE_READY;
	expect("?seconds=300&cgroup=/a", 200, "octet-stream");
	cr_expect_eq(fixture.seconds, 300);
}

Test(http_profile, other_methods_are_refused)
{
	static const char *const methods[] = {"HEAD", "POST", "PUT"};

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		struct http_client client = http_client_exchange(
			&server, "%s /debug/pprof/memory?cgroup=/a HTTP/1.1\r\nHost: test\r\n\r\n",
			methods[i]);

		cr_expect_eq(http_client_status(&client), 405, "%s", methods[i]);
		cr_expect(strstr(client.data, "\r\nAllow: GET"));
		http_client_done(&client);
	}
	cr_expect_eq(fixture.begun, 0);
}

Test(http_profile, a_refused_profile_has_a_reason)
{
	fixture.message = "cgroup /a does not exist";
	fixture.begin_error = -ENOENT;
	expect("?cgroup=/a", 404, "cgroup /a does not exist\n");
	fixture.message = "4 zooms are running";
	fixture.begin_error = -EBUSY;
	expect("?cgroup=/a", 503, "\r\nRetry-After: 30\r\n");
	expect("?cgroup=/a", 503, "4 zooms are running\n");
	fixture.message = NULL;
	fixture.begin_error = -EOPNOTSUPP;
	expect("?cgroup=/a", 503, "Operation not supported\n");
	fixture.begin_error = 0;
	fixture.state = HTTP_PROFILE_GONE;
	expect("?cgroup=/a", 503, "make room for another");
	fixture.state = HTTP_PROFILE_READY;
	fixture.write_error = -ENOMEM;
	expect("?cgroup=/a", 500, "the daemon's log says why");
	cr_expect_eq(fixture.left, 2);
	expect_health();
}

Test(http_profile, a_client_that_disconnects_ends_its_profile)
{
	struct http_client first = ask("?cgroup=/a"), second, third;

	wait_until(&fixture.begun, 1);
	http_client_done(&first);
	wait_until(&fixture.left, 1);
	cr_expect_eq(fixture.left_id, 7);

	/* Two clients wait for the same profile: it ends when the second client leaves. */
	first = ask("?cgroup=/a");
	second = ask("?cgroup=/a");
	wait_until(&fixture.begun, 3);
	fixture.id = 8;
	third = ask("?cgroup=/b");
	wait_until(&fixture.begun, 4);
	http_client_done(&first);
	for (int i = 0; i < 20; i++)
		endpoint_turn(&server);
	cr_expect_eq(fixture.left, 1, "the second still waits for it");
	http_client_done(&second);
	wait_until(&fixture.left, 2);
	cr_expect_eq(fixture.left_id, 7);
	fixture.state = HTTP_PROFILE_READY;
	http_client_receive_all(&server, &third);
	cr_expect_eq(http_client_status(&third), 200);
	http_client_done(&third);
	cr_expect_eq(fixture.left, 3);
	cr_expect_eq(fixture.written, 1);
	expect_health();
}

/* Clients leave with a reset, or at the moment when the profile is ready. */
Test(http_profile, clients_that_disconnect_at_any_time_are_forgotten)
{
	const struct linger reset = {.l_onoff = 1, .l_linger = 0};

	for (unsigned int i = 0; i < HTTP_PENDING_PROFILES_BURST; i++) {
		struct http_client client = ask("?cgroup=/a");

		fixture.state = HTTP_PROFILE_UNDER_WAY;
		wait_until(&fixture.begun, i + 1);
		if (i % 2)
			(void)setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		if (i % 4 >= 2)
			fixture.state = HTTP_PROFILE_READY;
		http_client_done(&client);
		wait_until(&fixture.left, i + 1);
	}
	expect_health();
}

/* The number of profiles that begin in a short time is limited, however many clients leave. */
Test(http_profile, a_user_whose_clients_leave_only_delays_others)
{
	const u64 begun_ns = monotonic_ns();
	struct http_client client;

	if (geteuid() != 0)
		cr_skip_test("needs root to be two users");
	for (unsigned int i = 0; i < 2 * HTTP_PENDING_PROFILES_BURST; i++) {
		client = ask("?cgroup=/a");
		for (int turn = 0; turn < 5; turn++)
			endpoint_turn(&server);
		http_client_done(&client);
	}
	fixture.id = 8;
	fixture.state = HTTP_PROFILE_READY;
	client = ask_as(NOBODY, "?cgroup=/b");
	http_client_receive_all(&server, &client);
	cr_expect_eq(http_client_status(&client), 200, "%s", client.data);
	cr_expect_str_eq(fixture.path, "/b");
	http_client_done(&client);
	cr_expect_leq(fixture.begun,
		      HTTP_PENDING_PROFILES_BURST + 1 +
			      (monotonic_ns() - begun_ns) * HTTP_PENDING_PROFILES_PER_SECOND / NSEC_PER_SEC);
}

Test(http_profile, waiting_clients_are_limited)
{
	struct http_client clients[HTTP_PROFILES_MAX];

	if (geteuid() != 0)
		cr_skip_test("needs root to be two users");
	for (unsigned int i = 0; i < ARRAY_SIZE(clients); i++) {
		fixture.id = i + 1;
		if (i == HTTP_PROFILES_OWNER_WAITING_MAX)
			expect("?cgroup=/a", 503, "of this user or address is waiting");
		clients[i] = ask_as(i < HTTP_PROFILES_OWNER_WAITING_MAX ? 0 : NOBODY, "?cgroup=/a");
		wait_until(&fixture.begun, i + 1);
	}
	expect("?cgroup=/a", 503, "The maximum number of clients is waiting");
	cr_expect_eq(fixture.begun, HTTP_PROFILES_MAX);
	expect_health();
	fixture.state = HTTP_PROFILE_READY;
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		http_client_receive_all(&server, &clients[i]);
		cr_expect_eq(http_client_status(&clients[i]), 200);
		http_client_done(&clients[i]);
	}
	expect("?cgroup=/a", 200, "octet-stream");
}

/* Asks for a profile as this user, and receives only its beginning. */
static struct http_client begin_to_receive(uid_t user)
{
	struct http_client client = ask_as(user, "?cgroup=/a");

	while (!http_client_receive(&client))
		endpoint_turn(&server);
	return client;
}

/* Clients that do not read hold their profiles, which are larger than the kernel's buffers. */
Test(http_profile, few_clients_hold_a_profile_at_a_time)
{
	struct http_client clients[HTTP_PROFILES_HELD_MAX], third;
	int status = 0;

	if (geteuid() != 0)
		cr_skip_test("needs root to be two users");
	fixture.state = HTTP_PROFILE_READY;
	fixture.size = 8 << 20;
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		const uid_t user = i < HTTP_PROFILES_OWNER_MAX ? 0 : NOBODY;

		/* Wait until the rate limit permits another profile. */
		if (i == HTTP_PROFILES_OWNER_MAX) {
			fake_clock_advance(2 * NSEC_PER_SEC / HTTP_PENDING_PROFILES_PER_SECOND);
			expect("?cgroup=/a", 503,
			       "of this user or address is waiting for profiles or receiving them");
			expect_health();
		}
		clients[i] = begin_to_receive(user);
		cr_assert_eq(http_client_status(&clients[i]), 200, "%zu: %.300s", i, clients[i].data);
	}
	fake_clock_advance(2 * NSEC_PER_SEC / HTTP_PENDING_PROFILES_PER_SECOND);
	third = begin_to_receive(NOBODY - 1);
	cr_expect_eq(http_client_status(&third), 503);
	cr_expect(
		strstr(third.data, "The maximum number of clients is waiting for profiles or receiving them"),
		"%.300s", third.data);
	http_client_done(&third);
	expect_health();
	fixture.size = SIZE;
	http_client_done(&clients[0]);
	/* The server learns in a moment that the client has left. */
	for (int i = 0; status != 200 && i < 8; i++) {
		struct http_client client;

		fake_clock_advance(NSEC_PER_SEC / HTTP_PENDING_PROFILES_PER_SECOND);
		client = ask("?cgroup=/a");

		http_client_receive_all(&server, &client);
		status = http_client_status(&client);
		http_client_done(&client);
	}
	cr_expect_eq(status, 200);
	for (size_t i = 1; i < ARRAY_SIZE(clients); i++)
		http_client_done(&clients[i]);
}

/* pebsd passes a profile as a file descriptor, which holds the memory for as long as the client likes. */
Test(http_profile, a_profile_beyond_its_size_limit_is_refused)
{
	fixture.state = HTTP_PROFILE_READY;
	fixture.size = HTTP_PROFILE_BYTES_MAX + 1;
	expect("?cgroup=/a", 500, "too large");
}

Test(http_profile, the_end_of_the_endpoint_ends_the_profiles_of_waiting_clients)
{
	struct http_client first = ask("?cgroup=/a"), second = ask("?cgroup=/a");

	wait_until(&fixture.begun, 2);
	endpoint_stop(&server);
	cr_expect_eq(fixture.left, 1, "one profile that both waited for");
	http_client_done(&first);
	http_client_done(&second);
}

/*
 * A client that waits is not slow: the time limit of its connection begins with the answer. The loop does not
 * spin in the meantime.
 */
Test(http_profile, a_profile_may_take_longer_than_other_requests)
{
	_cleanup_(http_client_done) struct http_client client = ask("?cgroup=/a&seconds=20");
	unsigned int turns = 0;

	wait_until(&fixture.begun, 1);
	for (unsigned int ms = 0; ms < (HTTP_TIMEOUT_SECONDS + 1) * 1000; ms += 10) {
		fake_clock_advance(10 * NSEC_PER_MSEC);
		while (turns < 550 && sd_event_run(server.event, 0) > 0)
			turns++;
	}
	cr_expect_lt(turns, 550, "%u turns", turns);
	fixture.state = HTTP_PROFILE_READY;
	http_client_receive_all(&server, &client);
	cr_expect_eq(http_client_status(&client), 200);
}
