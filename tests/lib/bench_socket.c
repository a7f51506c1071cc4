// SPDX-License-Identifier: GPL-2.0
#include "bench_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define WAIT_TRIES 500
#define PAUSE_NS   (20 * (long)NSEC_PER_MSEC)
#define SECONDS    20 /* longest wait for an answer */

static const struct timeval patience = {.tv_sec = SECONDS};

static struct sockaddr_in loopback(u16 port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

u16 bench_free_port(void)
{
	struct sockaddr_in address = loopback(0);
	socklen_t size = sizeof(address);
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return 0;
	return ntohs(address.sin_port);
}

/* The received bytes, followed by a NUL. */
struct text {
	char *bytes;
	size_t length;
	size_t size;
};

static void text_done(const struct text *text)
{
	free(text->bytes);
}

/* Receives more bytes. Returns their number, 0 at the end, or -errno. */
static ssize_t take(int fd, struct text *text)
{
	ssize_t n;

	if (text->size - text->length < 65536) {
		size_t size = 2 * text->size + 131072;
		char *grown = realloc(text->bytes, size);

		if (!grown)
			return -ENOMEM;
		text->bytes = grown;
		text->size = size;
	}
	n = recv(fd, text->bytes + text->length, text->size - text->length - 1, 0);
	if (n < 0)
		return -errno;
	text->length += (size_t)n;
	text->bytes[text->length] = '\0';
	return n;
}

static size_t count_series(const char *body)
{
	size_t series = 0;

	for (const char *line = body; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		series += *line && *line != '#' && *line != '\n';
	}
	return series;
}

int bench_scrape(u16 port, bool gzip, struct bench_scrape *ret)
{
	struct sockaddr_in address = loopback(port);
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	_cleanup_(text_done) struct text text = {0};
	const char *request = gzip ? "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n"
				     "Connection: close\r\n\r\n"
				   : "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	const char *body;
	ssize_t n;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		return -errno;
	while ((n = take(fd, &text)) > 0)
		;
	if (n < 0)
		return (int)n;
	body = strstr(text.bytes, "\r\n\r\n");
	if (strncmp(text.bytes, "HTTP/1.", 7) != 0 || strncmp(text.bytes + 8, " 200 ", 5) != 0 || !body)
		return -EPROTO;
	ret->bytes = text.length - (size_t)(body + 4 - text.bytes);
	ret->series = gzip ? 0 : count_series(body + 4);
	return 0;
}

int bench_scrape_wait(u16 port, struct bench_scrape *ret)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int r = -ETIMEDOUT;

	for (int i = 0; i < WAIT_TRIES; i++) {
		r = bench_scrape(port, false, ret);
		if (r != -ECONNREFUSED)
			return r;
		(void)nanosleep(&pause, NULL);
	}
	return r;
}

int bench_socket_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

ssize_t bench_varlink(int fd, const char *call)
{
	_cleanup_(text_done) struct text text = {0};
	ssize_t n;

	if (send(fd, call, strlen(call) + 1, MSG_NOSIGNAL) < 0)
		return -errno;
	do
		n = take(fd, &text);
	while (n > 0 && text.bytes[text.length - 1] != '\0');
	if (n <= 0)
		return n < 0 ? n : -EPROTO;
	return strstr(text.bytes, "\"error\"") ? -EPROTO : (ssize_t)text.length;
}
