// SPDX-License-Identifier: GPL-2.0
#include "symbols/shared/maps_line.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DELETED " (deleted)"

/* Parses a number in base 10 or 16 at `*text`, and moves `*text` past it and past `after`. */
static int parse_number(char **text, int base, char after, u64 *ret)
{
	char *end;

	if ((unsigned char)**text <= ' ' || **text == '+' || **text == '-')
		return -EINVAL;
	errno = 0;
	*ret = strtoull(*text, &end, base);
	if (errno || end == *text || *end != after)
		return -EINVAL;
	*text = after ? end + 1 : end;
	return 0;
}

static int parse_protection(char **text, struct maps_line *ret)
{
	const char *at = *text;

	if (strnlen(at, 5) < 5 || at[4] != ' ')
		return -EINVAL;
	ret->protection = (at[0] == 'r' ? PROT_READ : 0U) | (at[1] == 'w' ? PROT_WRITE : 0U) |
			  (at[2] == 'x' ? PROT_EXEC : 0U);
	ret->shared = at[3] == 's';
	*text += 5;
	return 0;
}

/* The kernel writes a newline in a path as \012, and escapes no other character. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from;) {
		if (strncmp(from, "\\012", 4) == 0) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = 0;
}

bool maps_cut_deleted(char *path)
{
	size_t length = strlen(path);
	size_t suffix = strlen(DELETED);

	if (path[0] != '/' || length <= suffix || strcmp(path + length - suffix, DELETED) != 0)
		return false;
	path[length - suffix] = 0;
	return true;
}

int maps_parse_line(char *line, struct maps_line *ret)
{
	u64 major, minor;

	memset(ret, 0, sizeof(*ret));
	line[strcspn(line, "\n")] = 0;
	if (parse_number(&line, 16, '-', &ret->start) < 0 || parse_number(&line, 16, ' ', &ret->end) < 0 ||
	    parse_protection(&line, ret) < 0 || parse_number(&line, 16, ' ', &ret->offset) < 0 ||
	    parse_number(&line, 16, ':', &major) < 0 || parse_number(&line, 16, ' ', &minor) < 0)
		return -EINVAL;
	if (ret->start >= ret->end || major > UINT32_MAX || minor > UINT32_MAX)
		return -EINVAL;
	ret->major = (u32)major;
	ret->minor = (u32)minor;
	if (parse_number(&line, 10, line[strspn(line, "0123456789")], &ret->inode) < 0)
		return -EINVAL;
	if (line[-1] != ' ' && *line)
		return -EINVAL;
	line += strspn(line, " ");
	ret->path = line;
	unescape(ret->path);
	ret->deleted = maps_cut_deleted(ret->path);
	return 0;
}
