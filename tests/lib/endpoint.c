// SPDX-License-Identifier: GPL-2.0
#include "endpoint.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"

static u64 sequence_of(void *userdata)
{
	const struct endpoint_figures *source = userdata;

	return source->sequence;
}

static int render(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length)
{
	struct endpoint_figures *source = userdata;
	char *text;

	source->rendered++;
	if (source->metrics_error)
		return source->metrics_error;
	text = malloc(source->length + 1);
	cr_assert_not_null(text);
	for (size_t i = 0; i < source->length; i++)
		text[i] = (char)('a' + (i * i + source->sequence) % 23);
	text[0] = openmetrics ? 'O' : 'T';
	text[source->length] = '\0';
	*ret_text = text;
	*ret_length = source->length;
	return 0;
}

static int health(void *userdata, const char **ret_reason)
{
	const struct endpoint_figures *source = userdata;

	*ret_reason = "every event was refused";
	return source->health_error;
}

struct http_source endpoint_source(struct endpoint *server)
{
	return (struct http_source){.userdata = &server->source,
				    .version = "1.2.3",
				    .origin = "replay",
				    .sequence = sequence_of,
				    .metrics = render,
				    .health = health};
}

struct listen_address endpoint_loopback(u16 port)
{
	struct listen_address loopback;

	cr_assert_eq(listen_address_parse("127.0.0.1:1", &loopback), 0);
	loopback.port = port;
	loopback.address.ipv4.sin_port = htons(port);
	(void)snprintf(loopback.text, sizeof(loopback.text), "127.0.0.1:%u", port);
	return loopback;
}

void endpoint_start_on(struct endpoint *server, const struct listen_address *listen)
{
	struct http_source source = endpoint_source(server);
	_cleanup_free_ char *message = NULL;

	*server = (struct endpoint){.source = {.sequence = 1, .length = ENDPOINT_BODY_LENGTH}};
	cr_assert_geq(sd_event_new(&server->event), 0);
	cr_assert_eq(http_new(server->event, listen, &source, &server->http, &message), 0, "%s", message);
	cr_assert_gt(http_port(server->http), 0);
}

void endpoint_start(struct endpoint *server)
{
	const struct listen_address any_port = endpoint_loopback(0);

	endpoint_start_on(server, &any_port);
}

void endpoint_stop(struct endpoint *server)
{
	server->http = http_free(server->http);
	server->event = sd_event_unref(server->event);
}

void endpoint_turn(struct endpoint *server)
{
	cr_assert_geq(sd_event_run(server->event, 1000), 0);
}

u64 endpoint_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}
