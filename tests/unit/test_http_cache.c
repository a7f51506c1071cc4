// SPDX-License-Identifier: GPL-2.0
/* The bodies of /metrics and the JSON pages: how often they are rendered, who shares them, how long they live. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/sealed.h"
#include "endpoint.h"
#include "http/http_bodies.h"
#include "http/server/http_cache.h"
#include "http_client.h"

/* More than the kernel buffers for a client that does not read (net.ipv4.tcp_wmem: at most 4 MiB by default). */
#define LONG_BODY (8UL << 20)

struct fake_source {
	u64 sequence;
	unsigned int made[HTTP_DOCUMENTS];
	int error;
};

static u64 sequence_of(void *userdata)
{
	const struct fake_source *fake = userdata;

	return fake->sequence;
}

static int render(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length)
{
	struct fake_source *fake = userdata;

	fake->made[openmetrics]++;
	if (fake->error)
		return fake->error;
	*ret_text = strdup("pebsd_paused 0\n");
	cr_assert_not_null(*ret_text);
	*ret_length = strlen(*ret_text);
	return 0;
}

static int render_json(struct fake_source *fake, enum http_document document, char **ret_text,
		       size_t *ret_length)
{
	fake->made[document]++;
	*ret_text = strdup("{}");
	cr_assert_not_null(*ret_text);
	*ret_length = strlen(*ret_text);
	return 0;
}

static int render_top(void *userdata, char **ret_text, size_t *ret_length)
{
	return render_json(userdata, HTTP_DOCUMENT_TOP, ret_text, ret_length);
}

static int render_alerts(void *userdata, char **ret_text, size_t *ret_length)
{
	return render_json(userdata, HTTP_DOCUMENT_ALERTS, ret_text, ret_length);
}

static struct fake_source fake;
static const struct http_source source = {.userdata = &fake,
					  .origin = "replay",
					  .sequence = sequence_of,
					  .metrics = render,
					  .top = render_top,
					  .alerts = render_alerts};

static struct http_body_made get(struct http_bodies *bodies, u32 form)
{
	struct http_body_made body = {.fd = -1};

	cr_assert_eq(http_bodies_get(bodies, form, &body), 0);
	cr_assert_geq(body.fd, 0);
	return body;
}

Test(http_bodies, a_body_is_rendered_on_demand_once_per_collection)
{
	const u32 gzip = HTTP_FORM_GZIP, openmetrics = HTTP_FORM(HTTP_DOCUMENT_OPENMETRICS);
	_cleanup_(http_bodies_done) struct http_bodies bodies;
	struct http_body_made first;

	fake = (struct fake_source){.sequence = 7};
	http_bodies_init(&bodies, &source);
	first = get(&bodies, 0);
	cr_expect_eq(get(&bodies, 0).generation, first.generation);
	cr_expect_eq(get(&bodies, 0).fd, first.fd, "shared, not copied");
	cr_expect_neq(get(&bodies, gzip).generation, first.generation);
	cr_expect_eq(fake.made[0], 1, "what is compressed is the plain one");
	cr_expect_eq(fake.made[1], 0);
	(void)get(&bodies, gzip | openmetrics);
	for (u32 i = 0; i < 3 * HTTP_FORMS; i++)
		(void)get(&bodies, i % HTTP_FORMS);
	for (size_t document = 0; document < HTTP_DOCUMENTS; document++)
		cr_expect_eq(fake.made[document], 1, "document %zu", document);
	fake.sequence = 8;
	cr_expect_gt(get(&bodies, 0).generation, first.generation);
	cr_expect_eq(fake.made[0], 2);
}

Test(http_bodies, a_failure_has_no_body)
{
	_cleanup_(http_bodies_done) struct http_bodies bodies;
	struct http_body_made body;

	fake = (struct fake_source){.sequence = 1, .error = -ENOMEM};
	http_bodies_init(&bodies, &source);
	cr_expect_eq(http_bodies_get(&bodies, HTTP_FORM_GZIP, &body), -ENOMEM);
	fake.error = 0;
	(void)get(&bodies, HTTP_FORM_GZIP);
	cr_expect_eq(fake.made[0], 2, "tried again");
}

Test(http_bodies, a_source_without_json_has_no_json_body)
{
	const struct http_source metrics_alone = {
		.userdata = &fake, .origin = "replay", .sequence = sequence_of, .metrics = render};
	_cleanup_(http_bodies_done) struct http_bodies bodies;
	struct http_body_made body;

	fake = (struct fake_source){.sequence = 1};
	http_bodies_init(&bodies, &metrics_alone);
	cr_expect_eq(http_bodies_get(&bodies, HTTP_FORM(HTTP_DOCUMENT_TOP), &body), -EOPNOTSUPP);
	cr_expect_eq(http_bodies_get(&bodies, HTTP_FORM(HTTP_DOCUMENT_ALERTS) | HTTP_FORM_GZIP, &body),
		     -EOPNOTSUPP);
	(void)get(&bodies, 0);
}

/* A body is sealed: its receiver can read it but not change it. */
Test(http_bodies, a_body_cannot_be_changed)
{
	_cleanup_(http_bodies_done) struct http_bodies bodies;
	struct http_body_made body;
	char text[64] = "";

	fake = (struct fake_source){.sequence = 1};
	http_bodies_init(&bodies, &source);
	body = get(&bodies, 0);
	cr_expect_eq(body.size, strlen("pebsd_paused 0\n"));
	cr_expect_eq(pread(body.fd, text, sizeof(text) - 1, 0), (ssize_t)body.size);
	cr_expect_str_eq(text, "pebsd_paused 0\n");
	cr_expect_lt(pwrite(body.fd, "x", 1, 0), 0);
	cr_expect_lt(ftruncate(body.fd, 0), 0);
	cr_expect_lt(ftruncate(body.fd, 1 << 20), 0);
	cr_expect_lt(fcntl(body.fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	cr_expect_eq(mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, body.fd, 0), MAP_FAILED);
}

static struct http_cache cache;

static struct http_cache_body *put(u64 generation)
{
	int fd;

	cr_assert_eq(sealed_new("pebsd-http", "text", 4, &fd), 0);
	cr_assert_eq(http_cache_put(&cache, 0, generation, fd, 4), 0);
	cr_assert_eq(http_cache_current(&cache, 0)->generation, generation);
	return http_cache_current(&cache, 0);
}

/* The size is only recorded: nothing is sent here. */
static int put_large(u32 form, u64 generation, u64 size)
{
	int fd;

	cr_assert_eq(sealed_new("pebsd-http", "text", 4, &fd), 0);
	return http_cache_put(&cache, form, generation, fd, size);
}

Test(http_cache, bodies_held_for_slow_clients_are_bounded_in_bytes)
{
	const u64 size = HTTP_CACHE_BYTES_MAX / 2;
	struct http_cache_body *slow[3];

	cache = (struct http_cache){0};
	/* The size of the current body is not limited, because no slow client holds it. */
	cr_assert_eq(put_large(0, 1, 10 * size), 0);
	cr_expect_eq(http_cache_bytes(&cache), 0);
	for (u32 form = 0; form < 3; form++) {
		cr_assert_eq(put_large(form, 10 + form, size), 0);
		slow[form] = http_cache_current(&cache, form);
		http_cache_hold(slow[form]);
	}
	cr_assert_eq(put_large(0, 20, size), 0);
	cr_assert_eq(put_large(1, 21, size), 0);
	cr_expect_eq(http_cache_bytes(&cache), HTTP_CACHE_BYTES_MAX);
	cr_expect(http_cache_full(&cache, 2));
	cr_expect_eq(put_large(2, 22, size), -ENOSPC);
	cr_expect_eq(http_cache_current(&cache, 2)->generation, 12);
	cr_expect_not(http_cache_full(&cache, 1), "nobody is being sent it");
	http_cache_release(slow[0]);
	cr_assert_eq(put_large(2, 23, size), 0);
	cr_expect_eq(http_cache_bytes(&cache), HTTP_CACHE_BYTES_MAX);
	http_cache_release(slow[1]);
	http_cache_release(slow[2]);
	cr_expect_eq(http_cache_bytes(&cache), 0);
	http_cache_done(&cache);
}

Test(http_cache, the_number_of_held_bodies_is_bounded)
{
	struct http_cache_body *slow[HTTP_CACHE_BODIES_MAX];
	int fd;

	cache = (struct http_cache){0};
	cr_expect_null(http_cache_current(&cache, 0));
	/* A body that is not being sent to any client is replaced by the next. */
	(void)put(1);
	(void)put(2);
	cr_expect_eq(http_cache_live(&cache), 1);
	for (u64 i = 0; i < HTTP_CACHE_BODIES_MAX; i++) {
		cr_expect_not(http_cache_full(&cache, 0));
		slow[i] = put(10 + i);
		http_cache_hold(slow[i]);
	}
	cr_expect_eq(http_cache_live(&cache), HTTP_CACHE_BODIES_MAX);
	cr_expect(http_cache_full(&cache, 0));
	cr_expect_not(http_cache_full(&cache, HTTP_FORM_GZIP), "each form for itself");
	cr_assert_eq(sealed_new("pebsd-http", "text", 4, &fd), 0);
	cr_expect_eq(http_cache_put(&cache, 0, 99, fd, 4), -ENOSPC);
	cr_expect_lt(fcntl(fd, F_GETFD), 0, "closed");
	cr_expect_eq(http_cache_current(&cache, 0)->generation, 9 + HTTP_CACHE_BODIES_MAX);

	/* The first body that is released, whichever it is, makes room. */
	http_cache_release(slow[1]);
	cr_expect_eq(http_cache_live(&cache), HTTP_CACHE_BODIES_MAX - 1);
	(void)put(100);
	(void)put(101);
	cr_expect_eq(http_cache_live(&cache), HTTP_CACHE_BODIES_MAX);
	http_cache_release(slow[0]);
	http_cache_release(slow[2]);
	cr_expect_eq(http_cache_live(&cache), 1);
	http_cache_done(&cache);
	cr_expect_eq(http_cache_live(&cache), 0);
}

/* Starts a client that sends a request and then does not read, so that the server cannot send the whole answer. */
static struct http_client ask_and_wait(struct endpoint *server, const char *headers)
{
	struct http_client client = {.fd = http_client_connect(server)};
	char request[256];

	(void)snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\nHost: test\r\n%s\r\n", headers);
	http_client_send(server, &client, request);
	for (int i = 0; i < 100; i++)
		endpoint_turn(server);
	return client;
}

/* Expects a body with the figures of this sequence (endpoint.c). */
static void expect_body_of(const struct http_client *client, u64 sequence)
{
	size_t length, wrong = 0;
	const char *body = http_client_body(client, &length);

	cr_assert_eq(length, LONG_BODY);
	for (size_t i = 1; i < length; i++)
		wrong += body[i] != (char)('a' + (i * i + sequence) % 23);
	cr_assert_eq(wrong, 0, "%zu bytes are not of sequence %llu", wrong, (unsigned long long)sequence);
}

Test(http_cache, a_slow_client_gets_the_body_that_it_started_with)
{
	_cleanup_(endpoint_stop) struct endpoint server;
	struct http_client slow[HTTP_CACHE_BODIES_MAX], quick;

	endpoint_start(&server);
	server.source.length = LONG_BODY;
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++) {
		server.source.sequence = 1 + i;
		slow[i] = ask_and_wait(&server, "");
		cr_assert_eq(server.source.rendered, 1 + i);
	}
	/* There is no room for another body. The last one is served at once. */
	server.source.sequence = 9;
	quick = http_client_get(&server, "/metrics", "");
	cr_expect_eq(http_client_status(&quick), 200);
	expect_body_of(&quick, HTTP_CACHE_BODIES_MAX);
	http_client_done(&quick);
	cr_expect_eq(server.source.rendered, HTTP_CACHE_BODIES_MAX);

	/* The first client has read its whole body, so there is room. */
	http_client_receive_all(&server, &slow[0]);
	expect_body_of(&slow[0], 1);
	quick = http_client_get(&server, "/metrics", "");
	expect_body_of(&quick, 9);
	http_client_done(&quick);
	cr_expect_eq(server.source.rendered, HTTP_CACHE_BODIES_MAX + 1);

	/* A client that hangs up in the middle also makes room. */
	http_client_done(&slow[1]);
	server.source.sequence = 10;
	quick = http_client_get(&server, "/metrics", "");
	expect_body_of(&quick, 10);
	http_client_done(&quick);
	http_client_receive_all(&server, &slow[2]);
	expect_body_of(&slow[2], 3);
	http_client_done(&slow[0]);
	http_client_done(&slow[2]);
}

Test(http_cache, many_slow_clients_share_one_body)
{
	_cleanup_(endpoint_stop) struct endpoint server;
	struct http_client slow[8];

	endpoint_start(&server);
	server.source.length = LONG_BODY;
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++)
		slow[i] = ask_and_wait(&server, "");
	cr_expect_eq(server.source.rendered, 1);
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++) {
		http_client_receive_all(&server, &slow[i]);
		expect_body_of(&slow[i], 1);
		http_client_done(&slow[i]);
	}
	cr_expect_eq(server.source.rendered, 1);
}
