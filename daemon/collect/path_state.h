// SPDX-License-Identifier: GPL-2.0
/* Saves and restores a path at the end of a state record. */
#ifndef PEBSD_PATH_STATE_H
#define PEBSD_PATH_STATE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "state/state_bytes.h"

/*
 * The depth of a cgroup tree is not limited. A path of more than PATH_STATE_CUT bytes is cut, and "...#" and a
 * number are appended.
 */
#define PATH_STATE_CUT 8192
#define PATH_STATE_MAX (PATH_STATE_CUT + sizeof("...#4294967295"))

/* The writer must have room for PATH_STATE_MAX bytes. */
static inline void path_save(struct state_writer *writer, const char *path, u32 number)
{
	size_t length = strnlen(path, PATH_STATE_CUT + 1);
	char end[sizeof("...#4294967295")];

	if (length <= PATH_STATE_CUT) {
		state_put_bytes(writer, path, length);
		return;
	}
	state_put_bytes(writer, path, PATH_STATE_CUT);
	state_put_bytes(writer, end, (size_t)snprintf(end, sizeof(end), "...#%u", number));
}

/* Returns 0 or -ENOMEM; -EBADMSG: this is not a path. The caller frees `ret`. */
static inline int path_restore(struct state_reader *reader, char **ret)
{
	size_t length;
	const u8 *bytes = state_get_rest(reader, &length);

	if (length == 0 || length > PATH_STATE_MAX || memchr(bytes, '\0', length))
		return -EBADMSG;
	*ret = strndup((const char *)bytes, length);
	return *ret ? 0 : -ENOMEM;
}

#endif
