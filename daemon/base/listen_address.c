// SPDX-License-Identifier: GPL-2.0
#include "base/listen_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* Accepts absolute paths only. */
static int parse_local(const char *path, struct listen_address *ret)
{
	struct listen_address result = {0};
	struct sockaddr_un *local = &result.address.local;

	if (*path != '/' || path[1] == '\0' || strlen(path) >= sizeof(local->sun_path))
		return -EINVAL;
	local->sun_family = AF_UNIX;
	(void)stpcpy(local->sun_path, path);
	result.length = sizeof(*local);
	(void)snprintf(result.text, sizeof(result.text), LISTEN_ADDRESS_LOCAL "%s", path);
	*ret = result;
	return 0;
}

int listen_address_parse(const char *text, struct listen_address *ret)
{
	struct listen_address result = {0};
	char host[INET6_ADDRSTRLEN];
	const char *colon = strrchr(text, ':');
	const char *begin = text;
	const char *end = colon;
	bool ipv6 = *text == '[';
	u64 port;

	if (strcmp(text, "none") == 0) {
		result.none = true;
		(void)snprintf(result.text, sizeof(result.text), "none");
		*ret = result;
		return 0;
	}
	if (strncmp(text, LISTEN_ADDRESS_LOCAL, strlen(LISTEN_ADDRESS_LOCAL)) == 0)
		return parse_local(text + strlen(LISTEN_ADDRESS_LOCAL), ret);
	if (!colon || number_parse(colon + 1, 1, UINT16_MAX, &port) < 0)
		return -EINVAL;
	if (ipv6) {
		if (colon[-1] != ']')
			return -EINVAL;
		begin++;
		end--;
	}
	if (end <= begin || (size_t)(end - begin) >= sizeof(host))
		return -EINVAL;
	memcpy(host, begin, (size_t)(end - begin));
	host[end - begin] = '\0';

	result.port = (u16)port;
	if (ipv6) {
		result.address.ipv6.sin6_family = AF_INET6;
		result.address.ipv6.sin6_port = htons(result.port);
		result.length = sizeof(result.address.ipv6);
		if (inet_pton(AF_INET6, host, &result.address.ipv6.sin6_addr) != 1)
			return -EINVAL;
		(void)snprintf(result.text, sizeof(result.text), "[%s]:%u", host, result.port);
	} else {
		result.address.ipv4.sin_family = AF_INET;
		result.address.ipv4.sin_port = htons(result.port);
		result.length = sizeof(result.address.ipv4);
		if (inet_pton(AF_INET, host, &result.address.ipv4.sin_addr) != 1)
			return -EINVAL;
		(void)snprintf(result.text, sizeof(result.text), "%s:%u", host, result.port);
	}
	*ret = result;
	return 0;
}

bool listen_address_equal(const struct listen_address *a, const struct listen_address *b)
{
	if (a->none || b->none)
		return a->none == b->none;
	return a->length == b->length && memcmp(&a->address, &b->address, a->length) == 0;
}

bool listen_address_is(const struct listen_address *address, const struct sockaddr *bound, socklen_t length)
{
	if (address->none || address->address.any.sa_family != bound->sa_family)
		return false;
	/* The kernel leaves out the bytes after the path. */
	if (bound->sa_family == AF_UNIX)
		return length > offsetof(struct sockaddr_un, sun_path) &&
		       strncmp(address->address.local.sun_path,
			       ((const struct sockaddr_un *)(const void *)bound)->sun_path,
			       length - offsetof(struct sockaddr_un, sun_path)) == 0;
	return length == address->length && memcmp(bound, &address->address, length) == 0;
}
