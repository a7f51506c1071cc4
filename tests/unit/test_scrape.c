// SPDX-License-Identifier: GPL-2.0
/* Bodies of /metrics: how often they are made, who shares them, and for how long they live. */
#include <criterion/criterion.h>

#include <errno.h>
#include <microhttpd.h>
#include <string.h>

#include "base/cleanup.h"
#include "endpoint.h"
#include "export/http.h"
#include "export/scrape.h"
#include "http_client.h"

/* More than the kernel takes for a client that does not read (the default net.ipv4.tcp_wmem: 4 MiB). */
#define LONG_BODY (8UL << 20)

struct source {
	unsigned int made[2]; /* text, OpenMetrics */
	int error;
};

static int render(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length)
{
	struct source *source = userdata;

	source->made[openmetrics]++;
	if (source->error)
		return source->error;
	*ret_text = strdup("pebsd_paused 0\n");
	cr_assert_not_null(*ret_text);
	*ret_length = strlen(*ret_text);
	return 0;
}

struct held {
	struct MHD_Response *response;
	struct scrape_generation *generation;
};

static struct held get(struct scrape *scrape, u64 sequence, bool openmetrics, bool gzip)
{
	struct held held = {0};

	cr_assert_eq(scrape_get(scrape, sequence, openmetrics, gzip, &held.response, &held.generation), 0);
	cr_assert_not_null(held.response);
	cr_assert_not_null(held.generation);
	return held;
}

Test(scrape, a_body_is_made_on_its_first_demand_and_once_a_collection)
{
	struct source source = {0};
	struct scrape *scrape;
	struct held first, second;

	cr_assert_eq(scrape_new(render, &source, &scrape), 0);
	cr_expect_eq(scrape_generations(scrape), 0);
	first = get(scrape, 7, false, false);
	second = get(scrape, 7, false, false);
	cr_expect_eq(first.response, second.response, "shared, not copied");
	cr_expect_eq(source.made[0], 1);
	cr_expect_eq(source.made[1], 0);
	scrape_release(second.generation);
	second = get(scrape, 7, false, true);
	cr_expect_neq(first.response, second.response);
	cr_expect_eq(source.made[0], 1, "what is compressed is the plain one");
	scrape_release(second.generation);
	second = get(scrape, 7, true, true);
	scrape_release(second.generation);
	cr_expect_eq(source.made[0], 1);
	cr_expect_eq(source.made[1], 1);
	scrape_release(first.generation);
	for (int i = 0; i < 10; i++) {
		first = get(scrape, 7, i % 2, i % 3 == 0);
		scrape_release(first.generation);
	}
	cr_expect_eq(source.made[0] + source.made[1], 2, "nobody holds it, and it is still there");
	first = get(scrape, 8, false, false);
	cr_expect_eq(source.made[0], 2);
	cr_expect_eq(scrape_generations(scrape), 1);
	scrape_release(first.generation);
	scrape_free(scrape);
}

Test(scrape, a_failure_is_no_body)
{
	struct source source = {.error = -ENOMEM};
	struct scrape *scrape;
	struct held held = {0};

	cr_assert_eq(scrape_new(render, &source, &scrape), 0);
	cr_expect_eq(scrape_get(scrape, 1, false, true, &held.response, &held.generation), -ENOMEM);
	cr_expect_null(held.generation);
	source.error = 0;
	held = get(scrape, 1, false, true);
	cr_expect_eq(source.made[0], 2, "tried anew");
	scrape_release(held.generation);
	scrape_free(scrape);
}

Test(scrape, as_many_generations_as_there_may_be)
{
	struct source source = {0};
	struct scrape *scrape;
	struct held slow[SCRAPE_GENERATIONS_MAX], late, other;

	cr_assert_eq(scrape_new(render, &source, &scrape), 0);
	for (u64 i = 0; i < SCRAPE_GENERATIONS_MAX; i++)
		slow[i] = get(scrape, 1 + i, false, false);
	cr_expect_eq(source.made[0], SCRAPE_GENERATIONS_MAX);
	cr_expect_eq(scrape_generations(scrape), SCRAPE_GENERATIONS_MAX);
	for (u64 sequence = 100; sequence < 200; sequence++) {
		late = get(scrape, sequence, false, false);
		cr_expect_eq(late.response, slow[SCRAPE_GENERATIONS_MAX - 1].response, "the last one made");
		scrape_release(late.generation);
	}
	/* What else is asked for of it belongs to it. */
	late = get(scrape, 200, true, true);
	cr_expect_eq(late.generation, slow[SCRAPE_GENERATIONS_MAX - 1].generation);
	scrape_release(late.generation);
	cr_expect_eq(source.made[0], SCRAPE_GENERATIONS_MAX);
	cr_expect_eq(scrape_generations(scrape), SCRAPE_GENERATIONS_MAX);

	/* Whichever is let go first makes room. */
	scrape_release(slow[1].generation);
	cr_expect_eq(scrape_generations(scrape), SCRAPE_GENERATIONS_MAX - 1);
	late = get(scrape, 201, false, false);
	cr_expect_eq(source.made[0], SCRAPE_GENERATIONS_MAX + 1);
	other = get(scrape, 201, false, false);
	cr_expect_eq(late.response, other.response);
	scrape_release(other.generation);

	/* The one that is served needs no place beside itself where nobody is being sent it. */
	scrape_release(late.generation);
	late = get(scrape, 202, false, false);
	cr_expect_eq(source.made[0], SCRAPE_GENERATIONS_MAX + 2);
	cr_expect_eq(scrape_generations(scrape), SCRAPE_GENERATIONS_MAX);
	scrape_release(late.generation);
	scrape_release(slow[0].generation);
	scrape_release(slow[2].generation);
	cr_expect_eq(scrape_generations(scrape), 1);
	scrape_free(scrape);
}

/* One that asks and then does not read: the server can't send it all. */
static struct http_client ask_and_wait(struct endpoint *server, const char *headers)
{
	struct http_client client = {.fd = http_client_connect(server)};
	char request[256];

	(void)snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\nHost: test\r\n%s\r\n", headers);
	http_client_send(server, &client, request);
	for (int i = 0; i < 20; i++)
		endpoint_turn(server);
	return client;
}

/* Of the sequence whose figures the body has; see endpoint.c. */
static void expect_body_of(const struct http_client *client, u64 sequence)
{
	size_t length, wrong = 0;
	const char *body = http_client_body(client, &length);

	cr_assert_eq(length, LONG_BODY);
	for (size_t i = 1; i < length; i++)
		wrong += body[i] != (char)('a' + (i * i + sequence) % 23);
	cr_assert_eq(wrong, 0, "%zu bytes are not of sequence %llu", wrong, (unsigned long long)sequence);
}

Test(scrape, slow_clients_are_sent_what_they_began_with, .timeout = 30)
{
	struct endpoint server;
	struct http_client slow[SCRAPE_GENERATIONS_MAX], quick;

	endpoint_start(&server);
	server.source.length = LONG_BODY;
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++) {
		server.source.sequence = 1 + i;
		slow[i] = ask_and_wait(&server, "");
		cr_assert_eq(server.source.rendered, 1 + i);
	}
	/* No room for another: the last one made, at once. */
	server.source.sequence = 9;
	quick = http_client_get(&server, "/metrics", "");
	cr_expect_eq(http_client_status(&quick), 200);
	expect_body_of(&quick, SCRAPE_GENERATIONS_MAX);
	http_client_done(&quick);
	cr_expect_eq(server.source.rendered, SCRAPE_GENERATIONS_MAX);

	/* The oldest has read it all: there is room. */
	http_client_receive_all(&server, &slow[0]);
	expect_body_of(&slow[0], 1);
	quick = http_client_get(&server, "/metrics", "");
	expect_body_of(&quick, 9);
	http_client_done(&quick);
	cr_expect_eq(server.source.rendered, SCRAPE_GENERATIONS_MAX + 1);

	/* One hangs up in the middle: room, too. */
	http_client_done(&slow[1]);
	server.source.sequence = 10;
	quick = http_client_get(&server, "/metrics", "");
	expect_body_of(&quick, 10);
	http_client_done(&quick);
	http_client_receive_all(&server, &slow[2]);
	expect_body_of(&slow[2], 3);
	http_client_done(&slow[0]);
	http_client_done(&slow[2]);
	endpoint_stop(&server);
}

Test(scrape, many_slow_clients_share_one_body, .timeout = 30)
{
	struct endpoint server;
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
	endpoint_stop(&server);
}
