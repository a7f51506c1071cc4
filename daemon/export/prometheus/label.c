// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus/label.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

/* Returns true if no byte has to be escaped, as in most names. */
static bool is_plain(const char *value)
{
	unsigned char odd = 0;

	for (; *value; value++)
		odd |= (unsigned char)(*value & 0x80) |
		       (unsigned char)(*value == '\\' || *value == '"' || *value == '\n');
	return !odd;
}

int label_escape(const char *value, char **ret)
{
	_cleanup_free_ char *shown = NULL;
	char *escaped, *to;
	int r;

	if (is_plain(value)) {
		*ret = strdup(value);
		return *ret ? 0 : -ENOMEM;
	}
	r = utf8_show(value, &shown);
	if (r < 0)
		return r;
	escaped = to = calloc(strlen(shown) + 1, 2);
	if (!escaped)
		return -ENOMEM;
	for (const char *from = shown; *from; from++) {
		if (*from == '\\' || *from == '"' || *from == '\n')
			*to++ = '\\';
		*to = *from;
		if (*from == '\n')
			*to = 'n';
		to++;
	}
	*ret = escaped;
	return 0;
}
