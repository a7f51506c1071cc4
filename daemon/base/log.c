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
#include <time.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "cleanup.h"
#include "log_repeat.h"
#include "utf8.h"

#define FIELDS_MAX 48

static const char *program_name = "pebsd";
static bool to_journal;
static int level_max = LOG_INFO;
static struct log_repeats repeats;

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
	if (*n >= FIELDS_MAX)
		return false;
	if (asprintf(&owned[*n], "%s=%s", name, value) < 0) {
		owned[*n] = NULL;
		return false;
	}
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

	/* All else is of use with it alone. */
	if (!add_field(fields, &n, owned, "MESSAGE", message))
		goto send;
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

send:
	/* A journal that does not take it leaves nothing better to do than standard error. */
	if (n == 0 || sd_journal_sendv(fields, (int)n) < 0)
		(void)fprintf(stderr, "%s: %s\n", program_name, message);
	for (size_t i = 0; i < n; i++)
		free(owned[i]);
}

static u64 now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000ULL + (u64)now.tv_nsec;
}

static void say(int priority, int error, const struct log_field *fields, const char *file, int line,
		const char *function, const char *message)
{
	if (to_journal)
		send_to_journal(priority, error, fields, file, line, function, message);
	else
		(void)fprintf(stderr, "%s: %s\n", program_name, message);
}

static void tell_left_out(bool at_end)
{
	u64 now = now_ns();
	struct log_repeat repeat;

	while (log_repeats_next(&repeats, now, at_end, &repeat)) {
		char message[LOG_REPEAT_TEXT_MAX + 64];

		(void)snprintf(message, sizeof(message), "%llu times more: %s",
			       (unsigned long long)repeat.left_out, repeat.text);
		say(repeat.priority, 0, NULL, __FILE__, __LINE__, __func__, message);
	}
}

void log_tell_left_out(void)
{
	tell_left_out(false);
}

void log_close(void)
{
	tell_left_out(true);
}

/* Without memory for a long message its beginning is told: no memory is what it may be about. */
#define SHORT_MAX 1024

int log_write(int priority, int error, const struct log_field *fields, const char *file, int line,
	      const char *function, const char *format, ...)
{
	_cleanup_free_ char *whole = NULL;
	char beginning[SHORT_MAX];
	const char *message = beginning;
	va_list arguments;
	int length;

	if (priority > level_max)
		return error;

	va_start(arguments, format);
	length = vsnprintf(beginning, sizeof(beginning), format, arguments);
	va_end(arguments);
	if (length < 0)
		return error;
	if ((size_t)length >= sizeof(beginning)) {
		va_start(arguments, format);
		if (vasprintf(&whole, format, arguments) < 0)
			whole = NULL;
		va_end(arguments);
	}
	if (whole && error) {
		char *more;

		if (asprintf(&more, "%s: %s", whole, strerror(-error)) >= 0) {
			free(whole);
			whole = more;
		}
	}
	if (whole)
		message = whole;
	else if (error && (size_t)length < sizeof(beginning))
		(void)snprintf(beginning + length, sizeof(beginning) - (size_t)length, ": %s",
			       strerror(-error));

	utf8_make_plain(whole ? whole : beginning);

	/* What has fields of its own is an event that programs look for: each of them counts. */
	if (fields || log_repeats_say(&repeats, priority, message, now_ns()))
		say(priority, error, fields, file, line, function, message);
	return error;
}
