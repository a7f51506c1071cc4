// SPDX-License-Identifier: GPL-2.0
#include "http/server/http_target.h"

#include <microhttpd.h>
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

size_t http_target_decode(char *text)
{
	return strstr(text, HTTP_TARGET_NUL) ? strlen(text) : MHD_http_unescape(text);
}
