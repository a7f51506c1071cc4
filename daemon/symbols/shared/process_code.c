// SPDX-License-Identifier: GPL-2.0
#include "symbols/shared/process_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* The kernel's limits are 16 bytes, and 64 for kernel threads. */
#define NAME_MAX_BYTES 64

static FILE *open_file(const char *proc, u32 pid, const char *name)
{
	char path[256];

	if ((size_t)snprintf(path, sizeof(path), "%s/%u/%s", proc, pid, name) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(path, "re");
}

/* A name may contain any byte except 0. It is cut at the first newline. */
static size_t read_name(const char *proc, u32 pid, char *text)
{
	_cleanup_fclose_ FILE *file = open_file(proc, pid, "comm");
	size_t n = file ? fread(text, 1, NAME_MAX_BYTES, file) : 0;

	text[n] = '\0';
	n = strcspn(text, "\n");
	text[n] = '\n';
	text[n + 1] = '\0';
	return n + 1;
}

/* Returns whether a line START-END rwxp OFFSET DEVICE INODE PATH is executable and has a path. */
static bool is_named_code(const char *line)
{
	char rights[5] = "";
	int path = 0;

	return sscanf(line, "%*s %4s %*s %*s %*s %n", rights, &path) == 1 && rights[2] == 'x' && path > 0 &&
	       line[path];
}

int process_code_read(const char *proc, u32 pid, char ret_text[static PROCESS_CODE_MAX])
{
	size_t n = read_name(proc, pid, ret_text);
	_cleanup_fclose_ FILE *file = open_file(proc, pid, "maps");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	ssize_t length;

	if (!file)
		return -errno;
	while ((length = getline(&line, &room, file)) > 0) {
		if (!is_named_code(line))
			continue;
		if (n + (size_t)length >= PROCESS_CODE_MAX)
			break;
		memcpy(ret_text + n, line, (size_t)length + 1);
		n += (size_t)length;
	}
	return 0;
}
