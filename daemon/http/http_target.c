// SPDX-License-Identifier: GPL-2.0
#include "http/http_target.h"

#include <string.h>
#include <strings.h>

bool http_target_split(const char *target, const char **ret_path, char ret_authority[HTTP_AUTHORITY_MAX])
{
	static const char scheme[] = "http://";
	const char *authority = target + strlen(scheme);
	size_t length;

	ret_authority[0] = '\0';
	*ret_path = target;
	if (target[0] == '/')
		return true;
	if (strncasecmp(target, scheme, strlen(scheme)) != 0)
		return false;
	length = strcspn(authority, "/");
	if (length == 0 || length >= HTTP_AUTHORITY_MAX)
		return false;
	memcpy(ret_authority, authority, length);
	ret_authority[length] = '\0';
	*ret_path = authority[length] ? authority + length : "/";
	return true;
}

/* -1: none. */
static int digit_of(char byte)
{
	static const char digits[] = "0123456789abcdef";
	const char *found =
		byte ? strchr(digits, byte >= 'A' && byte <= 'F' ? byte - 'A' + 'a' : byte) : NULL;

	return found ? (int)(found - digits) : -1;
}

size_t http_target_decode(char *text)
{
	const char *from = text;
	char *to = text;

	while (*from) {
		const int high = *from == '%' ? digit_of(from[1]) : -1;
		const int low = high >= 0 ? digit_of(from[2]) : -1;

		if (low < 0 || high + low == 0) {
			*to++ = *from++;
			continue;
		}
		*to++ = (char)(high * 16 + low);
		from += 3;
	}
	*to = '\0';
	return (size_t)(to - text);
}
