// SPDX-License-Identifier: GPL-2.0
#include "http/http_sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "http/listen.h"
#include "http/shared/http_owner.h"
#include "http/shared/http_wire.h"

union address {
	struct sockaddr any;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
	struct sockaddr_un local;
	struct sockaddr_storage room;
};

void http_sockets_close(struct http_sockets *sockets)
{
	for (size_t i = 0; i < sockets->n; i++)
		(void)close(sockets->fds[i]);
	if (sockets->users >= 0)
		(void)close(sockets->users);
	local_socket_remove(&sockets->local);
	*sockets = HTTP_SOCKETS_NONE;
}

/* An IPv6 socket can have an IPv4 address, which may be loopback. */
static bool is_remote(const union address *address)
{
	const struct in6_addr *ipv6 = &address->ipv6.sin6_addr;

	if (address->any.sa_family == AF_INET)
		return ntohl(address->ipv4.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
	return address->any.sa_family == AF_INET6 && !IN6_IS_ADDR_LOOPBACK(ipv6) &&
	       !(IN6_IS_ADDR_V4MAPPED(ipv6) && ipv6->s6_addr[12] == IN_LOOPBACKNET);
}

static void describe(const union address *address, socklen_t length, char *text, size_t room)
{
	char host[INET6_ADDRSTRLEN];

	if (address->any.sa_family == AF_INET)
		(void)snprintf(text, room, "http://%s:%u",
			       inet_ntop(AF_INET, &address->ipv4.sin_addr, host, sizeof(host)),
			       ntohs(address->ipv4.sin_port));
	else if (address->any.sa_family == AF_INET6)
		(void)snprintf(text, room, "http://[%s]:%u",
			       inet_ntop(AF_INET6, &address->ipv6.sin6_addr, host, sizeof(host)),
			       ntohs(address->ipv6.sin6_port));
	else
		(void)snprintf(text, room, "unix:%.*s",
			       (int)(length - offsetof(struct sockaddr_un, sun_path)),
			       address->local.sun_path);
}

/*
 * Connections inherit these limits from the listening socket. They bound the kernel memory of a client that
 * does not read, or that sends without end.
 */
static void limit_memory(int fd)
{
	static const struct {
		int level, name, value;
	} limits[] = {
		{SOL_SOCKET, SO_SNDBUF, HTTP_SOCKETS_SENDING},
		{SOL_SOCKET, SO_RCVBUF, HTTP_SOCKETS_RECEIVING},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, HTTP_SOCKETS_LINGER_MS},
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		(void)setsockopt(fd, limits[i].level, limits[i].name, &limits[i].value, sizeof(int));
}

/* Takes ownership of `fd` if it returns 0. */
static int add(struct http_sockets *sockets, int fd)
{
	union address address = {0};
	socklen_t length = sizeof(address.room);
	size_t used = sockets->n ? strlen(sockets->text) : 0;

	if (sockets->n == HTTP_SOCKETS_MAX)
		return -E2BIG;
	if (getsockname(fd, &address.any, &length) < 0)
		return -errno;
	if (sockets->n)
		used += (size_t)snprintf(sockets->text + used, sizeof(sockets->text) - used, ", ");
	if (used < sizeof(sockets->text))
		describe(&address, length, sockets->text + used, sizeof(sockets->text) - used);
	sockets->fds[sockets->n++] = fd;
	if (address.any.sa_family == AF_UNIX)
		sockets->any_local = true;
	else
		limit_memory(fd);
	sockets->any_remote = sockets->any_remote || is_remote(&address);
	return 0;
}

static const char *why_not(int error)
{
	switch (error) {
	case -E2BIG:
		return "there are too many";
	case -ENOTSOCK:
		return "it is not a listening stream socket";
	default:
		return strerror(-error);
	}
}

static int take(struct http_sockets *sockets, int fd, char **ret_message)
{
	int flags = fcntl(fd, F_GETFL);
	int r = sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, true) > 0 ? 0 : -ENOTSOCK;

	if (sockets->users < 0 && http_owner_is_open(fd)) {
		sockets->users = fd;
		return 0;
	}
	if (r == 0 && (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0))
		r = -errno;
	if (r == 0)
		r = add(sockets, fd);
	if (r < 0 &&
	    asprintf(
		    ret_message,
		    "cannot use a socket that the service manager passed as " HTTP_SOCKETS_NAME
		    ": %s; pebsd.socket can have at most %d ListenStream=, one ListenNetlink=inet-diag, and no Accept=yes (see systemctl cat pebsd.socket)",
		    why_not(r), HTTP_SOCKETS_MAX) < 0)
		*ret_message = NULL;
	return r;
}

/*
 * Returns a socket to look up users of connections, or -1. Without this socket, all clients on loopback count as
 * one owner.
 */
static int open_users(void)
{
	int fd = http_owner_open();

	if (fd < 0)
		log_debug("HTTP: cannot distinguish the users of clients on loopback: %s", strerror(-fd));
	return fd < 0 ? -1 : fd;
}

int http_sockets_passed(struct store *store, struct http_sockets *ret, char **ret_message)
{
	struct http_sockets sockets = HTTP_SOCKETS_NONE;
	int fd, r = 0;

	*ret_message = NULL;
	while (r == 0 && (fd = store_take_one_of(store, HTTP_SOCKETS_NAME)) >= 0) {
		r = take(&sockets, fd, ret_message);
		if (r < 0)
			(void)close(fd);
	}
	if (r < 0) {
		http_sockets_close(&sockets);
		return r;
	}
	if (sockets.n == 0)
		http_sockets_close(&sockets);
	else if (sockets.users < 0)
		sockets.users = open_users();
	*ret = sockets;
	return sockets.n > 0;
}

int http_sockets_open(const struct listen_address *listen, const char *group, struct http_sockets *ret,
		      char **ret_message)
{
	_cleanup_close_ int fd = -1;
	int r;

	*ret = HTTP_SOCKETS_NONE;
	*ret_message = NULL;
	if (listen->none)
		return 0;
	if (listen->address.any.sa_family == AF_UNIX)
		r = listen_open_local(listen, group, &ret->local, &fd, ret_message);
	else
		r = listen_open(listen, &fd, ret_message);
	if (r == 0)
		r = add(ret, fd);
	if (r < 0) {
		http_sockets_close(ret);
		return r;
	}
	TAKE_FD(fd);
	ret->users = open_users();
	return 0;
}

static bool has_address(const struct http_sockets *sockets, const struct listen_address *listen)
{
	for (size_t i = 0; i < sockets->n; i++) {
		union address address = {0};
		socklen_t length = sizeof(address.room);

		if (getsockname(sockets->fds[i], &address.any, &length) == 0 &&
		    listen_address_is(listen, &address.any, length))
			return true;
	}
	return false;
}

static void warn_of_difference(const struct http_sockets *sockets, const struct listen_address *listen)
{
	struct listen_address usual;

	if (listen->none)
		log_warning(
			0,
			"`listen` in [export], or --listen, is none, but pebsd.socket listens on %s, where clients get no answer; run systemctl mask --now pebsd.socket",
			sockets->text);
	else if (!has_address(sockets, listen) && (listen_address_parse(LISTEN_ADDRESS_DEFAULT, &usual) < 0 ||
						   !listen_address_equal(listen, &usual)))
		log_warning(
			0,
			"`listen` in [export], or --listen, is %s, but HTTP is served where pebsd.socket listens: %s; remove the setting, or change the socket with `systemctl edit pebsd.socket` and run systemctl restart pebsd.socket pebsd",
			listen->text, sockets->text);
}

/*
 * Returns true if there is no network interface except lo. The unit gives pebsd such a private network, in which
 * no client reaches a socket that pebsd opens itself.
 */
static bool network_is_private(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/net/dev", "re");
	char line[256];
	bool loopback = false;

	while (file && fgets(line, sizeof(line), file)) {
		const char *name = line + strspn(line, " ");

		if (!strchr(line, ':'))
			continue;
		if (strncmp(name, "lo:", 3) != 0)
			return false;
		loopback = true;
	}
	return loopback;
}

int http_sockets_choose(struct store *store, const struct listen_address *listen, const char *group,
			struct http_sockets *ret, char **ret_message)
{
	int r = http_sockets_passed(store, ret, ret_message);

	if (r > 0)
		warn_of_difference(ret, listen);
	if (r > 0 && listen->none)
		http_sockets_close(ret);
	if (r == 0) {
		r = http_sockets_open(listen, group, ret, ret_message);
		if (r == 0 && ret->n > 0 && !ret->any_local && store_has_manager(store) &&
		    network_is_private())
			log_warning(
				0,
				"HTTP is served on %s, which no client can reach: the unit's network is private, so pebsd.socket must listen; see systemctl status pebsd.socket for why it does not (unmask it if it is masked), then run systemctl restart pebsd",
				ret->text);
	}
	if (r < 0)
		return r;
	if (ret->any_remote)
		log_warning(
			0,
			"HTTP is served on %s to every client that can reach it: names of cgroups and their latencies, without encryption or a password; see HTTP in pebsd(8)",
			ret->text);
	return 0;
}

int http_sockets_port(const struct http_sockets *sockets)
{
	int port = -EAFNOSUPPORT;

	for (size_t i = 0; i < sockets->n && port < 0; i++)
		port = listen_port(sockets->fds[i]);
	return port;
}
