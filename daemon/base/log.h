// SPDX-License-Identifier: GPL-2.0
/*
 * Log messages. They go to the journal with their fields if standard error is connected to it, otherwise to
 * standard error as lines. A message says what failed, on what, why, and what to do. Logging does not wait
 * for a slow reader: messages that nobody reads are dropped and counted, and the count is logged when
 * somebody reads again.
 */
#ifndef PEBSD_LOG_H
#define PEBSD_LOG_H

#include <stdarg.h>
#include <syslog.h>

/* One journal field, e.g. {"PEBSD_CGROUP", "/system.slice"}; a list of them ends with {NULL, NULL}. */
struct log_field {
	const char *name;
	const char *value;
};

/*
 * Finds out whether standard error leads to the journal ($JOURNAL_STREAM, sd_journal_stream_fd(3)). Call it
 * once, before anything else.
 */
void log_open(const char *program);

/* Messages above this priority are dropped; default LOG_INFO. */
void log_set_level(int priority);

/*
 * Logs how often repeated messages were suppressed (base/log_repeat.h), at most once a minute for each. Call
 * it regularly.
 */
void log_left_out(void);

/* Logs all counts of suppressed messages. Call it once, at the end. */
void log_close(void);

/*
 * Writes one message.
 *
 * A message without `fields` that is repeated is written a few times. Then it is only counted, until an
 * interval of base/log_repeat.h passes without it. Messages of one `kind` count as the same message. Without
 * a kind (NULL), messages with the same text do.
 *
 * `error` is 0 or -errno. If it is not 0, ": " and the error's text are appended and the field ERRNO is set.
 * The message may contain names that others chose: characters that could end the line or do not belong into a
 * line become '?' (utf8_make_plain()). The values of `fields` are written unchanged. `fields` may be NULL.
 *
 * Returns `error`, so that `return log_error(r, ...)` works.
 */
int log_write(int priority, int error, const struct log_field *fields, const char *kind, const char *file,
	      int line, const char *function, const char *format, ...) __attribute__((format(printf, 8, 9)));

#define log_full(priority, error, fields, ...) \
	log_write(priority, error, fields, NULL, __FILE__, __LINE__, __func__, __VA_ARGS__)

/*
 * Logs a message that a client can cause again and again, with another time or number in its text each time.
 */
#define log_kind(priority, kind, ...) \
	((void)log_write(priority, 0, NULL, kind, __FILE__, __LINE__, __func__, __VA_ARGS__))
#define log_error(error, ...)   log_full(LOG_ERR, error, NULL, __VA_ARGS__)
#define log_warning(error, ...) log_full(LOG_WARNING, error, NULL, __VA_ARGS__)
#define log_notice(...)         ((void)log_full(LOG_NOTICE, 0, NULL, __VA_ARGS__))
#define log_info(...)           ((void)log_full(LOG_INFO, 0, NULL, __VA_ARGS__))
#define log_debug(...)          ((void)log_full(LOG_DEBUG, 0, NULL, __VA_ARGS__))

#endif
