// SPDX-License-Identifier: GPL-2.0
/* The check of the Host header of a request. */
#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/http_host.h"

union address {
	struct sockaddr any;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
	struct sockaddr_un local;
};

static union address at(const char *text)
{
	union address address = {0};

	if (strcmp(text, "unix") == 0)
		address.any.sa_family = AF_UNIX;
	else if (strchr(text, ':')) {
		address.ipv6.sin6_family = AF_INET6;
		cr_assert_eq(inet_pton(AF_INET6, text, &address.ipv6.sin6_addr), 1);
	} else {
		address.ipv4.sin_family = AF_INET;
		cr_assert_eq(inet_pton(AF_INET, text, &address.ipv4.sin_addr), 1);
	}
	return address;
}

static const struct {
	const char *arrived, *names, *host;
	enum http_host verdict;
} cases[] = {
	{"127.0.0.1", "", "127.0.0.1", HTTP_HOST_RIGHT},
	{"127.0.0.1", "", "127.0.0.1:9754", HTTP_HOST_RIGHT},
	{"127.0.0.1", "", "127.0.0.1:1", HTTP_HOST_RIGHT}, /* a forwarded port */
	{"127.0.0.1", "", "127.0.0.1:", HTTP_HOST_RIGHT},  /* RFC 3986, 3.2.3 */
	{"127.0.0.1", "", "localhost", HTTP_HOST_RIGHT},
	{"127.0.0.1", "", "LocalHost:9754", HTTP_HOST_RIGHT},
	{"127.0.0.1", "", "localhost.:9754", HTTP_HOST_RIGHT},
	{"127.0.0.9", "", "localhost", HTTP_HOST_RIGHT},
	{"127.0.0.1", "", "127.0.0.2", HTTP_HOST_WRONG},
	{"127.0.0.1", "", "localhost.evil.example", HTTP_HOST_WRONG},
	{"127.0.0.1", "", "127.0.0.1.evil.example", HTTP_HOST_WRONG},
	{"127.0.0.1", "", "evil.example:9754", HTTP_HOST_WRONG},
	{"127.0.0.1", "", "2130706433", HTTP_HOST_WRONG}, /* as inet_aton() would read it */
	{"127.0.0.1", "", "0x7f.1", HTTP_HOST_WRONG},
	{"127.0.0.1", "", "[::1]", HTTP_HOST_WRONG},
	{"192.0.2.1", "", "localhost", HTTP_HOST_WRONG},
	{"192.0.2.1", "", "192.0.2.1:9754", HTTP_HOST_RIGHT},
	{"192.0.2.1", "", "node1", HTTP_HOST_WRONG},
	{"192.0.2.1", "node1 node1.example.org", "node1", HTTP_HOST_RIGHT},
	{"192.0.2.1", "node1 node1.example.org", "NODE1.example.ORG:9754", HTTP_HOST_RIGHT},
	{"192.0.2.1", " node1  ", "node1", HTTP_HOST_RIGHT},
	{"192.0.2.1", "node1", "node", HTTP_HOST_WRONG},
	{"192.0.2.1", "node1", "node11", HTTP_HOST_WRONG},
	{"192.0.2.1", "node1.example.org.", "node1.example.org", HTTP_HOST_RIGHT},
	{"192.0.2.1", "node1.example.org. node2", "node1.example.org.:9754", HTTP_HOST_RIGHT},
	{"192.0.2.1", ".", "node1", HTTP_HOST_WRONG},
	{"192.0.2.1", "node1", "192.0.2.1", HTTP_HOST_RIGHT},
	{"192.0.2.1", "198.51.100.7", "198.51.100.7", HTTP_HOST_RIGHT}, /* behind a forwarded port */
	{"192.0.2.1", "2001:db8::7", "[2001:db8:0::7]:80", HTTP_HOST_RIGHT},
	{"192.0.2.1", "*", "whatever", HTTP_HOST_RIGHT},
	{"::1", "", "[::1]:9754", HTTP_HOST_RIGHT},
	{"::1", "", "[0:0:0:0:0:0:0:1]", HTTP_HOST_RIGHT},
	{"::1", "", "localhost", HTTP_HOST_RIGHT},
	{"::1", "", "[::2]", HTTP_HOST_WRONG},
	/* A socket of both families: an IPv4 address appears mapped into IPv6. */
	{"::ffff:192.0.2.1", "", "192.0.2.1", HTTP_HOST_RIGHT},
	{"::ffff:127.0.0.1", "", "localhost", HTTP_HOST_RIGHT},
	{"::ffff:192.0.2.1", "", "192.0.2.2", HTTP_HOST_WRONG},
	{"unix", "", "whatever", HTTP_HOST_RIGHT},
	{"unix", "", "a b", HTTP_HOST_RIGHT},
	{"127.0.0.1", "*", "", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", ":9754", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", "a b", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", "a,b", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", "a:x", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", "a:1:2", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", "a:123456", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", "user@a", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", "[::1", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", "[::1]x", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", "[127.0.0.1]", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", "[fe80::1%eth0]", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", "::1", HTTP_HOST_MALFORMED},
	{"127.0.0.1", "*", "\xc3\xa4.example", HTTP_HOST_MALFORMED},
};

Test(http_host, hosts_match_by_address_and_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const union address arrived = at(cases[i].arrived);
		const struct http_host_asked asked = {
			.host = cases[i].host, .n = 1, .arrived = &arrived.any, .names = cases[i].names};

		cr_expect_eq(http_host_check(&asked), cases[i].verdict, "%s at %s, with '%s'", cases[i].host,
			     cases[i].arrived, cases[i].names);
	}
}

Test(http_host, missing_and_repeated_hosts_are_refused)
{
	const union address arrived = at("127.0.0.1"), local = at("unix");
	struct http_host_asked asked = {.arrived = &arrived.any, .names = ""};

	cr_expect_eq(http_host_check(&asked), HTTP_HOST_MALFORMED);
	asked.may_be_absent = true;
	cr_expect_eq(http_host_check(&asked), HTTP_HOST_RIGHT);
	asked.host = "127.0.0.1";
	asked.n = 2;
	cr_expect_eq(http_host_check(&asked), HTTP_HOST_MALFORMED);
	asked.arrived = &local.any;
	cr_expect_eq(http_host_check(&asked), HTTP_HOST_RIGHT);
}

Test(http_host, names_longer_than_253_bytes_are_malformed)
{
	const union address arrived = at("127.0.0.1");
	struct http_host_asked asked = {.n = 1, .arrived = &arrived.any, .names = "*"};
	char host[400];

	for (size_t n = 1; n < sizeof(host); n++) {
		memset(host, 'a', n);
		host[n] = '\0';
		asked.host = host;
		cr_expect_eq(http_host_check(&asked), n <= 253 ? HTTP_HOST_RIGHT : HTTP_HOST_MALFORMED, "%zu",
			     n);
	}
	asked.host = "a";
	asked.names = host;
	cr_expect_eq(http_host_check(&asked), HTTP_HOST_WRONG);
}

Test(http_host, configured_hosts_are_checked)
{
	static const char *const right[] = {"*", "node1", "node1.example.org", "192.0.2.1", "::1", "a_b-c"};
	static const char *const wrong[] = {"", "node1:9754", "[::1]", "http://a", "a/b", "*.example", "a,b"};

	for (size_t i = 0; i < ARRAY_SIZE(right); i++)
		cr_expect(http_host_is_name(right[i]), "%s", right[i]);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		cr_expect_not(http_host_is_name(wrong[i]), "%s", wrong[i]);
}
