// SPDX-License-Identifier: GPL-2.0
/*
 * Clients that send garbage, are slow, are many, or leave. They use loopback, in the thread and event loop of
 * the server.
 */
#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "endpoint.h"
#include "fake_clock.h"
#include "http/server/http_server.h"
#include "http/shared/http_places.h"
#include "http_client.h"

static struct endpoint server;

static void start(void)
{
	endpoint_start(&server);
}

static void stop(void)
{
	endpoint_stop(&server);
}

TestSuite(http, .init = start, .fini = stop);

Test(http, garbage_does_not_affect_other_clients)
{
	static const char *const garbage[] = {
		"\r\n\r\nwhat\r\n\r\n",
		"GET\r\n\r\n",
		"GET /metrics\r\n\r\n",
		"GET /metrics HTTP/9.9\r\n\r\n",
		"\x16\x03\x01\x02\x01\x01\xff\xfe\x80\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
		"GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: ;;;\"\"\\\r\nAccept-Encoding: ;q=,,,\r\n\r\n",
	};
	_cleanup_(http_client_done) struct http_client client;
	_cleanup_free_ char *head = malloc(200001);

	for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
		client = (struct http_client){.fd = http_client_connect(&server)};
		http_client_send(&server, &client, garbage[i]);
		(void)shutdown(client.fd, SHUT_WR);
		http_client_receive_all(&server, &client);
		http_client_done(&client);
	}
	/* A header without an end, then a long path. */
	memset(head, 'a', 200000);
	head[200000] = '\0';
	client = http_client_exchange(&server, "GET / HTTP/1.1\r\nX: %s", head);
	cr_expect(!client.length || http_client_status(&client) == 431 || http_client_status(&client) == 413,
		  "%.100s", client.data);
	http_client_done(&client);
	client = http_client_exchange(&server, "GET /%s HTTP/1.1\r\n\r\n", head);
	cr_expect(!client.length || http_client_status(&client) == 414, "%.100s", client.data);
	http_client_done(&client);

	client = http_client_get(&server, "/healthz", "");
	cr_expect_eq(http_client_status(&client), 200);
}

/*
 * One client sends nothing, one sends byte by byte, and one does not read. Other clients are served in the meantime:
 * each has its whole answer before the slow one sends its next byte.
 */
Test(http, slow_clients_do_not_delay_others)
{
	static const char trickle[] = "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n";
	struct http_client silent, slow, deaf, before, quick;
	int small = 16384;

	silent = (struct http_client){.fd = http_client_connect(&server)};
	slow = (struct http_client){.fd = http_client_connect(&server)};
	deaf = (struct http_client){.fd = http_client_connect(&server)};
	(void)setsockopt(deaf.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	http_client_send(&server, &deaf, "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
	for (size_t i = 0; i + 1 < sizeof(trickle); i++) {
		const char one[] = {trickle[i], '\0'};

		http_client_send(&server, &slow, one);
		quick = http_client_get(&server, "/healthz", "");
		cr_expect_eq(http_client_status(&quick), 200);
		http_client_done(&quick);
	}
	http_client_receive_all(&server, &slow);
	cr_expect_eq(http_client_status(&slow), 200);
	/* A later change of the figures does not change the answer that is being sent to the deaf client. */
	before = http_client_get(&server, "/metrics", "");
	server.source.sequence++;
	quick = http_client_get(&server, "/metrics", "");
	http_client_receive_all(&server, &deaf);
	cr_expect_eq(http_client_status(&deaf), 200);
	{
		size_t deaf_length, before_length, quick_length;
		const char *deaf_body = http_client_body(&deaf, &deaf_length);
		const char *before_body = http_client_body(&before, &before_length);
		const char *quick_body = http_client_body(&quick, &quick_length);

		cr_assert_eq(deaf_length, ENDPOINT_BODY_LENGTH);
		cr_assert_eq(before_length, ENDPOINT_BODY_LENGTH);
		cr_assert_eq(quick_length, ENDPOINT_BODY_LENGTH);
		cr_expect_eq(memcmp(deaf_body, before_body, ENDPOINT_BODY_LENGTH), 0);
		cr_expect_neq(memcmp(quick_body, before_body, ENDPOINT_BODY_LENGTH), 0);
	}
	http_client_done(&before);
	http_client_done(&quick);
	http_client_done(&silent);
	http_client_done(&slow);
	http_client_done(&deaf);
}

#define CROWD (HTTP_PLACES_MAX + 144)

static size_t count_ended(struct http_client *clients, size_t n)
{
	size_t ended = 0;

	for (size_t i = 0; i < n; i++) {
		ssize_t got;
		char byte;

		got = recv(clients[i].fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
		clients[i].ended = got == 0 || (got < 0 && errno != EAGAIN && errno != ENOTCONN);
		ended += clients[i].ended;
	}
	return ended;
}

/*
 * Runs the loop until the server has hung up on `n` clients, and a little longer. Returns the number of such
 * clients.
 */
static size_t settle(struct http_client *clients, size_t n_clients, size_t n)
{
	while (count_ended(clients, n_clients) < n)
		endpoint_turn(&server);
	for (int i = 0; i < 20; i++)
		endpoint_turn(&server);
	return count_ended(clients, n_clients);
}

#define STEP_MS  10
#define STEPS_MS ((HTTP_TIMEOUT_SECONDS - 1) * 1000U)

/* Half as many as the clock has steps. A loop that spins takes more in one step. */
#define TURNS_MAX (STEPS_MS / STEP_MS / 2)

/*
 * Some clients send nothing, some send a byte a second, and none completes a request. The loop does not spin, and the
 * server hangs up on them after the timeout.
 */
Test(http, endless_requests_are_disconnected)
{
	/* Clients of half of the places have the full time limit (http_places.h). `next` has the last of these. */
	struct http_client clients[HTTP_PLACES_MAX / 2 - 1];
	struct http_client next;
	unsigned int turns = 0;

	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		clients[i] = (struct http_client){.fd = http_client_connect(&server)};
	for (unsigned int ms = 0; ms < STEPS_MS; ms += STEP_MS) {
		if (ms % 1000 == 0) {
			for (size_t i = 0; i < ARRAY_SIZE(clients); i += 2)
				(void)send(clients[i].fd, "G", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
			/* `next` connects last, so once it has its answer, the others have been accepted. */
			next = http_client_get(&server, "/healthz", "");
			cr_expect_eq(http_client_status(&next), 200);
			http_client_done(&next);
		}
		fake_clock_advance(STEP_MS * NSEC_PER_MSEC);
		while (turns < TURNS_MAX && sd_event_run(server.event, 0) > 0)
			turns++;
	}
	cr_expect_lt(turns, TURNS_MAX, "the loop spins: %u turns", turns);
	cr_expect_eq(count_ended(clients, ARRAY_SIZE(clients)), 0);
	fake_clock_advance(2 * NSEC_PER_SEC);
	(void)settle(clients, ARRAY_SIZE(clients), ARRAY_SIZE(clients));
	next = http_client_get(&server, "/healthz", "");
	cr_expect_eq(http_client_status(&next), 200);
	http_client_done(&next);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		http_client_done(&clients[i]);
}

/*
 * A client never has to wait for a place: each new client gets one, and the oldest silent client loses its
 * place.
 */
Test(http, every_client_is_accepted_and_the_slowest_are_disconnected)
{
	struct http_client crowd[CROWD], quick;
	size_t ended;

	for (size_t i = 0; i < CROWD; i++) {
		crowd[i] = (struct http_client){.fd = http_client_connect(&server)};
		endpoint_turn(&server);
	}
	ended = settle(crowd, CROWD, CROWD - HTTP_PLACES_MAX);
	cr_expect_eq(ended, CROWD - HTTP_PLACES_MAX);
	for (size_t i = ended; i < CROWD; i++)
		cr_expect_not(crowd[i].ended, "client %zu", i);
	quick = http_client_get(&server, "/metrics", "");
	cr_expect_eq(http_client_status(&quick), 200);
	http_client_done(&quick);
	for (size_t i = 0; i < CROWD; i++)
		http_client_done(&crowd[i]);
}

/* More than the kernel buffers for a client that does not read. */
#define LONG_BODY (8UL << 20)

Test(http, a_reading_client_is_served_next_to_a_crowd_that_does_not_read)
{
	struct http_client crowd[CROWD], quick;
	size_t length;

	server.source.length = LONG_BODY;
	for (size_t i = 0; i < CROWD; i++) {
		crowd[i] = (struct http_client){.fd = http_client_connect(&server)};
		http_client_send(&server, &crowd[i], "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
	}
	for (int i = 0; i < 3; i++) {
		quick = http_client_get(&server, "/metrics", "");
		cr_expect_eq(http_client_status(&quick), 200);
		(void)http_client_body(&quick, &length);
		cr_expect_eq(length, LONG_BODY, "%zu", length);
		http_client_done(&quick);
	}
	for (size_t i = 0; i < CROWD; i++)
		http_client_done(&crowd[i]);
}

static bool is_connected(int fd)
{
	struct tcp_info info = {0};
	socklen_t length = sizeof(info);

	cr_assert_eq(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
	return info.tcpi_state != TCP_CLOSE;
}

/*
 * When the kernel has taken a whole answer, the client must still read it. The connection keeps its place
 * until then. Otherwise each such client would leave behind a buffer that no limit includes.
 */
Test(http, clients_that_do_not_read_hold_only_their_connections)
{
	struct http_client crowd[CROWD], quick;
	size_t connected = 0, length;
	const int small = 4096;

	server.source.length = 40000;
	for (size_t i = 0; i < CROWD; i++) {
		crowd[i] = (struct http_client){.fd = http_client_connect(&server)};
		(void)setsockopt(crowd[i].fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
		http_client_send(&server, &crowd[i], "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
	}
	for (int i = 0; i < 200; i++)
		endpoint_turn(&server);
	for (size_t i = 0; i < CROWD; i++)
		connected += is_connected(crowd[i].fd);
	cr_expect_leq(connected, HTTP_PLACES_MAX);
	cr_expect_gt(connected, 0);
	/* The last client still gets its whole answer. */
	http_client_receive_all(&server, &crowd[CROWD - 1]);
	(void)http_client_body(&crowd[CROWD - 1], &length);
	cr_expect_eq(length, 40000);
	quick = http_client_get(&server, "/metrics", "");
	cr_expect_eq(http_client_status(&quick), 200);
	http_client_done(&quick);
	for (size_t i = 0; i < CROWD; i++)
		http_client_done(&crowd[i]);
}

static int connect_from(const char *address)
{
	struct sockaddr_in own = {.sin_family = AF_INET}, to = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	cr_assert_geq(fd, 0);
	cr_assert_eq(inet_pton(AF_INET, address, &own.sin_addr), 1);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.sin_port = htons(endpoint_port(&server));
	cr_assert_eq(bind(fd, (const struct sockaddr *)&own, sizeof(own)), 0);
	cr_assert(connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS);
	return fd;
}

/* A client of another address keeps its place, although it is slower than the whole crowd. */
Test(http, a_crowd_from_one_address_does_not_affect_another)
{
	static const char rest[] = "ET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
	struct http_client crowd[CROWD], slow;

	endpoint_stop(&server);
	endpoint_start_by_address(&server);
	slow = (struct http_client){.fd = connect_from("127.0.0.2")};
	http_client_send(&server, &slow, "G");
	for (size_t i = 0; i < CROWD; i++) {
		crowd[i] = (struct http_client){.fd = connect_from("127.0.0.3")};
		endpoint_turn(&server);
	}
	cr_expect_eq(settle(crowd, CROWD, CROWD + 1 - HTTP_PLACES_MAX), CROWD + 1 - HTTP_PLACES_MAX);
	http_client_send(&server, &slow, rest);
	http_client_receive_all(&server, &slow);
	cr_expect_eq(http_client_status(&slow), 200);
	http_client_done(&slow);
	for (size_t i = 0; i < CROWD; i++)
		http_client_done(&crowd[i]);
}

Test(http, a_hundred_concurrent_clients_are_served)
{
	struct http_client clients[100];
	size_t ended = 0;

	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		clients[i] = (struct http_client){.fd = http_client_connect(&server)};
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		http_client_send(
			&server, &clients[i],
			i % 2 ? "GET /metrics HTTP/1.1\r\nHost: test\r\nAccept-Encoding: gzip\r\n\r\n"
			      : "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
	while (ended < ARRAY_SIZE(clients)) {
		endpoint_turn(&server);
		ended = 0;
		for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
			if (!clients[i].ended)
				(void)http_client_receive(&clients[i]);
			ended += clients[i].ended;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		size_t length;

		cr_expect_eq(http_client_status(&clients[i]), 200);
		(void)http_client_body(&clients[i], &length);
		cr_expect(i % 2 ? length > 0 : length == ENDPOINT_BODY_LENGTH, "client %zu: %zu bytes", i,
			  length);
		http_client_done(&clients[i]);
	}
	cr_expect_eq(server.source.rendered, 1);
}

Test(http, a_client_that_disconnects_early_is_forgotten)
{
	struct http_client client;

	/* If connections leaked, these would take more than all places. */
	for (int i = 0; i <= HTTP_PLACES_ROOM; i++) {
		const struct linger reset = {.l_onoff = 1, .l_linger = 0};

		client = (struct http_client){.fd = http_client_connect(&server)};
		http_client_send(&server, &client, "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
		(void)setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		http_client_done(&client);
	}
	client = http_client_get(&server, "/metrics", "");
	cr_expect_eq(http_client_status(&client), 200);
	http_client_done(&client);
	/* This socket stays open, so that its client is still being served when the endpoint ends. */
	client = (struct http_client){.fd = http_client_connect(&server)};
	http_client_send(&server, &client, "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
}
