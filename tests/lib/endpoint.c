// SPDX-License-Identifier: GPL-2.0
#include "endpoint.h"

#include <criterion/criterion.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fake_clock.h"

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

static int render_json(struct endpoint_figures *source, const char *what, char **ret_text, size_t *ret_length)
{
	source->asked_for_json++;
	if (source->json_error)
		return source->json_error;
	cr_assert_gt(asprintf(ret_text, "{\"%s\":%llu}", what, (unsigned long long)source->sequence), 0);
	*ret_length = strlen(*ret_text);
	return 0;
}

static int render_top(void *userdata, char **ret_text, size_t *ret_length)
{
	return render_json(userdata, "cgroups", ret_text, ret_length);
}

static int render_alerts(void *userdata, char **ret_text, size_t *ret_length)
{
	return render_json(userdata, "alerts", ret_text, ret_length);
}

static int health(void *userdata, bool *ret_works, const char **ret_reason)
{
	const struct endpoint_figures *source = userdata;

	*ret_works = source->works;
	*ret_reason = "every event was refused";
	return source->health_error;
}

struct http_source endpoint_source(struct endpoint *server)
{
	return (struct http_source){.userdata = &server->source,
				    .origin = "replay",
				    .sequence = sequence_of,
				    .metrics = render,
				    .top = render_top,
				    .alerts = render_alerts,
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

static void on_failed(void *userdata, const char *why)
{
	struct endpoint *server = userdata;

	server->failed = why;
}

static void on_ended(void *userdata, int error)
{
	struct endpoint *server = userdata;

	(void)error;
	server->ended = true;
}

static void start(struct endpoint *server, const struct listen_address *listen,
		  const struct http_source *source, const char *hosts, bool by_address)
{
	struct http_broker_settings broker = {.failed = on_failed, .userdata = server};
	struct http_server_settings settings = {.ended = on_ended, .userdata = server};
	_cleanup_free_ char *message = NULL;

	fake_clock_stop();
	(void)signal(SIGPIPE, SIG_IGN);
	*server = (struct endpoint){.source = {.sequence = 1, .length = ENDPOINT_BODY_LENGTH}};
	server->served = *source;
	http_bodies_init(&server->bodies, &server->served);
	cr_assert_geq(sd_event_new(&server->event), 0);
	cr_assert_eq(http_sockets_open(listen, NULL, &server->sockets, &message), 0, "%s", message);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, server->channel),
		     0);
	broker.event = server->event;
	broker.source = &server->served;
	broker.bodies = &server->bodies;
	broker.socket = server->channel[0];
	cr_assert_eq(http_broker_new(&broker, &server->broker), 0);
	settings.event = server->event;
	settings.listeners = server->sockets.fds;
	settings.n_listeners = server->sockets.n;
	settings.channel = server->channel[1];
	settings.users = by_address ? -1 : server->sockets.users;
	cr_assert_eq(http_server_new(&settings, &server->server), 0);
	http_broker_configure(server->broker, hosts);
}

void endpoint_start_with(struct endpoint *server, const struct listen_address *listen,
			 const struct http_source *source, const char *hosts)
{
	start(server, listen, source, hosts, false);
}

void endpoint_start_by_address(struct endpoint *server)
{
	const struct listen_address any_port = endpoint_loopback(0);
	struct http_source source = endpoint_source(server);

	start(server, &any_port, &source, "", true);
}

void endpoint_start_on(struct endpoint *server, const struct listen_address *listen)
{
	struct http_source source = endpoint_source(server);

	endpoint_start_with(server, listen, &source, "test a");
}

u16 endpoint_port(const struct endpoint *server)
{
	int port = http_sockets_port(&server->sockets);

	cr_assert_gt(port, 0);
	return (u16)port;
}

void endpoint_start(struct endpoint *server)
{
	const struct listen_address any_port = endpoint_loopback(0);

	endpoint_start_on(server, &any_port);
}

void endpoint_stop(struct endpoint *server)
{
	server->server = http_server_free(server->server);
	server->broker = http_broker_free(server->broker);
	(void)close(server->channel[0]);
	(void)close(server->channel[1]);
	http_sockets_close(&server->sockets);
	http_bodies_done(&server->bodies);
	server->event = sd_event_unref(server->event);
}

void endpoint_turn(struct endpoint *server)
{
	int r = sd_event_run(server->event, 1000);

	cr_assert_geq(r, 0);
	if (r == 0)
		fake_clock_advance(NSEC_PER_MSEC);
}
