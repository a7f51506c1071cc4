// SPDX-License-Identifier: GPL-2.0
/* The owner of a connection, according to the kernel of this machine. */
#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "http/http_sockets.h"
#include "http/shared/http_owner.h"
#include "notify_socket.h"
#include "store/store.h"

#define NOBODY 65534

union address {
	struct sockaddr any;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
	struct sockaddr_un local;
	struct sockaddr_storage room;
};

/* Listens on the address `text` and any free port. */
static int listen_on(const char *text, union address *ret)
{
	socklen_t length = sizeof(*ret);
	int fd;

	*ret = (union address){0};
	if (inet_pton(AF_INET, text, &ret->ipv4.sin_addr) == 1)
		ret->any.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &ret->ipv6.sin6_addr) == 1)
		ret->any.sa_family = AF_INET6;
	fd = socket(ret->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, &ret->any, sizeof(*ret)) < 0)
		cr_skip_test("%s is not an address of this machine", text);
	cr_assert_eq(listen(fd, 8), 0);
	cr_assert_eq(getsockname(fd, &ret->any, &length), 0);
	return fd;
}

static int connect_to(const union address *address)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert_geq(fd, 0);
	cr_assert_eq(connect(fd, &address->any, sizeof(*address)), 0);
	return fd;
}

static struct http_owner accept_owner(int listener, int users)
{
	union address peer = {0};
	socklen_t length = sizeof(peer);
	_cleanup_close_ int fd = accept(listener, &peer.any, &length);

	cr_assert_geq(fd, 0);
	return http_owner_of(fd, &peer.any, users);
}

static void expect(struct http_owner owner, int kind, u64 id)
{
	cr_expect_eq((int)owner.kind, kind, "kind %d", (int)owner.kind);
	cr_expect_eq(owner.id, id, "id %llu", (unsigned long long)owner.id);
}

static void expect_users_of(const char *text)
{
	_cleanup_close_ int users = http_owner_open();
	union address address;
	_cleanup_close_ int listener = listen_on(text, &address);
	_cleanup_close_ int mine = connect_to(&address);
	int line[2];
	char byte;
	pid_t pid;

	cr_assert_geq(users, 0);
	cr_expect(http_owner_is_open(users));
	cr_expect_not(http_owner_is_open(listener));
	expect(accept_owner(listener, users), HTTP_OWNER_USER, getuid());
	if (getuid() != 0)
		return;
	cr_assert_eq(pipe(line), 0);
	pid = fork();
	if (pid == 0) {
		(void)close(line[1]);
		if (setuid(NOBODY) < 0)
			_exit(1);
		(void)connect_to(&address);
		(void)!read(line[0], &byte, 1);
		_exit(0);
	}
	(void)close(line[0]);
	expect(accept_owner(listener, users), HTTP_OWNER_USER, NOBODY);
	(void)close(line[1]);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(http_owner, a_client_of_ipv4_loopback_is_its_user)
{
	expect_users_of("127.0.0.1");
	expect_users_of("127.1.2.3");
}

Test(http_owner, a_client_of_ipv6_loopback_is_its_user)
{
	expect_users_of("::1");
}

/* A socket that listens on all addresses also accepts IPv4 clients, whose addresses are mapped into IPv6. */
Test(http_owner, a_client_of_ipv4_on_a_socket_of_ipv6_is_its_user)
{
	_cleanup_close_ int users = http_owner_open();
	union address any, address = {.ipv4 = {.sin_family = AF_INET}};
	_cleanup_close_ int listener = listen_on("::", &any);
	int client;

	address.ipv4.sin_port = any.ipv6.sin6_port;
	address.ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	client = connect_to(&address);
	expect(accept_owner(listener, users), HTTP_OWNER_USER, getuid());
	(void)close(client);
}

/* The kernel still knows its socket, but without the user: 0, which is root. */
Test(http_owner, a_client_that_is_gone_is_its_address)
{
	_cleanup_close_ int users = http_owner_open();
	union address address;
	_cleanup_close_ int listener = listen_on("127.1.2.3", &address);

	cr_assert_geq(users, 0);
	(void)close(connect_to(&address));
	expect(accept_owner(listener, users), HTTP_OWNER_IPV4, 0x7f000001);
}

Test(http_owner, without_an_answer_of_the_kernel_the_owner_is_the_address)
{
	union address address;
	_cleanup_close_ int users = http_owner_open();
	_cleanup_close_ int listener = listen_on("127.0.0.1", &address);
	const struct linger reset = {.l_onoff = 1};
	int client = connect_to(&address), gone;

	expect(accept_owner(listener, -1), HTTP_OWNER_IPV4, INADDR_LOOPBACK);
	/* The kernel does not know the user of a client that has left. */
	gone = connect_to(&address);
	(void)setsockopt(gone, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	(void)close(gone);
	expect(accept_owner(listener, users), HTTP_OWNER_IPV4, INADDR_LOOPBACK);
	(void)close(client);
	client = connect_to(&address);
	expect(accept_owner(listener, users), HTTP_OWNER_USER, getuid());
	(void)close(client);
}

static struct http_owner owner_of(int family, const char *text)
{
	union address address = {.any = {.sa_family = (sa_family_t)family}};

	cr_assert_eq(inet_pton(family, text,
			       family == AF_INET ? (void *)&address.ipv4.sin_addr
						 : (void *)&address.ipv6.sin6_addr),
		     1);
	return http_owner_of_address(&address.any);
}

Test(http_owner, an_ipv6_owner_is_the_first_half_of_the_address)
{
	struct http_owner owner = owner_of(AF_INET6, "2001:db8:1:2::1");

	cr_expect_eq((int)owner.kind, (int)HTTP_OWNER_IPV6);
	cr_expect_eq(owner.id, owner_of(AF_INET6, "2001:db8:1:2:ffff::9").id);
	cr_expect_neq(owner.id, owner_of(AF_INET6, "2001:db8:1:3::1").id);
	expect(owner_of(AF_INET, "192.0.2.1"), HTTP_OWNER_IPV4, 0xc0000201);
	expect(owner_of(AF_INET6, "::ffff:192.0.2.1"), HTTP_OWNER_IPV4, 0xc0000201);
}

Test(http_owner, a_client_of_a_unix_socket_is_its_user)
{
	union address address = {.local = {.sun_family = AF_UNIX}};
	_cleanup_close_ int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	_cleanup_close_ int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t length = sizeof(address);

	/* The kernel chooses the name. */
	cr_assert_eq(bind(listener, &address.any, sizeof(sa_family_t)), 0);
	cr_assert_eq(listen(listener, 1), 0);
	cr_assert_eq(getsockname(listener, &address.any, &length), 0);
	cr_assert_eq(connect(client, &address.any, length), 0);
	expect(accept_owner(listener, -1), HTTP_OWNER_USER, getuid());
}

/*
 * Passes sockets as the service manager does: a listening socket and the one that identifies users, both
 * named "http". Returns 0 or the number of the failed step.
 */
static int take_passed(void)
{
	struct notify_stored passed[] = {{"http", http_owner_open()}, {"http", -1}};
	struct http_sockets sockets;
	union address address;
	struct store *store;
	char *message;

	passed[1].fd = listen_on("127.0.0.1", &address);
	notify_socket_pass_these(passed, 2);
	if (store_open(&store) < 0 || http_sockets_passed(store, &sockets, &message) != 1)
		return 1;
	if (sockets.n != 1 || !http_owner_is_open(sockets.users) || http_owner_is_open(sockets.fds[0]))
		return 2;
	http_sockets_close(&sockets);
	return 0;
}

static int take_two_of_users(void)
{
	struct notify_stored passed[] = {{"http", http_owner_open()}, {"http", http_owner_open()}};
	struct http_sockets sockets;
	struct store *store;
	char *message;

	notify_socket_pass_these(passed, 2);
	if (store_open(&store) < 0 || http_sockets_passed(store, &sockets, &message) != -ENOTSOCK)
		return 1;
	return strstr(message, "one ListenNetlink=inet-diag") ? 0 : 2;
}

static int run_in_a_process(int (*run)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(run());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

Test(http_owner, the_service_manager_passes_the_socket_for_looking_up_users)
{
	cr_expect_eq(run_in_a_process(take_passed), 0);
	cr_expect_eq(run_in_a_process(take_two_of_users), 0);
}
