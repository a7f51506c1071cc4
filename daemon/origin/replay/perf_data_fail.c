// SPDX-License-Identifier: GPL-2.0
#include "origin/replay/perf_data_fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int perf_data_fail(char **message, int error, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	free(*message);
	*message = text;
	return error;
}

int perf_data_fail_to_read(char **message, int error)
{
	if (error == -EISDIR)
		return perf_data_fail(
			message, -EBADMSG,
			"is a directory, but replay reads files; give it a file that was recorded without "
			"--threads");
	if (error == -ENOMEM)
		return perf_data_fail(message, error, "cannot be read: out of memory");
	return perf_data_fail(message, error, "cannot be read: %s; check the file system that holds it",
			      strerror(-error));
}

int perf_data_fail_damaged(char **message, u64 position, const char *what)
{
	return perf_data_fail(message, -EBADMSG,
			      "is damaged at byte %llu: %s; copy it again, or record it again",
			      (unsigned long long)position, what);
}
