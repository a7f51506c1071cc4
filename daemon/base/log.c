// SPDX-License-Identifier: GPL-2.0
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log_journal.h"
#include "base/log_repeat.h"
#include "base/monotonic.h"
#include "base/utf8.h"

static const char *program_name = "pebsd";
static bool to_journal;
static int level_max = LOG_INFO;
static struct log_repeats repeats;
static u64 missing; /* messages that nobody read in time */

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

static void add_field(struct log_field *fields, size_t *n, const char *name, const char *value)
{
	if (*n < LOG_JOURNAL_FIELDS)
		fields[(*n)++] = (struct log_field){name, value};
}

static int send_to_journal(int priority, int error, const struct log_field *extra, const char *file, int line,
			   const char *function, const char *message)
{
	struct log_field fields[LOG_JOURNAL_FIELDS];
	char level[16], place[16], number[16];
	size_t n = 0;

	(void)snprintf(level, sizeof(level), "%d", priority);
	(void)snprintf(place, sizeof(place), "%d", line);
	add_field(fields, &n, "MESSAGE", message);
	add_field(fields, &n, "PRIORITY", level);
	add_field(fields, &n, "SYSLOG_IDENTIFIER", program_name);
	add_field(fields, &n, "CODE_FILE", file);
	add_field(fields, &n, "CODE_LINE", place);
	add_field(fields, &n, "CODE_FUNC", function);
	if (error) {
		(void)snprintf(number, sizeof(number), "%d", -error);
		add_field(fields, &n, "ERRNO", number);
	}
	for (; extra && extra->name; extra++)
		add_field(fields, &n, extra->name, extra->value);
	return log_journal_send(fields, n, missing == 0);
}

/*
 * Never blocks for long: the reader of the pipe or terminal may have stopped, and so may the journal at the
 * other end of the stream.
 */
static int send_to_error(const char *message)
{
	struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (poll(&room, 1, missing ? 0 : LOG_JOURNAL_WAIT_MS) <= 0)
		return -EAGAIN;
	(void)fprintf(stderr, "%s: %s\n", program_name, message);
	return 0;
}

/* Returns 0, or -EAGAIN if the reader does not accept the message now. */
static int send_out(int priority, int error, const struct log_field *fields, const char *file, int line,
		    const char *function, const char *message)
{
	int r = -ENOENT;

	if (to_journal)
		r = send_to_journal(priority, error, fields, file, line, function, message);
	/* If the journal cannot be reached, standard error is the only place left. */
	return r == 0 || r == -EAGAIN ? r : send_to_error(message);
}

/*
 * Logs the number of lost messages before the next message. Returns whether no lost messages are left to
 * report.
 */
static bool report_missing(void)
{
	char message[128];

	if (missing == 0)
		return true;
	(void)snprintf(message, sizeof(message),
		       "messages lost before this one, because nobody read them in time: %llu",
		       (unsigned long long)missing);
	if (send_out(LOG_WARNING, 0, NULL, __FILE__, __LINE__, __func__, message) == 0)
		missing = 0;
	return missing == 0;
}

/* Never waits for long: a log message is not worth the samples that would be lost in that time. */
static void say(int priority, int error, const struct log_field *fields, const char *file, int line,
		const char *function, const char *message)
{
	if (!report_missing() || send_out(priority, error, fields, file, line, function, message) < 0)
		missing++;
}

static void report_left_out(bool at_end)
{
	u64 now = monotonic_ns();
	struct log_repeat repeat;

	(void)report_missing();
	while (log_repeats_next(&repeats, now, at_end, &repeat)) {
		char message[LOG_REPEAT_TEXT_MAX + 64];

		(void)snprintf(message, sizeof(message), "repeated %llu more time%s%s: %s",
			       (unsigned long long)repeat.left_out, repeat.left_out == 1 ? "" : "s",
			       repeat.varies ? ", most recently" : "", repeat.text);
		/* A long text was cut, maybe inside a character. */
		utf8_make_plain(message);
		say(repeat.priority, 0, NULL, __FILE__, __LINE__, __func__, message);
	}
}

void log_left_out(void)
{
	report_left_out(false);
}

void log_close(void)
{
	report_left_out(true);
}

/*
 * If memory is too short for a long message, its beginning is logged: the message may report the lack of
 * memory.
 */
#define SHORT_MAX 1024

int log_write(int priority, int error, const struct log_field *fields, const char *kind, const char *file,
	      int line, const char *function, const char *format, ...)
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

	/* A message with fields of its own is an event that programs look for, so each one is logged. */
	if (fields || log_repeats_say(&repeats, priority, kind, message, monotonic_ns()))
		say(priority, error, fields, file, line, function, message);
	return error;
}
