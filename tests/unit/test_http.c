// SPDX-License-Identifier: GPL-2.0
/* Real requests over loopback; server and clients share one thread and one event loop. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "export/http.h"

#define DEADLINE_NS (5 * NSEC_PER_SEC)
#define BODY_LENGTH 300000

/* The daemon's side: a long text that names its format and how often one was made. */
struct source {
	u64 sequence;
	unsigned int rendered;
	int metrics_error;
	int health_error;
};

static u64 sequence_of(void *userdata)
{
	const struct source *source = userdata;

	return source->sequence;
}

static int render(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length)
{
	struct source *source = userdata;
	char *text;

	source->rendered++;
	if (source->metrics_error)
		return source->metrics_error;
	text = malloc(BODY_LENGTH + 1);
	cr_assert_not_null(text);
	for (size_t i = 0; i < BODY_LENGTH; i++)
		text[i] = (char)('a' + (i * i + source->sequence) % 23);
	text[0] = openmetrics ? 'O' : 'T';
	text[BODY_LENGTH] = '\0';
	*ret_text = text;
	*ret_length = BODY_LENGTH;
	return 0;
}

static int health(void *userdata, const char **ret_reason)
{
	const struct source *source = userdata;

	*ret_reason = "every event was refused";
	return source->health_error;
}

struct server {
	sd_event *event;
	struct http *http;
	struct source source;
};

static void start_on(struct server *server, const char *listen)
{
	struct http_source source = {.userdata = &server->source,
				     .version = "1.2.3",
				     .origin = "replay",
				     .sequence = sequence_of,
				     .metrics = render,
				     .health = health};
	_cleanup_free_ char *message = NULL;

	*server = (struct server){.source.sequence = 1};
	cr_assert_geq(sd_event_new(&server->event), 0);
	cr_assert_eq(http_new(server->event, listen, &source, &server->http, &message), 0, "%s", message);
	cr_assert_gt(http_port(server->http), 0);
}

static void start(struct server *server)
{
	start_on(server, "127.0.0.1:0");
}

static void stop(struct server *server)
{
	server->http = http_free(server->http);
	server->event = sd_event_unref(server->event);
}

static u64 now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static int connect_to(const struct server *server)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((u16)http_port(server->http)),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	cr_assert_geq(fd, 0);
	cr_assert(connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ||
		  errno == EINPROGRESS);
	return fd;
}

/* What a client has of its answer. */
struct client {
	char *data;
	size_t length;
	int fd;
	bool ended;
};

static void turn_loop(struct server *server)
{
	cr_assert_geq(sd_event_run(server->event, 1000), 0);
}

static void send_text(struct server *server, const struct client *client, const char *text)
{
	size_t length = strlen(text);
	u64 deadline = now_ns() + DEADLINE_NS;

	while (length && now_ns() < deadline) {
		ssize_t sent = send(client->fd, text, length, MSG_NOSIGNAL);

		if (sent < 0 && errno != EAGAIN && errno != ENOTCONN)
			return; /* the server has hung up, which is an answer too */
		if (sent > 0) {
			text += sent;
			length -= (size_t)sent;
		}
		turn_loop(server);
	}
}

/* Takes what is there; true once there was something or the end. */
static bool receive(struct client *client)
{
	ssize_t got;

	client->data = realloc(client->data, client->length + 65536 + 1);
	cr_assert_not_null(client->data);
	got = recv(client->fd, client->data + client->length, 65536, MSG_DONTWAIT);
	if (got == 0 || (got < 0 && errno != EAGAIN))
		client->ended = true;
	if (got > 0)
		client->length += (size_t)got;
	client->data[client->length] = '\0';
	return got != -1 || client->ended;
}

static void receive_all(struct server *server, struct client *client)
{
	u64 deadline = now_ns() + DEADLINE_NS;

	while (!client->ended && now_ns() < deadline) {
		turn_loop(server);
		(void)receive(client);
	}
	cr_assert(client->ended, "no end of the answer: %.200s", client->data ? client->data : "");
}

static void client_done(struct client *client)
{
	(void)close(client->fd);
	free(client->data);
}

/* One request, whole, and its whole answer. */
static struct client exchange(struct server *server, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static struct client exchange(struct server *server, const char *format, ...)
{
	struct client client = {.fd = connect_to(server)};
	_cleanup_free_ char *request = NULL;
	va_list arguments;

	va_start(arguments, format);
	cr_assert_geq(vasprintf(&request, format, arguments), 0);
	va_end(arguments);
	send_text(server, &client, request);
	receive_all(server, &client);
	return client;
}

static struct client get(struct server *server, const char *path, const char *headers)
{
	return exchange(server, "GET %s HTTP/1.1\r\nHost: test\r\n%s\r\n", path, headers);
}

static int status_of(const struct client *client)
{
	static const char version[] = "HTTP/1.1 ";

	if (!client->data || strncmp(client->data, version, strlen(version)) != 0)
		return 0;
	return (int)strtol(client->data + strlen(version), NULL, 10);
}

static const char *body_of(const struct client *client, size_t *ret_length)
{
	const char *end = client->data ? strstr(client->data, "\r\n\r\n") : NULL;

	cr_assert_not_null(end, "no head in %.100s", client->data ? client->data : "");
	*ret_length = client->length - (size_t)(end + 4 - client->data);
	return end + 4;
}

static bool has_header(const struct client *client, const char *line)
{
	const char *end = client->data ? strstr(client->data, "\r\n\r\n") : NULL;
	const char *found = client->data ? strcasestr(client->data, line) : NULL;

	return found && found < end && strncmp(found + strlen(line), "\r\n", 2) == 0;
}

static void expect_body(const struct client *client, const char *text)
{
	size_t length;
	const char *body = body_of(client, &length);

	cr_expect_eq(length, strlen(text));
	cr_expect_str_eq(body, text);
}

Test(http, metrics_in_the_format_asked_for)
{
	struct server server;
	struct client client;
	size_t length;

	start(&server);
	client = get(&server, "/metrics", "");
	cr_expect_eq(status_of(&client), 200);
	cr_expect(has_header(&client, "Content-Type: text/plain; version=0.0.4; charset=utf-8"));
	cr_expect_not(has_header(&client, "Content-Encoding: gzip"));
	cr_expect_eq(body_of(&client, &length)[0], 'T');
	cr_expect_eq(length, BODY_LENGTH);
	client_done(&client);

	client = get(&server, "/metrics?x=1", "Accept: application/openmetrics-text;version=1.0.0\r\n");
	cr_expect_eq(status_of(&client), 200);
	cr_expect(has_header(&client,
			     "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8"));
	cr_expect_eq(body_of(&client, &length)[0], 'O');
	cr_expect_eq(length, BODY_LENGTH);
	client_done(&client);
	stop(&server);
}

Test(http, gzip_holds_the_same_bytes)
{
	struct server server;
	struct client plain, compressed, refused;
	_cleanup_free_ char *inflated = malloc(BODY_LENGTH + 1);
	z_stream stream = {0};
	size_t length;

	start(&server);
	plain = get(&server, "/metrics", "");
	compressed = get(&server, "/metrics", "Accept-Encoding: gzip\r\n");
	refused = get(&server, "/metrics", "Accept-Encoding: gzip;q=0, deflate\r\n");
	cr_expect(has_header(&compressed, "Content-Encoding: gzip"));
	cr_expect_not(has_header(&refused, "Content-Encoding: gzip"));
	cr_expect(has_header(&compressed, "Vary: Accept, Accept-Encoding"));

	stream.next_in = (Bytef *)body_of(&compressed, &length);
	stream.avail_in = (uInt)length;
	stream.next_out = (Bytef *)inflated;
	stream.avail_out = BODY_LENGTH + 1;
	cr_assert_eq(inflateInit2(&stream, 15 + 16), Z_OK);
	cr_expect_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	cr_expect_eq(stream.avail_in, 0);
	cr_expect_eq(stream.total_out, BODY_LENGTH);
	cr_expect_lt(length, BODY_LENGTH / 2);
	cr_expect_eq(memcmp(inflated, body_of(&plain, &length), BODY_LENGTH), 0);
	cr_expect_eq(memcmp(inflated, body_of(&refused, &length), BODY_LENGTH), 0);
	(void)inflateEnd(&stream);
	client_done(&plain);
	client_done(&compressed);
	client_done(&refused);
	stop(&server);
}

Test(http, a_body_is_made_once_for_a_sequence)
{
	struct server server;
	struct client client;
	char before, after;
	size_t length;

	start(&server);
	for (int i = 0; i < 4; i++) {
		client = get(&server, "/metrics", i % 2 ? "Accept-Encoding: gzip\r\n" : "");
		client_done(&client);
	}
	cr_expect_eq(server.source.rendered, 1);
	client = get(&server, "/metrics", "Accept: application/openmetrics-text\r\n");
	client_done(&client);
	cr_expect_eq(server.source.rendered, 2);
	client = get(&server, "/metrics", "");
	before = body_of(&client, &length)[1];
	client_done(&client);
	server.source.sequence++;
	client = get(&server, "/metrics", "");
	after = body_of(&client, &length)[1];
	client_done(&client);
	cr_expect_eq(server.source.rendered, 3);
	cr_expect_neq(before, after, "what was cached is not served any more");
	stop(&server);
}

Test(http, metrics_that_cannot_be_made)
{
	struct server server;
	struct client client;

	start(&server);
	server.source.metrics_error = -ENOMEM;
	client = get(&server, "/metrics", "");
	cr_expect_eq(status_of(&client), 500);
	cr_expect(strstr(client.data, "Cannot allocate memory"));
	client_done(&client);
	server.source.metrics_error = 0;
	client = get(&server, "/metrics", "");
	cr_expect_eq(status_of(&client), 200);
	client_done(&client);
	stop(&server);
}

Test(http, health_and_its_reason)
{
	struct server server;
	struct client client;

	start(&server);
	client = get(&server, "/healthz", "");
	cr_expect_eq(status_of(&client), 200);
	expect_body(&client, "ok\n");
	client_done(&client);
	server.source.health_error = -ENODEV;
	client = get(&server, "/healthz", "");
	cr_expect_eq(status_of(&client), 503);
	expect_body(&client, "every event was refused\n");
	client_done(&client);
	stop(&server);
}

Test(http, a_page_that_leads_on)
{
	struct server server;
	struct client client;

	start(&server);
	client = get(&server, "/", "");
	cr_expect_eq(status_of(&client), 200);
	cr_expect(has_header(&client, "Content-Type: text/html; charset=utf-8"));
	cr_expect(strstr(client.data, "1.2.3"));
	cr_expect(strstr(client.data, "replay"));
	cr_expect(strstr(client.data, "href=\"/metrics\""));
	cr_expect(strstr(client.data, "href=\"/healthz\""));
	client_done(&client);
	stop(&server);
}

Test(http, head_is_get_without_the_body)
{
	static const char *const paths[] = {"/", "/metrics", "/healthz", "/none"};
	struct server server;

	start(&server);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct client head = exchange(&server, "HEAD %s HTTP/1.1\r\nHost: test\r\n\r\n", paths[i]);
		struct client whole = get(&server, paths[i], "");
		char line[64];
		size_t length;

		cr_expect_eq(status_of(&head), status_of(&whole));
		(void)body_of(&whole, &length);
		(void)snprintf(line, sizeof(line), "Content-Length: %zu", length);
		cr_expect(has_header(&head, line), "%s: %s", paths[i], head.data);
		(void)body_of(&head, &length);
		cr_expect_eq(length, 0);
		client_done(&head);
		client_done(&whole);
	}
	stop(&server);
}

Test(http, unknown_paths_and_methods)
{
	static const char *const paths[] = {"/metrics/",        "/metricsx", "//metrics",
					    "/..%2fetc/passwd", "/%00",      "*"};
	static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "get", "X"};
	struct server server;
	struct client client;

	start(&server);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		client = get(&server, paths[i], "");
		/* %00 ends the path: it is the page. */
		cr_expect_eq(status_of(&client), strcmp(paths[i], "/%00") ? 404 : 200, "%s", paths[i]);
		client_done(&client);
	}
	client = get(&server, "/none", "");
	cr_expect(strstr(client.data, "/metrics") && strstr(client.data, "/healthz"));
	client_done(&client);
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		client = exchange(&server,
				  "%s /metrics HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nhello",
				  methods[i]);
		cr_expect_eq(status_of(&client), 405, "%s", methods[i]);
		cr_expect(has_header(&client, "Allow: GET, HEAD"));
		client_done(&client);
	}
	cr_expect_eq(server.source.rendered, 0);
	stop(&server);
}

Test(http, garbage_harms_nobody)
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
	struct server server;
	struct client client;
	_cleanup_free_ char *head = malloc(200001);

	start(&server);
	for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
		client = (struct client){.fd = connect_to(&server)};
		send_text(&server, &client, garbage[i]);
		(void)shutdown(client.fd, SHUT_WR);
		receive_all(&server, &client);
		client_done(&client);
	}
	/* A head without end, of one header or many. */
	memset(head, 'a', 200000);
	head[200000] = '\0';
	client = exchange(&server, "GET / HTTP/1.1\r\nX: %s", head);
	cr_expect(!client.length || status_of(&client) == 431 || status_of(&client) == 413, "%.100s",
		  client.data);
	client_done(&client);
	client = exchange(&server, "GET /%s HTTP/1.1\r\n\r\n", head);
	cr_expect(!client.length || status_of(&client) == 414, "%.100s", client.data);
	client_done(&client);

	client = get(&server, "/healthz", "");
	cr_expect_eq(status_of(&client), 200);
	client_done(&client);
	stop(&server);
}

/* One that sends nothing, one that sends by the byte, one that does not read: the next is served at once. */
Test(http, slow_clients_hold_up_nobody)
{
	static const char trickle[] = "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n";
	struct server server;
	struct client silent, slow, deaf, quick;
	int small = 16384;
	u64 begun;

	start(&server);
	silent = (struct client){.fd = connect_to(&server)};
	slow = (struct client){.fd = connect_to(&server)};
	deaf = (struct client){.fd = connect_to(&server)};
	(void)setsockopt(deaf.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	send_text(&server, &deaf, "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
	for (size_t i = 0; i + 1 < sizeof(trickle); i++) {
		const char one[] = {trickle[i], '\0'};

		send_text(&server, &slow, one);
		begun = now_ns();
		quick = get(&server, "/healthz", "");
		cr_expect_eq(status_of(&quick), 200);
		cr_expect_lt(now_ns() - begun, NSEC_PER_SEC);
		client_done(&quick);
	}
	receive_all(&server, &slow);
	cr_expect_eq(status_of(&slow), 200);
	/* Figures that changed meanwhile do not change what the deaf one is being sent. */
	server.source.sequence++;
	quick = get(&server, "/metrics", "");
	receive_all(&server, &deaf);
	cr_expect_eq(status_of(&deaf), 200);
	{
		size_t deaf_length, quick_length;
		const char *deaf_body = body_of(&deaf, &deaf_length);
		const char *quick_body = body_of(&quick, &quick_length);

		cr_expect_eq(deaf_length, BODY_LENGTH);
		cr_expect_neq(memcmp(deaf_body, quick_body, BODY_LENGTH), 0);
	}
	client_done(&quick);
	client_done(&silent);
	client_done(&slow);
	client_done(&deaf);
	stop(&server);
}

static double cpu_seconds(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/*
 * Clients that never come to the end of a request, whether they send nothing or a byte each second, cost no
 * time and are hung up on after the timeout, so that who waits behind them is served.
 */
Test(http, endless_clients_are_hung_up_on, .timeout = 30)
{
	struct server server;
	struct client clients[HTTP_CONNECTIONS_MAX];
	struct client waiting;
	double cpu = cpu_seconds();
	unsigned int turns = 0;
	u64 begun = now_ns();
	u64 limit = (HTTP_TIMEOUT_SECONDS + 4) * NSEC_PER_SEC;
	u64 sent_ns = begun;
	size_t ended = 0;

	start(&server);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		clients[i] = (struct client){.fd = connect_to(&server)};
	waiting = (struct client){.fd = connect_to(&server)};
	while (ended < HTTP_CONNECTIONS_MAX && now_ns() - begun < limit) {
		cr_assert_geq(sd_event_run(server.event, 100000), 0);
		turns++;
		ended = 0;
		for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
			if (!clients[i].ended)
				(void)receive(&clients[i]);
			ended += clients[i].ended;
		}
		if (now_ns() - sent_ns < NSEC_PER_SEC)
			continue;
		sent_ns = now_ns();
		for (size_t i = 0; i < ARRAY_SIZE(clients); i += 2)
			(void)send(clients[i].fd, "G", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	cr_expect_geq(ended, HTTP_CONNECTIONS_MAX);
	cr_expect_geq(now_ns() - begun, (HTTP_TIMEOUT_SECONDS - 1) * NSEC_PER_SEC);
	cr_expect_lt(turns, 2000, "%u turns: the loop does not spin", turns);
	cr_expect_lt(cpu_seconds() - cpu, 2);
	send_text(&server, &waiting, "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n");
	receive_all(&server, &waiting);
	cr_expect_eq(status_of(&waiting), 200);
	client_done(&waiting);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		client_done(&clients[i]);
	stop(&server);
}

Test(http, a_hundred_at_once)
{
	struct server server;
	struct client clients[100];
	u64 deadline;
	size_t ended = 0;

	start(&server);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		clients[i] = (struct client){.fd = connect_to(&server)};
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		send_text(&server, &clients[i],
			  i % 2 ? "GET /metrics HTTP/1.1\r\nHost: test\r\nAccept-Encoding: gzip\r\n\r\n"
				: "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
	deadline = now_ns() + DEADLINE_NS;
	while (ended < ARRAY_SIZE(clients) && now_ns() < deadline) {
		turn_loop(&server);
		ended = 0;
		for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
			if (!clients[i].ended)
				(void)receive(&clients[i]);
			ended += clients[i].ended;
		}
	}
	cr_expect_eq(ended, ARRAY_SIZE(clients));
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		cr_expect_eq(status_of(&clients[i]), 200);
		client_done(&clients[i]);
	}
	cr_expect_leq(server.source.rendered, 1 + DEADLINE_NS / NSEC_PER_SEC);
	stop(&server);
}

Test(http, a_client_that_leaves_in_the_middle)
{
	struct server server;
	struct client client;

	start(&server);
	for (int i = 0; i < 20; i++) {
		const struct linger reset = {.l_onoff = 1, .l_linger = 0};

		client = (struct client){.fd = connect_to(&server)};
		send_text(&server, &client, "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
		(void)setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		client_done(&client);
	}
	client = get(&server, "/metrics", "");
	cr_expect_eq(status_of(&client), 200);
	client_done(&client);
	/* And one that is still being served when the endpoint ends. */
	client = (struct client){.fd = connect_to(&server)};
	send_text(&server, &client, "GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
	stop(&server);
	client_done(&client);
}

Test(http, addresses)
{
	struct http_source source = {.sequence = sequence_of, .metrics = render, .health = health};
	_cleanup_free_ char *message = NULL;
	struct server server;
	struct http *second = NULL;
	char listen[32];

	start(&server);
	(void)snprintf(listen, sizeof(listen), "127.0.0.1:%u", http_port(server.http));
	cr_expect_eq(http_new(server.event, listen, &source, &second, &message), -EADDRINUSE);
	cr_expect(strstr(message, listen) && strstr(message, "--listen"), "%s", message);
	cr_expect_null(second);
	stop(&server);
	/* Its port is free again at once. */
	start_on(&server, listen);
	stop(&server);
}
