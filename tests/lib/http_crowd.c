// SPDX-License-Identifier: GPL-2.0
#include "http_crowd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define REQUEST   "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define STEP_MS   500  /* time between two bytes of a client that sends or reads one at a time */
#define RECEIVING 4096 /* SO_RCVBUF of a client: the kernel holds little that the client does not read */
#define EVENTS    64

struct client {
	int fd; /* -1: none */
	enum http_crowd_kind kind;
	bool connected;     /* now */
	bool was_connected; /* at any time */
	size_t sent;        /* bytes of the request */
};

struct crowd {
	const struct http_crowd_settings *settings;
	struct client *clients;
	unsigned int n;
	int epoll;
	int line;
	unsigned int connected; /* clients that were connected at any time */
	unsigned long ended;
};

const char *http_crowd_name(enum http_crowd_kind kind)
{
	static const char *const names[HTTP_CROWD_KINDS] = {"silent", "drip", "deaf", "sip"};

	return names[kind];
}

static u64 now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / NSEC_PER_MSEC;
}

/* Starts to connect the client. If that fails, the client has no connection (fd -1). */
static void enter(struct crowd *crowd, struct client *client)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
					    .sin_port = htons(crowd->settings->port),
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct epoll_event event = {.events = EPOLLOUT | EPOLLRDHUP, .data.ptr = client};
	const int receiving = RECEIVING;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	client->connected = false;
	client->sent = 0;
	client->fd = fd;
	if (fd < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receiving, sizeof(receiving));
	if ((connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 && errno != EINPROGRESS) ||
	    epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
		(void)close(fd);
		client->fd = -1;
	}
}

static void enter_again(struct crowd *crowd, struct client *client)
{
	crowd->ended += client->connected;
	(void)close(client->fd);
	enter(crowd, client);
}

static void greet(struct crowd *crowd, struct client *client)
{
	struct epoll_event event = {.events = EPOLLRDHUP, .data.ptr = client};

	client->connected = true;
	crowd->connected += !client->was_connected;
	client->was_connected = true;
	(void)epoll_ctl(crowd->epoll, EPOLL_CTL_MOD, client->fd, &event);
	if (client->kind == HTTP_CROWD_DEAF || client->kind == HTTP_CROWD_SIP)
		(void)!send(client->fd, REQUEST, strlen(REQUEST), MSG_NOSIGNAL);
}

/*
 * Lets a client of kind DRIP send one byte, or one of kind SIP read one. The other kinds do nothing. First
 * connects a client without a connection.
 */
static void step(struct crowd *crowd, struct client *client)
{
	char byte;

	if (client->fd < 0)
		enter(crowd, client);
	if (!client->connected)
		return;
	if (client->kind == HTTP_CROWD_DRIP && client->sent < strlen(REQUEST))
		client->sent += send(client->fd, &REQUEST[client->sent], 1, MSG_NOSIGNAL) == 1;
	else if (client->kind == HTTP_CROWD_SIP)
		(void)!recv(client->fd, &byte, 1, MSG_DONTWAIT);
}

static void take_events(struct crowd *crowd)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(crowd->epoll, events, EVENTS, 5);

	for (int i = 0; i < n; i++) {
		struct client *client = events[i].data.ptr;

		if (events[i].events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP))
			enter_again(crowd, client);
		else if (!client->connected)
			greet(crowd, client);
	}
}

static void run(struct crowd *crowd)
{
	struct pollfd line = {.fd = crowd->line, .events = POLLIN};
	u64 begun = now_ms(), steps = 0;
	bool told = false;

	for (unsigned int i = 0; i < crowd->n; i++)
		enter(crowd, &crowd->clients[i]);
	while (poll(&line, 1, 0) == 0) {
		/*
		 * Spread the clients' steps evenly over STEP_MS: clients that are not synchronized do not
		 * step all at once either.
		 */
		u64 due = (now_ms() - begun) * crowd->n / STEP_MS;

		take_events(crowd);
		for (; steps < due; steps++)
			step(crowd, &crowd->clients[steps % crowd->n]);
		if (told || crowd->connected < crowd->n)
			continue;
		told = true;
		(void)!write(crowd->line, &crowd->connected, sizeof(crowd->connected));
	}
	if (!told)
		(void)!write(crowd->line, &crowd->connected, sizeof(crowd->connected));
	(void)!write(crowd->line, &crowd->ended, sizeof(crowd->ended));
}

static int prepare(struct crowd *crowd)
{
	const struct http_crowd_settings *settings = crowd->settings;
	struct rlimit limit;
	unsigned int at = 0;

	for (size_t kind = 0; kind < HTTP_CROWD_KINDS; kind++)
		crowd->n += settings->n[kind];
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0 || (settings->user && setuid(settings->user) < 0))
		return -errno;
	crowd->epoll = epoll_create1(EPOLL_CLOEXEC);
	crowd->clients = calloc(crowd->n + 1, sizeof(*crowd->clients));
	if (crowd->epoll < 0 || !crowd->clients)
		return -ENOMEM;
	/* Kinds alternate, so that no kind takes the connections before the others. */
	for (unsigned int i = 0; at < crowd->n; i++)
		for (enum http_crowd_kind kind = 0; kind < HTTP_CROWD_KINDS; kind++)
			if (i < settings->n[kind])
				crowd->clients[at++] = (struct client){.fd = -1, .kind = kind};
	return 0;
}

int http_crowd_start(const struct http_crowd_settings *settings, struct http_crowd *ret)
{
	struct crowd crowd = {.settings = settings};
	int line[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) < 0)
		return -errno;
	*ret = (struct http_crowd){.pid = fork(), .line = line[0]};
	if (ret->pid < 0) {
		int r = -errno;

		(void)close(line[0]);
		(void)close(line[1]);
		return r;
	}
	if (ret->pid > 0) {
		(void)close(line[1]);
		return 0;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)close(line[0]);
	crowd.line = line[1];
	if (prepare(&crowd) < 0)
		_exit(1);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(&crowd);
	_exit(0);
}

unsigned int http_crowd_wait(struct http_crowd *crowd, int wait_ms)
{
	struct pollfd line = {.fd = crowd->line, .events = POLLIN};
	unsigned int connected = 0;

	if (poll(&line, 1, wait_ms) == 0)
		return 0;
	if (recv(crowd->line, &connected, sizeof(connected), MSG_WAITALL) != sizeof(connected))
		return 0;
	return connected;
}

unsigned long http_crowd_stop(struct http_crowd *crowd)
{
	unsigned char rest[64];
	unsigned long ended = 0;
	size_t length = 0;
	ssize_t n;

	(void)shutdown(crowd->line, SHUT_WR);
	while (length < sizeof(rest) && (n = recv(crowd->line, rest + length, sizeof(rest) - length, 0)) > 0)
		length += (size_t)n;
	/* The count comes last, whether or not http_crowd_wait() was called. */
	if (length >= sizeof(ended))
		memcpy(&ended, rest + length - sizeof(ended), sizeof(ended));
	(void)close(crowd->line);
	(void)waitpid(crowd->pid, NULL, 0);
	return ended;
}
