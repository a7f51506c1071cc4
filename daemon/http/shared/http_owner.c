// SPDX-License-Identifier: GPL-2.0
#include "http/shared/http_owner.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "base/cleanup.h"

/* Maximum number of answers to read per request: a previous process may have left some unread. */
#define STALE_ANSWERS_MAX 16

union address {
	struct sockaddr any;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
	struct sockaddr_storage room;
};

/* Converts an IPv4 address that is mapped to IPv6 back to IPv4. */
static void normalize(const struct sockaddr *from, union address *ret)
{
	const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)(const void *)from;

	*ret = (union address){0};
	if (from->sa_family == AF_INET) {
		memcpy(&ret->ipv4, from, sizeof(ret->ipv4));
	} else if (from->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr)) {
		ret->ipv4.sin_family = AF_INET;
		ret->ipv4.sin_port = ipv6->sin6_port;
		memcpy(&ret->ipv4.sin_addr, &ipv6->sin6_addr.s6_addr[12], sizeof(ret->ipv4.sin_addr));
	} else if (from->sa_family == AF_INET6) {
		memcpy(&ret->ipv6, from, sizeof(ret->ipv6));
	}
}

struct http_owner http_owner_of_address(const struct sockaddr *peer)
{
	struct http_owner owner = {.kind = HTTP_OWNER_UNKNOWN};
	union address address;

	normalize(peer, &address);
	if (address.any.sa_family == AF_INET)
		owner = (struct http_owner){HTTP_OWNER_IPV4, ntohl(address.ipv4.sin_addr.s_addr)};
	else if (address.any.sa_family == AF_INET6) {
		owner.kind = HTTP_OWNER_IPV6;
		memcpy(&owner.id, &address.ipv6.sin6_addr, sizeof(owner.id));
	}
	return owner;
}

/* Returns whether both ends are on this machine: on loopback, or with the same address. */
static bool is_local(const union address *peer, const union address *own)
{
	if (peer->any.sa_family != own->any.sa_family)
		return false;
	if (peer->any.sa_family == AF_INET)
		return ntohl(peer->ipv4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ||
		       peer->ipv4.sin_addr.s_addr == own->ipv4.sin_addr.s_addr;
	return peer->any.sa_family == AF_INET6 &&
	       IN6_ARE_ADDR_EQUAL(&peer->ipv6.sin6_addr, &own->ipv6.sin6_addr);
}

/* Identifies the client's end of the connection. */
static struct inet_diag_sockid name_socket(const union address *peer, const union address *own)
{
	struct inet_diag_sockid id = {.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}};

	if (peer->any.sa_family == AF_INET) {
		id.idiag_sport = peer->ipv4.sin_port;
		id.idiag_dport = own->ipv4.sin_port;
		id.idiag_src[0] = peer->ipv4.sin_addr.s_addr;
		id.idiag_dst[0] = own->ipv4.sin_addr.s_addr;
	} else {
		id.idiag_sport = peer->ipv6.sin6_port;
		id.idiag_dport = own->ipv6.sin6_port;
		memcpy(id.idiag_src, &peer->ipv6.sin6_addr, sizeof(id.idiag_src));
		memcpy(id.idiag_dst, &own->ipv6.sin6_addr, sizeof(id.idiag_dst));
	}
	return id;
}

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 request;
};

struct answer {
	struct nlmsghdr head;
	struct inet_diag_msg socket;
	u8 more[1024]; /* attributes that the kernel adds */
};

/*
 * Excludes listening sockets: one may have the port that a client had. A socket that no process has any more has no
 * inode, and 0 as its user (inet_diag_msg_attrs_fill(), net/ipv4/inet_diag.c, and sock_i_uid(), Linux 6.1).
 */
static bool is_answer(const struct answer *answer, size_t size, const struct inet_diag_sockid *id)
{
	const struct inet_diag_sockid *found = &answer->socket.id;

	return size >= offsetof(struct answer, more) && answer->head.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
	       answer->socket.idiag_state != TCP_LISTEN && answer->socket.idiag_inode != 0 &&
	       found->idiag_sport == id->idiag_sport && found->idiag_dport == id->idiag_dport &&
	       memcmp(found->idiag_src, id->idiag_src, sizeof(id->idiag_src)) == 0 &&
	       memcmp(found->idiag_dst, id->idiag_dst, sizeof(id->idiag_dst)) == 0;
}

/* The answer is available when send() returns. */
static bool find_user(int users, const union address *peer, const union address *own, u64 *ret)
{
	const struct inet_diag_sockid id = name_socket(peer, own);
	const struct question question = {
		.head = {.nlmsg_len = sizeof(question),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST},
		.request = {.sdiag_family = (u8)peer->any.sa_family,
			    .sdiag_protocol = IPPROTO_TCP,
			    .idiag_states = ~0U,
			    .id = id},
	};
	struct answer answer;

	if (send(users, &question, sizeof(question), MSG_DONTWAIT) < 0)
		return false;
	for (int i = 0; i < STALE_ANSWERS_MAX; i++) {
		ssize_t size = recv(users, &answer, sizeof(answer), MSG_DONTWAIT);

		if (size < 0)
			return false;
		if (is_answer(&answer, (size_t)size, &id)) {
			*ret = answer.socket.idiag_uid;
			return true;
		}
	}
	return false;
}

struct http_owner http_owner_of(int fd, const struct sockaddr *peer, int users)
{
	struct http_owner owner = {.kind = HTTP_OWNER_USER};
	union address address, own_address = {0}, own;
	socklen_t length = sizeof(own_address);
	struct ucred user;

	if (getsockname(fd, &own_address.any, &length) < 0)
		return http_owner_of_address(peer);
	if (own_address.any.sa_family == AF_UNIX) {
		length = sizeof(user);
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &length) < 0)
			return (struct http_owner){.kind = HTTP_OWNER_UNKNOWN};
		owner.id = user.uid;
		return owner;
	}
	normalize(peer, &address);
	normalize(&own_address.any, &own);
	if (users >= 0 && is_local(&address, &own) && find_user(users, &address, &own, &owner.id))
		return owner;
	return http_owner_of_address(peer);
}

int http_owner_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);

	return fd < 0 ? -errno : fd;
}

bool http_owner_is_open(int fd)
{
	int domain = 0, protocol = 0;
	socklen_t length = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_NETLINK &&
	       getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) == 0 &&
	       protocol == NETLINK_SOCK_DIAG;
}
