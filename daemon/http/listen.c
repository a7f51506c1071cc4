// SPDX-License-Identifier: GPL-2.0
#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * Many clients at once wait in this queue, in their order, instead of retrying their handshakes. The value is
 * the default of net.core.somaxconn.
 */
#define BACKLOG 4096

static const char *remedy_for(int error)
{
	switch (error) {
	case -EADDRINUSE:
		return "another program, perhaps another pebsd, listens there (`ss -ltnp` shows it); stop it, or choose another port with --listen or `listen` in [export]";
	case -EADDRNOTAVAIL:
		return "no network interface has that address (`ip address` lists them); choose another address with --listen or `listen` in [export]";
	case -EACCES:
		return "a port below 1024 needs CAP_NET_BIND_SERVICE, and a security module may forbid other ports; choose another with --listen or `listen` in [export]";
	case -EAFNOSUPPORT:
		return "as a service, pebsd gets this socket from pebsd.socket (see systemctl status pebsd.socket); otherwise the kernel lacks this address family: choose the other family with --listen or `listen` in [export]";
	case -EMFILE:
		return "raise LimitNOFILE= of the unit";
	case -ENFILE:
		return "raise fs.file-max with sysctl, or find the process that uses the descriptors";
	case -ENOBUFS:
	case -ENOMEM:
		return "the kernel is out of memory; free some, and start pebsd again";
	default:
		return "choose another address with --listen or `listen` in [export], or `none`";
	}
}

static int open_socket(const struct listen_address *address, int *ret)
{
	_cleanup_close_ int fd = -1;
	const int yes = 1;

	fd = socket(address->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* The port must be free although connections of the previous daemon are still closing. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0)
		return -errno;
	if (bind(fd, &address->address.any, address->length) < 0)
		return -errno;
	if (listen(fd, BACKLOG) < 0)
		return -errno;
	*ret = TAKE_FD(fd);
	return 0;
}

int listen_open(const struct listen_address *address, int *ret_fd, char **ret_message)
{
	int r = open_socket(address, ret_fd);

	*ret_message = NULL;
	if (r < 0 && asprintf(ret_message, "cannot listen on %s: %s: %s", address->text, strerror(-r),
			      remedy_for(r)) < 0)
		*ret_message = NULL;
	return r;
}

int listen_open_local(const struct listen_address *address, const char *group, struct local_socket *ret,
		      int *ret_fd, char **ret_message)
{
	static const struct local_socket_words words = {"socket for HTTP",
							"set another `listen` in [export]"};

	return local_socket_listen(&words, address->address.local.sun_path, group, ret, ret_fd, ret_message);
}

int listen_port(int fd)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		return -errno;
	switch (address.ss_family) {
	case AF_INET:
		return ntohs(((const struct sockaddr_in *)&address)->sin_port);
	case AF_INET6:
		return ntohs(((const struct sockaddr_in6 *)&address)->sin6_port);
	default:
		return -EAFNOSUPPORT;
	}
}
