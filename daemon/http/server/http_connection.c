// SPDX-License-Identifier: GPL-2.0
/*
 * One connection: its deadline, the bytes that its client has received, and how a request that waited for
 * pebsd resumes.
 */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/monotonic.h"
#include "http/server/http_server_internal.h"

/* TCP_CLOSE of <netinet/tcp.h>, which cannot be included: it has an older struct tcp_info. */
#define STATE_CLOSE 7

void http_server_end(struct http_server *server, int error)
{
	if (server->ended)
		return;
	server->ended = true;
	server->settings.ended(server->settings.userdata, error);
}

void http_server_let_in(struct http_server *server, bool open)
{
	open = open && !server->last;
	for (size_t i = 0; i < server->settings.n_listeners; i++)
		if (server->accepting[i])
			(void)sd_event_source_set_enabled(server->accepting[i],
							  open ? SD_EVENT_ON : SD_EVENT_OFF);
}

/* Returns all zeros for a UNIX socket, whose bytes the kernel does not count. */
static struct tcp_info ask_kernel(const struct http_connection *connection)
{
	struct tcp_info info = {0};
	socklen_t length = sizeof(info);

	if (getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
		return (struct tcp_info){0};
	return info;
}

u64 http_connection_taken(const struct http_connection *connection)
{
	return ask_kernel(connection).tcpi_bytes_acked;
}

bool http_connection_is_untaken(const struct http_connection *connection)
{
	const struct tcp_info info = ask_kernel(connection);

	return info.tcpi_state != STATE_CLOSE && (info.tcpi_unacked > 0 || info.tcpi_notsent_bytes > 0);
}

void http_server_begin(struct http_connection *connection)
{
	u64 now = monotonic_ns();

	connection->pace = (struct http_pace){.seen_ns = now, .taken = http_connection_taken(connection)};
	connection->deadline_ns = now + HTTP_TIMEOUT_SECONDS * NSEC_PER_SEC;
}

static struct http_connection *of_requester(struct http_requester *requester)
{
	return (struct http_connection *)(void *)((char *)requester -
						  offsetof(struct http_connection, requester));
}

void http_server_resume(struct http_requester *requester, int error)
{
	struct http_connection *connection = of_requester(requester);

	connection->asks = false;
	connection->answered = true;
	connection->error = error;
	/* The time that pebsd needed does not count against the client. */
	connection->pace =
		(struct http_pace){.seen_ns = monotonic_ns(), .taken = http_connection_taken(connection)};
	MHD_resume_connection(connection->library);
}
