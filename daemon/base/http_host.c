// SPDX-License-Identifier: GPL-2.0
#include "base/http_host.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

/* The longest host name, and the size of an address. */
#define NAME_MAX_BYTES 253

#define ADDRESS_BYTES 16

/*
 * Parses an IPv4 or IPv6 address into the bytes of an IPv6 address. An IPv4 address is mapped
 * (::ffff:0:0/96), so that equal addresses have equal bytes.
 */
static bool read_address(const char *text, unsigned char ret[static ADDRESS_BYTES])
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (inet_pton(AF_INET6, text, ret) == 1)
		return true;
	memcpy(ret, mapped, sizeof(mapped));
	return inet_pton(AF_INET, text, ret + sizeof(mapped)) == 1;
}

static bool address_of(const struct sockaddr *address, unsigned char ret[static ADDRESS_BYTES])
{
	char text[INET6_ADDRSTRLEN];
	const void *bytes;

	if (address->sa_family == AF_INET)
		bytes = &((const struct sockaddr_in *)address)->sin_addr;
	else if (address->sa_family == AF_INET6)
		bytes = &((const struct sockaddr_in6 *)address)->sin6_addr;
	else
		return false;
	return inet_ntop(address->sa_family, bytes, text, sizeof(text)) && read_address(text, ret);
}

static bool is_loopback(const unsigned char address[static ADDRESS_BYTES])
{
	struct in6_addr all;

	memcpy(&all, address, sizeof(all));
	return IN6_IS_ADDR_LOOPBACK(&all) || (IN6_IS_ADDR_V4MAPPED(&all) && address[12] == 127);
}

static bool is_port(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n <= 5 && text[n] == '\0';
}

static bool is_label_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '-' || byte == '_' || byte == '.';
}

/* Drops the dot at the end that stands for the root of DNS. */
static void drop_root(char *host, size_t length)
{
	if (length > 1 && host[length - 1] == '.')
		host[length - 1] = '\0';
}

/* Copies the host of `text` to `ret`, without brackets and port. */
static bool read_host(const char *text, char ret[static NAME_MAX_BYTES + 1])
{
	bool bracketed = *text == '[';
	const char *begin = text + bracketed;
	size_t n = bracketed ? strcspn(begin, "]") : strcspn(begin, ":");
	const char *rest = begin + n;
	unsigned char address[ADDRESS_BYTES];

	if (n == 0 || n > NAME_MAX_BYTES || (bracketed && *rest++ != ']'))
		return false;
	if (*rest != '\0' && (*rest != ':' || !is_port(rest + 1)))
		return false;
	memcpy(ret, begin, n);
	ret[n] = '\0';
	if (bracketed)
		return strchr(ret, ':') && read_address(ret, address);
	for (size_t i = 0; i < n; i++)
		if (!is_label_byte(ret[i]))
			return false;
	drop_root(ret, n);
	return true;
}

static bool same(const char *name, size_t length, const char *host)
{
	char text[NAME_MAX_BYTES + 1];
	unsigned char one[ADDRESS_BYTES], other[ADDRESS_BYTES];

	if (length == 1 && *name == '*')
		return true;
	if (length > NAME_MAX_BYTES)
		return false;
	memcpy(text, name, length);
	text[length] = '\0';
	drop_root(text, length);
	if (read_address(text, one) && read_address(host, other))
		return memcmp(one, other, sizeof(one)) == 0;
	return strcasecmp(text, host) == 0;
}

static bool is_configured(const char *names, const char *host)
{
	for (const char *name = names + strspn(names, " \t"); *name; name += strspn(name, " \t")) {
		size_t length = strcspn(name, " \t");

		if (same(name, length, host))
			return true;
		name += length;
	}
	return false;
}

enum http_host http_host_check(const struct http_host_asked *asked)
{
	unsigned char arrived[ADDRESS_BYTES], named[ADDRESS_BYTES];
	char host[NAME_MAX_BYTES + 1];

	if (asked->arrived->sa_family == AF_UNIX)
		return HTTP_HOST_RIGHT;
	if (asked->n > 1)
		return HTTP_HOST_MALFORMED;
	if (!asked->host)
		return asked->may_be_absent ? HTTP_HOST_RIGHT : HTTP_HOST_MALFORMED;
	if (!read_host(asked->host, host))
		return HTTP_HOST_MALFORMED;
	if (is_configured(asked->names, host))
		return HTTP_HOST_RIGHT;
	if (!address_of(asked->arrived, arrived))
		return HTTP_HOST_WRONG;
	if (strcasecmp(host, "localhost") == 0)
		return is_loopback(arrived) ? HTTP_HOST_RIGHT : HTTP_HOST_WRONG;
	if (!read_address(host, named))
		return HTTP_HOST_WRONG;
	return memcmp(arrived, named, sizeof(named)) == 0 ? HTTP_HOST_RIGHT : HTTP_HOST_WRONG;
}

bool http_host_is_name(const char *name)
{
	unsigned char address[ADDRESS_BYTES];
	size_t n = strlen(name);

	if (strcmp(name, "*") == 0 || read_address(name, address))
		return true;
	if (n == 0 || n > NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_label_byte(name[i]))
			return false;
	return true;
}
