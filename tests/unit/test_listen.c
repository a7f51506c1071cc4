// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "endpoint.h"
#include "http/http_sockets.h"
#include "http/listen.h"

Test(listen, numeric_addresses_are_parsed)
{
	const struct sockaddr_in *v4;
	const struct sockaddr_in6 *v6;
	struct listen_address address;

	cr_assert_eq(listen_address_parse("127.0.0.1:9754", &address), 0);
	v4 = (const struct sockaddr_in *)&address.address;
	cr_expect_eq(v4->sin_family, AF_INET);
	cr_expect_eq(v4->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	cr_expect_eq(v4->sin_port, htons(9754));
	cr_expect_eq(address.length, sizeof(*v4));

	cr_assert_eq(listen_address_parse("[::1]:9755", &address), 0);
	v6 = (const struct sockaddr_in6 *)&address.address;
	cr_expect_eq(v6->sin6_family, AF_INET6);
	cr_expect_eq(memcmp(&v6->sin6_addr, &in6addr_loopback, sizeof(in6addr_loopback)), 0);
	cr_expect_eq(v6->sin6_port, htons(9755));
	cr_expect_eq(listen_address_parse("0.0.0.0:65535", &address), 0);
}

Test(listen, anything_else_is_refused)
{
	static const char *const wrong[] = {
		"",
		":",
		":9754",
		"9754",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:65536",
		"127.0.0.1:99999",
		"127.0.0.1:-1",
		"127.0.0.1:+80",
		"127.0.0.1: 80",
		"127.0.0.1:80 ",
		"127.0.0.1:http",
		"::1:9754",
		"[::1]",
		"[::1:9754",
		"::1]:9754",
		"[127.0.0.1]:9754",
		"[]:9754",
		"[",
		"[]",
		"[:",
		"]:1",
		"localhost:9754",
		"256.0.0.1:9754",
		"127.0.0.1:\xff",
		"127.0.0.1:0",
	};
	struct listen_address address;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		cr_expect_eq(listen_address_parse(wrong[i], &address), -EINVAL, "%s", wrong[i]);
}

Test(listen, messages_say_what_to_do)
{
	const struct listen_address any_port = endpoint_loopback(0);
	_cleanup_free_ char *none = NULL;
	_cleanup_free_ char *taken = NULL;
	_cleanup_free_ char *absent = NULL;
	_cleanup_close_ int first = -1;
	_cleanup_close_ int second = -1;
	struct listen_address address;

	cr_assert_eq(listen_open(&any_port, &first, &none), 0);
	cr_expect_null(none);
	address = endpoint_loopback((u16)listen_port(first));
	cr_expect_eq(listen_open(&address, &second, &taken), -EADDRINUSE);
	cr_expect(strstr(taken, address.text) && strstr(taken, "Address already in use") &&
			  strstr(taken, "--listen"),
		  "%s", taken);
	/* No host has an address of TEST-NET-1 (RFC 5737). */
	cr_assert_eq(listen_address_parse("192.0.2.1:9754", &address), 0);
	cr_expect_eq(listen_open(&address, &second, &absent), -EADDRNOTAVAIL);
	cr_expect(strstr(absent, "192.0.2.1:9754") && strstr(absent, "ip address"), "%s", absent);
}

/* An IPv6 socket can have an IPv4 address. */
Test(listen, only_loopback_is_not_for_other_machines)
{
	static const struct {
		const char *text;
		bool any_remote;
	} cases[] = {
		{"127.0.0.1:9754", false}, {"127.1.2.3:9754", false},          {"0.0.0.0:9754", true},
		{"[::1]:9754", false},     {"[::ffff:127.0.0.1]:9754", false}, {"[::]:9754", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *message = NULL;
		struct http_sockets sockets;
		struct listen_address listen;

		cr_assert_eq(listen_address_parse(cases[i].text, &listen), 0, "%s", cases[i].text);
		/* Any free port. IPv6 has it in the same place. */
		listen.address.ipv4.sin_port = 0;
		cr_assert_eq(http_sockets_open(&listen, NULL, &sockets, &message), 0, "%s", message);
		cr_expect_eq(sockets.any_remote, cases[i].any_remote, "%s", cases[i].text);
		http_sockets_close(&sockets);
	}
}
