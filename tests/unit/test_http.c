// SPDX-License-Identifier: GPL-2.0
/* Real requests over loopback. Server and clients share one thread and one event loop. */
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "base/version.h"
#include "endpoint.h"
#include "http/server/http_profile.h"
#include "http/server/http_server.h"
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

static bool has_header(const struct http_client *client, const char *line)
{
	const char *end = client->data ? strstr(client->data, "\r\n\r\n") : NULL;
	const char *found = client->data ? strcasestr(client->data, line) : NULL;

	return found && found < end && strncmp(found + strlen(line), "\r\n", 2) == 0;
}

static void expect_body(const struct http_client *client, const char *text)
{
	size_t length;
	const char *body = http_client_body(client, &length);

	cr_expect_eq(length, strlen(text));
	cr_expect_str_eq(body, text);
}

Test(http, metrics_have_the_requested_format)
{
	_cleanup_(http_client_done) struct http_client client;
	size_t length;

	client = http_client_get(&server, "/metrics", "");
	cr_expect_eq(http_client_status(&client), 200);
	cr_expect(has_header(&client, "Content-Type: text/plain; version=0.0.4; charset=utf-8"));
	cr_expect_not(has_header(&client, "Content-Encoding: gzip"));
	cr_expect_eq(http_client_body(&client, &length)[0], 'T');
	cr_expect_eq(length, ENDPOINT_BODY_LENGTH);
	http_client_done(&client);

	client = http_client_get(&server, "/metrics?x=1",
				 "Accept: application/openmetrics-text;version=1.0.0\r\n");
	cr_expect_eq(http_client_status(&client), 200);
	cr_expect(has_header(&client,
			     "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8"));
	cr_expect_eq(http_client_body(&client, &length)[0], 'O');
	cr_expect_eq(length, ENDPOINT_BODY_LENGTH);
}

Test(http, gzip_holds_the_same_bytes)
{
	struct http_client plain, compressed, refused;
	_cleanup_free_ char *inflated = malloc(ENDPOINT_BODY_LENGTH + 1);
	z_stream stream = {0};
	size_t length;

	plain = http_client_get(&server, "/metrics", "");
	compressed = http_client_get(&server, "/metrics", "Accept-Encoding: gzip\r\n");
	refused = http_client_get(&server, "/metrics", "Accept-Encoding: gzip;q=0, deflate\r\n");
	cr_expect(has_header(&compressed, "Content-Encoding: gzip"));
	cr_expect_not(has_header(&refused, "Content-Encoding: gzip"));
	cr_expect(has_header(&compressed, "Vary: Accept, Accept-Encoding"));

	stream.next_in = (Bytef *)http_client_body(&compressed, &length);
	stream.avail_in = (uInt)length;
	stream.next_out = (Bytef *)inflated;
	stream.avail_out = ENDPOINT_BODY_LENGTH + 1;
	cr_assert_eq(inflateInit2(&stream, 15 + 16), Z_OK);
	cr_expect_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	cr_expect_eq(stream.avail_in, 0);
	cr_expect_eq(stream.total_out, ENDPOINT_BODY_LENGTH);
	cr_expect_lt(length, ENDPOINT_BODY_LENGTH / 2);
	cr_expect_eq(memcmp(inflated, http_client_body(&plain, &length), ENDPOINT_BODY_LENGTH), 0);
	cr_expect_eq(memcmp(inflated, http_client_body(&refused, &length), ENDPOINT_BODY_LENGTH), 0);
	(void)inflateEnd(&stream);
	http_client_done(&plain);
	http_client_done(&compressed);
	http_client_done(&refused);
}

Test(http, a_body_is_made_once_for_a_sequence)
{
	struct http_client client;
	char before, after;
	size_t length;

	for (int i = 0; i < 4; i++) {
		client = http_client_get(&server, "/metrics", i % 2 ? "Accept-Encoding: gzip\r\n" : "");
		http_client_done(&client);
	}
	cr_expect_eq(server.source.rendered, 1);
	client = http_client_get(&server, "/metrics", "Accept: application/openmetrics-text\r\n");
	http_client_done(&client);
	cr_expect_eq(server.source.rendered, 2);
	client = http_client_get(&server, "/metrics", "");
	before = http_client_body(&client, &length)[1];
	http_client_done(&client);
	server.source.sequence++;
	client = http_client_get(&server, "/metrics", "");
	after = http_client_body(&client, &length)[1];
	http_client_done(&client);
	cr_expect_eq(server.source.rendered, 3);
	cr_expect_neq(before, after, "what was cached is not served any more");
}

Test(http, failing_metrics_are_an_error)
{
	_cleanup_(http_client_done) struct http_client client;

	server.source.metrics_error = -ENOMEM;
	client = http_client_get(&server, "/metrics", "");
	cr_expect_eq(http_client_status(&client), 500);
	cr_expect(strstr(client.data, "Cannot allocate memory"));
	http_client_done(&client);
	server.source.metrics_error = 0;
	client = http_client_get(&server, "/metrics", "");
	cr_expect_eq(http_client_status(&client), 200);
}

Test(http, health_and_readiness_have_a_reason)
{
	static const struct {
		int error;
		bool works;
		const char *path;
		unsigned status;
	} cases[] = {
		{0, true, "/healthz", 200},        {0, true, "/readyz", 200},
		{-ENODEV, true, "/healthz", 200},  {-ENODEV, true, "/readyz", 503},
		{-ENODEV, false, "/healthz", 503}, {-ENODEV, false, "/readyz", 503},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct http_client client;

		server.source.health_error = cases[i].error;
		server.source.works = cases[i].works;
		client = http_client_get(&server, cases[i].path, "");
		cr_expect_eq(http_client_status(&client), cases[i].status, "%zu: %s", i, client.data);
		expect_body(&client, cases[i].status == 200 ? "ok\n" : "every event was refused\n");
		http_client_done(&client);
	}
}

/* Expects the headers that restrict what a browser does with the answer. */
static void expect_guarded(const struct http_client *client, const char *policy)
{
	static const char *const headers[] = {
		"Cache-Control: no-store",      "X-Content-Type-Options: nosniff",
		"X-Frame-Options: DENY",        "Cross-Origin-Resource-Policy: same-origin",
		"Referrer-Policy: no-referrer",
	};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		cr_expect(has_header(client, headers[i]), "no %s in %.300s", headers[i], client->data);
	cr_expect(strcasestr(client->data, policy), "no %s in %.600s", policy, client->data);
	cr_expect_not(strcasestr(client->data, "Access-Control-"), "no page of others reads it");
}

Test(http, figures_and_alerts_are_served_as_json)
{
	static const struct {
		const char *path, *body, *next;
	} documents[] = {
		{"/top.json", "{\"cgroups\":1}", "{\"cgroups\":2}"},
		{"/alerts.json?x", "{\"alerts\":1}", "{\"alerts\":2}"},
	};
	struct http_client client;

	for (size_t i = 0; i < ARRAY_SIZE(documents); i++) {
		server.source.sequence = 1;
		server.source.asked_for_json = 0;
		for (int times = 0; times < 3; times++) {
			client = http_client_get(&server, documents[i].path, "");
			cr_expect_eq(http_client_status(&client), 200);
			cr_expect(has_header(&client, "Content-Type: application/json"));
			cr_expect(has_header(&client, "Vary: Accept-Encoding"));
			expect_body(&client, documents[i].body);
			expect_guarded(&client, "default-src 'none'; frame-ancestors 'none'");
			http_client_done(&client);
		}
		client = http_client_get(&server, documents[i].path, "Accept-Encoding: gzip\r\n");
		cr_expect(has_header(&client, "Content-Encoding: gzip"));
		http_client_done(&client);
		cr_expect_eq(server.source.asked_for_json, 1, "made once a collection");
		server.source.sequence = 2;
		client = http_client_get(&server, documents[i].path, "");
		expect_body(&client, documents[i].next);
		http_client_done(&client);
		server.source.sequence = 3;
		server.source.json_error = -ENOMEM;
		client = http_client_get(&server, documents[i].path, "");
		cr_expect_eq(http_client_status(&client), 500);
		http_client_done(&client);
		server.source.json_error = 0;
	}
	cr_expect_eq(server.source.rendered, 0, "no metrics for who wants none");
}

Test(http, answers_forbid_caching_sniffing_and_framing)
{
	static const char *const paths[] = {"/metrics", "/healthz", "/readyz", "/none",
					    "/debug/pprof/memory?cgroup=/a"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct http_client client = http_client_get(&server, paths[i], "");

		expect_guarded(&client, "default-src 'none'; frame-ancestors 'none'");
		http_client_done(&client);
	}
}

Test(http, the_page_loads_only_figures)
{
	_cleanup_(http_client_done) struct http_client client;

	client = http_client_get(&server, "/", "");
	cr_expect_eq(http_client_status(&client), 200);
	cr_expect(has_header(&client, "Content-Type: text/html; charset=utf-8"));
	expect_guarded(&client, "Content-Security-Policy: default-src 'none'; script-src 'sha256-");
	cr_expect(strstr(client.data, "; connect-src 'self'; ") &&
		  strstr(client.data, "frame-ancestors 'none'"));
	cr_expect_not(strstr(client.data, "unsafe-"));
	cr_expect(strstr(client.data, "<h1>pebsd <small>" PEBSD_VERSION "</small></h1>"));
	cr_expect(strstr(client.data, "href=\"metrics\"") && strstr(client.data, "href=\"healthz\"") &&
		  strstr(client.data, "href=\"readyz\""));
	cr_expect(strstr(client.data, "'top.json'") && strstr(client.data, "'alerts.json'"));
	cr_expect(strstr(client.data, "Origin of the samples: replay."));
	/*
	 * All placeholders of the build and the server are replaced. The page mentions no other host, except
	 * in the namespace of SVG.
	 */
	cr_expect_not(strstr(client.data, "@VERSION@") || strstr(client.data, "@ORIGIN@") ||
		      strstr(client.data, "@PROFILES@"));
	cr_expect_not(strstr(client.data, "https://"));
	for (const char *at = strstr(client.data, "http://"); at; at = strstr(at + 1, "http://"))
		cr_expect_eq(strncmp(at, "http://www.w3.org/2000/svg'", 27), 0, "%.40s", at);
	cr_expect_not(strstr(client.data, "innerHTML") || strstr(client.data, "document.write"));
	cr_expect_not(strstr(client.data, HTTP_PROFILE_PATH), "where there are none");
}

Test(http, head_equals_get_without_the_body)
{
	static const char *const paths[] = {"/",        "/metrics", "/top.json", "/alerts.json",
					    "/healthz", "/readyz",  "/none"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct http_client head =
			http_client_exchange(&server, "HEAD %s HTTP/1.1\r\nHost: test\r\n\r\n", paths[i]);
		struct http_client whole = http_client_get(&server, paths[i], "");
		char line[64];
		size_t length;

		cr_expect_eq(http_client_status(&head), http_client_status(&whole));
		(void)http_client_body(&whole, &length);
		(void)snprintf(line, sizeof(line), "Content-Length: %zu", length);
		cr_expect(has_header(&head, line), "%s: %s", paths[i], head.data);
		(void)http_client_body(&head, &length);
		cr_expect_eq(length, 0);
		http_client_done(&head);
		http_client_done(&whole);
	}
}

Test(http, unknown_paths_and_methods_are_refused)
{
	static const char *const paths[] = {"/metrics/", "/metricsx",   "//metrics",  "/..%2fetc/passwd",
					    "/%00",      "*",           "/page.html", "/top.json/",
					    "/alerts",   "/favicon.ico"};
	static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "get", "X"};
	struct http_client client;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		client = http_client_get(&server, paths[i], "");
		cr_expect_eq(http_client_status(&client), strcmp(paths[i], "*") ? 404 : 400, "%s", paths[i]);
		http_client_done(&client);
	}
	client = http_client_get(&server, "/none", "");
	cr_expect(strstr(client.data, "/metrics") && strstr(client.data, "/healthz") &&
		  strstr(client.data, "/readyz"));
	http_client_done(&client);
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		client = http_client_exchange(
			&server, "%s /metrics HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nhello",
			methods[i]);
		cr_expect_eq(http_client_status(&client), 405, "%s", methods[i]);
		cr_expect(has_header(&client, "Allow: GET, HEAD"));
		http_client_done(&client);
	}
	cr_expect_eq(server.source.rendered, 0);
}

Test(http, an_address_in_use_is_named_in_the_error)
{
	_cleanup_free_ char *message = NULL;
	struct http_sockets second;
	struct listen_address listen;

	listen = endpoint_loopback(endpoint_port(&server));
	cr_expect_eq(http_sockets_open(&listen, NULL, &second, &message), -EADDRINUSE);
	cr_expect(strstr(message, listen.text) && strstr(message, "--listen"), "%s", message);
	cr_expect_eq(second.n, 0);
	endpoint_stop(&server);
	/* The port is free again at once. */
	endpoint_start_on(&server, &listen);
}

/* Pages of other sites whose names resolve to this address get nothing (http_host.h). */
Test(http, unknown_hosts_are_refused)
{
	_cleanup_(http_client_done) struct http_client client;
	const struct {
		const char *head;
		int status;
	} cases[] = {
		{"GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n", 200},
		{"GET /metrics HTTP/1.1\r\nHost: TEST:80\r\n\r\n", 200},
		{"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 200},
		{"GET /metrics HTTP/1.1\r\nHost: localhost:9754\r\n\r\n", 200},
		{"GET /metrics HTTP/1.0\r\n\r\n", 200},
		{"GET /metrics HTTP/1.1\r\n\r\n", 400},
		{"GET /metrics HTTP/1.1\r\nHost: test\r\nHost: test\r\n\r\n", 400},
		{"GET /metrics HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
		{"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421},
		{"GET /healthz HTTP/1.1\r\nHost: evil.example:9754\r\n\r\n", 421},
		{"GET / HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n", 421},
		/*
		 * The form of a request to a proxy: the host in the target counts, and HTTP/1.1 still
		 * requires the Host header.
		 */
		{"GET http://test:9754/metrics HTTP/1.1\r\nHost: test\r\n\r\n", 200},
		{"GET HTTP://test/metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", 200},
		{"GET http://test HTTP/1.1\r\nHost: test\r\n\r\n", 200},
		{"GET http://evil.example/metrics HTTP/1.1\r\nHost: test\r\n\r\n", 421},
		{"GET http://test/metrics HTTP/1.1\r\n\r\n", 400},
		{"GET http://test/metrics HTTP/1.0\r\n\r\n", 200},
		{"GET http://evil.example/metrics HTTP/1.0\r\n\r\n", 421},
		{"GET http:///metrics HTTP/1.1\r\nHost: test\r\n\r\n", 400},
		{"GET https://test/metrics HTTP/1.1\r\nHost: test\r\n\r\n", 400},
		{"GET metrics HTTP/1.1\r\nHost: test\r\n\r\n", 400},
		/* The path is not cut at the NUL byte. */
		{"GET /metrics%00 HTTP/1.1\r\nHost: test\r\n\r\n", 404},
		{"GET /metrics%00x HTTP/1.1\r\nHost: test\r\n\r\n", 404},
		{"GET /%6detrics HTTP/1.1\r\nHost: test\r\n\r\n", 200},
		{"POST /metrics HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n", 421},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned int before = server.source.rendered;

		server.source.sequence++;
		client = http_client_exchange(&server, "%s", cases[i].head);
		cr_expect_eq(http_client_status(&client), cases[i].status, "%s: %.80s", cases[i].head,
			     client.data);
		cr_expect(cases[i].status == 200 || server.source.rendered == before);
		http_client_done(&client);
	}
	/* A reload permits another name. */
	http_broker_configure(server.broker, "evil.example");
	for (int i = 0; i < 5; i++)
		endpoint_turn(&server);
	client = http_client_exchange(&server, "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n");
	cr_expect_eq(http_client_status(&client), 200);
}
