// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes that a hijacked process for HTTP may send to pebsd. The input is a list of packets, each a length
 * of two bytes and as many bytes, over a real socket to a real broker. The broker answers each packet or ends
 * the connection. A packet that it accepts must be the same after it is written and read again. A body must
 * be made at most once, however often it is requested.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/http_broker.h"
#include "http/shared/http_channel.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#define DEMAND(condition)         \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

/* Fewer than HTTP_QUESTIONS_BURST, so that no request waits. */
#define PACKETS_MAX 40

struct fixture {
	unsigned int made, failed, begun, left;
};

static u64 sequence(void *userdata)
{
	(void)userdata;
	return 1;
}

static int metrics(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length)
{
	struct fixture *fixture = userdata;

	fixture->made++;
	*ret_text = strdup(openmetrics ? "# EOF\n" : "pebsd_paused 0\n");
	*ret_length = *ret_text ? strlen(*ret_text) : 0;
	return *ret_text ? 0 : -ENOMEM;
}

static int json(void *userdata, char **ret_text, size_t *ret_length)
{
	struct fixture *fixture = userdata;

	fixture->made++;
	*ret_text = strdup("{}");
	*ret_length = *ret_text ? strlen(*ret_text) : 0;
	return *ret_text ? 0 : -ENOMEM;
}

/* Half of the views wait. Nobody wants a view any more whose `ret_text` is NULL. */
static int view(void *userdata, const struct http_view *of, char **ret_text, size_t *ret_length,
		char **ret_message)
{
	static unsigned int n;

	DEMAND(http_view_is_valid(of));
	DEMAND(strlen(of->rule) < sizeof(of->rule) && strlen(of->cgroup) < sizeof(of->cgroup));
	DEMAND(of->kind != HTTP_VIEW_TOP || (*of->cgroup && strlen(of->cgroup) < HTTP_VIEW_MATCH_MAX));
	*ret_message = NULL;
	(void)userdata;
	if (n++ % 2)
		return -EAGAIN;
	if (!ret_text)
		return 0;
	*ret_text = strdup("{}");
	*ret_length = 2;
	return *ret_text ? 0 : -ENOMEM;
}

static int health(void *userdata, bool *ret_works, const char **ret_reason)
{
	(void)userdata;
	*ret_works = true;
	*ret_reason = "paused";
	return -ECANCELED;
}

static bool enabled(void *userdata, enum http_profile_form form)
{
	(void)userdata;
	DEMAND(form < HTTP_PROFILE_FORMS);
	return true;
}

static int begin(void *userdata, const char *path, double seconds, u64 *ret_id, char **ret_message)
{
	struct fixture *fixture = userdata;

	DEMAND(seconds >= 1 && seconds <= HTTP_PROFILE_SECONDS_MAX);
	*ret_message = NULL;
	if (*path != '/')
		return -ENOENT;
	*ret_id = ++fixture->begun;
	return 0;
}

static enum http_profile_state state(void *userdata, u64 id)
{
	(void)userdata;
	return id % 2 ? HTTP_PROFILE_READY : HTTP_PROFILE_UNDER_WAY;
}

static int write_profile(void *userdata, u64 id, enum http_profile_form form, u8 **ret, size_t *ret_size)
{
	(void)userdata;
	(void)form;
	(void)id;
	*ret = calloc(1, 4);
	*ret_size = 4;
	return *ret ? 0 : -ENOMEM;
}

static void leave(void *userdata, u64 id)
{
	struct fixture *fixture = userdata;

	(void)id;
	fixture->left++;
}

static void on_failed(void *userdata, const char *why)
{
	struct fixture *fixture = userdata;

	DEMAND(why && *why);
	fixture->failed++;
}

static void check_wire(const unsigned char *packet, size_t size)
{
	static u8 buffer[HTTP_WIRE_MAX];
	struct http_message message, again;

	if (http_wire_read(packet, size, &message) < 0)
		return;
	DEMAND(http_wire_write(&message, buffer) == size);
	DEMAND(memcmp(buffer, packet, size) == 0);
	DEMAND(http_wire_read(buffer, size, &again) == 0 && strcmp(message.text, again.text) == 0);
}

static void read_answers(int channel)
{
	u8 packet[HTTP_WIRE_MAX];
	struct http_message answer;
	int fd;

	while (http_channel_receive(channel, packet, &answer, &fd) == 1) {
		DEMAND(answer.type > HTTP_LEAVE);
		if (fd >= 0)
			(void)close(fd);
	}
}

static void converse(sd_event *event, int channel, const unsigned char *data, size_t size)
{
	for (int i = 0; i < PACKETS_MAX && size >= 2; i++) {
		size_t length = (size_t)data[0] | (size_t)data[1] << 8;

		data += 2;
		size -= 2;
		length = length < size ? length : size;
		check_wire(data, length);
		(void)send(channel, data, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		data += length;
		size -= length;
		(void)sd_event_run(event, 0);
		(void)sd_event_run(event, 0);
		read_answers(channel);
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct fixture fixture = {0};
	const struct http_source source = {
		.userdata = &fixture,
		.origin = "replay",
		.sequence = sequence,
		.metrics = metrics,
		.top = json,
		.alerts = json,
		.health = health,
		.view = view,
		.profiles = {&fixture, enabled, begin, state, write_profile, leave}};
	struct http_broker_settings settings = {.source = &source, .failed = on_failed, .userdata = &fixture};
	struct http_bodies bodies;
	sd_event *event = NULL;
	struct http_broker *broker;
	int channel[2];

	if (sd_event_new(&event) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, channel) < 0)
		abort();
	http_bodies_init(&bodies, &source);
	settings.event = event;
	settings.bodies = &bodies;
	settings.socket = channel[0];
	DEMAND(http_broker_new(&settings, &broker) == 0);
	converse(event, channel[1], data, size);
	http_broker_free(broker);
	DEMAND(fixture.made <= HTTP_DOCUMENTS && fixture.failed <= 1 && fixture.left == fixture.begun);
	http_bodies_done(&bodies);
	sd_event_unref(event);
	(void)close(channel[0]);
	(void)close(channel[1]);
	return 0;
}
