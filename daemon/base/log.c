// SPDX-License-Identifier: GPL-2.0
#include "log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "cleanup.h"

#define FIELDS_MAX 48

static const char *program_name = "pebsd";
static bool to_journal;
static int level_max = LOG_INFO;

void log_open(const char *program)
{
	const char *stream = getenv("JOURNAL_STREAM");
	struct stat st;
	char here[64];

	program_name = program;
	if (!stream || fstat(STDERR_FILENO, &st) < 0)
		return;
	(void)snprintf(here, sizeof(here), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	to_journal = strcmp(stream, here) == 0;
}

void log_set_level(int priority)
{
	level_max = priority;
}

static bool add_field(struct iovec *fields, size_t *n, char **owned, const char *name, const char *value)
{
	if (*n >= FIELDS_MAX || asprintf(&owned[*n], "%s=%s", name, value) < 0)
		return false;
	fields[*n] = (struct iovec){.iov_base = owned[*n], .iov_len = strlen(owned[*n])};
	(*n)++;
	return true;
}

static void send_to_journal(int priority, int error, const struct log_field *extra, const char *file,
			    int line, const char *function, const char *message)
{
	struct iovec fields[FIELDS_MAX];
	char *owned[FIELDS_MAX] = {NULL};
	char number[32];
	size_t n = 0;

	add_field(fields, &n, owned, "MESSAGE", message);
	(void)snprintf(number, sizeof(number), "%d", priority);
	add_field(fields, &n, owned, "PRIORITY", number);
	add_field(fields, &n, owned, "SYSLOG_IDENTIFIER", program_name);
	add_field(fields, &n, owned, "CODE_FILE", file);
	(void)snprintf(number, sizeof(number), "%d", line);
	add_field(fields, &n, owned, "CODE_LINE", number);
	add_field(fields, &n, owned, "CODE_FUNC", function);
	if (error) {
		(void)snprintf(number, sizeof(number), "%d", -error);
		add_field(fields, &n, owned, "ERRNO", number);
	}
	for (; extra && extra->name; extra++)
		add_field(fields, &n, owned, extra->name, extra->value);

	/* A journal that does not take it leaves nothing better to do than standard error. */
	if (sd_journal_sendv(fields, (int)n) < 0)
		(void)fprintf(stderr, "%s: %s\n", program_name, message);
	for (size_t i = 0; i < n; i++)
		free(owned[i]);
}

int log_write(int priority, int error, const struct log_field *fields, const char *file, int line,
	      const char *function, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *message = NULL;
	va_list arguments;
	int length;

	if (priority > level_max)
		return error;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0) {
		text = NULL;
		return error;
	}
	if (error && asprintf(&message, "%s: %s", text, strerror(-error)) < 0)
		message = NULL;

	if (to_journal)
		send_to_journal(priority, error, fields, file, line, function, message ? message : text);
	else
		(void)fprintf(stderr, "%s: %s\n", program_name, message ? message : text);
	return error;
}
