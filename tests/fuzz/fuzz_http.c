// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes on a connection to the server of the process that speaks HTTP, over loopback. The broker that
 * answers the server runs in the same process. The server answers or hangs up. It sends contents only in an
 * answer with the status 200. After any input the next request is served.
 *
 * Bit 0 of the first byte selects the check of Host alone, and two more bits select other inputs of that check.
 */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/http_host.h"
#include "http/http_broker.h"
#include "http/server/http_server.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#define DEMAND(condition)         \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static struct {
	sd_event *event;
	struct http_bodies bodies;
	int channel[2];
	int listener;
	struct sockaddr_in address;
	bool ended;
} fixture;

static u64 sequence(void *userdata)
{
	(void)userdata;
	return 1;
}

static int metrics(void *userdata, bool openmetrics, char **ret_text, size_t *ret_length)
{
	(void)userdata;
	(void)openmetrics;
	*ret_text = strdup("pebsd_secret 1\n");
	*ret_length = *ret_text ? strlen(*ret_text) : 0;
	return *ret_text ? 0 : -ENOMEM;
}

static int json(void *userdata, char **ret_text, size_t *ret_length)
{
	(void)userdata;
	*ret_text = strdup("{\"secret\":\"pebsd_secret\"}");
	*ret_length = *ret_text ? strlen(*ret_text) : 0;
	return *ret_text ? 0 : -ENOMEM;
}

static int view(void *userdata, const struct http_view *of, char **ret_text, size_t *ret_length,
		char **ret_message)
{
	DEMAND(http_view_is_valid(of));
	*ret_message = NULL;
	return json(userdata, ret_text, ret_length);
}

static int health(void *userdata, bool *ret_works, const char **ret_reason)
{
	(void)userdata;
	*ret_works = true;
	(void)ret_reason;
	return 0;
}

static const struct http_source source = {.origin = "replay",
					  .sequence = sequence,
					  .metrics = metrics,
					  .top = json,
					  .alerts = json,
					  .health = health,
					  .view = view};

static void on_failed(void *userdata, const char *why)
{
	(void)userdata;
	(void)why;
	abort();
}

static void on_ended(void *userdata, int error)
{
	(void)userdata;
	(void)error;
	abort();
}

static void start(void)
{
	struct http_broker_settings broker_settings = {.source = &source, .failed = on_failed};
	struct http_server_settings settings = {.n_listeners = 1, .ended = on_ended};
	socklen_t length = sizeof(fixture.address);
	struct http_server *server;
	struct http_broker *broker;

	(void)signal(SIGPIPE, SIG_IGN);
	fixture.address =
		(struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	fixture.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	DEMAND(bind(fixture.listener, (struct sockaddr *)&fixture.address, length) == 0);
	DEMAND(listen(fixture.listener, 16) == 0);
	DEMAND(getsockname(fixture.listener, (struct sockaddr *)&fixture.address, &length) == 0);
	DEMAND(sd_event_new(&fixture.event) >= 0);
	DEMAND(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fixture.channel) == 0);
	http_bodies_init(&fixture.bodies, &source);
	broker_settings.event = settings.event = fixture.event;
	broker_settings.bodies = &fixture.bodies;
	broker_settings.socket = fixture.channel[0];
	DEMAND(http_broker_new(&broker_settings, &broker) == 0);
	settings.listeners = &fixture.listener;
	settings.channel = fixture.channel[1];
	DEMAND(http_server_new(&settings, &server) == 0);
	http_broker_configure(broker, "name");
}

/* Returns the whole answer, cut if it is too long. */
static void exchange(const unsigned char *data, size_t size, char answer[static 4096])
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const struct linger reset = {.l_onoff = 1};
	size_t used = 0;
	ssize_t n = -1;

	DEMAND(fd >= 0);
	/* Keeps closed connections from using up ports. */
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	DEMAND(connect(fd, (struct sockaddr *)&fixture.address, sizeof(fixture.address)) == 0 ||
	       errno == EINPROGRESS);
	for (int i = 0; i < 400 && n != 0; i++) {
		(void)sd_event_run(fixture.event, i < 12 ? 0 : 1000);
		if (size > 0) {
			n = send(fd, data, size, MSG_NOSIGNAL);
			data += n > 0 ? n : 0;
			size -= n > 0 ? (size_t)n : 0;
			if (size == 0)
				(void)shutdown(fd, SHUT_WR);
		}
		n = recv(fd, answer + used, 4095 - used, 0);
		if (n < 0 && errno != EAGAIN)
			break;
		used += n > 0 ? (size_t)n : 0;
	}
	answer[used] = '\0';
	(void)close(fd);
}

static void check_host(const unsigned char *data, size_t size)
{
	const struct sockaddr_in arrived = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char *host = strndup((const char *)data + 1, size - 1);
	struct http_host_asked asked = {.host = host,
					.n = 1,
					.may_be_absent = data[0] & 2,
					.arrived = (const struct sockaddr *)&arrived,
					.names = data[0] & 4 ? "name other.example" : ""};

	if (!host)
		return;
	if (http_host_check(&asked) == HTTP_HOST_RIGHT)
		DEMAND(strncmp(host, "127.0.0.1", 9) == 0 || strncasecmp(host, "localhost", 9) == 0 ||
		       (data[0] & 4 &&
			(strncasecmp(host, "name", 4) == 0 || strncasecmp(host, "other.example", 13) == 0)));
	(void)http_host_is_name(host);
	asked.names = host;
	asked.host = "evil.example";
	DEMAND(http_host_check(&asked) != HTTP_HOST_RIGHT || strcasestr(host, "evil.example") ||
	       strchr(host, '*'));
	free(host);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static const char right[] = "GET /healthz HTTP/1.0\r\n\r\n";
	char answer[4096];

	if (size < 2)
		return 0;
	if (data[0] & 1) {
		check_host(data, size);
		return 0;
	}
	if (!fixture.event)
		start();
	exchange(data + 1, size - 1, answer);
	if (strstr(answer, "pebsd_secret"))
		DEMAND(strncmp(answer, "HTTP/1.", 7) == 0 && strstr(answer, " 200 "));
	exchange((const unsigned char *)right, sizeof(right) - 1, answer);
	DEMAND(strncmp(answer, "HTTP/1.1 200 ", 13) == 0);
	return 0;
}
